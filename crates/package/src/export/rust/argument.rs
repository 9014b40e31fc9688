// SPDX-License-Identifier: Apache-2.0
//! A parameter that a caller passes something for, in Rust.

use super::types::{Generic, Types};
use super::value::{dtype_text, float, is_passed};
use kernpack_ffi_abi::DType;
use kernpack_validators::param::Param;
use kernpack_validators::{HostType, Literal};

/// A parameter that a caller passes something for.
#[derive(Clone)]
pub(super) struct Argument {
    /// Its name in Rust.
    pub(super) name: String,
    pub(super) ty: String,
    /// The generics of its type.
    pub(super) generics: Vec<Generic>,
    /// The expression that it is where it is left out.
    pub(super) default: Option<String>,
    /// The default as the signature has it.
    pub(super) shown_default: String,
    /// Whether it is the stream on which the function runs.
    pub(super) is_stream: bool,
}

impl Argument {
    /// A parameter under its name in Rust; `None` where nothing is passed.
    pub(super) fn new(
        param: &Param,
        name: String,
        is_stream: bool,
        types: &mut Types,
    ) -> Option<Argument> {
        let host = passed_type(param, is_stream);
        let mut generics = Vec::new();
        let ty = match is_stream {
            true => types.stream_reference(),
            false => types.of(&host, &param.name, &mut generics)?,
        };
        let literal = param.default.as_ref().filter(|_| !is_stream);
        let default = literal.map(|value| default(value, &host));
        let shown_default = literal.map_or_else(String::new, ToString::to_string);
        Some(Argument { name, ty, generics, default, shown_default, is_stream })
    }

    /// Whether it is a tensor, and no other value is possible.
    pub(super) fn is_tensor(&self) -> bool {
        matches!(&self.generics[..], [generic] if generic.is_tensor() && generic.name == self.ty)
    }

    /// The same with other names of generics, which no parameter's can have: theirs have a `_` at
    /// the end alone.
    pub(super) fn renamed(&self) -> Argument {
        let mut argument = self.clone();
        for generic in &mut argument.generics {
            let name = format!("{}_Given", generic.name);
            argument.ty = replace_word(&argument.ty, &generic.name, &name);
            generic.name = name;
        }
        argument
    }

    /// The type that the method takes which gives it, and the value that it becomes: what may be
    /// None, and is where it is left out, is given without the Option.
    pub(super) fn setter(&self) -> (String, String) {
        let inner = self.ty.strip_prefix("::core::option::Option<");
        let inner = inner.and_then(|inner| inner.strip_suffix('>'));
        match (inner, self.default.as_deref()) {
            (Some(inner), Some("None")) => (inner.to_string(), format!("Some({})", self.name)),
            _ => (self.ty.clone(), self.name.clone()),
        }
    }
}

/// The type of what a caller passes: of a stream that may be left out, an Option.
pub(super) fn passed_type(param: &Param, is_stream: bool) -> HostType {
    match param.kind.host_type() {
        HostType::Stream if param.default.is_some() && !is_stream => {
            HostType::Optional(Box::new(HostType::Stream))
        }
        host => host,
    }
}

/// A text with another word in the place of one.
fn replace_word(text: &str, word: &str, other: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut replaced = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (found, behind) = rest.split_at(end);
        replaced.push_str(if found == word { other } else { found });
        let next = behind.find(is_part).unwrap_or(behind.len());
        replaced.push_str(&behind[..next]);
        rest = &behind[next..];
    }
    replaced
}

/// A default as an expression of the parameter's type.
fn default(value: &Literal, host: &HostType) -> String {
    match (value, host) {
        (Literal::None, HostType::Pointer(_)) => "::core::ptr::null_mut()".to_string(),
        (_, HostType::Optional(inner)) if !is_passed(inner) => {
            (*value != Literal::None).to_string()
        }
        (Literal::None, _) => "None".to_string(),
        (value, HostType::Optional(inner)) => format!("Some({})", default(value, inner)),
        (Literal::Bool(value), HostType::Int(DType::BOOL)) => value.to_string(),
        (Literal::Int(value), HostType::Int(DType::BOOL)) => (*value != 0).to_string(),
        (Literal::Bool(value), HostType::Int(_)) => i64::from(*value).to_string(),
        (Literal::Bool(value), HostType::Float(_)) => format!("{}.0", u8::from(*value)),
        (Literal::Int(value), HostType::Float(_)) => format!("{value}_i64 as _"),
        (Literal::Float(value), HostType::Float(DType::FLOAT64)) => float(*value),
        (Literal::Float(value), _) => format!("{} as f32", float(*value)),
        (Literal::Int(value), _) => value.to_string(),
        (Literal::Bool(value), _) => value.to_string(),
        (Literal::Text(text), _) => format!("{text:?}"),
        (Literal::DType(dtype), _) => dtype_text(*dtype),
    }
}
