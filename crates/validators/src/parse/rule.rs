// SPDX-License-Identifier: Apache-2.0
//! The grammar of rules: comparisons, sets of values, sets of dtypes, and `noalias`.

use super::{Parser, at_most};
use crate::count::count;
use crate::expr::Expr;
use crate::rule::{Comparison, Rule, RuleKind};
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

    fn comparison(&mut self) -> Result<RuleKind, Diagnostic> {
        let left = self.parse_expr()?;
        if self.eat_name("in") {
            if left.as_symbol().is_none() {
                return Err(self.unexpected("a symbol before `in`"));
            }
            let span = self.peek().span;
            let values = self.parse_list("{", "}", |parser| {
                let negative = parser.eat("-");
                parser.parse_int(negative, "an integer")
            })?;
            return Ok(RuleKind::In(left, at_most(MAX_SET, values, span)?));
        }
        for comparison in Comparison::ALL {
            if self.eat(comparison.text()) {
                return Ok(RuleKind::Compare(left, *comparison, self.parse_expr()?));
            }
        }
        Err(self.unexpected("a comparison: ==, !=, <, <=, >, >= or in"))
    }
}
