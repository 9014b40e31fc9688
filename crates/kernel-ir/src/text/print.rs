// SPDX-License-Identifier: Apache-2.0
//! Prints kernels and functions. Any that is printed can be read again.

use super::token::{is_plain, quote};
use crate::function::Function;
use crate::kernel::{Demands, Facts, Kernel, Param, ParamKind, Place, Size, TensorMap, Value};
use crate::op::{
    Asm, Assert, Call, Expr, Load, Op, OpKind, Operand, Qualifier, Region, Rounding, Store,
};
use std::fmt::{self, Display, Formatter, Write};

/// In the form that [`text`](crate::text) describes.
impl Display for Kernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {}(", Name(&self.name))?;
        write_params(f, &self.params)?;
        f.write_char(')')?;
        if self.block.iter().any(Option::is_some) {
            let extents = self.block.map(|extent| match extent {
                Some(extent) => extent.to_string(),
                None => "_".to_string(),
            });
            write!(f, " block [{}]", extents.join(", "))?;
        }
        let Demands { min_blocks, max_registers } = self.demands;
        min_blocks.map_or(Ok(()), |count| write!(f, " min_blocks {count}"))?;
        max_registers.map_or(Ok(()), |count| write!(f, " max_registers {count}"))?;
        for (number, arch) in self.archs.iter().enumerate() {
            write!(f, "{}{arch}", if number == 0 { " archs " } else { ", " })?;
        }
        let files: Vec<_> = self.files.iter().map(|file| quote(file)).collect();
        if !files.is_empty() {
            write!(f, " files {}", files.join(", "))?;
        }
        f.write_str(" {\n")?;
        Printer { kernel: self, depth: 1, f }.write_inside()?;
        f.write_str("}\n")
    }
}

/// In the form that [`text`](crate::text) describes.
impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kernel = &self.kernel;
        write!(f, "function {}(", Name(&kernel.name))?;
        write_params(f, &kernel.params)?;
        writeln!(f, ") {} {{", self.ty)?;
        Printer { kernel, depth: 1, f }.write_inside()?;
        writeln!(f, "}} gives {}", self.gives)
    }
}

/// A name, in quotes where it is no word.
struct Name<'n>(&'n str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if is_plain(self.0) { f.write_str(self.0) } else { f.write_str(&quote(self.0)) }
    }
}

fn write_params(f: &mut Formatter<'_>, params: &[Param]) -> fmt::Result {
    for (number, param) in params.iter().enumerate() {
        let comma = if number > 0 { ", " } else { "" };
        write!(f, "{comma}v{number} {}: {}", Name(&param.name), param.kind.ty())?;
        match &param.kind {
            ParamKind::Scalar(_, facts) => write_facts(f, facts)?,
            ParamKind::Pointer(pointer) => {
                write!(f, " {} align {}", pointer.element, pointer.align)?;
                f.write_str(if pointer.is_alone { " alone" } else { "" })?;
                f.write_str(if pointer.is_written { " written" } else { "" })?;
            }
            ParamKind::Map(map) => write_map(f, map)?,
        }
    }
    Ok(())
}

fn write_map(f: &mut Formatter<'_>, map: &TensorMap) -> fmt::Result {
    let extents: Vec<_> = map.box_extents().iter().map(u32::to_string).collect();
    write!(f, " {} box [{}]", map.element, extents.join(", "))?;
    if map.swizzle != 0 {
        write!(f, " swizzle {}", map.swizzle)?;
    }
    f.write_str(if map.is_written { " written" } else { "" })
}

fn write_facts(f: &mut Formatter<'_>, facts: &Facts) -> fmt::Result {
    let Facts { min, max, divisor } = *facts;
    match (min == i64::MIN, max == i64::MAX) {
        (true, true) => {}
        (true, false) => write!(f, " ..{max}")?,
        (false, true) => write!(f, " {min}..")?,
        (false, false) => write!(f, " {min}..{max}")?,
    }
    if divisor == 1 { Ok(()) } else { write!(f, " multiple {divisor}") }
}

struct Printer<'k, 'f, 'b> {
    kernel: &'k Kernel,
    depth: usize,
    f: &'f mut Formatter<'b>,
}

impl Printer<'_, '_, '_> {
    fn indent(&mut self) -> fmt::Result {
        (0..self.depth).try_for_each(|_| self.f.write_str("  "))
    }

    /// Declarations and the body.
    fn write_inside(&mut self) -> fmt::Result {
        let kernel = self.kernel;
        for (number, array) in kernel.shared.iter().enumerate() {
            self.indent()?;
            let (name, element) = (Name(&array.name), array.element);
            write!(self.f, "shared{number} {name}: {element} bytes ")?;
            match array.size {
                Size::Bytes(bytes) => write!(self.f, "{bytes}")?,
                Size::Param(value) => write!(self.f, "{value}")?,
            }
            writeln!(self.f, " align {}", array.align)?;
        }
        for (number, array) in kernel.locals.iter().enumerate() {
            self.indent()?;
            let (name, element) = (Name(&array.name), array.element);
            write!(self.f, "local{number} {name}: {element} count {}", array.count)?;
            self.write_place(array.place)?;
            self.f.write_char('\n')?;
        }
        for (number, slot) in kernel.slots.iter().enumerate() {
            self.indent()?;
            writeln!(self.f, "s{number} {}: {}", Name(&slot.name), slot.ty)?;
        }
        self.write_region(&kernel.body)
    }

    fn write_region(&mut self, region: &Region) -> fmt::Result {
        for op in &region.0 {
            self.indent()?;
            self.write_op(op)?;
            self.f.write_char('\n')?;
        }
        Ok(())
    }

    /// A region within an operation, whose `{` has been written.
    fn write_block(&mut self, region: &Region) -> fmt::Result {
        self.f.write_char('\n')?;
        self.depth += 1;
        self.write_region(region)?;
        self.depth -= 1;
        self.indent()?;
        self.f.write_char('}')
    }

    fn write_op(&mut self, op: &Op) -> fmt::Result {
        self.write_head(op)?;
        self.write_place(op.place)?;
        self.write_regions(&op.kind)
    }

    /// An operation up to its place.
    fn write_head(&mut self, op: &Op) -> fmt::Result {
        if let Some(result) = op.result {
            match self.kernel.values.get(result.index()) {
                Some(data) => write!(self.f, "{result}: {} = ", data.ty)?,
                None => write!(self.f, "{result}: _ = ")?,
            }
        }
        self.write_kind(&op.kind)
    }

    fn write_regions(&mut self, kind: &OpKind) -> fmt::Result {
        if let OpKind::If { then, otherwise, .. } = kind {
            self.f.write_str(" {")?;
            self.write_block(then)?;
            if !otherwise.0.is_empty() {
                self.f.write_str(" else {")?;
                self.write_block(otherwise)?;
            }
        }
        if let OpKind::For { body, .. } = kind {
            self.f.write_str(" {")?;
            self.write_block(body)?;
        }
        if let OpKind::While { before, condition, body } = kind {
            self.f.write_str(" {")?;
            self.write_block(before)?;
            write!(self.f, " {condition} {{")?;
            self.write_block(body)?;
        }
        Ok(())
    }

    /// Writes an operation, without its regions.
    fn write_kind(&mut self, kind: &OpKind) -> fmt::Result {
        match kind {
            OpKind::Expr(expr) => self.write_expr(expr),
            OpKind::Store(store) => self.write_store(store),
            OpKind::InBounds { index, extent, check } => {
                write!(self.f, "inbounds {index}, {extent}")?;
                match check {
                    Some(check) => write!(self.f, " of {}", quote(&check.of)),
                    None => Ok(()),
                }
            }
            OpKind::Set(slot, value) => write!(self.f, "set {slot}, {value}"),
            OpKind::Jump(jump) => self.f.write_str(jump.name()),
            OpKind::Call(call) => self.write_call(call),
            OpKind::Print(text, values) => {
                self.f.write_str("print ")?;
                self.f.write_str(&quote(text))?;
                values.iter().try_for_each(|value| write!(self.f, ", {value}"))
            }
            OpKind::Assert(Assert { condition, text, values }) => {
                write!(self.f, "assert {condition}, {}", quote(text))?;
                values.iter().try_for_each(|value| write!(self.f, ", {value}"))
            }
            OpKind::Asm(asm) => self.write_asm(asm),
            OpKind::If { condition, .. } => write!(self.f, "if {condition}"),
            OpKind::For { index, first, end, step, .. } => {
                let ty = self.kernel.values.get(index.index()).map(|data| data.ty.to_string());
                let ty = ty.unwrap_or_else(|| "_".to_string());
                write!(self.f, "for {index}: {ty} = {first} to {end} step {step}")
            }
            OpKind::While { .. } => self.f.write_str("while"),
        }
    }

    fn write_expr(&mut self, expr: &Expr) -> fmt::Result {
        match expr {
            Expr::Const(constant) => write!(self.f, "const {constant}"),
            Expr::Unary(op, value) => write!(self.f, "{} {value}", op.name()),
            Expr::Binary(op, a, b) => write!(self.f, "{} {a}, {b}", op.name()),
            Expr::Compare(op, a, b) => write!(self.f, "{} {a}, {b}", op.name()),
            Expr::Select(condition, a, b) => write!(self.f, "select {condition}, {a}, {b}"),
            Expr::Convert(value, Rounding::NearestEven) => write!(self.f, "convert {value}"),
            Expr::Convert(value, rounding) => write!(self.f, "convert {value} {}", rounding.name()),
            Expr::Bitcast(value) => write!(self.f, "bitcast {value}"),
            Expr::Vector(lanes) => write!(self.f, "vector {}", list(lanes)),
            Expr::Splat(value) => write!(self.f, "splat {value}"),
            Expr::Extract(vector, lane) => write!(self.f, "extract {vector}, {lane}"),
            Expr::Insert(vector, lane, value) => write!(self.f, "insert {vector}, {lane}, {value}"),
            Expr::Shared(shared) => shared.fmt(self.f),
            Expr::Local(local) => local.fmt(self.f),
            Expr::Offset(pointer, bytes) => write!(self.f, "offset {pointer}, {bytes}"),
            Expr::Load(load) => self.write_load(load),
            Expr::Get(slot) => write!(self.f, "get {slot}"),
        }
    }

    fn write_load(&mut self, load: &Load) -> fmt::Result {
        write!(self.f, "load {} align {}", load.pointer, load.align)?;
        self.write_qualifier(load.qualifier)?;
        match load.guard {
            Some(guard) => write!(self.f, " when {} else {}", guard.condition, guard.otherwise),
            None => Ok(()),
        }
    }

    fn write_store(&mut self, store: &Store) -> fmt::Result {
        write!(self.f, "store {}, {} align {}", store.pointer, store.value, store.align)?;
        self.write_qualifier(store.qualifier)?;
        match store.condition {
            Some(condition) => write!(self.f, " when {condition}"),
            None => Ok(()),
        }
    }

    fn write_qualifier(&mut self, qualifier: Option<Qualifier>) -> fmt::Result {
        qualifier.map_or(Ok(()), |qualifier| write!(self.f, " {}", qualifier.name()))
    }

    fn write_call(&mut self, call: &Call) -> fmt::Result {
        let operands = call.operands.iter().map(|operand| match operand {
            Operand::Value(value) => value.to_string(),
            Operand::Constant(number) => number.to_string(),
            Operand::Word(word) => word.to_string(),
            Operand::Local(local) => local.to_string(),
        });
        let operands: Vec<_> = operands.collect();
        write!(self.f, "call {}({})", call.intrinsic.name, operands.join(", "))
    }

    /// Assembly is called by its dialect.
    fn write_asm(&mut self, asm: &Asm) -> fmt::Result {
        write!(self.f, "{} {}", asm.dialect.name(), quote(&asm.text))?;
        if !asm.operands.is_empty() {
            write!(self.f, " {}", list(&asm.operands))?;
        }
        self.f.write_str(if asm.has_effects { " effects" } else { "" })?;
        for (number, slot) in asm.results.iter().enumerate() {
            write!(self.f, "{}{slot}", if number == 0 { " sets " } else { ", " })?;
        }
        Ok(())
    }

    /// Where something was written, and where the functions around it were called.
    fn write_place(&mut self, place: Place) -> fmt::Result {
        let (mut next, mut sign) = (Some(place), "  @");
        while let Some(place) = next {
            let Some(data) = self.kernel.places.get(place.index()) else { return Ok(()) };
            let Some(file) = data.file else { return Ok(()) };
            self.f.write_str(sign)?;
            match self.kernel.files.get(file.index()) {
                Some(name) if file.0 > 0 => write!(self.f, "{}:", quote(name))?,
                Some(_) | None => {}
            }
            write!(self.f, "{}:{}", data.line, data.column)?;
            // Callers were written before: a circle of them ends here.
            next = data.caller.filter(|caller| *caller < place);
            sign = " < @";
        }
        Ok(())
    }
}

fn list(values: &[Value]) -> String {
    let values: Vec<_> = values.iter().map(Value::to_string).collect();
    values.join(", ")
}

/// An operation as text, without its regions and its place.
pub(crate) fn first_line(kernel: &Kernel, op: &Op) -> String {
    struct Line<'k>(&'k Kernel, &'k Op);
    impl Display for Line<'_> {
        fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
            Printer { kernel: self.0, depth: 0, f }.write_head(self.1)
        }
    }
    Line(kernel, op).to_string()
}
