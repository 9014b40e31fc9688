// SPDX-License-Identifier: Apache-2.0
//! Kind `Tuple`: several values in one argument, `Tuple(x: Tensor([n], int8), float32)`.
//!
//! *Accepts* an Array or List of exactly that many elements. *Binds* what its elements bind.
//! *Kernel argument*: those of its elements, as `p.x` where they have names and `p[0]` where they
//! have none.

use super::{Argument, Form, Kind, ParamKind, ParamSyntax};
use crate::check;
use crate::declare::Declarations;
use crate::host_type::HostType;
use crate::parse::Parser;
use crate::path::Path;
use crate::planner::Planner;
use kernpack_ffi_abi::TypeIndex;
use kernpack_ffi_abi::layout::{Any, seq_cell};
use kernpack_syntax::Diagnostic;
use std::fmt;

/// Several values, some of which have names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tuple(Vec<(Option<String>, Kind)>);

impl Tuple {
    /// The empty tuple.
    pub fn new() -> Tuple {
        Tuple::default()
    }

    /// Adds an element without a name.
    pub fn element(mut self, kind: impl Into<Kind>) -> Tuple {
        self.0.push((None, kind.into()));
        self
    }

    /// Adds an element with a name.
    pub fn named(mut self, name: impl Into<String>, kind: impl Into<Kind>) -> Tuple {
        self.0.push((Some(name.into()), kind.into()));
        self
    }

    fn paths(&self, at: &Path) -> impl Iterator<Item = (Path, &Kind)> {
        self.0.iter().enumerate().map(|(i, (name, kind))| match name {
            Some(name) => (at.part(format!(".{name}")), kind),
            None => (at.part(format!("[{i}]")), kind),
        })
    }
}

impl ParamSyntax for Tuple {
    const NAME: &'static str = "Tuple";
    const SAMPLES: &'static [&'static str] =
        &["Tuple()", "Tuple(int32, Tensor([n], float32))", "Tuple(x: bool, y: Tuple(float64))"];

    fn parse(parser: &mut Parser<'_>) -> Option<Result<Kind, Diagnostic>> {
        parser.eat_name("Tuple").then(|| parse_elements(parser).map(Kind::from))
    }
}

fn parse_elements(parser: &mut Parser<'_>) -> Result<Tuple, Diagnostic> {
    parser.expect("(")?;
    let mut tuple = Tuple::new();
    while !parser.at_mark(")") {
        let name =
            parser.parse_element_name(tuple.0.iter().filter_map(|(name, _)| name.as_deref()))?;
        let span = parser.peek().span;
        let kind = parser.parse_kind()?;
        if !kind.takes_argument() {
            return Err(Diagnostic::new("tuple-element", "a tuple's element must be an argument")
                .label(span, "takes no argument"));
        }
        if kind.host_type() == HostType::DataType {
            let message = "a `DataType` is a parameter of its own";
            return Err(Diagnostic::new("tuple-element", message)
                .label(span, "would be no dtype variable")
                .help("move it out of the tuple"));
        }
        tuple.0.push((name, kind));
        if !parser.eat(",") {
            break;
        }
    }
    parser.expect(")")?;
    Ok(tuple)
}

impl ParamKind for Tuple {
    fn write(&self, form: Form, f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str("Tuple(")?;
        for (i, (name, kind)) in self.0.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            name.as_ref().map_or(Ok(()), |name| write!(f, "{name}: "))?;
            kind.get().write(form, f)?;
        }
        f.write_str(")")
    }

    fn declare(&self, at: &Path, cx: &mut Declarations) {
        for ((name, _), (path, kind)) in self.0.iter().zip(self.paths(at)) {
            name.iter().for_each(|name| cx.element(&path, name));
            kind.get().declare(&path, cx);
        }
    }

    fn plan(&self, at: &Argument, cx: &mut Planner<'_>) {
        check::type_index::require(cx, at, "Tuple", &[TypeIndex::ARRAY, TypeIndex::LIST]);
        check::tuple_size::require(cx, &at.path, at.payload, self.0.len());
        let elements = cx.b.load(at.payload, seq_cell::DATA);
        for (i, (path, kind)) in self.paths(&at.path).enumerate() {
            let offset = cx.b.int((i * size_of::<Any>()) as i64);
            let element = cx.b.add_ints(elements, offset);
            kind.get().plan(&Argument::of(path, element, cx), cx);
        }
    }

    fn for_call(&self, at: &Path, is_written: &dyn Fn(&str) -> bool) -> Option<Kind> {
        let written = |(path, kind): (Path, &Kind)| kind.get().for_call(&path, is_written);
        let written: Vec<_> = self.paths(at).map(written).collect();
        if written.iter().all(Option::is_none) {
            return None;
        }
        let fields = self.0.iter().zip(written);
        let field = |((name, kind), written): (&(Option<String>, Kind), Option<Kind>)| {
            (name.clone(), written.unwrap_or_else(|| kind.clone()))
        };
        Some(Tuple(fields.map(field).collect()).into())
    }

    fn host_type(&self) -> HostType {
        HostType::Tuple(
            self.0.iter().map(|(name, kind)| (name.clone(), kind.host_type())).collect(),
        )
    }
}
