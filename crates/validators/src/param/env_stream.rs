// SPDX-License-Identifier: Apache-2.0
//! Kind `EnvStream`: the stream that the environment set for the call's device. It takes no
//! argument.
//!
//! *Kernel argument*: the stream's handle.

use super::{Argument, Form, Kind, ParamKind, ParamSyntax};
use crate::declare::Declarations;
use crate::host_type::HostType;
use crate::parse::Parser;
use crate::path::Path;
use crate::planner::{Named, NamedKind, Planner};
use kernpack_syntax::Diagnostic;
use std::fmt;

/// The environment's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnvStream;

impl ParamSyntax for EnvStream {
    const NAME: &'static str = "EnvStream";
    const SAMPLES: &'static [&'static str] = &["EnvStream"];

    fn parse(parser: &mut Parser<'_>) -> Option<Result<Kind, Diagnostic>> {
        parser.eat_name("EnvStream").then_some(Ok(EnvStream.into()))
    }
}

impl ParamKind for EnvStream {
    fn write(&self, _form: Form, f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str("EnvStream")
    }

    fn declare(&self, _at: &Path, _cx: &mut Declarations) {}

    fn plan(&self, at: &Argument, cx: &mut Planner<'_>) {
        let zero = cx.b.int(0);
        cx.define(Named::new(zero, NamedKind::EnvStream, &at.path));
    }

    fn host_type(&self) -> HostType {
        HostType::EnvStream
    }

    fn takes_argument(&self) -> bool {
        false
    }
}
