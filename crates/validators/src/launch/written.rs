// SPDX-License-Identifier: Apache-2.0
//! Results that nothing can write: a call would return memory as the allocator left it. What a kernel does with what it is passed is not
//! known here, nor is anything else about its launch.

use super::{KernelArg, LaunchSpec};
use crate::signature::Signature;
use kernpack_syntax::{Diagnostic, Diagnostics};

impl Signature {
    /// Every result is passed to a launch.
    ///
    /// # Errors
    /// Each result that is not.
    pub fn check_written(&self, launches: &[LaunchSpec]) -> Result<(), Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        for result in &self.results {
            let name = &result.name;
            if !launches.iter().flat_map(|launch| &launch.args).any(|arg| arg.passes(name)) {
                let message = format!("nothing writes the result `{name}`: no launch is passed it");
                let help = format!("name `{name}` among the `args` of a kernel, or remove it");
                diagnostics.push(Diagnostic::new("unwritten-result", message).help(help));
            }
        }
        diagnostics.into_result()
    }
}

impl KernelArg {
    /// Whether the kernel gets at the memory of that name.
    fn passes(&self, name: &str) -> bool {
        match self {
            KernelArg::Value(expr, _) => expr.as_symbol() == Some(name),
            KernelArg::Struct(fields) => fields.iter().any(|field| field.passes(name)),
            KernelArg::TensorMap(map) => map.tensor == name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Returns, Site};
    use super::*;
    use crate::kernel_name::KernelName;
    use crate::parse::parse_kernel_arg;

    fn unwritten(launches: &[&[&str]]) -> String {
        let text = "f(x: Tensor([n], float32)) -> y: Tensor([n], float32), z: Tensor([n], int8)";
        let signature: Signature = text.parse().unwrap();
        let spec = |args: &&[&str]| LaunchSpec {
            when: vec![],
            kernel: KernelName::plain("k"),
            args: args.iter().map(|arg| parse_kernel_arg(arg).unwrap()).collect(),
            site: Site::Host(Returns::Void),
        };
        let specs: Vec<_> = launches.iter().map(spec).collect();
        let problems = signature.check_written(&specs).err().unwrap_or_default();
        let names = problems.0.iter().map(|problem| problem.message.split('`').nth(1).unwrap());
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_result_is_written_by_a_launch_that_is_passed_it() {
        assert_eq!(unwritten(&[]), "y z");
        assert_eq!(unwritten(&[&["x", "y"]]), "z");
        assert_eq!(unwritten(&[&["x", "y"], &["y", "z"]]), "");
        assert_eq!(unwritten(&[&["struct(x, struct(n: int32, y))", "tma(z, box=[16])"]]), "");
    }

    #[test]
    fn a_field_of_a_result_writes_nothing() {
        assert_eq!(unwritten(&[&["y.shape[0]", "z.numel + n"]]), "y z");
    }
}
