// SPDX-License-Identifier: Apache-2.0
//! `launches`: what the function launches, and in which calls: a line a launch, in order.

use super::{Kind, Role, Shown};
use kernpack_syntax::Placed;
use kernpack_validators::{Expr, LaunchSpec, Site};

pub(super) const KIND: Kind = Kind { info: "launches", role: Role::Show(show) };

fn show(shown: &Shown<'_>) -> Result<String, String> {
    let subject = shown.subject;
    if let Err(problems) = &subject.plan {
        return Err(problems.to_string());
    }
    let lines = subject.launches.iter().enumerate().map(|(number, launch)| line(number, launch));
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

fn line(number: usize, launch: &LaunchSpec) -> String {
    let args: Vec<_> = launch.args.iter().map(|arg| arg.value.to_string()).collect();
    let mut line = format!("launch {number}: {}", args.join(", "));
    if let Site::Gpu(gpu) = &launch.site {
        let geometry = &gpu.geometry;
        for (name, numbers) in
            [("grid", &geometry.grid), ("block", &geometry.block), ("cluster", &geometry.cluster)]
        {
            if !numbers.is_empty() {
                line.push_str(&format!("; {name} [{}]", list(numbers)));
            }
        }
        if geometry.shared.value.as_int() != Some(0) {
            line.push_str(&format!("; smem {}", geometry.shared.value));
        }
    }
    let when = launch.when.to_string();
    if when.is_empty() { line } else { format!("{line}; {when}") }
}

fn list(numbers: &[Placed<Expr>]) -> String {
    numbers.iter().map(|one| one.value.to_string()).collect::<Vec<_>>().join(", ")
}
