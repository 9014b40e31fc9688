// SPDX-License-Identifier: Apache-2.0
//! Suggestions for a name that there is not. They are no more than that: nothing here decides
//! what a text means.

use crate::expr::Field;
use kernpack_ffi_abi::DType;
use kernpack_syntax::Diagnostic;
use strsim::levenshtein;

/// Names of dtypes in C, and short ones.
const OTHER_NAMES: &[(&str, DType)] = &[
    ("char", DType::INT8),
    ("short", DType::INT16),
    ("int", DType::INT32),
    ("long", DType::INT64),
    ("half", DType::FLOAT16),
    ("float", DType::FLOAT32),
    ("double", DType::FLOAT64),
    ("fp16", DType::FLOAT16),
    ("bf16", DType::BFLOAT16),
    ("fp32", DType::FLOAT32),
    ("fp64", DType::FLOAT64),
];

/// Names of fields elsewhere.
const OTHER_FIELDS: &[(&str, &str)] = &[("size", "numel"), ("stride", "strides"), ("dim", "shape")];

/// The dtype that was meant, among those that the place takes: one that is called so elsewhere, or
/// else has nearly that name.
pub(crate) fn closest_dtype(name: &str, takes: impl Fn(DType) -> bool) -> Option<DType> {
    let elsewhere = OTHER_NAMES.iter().find(|(other, _)| *other == name).map(|(_, dtype)| *dtype);
    let known = DType::names().filter(|known| DType::parse(known).is_some_and(&takes));
    elsewhere.filter(|dtype| takes(*dtype)).or_else(|| DType::parse(&closest(name, known)?))
}

/// Whether a name is surely a dtype's, although there is none of that name.
pub(crate) fn is_nearly_dtype(name: &str) -> bool {
    let is_other = OTHER_NAMES.iter().any(|(other, _)| *other == name);
    is_other || DType::names().any(|known| levenshtein(name, &known) <= 1)
}

/// The path and the field that were meant: `x` and `x.strides[0]` by `x.stride[0]`.
pub(crate) fn closest_field(path: &str) -> Option<(&str, String)> {
    let (tensor, part) = path.rsplit_once('.')?;
    let (name, number) = part.split_at(part.find('[').unwrap_or(part.len()));
    let elsewhere = OTHER_FIELDS.iter().find(|(other, _)| *other == name);
    let known = || closest(name, Field::NAMES.iter().map(|(field, _)| field.to_string()));
    let field = elsewhere.map(|(_, field)| field.to_string()).or_else(known)?;
    let is_numbered = Field::NAMES.contains(&(&field[..], true));
    let number = if is_numbered && number.is_empty() { "[0]" } else { number };
    (is_numbered || number.is_empty()).then(|| (tensor, format!("{tensor}.{field}{number}")))
}

/// The problem with what was meant, or else the other help.
pub(crate) fn did_you_mean(
    problem: Diagnostic,
    meant: Option<impl std::fmt::Display>,
    otherwise: impl Into<String>,
) -> Diagnostic {
    match meant {
        Some(known) => problem.help(format!("did you mean `{known}`?")),
        None => problem.help(otherwise),
    }
}

/// The first of the names that are nearest, if at most a third of the characters differ.
fn closest(name: &str, known: impl Iterator<Item = String>) -> Option<String> {
    let distance = |known: &String| levenshtein(name, known);
    known.min_by_key(distance).filter(|known| distance(known) * 3 <= name.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::Scalar;

    #[test]
    fn dtypes_are_suggested_where_they_can_stand() {
        let scalar = |name| closest_dtype(name, |dtype| Scalar::new(dtype).is_some());
        assert_eq!(scalar("int"), Some(DType::INT32));
        assert_eq!(scalar("float"), Some(DType::FLOAT32));
        assert_eq!(scalar("bf16"), Some(DType::BFLOAT16));
        assert_eq!(scalar("flaot16"), Some(DType::FLOAT16));
        assert_eq!(scalar("int5"), Some(DType::INT8));
        assert_eq!(closest_dtype("int5", |_| true), Some(DType::INT4));
        assert_eq!(scalar("float8_e4m3f"), None);
        assert_eq!(closest_dtype("float8_e4m3f", |_| true), Some(DType::FLOAT8_E4M3));
        assert_eq!(scalar("number"), None);
    }

    #[test]
    fn fields_are_suggested_for_paths_that_end_like_them() {
        let field = |path| closest_field(path).map(|(_, field)| field);
        assert_eq!(field("x.stride[0]").as_deref(), Some("x.strides[0]"));
        assert_eq!(field("p.x.shapes[1]").as_deref(), Some("p.x.shape[1]"));
        assert_eq!(field("x.shape").as_deref(), Some("x.shape[0]"));
        assert_eq!(field("x.numl").as_deref(), Some("x.numel"));
        assert_eq!(field("x.size").as_deref(), Some("x.numel"));
        assert_eq!(field("x.numel[0]"), None);
        assert_eq!(field("b.ndims").as_deref(), Some("b.ndim"));
        assert_eq!(field("x.givn").as_deref(), Some("x.given"));
        assert_eq!(field("x.weight"), None);
        assert_eq!(field("stride"), None);
    }
}
