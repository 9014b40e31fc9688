// SPDX-License-Identifier: Apache-2.0
//! Expressions over dims: the only integer arithmetic of kernpack, used by shapes, strides, rules,
//! kernel arguments and launches alike.
//!
//! All arithmetic is on signed 64-bit integers. An operation that overflows, or divides by what is
//! not positive, has no value, and fails whatever it stands in. Here: the data, its text, what it
//! names, its shape as `a*s + c`, and what it may be. Not here: parsing ([`parse`](crate::parse)),
//! values in a plan ([`Planner::expr`](crate::planner::Planner::expr)).

use kernpack_interval::Interval;
use kernpack_syntax::Span;
use std::fmt;

/// A field of a parameter that an expression may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// `x.shape[i]`; a negative number counts from the last dim.
    Shape(i64),
    /// `x.strides[i]`, in elements; a negative number counts from the last dim.
    Stride(i64),
    /// `x.numel`, the number of elements.
    Numel,
    /// `b.ndim`: how many dims `*b` stands for.
    Ndim,
    /// `x.given`: 1 where an optional parameter was given, else 0.
    Given,
    /// `s[i]`, an element of a Shape; a negative number counts from the last.
    Element(i64),
}

impl Field {
    /// The name of each behind a point, and whether a number follows.
    pub const NAMES: [(&str, bool); 5] =
        [("shape", true), ("strides", true), ("numel", false), ("ndim", false), ("given", false)];
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Field::Shape(i) => write!(f, ".shape[{i}]"),
            Field::Stride(i) => write!(f, ".strides[{i}]"),
            Field::Numel => write!(f, ".numel"),
            Field::Ndim => write!(f, ".ndim"),
            Field::Given => write!(f, ".given"),
            Field::Element(i) => write!(f, "[{i}]"),
        }
    }
}

/// An operator, or a function of two arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `//`, rounded towards minus infinity.
    FloorDiv,
    /// `%`, with the sign of the divisor.
    Mod,
    /// `ceildiv(a, b)`, rounded towards plus infinity.
    CeilDiv,
    /// `min(a, b)`
    Min,
    /// `max(a, b)`
    Max,
}

/// An integer expression.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A constant.
    Int(i64),
    /// A symbol, an integer parameter among them; or another name that launches may use, such as
    /// `device.sm_count`.
    Symbol(String, Span),
    /// A field of the parameter of that path.
    Field(String, Field, Span),
    /// An operation.
    Binary(Op, Box<Expr>, Box<Expr>),
}

/// Equal text is equal: where it stood does not count.
impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        match (self, other) {
            (Expr::Int(a), Expr::Int(b)) => a == b,
            (Expr::Symbol(a, _), Expr::Symbol(b, _)) => a == b,
            (Expr::Field(a, f, _), Expr::Field(b, g, _)) => a == b && f == g,
            (Expr::Binary(o, a, b), Expr::Binary(p, c, d)) => o == p && a == c && b == d,
            _ => false,
        }
    }
}

/// A name in an expression: a symbol, or a parameter's field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// As it prints: `n`, `x.shape[0]`.
    pub text: String,
    /// Where it stands.
    pub span: Span,
    /// The parameter's path, where it is a field.
    pub param: Option<String>,
    /// The field.
    pub field: Option<Field>,
}

impl Expr {
    /// A symbol.
    pub fn symbol(name: impl Into<String>) -> Expr {
        Expr::Symbol(name.into(), Span::default())
    }

    /// The operation `op` on two expressions.
    pub fn binary(op: Op, a: Expr, b: Expr) -> Expr {
        Expr::Binary(op, Box::new(a), Box::new(b))
    }

    /// Every name in the expression, once, in order of first appearance.
    pub fn names(&self) -> Vec<Name> {
        let mut names = Vec::new();
        self.collect_names(&mut names);
        names
    }

    fn collect_names(&self, names: &mut Vec<Name>) {
        let name = match self {
            Expr::Int(_) => return,
            Expr::Binary(_, a, b) => {
                a.collect_names(names);
                b.collect_names(names);
                return;
            }
            Expr::Symbol(text, span) => {
                Name { text: text.clone(), span: *span, param: None, field: None }
            }
            Expr::Field(param, field, span) => {
                let text = format!("{param}{field}");
                Name { text, span: *span, param: Some(param.clone()), field: Some(*field) }
            }
        };
        if !names.iter().any(|known| known.text == name.text) {
            names.push(name);
        }
    }

    /// How many operations lie on the longest way to a name or constant.
    pub fn depth(&self) -> usize {
        match self {
            Expr::Int(_) | Expr::Symbol(..) | Expr::Field(..) => 0,
            Expr::Binary(_, a, b) => 1 + a.depth().max(b.depth()),
        }
    }

    /// The symbol, where the expression is just that.
    pub fn as_symbol(&self) -> Option<&str> {
        match self {
            Expr::Symbol(name, _) => Some(name),
            _ => None,
        }
    }

    /// The value, where the expression names nothing and has one.
    pub fn as_int(&self) -> Option<i64> {
        self.value(&|_| None)
    }

    /// The value where names have these, and the expression has one.
    pub fn value(&self, of: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        match self {
            Expr::Int(value) => Some(*value),
            Expr::Symbol(name, _) => of(name),
            Expr::Field(param, field, _) => of(&format!("{param}{field}")),
            Expr::Binary(op, a, b) => op.apply(a.value(of)?, b.value(of)?),
        }
    }

    /// The expression as `a*s + c` in one symbol, with `a > 0`, where it has that form.
    pub fn as_affine(&self) -> Option<Affine<'_>> {
        let (symbol, scale, offset) = self.linear()?;
        (scale > 0).then_some(Affine { symbol: symbol?, scale, offset })
    }

    /// Symbol, factor and constant of a linear expression; no symbol where it is constant.
    fn linear(&self) -> Option<(Option<&str>, i64, i64)> {
        match self {
            Expr::Int(value) => Some((None, 0, *value)),
            Expr::Symbol(name, _) => Some((Some(name), 1, 0)),
            Expr::Field(..) => None,
            Expr::Binary(..) if self.as_int().is_some() => Some((None, 0, self.as_int()?)),
            Expr::Binary(op, a, b) => {
                let (s, a, c) = a.linear()?;
                let (t, b, d) = b.linear()?;
                let is_one = s.is_none() || t.is_none() || s == t;
                match (op, s, t) {
                    (Op::Add, ..) if is_one => {
                        Some((s.or(t), a.checked_add(b)?, c.checked_add(d)?))
                    }
                    (Op::Sub, ..) if is_one => {
                        Some((s.or(t), a.checked_sub(b)?, c.checked_sub(d)?))
                    }
                    (Op::Mul, s, None) => Some((s, a.checked_mul(d)?, c.checked_mul(d)?)),
                    (Op::Mul, None, t) => Some((t, b.checked_mul(c)?, d.checked_mul(c)?)),
                    _ => None,
                }
            }
        }
    }

    /// The interval of the value, given that of each name. `None` where every evaluation has no
    /// value.
    pub fn interval(&self, of: &dyn Fn(&str) -> Interval) -> Option<Interval> {
        match self {
            Expr::Int(value) => Some(Interval::exactly((*value).into())),
            Expr::Symbol(name, _) => Some(of(name)),
            Expr::Field(param, field, _) => Some(of(&format!("{param}{field}"))),
            Expr::Binary(op, a, b) => op.interval(a.interval(of)?, b.interval(of)?),
        }
    }

    /// The text with `write_name` in place of each name: how messages show values.
    pub fn write(
        &self,
        f: &mut dyn fmt::Write,
        write_name: &mut dyn FnMut(&mut dyn fmt::Write, &str) -> fmt::Result,
    ) -> fmt::Result {
        self.write_in(f, write_name, Place::Alone)
    }

    fn write_in(
        &self,
        f: &mut dyn fmt::Write,
        name: &mut dyn FnMut(&mut dyn fmt::Write, &str) -> fmt::Result,
        place: Place,
    ) -> fmt::Result {
        match self {
            Expr::Int(value) => write!(f, "{value}"),
            Expr::Symbol(text, _) => name(f, text),
            Expr::Field(param, field, _) => name(f, &format!("{param}{field}")),
            Expr::Binary(op @ (Op::CeilDiv | Op::Min | Op::Max), a, b) => {
                write!(f, "{}(", op.text())?;
                a.write_in(f, name, Place::Alone)?;
                f.write_str(", ")?;
                b.write_in(f, name, Place::Alone)?;
                f.write_char(')')
            }
            Expr::Binary(op, a, b) => {
                let parens = place.needs_parens(*op);
                let spaced = op.is_sum() || (place == Place::Alone && *op != Op::Mul);
                f.write_str(if parens { "(" } else { "" })?;
                a.write_in(f, name, Place::Left(*op))?;
                let space = if spaced { " " } else { "" };
                write!(f, "{space}{}{space}", op.text())?;
                b.write_in(f, name, Place::Right(*op))?;
                f.write_str(if parens { ")" } else { "" })
            }
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &mut |f, name| f.write_str(name))
    }
}

/// The form `scale*symbol + offset`, with a positive scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine<'e> {
    /// The one symbol.
    pub symbol: &'e str,
    /// The factor, at least 1.
    pub scale: i64,
    /// The constant.
    pub offset: i64,
}

/// Where an operation stands: what decides its parentheses and spaces.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Alone,
    Left(Op),
    Right(Op),
}

impl Place {
    fn needs_parens(self, inner: Op) -> bool {
        match self {
            Place::Alone => false,
            Place::Left(outer) => !outer.is_sum() && inner.is_sum(),
            Place::Right(outer) => !outer.is_sum() || inner.is_sum(),
        }
    }
}

impl Op {
    /// Those that are written as functions of two arguments.
    pub const FUNCTIONS: &[Op] = &[Op::CeilDiv, Op::Min, Op::Max];

    /// The operator, or the function's name.
    pub fn text(self) -> &'static str {
        match self {
            Op::Add => "+",
            Op::Sub => "-",
            Op::Mul => "*",
            Op::FloorDiv => "//",
            Op::Mod => "%",
            Op::CeilDiv => "ceildiv",
            Op::Min => "min",
            Op::Max => "max",
        }
    }

    fn is_sum(self) -> bool {
        matches!(self, Op::Add | Op::Sub)
    }

    /// The value, where there is one.
    pub fn apply(self, a: i64, b: i64) -> Option<i64> {
        match self {
            Op::Add => a.checked_add(b),
            Op::Sub => a.checked_sub(b),
            Op::Mul => a.checked_mul(b),
            Op::FloorDiv => (b > 0).then(|| a.div_euclid(b)),
            Op::Mod => (b > 0).then(|| a.rem_euclid(b)),
            Op::CeilDiv => (b > 0).then(|| a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0)),
            Op::Min => Some(a.min(b)),
            Op::Max => Some(a.max(b)),
        }
    }

    /// The interval of the result, given the operands. `None` where none of these have a result.
    fn interval(self, a: Interval, b: Interval) -> Option<Interval> {
        let exact = match self {
            Op::Add => a + b,
            Op::Sub => a - b,
            Op::Mul => a * b,
            Op::Min => a.smaller(b),
            Op::Max => a.larger(b),
            Op::FloorDiv => a.floor_div(b.positive()?)?,
            Op::CeilDiv => a.ceil_div(b.positive()?)?,
            Op::Mod => a.floor_mod(b.positive()?)?,
        };
        // Names have no divisors, and so messages depend on bounds alone.
        Some(exact.clamped(Interval::I64).with_divisor(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(name: &str) -> Expr {
        Expr::symbol(name)
    }

    #[test]
    fn printing_needs_few_parentheses() {
        let sum = Expr::binary(Op::Add, s("n"), Expr::Int(1));
        assert_eq!(Expr::binary(Op::Mul, sum.clone(), Expr::Int(2)).to_string(), "(n + 1)*2");
        assert_eq!(Expr::binary(Op::Mod, s("n"), Expr::Int(8)).to_string(), "n % 8");
        let product = Expr::binary(Op::Mul, Expr::Int(2), s("n"));
        assert_eq!(Expr::binary(Op::Add, product, Expr::Int(1)).to_string(), "2*n + 1");
        let difference = Expr::binary(Op::Sub, s("m"), sum);
        assert_eq!(difference.to_string(), "m - (n + 1)");
    }

    #[test]
    fn affine_forms_are_found() {
        let e = Expr::binary(Op::Mul, Expr::binary(Op::Add, s("n"), Expr::Int(1)), Expr::Int(3));
        assert_eq!(e.as_affine(), Some(Affine { symbol: "n", scale: 3, offset: 3 }));
        let e = Expr::binary(Op::Sub, Expr::Int(3), s("n"));
        assert_eq!(e.as_affine(), None);
        // Constants are folded first, whatever their operations.
        let one = Expr::Int(4).ceildiv(9);
        let e = s("n") * 9 * one + (s("n") - (Expr::Int(7) - s("n")) / 1);
        assert_eq!(e.as_affine(), None);
        let e = s("n") * 9 * Expr::Int(4).ceildiv(9) + (s("n") - (Expr::Int(7) - s("n")));
        assert_eq!(e.as_affine(), Some(Affine { symbol: "n", scale: 11, offset: -7 }));
        assert_eq!((s("n") - s("n") + s("m")).as_affine(), None);
        assert_eq!(((s("n") - s("n") + 2) * s("n")).as_affine(), None);
        assert_eq!((s("n") + (Expr::Int(i64::MAX) + 1)).as_affine(), None);
    }

    #[test]
    fn an_interval_holds_every_value() {
        let of = |_: &str| Interval::new(0, i64::MAX.into());
        let e = Expr::binary(Op::Mod, s("n"), Expr::Int(8));
        assert_eq!(e.interval(&of), Some(Interval::new(0, 7)));
        let e = Expr::binary(Op::Mod, s("n"), Expr::Int(0));
        assert_eq!(e.interval(&of), None);
    }
}
