// SPDX-License-Identifier: Apache-2.0
//! The text of a plan: its checks in order, as a person reads them.

use super::{
    Alloc, AllocDim, Arith, AskBlocks, Compare, Device, DeviceFact, Expr, Grid, Launch, LaunchArg,
    Plan, Repeat, Status, Step, TensorMap, Value, Yielded,
};
use crate::fault::{Fault, Part};
use crate::rule::join;
use crate::tensor_map::MapChoices;
use kernpack_ffi_abi::layout::dl_tensor;
use kernpack_ffi_abi::{DType, DeviceType};
use kernpack_syntax::quote;
use std::collections::HashMap;
use std::fmt::{self, Write};

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "plan {}", self.signature)?;
        let mut printer = Printer { plan: self, names: HashMap::new(), yielded: HashMap::new() };
        let mut text = String::new();
        printer.steps(&mut text, &self.steps, 1)?;
        printer.effects(&mut text)?;
        f.write_str(&text)
    }
}

struct Printer<'p> {
    plan: &'p Plan,
    names: HashMap<Value, String>,
    /// The values inside the `when` that yields them.
    yielded: HashMap<Value, String>,
}

impl Printer<'_> {
    fn steps(&mut self, f: &mut String, steps: &[Step], depth: usize) -> fmt::Result {
        let indent = "  ".repeat(depth);
        for step in steps {
            match step {
                Step::Repeat(repeat) => self.repeat(f, repeat, depth)?,
                Step::AskDevice => writeln!(f, "{indent}ask device {}", self.device())?,
                Step::AskBlocks(asked) => {
                    writeln!(f, "{indent}ask {}", self.asked_blocks(asked))?;
                    self.name(asked.answer, &format!("max_blocks({})", asked.launch));
                }
                Step::Let(name, value) => {
                    match self.text(*value, false) {
                        text if text == *name => writeln!(f, "{indent}let {name}")?,
                        text => writeln!(f, "{indent}let {name} = {text}")?,
                    }
                    self.name(*value, name);
                }
                Step::Require(cond, fault) => {
                    let cond = self.text(*cond, false);
                    writeln!(f, "{indent}require {cond}\n{indent}  else {}", self.fault(fault))?;
                }
                Step::When(when) => {
                    writeln!(f, "{indent}when {}", self.text(when.cond, false))?;
                    let outside = self.names.clone();
                    self.steps(f, &when.steps, depth + 1)?;
                    let inner: Vec<_> = when.yields.iter().map(|y| self.inner(y.inner)).collect();
                    when.yields.iter().for_each(|yielded| self.describe(yielded));
                    self.names = outside;
                    for (yielded, inner) in when.yields.iter().zip(inner) {
                        let otherwise = self.text(yielded.otherwise, false);
                        let yielded = self.yielded(yielded.outer, inner);
                        writeln!(f, "{indent}  yield {yielded}, otherwise {otherwise}")?;
                    }
                }
            }
        }
        Ok(())
    }

    fn repeat(&mut self, f: &mut String, repeat: &Repeat, depth: usize) -> fmt::Result {
        let indent = "  ".repeat(depth);
        let count = self.text(repeat.count, false);
        writeln!(f, "{indent}repeat {count} times, {} from 0", repeat.name)?;
        for carried in &repeat.carried {
            let first = self.text(carried.first, false);
            writeln!(f, "{indent}  first {} = {first}", carried.name)?;
        }
        let outside = self.names.clone();
        self.names.insert(repeat.turn, repeat.name.clone());
        for carried in &repeat.carried {
            self.names.insert(carried.inner, carried.name.clone());
        }
        self.steps(f, &repeat.steps, depth + 1)?;
        for carried in &repeat.carried {
            let next = self.text(carried.next, false);
            writeln!(f, "{indent}  next {} = {next}", carried.name)?;
        }
        self.names = outside;
        for carried in &repeat.carried {
            self.names.insert(carried.outer, carried.name.clone());
        }
        Ok(())
    }

    /// Which device the call's is.
    fn device(&self) -> String {
        let Device { index, is_told, .. } = self.plan.device;
        let index = self.text(index, false);
        match self.plan.expr(is_told) {
            Expr::Bool(true) => index,
            Expr::Bool(false) => "that is current".to_string(),
            _ => format!("{index} where {}, else the current one", self.text(is_told, false)),
        }
    }

    /// Of which blocks it is asked how many there are at once.
    fn asked_blocks(&self, asked: &AskBlocks) -> String {
        let block = asked.block.map(|extent| self.text(extent, false)).join(", ");
        let (launch, shared) = (asked.launch, self.text(asked.shared, false));
        let cond = asked.cond.map(|cond| format!(" where {}", self.text(cond, false)));
        let cond = cond.unwrap_or_default();
        format!("max_blocks({launch}) of block [{block}], smem {shared}{cond}")
    }

    /// The name of a value inside a `when`, and whether that is a path: a name that it keeps
    /// outside.
    fn inner(&self, value: Value) -> (String, bool) {
        let text = self.text(value, false);
        let is_part = |c: char| c.is_ascii_alphanumeric() || "._[]".contains(c);
        let is_path = text.contains(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_part);
        let is_number = matches!(self.plan.expr(value), Expr::Bool(_) | Expr::Yield(..));
        let has_name = self.names.contains_key(&value) || !is_number;
        (text, is_path && has_name)
    }

    /// A yielded value.
    fn yielded(&mut self, outer: Value, (inner, is_path): (String, bool)) -> String {
        if is_path {
            self.name(outer, &inner);
            return inner;
        }
        format!("{outer:?} = {inner}")
    }

    /// Keeps what a value is inside the `when` that yields it, in words other than its name there,
    /// which may be another value's later.
    fn describe(&mut self, yielded: &Yielded) {
        let name = self.names.remove(&yielded.inner);
        let text = self.in_messages().text(yielded.inner, false);
        self.yielded.insert(yielded.outer, text);
        self.names.extend(name.map(|name| (yielded.inner, name)));
    }

    /// From here on, the name is that value's alone.
    fn name(&mut self, value: Value, name: &str) {
        self.names.retain(|_, other| other != name);
        self.names.insert(value, name.to_string());
    }

    /// The text of a check's fault.
    fn fault(&self, fault: &Fault) -> String {
        self.in_messages().message(fault)
    }

    /// As values are called in messages, where none goes by its number.
    fn in_messages(&self) -> Self {
        let mut names = self.yielded.clone();
        names.extend(self.names.clone());
        Printer { plan: self.plan, names, yielded: HashMap::new() }
    }

    fn message(&self, fault: &Fault) -> String {
        let mut text = format!("{} {}: ", fault.kind, fault.name);
        for part in &fault.parts {
            match part {
                // The signature stands in the first line of the plan: a message is shown without
                // it.
                Part::Calling => text.push_str(", expected "),
                Part::Text(piece) => text.push_str(piece),
                Part::Value(value, _) => {
                    write!(text, "{{{}}}", self.text(*value, false)).expect("writing to a string")
                }
                Part::Optional(given, value, _) => {
                    let (given, value) = (self.text(*given, false), self.text(*value, false));
                    write!(text, "{{{value} if {given}}}").expect("writing to a string")
                }
            }
        }
        text
    }

    fn effects(&mut self, f: &mut String) -> fmt::Result {
        for peer in &self.plan.peers {
            writeln!(f, "  peer {}", self.text(*peer, false))?;
        }
        for (word, allocs) in [("result", &self.plan.results), ("workspace", &self.plan.workspaces)]
        {
            for alloc in allocs {
                writeln!(f, "  {word} {}", self.alloc(alloc))?;
            }
        }
        for launch in &self.plan.launches {
            let args: Vec<_> = launch.args.iter().map(|arg| self.argument(arg)).collect();
            let when = launch.cond.map(|cond| format!(" when {}", self.text(cond, false)));
            writeln!(
                f,
                "  launch {}({}){}{}{}",
                launch.index,
                args.join(", "),
                launch.grid().map(|grid| self.grid(grid)).unwrap_or_default(),
                self.kernels(launch),
                when.unwrap_or_default()
            )?;
            if let Some(Status { value, fault }) = launch.status() {
                self.names.insert(*value, "status".to_string());
                writeln!(f, "    require status == 0\n      else {}", self.fault(fault))?;
            }
        }
        Ok(())
    }

    /// The combinations of dtypes that a launch has kernels for, where these are not all.
    fn kernels(&self, launch: &Launch) -> String {
        if self.plan.has_every_kernel(launch) {
            return String::new();
        }
        let row = |row: &[DType]| match row {
            [dtype] => dtype.to_string(),
            dtypes => format!("({})", join(dtypes)),
        };
        format!(" for {}", join(self.plan.rows_of(launch).map(row)))
    }

    fn grid(&self, grid: &Grid) -> String {
        let dims = |dims: &[Value; 3]| {
            let texts = dims.map(|dim| self.text(dim, false));
            format!("[{}]", texts.join(", "))
        };
        let mut text = format!(" on {} of {}", dims(&grid.grid), dims(&grid.block));
        if let Some(cluster) = &grid.cluster {
            text += &format!(" in clusters of {}", dims(cluster));
        }
        if *self.plan.expr(grid.shared) != Expr::Int(0) {
            text += &format!(", shared memory {}", self.text(grid.shared, false));
        }
        for flag in grid.flags.iter() {
            text += &format!(", {}", flag.word());
        }
        for (name, value) in [("priority", grid.priority), ("stream", grid.stream)] {
            if let Some(value) = value {
                text += &format!(", {name} {}", self.text(value, false));
            }
        }
        text
    }

    fn alloc(&self, alloc: &Alloc) -> String {
        let dim = |dim: &AllocDim| match *dim {
            AllocDim::One(extent) => self.text(extent, false),
            AllocDim::Many { count, start, .. } => {
                format!("{} at {}", self.text(count, true), self.text(start, true))
            }
        };
        let dims: Vec<_> = alloc.dims.iter().map(dim).collect();
        let dtype = self.text(alloc.dtype, false);
        format!("{}: [{}] of {dtype}, align {}", alloc.name, dims.join(", "), alloc.align)
    }

    fn argument(&self, arg: &LaunchArg) -> String {
        match arg {
            LaunchArg::Value(value, _) => self.text(*value, false),
            LaunchArg::Result(number) => self.plan.results[*number].name.clone(),
            LaunchArg::Workspace(number) => self.plan.workspaces[*number].name.clone(),
            LaunchArg::EnvStream => "stream".to_string(),
            LaunchArg::AssertRecord => "asserts".to_string(),
            LaunchArg::Struct(fields) => {
                let fields: Vec<_> = fields.iter().map(|field| self.argument(field)).collect();
                format!("struct({})", fields.join(", "))
            }
            LaunchArg::TensorMap(map) => self.tensor_map(map),
        }
    }

    /// A tensor map, in the driver's order.
    fn tensor_map(&self, map: &TensorMap) -> String {
        let values = |values: &[Value]| {
            let texts: Vec<_> = values.iter().map(|value| self.text(*value, false)).collect();
            texts.join(", ")
        };
        let mut text =
            format!("tma({}, type {}", self.argument(&map.base), values(&[map.data_type]));
        text += &format!(", dims [{}], strides [{}]", values(&map.dims), values(&map.strides));
        text += &format!(", box {:?}, steps {:?}", map.box_dims, map.steps);
        let MapChoices { interleave, swizzle, l2, nan } = map.choices;
        for (name, bytes) in [("interleave", interleave), ("swizzle", swizzle), ("l2", l2)] {
            if bytes != 0 {
                text += &format!(", {name} {bytes}");
            }
        }
        text + if nan { ", nan)" } else { ")" }
    }

    /// The text of a value; an operand of another operation gets parentheses.
    fn text(&self, value: Value, operand: bool) -> String {
        if let Some(name) = self.names.get(&value) {
            return name.clone();
        }
        let infix = |a: Value, op: &str, b: Value| {
            let text = format!("{} {op} {}", self.text(a, true), self.text(b, true));
            if operand { format!("({text})") } else { text }
        };
        match *self.plan.expr(value) {
            Expr::Int(int) => int.to_string(),
            Expr::Bool(truth) => truth.to_string(),
            Expr::Text(ref text) => quote(text),
            Expr::TextAt(base) => format!("text({})", self.place(base)),
            Expr::TextIs(text, ref constant) => {
                let text = format!("{} is {}", self.text(text, true), quote(constant));
                if operand { format!("({text})") } else { text }
            }
            Expr::Args => "args".to_string(),
            Expr::NumArgs => "num_args".to_string(),
            Expr::Device => "device".to_string(),
            Expr::Load(base, field) => self.load(base, field),
            Expr::Element(base, index) => match *self.plan.expr(base) {
                Expr::Device => match DeviceFact::ALL.get(index as usize) {
                    Some(fact) => fact.name().to_string(),
                    None => "max_blocks".to_string(),
                },
                Expr::Arith(Arith::Add, array, offset) if index == 0 => match self.index(offset) {
                    Some(at) => format!("{}[{}]", self.text(array, true), self.text(at, false)),
                    None => format!("{}[0]", self.text(base, true)),
                },
                _ => format!("{}[{index}]", self.text(base, true)),
            },
            Expr::Arith(op, a, b) => infix(a, op.text(), b),
            Expr::Overflows(op, a, b) => format!("overflows({})", {
                format!("{} {} {}", self.text(a, true), op.text(), self.text(b, true))
            }),
            Expr::Compare(op, a, b) => match self.constant(a, b) {
                Some(b) if operand => format!("({} {} {b})", self.text(a, true), op.text()),
                Some(b) => format!("{} {} {b}", self.text(a, true), op.text()),
                None => infix(a, op.text(), b),
            },
            Expr::And(a, b) => infix(a, "and", b),
            Expr::Or(a, b) => infix(a, "or", b),
            Expr::Not(a) => format!("not {}", self.text(a, true)),
            Expr::Select(c, a, b) => format!(
                "select({}, {}, {})",
                self.text(c, false),
                self.text(a, false),
                self.text(b, false)
            ),
            Expr::FloatBits(a) => format!("float({})", self.text(a, false)),
            Expr::Rounded(a, dtype) => format!("{dtype}({})", self.text(a, false)),
            Expr::Yield(..) | Expr::Turn(..) => format!("{value:?}"),
        }
    }

    /// The number of an element of 8 bytes that lies that far behind the first, where it is known
    /// in a call only.
    fn index(&self, offset: Value) -> Option<Value> {
        match *self.plan.expr(offset) {
            Expr::Arith(Arith::Mul, index, size) if *self.plan.expr(size) == Expr::Int(8) => {
                Some(index)
            }
            _ => None,
        }
    }

    /// The name of a constant that `value`, a field, is compared with.
    fn constant(&self, value: Value, constant: Value) -> Option<String> {
        let (Expr::Load(_, field), Expr::Int(int)) =
            (self.plan.expr(value), self.plan.expr(constant))
        else {
            return None;
        };
        match *field {
            dl_tensor::DTYPE => Some(DType::from_packed(*int as u32).to_string()),
            dl_tensor::DEVICE_TYPE => Some(DeviceType(*int as i32).to_string()),
            _ => None,
        }
    }

    /// A field of a struct; arguments print as `args[1].payload`.
    fn load(&self, base: Value, field: kernpack_ffi_abi::Field) -> String {
        format!("{}.{}", self.place(base), field.name)
    }

    /// The text of a place in memory.
    fn place(&self, base: Value) -> String {
        match *self.plan.expr(base) {
            Expr::Args => "args[0]".to_string(),
            Expr::Arith(Arith::Add, args, offset) if *self.plan.expr(args) == Expr::Args => {
                match self.plan.expr(offset) {
                    Expr::Int(bytes) => format!("args[{}]", bytes / 16),
                    _ => self.text(base, true),
                }
            }
            _ => self.text(base, true),
        }
    }
}

impl Arith {
    fn text(self) -> &'static str {
        match self {
            Arith::Add => "+",
            Arith::Sub => "-",
            Arith::Mul => "*",
            Arith::FloorDiv => "//",
            Arith::Mod => "%",
            Arith::BitAnd => "&",
        }
    }
}

impl Compare {
    fn text(self) -> &'static str {
        match self {
            Compare::Eq => "==",
            Compare::Ne => "!=",
            Compare::Lt => "<",
            Compare::Le => "<=",
        }
    }
}
