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
    let mut texts = Texts::default();
    Ok(match subject(&text, &mut texts) {
        Ok(subject) => Subject { texts, ..subject },
        Err(problems) => Subject { texts, plan: Err(problems), ..Subject::new("unreadable()") },
    })
}

fn subject(text: &str, texts: &mut Texts) -> Result<Subject, Diagnostics> {
    let mut door = |path: &Path| match path.to_str() {
        Some("case.py") => Ok(text.as_bytes().to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let files = KernelFiles::read_with_problems(Path::new("case.py"), &[], &mut door, texts)?;
    let mut problems = files.problems().clone();
    let (mut packed, found) = functions(&files);
    problems.extend(found);
    let Some(function) = packed.pop() else {
        problems.into_result()?;
        panic!("a file of the suite has a packed function");
    };
    let mut kernels = Kernels::default();
    let settled = kernels.settle(&files, &function.rows, function.unrelated);
    let settled = settled.map_err(|found| problems.extend(found));
    problems.into_result()?;
    let settled = settled.expect("nothing is wrong");
    let mut subject = Subject::new(&function.signature.to_string());
    subject.workspaces = function.workspaces;
    subject.notes = kernels.warnings;
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
