// SPDX-License-Identifier: Apache-2.0
//! Kind `Pointer`: a raw address, `Pointer`, `Pointer(float32)`, `Pointer(float32, nonnull,
//! align=16)`.
//!
//! *Accepts* OpaquePtr, Int, and None unless `nonnull`. *Kernel argument*: the address.

use super::{Argument, BadDefault, Form, Kind, ParamKind, ParamSyntax};
use crate::check;
use crate::declare::Declarations;
use crate::host_type::HostType;
use crate::literal::Literal;
use crate::parse::Parser;
use crate::path::Path;
use crate::planner::{Named, NamedKind, Planner};
use kernpack_ffi_abi::{DType, TypeIndex};
use kernpack_syntax::Diagnostic;
use std::fmt;
use std::mem::replace;

/// A raw address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pointer {
    /// The type that it points to, for readers and headers.
    pub dtype: Option<DType>,
    /// Whether NULL is refused.
    pub nonnull: bool,
    /// The alignment of the address, in bytes; a power of two.
    pub align: Option<u32>,
}

impl ParamSyntax for Pointer {
    const NAME: &'static str = "Pointer";
    const SAMPLES: &'static [&'static str] =
        &["Pointer", "Pointer(float32)", "Pointer(uint8, nonnull, align=64)"];

    fn keywords() -> Vec<&'static str> {
        vec![Self::NAME, "nonnull"]
    }

    fn parse(parser: &mut Parser<'_>) -> Option<Result<Kind, Diagnostic>> {
        parser.eat_name("Pointer").then(|| parse_options(parser).map(Kind::from))
    }
}

fn parse_options(parser: &mut Parser<'_>) -> Result<Pointer, Diagnostic> {
    let mut pointer = Pointer::default();
    if !parser.eat("(") {
        return Ok(pointer);
    }
    pointer.dtype = Some(parser.parse_dtype()?);
    while parser.eat(",") && !parser.at_mark(")") {
        let span = parser.peek().span;
        let (option, is_repeated) = if parser.eat_name("nonnull") {
            ("nonnull", replace(&mut pointer.nonnull, true))
        } else if parser.eat_name("align") {
            let align = parser.parse_align()?;
            ("align", pointer.align.replace(align).is_some())
        } else {
            return Err(parser.unexpected("`nonnull` or `align=`"));
        };
        if is_repeated {
            let problem = Diagnostic::new("repeated-option", format!("`{option}` is given twice"));
            let problem = problem.label(span, "an earlier option says this already");
            return Err(problem.help("remove one of the two"));
        }
    }
    parser.expect(")")?;
    Ok(pointer)
}

impl ParamKind for Pointer {
    fn write(&self, form: Form, f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str("Pointer")?;
        let Some(dtype) = self.dtype else { return Ok(()) };
        write!(f, "({dtype}")?;
        if form == Form::Full {
            f.write_str(if self.nonnull { ", nonnull" } else { "" })?;
            self.align.map_or(Ok(()), |align| write!(f, ", align={align}"))?;
        }
        f.write_str(")")
    }

    fn declare(&self, _at: &Path, _cx: &mut Declarations) {}

    fn plan(&self, at: &Argument, cx: &mut Planner<'_>) {
        let mut accepted = vec![TypeIndex::OPAQUE_PTR, TypeIndex::INT];
        if !self.nonnull {
            accepted.push(TypeIndex::NONE);
        }
        check::type_index::require(cx, at, "Pointer", &accepted);
        let address = cx.pointer_payload(at);
        cx.b.let_named(&at.path.text, address);
        if self.nonnull {
            check::pointer_null::require(cx, &at.path, address);
        }
        if let Some(align) = self.align {
            check::pointer_alignment::require(cx, &at.path, address, align);
        }
        cx.define(Named::new(address, NamedKind::Pointer, &at.path));
    }

    fn for_call(&self, _at: &Path, _is_written: &dyn Fn(&str) -> bool) -> Option<Kind> {
        let align = self.dtype.map(|dtype| dtype.element_bytes().max(1));
        let align = align.filter(|bytes| self.align.is_none() && bytes.is_power_of_two())?;
        Some(Pointer { align: Some(align), ..*self }.into())
    }

    fn host_type(&self) -> HostType {
        HostType::Pointer(*self)
    }

    fn check_default(&self, value: &Literal) -> Result<(), BadDefault> {
        match value {
            _ if self.nonnull => Err(BadDefault::NoLiteral),
            Literal::None => Ok(()),
            _ => Err(BadDefault::Expected("None".to_string())),
        }
    }
}
