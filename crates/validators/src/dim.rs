// SPDX-License-Identifier: Apache-2.0
//! Dims: what stands in the brackets of a shape or of strides.

use crate::expr::{Expr, Op};
use std::fmt;
use std::ops;

/// An extent or a stride: anything, or what an expression says.
#[derive(Clone, Debug, PartialEq)]
pub enum Dim {
    /// `_`
    Any,
    /// A constant, a symbol, or an expression of symbols.
    Expr(Expr),
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Any => f.write_str("_"),
            Dim::Expr(expr) => expr.fmt(f),
        }
    }
}

impl From<Expr> for Dim {
    fn from(expr: Expr) -> Dim {
        Dim::Expr(expr)
    }
}

impl From<i64> for Dim {
    fn from(value: i64) -> Dim {
        Dim::Expr(Expr::Int(value))
    }
}

impl From<&str> for Dim {
    fn from(symbol: &str) -> Dim {
        if symbol == "_" { Dim::Any } else { Dim::Expr(Expr::symbol(symbol)) }
    }
}

impl From<i64> for Expr {
    fn from(value: i64) -> Expr {
        Expr::Int(value)
    }
}

impl From<&str> for Expr {
    fn from(symbol: &str) -> Expr {
        Expr::symbol(symbol)
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident;)*) => {
        $( impl<E: Into<Expr>> ops::$trait<E> for Expr {
            type Output = Expr;
            fn $method(self, other: E) -> Expr {
                Expr::binary(Op::$op, self, other.into())
            }
        } )*
    };
}

operators! {
    Add add Add;
    Sub sub Sub;
    Mul mul Mul;
    Div div FloorDiv;
    Rem rem Mod;
}

impl Expr {
    /// `ceildiv(self, other)`
    pub fn ceildiv(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Op::CeilDiv, self, other.into())
    }

    /// `min(self, other)`
    pub fn min(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Op::Min, self, other.into())
    }

    /// `max(self, other)`
    pub fn max(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Op::Max, self, other.into())
    }
}
