// SPDX-License-Identifier: Apache-2.0
//! The grammar of expressions: sums of products of names, integers and calls.

use super::{MAX_DEPTH, Parser};
use crate::expr::{Expr, Field, Op};
use crate::rule::join;
use kernpack_syntax::{Diagnostic, Span, TokenKind};

impl Parser<'_> {
    /// Reads an expression: sums of products.
    pub fn parse_expr(&mut self) -> Result<Expr, Diagnostic> {
        let mut expr = self.product()?;
        loop {
            let op = match () {
                () if self.eat("+") => Op::Add,
                () if self.eat("-") => Op::Sub,
                () => return Ok(expr),
            };
            expr = self.fold(op, expr, Self::product)?;
        }
    }

    fn product(&mut self) -> Result<Expr, Diagnostic> {
        let mut expr = self.atom()?;
        loop {
            let op = match () {
                () if self.eat("*") => Op::Mul,
                () if self.eat("//") => Op::FloorDiv,
                () if self.eat("%") => Op::Mod,
                () => return Ok(expr),
            };
            expr = self.fold(op, expr, Self::atom)?;
        }
    }

    /// Puts the next operand behind `op`; a constant that has no value, and too long a chain, are
    /// refused.
    fn fold(
        &mut self,
        op: Op,
        left: Expr,
        operand: impl Fn(&mut Self) -> Result<Expr, Diagnostic>,
    ) -> Result<Expr, Diagnostic> {
        let span = self.peek().span;
        let right = operand(self)?;
        let divides = matches!(op, Op::FloorDiv | Op::Mod | Op::CeilDiv);
        if divides && right.as_int().is_some_and(|divisor| divisor <= 0) {
            return Err(Diagnostic::new("bad-divisor", format!("`{right}` is no divisor"))
                .label(span, "a divisor must be positive"));
        }
        let expr = Expr::binary(op, left, right);
        if expr.depth() > MAX_DEPTH {
            return Err(Diagnostic::new(
                "too-deep",
                format!("the expression has more than {MAX_DEPTH} operations in a row"),
            )
            .label(span, "this is not followed"));
        }
        Ok(expr)
    }

    fn atom(&mut self) -> Result<Expr, Diagnostic> {
        self.nested(|parser| {
            let token = parser.peek();
            match token.kind {
                TokenKind::Int(_) => parser.parse_int(false, "an integer").map(Expr::Int),
                TokenKind::Mark("-") => {
                    parser.bump();
                    parser.negative()
                }
                TokenKind::Mark("(") => {
                    parser.bump();
                    let expr = parser.parse_expr()?;
                    parser.expect(")")?;
                    Ok(expr)
                }
                TokenKind::Name => parser.name_or_call(),
                _ => Err(parser.unexpected("an expression")),
            }
        })
    }

    /// The operand behind a minus.
    fn negative(&mut self) -> Result<Expr, Diagnostic> {
        if matches!(self.peek().kind, TokenKind::Int(_)) {
            return self.parse_int(true, "an integer").map(Expr::Int);
        }
        let expr = self.atom()?;
        let negated = match expr {
            Expr::Int(value) => value.checked_neg().map(Expr::Int),
            _ => None,
        };
        Ok(negated.unwrap_or_else(|| Expr::binary(Op::Sub, Expr::Int(0), expr)))
    }

    fn name_or_call(&mut self) -> Result<Expr, Diagnostic> {
        let (name, span) = self.expect_name("a name")?;
        let name = name.to_string();
        let function = Op::FUNCTIONS.iter().copied().find(|op| op.text() == name);
        match function {
            Some(op) => {
                self.expect("(")?;
                let a = self.parse_expr()?;
                self.expect(",")?;
                let expr = self.fold(op, a, Self::parse_expr)?;
                self.expect(")")?;
                Ok(expr)
            }
            None => self.path(name, span),
        }
    }

    /// The rest of a path: a symbol, an element of a tuple or a field.
    pub(super) fn path(&mut self, mut path: String, mut span: Span) -> Result<Expr, Diagnostic> {
        loop {
            if self.eat("[") {
                let negative = self.eat("-");
                let index = self.parse_int(negative, "an element's number")?;
                span = span.to(self.expect("]")?);
                path = format!("{path}[{index}]");
            } else if self.eat(".") {
                let (part, at) = self.expect_name("a field")?;
                span = span.to(at);
                match part {
                    "numel" => return Ok(Expr::Field(path, Field::Numel, span)),
                    "ndim" => return Ok(Expr::Field(path, Field::Ndim, span)),
                    "given" => return Ok(Expr::Field(path, Field::Given, span)),
                    "shape" | "strides" if self.at_mark("[") => {
                        let field = if part == "shape" { Field::Shape } else { Field::Stride };
                        self.expect("[")?;
                        let negative = self.eat("-");
                        let index = self.parse_int(negative, "a dim's number")?;
                        let span = span.to(self.expect("]")?);
                        return Ok(Expr::Field(path, field(index), span));
                    }
                    _ => path = format!("{path}.{part}"),
                }
            } else if self.at_mark("(") {
                return Err(unknown_function(&path, span));
            } else {
                return Ok(Expr::Symbol(path, span));
            }
        }
    }
}

/// The help for a number that a tensor holds.
pub(crate) const READS_NO_DATA: &str =
    "what a tensor holds is not read: pass the number as a parameter, or check it in the kernel";

fn unknown_function(name: &str, span: Span) -> Diagnostic {
    let known = Op::FUNCTIONS.iter().map(|op| format!("`{}(a, b)`", op.text()));
    let (owner, method) = name.rsplit_once('.').unwrap_or(("x", name));
    let help = match method {
        "item" | "tolist" | "max" | "min" | "sum" | "any" | "all" => READS_NO_DATA.to_string(),
        "size" | "len" => format!("write `{owner}.shape[0]`"),
        "stride" => format!("write `{owner}.strides[0]`"),
        _ => format!("the functions are {}", join(known)),
    };
    Diagnostic::new("unknown-function", format!("expressions have no function `{name}`"))
        .label(span, "no function of this name")
        .help(help)
}
