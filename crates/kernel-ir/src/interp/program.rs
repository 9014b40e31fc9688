// SPDX-License-Identifier: Apache-2.0
//! A kernel as the interpreter runs it: one list of steps. What can be known before a launch is
//! looked up here once.

use super::clock::Reach;
use super::lifetime::Lifetimes;
use super::matrix::{Matrices, MatrixStep, Product};
use super::products::{GroupMultiply, LeftFactor, ProductStep};
use super::step::{
    self, Access, Amount, Atomic, Bounds, BoxOf, BulkCopy, BulkStep, Control, Copy, For, InBounds,
    MbarrierStep, Pc, Register, Step, param_width, width,
};
use crate::group_product::{GroupProduct, Left, Matrix, TOGETHER};
use crate::intrinsic::{
    AtomicOp, BULK_ALIGN, BulkOp, ClusterOp, Intrinsic, MATRIX_ROW_BYTES, MBARRIER_BYTES, MatrixOp,
    MbarrierOp, Meaning, ProductOp,
};
use crate::kernel::{Kernel, Place, Slot, Value};
use crate::op::{
    self, Asm, Binary, Call, Expr, InFlight, Jump, Op, OpKind, Operand, Qualifier, Region, Store,
};
use crate::types::{Scalar, Space, Type};
use std::collections::HashMap;

/// A kernel as steps.
pub(super) struct Program<'a> {
    pub kernel: &'a Kernel,
    pub steps: Vec<Step<'a>>,
    /// Where each step was written.
    pub places: Vec<Place>,
    /// How many registers a warp has.
    pub n_registers: u32,
    /// The registers that hold constants from the beginning.
    pub constants: Vec<(Register, u64)>,
    pub params: Vec<Register>,
    /// Where accesses were written, each once.
    pub sites: Vec<Place>,
}

impl<'a> Program<'a> {
    /// Whether copies of many bytes, or products of warpgroups, touch memory beside the threads.
    pub fn has_agents(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Bulk(_) | Step::Product(_)))
    }

    /// The steps of a verified kernel.
    pub fn of(kernel: &'a Kernel) -> Program<'a> {
        let mut compiler = Compiler {
            lifetimes: Lifetimes::of(kernel),
            program: Program {
                kernel,
                steps: Vec::new(),
                places: Vec::new(),
                n_registers: 0,
                constants: Vec::new(),
                params: Vec::new(),
                sites: Vec::new(),
            },
            registers: vec![Register::MAX; kernel.values.len()],
            slots: Vec::new(),
            free: vec![Vec::new(); 17],
            ending: HashMap::new(),
            constants: HashMap::new(),
            sites: HashMap::new(),
            place: Place::NOWHERE,
            position: 0,
            closing: Vec::new(),
        };
        compiler.kernel();
        compiler.program
    }
}

struct Compiler<'a> {
    lifetimes: Lifetimes,
    program: Program<'a>,
    registers: Vec<Register>,
    slots: Vec<Register>,
    /// Registers that are free again, by how many lie together.
    free: Vec<Vec<Register>>,
    /// Registers that are free behind the operation with that number.
    ending: HashMap<u32, Vec<(Register, u32)>>,
    constants: HashMap<u64, Register>,
    sites: HashMap<Place, u32>,
    place: Place,
    position: u32,
    /// For each region that is open, the steps that go to its end.
    closing: Vec<Vec<usize>>,
}

impl<'a> Compiler<'a> {
    fn kernel(&mut self) {
        let kernel = self.program.kernel;
        for (i, param) in kernel.params.iter().enumerate() {
            let register = self.new_registers(param_width(&param.kind));
            self.registers[i] = register;
            self.program.params.push(register);
        }
        for slot in &kernel.slots {
            let register = self.new_registers(width(slot.ty));
            self.slots.push(register);
        }
        self.region(&kernel.body);
        self.emit_control(Control::End);
    }

    fn region(&mut self, region: &'a Region) {
        self.closing.push(Vec::new());
        for op in &region.0 {
            self.op(op);
        }
        let close = self.here();
        for step in self.closing.pop().unwrap_or_default() {
            if let Step::Control(control) = &mut self.program.steps[step] {
                control.set_close(close);
            }
        }
    }

    fn here(&self) -> Pc {
        self.program.steps.len() as Pc
    }

    fn emit(&mut self, step: Step<'a>) -> usize {
        self.program.steps.push(step);
        self.program.places.push(self.place);
        self.program.steps.len() - 1
    }

    fn emit_control(&mut self, control: Control) -> usize {
        self.emit(Step::Control(control))
    }

    /// Emits a step that goes to the end of the region that it is in.
    fn emit_leaving(&mut self, control: Control) {
        let step = self.emit_control(control);
        if let Some(closing) = self.closing.last_mut() {
            closing.push(step);
        }
    }

    fn op(&mut self, op: &'a Op) {
        self.place = op.place;
        self.position += 1;
        match &op.kind {
            OpKind::If { condition, then, otherwise } => self.if_else(*condition, then, otherwise),
            OpKind::For { index, first, end, step, body } => {
                self.for_loop(*index, [*first, *end, *step], body);
            }
            OpKind::While { before, condition, body } => {
                self.while_loop(before, *condition, body);
            }
            OpKind::Jump(jump) => self.emit_leaving(match jump {
                Jump::Break => Control::Break { close: 0 },
                Jump::Continue => Control::Continue { close: 0 },
                Jump::Return => Control::Return { close: 0 },
            }),
            OpKind::Set(slot, value) => self.set(*slot, *value),
            OpKind::Store(store) => self.store(store),
            OpKind::InBounds { index, extent, check } => {
                let scalar = self.scalar(*index);
                let (index, extent, check) = (self.of(*index), self.of(*extent), check.as_ref());
                self.emit(Step::InBounds(InBounds { scalar, index, extent, check }));
            }
            OpKind::Call(call) => self.call(call, op.result),
            OpKind::Asm(asm) => self.asm(asm),
            OpKind::Print(format, values) => {
                let values = values.iter().map(|value| (self.ty(*value), self.of(*value)));
                let values = values.collect();
                self.emit(Step::Print { format, values });
            }
            OpKind::Assert(assert) => self.assert(assert),
            OpKind::Expr(expr) => {
                if let Some(result) = op.result {
                    self.expr(expr, result);
                }
            }
        }
        self.release();
    }

    fn assert(&mut self, assert: &'a op::Assert) {
        let values = assert.values.iter().map(|value| (self.ty(*value), self.of(*value)));
        let values = values.collect();
        let condition = self.of(assert.condition);
        let assert = step::Assert { condition, format: &assert.text, values };
        self.emit(Step::Assert(Box::new(assert)));
    }

    /// Frees what was needed up to here.
    fn release(&mut self) {
        for (register, width) in self.ending.remove(&self.position).unwrap_or_default() {
            self.free[width as usize].push(register);
        }
    }

    fn if_else(&mut self, condition: Value, then: &'a Region, otherwise: &'a Region) {
        let place = self.place;
        let condition = self.of(condition);
        let branch = self.emit_control(Control::If { condition, otherwise: 0 });
        self.release();
        self.region(then);
        self.place = place;
        let middle = self.emit_control(Control::Else { end: 0 });
        self.region(otherwise);
        self.position += 1;
        self.place = place;
        let end = self.here();
        let otherwise = middle as Pc;
        self.program.steps[branch] = Step::Control(Control::If { condition, otherwise });
        self.program.steps[middle] = Step::Control(Control::Else { end });
        self.emit_leaving(Control::EndIf { close: 0 });
    }

    fn for_loop(&mut self, index: Value, bounds: [Value; 3], body: &'a Region) {
        let place = self.place;
        let scalar = self.scalar(index);
        let [first, end, step] = bounds.map(|bound| self.of(bound));
        let index = self.define(index);
        let bounds = Bounds { scalar, index, end, step };
        let start = self.emit_control(Control::For(For { bounds, first, exit: 0 }));
        self.release();
        let body_pc = self.here();
        self.region(body);
        self.place = place;
        self.emit_control(Control::ForNext { bounds, body: body_pc });
        self.position += 1;
        let exit = self.here();
        self.program.steps[start] = Step::Control(Control::For(For { bounds, first, exit }));
        self.emit_leaving(Control::EndLoop { close: 0 });
    }

    fn while_loop(&mut self, before: &'a Region, condition: Value, body: &'a Region) {
        let place = self.place;
        self.emit_control(Control::While);
        self.release();
        let before_pc = self.here();
        self.region(before);
        self.place = place;
        let condition = self.of(condition);
        let test = self.emit_control(Control::WhileTest { condition, exit: 0 });
        self.region(body);
        self.place = place;
        self.emit_control(Control::WhileNext { before: before_pc });
        self.position += 1;
        let exit = self.here();
        self.program.steps[test] = Step::Control(Control::WhileTest { condition, exit });
        self.emit_leaving(Control::EndLoop { close: 0 });
    }

    fn expr(&mut self, expr: &Expr, result: Value) {
        let ty = self.ty(result);
        let count = width(ty);
        if let Expr::Const(constant) = expr {
            self.registers[result.index()] = self.filled(constant.bits());
            return;
        }
        let out = self.define(result);
        let step = match expr {
            // Its register is filled from the beginning.
            Expr::Const(_) => return,
            Expr::Unary(op, x) => {
                Step::Unary { op: *op, scalar: self.scalar(*x), x: self.of(*x), out, count }
            }
            Expr::Binary(op, a, b) => {
                let (scalar, a, b) = (self.scalar(*a), self.of(*a), self.of(*b));
                Step::Binary { op: *op, scalar, a, b, out, count }
            }
            Expr::Compare(op, a, b) => {
                let (scalar, a, b) = (self.scalar(*a), self.of(*a), self.of(*b));
                Step::Compare { op: *op, scalar, a, b, out }
            }
            Expr::Select(condition, then, otherwise) => {
                let [condition, then, otherwise] =
                    [condition, then, otherwise].map(|value| self.of(*value));
                Step::Select { condition, then, otherwise, out, count }
            }
            Expr::Convert(x, how) => {
                let (from, to) = (self.scalar(*x), self.scalar(result));
                Step::Convert { from, to, how: *how, x: self.of(*x), out, count }
            }
            Expr::Bitcast(x) => Step::Bitcast { from: self.ty(*x), to: ty, x: self.of(*x), out },
            Expr::Offset(pointer, bytes) => {
                Step::Offset { pointer: self.of(*pointer), bytes: self.of(*bytes), out }
            }
            Expr::Load(load) if load.qualifier == Some(Qualifier::Volatile) => {
                let guard =
                    load.guard.map(|it| (self.of(it.condition), Some(self.of(it.otherwise))));
                let access = self.access(load.pointer, ty, load.align);
                volatile(AtomicOp::Load, access, guard, 0, Some(out))
            }
            Expr::Load(load) => Step::Load {
                access: self.access(load.pointer, ty, load.align),
                out,
                guard: load.guard.map(|guard| (self.of(guard.condition), self.of(guard.otherwise))),
            },
            Expr::Shared(shared) => Step::Shared { array: shared.0, out },
            Expr::Local(local) => Step::Local { local: local.0, out },
            Expr::Vector(values) => {
                Step::Copy { from: values.iter().map(|value| self.of(*value)).collect(), out }
            }
            Expr::Splat(value) => Step::Copy { from: vec![self.of(*value); count as usize], out },
            Expr::Extract(vector, lane) => {
                Step::Copy { from: vec![self.of(*vector) + u32::from(*lane)], out }
            }
            Expr::Insert(vector, lane, value) => {
                let mut from = row_of(self.of(*vector), count);
                from[usize::from(*lane)] = self.of(*value);
                Step::Copy { from, out }
            }
            Expr::Get(slot) => Step::Copy { from: row_of(self.slot(*slot), count), out },
        };
        self.emit(step);
    }

    fn set(&mut self, slot: Slot, value: Value) {
        let count = width(self.ty(value));
        self.emit(Step::Set { slot: self.slot(slot), value: self.of(value), count });
    }

    fn store(&mut self, store: &Store) {
        let access = self.access(store.pointer, self.ty(store.value), store.align);
        let (value, condition) = (self.of(store.value), store.condition.map(|it| self.of(it)));
        self.emit(match store.qualifier {
            Some(Qualifier::Volatile) => {
                let guard = condition.map(|condition| (condition, None));
                volatile(AtomicOp::Store, access, guard, value, None)
            }
            Some(Qualifier::Stream | Qualifier::Keep | Qualifier::LastUse) | None => {
                Step::Store { access, value, condition }
            }
        });
    }

    fn asm(&mut self, asm: &Asm) {
        let (dialect, shown) = (asm.dialect, asm.text.lines().next().unwrap_or_default());
        self.emit(Step::Unsupported(format!(
            "the interpreter cannot run {dialect} without a model: `{shown}`"
        )));
    }

    fn call(&mut self, call: &'a Call, result: Option<Value>) {
        let row = call.intrinsic;
        let out = result.map(|result| self.define(result));
        let operands = self.operands(call);
        let step = match (row.meaning, out, operands.first()) {
            (Meaning::Pure(meaning), Some(out), _) => Step::Pure { meaning, operands, out },
            (Meaning::Approximate(meaning), Some(out), _) => {
                Step::Approximate { meaning, operands, out }
            }
            (Meaning::Geometry(geometry), Some(out), _) => Step::Geometry { geometry, out },
            (Meaning::Warp(op), Some(out), Some(&value)) => {
                let by = operands.get(1).copied().unwrap_or(value);
                Step::Exchange { op, row, value, by, out }
            }
            (Meaning::Matrix(op), out, _) => self.matrix(op, call, &operands, out),
            (Meaning::Interpreted, Some(out), _) => Step::Copy { from: vec![self.filled(1)], out },
            (Meaning::Barrier, _, _) => Step::Barrier(row.together),
            (Meaning::Fence, _, _) => Step::Fence { reach: reach(call) },
            (Meaning::Atomic(op), _, _) => self.atomic(op, call, &operands, result, out),
            (Meaning::Prefetch, _, _) => self.prefetch(call),
            (Meaning::Copy(_), _, _) => self.copy(call),
            (Meaning::Named { waits }, _, _) => self.named(call, waits),
            (Meaning::Timer(_), Some(out), _) => Step::Timer { out },
            (Meaning::Cluster(op), out, _) => self.cluster(op, call, out),
            (Meaning::Bulk(op), _, _) => self.bulk(op, call),
            (Meaning::Mbarrier(op), out, _) => self.mbarrier(op, call, &operands, out),
            (Meaning::Dependent(op), _, _) => Step::Dependent(op),
            (Meaning::Product(op), _, _) => self.product(op, call),
            // How many registers threads have makes no difference to what they compute.
            (Meaning::Registers { .. }, _, _) => return,
            (Meaning::Expand(_), _, _)
            | (
                Meaning::Pure(_)
                | Meaning::Approximate(_)
                | Meaning::Geometry(_)
                | Meaning::Timer(_)
                | Meaning::Interpreted,
                None,
                _,
            )
            | (Meaning::Warp(_), _, _) => unknown(row),
        };
        self.emit(step);
    }

    fn matrix(
        &mut self,
        op: MatrixOp,
        call: &Call,
        numbers: &[(Scalar, Register)],
        out: Option<Register>,
    ) -> Step<'a> {
        let row = call.intrinsic;
        Step::Matrix(Box::new(match (op, numbers, &call.operands[..], out) {
            (MatrixOp::Multiply, &[a, b, c], _, Some(out)) => {
                MatrixStep::Multiply(Product { row, a, b, c, out })
            }
            (MatrixOp::Load, [], &[Operand::Value(pointer), _], Some(parts)) => {
                MatrixStep::Load(self.matrices(call, pointer, parts))
            }
            (MatrixOp::Store, &[(_, parts)], &[Operand::Value(pointer), _, _], _) => {
                MatrixStep::Store(self.matrices(call, pointer, parts))
            }
            _ => return unknown(row),
        }))
    }

    /// Matrices of which the lanes have their parts there.
    fn matrices(&mut self, call: &Call, pointer: Value, parts: Register) -> Matrices {
        let row = call.intrinsic;
        let numbers_of_row = MATRIX_ROW_BYTES / Scalar::U16.bytes();
        let of_row = Type::of_lanes(Scalar::U16, numbers_of_row as u8);
        Matrices {
            row,
            access: self.access(pointer, of_row, MATRIX_ROW_BYTES),
            numbers: self.new_registers(numbers_of_row),
            count: row.n_matrices(),
            by_columns: word(call, 1) == "columns",
            parts,
        }
    }

    fn atomic(
        &mut self,
        op: AtomicOp,
        call: &Call,
        values: &[(Scalar, Register)],
        result: Option<Value>,
        out: Option<Register>,
    ) -> Step<'a> {
        let Some(Operand::Value(pointer)) = call.operands.first() else {
            return unknown(call.intrinsic);
        };
        let scalar = values.first().map(|value| value.0).or(result.map(|value| self.scalar(value)));
        let Some(scalar) = scalar else { return unknown(call.intrinsic) };
        let register = |place: usize| values.get(place).map_or(0, |value| value.1);
        let (value, replacement) = (register(0), register(1));
        let order = word(call, 2);
        Step::Atomic(Box::new(Atomic {
            access: self.access(*pointer, scalar.into(), scalar.bytes()),
            op,
            guard: None,
            value,
            replacement,
            is_acquire: matches!(order, "acquire" | "acq_rel"),
            is_release: matches!(order, "release" | "acq_rel"),
            reach: reach(call),
            out,
        }))
    }

    fn prefetch(&mut self, call: &Call) -> Step<'a> {
        match call.operands.first() {
            Some(Operand::Value(pointer)) => {
                Step::Prefetch(self.access(*pointer, Scalar::U8.into(), 1))
            }
            _ => unknown(call.intrinsic),
        }
    }

    fn copy(&mut self, call: &Call) -> Step<'a> {
        match call.in_flight() {
            Some(InFlight::Begin { to, from, bytes, given }) => {
                let of = Type::of_lanes(Scalar::U32, (bytes / 4) as u8);
                let [to, from] = [to, from].map(|pointer| self.access(pointer, of, bytes));
                Step::BeginCopies(Box::new(Copy { to, from, given: self.of(given) }))
            }
            Some(InFlight::Commit) => Step::CommitCopies,
            Some(InFlight::Wait(n_left)) => Step::WaitForCopies(n_left as usize),
            None => unknown(call.intrinsic),
        }
    }

    fn product(&mut self, op: ProductOp, call: &Call) -> Step<'a> {
        let step = match (op, &call.operands[..]) {
            (ProductOp::Fence, _) => ProductStep::Fence,
            (ProductOp::Multiply, _) => match GroupProduct::of(call) {
                Some(product) => ProductStep::Begin(Box::new(self.group_multiply(call, &product))),
                None => return unknown(call.intrinsic),
            },
            (ProductOp::Commit, _) => ProductStep::Commit,
            (ProductOp::Wait, [Operand::Constant(n_left)]) => ProductStep::Wait(*n_left as u64),
            (ProductOp::Wait, _) => return unknown(call.intrinsic),
        };
        Step::Product(step)
    }

    fn group_multiply(&mut self, call: &Call, product: &GroupProduct) -> GroupMultiply {
        let GroupProduct { sums, factor, n, accumulate, .. } = *product;
        let mut at = |matrix: Matrix| {
            (self.access(matrix.pointer, Scalar::U8.into(), TOGETHER), matrix.lies)
        };
        let a = match product.a {
            Left::Registers(elements) => LeftFactor::Registers(elements),
            Left::Shared(matrix) => LeftFactor::Shared(at(matrix)),
        };
        let b = at(product.b);
        let accumulate = self.of(accumulate);
        GroupMultiply { row: call.intrinsic, sums, a, b, accumulate, factor, n }
    }

    fn named(&self, call: &Call, waits: bool) -> Step<'a> {
        match call.operands[..] {
            [Operand::Value(number), Operand::Constant(n_threads)] => {
                Step::Named { number: self.of(number), n_threads: n_threads as u32, waits }
            }
            _ => unknown(call.intrinsic),
        }
    }

    fn cluster(&self, op: ClusterOp, call: &Call, out: Option<Register>) -> Step<'a> {
        match (op, &call.operands[..], out) {
            (ClusterOp::Arrive, _, _) => Step::Arrive { is_release: word(call, 1) == "release" },
            (ClusterOp::Wait, _, _) => Step::Meet,
            (ClusterOp::Map, &[Operand::Value(pointer), Operand::Value(rank)], Some(out)) => {
                Step::Map { pointer: self.of(pointer), rank: self.of(rank), out }
            }
            (ClusterOp::Map, _, _) => unknown(call.intrinsic),
        }
    }

    fn mbarrier(
        &mut self,
        op: MbarrierOp,
        call: &Call,
        numbers: &[(Scalar, Register)],
        out: Option<Register>,
    ) -> Step<'a> {
        let Some(Operand::Value(pointer)) = call.operands.first() else {
            return unknown(call.intrinsic);
        };
        let access = self.access(*pointer, Scalar::U64.into(), MBARRIER_BYTES);
        let number = numbers.first().map_or(0, |number| number.1);
        Step::Mbarrier(Box::new(MbarrierStep { op, access, number, out }))
    }

    fn bulk(&mut self, op: BulkOp, call: &Call) -> Step<'a> {
        match (op, &call.operands[..]) {
            (
                BulkOp::Copy | BulkOp::Store,
                [Operand::Value(to), Operand::Value(from), Operand::Value(bytes), rest @ ..],
            ) => {
                let of = Scalar::U8.into();
                let [to, from] = [to, from].map(|pointer| self.access(*pointer, of, BULK_ALIGN));
                let barrier = rest.first().and_then(|operand| match operand {
                    Operand::Value(pointer) => Some(*pointer),
                    Operand::Constant(_) | Operand::Word(_) | Operand::Local(_) => None,
                });
                let barrier =
                    barrier.map(|pointer| self.access(pointer, Scalar::U64.into(), MBARRIER_BYTES));
                let amount = Amount::Bytes(self.of(*bytes));
                let (blocks, reduction) = (None, None);
                let copy = BulkCopy { to, from, amount, barrier, blocks, reduction };
                Step::Bulk(BulkStep::Begin(Box::new(copy)))
            }
            (BulkOp::LoadBox | BulkOp::MulticastBox | BulkOp::StoreBox | BulkOp::ReduceBox, _) => {
                self.box_copy(op, call)
            }
            // What is fetched is seen nowhere, and a box may lie outside.
            (BulkOp::PrefetchBox, _) => Step::Bulk(BulkStep::Prefetch),
            (BulkOp::Commit, _) => Step::Bulk(BulkStep::Commit),
            (BulkOp::Wait | BulkOp::WaitRead, [Operand::Constant(n_left)]) => {
                let only_reads = op == BulkOp::WaitRead;
                Step::Bulk(BulkStep::Wait { n_left: *n_left as usize, only_reads })
            }
            (BulkOp::Fence, _) => Step::Bulk(BulkStep::Fence { is_of_shared: false }),
            (BulkOp::FenceShared, _) => Step::Bulk(BulkStep::Fence { is_of_shared: true }),
            _ => unknown(call.intrinsic),
        }
    }

    fn box_copy(&mut self, op: BulkOp, call: &Call) -> Step<'a> {
        let Some((param, map)) = self.program.kernel.map_of(call) else {
            return unknown(call.intrinsic);
        };
        let (values, map): (Vec<_>, _) = (call.values().collect(), *map);
        let (shared, barrier, blocks, at) = match (op, &values[..]) {
            (BulkOp::LoadBox, [shared, _, barrier, at @ ..]) => (*shared, Some(*barrier), None, at),
            (BulkOp::MulticastBox, [shared, _, barrier, blocks, at @ ..]) => {
                (*shared, Some(*barrier), Some(self.of(*blocks)), at)
            }
            (BulkOp::StoreBox | BulkOp::ReduceBox, [_, shared, at @ ..]) => {
                (*shared, None, None, at)
            }
            _ => return unknown(call.intrinsic),
        };
        let mut words = call.words();
        let reduction = words.find_map(|word| Some((Binary::parse(word)?, map.element)));
        let argument = self.of(param);
        let at = at.iter().map(|at| self.of(*at)).collect();
        let amount = Amount::Box(BoxOf { map, argument, at });
        let mapped = self.access(param, Scalar::U8.into(), 1);
        let mapped = Access { space: Space::Global, ..mapped };
        let shared = self.access(shared, Scalar::U8.into(), map.box_align());
        let barrier =
            barrier.map(|pointer| self.access(pointer, Scalar::U64.into(), MBARRIER_BYTES));
        let (to, from) = if barrier.is_some() { (shared, mapped) } else { (mapped, shared) };
        let copy = BulkCopy { to, from, amount, barrier, blocks, reduction };
        Step::Bulk(BulkStep::Begin(Box::new(copy)))
    }

    /// The numbers that a row is given: no pointers and words.
    fn operands(&mut self, call: &Call) -> Vec<(Scalar, Register)> {
        let values = call.operands.iter().filter_map(|operand| match operand {
            Operand::Value(value) => Some((self.ty(*value).scalar()?, self.of(*value))),
            Operand::Constant(number) => Some((Scalar::I64, self.filled(*number as u64))),
            Operand::Word(_) | Operand::Local(_) => None,
        });
        values.collect()
    }

    fn access(&mut self, pointer: Value, ty: Type, align: u32) -> Access {
        let Type::Pointer(space) = self.ty(pointer) else {
            unreachable!("an access through a number");
        };
        let Some(scalar) = ty.scalar() else { unreachable!("a pointer in memory") };
        let next = self.sites.len() as u32;
        let site = *self.sites.entry(self.place).or_insert(next);
        if site == next {
            self.program.sites.push(self.place);
        }
        let count = u32::from(ty.lanes());
        Access { space, pointer: self.of(pointer), scalar, count, align, site }
    }

    // Registers.

    /// The register that holds this number from the beginning.
    fn filled(&mut self, bits: u64) -> Register {
        if let Some(register) = self.constants.get(&bits) {
            return *register;
        }
        let register = self.new_registers(1);
        self.constants.insert(bits, register);
        self.program.constants.push((register, bits));
        register
    }

    fn define(&mut self, value: Value) -> Register {
        let width = width(self.ty(value));
        let register = match self.free[width as usize].pop() {
            Some(register) => register,
            None => self.new_registers(width),
        };
        self.registers[value.index()] = register;
        let last_use = self.lifetimes.last_use[value.index()];
        self.ending.entry(last_use).or_default().push((register, width));
        register
    }

    fn new_registers(&mut self, count: u32) -> Register {
        self.program.n_registers += count;
        self.program.n_registers - count
    }

    fn of(&self, value: Value) -> Register {
        self.registers[value.index()]
    }

    fn slot(&self, slot: Slot) -> Register {
        self.slots[slot.index()]
    }

    fn ty(&self, value: Value) -> Type {
        self.program.kernel.ty(value)
    }

    fn scalar(&self, value: Value) -> Scalar {
        self.ty(value).scalar().unwrap_or_else(|| unreachable!("a number that is a pointer"))
    }
}

/// A load or store in one step for all threads of all devices, which orders nothing.
fn volatile<'a>(
    op: AtomicOp,
    access: Access,
    guard: Option<(Register, Option<Register>)>,
    value: Register,
    out: Option<Register>,
) -> Step<'a> {
    Step::Atomic(Box::new(Atomic {
        access,
        op,
        guard,
        value,
        replacement: value,
        is_acquire: false,
        is_release: false,
        reach: Reach::System,
        out,
    }))
}

fn row_of(first: Register, count: u32) -> Vec<Register> {
    (first..first + count).collect()
}

fn unknown<'a>(row: &Intrinsic) -> Step<'a> {
    Step::Unsupported(format!("the interpreter cannot run `{}`", row.name))
}

/// The first, second ... word that a row is given, from the end: `place` 1 is the last.
fn word(call: &Call, place: usize) -> &'static str {
    let at = call.operands.len().checked_sub(place).and_then(|at| call.operands.get(at));
    match at {
        Some(Operand::Word(word)) => word,
        Some(Operand::Value(_) | Operand::Constant(_) | Operand::Local(_)) | None => "",
    }
}

/// The threads that the scope of an operation has.
fn reach(call: &Call) -> Reach {
    match word(call, 1) {
        "sys" => Reach::System,
        "gpu" => Reach::Grid,
        "cluster" => Reach::Cluster,
        _ => Reach::Block,
    }
}
