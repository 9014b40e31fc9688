// SPDX-License-Identifier: Apache-2.0
//! Kind scalar: `bool`, integers and floats, written as their dtype.
//!
//! *Accepts* Int and Bool for integers, Float, Int and Bool for floats, Bool and Int 0 or 1 for
//! `bool`, a BigInt up to 2^64-1 for `uint64`. *Binds* the symbol of its name, where it is an
//! integer other than `uint64`. *Kernel argument*: its value.

use super::{Argument, BadDefault, Form, Kind, ParamKind, ParamSyntax};
use crate::check;
use crate::declare::Declarations;
use crate::expr::Expr;
use crate::host_type::HostType;
use crate::literal::Literal;
use crate::parse::Parser;
use crate::path::Path;
use crate::planner::{Named, NamedKind, Planner};
use kernpack_ffi_abi::DType;
use kernpack_syntax::Diagnostic;
use std::fmt;

/// A number of a dtype of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar(pub(crate) DType);

impl Scalar {
    /// A scalar of that dtype: `bool`, an integer of 8, 16, 32 or 64 bits, `float16`, `bfloat16`,
    /// `float32` or `float64`.
    pub fn new(dtype: DType) -> Option<Scalar> {
        let is_int = dtype.is_int() && [8, 16, 32, 64].contains(&dtype.bits);
        (dtype.lanes == 1 && (is_int || dtype.is_float() || dtype == DType::BOOL))
            .then_some(Scalar(dtype))
    }

    fn is_symbol(self) -> bool {
        self.0.is_int() && self.0 != DType::UINT64
    }
}

impl ParamSyntax for Scalar {
    const NAME: &'static str = "a dtype for a scalar";
    const SAMPLES: &'static [&'static str] = &["int32", "uint64", "bool", "float16", "float64"];

    /// Dtypes are known by themselves.
    fn keywords() -> Vec<&'static str> {
        vec![]
    }

    fn parse(parser: &mut Parser<'_>) -> Option<Result<Kind, Diagnostic>> {
        let dtype = DType::parse(parser.peek_text())?;
        let span = parser.bump().span;
        Some(Scalar::new(dtype).map(Kind::from).ok_or_else(|| {
            Diagnostic::new("scalar-dtype", format!("`{dtype}` is no dtype for a scalar"))
                .label(span, "expected bool, an integer of 8 to 64 bits or a float of 16 to 64")
        }))
    }
}

impl ParamKind for Scalar {
    fn write(&self, _form: Form, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "{}", self.0)
    }

    fn declare(&self, at: &Path, cx: &mut Declarations) {
        if self.is_symbol() {
            cx.int_param(at);
        } else {
            cx.scalar(at, self.0);
        }
    }

    fn plan(&self, at: &Argument, cx: &mut Planner<'_>) {
        let (value, kind) = if self.0.is_float() {
            (check::scalar::require_float(cx, at, self.0), NamedKind::Float)
        } else {
            (check::scalar::require_int(cx, at, self.0), NamedKind::Int)
        };
        cx.b.let_named(&at.path.text, value);
        if self.is_symbol() && cx.sharers(&at.path.text).is_some() {
            return check::dim::bind_shared(cx, &at.path.text, None, value, &at.path);
        }
        if self.is_symbol() && !cx.is_binding(&at.path.text, &at.path) {
            return cx.check_dim(&at.path, value, &Expr::symbol(&at.path.text));
        }
        cx.define(Named::new(value, kind, &at.path));
    }

    fn host_type(&self) -> HostType {
        if self.0.is_float() { HostType::Float(self.0) } else { HostType::Int(self.0) }
    }

    fn check_default(&self, value: &Literal) -> Result<(), BadDefault> {
        check::scalar::fits(value, self.0).map_err(BadDefault::Expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_have_the_sizes_of_c() {
        let sizes = |dtype: DType| {
            let sizes = [1, 4, 8, 16, 24, 32, 40, 64, 128].into_iter();
            let is_scalar = |bits: &u8| Scalar::new(DType { bits: *bits, ..dtype }).is_some();
            sizes.filter(is_scalar).collect::<Vec<_>>()
        };
        assert_eq!(sizes(DType::INT32), [8, 16, 32, 64]);
        assert_eq!(sizes(DType::UINT8), [8, 16, 32, 64]);
        assert_eq!(sizes(DType::FLOAT32), [16, 32, 64]);
        assert_eq!(sizes(DType::BFLOAT16), [16]);
        assert_eq!(sizes(DType::BOOL), [8]);
        assert_eq!(Scalar::new(DType { lanes: 2, ..DType::INT8 }), None);
    }
}
