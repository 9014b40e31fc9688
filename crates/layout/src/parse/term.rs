// SPDX-License-Identifier: Apache-2.0
//! Text to terms: what is written, before it is known what it is for.
//!
//! ```text
//! value    = pair ["o" pair "o" pair]                 S<3,4,3> o 0 o (8,8):(8,1)
//!          | pair "at" sum                            (4,4):(16,1) at 72
//!          | pair "in" sum                            (2,2):(2,1) in (4)
//! pair     = sum [":" sum]                            (4,8):(8,1)
//! sum      = factor {("+" | "-" | "&" | "^") factor}
//! factor   = basis {("*" | "//" | "%") basis}         n//32
//! basis    = primary {"@" integer}                    1@0
//! primary  = ["-"] integer | "_"
//!          | "(" [value {"," value}] ")" | "<" value {"," value} ">"
//!          | "?" [facts] | name [facts] | name "(" [value {"," value}] ")"
//!          | "S" "<" integer "," integer "," integer ">"
//! facts    = "{" fact {[","] fact} "}"                ?{div=8}, n{min=1,max=64}
//! fact     = ("div" | "min" | "max") "=" integer | "i32" | "i64"
//! ```
//!
//! Parentheses are nested 32 deep at most, so that no text can exhaust the stack, and a text has
//! 1024 terms at most, so that none is worked on for long.

use super::ParseError;
use crate::arith::Op;
use crate::facts::Facts;
use std::ops::Range;

/// How deep parentheses may be nested.
const MAX_DEPTH: usize = 32;
/// How many terms a text may have.
const MAX_TERMS: usize = 1024;
/// How many operations may follow one another: as deep as the expression is nested by that.
const MAX_OPERATIONS: usize = 256;

/// A term: what is written at a place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    pub(crate) form: Form,
    /// The bytes of the text.
    pub(crate) at: Range<usize>,
}

/// The forms of terms.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    Int(i64),
    /// `_`
    Free,
    /// `?`
    Unknown(Facts),
    /// A name, with the facts that stand behind it.
    Name(String, Option<Facts>),
    Operation(Op, Box<[Term; 2]>),
    /// `4@1`, with the modes from the outside in.
    Basis(Box<Term>, Vec<usize>),
    Tuple(Vec<Term>),
    /// `<3:3,8:2>`
    Tiler(Vec<Term>),
    /// `shape:stride`
    Layout(Box<[Term; 2]>),
    /// `S<3,4,3>`
    Swizzle([i64; 3]),
    /// `layout at offset`
    Part(Box<[Term; 2]>),
    /// `layout in tile`
    Owners(Box<[Term; 2]>),
    /// `outer o offset o inner`
    Composed(Box<[Term; 3]>),
    Call(String, Vec<Term>),
}

/// Reads a text of one value.
pub(crate) fn term(text: &str) -> Result<Term, ParseError> {
    let mut parser = Parser { text, at: 0, depth: 0, n_terms: 0 };
    let term = parser.value()?;
    parser.skip_space();
    match parser.rest().is_empty() {
        true => Ok(term),
        false => Err(parser.expected("the end")),
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    n_terms: usize,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Whether a text comes next, behind space.
    fn sees(&mut self, text: &str) -> bool {
        self.skip_space();
        self.rest().starts_with(text)
    }

    /// The same, and it is passed.
    fn takes(&mut self, text: &str) -> bool {
        let sees = self.sees(text);
        if sees {
            self.at += text.len();
        }
        sees
    }

    fn require(&mut self, text: &str) -> Result<(), ParseError> {
        match self.takes(text) {
            true => Ok(()),
            false => Err(self.expected(&format!("`{text}`"))),
        }
    }

    /// That something else comes next than was expected.
    fn expected(&mut self, what: &str) -> ParseError {
        self.skip_space();
        let word = self.word().len();
        let length = match word {
            0 => self.rest().chars().next().map_or(0, char::len_utf8),
            word => word,
        };
        let at = self.at..self.at + length;
        let found = match length {
            0 => "the end".to_string(),
            _ => format!("`{}`", &self.text[at.clone()]),
        };
        ParseError::new(format!("expected {what}, found {found}"), at)
    }

    /// The letters, digits and underscores that come next.
    fn word(&self) -> &'t str {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let rest = self.rest();
        &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())]
    }

    fn term(&self, form: Form, start: usize) -> Term {
        Term { form, at: start..self.at }
    }

    fn value(&mut self) -> Result<Term, ParseError> {
        self.skip_space();
        let start = self.at;
        let outer = self.pair()?;
        if self.takes_word("at") {
            let offset = self.sum()?;
            return Ok(self.term(Form::Part(Box::new([outer, offset])), start));
        }
        if self.takes_word("in") {
            let tile = self.sum()?;
            return Ok(self.term(Form::Owners(Box::new([outer, tile])), start));
        }
        if !self.takes_word("o") {
            return Ok(outer);
        }
        let offset = self.pair()?;
        if !self.takes_word("o") {
            return Err(self.expected("`o`"));
        }
        let inner = self.pair()?;
        Ok(self.term(Form::Composed(Box::new([outer, offset, inner])), start))
    }

    /// Passes a word, where it comes next.
    fn takes_word(&mut self, word: &str) -> bool {
        self.skip_space();
        self.word() == word && self.takes(word)
    }

    fn pair(&mut self) -> Result<Term, ParseError> {
        self.skip_space();
        let start = self.at;
        let shape = self.sum()?;
        match self.takes(":") {
            false => Ok(shape),
            true => {
                let stride = self.sum()?;
                Ok(self.term(Form::Layout(Box::new([shape, stride])), start))
            }
        }
    }

    fn sum(&mut self) -> Result<Term, ParseError> {
        let signs = [("+", Op::Add), ("-", Op::Sub), ("&", Op::And), ("^", Op::Xor)];
        self.operations(&signs, Self::factor)
    }

    fn factor(&mut self) -> Result<Term, ParseError> {
        let signs = [("*", Op::Mul), ("//", Op::Div), ("%", Op::Rem)];
        self.operations(&signs, Self::basis)
    }

    fn operations(
        &mut self,
        signs: &[(&str, Op)],
        operand: impl Fn(&mut Self) -> Result<Term, ParseError>,
    ) -> Result<Term, ParseError> {
        self.skip_space();
        let start = self.at;
        let mut first = operand(self)?;
        let mut n_operations = 0;
        while let Some((_, op)) = signs.iter().find(|(sign, _)| self.takes(sign)) {
            n_operations += 1;
            if n_operations > MAX_OPERATIONS {
                let message = format!("more than {MAX_OPERATIONS} operations in a row");
                return Err(ParseError::new(message, start..self.at));
            }
            let second = operand(self)?;
            first = self.term(Form::Operation(*op, Box::new([first, second])), start);
        }
        Ok(first)
    }

    fn basis(&mut self) -> Result<Term, ParseError> {
        self.skip_space();
        let start = self.at;
        let scale = self.primary()?;
        let mut modes = Vec::new();
        while self.takes("@") {
            let from = self.at;
            let mode = usize::try_from(self.integer()?);
            let is_few = modes.len() < MAX_DEPTH;
            match mode {
                // As many modes as a tuple of that index may have to be made of.
                Ok(mode @ 0..64) if is_few => modes.insert(0, mode),
                Ok(_) | Err(_) => {
                    let message = "a mode is a number from 0 to 63, in 32 modes at most";
                    return Err(ParseError::new(message, from..self.at));
                }
            }
        }
        match modes.is_empty() {
            true => Ok(scale),
            false => Ok(self.term(Form::Basis(Box::new(scale), modes), start)),
        }
    }

    fn primary(&mut self) -> Result<Term, ParseError> {
        self.skip_space();
        let start = self.at;
        self.n_terms += 1;
        if self.n_terms > MAX_TERMS {
            let message = format!("more than {MAX_TERMS} numbers, names and parentheses");
            return Err(ParseError::new(message, start..start));
        }
        let form = match self.rest().chars().next() {
            Some('(') => Form::Tuple(self.list("(", ")")?),
            Some('<') => Form::Tiler(self.list("<", ">")?),
            Some('?') => {
                self.require("?")?;
                Form::Unknown(self.facts()?.unwrap_or(Facts::NON_NEGATIVE))
            }
            Some('-' | '0'..='9') => Form::Int(self.integer()?),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.name()?,
            Some(_) | None => return Err(self.expected("a number, `?`, `_`, a name or `(`")),
        };
        Ok(self.term(form, start))
    }

    /// The form that begins with a word.
    fn name(&mut self) -> Result<Form, ParseError> {
        let word = self.word();
        match word {
            "_" => {
                self.at += 1;
                return Ok(Form::Free);
            }
            "o" => return Err(self.expected("a number, `?`, `_`, a name or `(`")),
            _ => self.at += word.len(),
        }
        if word == "S" && self.sees("<") {
            return self.swizzle();
        }
        if self.sees("(") {
            return Ok(Form::Call(word.to_string(), self.list("(", ")")?));
        }
        Ok(Form::Name(word.to_string(), self.facts()?))
    }

    fn swizzle(&mut self) -> Result<Form, ParseError> {
        let mut numbers = [0; 3];
        for (number, open) in numbers.iter_mut().zip(["<", ",", ","]) {
            self.require(open)?;
            *number = self.integer()?;
        }
        self.require(">")?;
        Ok(Form::Swizzle(numbers))
    }

    fn list(&mut self, open: &str, close: &str) -> Result<Vec<Term>, ParseError> {
        let start = self.at;
        self.require(open)?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} parentheses in one another");
            return Err(ParseError::new(message, start..self.at));
        }
        let mut terms = Vec::new();
        while !self.sees(close) {
            if !terms.is_empty() {
                if !self.takes(",") {
                    return Err(self.expected(&format!("`,` or `{close}`")));
                }
                // A comma may stand behind the last one, as Python has it.
                if self.sees(close) {
                    break;
                }
            }
            terms.push(self.value()?);
        }
        self.require(close)?;
        self.depth -= 1;
        Ok(terms)
    }

    fn integer(&mut self) -> Result<i64, ParseError> {
        self.skip_space();
        let start = self.at;
        let is_negative = self.takes("-");
        let digits = self.word();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.expected("a number"));
        }
        self.at += digits.len();
        let sign = if is_negative { "-" } else { "" };
        let exceeds = || format!("`{sign}{digits}` exceeds 64 bits");
        let number = format!("{sign}{digits}").parse();
        number.map_err(|_| ParseError::new(exceeds(), start..self.at))
    }

    /// The facts in braces, if they are there.
    fn facts(&mut self) -> Result<Option<Facts>, ParseError> {
        if !self.takes("{") {
            return Ok(None);
        }
        let start = self.at;
        let mut facts = Facts::NON_NEGATIVE;
        while !self.takes("}") {
            self.skip_space();
            let word = self.word();
            match word {
                // CuTe says how wide it is, which is of no matter here.
                "i32" | "i64" => self.at += word.len(),
                "div" | "min" | "max" => {
                    self.at += word.len();
                    self.require("=")?;
                    let number = self.integer()?;
                    match word {
                        "div" => facts.divisor = number,
                        "min" => facts.min = number,
                        _ => facts.max = number,
                    }
                }
                _ => return Err(self.expected("`div`, `min`, `max` or `}`")),
            }
            self.takes(",");
        }
        match facts.divisor > 0 && facts.min <= facts.max {
            true => Ok(Some(facts)),
            false => {
                let message = "no number is like that: `div` is at least 1, `min` at most `max`";
                Err(ParseError::new(message, start..self.at))
            }
        }
    }
}
