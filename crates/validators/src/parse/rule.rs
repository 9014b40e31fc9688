// SPDX-License-Identifier: Apache-2.0
//! The grammar of rules: comparisons, sets of values, sets of dtypes, and `noalias`.

use super::{Parser, at_most};
use crate::count::count;
use crate::expr::Expr;
use crate::rule::{Comparison, Rule, RuleKind};
use kernpack_ffi_abi::DType;
use kernpack_syntax::{Diagnostic, TokenKind};

/// How many values a symbol's set may have.
const MAX_SET: usize = 256;

impl Parser<'_> {
    pub(super) fn rule(&mut self) -> Result<Rule, Diagnostic> {
        let start = self.peek().span;
        let kind = if self.eat_name("noalias") {
            self.noalias()?
        } else if let Some(vars) = self.dtype_vars() {
            self.expect_keyword("in")?;
            self.dtype_rows(vars)?
        } else if let Some(equality) = self.dtype_equality() {
            equality?
        } else {
            self.comparison()?
        };
        Ok(Rule { kind, span: start.to(self.previous()) })
    }

    fn noalias(&mut self) -> Result<RuleKind, Diagnostic> {
        let mut tensors = self.parse_list("(", ")", |parser| {
            let (name, span) = parser.expect_name("a tensor")?;
            let name = name.to_string();
            match parser.path(name, span)? {
                Expr::Symbol(path, _) => Ok(path),
                _ => Err(parser.unexpected("a tensor")),
            }
        })?;
        match (tensors.pop(), tensors.pop(), tensors.pop()) {
            (Some(b), Some(a), None) => Ok(RuleKind::NoAlias(a, b)),
            _ => Err(self.unexpected("two tensors in `noalias(a, b)`")),
        }
    }

    /// `T` or `(T, U)`, where dtypes follow behind `in`; takes nothing otherwise.
    fn dtype_vars(&mut self) -> Option<Vec<String>> {
        let mark = self.cursor.position();
        let vars = if self.at_mark("(") {
            let name =
                |parser: &mut Self| Ok(parser.expect_name("a dtype variable")?.0.to_string());
            self.parse_list("(", ")", name).ok()
        } else {
            self.expect_name("a dtype variable").ok().map(|(name, _)| vec![name.to_string()])
        };
        let is_dtype_rule = self.at_name("in") && {
            self.bump();
            self.eat("{") && (self.at_mark("(") || self.peek().kind == TokenKind::Name)
        };
        self.cursor.rewind(mark);
        let vars = vars.filter(|vars| is_dtype_rule && !vars.is_empty())?;
        while !self.at_name("in") {
            self.bump();
        }
        Some(vars)
    }

    fn dtype_rows(&mut self, vars: Vec<String>) -> Result<RuleKind, Diagnostic> {
        let span = self.peek().span;
        let rows = self.parse_list("{", "}", |parser| {
            if parser.at_mark("(") {
                parser.parse_list("(", ")", |parser| parser.parse_dtype())
            } else {
                Ok(vec![parser.parse_dtype()?])
            }
        })?;
        if rows.is_empty() || rows.iter().any(|row| row.len() != vars.len()) {
            return Err(Diagnostic::new(
                "bad-combination",
                format!("every combination needs {}", count(vars.len(), "dtype")),
            )
            .label(span, "this set"));
        }
        let distinct = rows.iter().enumerate().all(|(i, row)| !rows[..i].contains(row));
        if !distinct {
            return Err(Diagnostic::new("bad-combination", "a combination stands there twice")
                .label(span, "this set"));
        }
        Ok(RuleKind::DTypes(vars, rows))
    }

    /// `T == float32`, which is `T in {float32}`; takes nothing where there is no dtype.
    fn dtype_equality(&mut self) -> Option<Result<RuleKind, Diagnostic>> {
        let mark = self.cursor.position();
        let var = self.expect_name("a dtype variable").ok().map(|(var, _)| var.to_string());
        let (is_equal, is_unequal) = (self.eat("=="), self.at_mark("!="));
        if is_unequal {
            self.bump();
        }
        let dtype = DType::parse(self.peek_text());
        let (Some(var), Some(dtype), true) = (var, dtype, is_equal || is_unequal) else {
            self.cursor.rewind(mark);
            return None;
        };
        let span = self.bump().span;
        if is_unequal {
            let message = format!("`{var} != {dtype}` leaves open which dtypes there are");
            let problem = Diagnostic::new("dtype-rules", message).label(span, "the one it is not");
            let help = format!("list those that there are kernels for: `{var} in {{…}}`");
            return Some(Err(problem.help(help)));
        }
        Some(Ok(RuleKind::DTypes(vec![var], vec![vec![dtype]])))
    }

    fn comparison(&mut self) -> Result<RuleKind, Diagnostic> {
        let left = self.parse_expr()?;
        if self.at_name("in") {
            return self.set(left);
        }
        let Some(comparison) = self.eat_comparison() else {
            let problem = self.unexpected("a comparison: ==, !=, <, <=, >, >= or in");
            let is_assigned = self.at_mark("=");
            return Err(if is_assigned { problem.help("write `==`") } else { problem });
        };
        let right = self.parse_expr()?;
        let next = self.peek().span;
        if let Some(chained) = self.eat_comparison() {
            let (comparison, chained) = (comparison.text(), chained.text());
            let last = self.parse_expr()?;
            let help =
                format!("write two rules: `{left} {comparison} {right}, {right} {chained} {last}`");
            return Err(Diagnostic::new("syntax", "comparisons do not chain")
                .label(next, "expected the end of the rule")
                .help(help));
        }
        Ok(RuleKind::Compare(left, comparison, right))
    }

    fn eat_comparison(&mut self) -> Option<Comparison> {
        Comparison::ALL.iter().copied().find(|comparison| self.eat(comparison.text()))
    }

    /// `in {64, 128}` behind a symbol.
    fn set(&mut self, left: Expr) -> Result<RuleKind, Diagnostic> {
        self.expect_keyword("in")?;
        if left.as_symbol().is_none() {
            return Err(self.unexpected("a symbol before `in`"));
        }
        let span = self.peek().span;
        let values = self.parse_list("{", "}", |parser| {
            let negative = parser.eat("-");
            parser.parse_int(negative, "an integer")
        })?;
        if values.is_empty() {
            return Err(Diagnostic::new(
                "impossible-rule",
                format!("`{left} in {{}}` can never hold"),
            )
            .label(span, "an empty set")
            .help("list the values that there are kernels for"));
        }
        Ok(RuleKind::In(left, at_most(MAX_SET, values, span)?))
    }
}
