// SPDX-License-Identifier: Apache-2.0
//! Reads kernels and functions: heads and declarations here, operations in `op`, constants in
//! `constant`. What cannot be read is reported and skipped up to the next line, together with the
//! regions that begin on the way.

mod constant;
mod cursor;
mod op;

use super::Item;
use super::token::lex;
use crate::builder::Builder;
use crate::function::Function;
use crate::kernel::{
    Demands, Facts, File, Kernel, LocalArray, Param, ParamKind, Place, PlaceData, Pointer,
    SharedArray, Size, SlotData, TensorMap, Value, ValueData,
};
use crate::op::Region;
use crate::types::{MOST_VECTOR_BYTES, Scalar, Space, Type};
use cursor::Cursor;
use kernpack_machine::ArchError;
use kernpack_machine::tensor_map::MOST_RANK;
use kernpack_syntax::{Diagnostic, Diagnostics, Snippet, Span};
use std::collections::HashMap;

/// The most values of a kernel: ids are places in a list, which a text of a few words must not make
/// longer than memory is.
const MOST_VALUES: u32 = 1 << 20;

/// The file that places are in where a text says none.
const UNNAMED_FILE: &str = "kernel.py";

type Parsed<T> = Result<T, Diagnostic>;

/// Reads a text, in the form that [`text`](crate::text) describes.
///
/// # Errors
/// All that is wrong with it. What it reads is not verified.
pub fn parse(snippet: &Snippet<'_>) -> Result<Vec<Item>, Diagnostics> {
    let (tokens, problems) = lex(*snippet);
    let mut parser = Parser {
        cursor: Cursor::new(&tokens),
        problems: Diagnostics(problems),
        kernel: Kernel::default(),
        is_defined: Vec::new(),
        places: HashMap::new(),
        depth: 0,
    };
    let mut items = Vec::new();
    while !parser.cursor.is_at_end() {
        match parser.item() {
            Ok(item) => items.push(item),
            Err(problem) => {
                parser.report(problem);
                parser.cursor.skip_to(&["kernel", "function"]);
            }
        }
    }
    let mut problems = parser.problems;
    problems.sort();
    problems.into_result().map(|()| items)
}

struct Parser<'t> {
    cursor: Cursor<'t>,
    problems: Diagnostics,
    /// The kernel that is read.
    kernel: Kernel,
    /// Which of its values something defines.
    is_defined: Vec<bool>,
    places: HashMap<PlaceData, Place>,
    /// How many regions are open.
    depth: usize,
}

impl<'t> Parser<'t> {
    fn report(&mut self, problem: Diagnostic) {
        // What is no token has been reported where it was met.
        if !self.cursor.is_at_bad() {
            self.problems.push(problem);
        }
    }

    fn item(&mut self) -> Parsed<Item> {
        self.kernel = Builder::new("", Vec::new()).finish();
        self.places = HashMap::from([(PlaceData::NOWHERE, Place::NOWHERE)]);
        self.is_defined.clear();
        self.depth = 0;
        if self.cursor.eat_word("function") {
            return self.function().map(Item::Function);
        }
        if self.cursor.eat_word("kernel") {
            return self.kernel().map(Item::Kernel);
        }
        Err(self.cursor.unexpected("`kernel` or `function`"))
    }

    fn kernel(&mut self) -> Parsed<Kernel> {
        self.kernel.name = self.cursor.name("the kernel's name")?;
        self.params()?;
        if self.cursor.eat_word("block") {
            self.extents()?;
        }
        self.kernel.demands = self.demands()?;
        if self.cursor.eat_word("archs") {
            self.archs()?;
        }
        if self.cursor.eat_word("files") {
            self.files()?;
        }
        self.inside()?;
        Ok(std::mem::take(&mut self.kernel))
    }

    fn function(&mut self) -> Parsed<Function> {
        self.kernel.name = self.cursor.name("the function's name")?;
        self.params()?;
        let (ty, _) = self.ty()?;
        self.inside()?;
        self.cursor.expect_word("gives")?;
        let gives = self.value()?;
        Ok(Function { kernel: std::mem::take(&mut self.kernel), ty, gives })
    }

    fn params(&mut self) -> Parsed<()> {
        self.cursor.expect("(")?;
        while !self.cursor.eat(")") {
            let (value, span) = self.cursor.id("v", "a parameter")?;
            if value != self.kernel.params.len() as u32 {
                let number = self.kernel.params.len();
                self.problems.push(misnumbered("parameter", "v", number, span));
            }
            let name = self.cursor.name("the parameter's name")?;
            self.cursor.expect(":")?;
            let kind = self.param_kind()?;
            let next = Value(self.kernel.params.len() as u32);
            self.define(next, kind.ty(), span);
            self.kernel.params.push(Param { name, kind });
            if !self.cursor.eat(",") {
                self.cursor.expect(")")?;
                break;
            }
        }
        Ok(())
    }

    fn param_kind(&mut self) -> Parsed<ParamKind> {
        let (ty, span) = self.ty()?;
        match ty {
            Type::Scalar(scalar) => Ok(ParamKind::Scalar(scalar, self.facts()?)),
            Type::Pointer(Space::Global) => {
                let element = self.scalar()?;
                self.cursor.expect_word("align")?;
                let align = self.cursor.number("a number of bytes")?;
                let is_alone = self.cursor.eat_word("alone");
                let is_written = self.cursor.eat_word("written");
                let pointer = Pointer { element, align, is_written, is_alone };
                Ok(ParamKind::Pointer(pointer))
            }
            Type::Pointer(Space::Map) => Ok(ParamKind::Map(self.map()?)),
            Type::Vector(..) | Type::Pointer(_) => Err(Diagnostic::new(
                "ir-syntax",
                format!(
                    "a parameter is a number, a `pointer.global` or a `pointer.map`, found `{ty}`"
                ),
            )
            .label(span, "no parameter")),
        }
    }

    fn map(&mut self) -> Parsed<TensorMap> {
        let element = self.scalar()?;
        self.cursor.expect_word("box")?;
        let (mut rank, mut extents) = (0, [1; MOST_RANK]);
        self.cursor.expect("[")?;
        while !self.cursor.eat("]") {
            let extent = self.cursor.number("a number of elements")?;
            if let Some(place) = extents.get_mut(rank) {
                *place = extent;
            }
            rank += 1;
            if !self.cursor.eat(",") {
                self.cursor.expect("]")?;
                break;
            }
        }
        let swizzle = match self.cursor.eat_word("swizzle") {
            true => self.cursor.number("a number of bytes")?,
            false => 0,
        };
        // What has more dims is refused by the verifier.
        let rank = if rank > MOST_RANK { 0 } else { rank };
        let is_written = self.cursor.eat_word("written");
        Ok(TensorMap { element, rank, extents, swizzle, is_written })
    }

    fn facts(&mut self) -> Parsed<Facts> {
        let mut facts = Facts::NONE;
        if self.cursor.is_number() {
            facts.min = self.cursor.integer()?;
            self.cursor.expect("..")?;
            if self.cursor.is_number() {
                facts.max = self.cursor.integer()?;
            }
        } else if self.cursor.eat("..") {
            facts.max = self.cursor.integer()?;
        }
        if self.cursor.eat_word("multiple") {
            facts.divisor = self.cursor.integer()?;
        }
        Ok(facts)
    }

    fn extents(&mut self) -> Parsed<()> {
        self.cursor.expect("[")?;
        for axis in 0..3 {
            if axis > 0 {
                self.cursor.expect(",")?;
            }
            self.kernel.block[axis] = match self.cursor.eat_word("_") {
                true => None,
                false => Some(self.cursor.number("a number of threads or `_`")?),
            };
        }
        self.cursor.expect("]")
    }

    fn demands(&mut self) -> Parsed<Demands> {
        let mut demands = Demands::default();
        if self.cursor.eat_word("min_blocks") {
            demands.min_blocks = Some(self.cursor.number("a number of blocks")?);
        }
        if self.cursor.eat_word("max_registers") {
            demands.max_registers = Some(self.cursor.number("a number of registers")?);
        }
        Ok(demands)
    }

    fn archs(&mut self) -> Parsed<()> {
        loop {
            let name = self.cursor.word("an architecture")?;
            let arch = name.text.parse().map_err(|error: ArchError| {
                Diagnostic::new("ir-syntax", error.to_string()).label(name.span, "no architecture")
            })?;
            self.kernel.archs.push(arch);
            if !self.cursor.eat(",") {
                return Ok(());
            }
        }
    }

    fn files(&mut self) -> Parsed<()> {
        loop {
            let file = self.cursor.text("a file's name")?;
            self.kernel.files.push(file);
            if !self.cursor.eat(",") {
                return Ok(());
            }
        }
    }

    /// Declarations and the body, with its braces.
    fn inside(&mut self) -> Parsed<()> {
        self.cursor.expect("{")?;
        loop {
            let start = self.cursor.position();
            match self.declaration() {
                Ok(true) => {}
                Ok(false) => break,
                Err(problem) => {
                    self.report(problem);
                    self.cursor.skip_line(start);
                }
            }
        }
        self.kernel.body = self.ops()?;
        Ok(())
    }

    /// Reads a declaration; says whether there is one.
    fn declaration(&mut self) -> Parsed<bool> {
        let is_named = self.cursor.is_second_name();
        if is_named && self.cursor.is_id("shared") {
            self.shared()?;
        } else if is_named && self.cursor.is_id("local") {
            self.local()?;
        } else if is_named && self.cursor.is_id("s") {
            self.slot()?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn shared(&mut self) -> Parsed<()> {
        let (name, element) =
            self.declared("shared", "array", self.kernel.shared.len(), Parser::scalar)?;
        self.cursor.expect_word("bytes")?;
        let size = match self.cursor.is_id("v") {
            true => Size::Param(self.value()?),
            false => Size::Bytes(self.cursor.number("a number of bytes")?),
        };
        self.cursor.expect_word("align")?;
        let align = self.cursor.number("a number of bytes")?;
        self.kernel.shared.push(SharedArray { name, element, size, align });
        Ok(())
    }

    fn local(&mut self) -> Parsed<()> {
        let start = self.cursor.peek().span;
        let (name, element) =
            self.declared("local", "array", self.kernel.locals.len(), Parser::scalar)?;
        self.cursor.expect_word("count")?;
        let count = self.cursor.number("a number of elements")?;
        let place = self.place(start)?;
        self.kernel.locals.push(LocalArray { name, element, count, place });
        Ok(())
    }

    fn slot(&mut self) -> Parsed<()> {
        let (name, (ty, _)) = self.declared("s", "slot", self.kernel.slots.len(), Parser::ty)?;
        self.kernel.slots.push(SlotData { name, ty });
        Ok(())
    }

    /// `prefix0 name: type`, of which there have been so many.
    fn declared<T>(
        &mut self,
        prefix: &'static str,
        what: &str,
        number: usize,
        ty: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<(String, T)> {
        let (id, span) = self.cursor.id(prefix, what)?;
        if id as usize != number {
            self.problems.push(misnumbered(what, prefix, number, span));
        }
        let name = self.cursor.name("a name")?;
        self.cursor.expect(":")?;
        Ok((name, ty(self)?))
    }

    /// A scalar's name.
    fn scalar(&mut self) -> Parsed<Scalar> {
        match self.ty()? {
            (Type::Scalar(scalar), _) => Ok(scalar),
            (Type::Vector(..) | Type::Pointer(_), span) => {
                Err(Diagnostic::new("ir-syntax", "expected the type of one number")
                    .label(span, "not one number"))
            }
        }
    }

    fn ty(&mut self) -> Parsed<(Type, Span)> {
        let problem = self.cursor.unexpected("a type");
        let token = self.cursor.word("a type")?;
        if token.text == "pointer" {
            self.cursor.expect(".")?;
            let space = self.cursor.word("`global`, `shared` or `local`")?;
            let found = Space::ALL.iter().find(|one| one.name() == space.text);
            let span = token.span.to(space.span);
            return found.map(|space| (Type::Pointer(*space), span)).ok_or(problem);
        }
        let ty = Scalar::parse(token.text).map(Type::Scalar).or_else(|| vector(token.text));
        ty.map(|ty| (ty, token.span)).ok_or(problem)
    }

    /// A value that is used.
    fn value(&mut self) -> Parsed<Value> {
        let (number, span) = self.cursor.id("v", "a value")?;
        self.grow(number, span)?;
        Ok(Value(number))
    }

    /// Makes room in the lists for a value of that number.
    fn grow(&mut self, number: u32, span: Span) -> Parsed<()> {
        if number >= MOST_VALUES {
            let message = format!("the number of a value is below {MOST_VALUES}");
            return Err(Diagnostic::new("ir-syntax", message).label(span, "too large"));
        }
        let len = number as usize + 1;
        if self.kernel.values.len() < len {
            let undefined = ValueData { ty: Type::Scalar(Scalar::Bool), constant: None };
            self.kernel.values.resize(len, undefined);
            self.is_defined.resize(len, false);
        }
        Ok(())
    }

    /// A value that is defined, of that type. A second definition is reported.
    fn define(&mut self, value: Value, ty: Type, span: Span) {
        if let Err(problem) = self.grow(value.0, span) {
            return self.problems.push(problem);
        }
        if std::mem::replace(&mut self.is_defined[value.index()], true) {
            let message = format!("`{value}` is defined twice");
            let problem = Diagnostic::new("ir-syntax", message);
            return self.problems.push(problem.label(span, "defined before"));
        }
        self.kernel.values[value.index()].ty = ty;
    }

    /// Operations up to the `}` of their region, which is taken.
    fn ops(&mut self) -> Parsed<Region> {
        if self.depth >= super::MAX_DEPTH {
            let problem = self.cursor.unexpected("regions that nest less deep");
            self.cursor.skip_region();
            return Err(problem);
        }
        self.depth += 1;
        let mut ops = Vec::new();
        while !self.cursor.eat("}") {
            if self.cursor.is_at_end() {
                return Err(self.cursor.unexpected("`}`"));
            }
            let start = self.cursor.position();
            match self.op() {
                Ok(op) => ops.push(op),
                Err(problem) => {
                    self.report(problem);
                    self.cursor.skip_line(start);
                }
            }
        }
        self.depth -= 1;
        Ok(Region(ops))
    }

    /// The place of what began at `start` and has been read: what it says of itself, and where it
    /// stands in this text.
    fn place(&mut self, start: Span) -> Parsed<Place> {
        let end = self.cursor.previous();
        let mut lines = Vec::new();
        let mut next = self.cursor.eat("@");
        while next {
            lines.push(self.line()?);
            next = self.cursor.eat("<");
            if next {
                self.cursor.expect("@")?;
            }
        }
        let span = if start.text.is_some() { start.to(end) } else { Span::default() };
        let mut place = None;
        while let Some((file, line, column)) = lines.pop() {
            let span = if lines.is_empty() { span } else { Span::default() };
            let data = PlaceData { span, file: Some(file), line, column, caller: place };
            place = Some(self.intern(data));
        }
        Ok(place.unwrap_or_else(|| self.intern(PlaceData { span, ..PlaceData::NOWHERE })))
    }

    fn intern(&mut self, data: PlaceData) -> Place {
        let next = Place(self.kernel.places.len() as u32);
        let place = *self.places.entry(data).or_insert(next);
        if place == next {
            self.kernel.places.push(data);
        }
        place
    }

    /// `12:5` or `"file":12:5`.
    fn line(&mut self) -> Parsed<(File, u32, u32)> {
        let name = match self.cursor.is_text() {
            true => Some(self.cursor.text("a file's name")?),
            false => None,
        };
        if name.is_some() {
            self.cursor.expect(":")?;
        }
        let line = self.cursor.number("a line")?;
        self.cursor.expect(":")?;
        let column = self.cursor.number("a column")?;
        let files = &mut self.kernel.files;
        if files.is_empty() {
            files.push(UNNAMED_FILE.to_string());
        }
        let known = name.as_ref().map_or(Some(0), |name| files.iter().position(|it| it == name));
        let file = known.unwrap_or_else(|| {
            files.extend(name);
            files.len() - 1
        });
        Ok((File(file as u32), line, column))
    }
}

/// The vector type of that name.
fn vector(name: &str) -> Option<Type> {
    let (scalar, lanes) = name.rsplit_once('x')?;
    let scalar = Scalar::parse(scalar)?;
    let lanes = lanes.parse::<u8>().ok().filter(|lanes| *lanes > 1)?;
    let is_small = scalar.bytes() * u32::from(lanes) <= MOST_VECTOR_BYTES;
    (is_small && !name.contains("x0")).then_some(Type::Vector(scalar, lanes))
}

fn misnumbered(what: &str, prefix: &str, number: usize, span: Span) -> Diagnostic {
    Diagnostic::new("ir-syntax", format!("the next {what} is `{prefix}{number}`"))
        .label(span, "another number")
}
