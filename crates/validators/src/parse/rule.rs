// SPDX-License-Identifier: Apache-2.0
//! The grammar of rules: comparisons, sets of values, sets of dtypes, `noalias` and `aligned`,
//! joined by `and`, `or` and `not` with the precedence that these have in Python.

use super::{Parser, at_most};
use crate::count::count;
use crate::expr::Expr;
use crate::launch::When;
use crate::literal::{Literal, float_text};
use crate::rule::{Comparison, FloatSide, Rule, RuleKind};
use crate::spelling::is_nearly_dtype;
use kernpack_ffi_abi::DType;
use kernpack_syntax::{Diagnostic, Span, Token, TokenKind};
use std::fmt;

/// How many values a symbol's set may have.
const MAX_SET: usize = 256;
/// How many comparisons and other parts a rule may have.
const MAX_PARTS: usize = 256;

/// A side of a comparison.
enum Side {
    Expr(Expr),
    /// A constant that is no integer.
    Float(f64),
}

impl Side {
    fn is_otherwise(&self) -> bool {
        matches!(self, Side::Expr(expr) if expr.as_symbol() == Some(When::OTHERWISE))
    }

    /// The help for `self is None`, or for `self is not None`.
    fn given_help(&self, is_none: bool) -> String {
        format!("write `{self}.given == {}`", u8::from(!is_none))
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Side::Expr(expr) => expr.fmt(f),
            Side::Float(value) => f.write_str(&float_text(*value)),
        }
    }
}

impl Parser<'_> {
    /// Reads a rule that stands for itself.
    pub(super) fn whole_rule(&mut self) -> Result<Rule, Diagnostic> {
        self.n_parts = 0;
        self.rule()
    }

    /// Reads a rule, whole or in brackets.
    fn rule(&mut self) -> Result<Rule, Diagnostic> {
        self.joined("or", RuleKind::Or, |parser| {
            parser.joined("and", RuleKind::And, Parser::negation)
        })
    }

    /// One rule, or several with a word between them.
    fn joined(
        &mut self,
        word: &str,
        join: fn(Vec<Rule>) -> RuleKind,
        operand: impl Fn(&mut Self) -> Result<Rule, Diagnostic>,
    ) -> Result<Rule, Diagnostic> {
        let start = self.peek().span;
        let first = operand(self)?;
        if !self.at_name(word) {
            return Ok(first);
        }
        let mut rules = vec![first];
        while self.eat_name(word) {
            rules.push(operand(self)?);
        }
        Ok(Rule { kind: join(rules), span: start.to(self.previous()) })
    }

    fn negation(&mut self) -> Result<Rule, Diagnostic> {
        let start = self.peek().span;
        if !self.eat_name("not") {
            return self.part();
        }
        let rule = self.nested(Parser::negation)?;
        Ok(Rule { kind: RuleKind::Not(Box::new(rule)), span: start.to(self.previous()) })
    }

    /// A rule without `and`, `or` and `not`, or any in brackets.
    fn part(&mut self) -> Result<Rule, Diagnostic> {
        let start = self.peek().span;
        if self.at_name("and") || self.at_name("or") {
            return Err(self.unexpected("a rule"));
        }
        if self.at_bracketed_rule() {
            self.expect("(")?;
            let rule = self.nested(Parser::rule)?;
            self.expect(")")?;
            return Ok(rule);
        }
        self.n_parts += 1;
        if self.n_parts > MAX_PARTS {
            let message = format!("the rule has more than {MAX_PARTS} parts");
            return Err(Diagnostic::new("too-long", message).label(start, "this is not followed"));
        }
        let kind = if self.eat_name("noalias") {
            self.noalias()?
        } else if self.eat_name("aligned") {
            self.aligned()?
        } else if let Some(vars) = self.dtype_vars() {
            self.expect_keyword("in")?;
            self.dtype_rows(vars)?
        } else if let Some(equality) = self.dtype_equality() {
            equality
        } else {
            self.comparison()?
        };
        Ok(Rule { kind, span: start.to(self.previous()) })
    }

    /// Whether brackets are next that have a rule in them, and no expression or list of variables.
    fn at_bracketed_rule(&mut self) -> bool {
        const WORDS: [&str; 6] = ["and", "or", "not", "in", "noalias", "aligned"];
        let mark = self.cursor.position();
        let (mut depth, mut is_rule) = (0, false);
        loop {
            let is_comparison = Comparison::ALL.iter().any(|it| self.at_mark(it.text()));
            is_rule |= is_comparison || WORDS.iter().any(|word| self.at_name(word));
            match self.peek().kind {
                TokenKind::Mark("(" | "[" | "{") => depth += 1,
                TokenKind::Mark(")" | "]" | "}") => depth -= 1,
                _ => {}
            }
            let is_list = depth == 1 && self.at_mark(",");
            if depth == 0 || is_list || self.peek().kind == TokenKind::End {
                self.cursor.rewind(mark);
                return is_rule && !is_list && self.at_mark("(");
            }
            self.bump();
        }
    }

    fn tensor_path(&mut self) -> Result<String, Diagnostic> {
        let (name, span) = self.expect_name("a tensor")?;
        match self.path(name.to_string(), span)? {
            Expr::Symbol(path, _) => Ok(path),
            _ => Err(self.unexpected("a tensor")),
        }
    }

    /// `(x, 16)` behind `aligned`.
    fn aligned(&mut self) -> Result<RuleKind, Diagnostic> {
        self.expect("(")?;
        let tensor = self.tensor_path()?;
        self.expect(",")?;
        let bytes = self.parse_alignment()?;
        self.expect(")")?;
        Ok(RuleKind::Aligned(tensor, bytes))
    }

    fn noalias(&mut self) -> Result<RuleKind, Diagnostic> {
        let mut tensors = self.parse_list("(", ")", Parser::tensor_path)?;
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
                return parser.parse_list("(", ")", |parser| parser.parse_dtype());
            }
            let word = parser.peek_text().to_string();
            let or_text = |problem: Diagnostic| match is_nearly_dtype(&word) {
                true => problem,
                false => problem.help(format!("write a dtype, or `\"{word}\"` for a text")),
            };
            Ok(vec![parser.parse_dtype().map_err(or_text)?])
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

    /// `T == float32`, which is `T in {float32}`, or `T != float32`; takes nothing where there is
    /// no dtype.
    fn dtype_equality(&mut self) -> Option<RuleKind> {
        let (mark, start) = (self.cursor.position(), self.peek().span);
        let var = self.expect_name("a dtype variable").ok().map(|(var, _)| var.to_string());
        let is_equal = self.eat("==");
        let is_unequal = !is_equal && self.eat("!=");
        let dtype = DType::parse(self.peek_text());
        let (Some(var), Some(dtype), true) = (var, dtype, is_equal || is_unequal) else {
            self.cursor.rewind(mark);
            return None;
        };
        self.bump();
        let is_dtype = RuleKind::DTypes(vec![var], vec![vec![dtype]]);
        if is_equal {
            return Some(is_dtype);
        }
        let span = start.to(self.previous());
        Some(RuleKind::Not(Box::new(Rule { kind: is_dtype, span })))
    }

    fn comparison(&mut self) -> Result<RuleKind, Diagnostic> {
        if self.peek().kind == TokenKind::Text {
            return Err(self.unexpected("a name").help("write the text behind `==` or `!=`"));
        }
        let left = self.side()?;
        if let (Side::Expr(left), true) = (&left, self.at_name("in")) {
            return self.set(left.clone());
        }
        let Some(comparison) = self.eat_comparison() else {
            let problem = self.unexpected("a comparison: ==, !=, <, <=, >, >= or in");
            return Err(match () {
                () if self.at_mark("=") => problem.help("write `==`"),
                () if left.is_otherwise() => {
                    problem.help("write `otherwise` alone, and nothing else in a `when`")
                }
                () if self.at_name("not") => problem.help(format!("write `not {left} in {{…}}`")),
                () if self.at_name("is") => {
                    self.bump();
                    problem.help(left.given_help(!self.at_name("not")))
                }
                () => problem,
            });
        };
        if self.peek().kind == TokenKind::Text {
            return self.text_equality(&left, comparison);
        }
        if self.at_name("None") {
            let help = left.given_help(comparison == Comparison::Eq);
            return Err(self.unexpected("an expression").help(help));
        }
        let right = self.side()?;
        let next = self.peek().span;
        if let Some(chained) = self.eat_comparison() {
            let (comparison, chained) = (comparison.text(), chained.text());
            let last = self.side()?;
            let help =
                format!("write two rules: `{left} {comparison} {right}, {right} {chained} {last}`");
            return Err(Diagnostic::new("syntax", "comparisons do not chain")
                .label(next, "expected the end of the rule")
                .help(help));
        }
        Ok(match (left, right) {
            (Side::Expr(left), Side::Expr(right)) => RuleKind::Compare(left, comparison, right),
            (left, right) => {
                let (left, right) = (self.float_side(left)?, self.float_side(right)?);
                RuleKind::Floats(left, comparison, right)
            }
        })
    }

    /// `"relu"` behind a side and how it compares.
    fn text_equality(
        &mut self,
        left: &Side,
        comparison: Comparison,
    ) -> Result<RuleKind, Diagnostic> {
        let span = self.peek().span;
        let text = self.parse_text()?;
        let name = match left {
            Side::Expr(name @ Expr::Symbol(..)) => name.clone(),
            _ => return Err(no_text(left, span)),
        };
        let is_text = RuleKind::Texts(name, vec![text]);
        match comparison {
            Comparison::Eq => Ok(is_text),
            Comparison::Ne => Ok(RuleKind::Not(Box::new(Rule { kind: is_text, span }))),
            _ => Err(Diagnostic::new("text-rule", "texts have no order")
                .label(span, format!("compared by `{}`", comparison.text()))
                .help("compare by `==`, `!=` or `in {…}`")),
        }
    }

    /// An expression, a truth as 1 or 0, or a float.
    fn side(&mut self) -> Result<Side, Diagnostic> {
        let truth = [("True", 1), ("False", 0)].into_iter().find(|(word, _)| self.eat_name(word));
        if let Some((_, truth)) = truth {
            return Ok(Side::Expr(Expr::Int(truth)));
        }
        let is_float = |token: Token| matches!(token.kind, TokenKind::Float(_));
        let is_negative = self.at_mark("-") && is_float(self.peek_second());
        if !is_float(self.peek()) && !is_negative {
            return self.parse_expr().map(Side::Expr);
        }
        match self.parse_literal()? {
            Literal::Float(value) => Ok(Side::Float(value)),
            _ => unreachable!("a float is next"),
        }
    }

    /// A side of a comparison with a float.
    fn float_side(&self, side: Side) -> Result<FloatSide, Diagnostic> {
        match side {
            Side::Float(value) => Ok(FloatSide::Value(value)),
            Side::Expr(Expr::Int(value)) => Ok(FloatSide::Value(value as f64)),
            Side::Expr(name @ Expr::Symbol(..)) => Ok(FloatSide::Name(name)),
            Side::Expr(expr) => {
                let span = expr.names().first().map_or(self.previous(), |name| name.span);
                let problem = Diagnostic::new("float-rule", format!("`{expr}` is no float"));
                let help = "compare a float parameter as it is, and integers with integers";
                Err(problem.label(span, "compared as a float").help(help))
            }
        }
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
        if self.at_mark("(") || self.at_mark("[") {
            let help = format!("write the values of a set in braces: `{left} in {{…}}`");
            return Err(self.unexpected("`{`").help(help));
        }
        if self.peek_second().kind == TokenKind::Text {
            let texts = self.parse_list("{", "}", Parser::parse_text)?;
            return Ok(RuleKind::Texts(left, at_most(MAX_SET, texts, span)?));
        }
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

fn no_text(side: &Side, text: Span) -> Diagnostic {
    Diagnostic::new("text-rule", format!("`{side}` is no String parameter"))
        .label(text, "compared with this text")
        .help("compare a String parameter as it is")
}
