// SPDX-License-Identifier: Apache-2.0
//! The plan of a function with its launches, and what only both together show to be wrong.

use super::{Function, Launch};
use kernpack_ffi_abi::DType;
use kernpack_syntax::{Diagnostic, Diagnostics, Span};
use kernpack_validators::Plan;
use kernpack_validators::plan;

impl Function {
    /// The plan of its calls.
    ///
    /// # Errors
    /// The parts that do not fit together.
    pub fn plan(&self) -> Result<Plan, Diagnostics> {
        let _span = tracing::debug_span!("plan", function = self.signature.name).entered();
        let specs: Vec<_> = self.launches.iter().map(Launch::spec).collect();
        let device = self.default_device();
        let plan = self.signature.plan_function(device, &self.workspaces, &specs)?;
        let args = self.launches.iter().flat_map(|launch| &launch.args);
        let mut problems = self.signature.unwritten_results(args.map(|arg| &arg.value));
        let planned = plan.launches.iter().map(|planned| (&self.launches[planned.index], planned));
        problems
            .extend(planned.flat_map(|(launch, planned)| launch.nameless_dtypes(&plan, planned)));
        Diagnostics(problems).into_result().map(|()| plan)
    }
}

impl Launch {
    /// Every dtype that stands in the name of the kernel and has no name there, as a problem.
    pub(super) fn nameless_dtypes(&self, plan: &Plan, planned: &plan::Launch) -> Vec<Diagnostic> {
        let problem = |(var, span, dtype): (&str, Span, DType)| {
            let message = format!(
                "`{{{var}}}` in the kernel's name `{}` has no meaning for {dtype}: CUDA C++ has no type that holds an element of it",
                self.kernel
            );
            let help = format!(
                "leave {dtype} out of what `{var}` may be, or write a launch for each dtype, with `when = \"{var} in {{{dtype}}}\"` and its kernel's name in full"
            );
            Diagnostic::new("dtype-name", message).at(span).help(help)
        };
        self.unnamed_dtypes(plan, planned).into_iter().map(problem).collect()
    }
}
