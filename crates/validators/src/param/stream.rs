// SPDX-License-Identifier: Apache-2.0
//! Kind `Stream`: an explicit stream handle, used in place of the environment's.
//!
//! *Accepts* OpaquePtr, Int and None. *Kernel argument*: the handle.

use super::{Argument, BadDefault, Form, Kind, ParamKind, ParamSyntax};
use crate::check;
use crate::declare::Declarations;
use crate::host_type::HostType;
use crate::literal::Literal;
use crate::parse::Parser;
use crate::path::Path;
use crate::planner::{Named, NamedKind, Planner};
use kernpack_ffi_abi::TypeIndex;
use kernpack_syntax::Diagnostic;
use std::fmt;

/// A stream handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream;

impl ParamSyntax for Stream {
    const NAME: &'static str = "Stream";
    const SAMPLES: &'static [&'static str] = &["Stream"];

    fn parse(parser: &mut Parser<'_>) -> Option<Result<Kind, Diagnostic>> {
        parser.eat_name("Stream").then_some(Ok(Stream.into()))
    }
}

impl ParamKind for Stream {
    fn write(&self, _form: Form, f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str("Stream")
    }

    fn declare(&self, _at: &Path, _cx: &mut Declarations) {}

    fn plan(&self, at: &Argument, cx: &mut Planner<'_>) {
        let accepted = [TypeIndex::OPAQUE_PTR, TypeIndex::INT, TypeIndex::NONE];
        check::type_index::require(cx, at, "Stream", &accepted);
        let handle = cx.pointer_payload(at);
        cx.b.let_named(&at.path.text, handle);
        cx.define(Named::new(handle, NamedKind::Pointer, &at.path));
    }

    fn host_type(&self) -> HostType {
        HostType::Stream
    }

    fn check_default(&self, value: &Literal) -> Result<(), BadDefault> {
        match value {
            Literal::None => Ok(()),
            _ => Err(BadDefault::Expected("None".to_string())),
        }
    }
}
