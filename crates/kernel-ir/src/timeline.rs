// SPDX-License-Identifier: Apache-2.0
//! Kernels that write down what they wait for, and when: where a kernel waits, and the same kernel
//! with the clock read in front of each wait and behind it.
//!
//! Such a kernel has one parameter more, its last: the address of a buffer, in units of 16 bytes.
//! The first unit is the buffer's head. The first lane of each warp takes a record, while there is
//! one, and writes into it who it is, what the clocks say as it begins and as it ends, and an
//! event for each wait. Of more events than there is room for it counts how many there were. Clocks
//! count cycles of the multiprocessor, which all warps of a block have in common; beside the two of
//! a record stands what `globaltimer` says, by which cycles become nanoseconds.
//!
//! Not here: what becomes of a buffer (`python/kernpack/_timeline.py`).

use crate::constant::Const;
use crate::intrinsic::{
    self, BulkOp, ClusterOp, CopyOp, DependentOp, Intrinsic, Level, MBARRIER_BYTES, MbarrierOp,
    Meaning, ProductOp,
};
use crate::kernel::{
    Kernel, Param, ParamKind, Place, Pointer, Shared, Size, Slot, SlotData, Value, ValueData,
};
use crate::op::{
    Binary, Call, Compare, Expr, Jump, Load, Op, OpKind, Operand, Region, Rounding, Store,
};
use crate::types::{Scalar, Space, Type};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// The name of the parameter.
pub const BUFFER: &str = "timeline";

/// The bytes of a unit, and the alignment of a buffer.
pub const UNIT: u32 = 16;

/// Where the numbers of 32 bits of a buffer's head are, in bytes.
pub mod head {
    /// How many warps have asked for a record: the device's, 0 at first.
    pub const TAKEN: i64 = 0;
    /// How many records there are.
    pub const N_RECORDS: i64 = 4;
    /// How many events each has room for.
    pub const N_EVENTS: i64 = 8;
}

/// Where the fields of a record are, in bytes. Its events are behind them, a unit each: the lower
/// 32 bits of the clock in front of the wait and behind it, the number of the wait, and that of the
/// mbarrier in its array, or of the barrier, or -1.
pub mod record {
    /// The kernel, by its [`id`](super::id): 64 bits, as the clocks.
    pub const KERNEL: i64 = 0;
    /// The block in x, y and z, and the warp in it: 32 bits each.
    pub const WARP: i64 = 8;
    /// The clock as the warp begins, and `globaltimer`.
    pub const BEGIN: i64 = 24;
    /// Both as it ends.
    pub const END: i64 = 40;
    /// How many events there were: 32 bits.
    pub const COUNT: i64 = 56;
    /// The units of a record without its events.
    pub const UNITS: i64 = 4;
}

/// A place at which a kernel waits.
#[derive(Clone, Debug)]
pub struct Wait {
    /// The row that waits.
    pub row: &'static Intrinsic,
    /// How many groups may still be in flight behind it, where it waits for groups.
    pub n_left: Option<i64>,
    /// The array with the mbarrier that is waited for, where that is plain.
    pub array: Option<Shared>,
    /// Where it was written.
    pub place: Place,
}

/// The places at which a kernel waits, in the order of its text: the number of a wait is its place
/// in this list. They are the same of a [`timed`] kernel.
pub fn waits(kernel: &Kernel) -> Vec<Wait> {
    let addresses = Addresses::of(&kernel.body);
    let mut found = Vec::new();
    kernel.body.for_each(&mut |op| match &op.kind {
        OpKind::Call(call) if is_wait(call) => found.push(addresses.wait(call, op.place)),
        _ => {}
    });
    found
}

/// Whether a thread waits there for what others do, or the device. Lanes of one warp that meet are
/// no wait: it would take longer to write it down.
fn is_wait(call: &Call) -> bool {
    match call.intrinsic.meaning {
        Meaning::Barrier => call.intrinsic.together != Level::Warp,
        Meaning::Named { waits } => waits,
        Meaning::Copy(op) => op == CopyOp::Wait,
        Meaning::Bulk(op) => matches!(op, BulkOp::Wait | BulkOp::WaitRead),
        Meaning::Mbarrier(op) => matches!(op, MbarrierOp::Wait | MbarrierOp::TryWait),
        Meaning::Cluster(op) => op == ClusterOp::Wait,
        Meaning::Dependent(op) => op == DependentOp::Wait,
        Meaning::Product(op) => op == ProductOp::Wait,
        _ => false,
    }
}

/// The number by which records know a kernel: a digest of its name and its waits.
pub fn id(kernel: &Kernel) -> u64 {
    let mut digest = FxHasher::default();
    kernel.name.hash(&mut digest);
    for wait in waits(kernel) {
        let array = wait.array.map(Shared::index);
        (wait.row.name, wait.n_left, array, kernel.place(wait.place).line).hash(&mut digest);
    }
    digest.finish()
}

/// The same kernel, which writes down what it waits for.
#[must_use]
pub fn timed(kernel: &Kernel) -> Kernel {
    let mut timer = Timer::new(kernel, id(kernel));
    let body = std::mem::take(&mut timer.kernel.body);
    let addresses = Addresses::of(&body);
    timer.begin();
    timer.region(body, &addresses);
    if !timer.ops.last().is_some_and(Op::is_jump) {
        timer.end();
    }
    Kernel { body: Region(timer.ops), ..timer.kernel }
}

/// The same kernel with the buffer as its last parameter. Values behind parameters count on by one,
/// as the first values are those of the parameters.
fn with_param(kernel: &Kernel) -> Kernel {
    let mut kernel = kernel.clone();
    let buffer = Value(kernel.params.len() as u32);
    let pointer = Pointer { element: Scalar::I32, align: UNIT, is_written: true, is_alone: true };
    let kind = ParamKind::Pointer(pointer);
    let data = ValueData { ty: kind.ty(), constant: None };
    kernel.values.insert(buffer.index(), data);
    kernel.params.push(Param { name: BUFFER.to_string(), kind });
    kernel.body.renumber(&|value| value.0 += u32::from(*value >= buffer));
    kernel
}

/// How the addresses of a kernel are computed that lead to arrays of a block.
struct Addresses(FxHashMap<Value, Address>);

#[derive(Clone, Copy)]
enum Address {
    Array(Shared),
    Behind(Value, Value),
}

impl Addresses {
    fn of(body: &Region) -> Addresses {
        let mut known = FxHashMap::default();
        body.for_each(&mut |op| {
            let address = match op.kind {
                OpKind::Expr(Expr::Shared(array)) => Some(Address::Array(array)),
                OpKind::Expr(Expr::Offset(pointer, bytes)) => Some(Address::Behind(pointer, bytes)),
                _ => None,
            };
            known.extend(op.result.zip(address));
        });
        Addresses(known)
    }

    /// The array that an address leads to, and the numbers of bytes that are added to its own.
    fn array(&self, address: Value) -> Option<(Shared, Vec<Value>)> {
        let (mut at, mut bytes) = (address, Vec::new());
        loop {
            match *self.0.get(&at)? {
                Address::Array(array) => return Some((array, bytes)),
                Address::Behind(pointer, further) => {
                    bytes.push(further);
                    at = pointer;
                }
            }
        }
    }

    fn wait(&self, call: &Call, place: Place) -> Wait {
        let n_left = call.operands.iter().find_map(|operand| match operand {
            Operand::Constant(number) => Some(*number),
            Operand::Value(_) | Operand::Word(_) | Operand::Local(_) => None,
        });
        let is_named = matches!(call.intrinsic.meaning, Meaning::Named { .. });
        let array = mbarrier(call).and_then(|address| self.array(address));
        Wait {
            row: call.intrinsic,
            n_left: n_left.filter(|_| !is_named),
            array: array.map(|(array, _)| array),
            place,
        }
    }
}

/// The mbarrier that a call waits for.
fn mbarrier(call: &Call) -> Option<Value> {
    let is_one = matches!(call.intrinsic.meaning, Meaning::Mbarrier(_));
    call.values().next().filter(|_| is_one)
}

/// A kernel to which reads of the clock are added.
struct Timer {
    kernel: Kernel,
    /// The operations of the region that is written.
    ops: Vec<Op>,
    place: Place,
    id: u64,
    buffer: Value,
    /// The unit of the next event, and one past the last; both are 0 for threads without a record.
    next: Slot,
    end: Slot,
    /// How many waits there were.
    n_waits: i64,
}

const I32: Type = Type::Scalar(Scalar::I32);
const I64: Type = Type::Scalar(Scalar::I64);

impl Timer {
    fn new(kernel: &Kernel, id: u64) -> Timer {
        let mut kernel = with_param(kernel);
        let mut slot = |name: &str| {
            kernel.slots.push(SlotData { name: name.to_string(), ty: I32 });
            Slot(kernel.slots.len() as u32 - 1)
        };
        let (next, end) = (slot("timeline.next"), slot("timeline.end"));
        let buffer = Value(kernel.params.len() as u32 - 1);
        let (ops, place) = (Vec::new(), Place::NOWHERE);
        Timer { kernel, ops, place, id, buffer, next, end, n_waits: 0 }
    }

    /// Adds to the operations of a region, and of those in it.
    fn region(&mut self, region: Region, addresses: &Addresses) {
        for mut op in region.0 {
            self.place = op.place;
            if let OpKind::Call(call) = &op.kind
                && is_wait(call)
            {
                let stage = self.stage(call, addresses);
                let begin = self.clock();
                self.ops.push(op);
                self.event(begin, stage);
                continue;
            }
            if matches!(op.kind, OpKind::Jump(Jump::Return)) {
                self.end();
            }
            for inner in op.kind.regions_mut() {
                let before = std::mem::take(&mut self.ops);
                self.region(std::mem::take(inner), addresses);
                *inner = Region(std::mem::replace(&mut self.ops, before));
            }
            self.ops.push(op);
        }
    }

    /// Takes a record, if this is the first lane of its warp and there is one.
    fn begin(&mut self) {
        let zero = self.int(Scalar::I32, 0);
        self.push(OpKind::Set(self.next, zero));
        self.push(OpKind::Set(self.end, zero));
        let lane = self.geometry("lane_idx");
        let is_first = self.compare(Compare::Eq, lane, zero);
        self.when(is_first, |timer| {
            let [n_records, n_events] =
                [head::N_RECORDS, head::N_EVENTS].map(|at| timer.load(timer.buffer, at));
            let one = timer.int(Scalar::I32, 1);
            let operands = [Operand::Value(timer.buffer), Operand::Value(one)];
            let how = ["relaxed", "gpu"].map(Operand::Word);
            let number = timer.call("atomic.add", operands.into_iter().chain(how).collect(), I32);
            let is_there = timer.compare(Compare::Lt, number, n_records);
            timer.when(is_there, |timer| timer.take(number, n_events));
        });
    }

    /// Begins the record with that number.
    fn take(&mut self, number: Value, n_events: Value) {
        let units = self.int(Scalar::I32, record::UNITS);
        let each = self.binary(Binary::Add, n_events, units);
        let behind = self.binary(Binary::Mul, number, each);
        let first = self.int(Scalar::I32, 1 + record::UNITS);
        let next = self.binary(Binary::Add, behind, first);
        let end = self.binary(Binary::Add, next, n_events);
        self.push(OpKind::Set(self.next, next));
        self.push(OpKind::Set(self.end, end));
        let record = self.record(next);
        let id = self.constant(Const::from_bits(Scalar::I64, self.id));
        self.store(record, record::KERNEL, id);
        let who = ["block_idx.x", "block_idx.y", "block_idx.z", "warp_idx"];
        for (name, at) in who.into_iter().zip((record::WARP..).step_by(4)) {
            let index = self.geometry(name);
            self.store(record, at, index);
        }
        self.clocks(record, record::BEGIN);
    }

    /// Ends the record that this thread has, if it has one.
    fn end(&mut self) {
        let (next, end) = (self.get(self.next), self.get(self.end));
        let zero = self.int(Scalar::I32, 0);
        let has_one = self.compare(Compare::Ne, end, zero);
        self.when(has_one, |timer| {
            let n_events = timer.load(timer.buffer, head::N_EVENTS);
            let first = timer.binary(Binary::Sub, end, n_events);
            let record = timer.record(first);
            let count = timer.binary(Binary::Sub, next, first);
            timer.store(record, record::COUNT, count);
            timer.clocks(record, record::END);
        });
    }

    /// Writes down a wait that is over.
    fn event(&mut self, begin: Value, stage: Value) {
        let end = self.clock();
        let number = self.int(Scalar::I32, self.n_waits);
        self.n_waits += 1;
        let (next, last) = (self.get(self.next), self.get(self.end));
        let has_room = self.compare(Compare::Lt, next, last);
        let at = self.unit(next);
        let value =
            self.expr(Type::Vector(Scalar::I32, 4), Expr::Vector(vec![begin, end, number, stage]));
        let condition = Some(has_room);
        let store = Store { pointer: at, value, align: UNIT, qualifier: None, condition };
        self.push(OpKind::Store(store));
        let one = self.int(Scalar::I32, 1);
        let next = self.binary(Binary::Add, next, one);
        self.push(OpKind::Set(self.next, next));
    }

    /// The number of the mbarrier in its array, or of the barrier, that a call waits for; else -1.
    fn stage(&mut self, call: &Call, addresses: &Addresses) -> Value {
        if let (Meaning::Named { .. }, Some(number)) =
            (call.intrinsic.meaning, call.values().next())
        {
            return number;
        }
        match mbarrier(call).and_then(|address| addresses.array(address)) {
            Some((array, bytes)) if self.has_several(array) => {
                let zero = self.int(Scalar::I64, 0);
                let sum = bytes
                    .into_iter()
                    .fold(zero, |sum, further| self.binary(Binary::Add, sum, further));
                let each = self.int(Scalar::I64, MBARRIER_BYTES.into());
                let number = self.binary(Binary::FloorDiv, sum, each);
                self.narrow(number)
            }
            _ => self.int(Scalar::I32, -1),
        }
    }

    fn has_several(&self, array: Shared) -> bool {
        self.kernel.shared[array.index()].size != Size::Bytes(MBARRIER_BYTES)
    }

    /// Writes what the clocks say.
    fn clocks(&mut self, record: Value, at: i64) {
        for (name, at) in [("clock", at), ("globaltimer", at + 8)] {
            let time = self.call(name, vec![], I64);
            self.store(record, at, time);
        }
    }

    /// The lower bits of the clock.
    fn clock(&mut self) -> Value {
        let cycles = self.call("clock", vec![], I64);
        self.narrow(cycles)
    }

    /// The record whose first event is that unit.
    fn record(&mut self, first: Value) -> Value {
        let units = self.int(Scalar::I32, record::UNITS);
        let at = self.binary(Binary::Sub, first, units);
        self.unit(at)
    }

    /// The address of a unit.
    fn unit(&mut self, number: Value) -> Value {
        let number = self.expr(I64, Expr::Convert(number, Rounding::NearestEven));
        let each = self.int(Scalar::I64, UNIT.into());
        let bytes = self.binary(Binary::Mul, number, each);
        self.expr(Type::Pointer(Space::Global), Expr::Offset(self.buffer, bytes))
    }

    fn narrow(&mut self, value: Value) -> Value {
        self.expr(I32, Expr::Convert(value, Rounding::NearestEven))
    }

    fn geometry(&mut self, name: &str) -> Value {
        let index = self.call(name, vec![], I64);
        self.narrow(index)
    }

    // Operations, one each.

    fn when(&mut self, condition: Value, write: impl FnOnce(&mut Timer)) {
        let before = std::mem::take(&mut self.ops);
        write(self);
        let then = Region(std::mem::replace(&mut self.ops, before));
        self.push(OpKind::If { condition, then, otherwise: Region::default() });
    }

    fn load(&mut self, pointer: Value, at: i64) -> Value {
        let pointer = self.behind(pointer, at);
        self.expr(I32, Expr::Load(Load { pointer, align: 4, qualifier: None, guard: None }))
    }

    fn store(&mut self, pointer: Value, at: i64, value: Value) {
        let align = self.kernel.ty(value).bytes();
        let pointer = self.behind(pointer, at);
        self.push(OpKind::Store(Store { pointer, value, align, qualifier: None, condition: None }));
    }

    fn behind(&mut self, pointer: Value, bytes: i64) -> Value {
        let bytes = self.int(Scalar::I64, bytes);
        self.expr(Type::Pointer(Space::Global), Expr::Offset(pointer, bytes))
    }

    fn get(&mut self, slot: Slot) -> Value {
        self.expr(I32, Expr::Get(slot))
    }

    fn int(&mut self, scalar: Scalar, value: i64) -> Value {
        self.constant(Const::int(scalar, value))
    }

    fn constant(&mut self, constant: Const) -> Value {
        let value = self.value(constant.scalar().into(), Some(constant));
        let op = Op {
            result: Some(value),
            kind: OpKind::Expr(Expr::Const(constant)),
            place: self.place,
        };
        self.ops.push(op);
        value
    }

    fn binary(&mut self, op: Binary, left: Value, right: Value) -> Value {
        self.expr(self.kernel.ty(left), Expr::Binary(op, left, right))
    }

    fn compare(&mut self, op: Compare, left: Value, right: Value) -> Value {
        self.expr(Scalar::Bool.into(), Expr::Compare(op, left, right))
    }

    fn call(&mut self, name: &str, operands: Vec<Operand>, ty: Type) -> Value {
        let intrinsic = intrinsic::find(name).unwrap_or_else(|| unreachable!("`{name}` is a row"));
        self.define(ty, OpKind::Call(Call { intrinsic, operands }))
    }

    fn expr(&mut self, ty: Type, expr: Expr) -> Value {
        self.define(ty, OpKind::Expr(expr))
    }

    fn define(&mut self, ty: Type, kind: OpKind) -> Value {
        let result = self.value(ty, None);
        self.ops.push(Op { result: Some(result), kind, place: self.place });
        result
    }

    fn value(&mut self, ty: Type, constant: Option<Const>) -> Value {
        self.kernel.values.push(ValueData { ty, constant });
        Value(self.kernel.values.len() as u32 - 1)
    }

    fn push(&mut self, kind: OpKind) {
        self.ops.push(Op { result: None, kind, place: self.place });
    }
}
