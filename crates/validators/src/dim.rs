// SPDX-License-Identifier: Apache-2.0
//! Dims: what stands in the brackets of a shape or of strides.

use crate::expr::{Expr, Field, Op};
use crate::path::Path;
use kernpack_syntax::Span;
use std::fmt;
use std::ops;

/// An extent or a stride: anything, or what an expression says.
#[derive(Clone, Debug, PartialEq)]
pub enum Dim {
    /// `_`
    Any,
    /// A constant, a symbol, or an expression of symbols.
    Expr(Expr),
    /// Any number of dims.
    Star(Star),
}

/// `*b`: any number of dims, the same wherever the name stands; `*_`: any dims at all.
#[derive(Clone, Debug)]
pub struct Star {
    /// The name; nothing for `_`.
    pub name: Option<String>,
    /// Where the name stands.
    pub span: Span,
}

/// Equal text is equal: where it stood does not count.
impl PartialEq for Star {
    fn eq(&self, other: &Star) -> bool {
        self.name == other.name
    }
}

impl fmt::Display for Star {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "*{}", self.name.as_deref().unwrap_or("_"))
    }
}

/// How many dims a tensor has, as far as its signature tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// The dims; those in front of the star, where there is one.
    pub before: usize,
    /// The dims behind the star, where there is one.
    pub behind: Option<usize>,
}

impl Rank {
    /// The rank of a tensor with these dims.
    pub fn of(dims: &[Dim]) -> Rank {
        match Star::among(dims) {
            Some((before, _)) => Rank { before, behind: Some(dims.len() - before - 1) },
            None => Rank { before: dims.len(), behind: None },
        }
    }

    /// The number of dims, where it is the same in every call.
    pub fn fixed(self) -> Option<usize> {
        self.behind.is_none().then_some(self.before)
    }

    /// The number of the dim that is written at place `i`, and is no star: behind a star it counts
    /// from the last.
    pub fn number(self, i: usize) -> i64 {
        match self.behind {
            Some(behind) if i > self.before => i as i64 - (self.before + 1 + behind) as i64,
            Some(_) | None => i as i64,
        }
    }

    /// The path of what belongs to the dim that is written at place `i`, and is no star.
    pub fn path(self, owner: &Path, field: fn(i64) -> Field, i: usize) -> Path {
        match self.behind {
            None => owner.dim(field, i, self.before),
            Some(_) => owner.part(field(self.number(i))),
        }
    }

    /// Whether every such tensor has the dim of that number, which counts from the last where it is
    /// negative. Behind a star, only that tells which dim it is.
    pub fn has(self, number: i64) -> bool {
        let (before, behind) = (self.before as i64, self.behind.unwrap_or(self.before) as i64);
        -behind <= number && number < before
    }
}

impl Star {
    /// The star among some dims: where it stands, and itself.
    pub fn among(dims: &[Dim]) -> Option<(usize, &Star)> {
        dims.iter().enumerate().find_map(|(i, dim)| match dim {
            Dim::Star(star) => Some((i, star)),
            Dim::Any | Dim::Expr(_) => None,
        })
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Any => f.write_str("_"),
            Dim::Expr(expr) => expr.fmt(f),
            Dim::Star(star) => star.fmt(f),
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
        match symbol.strip_prefix('*') {
            Some(name) => {
                let name = Some(name.to_string()).filter(|name| name != "_");
                Dim::Star(Star { name, span: Span::default() })
            }
            None if symbol == "_" => Dim::Any,
            None => Dim::Expr(Expr::symbol(symbol)),
        }
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
