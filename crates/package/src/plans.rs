// SPDX-License-Identifier: Apache-2.0
//! The plans of a package's functions.

use crate::package::{EntryPoint, Function, Package, Role};
use crate::problem::of_function;
use kernpack_syntax::Diagnostics;
use kernpack_validators::{Plan, Signature};
use std::collections::HashMap;

/// The plans of a package's functions, by their names.
#[derive(Debug, Default)]
pub struct Plans(HashMap<String, Plan>);

impl Plans {
    /// Plans every function that is not among those that were `given`.
    pub fn of(
        package: &Package,
        entry_points: &[EntryPoint],
        given: &HashMap<String, Plan>,
        problems: &mut Diagnostics,
    ) -> Plans {
        let described = package.functions.iter().map(Function::variants);
        let others = entry_points.iter().filter(|entry_point| has_own_signature(&entry_point.role));
        let mut plans = HashMap::new();
        for variants in described.chain(others.map(|other| vec![other.function.clone()])) {
            let planned = variants.iter().try_for_each(|function| {
                let name = &function.signature.name;
                let plan = given.get(name).cloned().map_or_else(|| function.plan(), Ok)?;
                plans.insert(name.clone(), plan);
                Ok(())
            });
            if let Err(Diagnostics(found)) = planned {
                let Signature { name, span, .. } = &variants[0].signature;
                problems.extend(found.into_iter().map(|one| of_function(name, one.at(*span))));
            }
        }
        Plans(plans)
    }

    /// The functions that a user described, each with the plan that has all of its launches, where
    /// there is one: that of its twin, whose results may be anywhere, or its own.
    pub fn described<'p>(&'p self, package: &'p Package) -> Vec<(&'p Function, Option<&'p Plan>)> {
        let plan = |function: &Function| {
            let twin = function.twin();
            self.0.get(&twin.as_ref().unwrap_or(&function.signature).name)
        };
        package.functions.iter().map(|function| (function, plan(function))).collect()
    }

    /// The plan of an entry point. What only prepares calls of another function has that
    /// function's.
    ///
    /// # Panics
    /// Where that function had a problem.
    pub fn of_entry_point(&self, EntryPoint { function, role }: &EntryPoint) -> &Plan {
        match role {
            Role::Prepare(of) => &self.0[of],
            Role::Call | Role::Launched(_) | Role::Preload | Role::Synchronize => {
                &self.0[&function.signature.name]
            }
        }
    }
}

/// Whether an entry point that nobody described takes something else than a described function.
fn has_own_signature(role: &Role) -> bool {
    match role {
        Role::Call | Role::Prepare(_) => false,
        Role::Launched(_) | Role::Preload | Role::Synchronize => true,
    }
}
