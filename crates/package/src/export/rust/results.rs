// SPDX-License-Identifier: Apache-2.0
//! The results of a call in Rust.

use super::names::Names;
use super::types::{Types, Variable, angle};
use kernpack_validators::Signature;
use kernpack_validators::param::TensorDType;

/// The outcome of a call.
pub(super) struct Results {
    /// The type.
    pub(super) ty: String,
    /// The lines that make it of `returned`.
    pub(super) value: Vec<String>,
    /// The struct, where there are several.
    pub(super) definition: String,
    /// The dtype variables that the caller has to tell.
    pub(super) untold: Vec<Variable>,
}

impl Results {
    /// A text.
    pub(super) fn text() -> Results {
        let (ty, value) = ("String".to_string(), vec!["returned.text()".to_string()]);
        Results { ty, value, definition: String::new(), untold: vec![] }
    }

    /// The results of a signature.
    pub(super) fn new(signature: &Signature, types: &Types) -> Results {
        let results = &signature.results;
        let element = |i: usize| types.element(results[i].tensor.dtype());
        let mut used: Vec<Variable> = Vec::new();
        for result in results {
            if let TensorDType::Var(var, _) = result.tensor.dtype() {
                let variable = types.variable(var);
                if !used.iter().any(|known| known.name == variable.name) {
                    used.push(variable.clone());
                }
            }
        }
        let generics: Vec<_> = used.iter().map(|variable| variable.name.clone()).collect();
        let untold = used.iter().filter(|variable| !variable.is_told).cloned().collect();
        let (ty, value, definition) = match results.len() {
            0 => ("()".to_string(), vec!["Ok(())".to_string()], String::new()),
            1 => {
                let ty = format!("::kernpack::Tensor<{}>", element(0));
                (ty, vec!["returned.tensor()".to_string()], String::new())
            }
            n_results => {
                let mut names = Names::default();
                let fields: Vec<_> = results.iter().map(|result| names.add(&result.name)).collect();
                let generics = angle(&generics);
                let members: String = (0..n_results)
                    .map(|i| {
                        format!(
                            "            /// `{}`
            pub {}: ::kernpack::Tensor<{}>,\n",
                            results[i].name,
                            fields[i],
                            element(i)
                        )
                    })
                    .collect();
                let definition = format!(
                    "\n        /// The results.
        #[derive(Debug)]
        pub struct Results{generics} where {bounds} {{
{members}        }}
",
                    bounds = used
                        .iter()
                        .map(|variable| format!("{}: ::kernpack::Element", variable.name))
                        .collect::<Vec<_>>()
                        .join(", ")
                );
                let places: Vec<_> = (0..n_results).map(|i| format!("result_{i}")).collect();
                let values: String = fields
                    .iter()
                    .zip(&places)
                    .map(|(field, place)| format!("{field}: {place}.tensor()?, "))
                    .collect();
                let value = vec![
                    format!("let [{}] = returned.tensors()?;", places.join(", ")),
                    format!("Ok(self::Results {{ {values}}})"),
                ];
                (format!("self::Results{generics}"), value, definition)
            }
        };
        Results { ty, value, definition, untold }
    }
}
