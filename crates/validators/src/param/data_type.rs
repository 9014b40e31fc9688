// SPDX-License-Identifier: Apache-2.0
//! Kind `DataType`: a dtype, which is the dtype variable of its name, `out: DataType = float16`.
//!
//! *Accepts* a DataType and a dtype's name as a string. *Binds* the dtype variable of its name.
//! *Kernel argument*: none; kernels are named by it.

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

/// A dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataType;

impl ParamSyntax for DataType {
    const NAME: &'static str = "DataType";
    const SAMPLES: &'static [&'static str] = &["DataType"];

    fn parse(parser: &mut Parser<'_>) -> Option<Result<Kind, Diagnostic>> {
        parser.eat_name("DataType").then_some(Ok(DataType.into()))
    }
}

impl ParamKind for DataType {
    fn write(&self, _form: Form, f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str("DataType")
    }

    fn declare(&self, at: &Path, cx: &mut Declarations) {
        cx.dtype_param(at);
    }

    fn plan(&self, at: &Argument, cx: &mut Planner<'_>) {
        let dtype = check::data_type::require(cx, at);
        cx.b.let_named(&at.path.text, dtype);
        cx.define(Named::new(dtype, NamedKind::DType, &at.path));
    }

    fn host_type(&self) -> HostType {
        HostType::DataType
    }

    fn check_default(&self, value: &Literal) -> Result<(), BadDefault> {
        match value {
            Literal::DType(_) => Ok(()),
            _ => Err(BadDefault::Expected("a dtype".to_string())),
        }
    }
}
