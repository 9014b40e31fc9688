// SPDX-License-Identifier: Apache-2.0
//! `launch`: a kernel that an accepted call runs. A line is an argument of the kernel, `when:` and the rules under which it runs, or `status:`
//! and the number that it returns.

use super::{Kind, Role};
use crate::subject::Subject;
use kernpack_validators::{LaunchSpec, parse_kernel_arg, parse_rules};

pub(super) const KIND: Kind = Kind { info: "launch", role: Role::Add(read) };

fn read(text: &str, subject: &mut Subject) -> Result<(), String> {
    let (mut launch, mut status) = (LaunchSpec::default(), None);
    for line in text.lines() {
        if let Some(rules) = line.strip_prefix("when:") {
            launch.when.extend(parse_rules(rules).map_err(|problems| problems.to_string())?);
        } else if let Some(number) = line.strip_prefix("status:") {
            status = Some(number.trim().parse().map_err(|_| format!("`{number}` is no status"))?);
        } else {
            launch.args.push(parse_kernel_arg(line).map_err(|problems| problems.to_string())?);
        }
    }
    subject.launches.push(launch);
    subject.statuses.push(status);
    subject.plan_again();
    Ok(())
}
