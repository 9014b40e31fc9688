// SPDX-License-Identifier: Apache-2.0
//! `kernels`: a kernel file, whose one packed function the blocks up to the next one are about.
//! `import kernpack as kp` stands in front of it. Its kernels are elaborated, so that launches pass
//! what they want; what is launched only records that.

use super::{Kind, Role};
use crate::kernels;
use crate::subject::Subject;
use kernpack_kernel_lang::file::KernelFiles;
use kernpack_kernel_lang::packed::functions;
use kernpack_kernel_lang::packed::settle::Kernels;
use kernpack_syntax::{Diagnostics, Texts};
use kernpack_validators::{LaunchSpec, Site};
use std::io;
use std::path::Path;

pub(super) const KIND: Kind = Kind { info: "kernels", role: Role::Begin(read) };

/// The same on the page of the language, where readers see it as Python.
pub(super) const ON_THE_PAGE: Kind = Kind { info: "python packed", role: Role::Begin(read) };

fn read(text: &str) -> Result<Subject, String> {
    let text = format!("import kernpack as kp\n{text}");
    Ok(subject(&text).unwrap_or_else(|problems| {
        let empty = Subject::new("unreadable()");
        Subject { plan: Err(unplaced(problems, &text)), ..empty }
    }))
}

fn subject(text: &str) -> Result<Subject, Diagnostics> {
    let mut texts = Texts::default();
    let mut door = |path: &Path| match path.to_str() {
        Some("case.py") => Ok(text.as_bytes().to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let files = KernelFiles::read_with_problems(Path::new("case.py"), &mut door, &mut texts)?;
    let mut problems = files.problems().clone();
    let (mut packed, found) = functions(&files);
    problems.extend(found);
    let Some(function) = packed.pop() else {
        problems.into_result()?;
        panic!("a file of the suite has a packed function");
    };
    let settled = Kernels::default().settle(&files, &function.rows);
    let settled = settled.map_err(|found| problems.extend(found));
    problems.into_result()?;
    let settled = settled.expect("nothing is wrong");
    let mut subject = Subject::new(&function.signature.to_string());
    subject.workspaces = function.workspaces;
    let launches = settled.into_iter().enumerate().map(|(number, launch)| LaunchSpec {
        when: launch.when(),
        kernel: kernels::shown_name(&subject.signature, number),
        args: launch.args.into_iter().map(Into::into).collect(),
        site: Site::Gpu(launch.geometry.into()),
    });
    subject.launches = launches.collect();
    subject.statuses = vec![None; subject.launches.len()];
    subject.plan_again();
    Ok(subject)
}

/// Problems whose places are lines of the block.
fn unplaced(problems: Diagnostics, text: &str) -> Diagnostics {
    let mut texts = Texts::default();
    let id = texts.add("case.py", text);
    let line = |at: usize| texts.get(id).position(at).0 - 1;
    let problems = problems.into_iter().map(|mut problem| {
        let places = problem.labels.drain(..);
        let places = places.map(|label| {
            let piece = &text[label.span.start..label.span.end];
            let piece = piece.lines().next().unwrap_or_default();
            format!("line {}: `{piece}` {}", line(label.span.start), label.text).trim().to_string()
        });
        problem.detail = Some(places.collect::<Vec<_>>().join("\n"));
        problem
    });
    Diagnostics(problems.collect())
}
