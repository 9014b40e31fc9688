// SPDX-License-Identifier: Apache-2.0
//! Kind `Optional[T]`: None, or what `T` accepts.
//!
//! *Binds* what `T` binds, for use inside it and in kernel arguments. *Kernel argument*: those of
//! `T`, where absent NULL and 0, and `x.given`.

use super::{Argument, BadDefault, Form, Kind, ParamKind, ParamSyntax};
use crate::declare::Declarations;
use crate::expr::Field;
use crate::host_type::HostType;
use crate::literal::Literal;
use crate::parse::Parser;
use crate::path::Path;
use crate::planner::{Named, NamedKind, Planner};
use kernpack_ffi_abi::TypeIndex;
use kernpack_syntax::Diagnostic;
use std::fmt;

/// A value, or None.
#[derive(Clone, Debug, PartialEq)]
pub struct Optional(Kind);

impl Optional {
    /// An optional value of that kind.
    pub fn new(inner: impl Into<Kind>) -> Optional {
        Optional(inner.into())
    }
}

impl ParamSyntax for Optional {
    const NAME: &'static str = "Optional";
    const SAMPLES: &'static [&'static str] = &["Optional[float32]", "Optional[Tensor([k], int8)]"];

    fn parse(parser: &mut Parser<'_>) -> Option<Result<Kind, Diagnostic>> {
        parser.eat_name("Optional").then(|| parse_inner(parser))
    }
}

fn parse_inner(parser: &mut Parser<'_>) -> Result<Kind, Diagnostic> {
    parser.expect("[")?;
    let span = parser.peek().span;
    let inner = parser.parse_kind()?;
    let span = span.to(parser.expect("]")?);
    let why = match inner.host_type() {
        HostType::Optional(_) | HostType::EnvStream => "None would have no meaning of its own here",
        HostType::DataType => "without it, tensors would have no dtype",
        _ => return Ok(Optional(inner).into()),
    };
    let message = format!("`{}` cannot be optional", inner.text(Form::Full));
    Err(Diagnostic::new("optional", message).label(span, why))
}

impl ParamKind for Optional {
    fn write(&self, form: Form, f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str("Optional[")?;
        self.0.get().write(form, f)?;
        f.write_str("]")
    }

    fn declare(&self, at: &Path, cx: &mut Declarations) {
        cx.optional(at, |cx| self.0.get().declare(at, cx));
    }

    fn plan(&self, at: &Argument, cx: &mut Planner<'_>) {
        let none = cx.b.int(TypeIndex::NONE.0);
        let absent = cx.b.eq(at.type_index, none);
        let given = cx.b.not(absent);
        let (one, zero) = (cx.b.int(1), cx.b.int(0));
        let as_int = cx.b.select(given, one, zero);
        cx.define(Named::new(as_int, NamedKind::Int, &at.path.part(Field::Given)));
        let inner = Argument { optional: true, ..at.clone() };
        cx.when(given, |cx| self.0.get().plan(&inner, cx));
        cx.make_late_rules(&at.path);
        cx.settle(&at.path.text);
    }

    fn for_call(&self, at: &Path, is_written: &dyn Fn(&str) -> bool) -> Option<Kind> {
        Some(Optional(self.0.get().for_call(at, is_written)?).into())
    }

    fn host_type(&self) -> HostType {
        HostType::Optional(Box::new(self.0.host_type()))
    }

    fn check_default(&self, value: &Literal) -> Result<(), BadDefault> {
        match value {
            Literal::None => Ok(()),
            _ => self.0.get().check_default(value).map_err(|problem| match problem {
                BadDefault::NoLiteral => BadDefault::Expected("None".to_string()),
                BadDefault::Expected(words) => BadDefault::Expected(format!("{words} or None")),
            }),
        }
    }
}
