// SPDX-License-Identifier: Apache-2.0
//! Reads operations.

use super::{Parsed, Parser};
use crate::constant::Const;
use crate::intrinsic::{self, Accepts, Intrinsic};
use crate::kernel::{Local, Shared, Slot, Value};
use crate::op::{
    Asm, Assert, Binary, Call, Check, Compare, Dialect, Expr, Guard, Jump, Load, Op, OpKind,
    Operand, Qualifier, Region, Rounding, Store, Unary,
};
use crate::types::Type;
use kernpack_syntax::{Diagnostic, Span};

/// A value that an operation defines, and its type.
type Definition = Option<(Value, Type)>;

impl Parser<'_> {
    pub(super) fn op(&mut self) -> Parsed<Op> {
        let start = self.cursor.peek().span;
        let definition = self.definition()?;
        if definition.is_none() {
            if self.cursor.eat_word("if") {
                return self.branch(start);
            }
            if self.cursor.eat_word("for") {
                return self.counted(start);
            }
            if self.cursor.eat_word("while") {
                return self.repeated(start);
            }
        }
        let kind = self.kind(definition)?;
        if let (Some((value, _)), OpKind::Expr(Expr::Const(constant))) = (definition, &kind) {
            self.kernel.values[value.index()].constant = Some(*constant);
        }
        let place = self.place(start)?;
        Ok(Op { result: definition.map(|(value, _)| value), kind, place })
    }

    /// `v0: type =`, where that is next.
    fn definition(&mut self) -> Parsed<Definition> {
        if !(self.cursor.is_id("v") && self.cursor.is_definition()) {
            return Ok(None);
        }
        let typed = self.typed()?;
        self.cursor.expect("=")?;
        Ok(Some(typed))
    }

    /// `v0: type`, which is defined by that.
    fn typed(&mut self) -> Parsed<(Value, Type)> {
        let span = self.cursor.peek().span;
        let value = self.value()?;
        self.cursor.expect(":")?;
        let (ty, _) = self.ty()?;
        self.define(value, ty, span);
        Ok((value, ty))
    }

    fn branch(&mut self, start: Span) -> Parsed<Op> {
        let condition = self.value()?;
        let place = self.place(start)?;
        let then = self.block()?;
        let otherwise = match self.cursor.eat_word("else") {
            true => self.block()?,
            false => Region::default(),
        };
        Ok(Op { result: None, kind: OpKind::If { condition, then, otherwise }, place })
    }

    fn counted(&mut self, start: Span) -> Parsed<Op> {
        let (index, _) = self.typed()?;
        self.cursor.expect("=")?;
        let first = self.value()?;
        self.cursor.expect_word("to")?;
        let end = self.value()?;
        self.cursor.expect_word("step")?;
        let step = self.value()?;
        let place = self.place(start)?;
        let body = self.block()?;
        Ok(Op { result: None, kind: OpKind::For { index, first, end, step, body }, place })
    }

    fn repeated(&mut self, start: Span) -> Parsed<Op> {
        let place = self.place(start)?;
        let before = self.block()?;
        let condition = self.value()?;
        let body = self.block()?;
        Ok(Op { result: None, kind: OpKind::While { before, condition, body }, place })
    }

    fn block(&mut self) -> Parsed<Region> {
        self.cursor.expect("{")?;
        self.ops()
    }

    /// An operation without regions, which gives a value of that type.
    fn kind(&mut self, definition: Definition) -> Parsed<OpKind> {
        if let Some(address) = self.address() {
            return Ok(OpKind::Expr(address));
        }
        let problem = self.cursor.unexpected("an operation");
        let word = self.cursor.word("an operation")?.text;
        if let Some(jump) = Jump::parse(word) {
            return Ok(OpKind::Jump(jump));
        }
        if let Some(dialect) = Dialect::parse(word) {
            return self.asm(dialect).map(OpKind::Asm);
        }
        match word {
            "store" => self.store().map(OpKind::Store),
            "inbounds" => self.in_bounds(),
            "set" => {
                let slot = self.slot_id()?;
                self.cursor.expect(",")?;
                Ok(OpKind::Set(slot, self.value()?))
            }
            "call" => self.call().map(OpKind::Call),
            "print" => self.print(),
            "assert" => self.assert(),
            word => match self.expr(word, definition)? {
                Some(expr) => Ok(OpKind::Expr(expr)),
                None => Err(problem),
            },
        }
    }

    /// Reads behind the word of an expression; nothing where the word is of none.
    fn expr(&mut self, word: &str, definition: Definition) -> Parsed<Option<Expr>> {
        if let Some(op) = Unary::parse(word) {
            return Ok(Some(Expr::Unary(op, self.value()?)));
        }
        if let Some(op) = Binary::parse(word) {
            return self.two().map(|(a, b)| Some(Expr::Binary(op, a, b)));
        }
        if let Some(op) = Compare::parse(word) {
            return self.two().map(|(a, b)| Some(Expr::Compare(op, a, b)));
        }
        let expr = match word {
            "const" => Expr::Const(self.const_of(definition)?),
            "select" => {
                let condition = self.value()?;
                self.cursor.expect(",")?;
                let (a, b) = self.two()?;
                Expr::Select(condition, a, b)
            }
            "convert" => Expr::Convert(self.value()?, self.rounding()),
            "bitcast" => Expr::Bitcast(self.value()?),
            "vector" => Expr::Vector(self.values()?),
            "splat" => Expr::Splat(self.value()?),
            "extract" => Expr::Extract(self.value()?, self.lane()?),
            "insert" => {
                let (vector, lane) = (self.value()?, self.lane()?);
                self.cursor.expect(",")?;
                Expr::Insert(vector, lane, self.value()?)
            }
            "offset" => self.two().map(|(pointer, bytes)| Expr::Offset(pointer, bytes))?,
            "load" => Expr::Load(self.load()?),
            "get" => Expr::Get(self.slot_id()?),
            _ => return Ok(None),
        };
        Ok(Some(expr))
    }

    /// The address of an array.
    fn address(&mut self) -> Option<Expr> {
        let (shared, local) = (self.cursor.is_id("shared"), self.cursor.is_id("local"));
        if shared {
            let (number, _) = self.cursor.id("shared", "").ok()?;
            return Some(Expr::Shared(Shared(number)));
        }
        let (number, _) = self.cursor.id("local", "").ok().filter(|_| local)?;
        Some(Expr::Local(Local(number)))
    }

    fn two(&mut self) -> Parsed<(Value, Value)> {
        let left = self.value()?;
        self.cursor.expect(",")?;
        Ok((left, self.value()?))
    }

    fn values(&mut self) -> Parsed<Vec<Value>> {
        let mut values = vec![self.value()?];
        while self.cursor.eat(",") {
            values.push(self.value()?);
        }
        Ok(values)
    }

    fn const_of(&mut self, definition: Definition) -> Parsed<Const> {
        match definition {
            Some((_, Type::Scalar(scalar))) => self.constant(scalar),
            Some((_, ty)) => Err(self.no_constant(ty)),
            None => Err(self.cursor.unexpected("`v0: type =` in front of a constant")),
        }
    }

    fn rounding(&mut self) -> Rounding {
        let rounding = Rounding::ALL.iter().find(|one| self.cursor.eat_word(one.name()));
        rounding.copied().unwrap_or(Rounding::NearestEven)
    }

    fn lane(&mut self) -> Parsed<u8> {
        self.cursor.expect(",")?;
        self.cursor.number("the number of a lane")
    }

    fn slot_id(&mut self) -> Parsed<Slot> {
        self.cursor.id("s", "a slot").map(|(number, _)| Slot(number))
    }

    fn align(&mut self) -> Parsed<u32> {
        self.cursor.expect_word("align")?;
        self.cursor.number("a number of bytes")
    }

    fn qualifier(&mut self) -> Option<Qualifier> {
        Qualifier::ALL.iter().copied().find(|one| self.cursor.eat_word(one.name()))
    }

    fn load(&mut self) -> Parsed<Load> {
        let (pointer, align, qualifier) = (self.value()?, self.align()?, self.qualifier());
        let mut load = Load { pointer, align, qualifier, guard: None };
        if self.cursor.eat_word("when") {
            let condition = self.value()?;
            self.cursor.expect_word("else")?;
            load.guard = Some(Guard { condition, otherwise: self.value()? });
        }
        Ok(load)
    }

    fn store(&mut self) -> Parsed<Store> {
        let pointer = self.value()?;
        self.cursor.expect(",")?;
        let (value, align, qualifier) = (self.value()?, self.align()?, self.qualifier());
        let condition = match self.cursor.eat_word("when") {
            true => Some(self.value()?),
            false => None,
        };
        Ok(Store { pointer, value, align, qualifier, condition })
    }

    fn call(&mut self) -> Parsed<Call> {
        let first = self.cursor.word("an intrinsic")?;
        let (mut name, mut span) = (first.text.to_string(), first.span);
        while self.cursor.eat(".") {
            let part = self.cursor.word("the rest of an intrinsic's name")?;
            name = format!("{name}.{}", part.text);
            span = span.to(part.span);
        }
        let Some(intrinsic) = intrinsic::find(&name) else {
            let problem = Diagnostic::new("ir-syntax", format!("no intrinsic is `{name}`"));
            return Err(problem.label(span, "not in the table"));
        };
        self.cursor.expect("(")?;
        let mut operands = Vec::new();
        while !self.cursor.eat(")") {
            operands.push(self.operand(intrinsic, operands.len())?);
            if !self.cursor.eat(",") {
                self.cursor.expect(")")?;
                break;
            }
        }
        Ok(Call { intrinsic, operands })
    }

    fn operand(&mut self, intrinsic: &Intrinsic, place: usize) -> Parsed<Operand> {
        if self.cursor.is_number() {
            return self.cursor.integer().map(Operand::Constant);
        }
        if self.cursor.is_id("v") {
            return self.value().map(Operand::Value);
        }
        if self.cursor.is_id("local") {
            return self.cursor.id("local", "").map(|(number, _)| Operand::Local(Local(number)));
        }
        let words: &'static [&'static str] = match intrinsic.takes.get(place) {
            Some(Accepts::Word(words)) => words,
            Some(_) | None => &[],
        };
        let word = words.iter().find(|word| self.cursor.eat_word(word));
        let expected = match words {
            [] => "a value, a number or a register tensor".to_string(),
            words => format!("`{}`", words.join("` or `")),
        };
        word.map(|word| Operand::Word(word)).ok_or_else(|| self.cursor.unexpected(&expected))
    }

    fn print(&mut self) -> Parsed<OpKind> {
        let (text, values) = self.format()?;
        Ok(OpKind::Print(text, values))
    }

    fn in_bounds(&mut self) -> Parsed<OpKind> {
        let (index, extent) = self.two()?;
        let check = match self.cursor.eat_word("of") {
            true => Some(Check { of: self.cursor.text("a name")? }),
            false => None,
        };
        Ok(OpKind::InBounds { index, extent, check })
    }

    fn assert(&mut self) -> Parsed<OpKind> {
        let condition = self.value()?;
        self.cursor.expect(",")?;
        let (text, values) = self.format()?;
        Ok(OpKind::Assert(Assert { condition, text, values }))
    }

    /// A format and its values.
    fn format(&mut self) -> Parsed<(String, Vec<Value>)> {
        let text = self.cursor.text("a format")?;
        let mut values = Vec::new();
        while self.cursor.eat(",") {
            values.push(self.value()?);
        }
        Ok((text, values))
    }

    fn asm(&mut self, dialect: Dialect) -> Parsed<Asm> {
        let text = self.cursor.text("instructions")?;
        let has_operands = self.cursor.is_id("v") && !self.cursor.is_definition();
        let operands = if has_operands { self.values()? } else { Vec::new() };
        let has_effects = self.cursor.eat_word("effects");
        let mut results = Vec::new();
        if self.cursor.eat_word("sets") {
            results.push(self.slot_id()?);
            while self.cursor.eat(",") {
                results.push(self.slot_id()?);
            }
        }
        Ok(Asm { dialect, text, results, operands, has_effects })
    }
}
