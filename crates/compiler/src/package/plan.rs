// SPDX-License-Identifier: Apache-2.0
//! The plan of a function with its launches, and what only both together show to be wrong.

use super::{Function, Launch};
use kernpack_syntax::{Diagnostic, Diagnostics};
use kernpack_validators::Plan;

impl Function {
    /// What a call of it checks and computes.
    ///
    /// # Errors
    /// What does not fit together.
    pub fn plan(&self) -> Result<Plan, Diagnostics> {
        let _span = tracing::debug_span!("plan", function = self.signature.name).entered();
        let specs: Vec<_> = self.launches.iter().map(Launch::spec).collect();
        let device = self.default_device();
        let plan = self.signature.plan_function(device, &self.workspaces, &specs)?;
        self.signature.check_written(&specs)?;
        self.names_of_dtypes(&plan)?;
        Ok(plan)
    }

    /// Every dtype that stands in the name of a kernel has a name there.
    fn names_of_dtypes(&self, plan: &Plan) -> Result<(), Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        for launch in &self.launches {
            for (var, dtype) in launch.unnamed_dtypes(&plan.combinations) {
                let message = format!(
                    "`{{{var}}}` in the kernel's name `{}` has no meaning for {dtype}: CUDA C++ has no type that holds an element of it",
                    launch.kernel
                );
                let help = format!(
                    "leave {dtype} out of what `{var}` may be, or write a launch for each dtype, with `when = \"{var} in {{{dtype}}}\"` and its kernel's name in full"
                );
                diagnostics.push(Diagnostic::new("dtype-name", message).help(help));
            }
        }
        diagnostics.into_result()
    }
}
