// SPDX-License-Identifier: Apache-2.0
//! Results that nothing can write: a call would return memory as the allocator left it. What a
//! kernel does with what it is passed is not known here, nor is anything else about its launch.

use super::KernelArg;
use crate::signature::{Signature, SignatureResult};
use kernpack_syntax::Diagnostic;

impl Signature {
    /// Each result that none of these arguments of launches passes to a kernel, as a problem.
    pub fn unwritten_results<'a>(
        &self,
        args: impl Iterator<Item = &'a KernelArg> + Clone,
    ) -> Vec<Diagnostic> {
        let is_unwritten =
            |result: &&SignatureResult| !args.clone().any(|arg| arg.passes(&result.name));
        let problem = |result: &SignatureResult| {
            let name = &result.name;
            let message = format!("nothing writes the result `{name}`: no launch is passed it");
            let help = format!("name `{name}` among the `args` of a kernel, or remove it");
            Diagnostic::new("unwritten-result", message).at(result.span).help(help)
        };
        self.results.iter().filter(is_unwritten).map(problem).collect()
    }
}

impl KernelArg {
    /// Whether the kernel gets at the memory of that name.
    fn passes(&self, name: &str) -> bool {
        match self {
            KernelArg::Value(expr, _) => expr.as_symbol() == Some(name),
            KernelArg::Constant(_) => false,
            KernelArg::Struct(fields) => fields.iter().any(|field| field.passes(name)),
            KernelArg::TensorMap(map) => map.tensor == name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_kernel_arg;

    fn unwritten(launches: &[&[&str]]) -> String {
        let text = "f(x: Tensor([n], float32)) -> y: Tensor([n], float32), z: Tensor([n], int8)";
        let signature: Signature = text.parse().unwrap();
        let args = launches.iter().flat_map(|args| args.iter());
        let args: Vec<_> = args.map(|arg| parse_kernel_arg(arg).unwrap()).collect();
        let problems = signature.unwritten_results(args.iter());
        let names = problems.iter().map(|problem| problem.message.split('`').nth(1).unwrap());
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
