// SPDX-License-Identifier: Apache-2.0
//! Kind literal: a parameter that must have exactly one value, written as that value: `mode: 3`,
//! `causal: True`, `mask: None`.
//!
//! *Accepts* None for `None`; Bool and Int for `True`, `False` and ints; Float, Int and Bool for
//! floats; what a `String` does for texts. *Kernel argument*: the value, but for a text.

use super::{Argument, BadDefault, Form, Kind, ParamKind, ParamSyntax};
use crate::check;
use crate::declare::Declarations;
use crate::host_type::HostType;
use crate::literal::Literal;
use crate::parse::Parser;
use crate::path::Path;
use crate::planner::{Named, NamedKind, Planner};
use kernpack_syntax::Diagnostic;
use std::fmt;

/// Exactly one value.
#[derive(Clone, Debug, PartialEq)]
pub struct Exactly(pub Literal);

impl ParamSyntax for Exactly {
    const NAME: &'static str = "literals";
    const SAMPLES: &'static [&'static str] = &["None", "True", "3", "-1", "0.5", "\"relu\""];

    fn keywords() -> Vec<&'static str> {
        vec!["True", "False", "None"]
    }

    fn parse(parser: &mut Parser<'_>) -> Option<Result<Kind, Diagnostic>> {
        parser.at_literal().then(|| parser.parse_literal().map(|value| Exactly(value).into()))
    }
}

impl ParamKind for Exactly {
    fn write(&self, _form: Form, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "{}", self.0)
    }

    fn declare(&self, _at: &Path, _cx: &mut Declarations) {}

    fn plan(&self, at: &Argument, cx: &mut Planner<'_>) {
        check::literal::require(cx, at, &self.0);
        let kind = match &self.0 {
            Literal::None => NamedKind::Pointer,
            Literal::Bool(_) | Literal::Int(_) => NamedKind::Int,
            Literal::Float(_) => NamedKind::Float,
            Literal::Text(_) => NamedKind::Text,
            Literal::DType(_) => NamedKind::DType,
        };
        let value = match &self.0 {
            Literal::Text(text) => cx.b.text(text),
            number => cx.b.int(number.as_any().1),
        };
        cx.define(Named::new(value, kind, &at.path));
    }

    fn host_type(&self) -> HostType {
        HostType::Literal(self.0.clone())
    }

    fn check_default(&self, value: &Literal) -> Result<(), BadDefault> {
        if *value == self.0 { Ok(()) } else { Err(BadDefault::Expected(self.0.to_string())) }
    }
}
