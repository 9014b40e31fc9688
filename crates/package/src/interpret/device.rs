// SPDX-License-Identifier: Apache-2.0
//! The device of a call that runs on none: an H200, unless who asks says something else of it.

use super::Wanted;
use kernpack_machine::shared;
use kernpack_syntax::Diagnostic;
use kernpack_validators::LaunchFlag;
use kernpack_validators::described::DeviceFacts;
use kernpack_validators::plan::{DeviceFact, Expr, Launch, Plan, Site};

/// The attributes of an H200.
pub(super) const USUAL: DeviceFacts = [132, shared::MOST_BYTES as i64, 90];

/// The attributes of a device of which this is said, by names such as `sm_count`.
///
/// # Errors
/// A name that no attribute has, and a number that none is.
pub fn said<'s>(said: impl IntoIterator<Item = (&'s str, i64)>) -> Result<DeviceFacts, Diagnostic> {
    let mut facts = USUAL;
    for (name, value) in said {
        let name = format!("device.{name}");
        let Some(fact) = DeviceFact::named(&name) else {
            let known = DeviceFact::ALL.map(|fact| format!("`{}`", fact.name())).join(", ");
            let problem = Diagnostic::new("bad-value", format!("there is no `{name}`"));
            return Err(problem.help(format!("it has {known}")));
        };
        facts[fact as usize] = number(fact, &value.to_string())?;
    }
    Ok(facts)
}

/// Takes what is said of the device from what is said of the arguments, where a launch asks for it.
pub(super) fn of_wanted(
    plan: &Plan,
    wanted: &Wanted,
    mut facts: DeviceFacts,
) -> Result<(Wanted, DeviceFacts), Diagnostic> {
    let mut wanted = wanted.clone();
    if !is_asked(plan) {
        return Ok((wanted, facts));
    }
    let mut problem = None;
    wanted.values.retain(|(name, text)| {
        let Some(fact) = DeviceFact::named(name) else { return true };
        match number(fact, text) {
            Ok(value) => facts[fact as usize] = value,
            Err(found) => problem = Some(found),
        }
        false
    });
    problem.map_or(Ok((wanted, facts)), Err)
}

/// Whether anything in a call depends on the device: a launch asks of it, or all its blocks have to
/// run at once.
fn is_asked(plan: &Plan) -> bool {
    let is_cooperative = |launch: &Launch| matches!(&launch.site, Site::Gpu(grid) if grid.flags.has(LaunchFlag::Cooperative));
    plan.exprs.contains(&Expr::Device) || plan.launches.iter().any(is_cooperative)
}

/// An attribute as the driver gives one: a positive `int`.
fn number(fact: DeviceFact, text: &str) -> Result<i64, Diagnostic> {
    match text.parse::<i32>() {
        Ok(value @ 1..) => Ok(value.into()),
        _ => {
            let message = format!("`{}` is a positive integer, found `{text}`", fact.name());
            Err(Diagnostic::new("bad-value", message))
        }
    }
}
