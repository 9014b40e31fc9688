// SPDX-License-Identifier: Apache-2.0
//! Kind `String`: a text that rules and conditions ask about, `mode: String = "relu"`.
//!
//! *Accepts* an `ffi.String`, small or not, and a `const char*`. *Kernel argument*: none.

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

/// A text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Str;

impl ParamSyntax for Str {
    const NAME: &'static str = "String";
    const SAMPLES: &'static [&'static str] = &["String"];

    fn parse(parser: &mut Parser<'_>) -> Option<Result<Kind, Diagnostic>> {
        parser.eat_name("String").then_some(Ok(Str.into()))
    }
}

impl ParamKind for Str {
    fn write(&self, _form: Form, f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str("String")
    }

    fn declare(&self, at: &Path, cx: &mut Declarations) {
        cx.text(at);
    }

    fn plan(&self, at: &Argument, cx: &mut Planner<'_>) {
        check::type_index::require(cx, at, "str", &check::type_index::STRINGS);
        cx.b.let_named(&at.path.text, at.text);
        cx.define(Named::new(at.text, NamedKind::Text, &at.path));
    }

    fn host_type(&self) -> HostType {
        HostType::String
    }

    fn check_default(&self, value: &Literal) -> Result<(), BadDefault> {
        match value {
            Literal::Text(_) => Ok(()),
            _ => Err(BadDefault::Expected("a text in quotes".to_string())),
        }
    }
}
