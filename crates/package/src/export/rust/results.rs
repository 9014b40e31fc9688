// SPDX-License-Identifier: Apache-2.0
//! The results of a call in Rust.

use super::names::Names;
use super::types::{Types, Variable, angle};
use kernpack_validators::{Signature, SignatureResult};

/// The outcome of a call.
#[derive(Default)]
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
        Results::of("String", "returned.text()")
    }

    /// The results of a signature.
    pub(super) fn new(signature: &Signature, types: &Types) -> Results {
        let used = variables(&signature.results, types);
        let results = match &signature.results[..] {
            [] => Results::of("()", "Ok(())"),
            [result] => Results::of(&tensor(result, types), "returned.tensor()"),
            several => Results::several(several, &used, types),
        };
        let untold = used.into_iter().filter(|variable| !variable.is_told).collect();
        Results { untold, ..results }
    }

    fn of(ty: &str, value: &str) -> Results {
        Results { ty: ty.to_string(), value: vec![value.to_string()], ..Results::default() }
    }

    /// A struct of several.
    fn several(results: &[SignatureResult], used: &[Variable], types: &Types) -> Results {
        let mut names = Names::default();
        let fields: Vec<_> = results.iter().map(|result| names.add(&result.name)).collect();
        let members: String = results
            .iter()
            .zip(&fields)
            .map(|(result, field)| {
                let (name, ty) = (&result.name, tensor(result, types));
                format!("            /// `{name}`\n            pub {field}: {ty},\n")
            })
            .collect();
        let generics: Vec<_> = used.iter().map(|variable| variable.name.clone()).collect();
        let bounds = generics.iter().map(|name| format!("{name}: ::kernpack::Element"));
        let (generics, bounds) = (angle(&generics), bounds.collect::<Vec<_>>().join(", "));
        let definition = format!(
            "\n        /// The results.
        #[derive(Debug)]
        pub struct Results{generics} where {bounds} {{
{members}        }}
"
        );
        let places: Vec<_> = (0..results.len()).map(|i| format!("result_{i}")).collect();
        let values = fields.iter().zip(&places);
        let values: String =
            values.map(|(field, place)| format!("{field}: {place}.tensor()?, ")).collect();
        let value = vec![
            format!("let [{}] = returned.tensors()?;", places.join(", ")),
            format!("Ok(self::Results {{ {values}}})"),
        ];
        let ty = format!("self::Results{generics}");
        Results { ty, value, definition, untold: vec![] }
    }
}

/// The type of a result.
fn tensor(result: &SignatureResult, types: &Types) -> String {
    format!("::kernpack::Tensor<{}>", types.element(result.tensor.dtype()))
}

/// The dtype variables of results, each once.
fn variables(results: &[SignatureResult], types: &Types) -> Vec<Variable> {
    let mut used: Vec<Variable> = Vec::new();
    for result in results {
        let variable = types.variable_of(result.tensor.dtype());
        let new = variable.filter(|new| used.iter().all(|known| known.name != new.name));
        used.extend(new.cloned());
    }
    used
}
