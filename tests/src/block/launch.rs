// SPDX-License-Identifier: Apache-2.0
//! `launch`: a kernel that an accepted call runs. A line is an argument of the kernel, or `when:` and the rules under which it runs.

use super::{Kind, Role, last};
use crate::subject::Subject;
use kernpack_validators::{LaunchSpec, parse_kernel_arg, parse_rules};

pub(super) const KIND: Kind = Kind { info: "launch", role: Role::Describe(read) };

fn read(text: &str, subjects: &mut Vec<Subject>) -> Result<(), String> {
    let subject = last(subjects)?;
    let mut launch = LaunchSpec::default();
    for line in text.lines() {
        match line.strip_prefix("when:") {
            Some(rules) => {
                launch.when.extend(parse_rules(rules).map_err(|problems| problems.to_string())?);
            }
            None => {
                launch.args.push(parse_kernel_arg(line).map_err(|problems| problems.to_string())?);
            }
        }
    }
    subject.launches.push(launch);
    subject.plan_again();
    Ok(())
}
