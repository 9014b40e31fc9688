// SPDX-License-Identifier: Apache-2.0
//! Parameter kinds.
//!
//! A kind is one file of this folder and one line of `param_kinds!`. It answers: how am I written
//! ([`ParamSyntax`]), how do I print, which names do I bind or use, what do I append to the plan,
//! what does a host pass for me ([`ParamKind`]). Nobody outside this folder can tell kinds apart: a
//! [`Kind`] is opaque, so that adding one changes no other file.

mod data_type;
mod env_stream;
mod literal;
mod optional;
mod pointer;
mod scalar;
mod shape;
mod stream;
mod string;
mod tensor;
mod tuple;

pub use data_type::DataType;
pub use env_stream::EnvStream;
pub use literal::Exactly;
pub use optional::Optional;
pub use pointer::Pointer;
pub use scalar::Scalar;
pub use shape::Shape;
pub use stream::Stream;
pub use string::Str;
pub use tensor::{Order, Strides, Tensor, TensorDType};
pub use tuple::Tuple;

pub(crate) use tensor::parse_tensor;

use crate::declare::Declarations;
use crate::host_type::HostType;
use crate::literal::Literal;
use crate::parse::Parser;
use crate::path::Path;
use crate::plan::Value;
use crate::planner::Planner;
use kernpack_ffi_abi::layout::any;
use kernpack_syntax::{Diagnostic, Span};
use std::fmt;
use std::sync::Arc;

/// How much of a signature to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Everything: parses back.
    Full,
    /// The form that messages show: kinds, dims, dtypes.
    Short,
}

/// An argument as it arrived: what there is to know of its `TVMFFIAny`.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Where it stands.
    pub path: Path,
    /// Its type index.
    pub type_index: Value,
    /// Its payload.
    pub payload: Value,
    /// Its text, where it is a string.
    pub text: Value,
    /// Whether None was accepted before this kind was asked.
    pub optional: bool,
}

impl Argument {
    /// The argument that lies at an address.
    pub fn of(path: Path, address: Value, cx: &mut Planner<'_>) -> Argument {
        let type_index = cx.b.load(address, any::TYPE_INDEX);
        let payload = cx.b.load(address, any::PAYLOAD);
        Argument { path, type_index, payload, text: cx.b.text_at(address), optional: false }
    }
}

/// Why a default cannot have a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadDefault {
    /// The kind accepts nothing that can be written as a literal.
    NoLiteral,
    /// It accepts other literals: what was expected.
    Expected(String),
}

/// A kind of parameter.
pub trait ParamKind: fmt::Debug + Send + Sync {
    /// Writes the type as it stands in a signature.
    fn write(&self, form: Form, f: &mut dyn fmt::Write) -> fmt::Result;

    /// Reports every name it binds or uses, in the order in which [`plan`](ParamKind::plan) meets
    /// them.
    fn declare(&self, at: &Path, cx: &mut Declarations);

    /// Appends its checks, and defines the values that rules and kernel arguments may name.
    fn plan(&self, at: &Argument, cx: &mut Planner<'_>);

    /// The type that a host passes for it.
    fn host_type(&self) -> HostType;

    /// Whether a default may have that value, which an argument may then have too.
    ///
    /// # Errors
    /// The problem of a default, where it does not fit.
    fn check_default(&self, _value: &Literal) -> Result<(), BadDefault> {
        Err(BadDefault::NoLiteral)
    }

    /// Whether it takes an argument of the call.
    fn takes_argument(&self) -> bool {
        true
    }

    /// The same kind in a signature that is made of a call's arguments: tensors are `mut` where
    /// this says so of their paths, and pointers lie as their elements need it. Nothing where that
    /// changes nothing. `at` is the path of the parameter.
    fn for_call(&self, _at: &Path, _is_written: &dyn Fn(&str) -> bool) -> Option<Kind> {
        None
    }
}

/// How a kind is read.
pub trait ParamSyntax {
    /// Its name in a list of all kinds: its keyword, where it has one.
    const NAME: &'static str;

    /// The words that it keeps for itself. No parameter, symbol or dtype variable has such a name.
    fn keywords() -> Vec<&'static str> {
        vec![Self::NAME]
    }

    /// Examples of what it reads, for documentation, tests and fuzzing.
    const SAMPLES: &'static [&'static str];

    /// Reads the type if the text that follows is of this kind; `None` leaves the parser where it
    /// was.
    fn parse(parser: &mut Parser<'_>) -> Option<Result<Kind, Diagnostic>>;
}

/// A parameter's type: one of the kinds, which it does not tell.
#[derive(Clone, Debug)]
pub struct Kind(Arc<dyn ParamKind>);

impl Kind {
    pub(crate) fn get(&self) -> &dyn ParamKind {
        &*self.0
    }

    /// The type that a host passes for it.
    pub fn host_type(&self) -> HostType {
        self.0.host_type()
    }

    /// Whether it takes an argument of the call.
    pub fn takes_argument(&self) -> bool {
        self.0.takes_argument()
    }

    pub(crate) fn text(&self, form: Form) -> String {
        let mut text = String::new();
        self.0.write(form, &mut text).expect("writing to a string");
        text
    }
}

impl<K: ParamKind + 'static> From<K> for Kind {
    fn from(kind: K) -> Kind {
        Kind(Arc::new(kind))
    }
}

/// Kinds are equal when they print alike: the full form says everything.
impl PartialEq for Kind {
    fn eq(&self, other: &Kind) -> bool {
        self.text(Form::Full) == other.text(Form::Full)
    }
}

/// A named slot of a signature.
#[derive(Clone, Debug)]
pub struct Param {
    /// The name.
    pub name: String,
    /// The type.
    pub kind: Kind,
    /// The value where a caller leaves it out.
    pub default: Option<Literal>,
    /// Where the name stands.
    pub span: Span,
}

impl PartialEq for Param {
    fn eq(&self, other: &Param) -> bool {
        self.name == other.name && self.kind == other.kind && self.default == other.default
    }
}

/// The registry: a line a kind, in the order in which the parser asks them.
macro_rules! param_kinds {
    ($($kind:ty,)*) => {
        /// Reads a type of any kind; `None` where the text is of none.
        pub(crate) fn parse_kind(parser: &mut Parser<'_>) -> Option<Result<Kind, Diagnostic>> {
            $( if let Some(kind) = <$kind as ParamSyntax>::parse(parser) { return Some(kind); } )*
            None
        }

        /// The name of each of the kinds.
        pub const NAMES: &[&str] = &[ $( <$kind as ParamSyntax>::NAME, )* ];

        /// The words that a kind keeps for itself.
        fn kinds_keywords() -> impl Iterator<Item = &'static str> {
            let all = [ $( <$kind as ParamSyntax>::keywords(), )* ];
            all.into_iter().flatten()
        }

        /// Examples of every kind.
        pub fn samples() -> Vec<&'static str> {
            let mut samples = Vec::new();
            $( samples.extend_from_slice(<$kind as ParamSyntax>::SAMPLES); )*
            samples
        }
    };
}

param_kinds! {
    Tensor,
    Shape,
    Tuple,
    Optional,
    Str,
    DataType,
    Pointer,
    Stream,
    EnvStream,
    Scalar,
    Exactly,
}

/// The words that are of no kind: those of rules, expressions and launches.
const KEYWORDS: &[&str] = &[
    "where", "in", "and", "or", "not", "noalias", "aligned", "ceildiv", "min", "max", "struct",
    "tma", "_",
];

/// The words that no parameter, symbol or dtype variable may have as its name, dtypes apart.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    kinds_keywords().chain(KEYWORDS.iter().copied())
}

/// A list of the kinds, as a sentence has it.
pub(crate) fn list() -> String {
    let (last, others) = NAMES.split_last().expect("there are kinds");
    format!("{}, and {last}", others.join(", "))
}

/// Whether a name is a word of the language.
pub fn is_keyword(name: &str) -> bool {
    keywords().any(|word| word == name)
}
