// SPDX-License-Identifier: Apache-2.0
//! The tensors that launches can name, as far as they are known before a call: for those who
//! complete launches, as what a kernel's compiler says of them may depend on its tensors. Whether a
//! launch fits them is not decided here.

use super::{Join, When, Workspace, name_device};
use crate::param::TensorDType;
use crate::signature::Signature;
use kernpack_ffi_abi::{DType, DeviceType};
use kernpack_syntax::Diagnostics;
use std::collections::HashMap;

/// A tensor that launches can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTensor {
    /// The dtypes that it may have where the launch runs: one, or some of its dtype variable.
    pub dtypes: Vec<DType>,
    /// The dtype variable.
    pub dtype_var: Option<String>,
    /// Its dims from the innermost to the outermost, by number.
    pub fastest_first: Vec<usize>,
}

impl Signature {
    /// The tensors of known rank that a launch can name, by that name: parameters, parts of tuples,
    /// results and workspaces. The launches run at these times, and it is the one of that number.
    ///
    /// # Errors
    /// Where signature and workspaces have no plan.
    pub fn named_tensors(
        &self,
        default_device: DeviceType,
        workspaces: &[Workspace],
        whens: &[&When],
        launch: usize,
    ) -> Result<HashMap<String, NamedTensor>, Diagnostics> {
        let mut tensors = HashMap::new();
        self.plan_with(default_device, |cx, plan| {
            let mut join = Join::new(cx, plan, self, workspaces, name_device(workspaces));
            join.learn_whens(whens);
            for (name, source) in join.cx.map_sources() {
                let dtype_var = match &source.dtype {
                    TensorDType::Fixed(_) => None,
                    TensorDType::Var(var, _) => Some(var.clone()),
                };
                let Some(fastest_first) = source.fastest_first.clone() else { continue };
                let tensor = NamedTensor {
                    dtypes: join.dtypes_of(launch, &source.dtype),
                    dtype_var,
                    fastest_first,
                };
                tensors.insert(name.to_string(), tensor);
            }
            join.diagnostics.into_result()
        })?;
        Ok(tensors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse_tensor, parse_when};

    #[test]
    fn parts_results_and_workspaces_are_tensors() {
        let text = "f(p: Tuple(x: Tensor([m, n], T, order=(0, 1)), int32), o: Optional[Tensor([m], float32)] = None) \
            -> r: Tensor([n, 2], float16) where T in {float16, int8}";
        let signature: Signature = text.parse().unwrap();
        let workspace = Workspace::new("w", parse_tensor("Tensor([m], int32)").unwrap());
        let always = When::Always;
        let tensors =
            signature.named_tensors(DeviceType::CUDA, &[workspace], &[&always], 0).unwrap();
        let fixed = |dtype, fastest_first: &[usize]| NamedTensor {
            dtypes: vec![dtype],
            dtype_var: None,
            fastest_first: fastest_first.to_vec(),
        };
        let x = NamedTensor {
            dtypes: vec![DType::FLOAT16, DType::INT8],
            dtype_var: Some("T".to_string()),
            fastest_first: vec![0, 1],
        };
        let expected = [
            ("p.x", x),
            ("o", fixed(DType::FLOAT32, &[0])),
            ("r", fixed(DType::FLOAT16, &[1, 0])),
            ("w", fixed(DType::INT32, &[0])),
        ];
        let expected = expected.map(|(name, tensor)| (name.to_string(), tensor));
        assert_eq!(tensors, HashMap::from(expected));
    }

    #[test]
    fn dtypes_are_those_under_which_the_launch_runs() {
        let signature: Signature =
            "f(x: Tensor([n], T)) where T in {float16, int8, float32}".parse().unwrap();
        let whens = ["T == int8 and n > 4", "T != float16 or n > 4", "otherwise"];
        let whens = whens.map(|text| parse_when(text).unwrap());
        let whens: Vec<_> = whens.iter().collect();
        let dtypes = |launch| {
            let tensors = signature.named_tensors(DeviceType::CUDA, &[], &whens, launch);
            tensors.unwrap().remove("x").unwrap().dtypes
        };
        assert_eq!(dtypes(0), [DType::INT8]);
        assert_eq!(dtypes(1), [DType::FLOAT16, DType::INT8, DType::FLOAT32]);
        assert_eq!(dtypes(2), [DType::FLOAT16]);
    }

    #[test]
    fn what_has_no_plan_has_no_tensors() {
        let signature: Signature = "f(x: Tensor([n], float32))".parse().unwrap();
        let workspace = Workspace::new("x", parse_tensor("Tensor([n], int32)").unwrap());
        let problems = signature
            .named_tensors(DeviceType::CUDA, &[workspace], &[&When::Always], 0)
            .unwrap_err();
        assert!(problems.to_string().contains("means two things"), "{problems}");
    }
}
