// SPDX-License-Identifier: Apache-2.0
//! The grammar of signatures, by recursive descent. Kinds read themselves through [`Parser`]'s
//! pieces; everything between them is read here, expressions and rules in files of their own.
//!
//! All problems are collected: behind one, reading goes on at the next parameter, result or rule.

mod constant;
mod expr;
mod function_name;
mod rule;

pub(crate) use expr::READS_NO_DATA;

use crate::count::count;
use crate::dim::{Dim, Star};
use crate::expr::{Expr, Field};
use crate::launch::{KernelArg, When, Workspace};
use crate::literal::Literal;
use crate::param::{self, Kind, Param, Scalar, TensorDType};
use crate::plan::{CScalar, MOST_TURNS};
use crate::rule::Rule;
use crate::signature::{Signature, SignatureResult};
use crate::spelling::{closest_dtype, did_you_mean, is_nearly_dtype};
use crate::tensor_map;
use kernpack_ffi_abi::{DType, DeviceType};
use kernpack_syntax::{
    Cursor, Diagnostic, Diagnostics, Snippet, Span, Token, TokenKind, bad_number, lex, unquote,
};
use std::ops::{Deref, DerefMut};

/// How deep types and expressions may nest: deeper text is refused, not followed.
const MAX_DEPTH: usize = 64;
/// How much text a signature may have.
const MAX_BYTES: usize = 1 << 16;

/// A parser of one text.
pub struct Parser<'t> {
    cursor: Cursor<'t>,
    depth: usize,
    /// How many comparisons and the like the rule has so far.
    n_parts: usize,
}

impl<'t> Deref for Parser<'t> {
    type Target = Cursor<'t>;
    fn deref(&self) -> &Cursor<'t> {
        &self.cursor
    }
}

impl DerefMut for Parser<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.cursor
    }
}

/// Runs `parse` on all of a text.
fn parse_all<'t, T>(
    text: impl Into<Snippet<'t>>,
    parse: impl FnOnce(&mut Parser<'_>, &mut Diagnostics) -> Option<T>,
) -> Result<T, Diagnostics> {
    let snippet = text.into();
    let n_bytes = snippet.text.len();
    if n_bytes > MAX_BYTES {
        let message =
            format!("the text has {}, at most {MAX_BYTES} are read", count(n_bytes, "byte"));
        return Err(Diagnostic::new("too-long", message).label(snippet.span, "this text").into());
    }
    let (tokens, problems) = lex(snippet);
    let mut diagnostics = Diagnostics(problems);
    let mut parser = Parser { cursor: Cursor::new(&tokens), depth: 0, n_parts: 0 };
    let value = parse(&mut parser, &mut diagnostics);
    if diagnostics.0.is_empty() && parser.peek().kind != TokenKind::End {
        let problem = parser.unexpected("the end");
        let is_comment = parser.at_mark("//");
        let problem = if is_comment { problem.help("write comments as `# …`") } else { problem };
        diagnostics.push(problem);
    }
    diagnostics.into_result()?;
    Ok(value.expect("a parser without a value reports why"))
}

/// Reads a signature; what its names mean is not looked at.
pub(crate) fn parse_signature<'t>(text: impl Into<Snippet<'t>>) -> Result<Signature, Diagnostics> {
    parse_all(text, |parser, diagnostics| parser.signature(diagnostics))
}

/// Reads an expression, as launches have them.
pub fn parse_expr<'t>(text: impl Into<Snippet<'t>>) -> Result<Expr, Diagnostics> {
    parse_all(text, |parser, diagnostics| parser.reported(Parser::parse_expr, diagnostics))
}

/// Reads an argument of a kernel.
pub fn parse_kernel_arg<'t>(text: impl Into<Snippet<'t>>) -> Result<KernelArg, Diagnostics> {
    parse_all(text, |parser, diagnostics| parser.reported(Parser::kernel_arg, diagnostics))
}

/// Reads the `when` of a launch: rules separated by commas, or `otherwise`.
pub fn parse_when<'t>(text: impl Into<Snippet<'t>>) -> Result<When, Diagnostics> {
    parse_all(text, |parser, diagnostics| {
        let word = parser.peek().span;
        if parser.at_name(When::OTHERWISE) && parser.peek_second().kind == TokenKind::End {
            parser.bump();
            return Some(When::Otherwise(word));
        }
        Some(When::Rules(parser.rules(diagnostics)))
    })
}

/// Reads a literal, as defaults have them.
pub fn parse_literal<'t>(text: impl Into<Snippet<'t>>) -> Result<Literal, Diagnostics> {
    parse_all(text, |parser, diagnostics| parser.reported(Parser::parse_literal, diagnostics))
}

/// Reads a tensor type, as workspaces have them.
pub fn parse_tensor<'t>(text: impl Into<Snippet<'t>>) -> Result<param::Tensor, Diagnostics> {
    parse_all(text, |parser, diagnostics| parser.reported(param::parse_tensor, diagnostics))
}

/// Reads the name of a workspace and its tensor type: `ws: Tensor([4*m], uint8)`.
pub(crate) fn parse_workspace(text: &str) -> Result<Workspace, Diagnostics> {
    parse_all(text, |parser, diagnostics| parser.reported(workspace, diagnostics))
}

fn workspace(parser: &mut Parser<'_>) -> Result<Workspace, Diagnostic> {
    let (name, _) = parser.expect_name("the workspace's name")?;
    parser.expect(":")?;
    Ok(Workspace::new(name, param::parse_tensor(parser)?))
}

impl<'t> Parser<'t> {
    /// Reports why there is no value. What the lexer refused has been reported.
    fn reported<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, Diagnostic>,
        diagnostics: &mut Diagnostics,
    ) -> Option<T> {
        let result = parse(self);
        let is_told = self.peek().kind == TokenKind::Bad;
        result.map_err(|problem| diagnostics.0.extend((!is_told).then_some(problem))).ok()
    }

    fn signature(&mut self, diagnostics: &mut Diagnostics) -> Option<Signature> {
        let named = |parser: &mut Self| parser.expect_name("the function's name");
        let (name, span) = self.reported(named, diagnostics)?;
        let name = name.to_string();
        function_name::check(&name, span, diagnostics);
        self.reported(|parser| parser.expect("("), diagnostics)?;
        let params = self.separated(diagnostics, &[")"], |parser| parser.param());
        if self.peek().kind == TokenKind::End && !diagnostics.0.is_empty() {
            return None; // A bracket that is not closed has taken the rest, and is told.
        }
        self.reported(|parser| parser.expect(")"), diagnostics)?;
        let results = if self.eat("->") { self.results(diagnostics) } else { Vec::new() };
        let rules = if self.eat_name("where") { self.rules(diagnostics) } else { Vec::new() };
        Some(Signature { name, span, params, results, rules })
    }

    /// The results behind `->`.
    fn results(&mut self, diagnostics: &mut Diagnostics) -> Vec<SignatureResult> {
        const END: &[&str] = &["where"];
        if self.at_end(END) {
            diagnostics.push(self.unexpected("a result's name"));
        }
        self.separated(diagnostics, END, |parser| parser.result())
    }

    /// The rules behind `where`.
    fn rules(&mut self, diagnostics: &mut Diagnostics) -> Vec<Rule> {
        if self.at_end(&[]) {
            diagnostics.push(self.unexpected("a rule"));
        }
        self.separated(diagnostics, &[], Parser::whole_rule)
    }

    /// Items separated by commas up to one of the `ends`; behind a problem, goes on at the next
    /// item.
    fn separated<T>(
        &mut self,
        diagnostics: &mut Diagnostics,
        ends: &[&str],
        item: impl Fn(&mut Self) -> Result<T, Diagnostic>,
    ) -> Vec<T> {
        let mut items = Vec::new();
        while !self.at_end(ends) {
            let start = self.cursor.position();
            match self.reported(&item, diagnostics) {
                Some(item) => items.push(item),
                None => {
                    self.cursor.rewind(start);
                    self.skip_item(ends);
                }
            }
            if !self.eat(",") {
                break;
            }
        }
        items
    }

    fn at_end(&self, ends: &[&str]) -> bool {
        let at = |end: &&str| self.at_mark(end) || self.at_name(end);
        self.peek().kind == TokenKind::End || ends.iter().any(at)
    }

    /// Passes the rest of an item: up to a comma or an end outside all brackets. A bracket closes
    /// those inside it that nothing has closed.
    fn skip_item(&mut self, ends: &[&str]) {
        let mut open: Vec<&str> = Vec::new();
        while self.peek().kind != TokenKind::End {
            if open.is_empty() && (self.at_mark(",") || self.at_end(ends)) {
                return;
            }
            let token = self.bump();
            let opening = match token.text {
                text @ ("(" | "[" | "{") => {
                    open.push(text);
                    continue;
                }
                ")" => "(",
                "]" => "[",
                "}" => "{",
                _ => continue,
            };
            let closed = open.iter().rposition(|known| *known == opening);
            open.truncate(closed.unwrap_or(open.len()));
        }
    }

    fn param(&mut self) -> Result<Param, Diagnostic> {
        let (name, span) = self.expect_name("a parameter's name")?;
        let name = name.to_string();
        self.expect(":")?;
        let kind = self.parse_kind()?;
        let default = if self.eat("=") { Some(self.parse_literal()?) } else { None };
        Ok(Param { name, kind, default, span })
    }

    fn result(&mut self) -> Result<SignatureResult, Diagnostic> {
        let (name, span) = self.expect_name("a result's name")?;
        let name = name.to_string();
        self.expect(":")?;
        let tensor = param::parse_tensor(self)?;
        Ok(SignatureResult { name, tensor, span })
    }

    /// Reads a type.
    pub fn parse_kind(&mut self) -> Result<Kind, Diagnostic> {
        self.nested(|parser| {
            param::parse_kind(parser).unwrap_or_else(|| {
                let help = format!("the types are {}", param::list());
                let meant = closest_dtype(parser.peek_text(), |dtype| Scalar::new(dtype).is_some());
                Err(did_you_mean(parser.unexpected("a type"), meant, &help))
            })
        })
    }

    /// Runs `parse` one level deeper, unless that is too deep.
    fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, Diagnostic>,
    ) -> Result<T, Diagnostic> {
        if self.depth == MAX_DEPTH {
            return Err(Diagnostic::new(
                "too-deep",
                format!("nested more than {MAX_DEPTH} levels deep"),
            )
            .label(self.peek().span, "this is not followed"));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// The text of the next token.
    pub fn peek_text(&self) -> &str {
        self.peek().text
    }

    /// Takes a name that the caller has seen.
    pub fn expect_keyword(&mut self, name: &str) -> Result<Span, Diagnostic> {
        let span = self.peek().span;
        if self.eat_name(name) { Ok(span) } else { Err(self.unexpected(&format!("`{name}`"))) }
    }

    /// Items in brackets, separated by commas; a comma may stand behind the last.
    pub fn parse_list<T>(
        &mut self,
        open: &str,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<T, Diagnostic>,
    ) -> Result<Vec<T>, Diagnostic> {
        self.expect(open)?;
        let mut items = Vec::new();
        while !self.at_mark(close) {
            items.push(item(self)?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(close)?;
        Ok(items)
    }

    /// `name :` in front of a tuple's element, where there is one; not one of `seen`.
    pub fn parse_element_name<'n>(
        &mut self,
        mut seen: impl Iterator<Item = &'n str>,
    ) -> Result<Option<String>, Diagnostic> {
        if self.peek_second().kind != TokenKind::Mark(":") {
            return Ok(None);
        }
        let (name, span) = self.expect_name("an element's name")?;
        let name = name.to_string();
        self.expect(":")?;
        if seen.any(|other| other == name) {
            return Err(Diagnostic::new(
                "name-clash",
                format!("the tuple has two elements `{name}`"),
            )
            .label(span, "the second one")
            .help("rename one"));
        }
        if Field::NAMES.iter().any(|(field, _)| *field == name) {
            return Err(Diagnostic::new(
                "reserved-name",
                format!("`{name}` cannot be an element's name"),
            )
            .label(span, "a tensor's field in expressions")
            .help("choose another name"));
        }
        Ok(Some(name))
    }

    /// `[m, 4, _]`
    pub fn parse_dims(&mut self) -> Result<Vec<Dim>, Diagnostic> {
        self.parse_dims_as("extent")
    }

    /// `[m, 4, _]`, each of which messages call `what`.
    pub fn parse_dims_as(&mut self, what: &str) -> Result<Vec<Dim>, Diagnostic> {
        let span = self.peek().span;
        let dims = self.parse_list("[", "]", |parser| {
            if parser.eat_name("_") {
                return Ok(Dim::Any);
            }
            let span = parser.peek().span;
            if parser.eat("*") {
                return parser.parse_star(span).map(Dim::Star);
            }
            let expr = parser.parse_expr()?;
            if expr.names().is_empty() && expr.as_int().is_none_or(|value| value < 0) {
                return Err(Diagnostic::new("negative-dim", format!("`{expr}` is no {what}"))
                    .label(span, "constants are not negative and fit 64 bits"));
            }
            Ok(Dim::Expr(expr))
        })?;
        let stars = dims.iter().filter(|dim| matches!(dim, Dim::Star(_)));
        if let [_, second, ..] = &stars.collect::<Vec<_>>()[..] {
            let problem = Diagnostic::new("two-stars", format!("`{second}` is a second star"));
            let problem = problem.label(span, "which dims are whose would be open");
            return Err(problem.help("write at most one `*` in a tensor or Shape"));
        }
        at_most(MOST_TURNS as usize, dims, span)
    }

    /// The name behind a `*`.
    fn parse_star(&mut self, star: Span) -> Result<Star, Diagnostic> {
        let (name, span) = self.expect_name("a name for any number of dims, or `_`")?;
        let name = Some(name.to_string()).filter(|name| name != "_");
        Ok(Star { name, span: star.to(span) })
    }

    /// A dtype's name.
    pub fn parse_dtype(&mut self) -> Result<DType, Diagnostic> {
        match DType::parse(self.peek_text()) {
            Some(dtype) => {
                self.bump();
                Ok(dtype)
            }
            None => Err(unknown_dtype(self.peek_text(), self.unexpected("a dtype"))),
        }
    }

    /// A dtype, or the name of a dtype variable.
    pub fn parse_tensor_dtype(&mut self) -> Result<TensorDType, Diagnostic> {
        if self.peek().kind == TokenKind::Name && DType::parse(self.peek_text()).is_none() {
            let (name, span) = self.expect_name("a dtype")?;
            let looks_like_dtype = is_nearly_dtype(name)
                || name.ends_with(|c: char| c.is_ascii_digit())
                    && name.starts_with(|c: char| c.is_ascii_lowercase());
            if param::is_keyword(name) || looks_like_dtype && !self.is_data_type(name) {
                let diagnostic = Diagnostic::new("unknown-dtype", format!("`{name}` is no dtype"))
                    .label(span, "expected a dtype or a dtype variable");
                return Err(unknown_dtype(name, diagnostic));
            }
            return Ok(TensorDType::Var(name.to_string(), span));
        }
        self.parse_dtype().map(TensorDType::Fixed)
    }

    /// Whether the text has a parameter of that name that is a `DataType`, before or behind.
    fn is_data_type(&mut self, name: &str) -> bool {
        let mark = self.cursor.position();
        self.cursor.rewind(0);
        let mut is_declared = false;
        while self.peek().kind != TokenKind::End && !is_declared {
            is_declared = self.bump().text == name
                && self.at_mark(":")
                && self.cursor.peek_second().text == "DataType";
        }
        self.cursor.rewind(mark);
        is_declared
    }

    /// `=16`: a power of two, in bytes.
    pub fn parse_align(&mut self) -> Result<u32, Diagnostic> {
        self.expect("=")?;
        self.parse_alignment()
    }

    /// A power of two, in bytes.
    fn parse_alignment(&mut self) -> Result<u32, Diagnostic> {
        let span = self.peek().span;
        let bytes = self.parse_count("an alignment in bytes")?;
        u32::try_from(bytes)
            .ok()
            .filter(|bytes| bytes.is_power_of_two() && *bytes <= 1 << 20)
            .ok_or_else(|| {
                Diagnostic::new("bad-alignment", format!("`{bytes}` is no alignment"))
                    .label(span, "expected a power of two, at most 1048576 bytes")
            })
    }

    /// `=cuda` or `={cpu, cuda}`
    pub fn parse_devices(&mut self) -> Result<Vec<DeviceType>, Diagnostic> {
        self.expect("=")?;
        if !self.at_mark("{") {
            return Ok(vec![self.device()?]);
        }
        let span = self.peek().span;
        let devices = self.parse_list("{", "}", |parser| parser.device())?;
        let distinct = devices.iter().enumerate().all(|(i, device)| !devices[..i].contains(device));
        if devices.is_empty() || !distinct {
            return Err(Diagnostic::new(
                "bad-device",
                "a set of devices has at least one, each once",
            )
            .label(span, "this set"));
        }
        Ok(devices)
    }

    fn device(&mut self) -> Result<DeviceType, Diagnostic> {
        let device = DeviceType::parse(self.peek_text());
        match device {
            Some(device) => {
                self.bump();
                Ok(device)
            }
            None => Err(self.unexpected("a device: `cpu`, `cuda`, `cuda_host` or `cuda_managed`")),
        }
    }

    /// A number that is not negative.
    pub fn parse_count(&mut self, what: &str) -> Result<i64, Diagnostic> {
        self.parse_int(false, what)
    }

    /// A number, behind a minus where `negative` says so.
    fn parse_int(&mut self, negative: bool, what: &str) -> Result<i64, Diagnostic> {
        let token = self.peek();
        let TokenKind::Int(magnitude) = token.kind else { return Err(self.unexpected(what)) };
        let value = if negative { -i128::from(magnitude) } else { magnitude.into() };
        let value = i64::try_from(value).map_err(|_| bad_number(token.span))?;
        self.bump();
        Ok(value)
    }

    /// Whether a literal is next.
    pub fn at_literal(&self) -> bool {
        let is_number =
            |token: Token<'_>| matches!(token.kind, TokenKind::Int(_) | TokenKind::Float(_));
        is_number(self.peek())
            || self.peek().kind == TokenKind::Text
            || ["True", "False", "None"].iter().any(|name| self.at_name(name))
            || (self.at_mark("-") && is_number(self.peek_second()))
    }

    /// Reads a literal.
    pub fn parse_literal(&mut self) -> Result<Literal, Diagnostic> {
        for (name, literal) in [
            ("True", Literal::Bool(true)),
            ("False", Literal::Bool(false)),
            ("None", Literal::None),
        ] {
            if self.eat_name(name) {
                return Ok(literal);
            }
        }
        if self.peek().kind == TokenKind::Text {
            return self.parse_text().map(Literal::Text);
        }
        if let Some(dtype) = DType::parse(self.peek_text()) {
            self.bump();
            return Ok(Literal::DType(dtype));
        }
        let negative = self.eat("-");
        if let TokenKind::Float(value) = self.peek().kind {
            self.bump();
            return Ok(Literal::Float(if negative { -value } else { value }));
        }
        self.parse_int(negative, "a literal: a number, a text, a dtype, True, False or None")
            .map(Literal::Int)
    }

    /// A text in quotes.
    fn parse_text(&mut self) -> Result<String, Diagnostic> {
        if self.peek().kind != TokenKind::Text {
            return Err(self.unexpected("a text in quotes"));
        }
        Ok(unquote(self.bump().text))
    }

    fn kernel_arg(&mut self) -> Result<KernelArg, Diagnostic> {
        if self.eat_name("struct") {
            let fields = self.nested(|parser| parser.parse_list("(", ")", Parser::kernel_arg))?;
            return match fields.is_empty() {
                true => Err(self.unexpected("a field in `struct(…)`")),
                false => Ok(KernelArg::Struct(fields)),
            };
        }
        if tensor_map::at_map(self) {
            return tensor_map::parse_map(self).map(KernelArg::TensorMap);
        }
        if let Some(constant) = self.constant()? {
            return Ok(KernelArg::Constant(constant));
        }
        let expr = self.parse_expr()?;
        let c_type = if self.eat(":") { Some(self.c_scalar()?) } else { None };
        Ok(KernelArg::Value(expr, c_type))
    }

    fn c_scalar(&mut self) -> Result<CScalar, Diagnostic> {
        if self.eat_name("pointer") {
            return Ok(CScalar::Pointer);
        }
        let c_type = DType::parse(self.peek_text()).and_then(CScalar::of);
        let c_type = c_type.ok_or_else(|| {
            let problem = self.unexpected("a C type: bool, an integer, a float or `pointer`");
            let meant = closest_dtype(self.peek_text(), |dtype| CScalar::of(dtype).is_some());
            did_you_mean(problem, meant, "C types have the names of dtypes: `int32`, `float32`")
        })?;
        self.bump();
        Ok(c_type)
    }
}

fn unknown_dtype(name: &str, problem: Diagnostic) -> Diagnostic {
    let help = "the dtypes are those of DLPack: bool, int32, float16, bfloat16, float8_e4m3fn, …";
    did_you_mean(problem, closest_dtype(name, |_| true), help)
}

/// Refuses a list that is too long.
fn at_most<T>(most: usize, items: Vec<T>, span: Span) -> Result<Vec<T>, Diagnostic> {
    if items.len() <= most {
        return Ok(items);
    }
    let message = format!("{}, at most {most} are allowed", count(items.len(), "item"));
    Err(Diagnostic::new("too-long", message).label(span, "this list"))
}
