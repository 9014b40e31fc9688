// SPDX-License-Identifier: Apache-2.0
//! Makes kernels, operation by operation. What can be computed at once is: an operation on
//! constants gives a constant, and what changes nothing gives its operand. What was computed before
//! is not computed again.
//!
//! Whoever builds knows the types: an operation that its operands do not fit is found by the
//! verifier.

use crate::claims::Claims;
use crate::constant::Const;
use crate::eval;
use crate::intrinsic::{Intrinsic, Meaning};
use crate::kernel::{
    Kernel, Local, LocalArray, Param, Place, PlaceData, Shared, SharedArray, Slot, SlotData, Value,
    ValueData,
};
use crate::numbering::Numbering;
use crate::op::{
    Binary, Call, Check, Compare, Expr, Load, Op, OpKind, Operand, Region, Rounding, Store, Unary,
};
use crate::types::{Scalar, Space, Type};
use rustc_hash::FxHashMap;

/// A kernel in the making.
#[derive(Debug)]
pub struct Builder {
    kernel: Kernel,
    /// The regions that are open, the outermost first.
    open: Vec<Region>,
    pub(crate) numbering: Numbering,
    pub(crate) claims: Claims,
    /// The lanes that were taken out of vectors, each with its vector and its place there.
    extracted: FxHashMap<Value, (Value, u8)>,
    /// Products of integers with a constant, each with its other factor.
    scaled: FxHashMap<Value, (Value, Const)>,
    /// Where what is built was written.
    here: Here,
    places: FxHashMap<PlaceData, Place>,
}

/// Where what is built was written. It gets a number once something is built there: most
/// expressions have parts at which nothing is.
#[derive(Clone, Copy, Debug)]
pub struct Here {
    data: PlaceData,
    number: Option<Place>,
}

impl Builder {
    /// A kernel of that symbol, with these parameters.
    pub fn new(name: impl Into<String>, params: Vec<Param>) -> Builder {
        let values = params.iter().map(|param| ValueData { ty: param.kind.ty(), constant: None });
        let kernel = Kernel {
            name: name.into(),
            values: values.collect(),
            params,
            places: vec![PlaceData::NOWHERE],
            ..Kernel::default()
        };
        let places = FxHashMap::from_iter([(PlaceData::NOWHERE, Place::NOWHERE)]);
        let here = Here { data: PlaceData::NOWHERE, number: Some(Place::NOWHERE) };
        let mut builder = Builder {
            kernel,
            open: Vec::new(),
            numbering: Numbering::default(),
            claims: Claims::default(),
            extracted: FxHashMap::default(),
            scaled: FxHashMap::default(),
            here,
            places,
        };
        builder.open();
        builder
    }

    /// The kernel as far as it is made, but for its body.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The kernel, to set properties beside its operations.
    pub fn kernel_mut(&mut self) -> &mut Kernel {
        &mut self.kernel
    }

    /// The kernel.
    ///
    /// # Panics
    /// Where a region is still open.
    pub fn finish(mut self) -> Kernel {
        self.kernel.body = self.open.pop().expect("the body is open");
        assert!(self.open.is_empty(), "every region is closed");
        self.claims.settle(&mut self.kernel.body);
        self.kernel
    }

    /// Sets the place that operations from now on were written at. Gives where the last was.
    pub fn at(&mut self, data: PlaceData) -> Here {
        self.go_to(Here { data, number: None })
    }

    /// Goes back to a place for the operations from now on. Gives where the last was.
    pub fn go_to(&mut self, here: Here) -> Here {
        std::mem::replace(&mut self.here, here)
    }

    /// Where what is built now was written.
    pub fn here(&self) -> Here {
        self.here
    }

    /// The place where what is built now was written.
    pub fn place(&mut self) -> Place {
        let Here { data, number } = self.here;
        if let Some(place) = number {
            return place;
        }
        let next = Place(self.kernel.places.len() as u32);
        let place = *self.places.entry(data).or_insert(next);
        if place == next {
            self.kernel.places.push(data);
        }
        self.here.number = Some(place);
        place
    }

    /// A slot.
    pub fn slot(&mut self, name: impl Into<String>, ty: Type) -> Slot {
        self.kernel.slots.push(SlotData { name: name.into(), ty });
        Slot(self.kernel.slots.len() as u32 - 1)
    }

    /// An array of the block.
    pub fn shared(&mut self, array: SharedArray) -> Shared {
        self.kernel.shared.push(array);
        Shared(self.kernel.shared.len() as u32 - 1)
    }

    /// Has an array of the block lie at a multiple of so many bytes.
    pub fn align_shared(&mut self, array: Shared, align: u32) {
        let array = &mut self.kernel.shared[array.index()];
        array.align = array.align.max(align);
    }

    /// A register tensor, made here.
    pub fn local(&mut self, name: impl Into<String>, element: Scalar, count: u32) -> Local {
        let place = self.place();
        self.kernel.locals.push(LocalArray { name: name.into(), element, count, place });
        Local(self.kernel.locals.len() as u32 - 1)
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.kernel.ty(value)
    }

    /// The constant that a value is, if it is one.
    pub fn known(&self, value: Value) -> Option<Const> {
        self.kernel.constant(value)
    }

    /// The integer that a value is, where it is a constant.
    pub fn known_int(&self, value: Value) -> Option<i64> {
        self.known(value).and_then(Const::as_int)
    }

    // Values.

    /// A constant.
    pub fn constant(&mut self, constant: Const) -> Value {
        self.define(constant.scalar().into(), Expr::Const(constant))
    }

    /// An integer constant of that type.
    pub fn int(&mut self, scalar: Scalar, value: i64) -> Value {
        self.constant(Const::int(scalar, value))
    }

    /// An `int64` constant: an index.
    pub fn index(&mut self, value: i64) -> Value {
        self.int(Scalar::I64, value)
    }

    /// Computes with one number.
    pub fn unary(&mut self, op: Unary, value: Value) -> Value {
        match self.known(value) {
            Some(known) => self.constant(eval::unary(op, known)),
            None => self.define(self.ty(value), Expr::Unary(op, value)),
        }
    }

    /// Computes with two numbers of one type.
    pub fn binary(&mut self, op: Binary, left: Value, right: Value) -> Value {
        match (self.known(left), self.known(right)) {
            (Some(a), Some(b)) => self.constant(eval::binary(op, a, b)),
            (a, b) => match Self::unchanged(op, a, b) {
                Some(Side::Left) => left,
                Some(Side::Right) => right,
                None => match (op, a, b) {
                    (Binary::Mul, None, Some(factor)) => self.scale(left, factor),
                    (Binary::Mul, Some(factor), None) => self.scale(right, factor),
                    _ => self.define(self.ty(left), Expr::Binary(op, left, right)),
                },
            },
        }
    }

    /// A product with a constant. Of integers, a product of one is one of its other factor.
    fn scale(&mut self, value: Value, factor: Const) -> Value {
        let (value, factor) = match self.scaled.get(&value) {
            Some((other, first)) => (*other, eval::binary(Binary::Mul, *first, factor)),
            None => (value, factor),
        };
        let (ty, by) = (self.ty(value), self.constant(factor));
        let product = self.define(ty, Expr::Binary(Binary::Mul, value, by));
        if factor.as_int().is_some() {
            self.scaled.insert(product, (value, factor));
        }
        product
    }

    /// Which operand the result is, of integers: adding 0 and multiplying with 1 or 0.
    fn unchanged(op: Binary, left: Option<Const>, right: Option<Const>) -> Option<Side> {
        let [left, right] = [left, right].map(|side| side.and_then(Const::as_int));
        let [neutral_left, neutral_right] = neutral(op);
        let is_zero = op == Binary::Mul;
        match (left, right) {
            (Some(_), _) if left == neutral_left => Some(Side::Right),
            (_, Some(_)) if right == neutral_right => Some(Side::Left),
            (Some(0), _) if is_zero => Some(Side::Left),
            (_, Some(0)) if is_zero => Some(Side::Right),
            (_, _) => None,
        }
    }

    /// Compares two scalars of one type.
    pub fn compare(&mut self, op: Compare, left: Value, right: Value) -> Value {
        match (self.known(left), self.known(right)) {
            (Some(a), Some(b)) => self.constant(Const::bool(eval::compare(op, a, b))),
            _ => self.define(Scalar::Bool.into(), Expr::Compare(op, left, right)),
        }
    }

    /// The second where the first holds, else the third.
    pub fn select(&mut self, condition: Value, then: Value, otherwise: Value) -> Value {
        match self.known(condition).and_then(Const::as_bool) {
            Some(true) => then,
            Some(false) => otherwise,
            None => self.define(self.ty(then), Expr::Select(condition, then, otherwise)),
        }
    }

    /// The same number as another scalar, lane by lane.
    pub fn convert(&mut self, value: Value, to: Scalar, rounding: Rounding) -> Value {
        let ty = self.ty(value).with_scalar(to);
        match self.known(value) {
            _ if ty == self.ty(value) => value,
            Some(known) => self.constant(eval::convert(known, to, rounding)),
            None => self.define(ty, Expr::Convert(value, rounding)),
        }
    }

    /// The same bits as another type.
    pub fn bitcast(&mut self, value: Value, to: Type) -> Value {
        match (self.known(value), to) {
            _ if to == self.ty(value) => value,
            (Some(known), Type::Scalar(scalar)) => {
                self.constant(Const::from_bits(scalar, known.bits()))
            }
            _ => self.define(to, Expr::Bitcast(value)),
        }
    }

    /// A vector of scalars of one type; the scalar itself where it is one. The lanes of another
    /// vector, all of them in order, are that one.
    pub fn vector(&mut self, lanes: Vec<Value>) -> Value {
        if let Some(whole) = self.whole(&lanes) {
            return whole;
        }
        match (lanes.as_slice(), self.ty(lanes[0]).scalar()) {
            ([one], _) => *one,
            (_, Some(scalar)) => {
                self.define(Type::of_lanes(scalar, lanes.len() as u8), Expr::Vector(lanes))
            }
            (_, None) => unreachable!("a vector of pointers"),
        }
    }

    /// The vector whose lanes these are.
    fn whole(&self, lanes: &[Value]) -> Option<Value> {
        let (vector, _) = *self.extracted.get(lanes.first()?)?;
        let is_next = |(place, lane)| self.extracted.get(lane) == Some(&(vector, place as u8));
        let is_whole = usize::from(self.ty(vector).lanes()) == lanes.len();
        (is_whole && lanes.iter().enumerate().all(is_next)).then_some(vector)
    }

    /// A vector of one scalar.
    pub fn splat(&mut self, value: Value, lanes: u8) -> Value {
        match self.ty(value) {
            Type::Scalar(scalar) if lanes > 1 => {
                self.define(Type::Vector(scalar, lanes), Expr::Splat(value))
            }
            _ => value,
        }
    }

    /// A lane of a vector; the scalar itself where there is one.
    pub fn extract(&mut self, vector: Value, lane: u8) -> Value {
        match self.ty(vector) {
            Type::Vector(scalar, _) => {
                let value = self.define(scalar.into(), Expr::Extract(vector, lane));
                self.extracted.insert(value, (vector, lane));
                value
            }
            Type::Scalar(_) | Type::Pointer(_) => vector,
        }
    }

    /// A vector with another scalar in a lane.
    pub fn insert(&mut self, vector: Value, lane: u8, value: Value) -> Value {
        self.define(self.ty(vector), Expr::Insert(vector, lane, value))
    }

    // Memory.

    /// The address of an array of the block's.
    pub fn shared_address(&mut self, shared: Shared) -> Value {
        self.define(Type::Pointer(Space::Shared), Expr::Shared(shared))
    }

    /// The address of a register tensor.
    pub fn local_address(&mut self, local: Local) -> Value {
        self.define(Type::Pointer(Space::Local), Expr::Local(local))
    }

    /// The address so many bytes further.
    pub fn offset(&mut self, pointer: Value, bytes: Value) -> Value {
        match self.known_int(bytes) {
            Some(0) => pointer,
            _ => self.define(self.ty(pointer), Expr::Offset(pointer, bytes)),
        }
    }

    /// Loads from an address.
    pub fn load(&mut self, ty: Type, load: Load) -> Value {
        self.define(ty, Expr::Load(load))
    }

    /// Puts a value at an address.
    pub fn store(&mut self, store: Store) {
        self.push(None, OpKind::Store(store));
    }

    /// States that an index is in bounds, unless that is plain.
    pub fn in_bounds(&mut self, index: Value, extent: Value, check: Option<Check>) {
        let is_plain = match (self.known_int(index), self.known_int(extent)) {
            (Some(index), Some(extent)) => (0..extent).contains(&index),
            _ => false,
        };
        if !is_plain {
            self.push(None, OpKind::InBounds { index, extent, check });
            self.numbering.state((index, extent));
        }
    }

    /// Whether it was stated on every way to here that an index is in bounds.
    pub fn has_stated(&self, index: Value, extent: Value) -> bool {
        self.numbering.has_stated((index, extent))
    }

    /// The value in a slot.
    pub fn get(&mut self, slot: Slot) -> Value {
        self.define(self.kernel.slots[slot.index()].ty, Expr::Get(slot))
    }

    /// Makes a slot hold a value.
    pub fn set(&mut self, slot: Slot, value: Value) {
        self.push(None, OpKind::Set(slot, value));
    }

    // Control.

    /// Opens a region: what follows is in it, until it is [closed](Builder::close).
    pub fn open(&mut self) {
        self.reopen(Region::default());
    }

    /// Closes the innermost region.
    ///
    /// # Panics
    /// Where none is open but the body.
    pub fn close(&mut self) -> Region {
        assert!(self.open.len() > 1, "a region is open");
        let closed = self.open.pop().unwrap_or_default();
        self.numbering.close(closed.first_value());
        closed
    }

    /// In how many regions what follows is, the body among them.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Opens a region that was closed: what follows is behind what it has.
    pub fn reopen(&mut self, region: Region) {
        self.numbering.open();
        self.numbering.append(region.first_value());
        self.open.push(region);
    }

    /// Puts the operations of a region that was closed where things are built now.
    pub fn append(&mut self, region: Region) {
        self.numbering.append(region.first_value());
        self.open.last_mut().expect("the body is open").0.extend(region.0);
    }

    /// Whether what follows cannot be reached: the region ends with a jump.
    pub fn is_ended(&self) -> bool {
        let last = self.open.last().and_then(|region| region.0.last());
        last.is_some_and(Op::is_jump)
    }

    /// Runs one region where the condition holds, else the other.
    pub fn if_else(&mut self, condition: Value, then: Region, otherwise: Region) {
        self.push(None, OpKind::If { condition, then, otherwise });
    }

    /// The index of a loop to come, of that type.
    pub fn loop_index(&mut self, ty: Type) -> Value {
        self.new_value(ty, None)
    }

    /// An operation without a result that has no method of its own: a loop, a jump, a line for a
    /// person.
    pub fn effect(&mut self, kind: OpKind) {
        self.push(None, kind);
    }

    /// Calls a row; gives its result, if it has one.
    pub fn call(&mut self, intrinsic: &'static Intrinsic, operands: Vec<Operand>) -> Option<Value> {
        if let Some(folded) = self.fold(intrinsic, &operands) {
            return Some(self.constant(folded));
        }
        let types: Vec<_> = operands.iter().map(|operand| self.operand_type(operand)).collect();
        let kind = OpKind::Call(Call { intrinsic, operands });
        self.effect_of(intrinsic.result(&types), kind)
    }

    fn operand_type(&self, operand: &Operand) -> Option<Type> {
        match operand {
            Operand::Value(value) => Some(self.ty(*value)),
            Operand::Constant(_) | Operand::Word(_) | Operand::Local(_) => None,
        }
    }

    /// The constant that a row makes of constants, where it does no more than that.
    fn fold(&self, intrinsic: &Intrinsic, operands: &[Operand]) -> Option<Const> {
        let Meaning::Pure(meaning) = intrinsic.meaning else { return None };
        let known = operands.iter().map(|operand| match operand {
            Operand::Value(value) => self.known(*value),
            Operand::Constant(_) | Operand::Word(_) | Operand::Local(_) => None,
        });
        Some(meaning(&known.collect::<Option<Vec<_>>>()?))
    }

    fn define(&mut self, ty: Type, expr: Expr) -> Value {
        if !is_known_again(&expr) {
            return self.compute(ty, expr);
        }
        let key = (ty, expr);
        self.numbering.find(&key).unwrap_or_else(|| {
            let value = self.compute(ty, key.1.clone());
            self.numbering.note(key, value);
            value
        })
    }

    fn compute(&mut self, ty: Type, expr: Expr) -> Value {
        let constant = match expr {
            Expr::Const(constant) => Some(constant),
            _ => None,
        };
        let value = self.new_value(ty, constant);
        self.push(Some(value), OpKind::Expr(expr));
        value
    }

    /// An operation that has a result where there is a type for one.
    fn effect_of(&mut self, ty: Option<Type>, kind: OpKind) -> Option<Value> {
        let result = ty.map(|ty| self.new_value(ty, None));
        self.push(result, kind);
        result
    }

    pub(crate) fn new_value(&mut self, ty: Type, constant: Option<Const>) -> Value {
        self.kernel.values.push(ValueData { ty, constant });
        Value(self.kernel.values.len() as u32 - 1)
    }

    pub(crate) fn push(&mut self, result: Option<Value>, kind: OpKind) {
        self.claims.n_jumps += usize::from(matches!(kind, OpKind::Jump(_)));
        let op = Op { result, kind, place: self.place() };
        self.open.last_mut().expect("the body is open").0.push(op);
    }
}

/// Whether an expression that is built again is the value that it was. A choice is one of its own:
/// whoever builds may know more of one than of another.
const fn is_known_again(expr: &Expr) -> bool {
    match expr {
        Expr::Const(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Compare(..) => true,
        Expr::Convert(..) | Expr::Bitcast(_) | Expr::Splat(_) | Expr::Extract(..) => true,
        Expr::Shared(_) | Expr::Local(_) | Expr::Offset(..) => true,
        Expr::Vector(_) | Expr::Insert(..) | Expr::Select(..) => false,
        Expr::Load(_) | Expr::Get(_) => false,
    }
}

/// The integer that changes nothing as the left operand, and as the right one.
const fn neutral(op: Binary) -> [Option<i64>; 2] {
    match op {
        Binary::Add | Binary::Or | Binary::Xor => [Some(0), Some(0)],
        Binary::Sub | Binary::Shl | Binary::Shr => [None, Some(0)],
        Binary::Mul => [Some(1), Some(1)],
        Binary::FloorDiv => [None, Some(1)],
        Binary::Div | Binary::FloorMod | Binary::MulHigh => [None, None],
        Binary::Min | Binary::Max | Binary::And => [None, None],
    }
}

/// One of two operands.
enum Side {
    Left,
    Right,
}

#[cfg(test)]
mod tests;
