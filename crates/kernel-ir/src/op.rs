// SPDX-License-Identifier: Apache-2.0
//! Operations: what a kernel does, in order. The lists are closed: printing, parsing, verifying,
//! interpreting and lowering are exhaustive matches over them. Most operations are expressions,
//! which give a value and do nothing else; control, memory and slots are changed by the others
//! alone. What grows are the rows of [`intrinsic`](crate::intrinsic), which one operation calls.

use crate::assert_record;
use crate::constant::Const;
use crate::intrinsic::{CopyOp, Intrinsic, Meaning};
use crate::kernel::{Local, Place, Shared, Slot, Value};
use std::fmt;

/// Operations, in order. Values that are defined in a region are known in it and in those within.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Region(pub Vec<Op>);

impl Region {
    /// The first value that it defines itself, by which it can be told from others.
    pub(crate) fn first_value(&self) -> Option<Value> {
        self.0.iter().find_map(|op| op.result)
    }

    /// Visits its operations in the order of the text, each before those within it.
    pub fn for_each<'a>(&'a self, visit: &mut impl FnMut(&'a Op)) {
        for op in &self.0 {
            visit(op);
            op.kind.regions().for_each(|region| region.for_each(visit));
        }
    }

    /// Gives other numbers to the values that it defines and uses, and those within it.
    pub fn renumber(&mut self, number: &impl Fn(&mut Value)) {
        for op in &mut self.0 {
            op.result.iter_mut().for_each(number);
            op.kind.uses_mut(&mut |value| number(value));
            if let OpKind::For { index, .. } = &mut op.kind {
                number(index);
            }
            op.kind.regions_mut().for_each(|region| region.renumber(number));
        }
    }

    /// Whether one of its operations is such a one, or one within these.
    pub fn any(&self, is_one: &impl Fn(&OpKind) -> bool) -> bool {
        let is_within = |op: &Op| op.kind.regions().any(|region| region.any(is_one));
        self.0.iter().any(|op| is_one(&op.kind) || is_within(op))
    }

    /// Whether one of its calls is such a one, or one within its operations.
    pub fn any_call(&self, is_one: impl Fn(&Call) -> bool) -> bool {
        self.any(&|kind| matches!(kind, OpKind::Call(call) if is_one(call)))
    }
}

/// An operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Op {
    /// The value that it defines.
    pub result: Option<Value>,
    /// Its kind.
    pub kind: OpKind,
    /// Where the kernel's author wrote it.
    pub place: Place,
}

impl Op {
    /// Whether nothing can stand behind it in its region.
    pub const fn is_jump(&self) -> bool {
        matches!(self.kind, OpKind::Jump(_))
    }
}

/// The kind of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum OpKind {
    /// Gives a value, and does nothing else.
    Expr(Expr),
    /// Puts a value at an address.
    Store(Store),
    /// States that 0 <= index < extent, both of one integer type. It does nothing, unless it is
    /// checked; a kernel for which it does not hold is wrong, and the interpreter says so.
    InBounds {
        /// The index.
        index: Value,
        /// One past the largest.
        extent: Value,
        /// How the kernel checks it: nothing where it does not, and all rely on it.
        check: Option<Check>,
    },
    /// Makes a slot hold a value.
    Set(Slot, Value),
    /// Runs one region where the condition holds, else the other.
    If {
        /// The condition.
        condition: Value,
        /// The operations where it holds.
        then: Region,
        /// The operations where it does not.
        otherwise: Region,
    },
    /// Runs a region for `first`, `first + step`, ... as long as that is less than `end`. A step
    /// below 1 runs it not at all, and a sum that overflows ends the loop.
    For {
        /// The number, anew in each turn: of the type of the three others, an integer.
        index: Value,
        /// The first.
        first: Value,
        /// One past the last.
        end: Value,
        /// The step.
        step: Value,
        /// The operations of a turn.
        body: Region,
    },
    /// Runs a region as long as a condition holds. Values of `before` are known in `body`.
    While {
        /// Computes the condition.
        before: Region,
        /// The condition.
        condition: Value,
        /// The operations of a turn.
        body: Region,
    },
    /// Goes elsewhere.
    Jump(Jump),
    /// Calls a row of the table.
    Call(Call),
    /// Writes a line for a person: `{}` stands for the next argument.
    Print(String, Vec<Value>),
    /// States that a condition holds. Where it does not, that is told, and the thread goes on.
    Assert(Assert),
    /// Runs assembly as it is written: `{0}`, `{1}` ... stand for the results and the operands.
    Asm(Asm),
}

/// An expression, which gives a value and does nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// Gives a constant.
    Const(Const),
    /// Computes with one number, lane by lane.
    Unary(Unary, Value),
    /// Computes with two of one type, lane by lane.
    Binary(Binary, Value, Value),
    /// Compares two scalars of one type.
    Compare(Compare, Value, Value),
    /// Gives the second where the first holds, else the third.
    Select(Value, Value, Value),
    /// Gives the same number as another type, lane by lane. A number that the type has not is
    /// rounded; an integer loses what does not fit; a float beyond the range of an integer becomes
    /// the nearest one there, and NaN 0.
    Convert(Value, Rounding),
    /// Gives the same bits as another type of as many.
    Bitcast(Value),
    /// Gives a vector of scalars.
    Vector(Vec<Value>),
    /// Gives a vector of one scalar.
    Splat(Value),
    /// Gives a lane of a vector.
    Extract(Value, u8),
    /// Gives a vector with another scalar in a lane.
    Insert(Value, u8, Value),
    /// Gives the address of an array of the block's.
    Shared(Shared),
    /// Gives the address of a register tensor.
    Local(Local),
    /// Gives the address so many bytes further: a pointer and an `int64`.
    Offset(Value, Value),
    /// Gives what lies at an address.
    Load(Load),
    /// Gives what a slot holds.
    Get(Slot),
}

/// Goes elsewhere: nothing stands behind it in its region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Jump {
    /// Ends the innermost loop.
    Break,
    /// Ends this turn of the innermost loop.
    Continue,
    /// Ends the thread.
    Return,
}

/// Computes with one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// The number with the other sign; of an integer, wrapping.
    Neg,
    /// Its magnitude; of an integer, wrapping.
    Abs,
    /// Every bit, or the truth value, the other way.
    Not,
}

/// Computes with two numbers. Integers wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The product.
    Mul,
    /// The quotient of two floats.
    Div,
    /// The quotient of two integers, rounded towards minus infinity. By 0 it is 0.
    FloorDiv,
    /// The rest of that: `a - a // b * b`. By 0 it is the first number.
    FloorMod,
    /// The upper half of the product of two integers, which has twice the bits.
    MulHigh,
    /// The smaller one. Of floats the one that is no NaN, and -0 before +0.
    Min,
    /// The larger one. Of floats the one that is no NaN, and +0 before -0.
    Max,
    /// Both bits, or both truth values.
    And,
    /// Either bit.
    Or,
    /// Either bit but not both.
    Xor,
    /// Bits moved up by the second, which counts without a sign: 0 where it is the width or more.
    Shl,
    /// Bits moved down; copies of the sign come from above where the type has one.
    Shr,
}

/// Compares two numbers. With a NaN only [`Ne`](Compare::Ne) holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

impl Compare {
    /// The comparison of integers that holds where this one does not.
    #[must_use]
    pub const fn negated(self) -> Compare {
        match self {
            Compare::Eq => Compare::Ne,
            Compare::Ne => Compare::Eq,
            Compare::Lt => Compare::Ge,
            Compare::Ge => Compare::Lt,
            Compare::Le => Compare::Gt,
            Compare::Gt => Compare::Le,
        }
    }
}

/// Which number stands for one that a type has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// The nearest, ties to the even one.
    NearestEven,
    /// The next towards zero.
    Zero,
    /// The next towards minus infinity.
    Down,
    /// The next towards plus infinity.
    Up,
}

macro_rules! names {
    ($( $type:ident { $( $name:ident = $text:literal, )* } )*) => { $(
        impl $type {
            /// Every one.
            pub const ALL: &[$type] = &[ $( $type::$name, )* ];

            /// Its name in a kernel's text.
            pub const fn name(self) -> &'static str {
                match self { $( $type::$name => $text, )* }
            }

            /// The one of that name.
            pub fn parse(name: &str) -> Option<$type> {
                $type::ALL.iter().copied().find(|one| one.name() == name)
            }
        }
    )* };
}

names! {
    Dialect { Ptx = "ptx", }
    Unary { Neg = "neg", Abs = "abs", Not = "not", }
    Binary {
        Add = "add", Sub = "sub", Mul = "mul", Div = "div", FloorDiv = "floordiv",
        FloorMod = "floormod", MulHigh = "mulhigh", Min = "min", Max = "max", And = "and",
        Or = "or", Xor = "xor", Shl = "shl", Shr = "shr",
    }
    Compare { Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge", }
    Jump { Break = "break", Continue = "continue", Return = "return", }
    Qualifier { Volatile = "volatile", Stream = "stream", Keep = "keep", LastUse = "last_use", }
    Rounding { NearestEven = "nearest", Zero = "zero", Down = "down", Up = "up", }
}

/// A load from an address, as the type of the result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Load {
    /// The address.
    pub pointer: Value,
    /// The alignment of the address, in bytes.
    pub align: u32,
    /// How it is read, where that is said.
    pub qualifier: Option<Qualifier>,
    /// Where it is read at all.
    pub guard: Option<Guard>,
}

/// How memory is accessed, beyond what is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Qualifier {
    /// As often as it is written, one element at a time, in that order, and in one step for all
    /// threads: neither removed nor joined nor moved.
    Volatile,
    /// As what is likely accessed once. This and the others are hints, which change no result.
    Stream,
    /// As what is likely accessed again.
    Keep,
    /// As what is not accessed again.
    LastUse,
}

impl Qualifier {
    /// Whether it says no more than what caches had best do.
    pub const fn is_hint(self) -> bool {
        match self {
            Qualifier::Volatile => false,
            Qualifier::Stream | Qualifier::Keep | Qualifier::LastUse => true,
        }
    }
}

/// Reads only where a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// The condition.
    pub condition: Value,
    /// The result where it does not hold.
    pub otherwise: Value,
}

/// Puts a value at an address.
#[derive(Clone, Debug, PartialEq)]
pub struct Store {
    /// The address.
    pub pointer: Value,
    /// The value.
    pub value: Value,
    /// The alignment of the address, in bytes.
    pub align: u32,
    /// How it is written, where that is said.
    pub qualifier: Option<Qualifier>,
    /// Where it is written at all.
    pub condition: Option<Value>,
}

/// Calls a row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The row.
    pub intrinsic: &'static Intrinsic,
    /// Its operands.
    pub operands: Vec<Operand>,
}

/// An operand of an intrinsic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A value.
    Value(Value),
    /// A number that the code itself has.
    Constant(i64),
    /// A word: a memory order, a scope.
    Word(&'static str),
    /// A register tensor, which is read, written or both.
    Local(Local),
}

/// A deed about copies in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InFlight {
    /// Begins one.
    Begin {
        /// The address that is written.
        to: Value,
        /// The address that is read.
        from: Value,
        /// How many bytes.
        bytes: u32,
        /// Whether they are read: else they are zeros.
        given: Value,
    },
    /// Makes a group of those that have begun.
    Commit,
    /// Waits for all but so many groups.
    Wait(u32),
}

impl Call {
    /// Its operands that are values, in order.
    pub fn values(&self) -> impl Iterator<Item = Value> {
        self.operands.iter().filter_map(|operand| match operand {
            Operand::Value(value) => Some(*value),
            Operand::Constant(_) | Operand::Word(_) | Operand::Local(_) => None,
        })
    }

    /// Its operands that are words, in order.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        self.operands.iter().filter_map(|operand| match operand {
            Operand::Word(word) => Some(*word),
            Operand::Value(_) | Operand::Constant(_) | Operand::Local(_) => None,
        })
    }

    /// Its deed about copies in flight; nothing where it is a call of another kind, or has not
    /// the operands of its row.
    pub fn in_flight(&self) -> Option<InFlight> {
        let Meaning::Copy(op) = self.intrinsic.meaning else { return None };
        match (op, &self.operands[..]) {
            (
                CopyOp::Begin,
                &[
                    Operand::Value(to),
                    Operand::Value(from),
                    Operand::Constant(bytes),
                    Operand::Value(given),
                ],
            ) => Some(InFlight::Begin { to, from, bytes: bytes.try_into().ok()?, given }),
            (CopyOp::Commit, []) => Some(InFlight::Commit),
            (CopyOp::Wait, [Operand::Constant(n_left)]) => {
                Some(InFlight::Wait((*n_left).try_into().ok()?))
            }
            (CopyOp::Begin | CopyOp::Commit | CopyOp::Wait, _) => None,
        }
    }
}

/// States that a condition holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Assert {
    /// The condition.
    pub condition: Value,
    /// The message where it does not hold: `{}` stands for the next value.
    pub text: String,
    /// The values of the message.
    pub values: Vec<Value>,
}

impl Assert {
    /// The most values of a message.
    pub const MOST_VALUES: usize = assert_record::MOST_VALUES;
    /// The most bytes of a message.
    pub const MOST_BYTES: usize = 400;
}

/// Has the running kernel check a statement: where it does not hold, that is told as of an
/// assertion, and the thread goes on. So nobody relies on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The name of what the index is of.
    pub of: String,
}

impl Check {
    /// The most bytes of a name that are told.
    const MOST_NAME_BYTES: usize = 256;

    /// The message: `{}` stands for the index, then for the extent.
    pub fn text(&self) -> String {
        let end = self.of.floor_char_boundary(Check::MOST_NAME_BYTES);
        format!("index {{}} of `{}` is out of bounds: the extent is {{}}", &self.of[..end])
    }
}

/// Assembly as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Asm {
    /// The dialect of the instructions.
    pub dialect: Dialect,
    /// The instructions.
    pub text: String,
    /// The slots that it sets, `{0}` and those behind it. A vector stands for its lanes in braces.
    pub results: Vec<Slot>,
    /// The values of the numbers behind these.
    pub operands: Vec<Value>,
    /// Whether it does more than compute its results.
    pub has_effects: bool,
}

/// The dialect of assembly. Each is one target's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// NVIDIA's, for its GPUs.
    Ptx,
}

/// As a message says it: `PTX`.
impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dialect::Ptx => "PTX",
        })
    }
}
