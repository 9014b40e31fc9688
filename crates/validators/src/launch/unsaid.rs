// SPDX-License-Identifier: Apache-2.0
//! Arguments of a kernel where its launch does not say: those of the function, as far as one
//! parameter is one argument of C. Workspaces are not among it, nor are extents.

use super::KernelArg;
use crate::expr::Expr;
use crate::host_type::HostType;
use crate::param::Param;
use crate::signature::Signature;

impl Signature {
    /// Each parameter in order, then each result: the parameters of the `_out` twin.
    ///
    /// # Errors
    /// The first parameter that is no tensor, scalar or pointer.
    pub fn unsaid_args(&self) -> Result<Vec<KernelArg>, &Param> {
        let params = self.params.iter().map(|param| match is_plain(&param.kind.host_type()) {
            true => Ok(&param.name),
            false => Err(param),
        });
        let results = self.results.iter().map(|result| Ok(&result.name));
        let arg = |name: &String| KernelArg::Value(Expr::symbol(name), None);
        params.chain(results).map(|name| name.map(arg)).collect()
    }
}

/// Whether there is only one way to pass it to a function in C.
fn is_plain(host_type: &HostType) -> bool {
    matches!(
        host_type,
        HostType::Tensor(_) | HostType::Int(_) | HostType::Float(_) | HostType::Pointer(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unsaid(signature: &str) -> String {
        let signature: Signature = signature.parse().unwrap();
        match signature.unsaid_args() {
            Ok(args) => args.iter().map(|arg| format!("{arg} ")).collect(),
            Err(param) => format!("not {}", param.name),
        }
    }

    #[test]
    fn parameters_come_before_results() {
        let text = "f(x: Tensor([n], T), b: bool, p: Pointer, k: uint64 = 3, e: float16 = 1.0) \
            -> z: Tensor([n], T), y: Tensor([], int8) where T in {int8, float16}";
        assert_eq!(unsaid(text), "x b p k e z y ");
        assert_eq!(unsaid("f()"), "");
        assert_eq!(unsaid("f() -> y: Tensor([2], int8)"), "y ");
    }

    #[test]
    fn of_other_kinds_nothing_is_taken_for_granted() {
        for kind in [
            "Shape([n])",
            "Tuple(int32)",
            "Optional[Tensor([4], int8)]",
            "String",
            "Stream",
            "EnvStream",
            "3",
            "None",
        ] {
            assert_eq!(unsaid(&format!("f(a: int32, k: {kind}, s: Shape([2]))")), "not k");
        }
    }
}
