// SPDX-License-Identifier: Apache-2.0
//! Plans: a signature's checks as data.
//!
//! A plan is a list of steps over pure expressions. There are five forms of step:
//!
//! ```text
//! let a = args[0].payload + select(args[0].type_index == 70, 24, 0)      names a value
//! require a.ndim == 1                                                     else fault tensor-rank (a.ndim)
//! when a.strides != 0                                                     steps of its own, and values that are
//!   require a.strides[0] == 1 or a.shape[0] == 1 or a.shape[0] == 0       something else where it does not hold
//! repeat a.ndim times, i from 0                                           steps for each dim of a tensor of any rank
//!   require 0 <= a.shape[i]
//! ask device a.device_id                                                  finds out about a GPU, for what launches say of it
//! ```
//!
//! A `repeat` is the only loop, and it is bounded: it ends after at most [`MOST_TURNS`] turns,
//! whatever its count. Where a rank is known, its dims are steps of their own. Every expression is
//! a 64-bit integer (a pointer, a float's bits), a bool or a text, and has no effects, so *when* it
//! is evaluated matters only for loads: a load may be evaluated only where the steps before it have
//! made it safe, which is why an expression is evaluated where a step first needs it and never
//! earlier.
//!
//! A step that fails ends the call with its [`Fault`]. A plan that runs to its end accepts the
//! call, and what follows is described by values of the plan too: [`Alloc`]s (results, workspaces)
//! and [`Launch`]es with their arguments.
//!
//! The plan is built by [`Builder`] (which interns and folds), [verified](Plan::verify), printed by
//! `Display`, run by [`interpret`], lowered by the compiler, and written out by it for the runtime
//! to replay: exhaustive matches, and no other place that knows the steps. Parameter kinds and
//! checks only ever append.

mod builder;
mod interp;
mod launch;
mod print;
mod tensor_map;
mod verify;

pub use builder::{Builder, Guarded, Turn};
/// The value of the float of `dtype` that is nearest to a float64.
pub(crate) fn nearest(value: f64, dtype: DType) -> f64 {
    f64::from_bits(interp::rounded(value.to_bits() as i64, dtype) as u64)
}

pub use interp::{
    Accepted, BlocksAsked, Kernels, LaidOut, Outcome, Refused, interpret, interpret_with,
};
pub use launch::{
    ALLOCATED_ALIGN, Alloc, AllocDim, CScalar, Grid, Launch, LaunchArg, Site, Status,
};
pub use tensor_map::TensorMap;
pub use verify::{MAX_PARTS, MAX_VALUES, VerifyError};

use crate::fault::Fault;
use kernpack_ffi_abi::{DType, Field};
use std::fmt;
use std::sync::Arc;

/// An expression of the plan, by number. Prints as `v7`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub u32);

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A 64-bit integer, a pointer, or the bits of a float64.
    Int,
    /// True or false.
    Bool,
    /// The contents of a string. Nothing computes with a text: it is compared, and shown.
    Text,
}

/// A pure operation on two integers with an integer result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arith {
    /// Wrapping addition.
    Add,
    /// Wrapping subtraction.
    Sub,
    /// Wrapping multiplication.
    Mul,
    /// Division rounded towards minus infinity; 0 where the divisor is not positive.
    FloorDiv,
    /// Its remainder; 0 where the divisor is not positive.
    Mod,
    /// Bitwise and.
    BitAnd,
}

/// A comparison of two signed integers.
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
}

/// A pure expression. Operands have smaller numbers than the expression they stand in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// An integer constant.
    Int(i64),
    /// A truth constant.
    Bool(bool),
    /// A constant text, without a NUL.
    Text(Arc<str>),
    /// The address of the arguments: an array of `TVMFFIAny`.
    Args,
    /// The number of arguments.
    NumArgs,
    /// The address of what is known of the call's device, once a step has asked: an integer for
    /// each [`DeviceFact`], and behind them one for each [`Step::AskBlocks`].
    Device,
    /// The field of the struct at an address.
    Load(Value, Field),
    /// The 64-bit integer at an address plus 8 times the index.
    Element(Value, u32),
    /// The text of the `TVMFFIAny` at an address: what the string says that it holds; of anything
    /// else, nothing.
    TextAt(Value),
    /// Whether a text has these bytes, and no others.
    TextIs(Value, Arc<str>),
    /// Integer arithmetic.
    Arith(Arith, Value, Value),
    /// Whether an addition, subtraction or multiplication overflows.
    Overflows(Arith, Value, Value),
    /// An integer comparison.
    Compare(Compare, Value, Value),
    /// Both hold. The second is evaluated only where the first holds.
    And(Value, Value),
    /// One holds. The second is evaluated only where the first does not.
    Or(Value, Value),
    /// The opposite.
    Not(Value),
    /// The second operand where the first holds, else the third. All are evaluated.
    Select(Value, Value, Value),
    /// The bits of the float64 nearest to an integer.
    FloatBits(Value),
    /// The bits of the float64 that has the value of the nearest float of a narrower dtype:
    /// `float16`, `bfloat16` or `float32`.
    Rounded(Value, DType),
    /// A value that a `when` or a `repeat` yields, or the status of a host function; only that step
    /// or launch may list it.
    Yield(Type, u32),
    /// A value that a `repeat` gives anew in each turn: the turn's number, or what the turn before
    /// handed on. Only that step may list it.
    Turn(Type, u32),
}

/// The most turns of a [`Repeat`]: as many dims as a tensor may have.
pub const MOST_TURNS: i64 = 64;

/// The attributes of the call's device that launches may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceFact {
    /// How many multiprocessors it has.
    SmCount,
    /// How many bytes of shared memory a block may have, static and dynamic.
    SmemOptin,
    /// Its compute capability: 90 for 9.0.
    Cc,
}

impl DeviceFact {
    /// Each, in the order in which they lie behind [`Expr::Device`].
    pub const ALL: [DeviceFact; 3] = [DeviceFact::SmCount, DeviceFact::SmemOptin, DeviceFact::Cc];

    /// The fact of that name in expressions.
    pub fn named(name: &str) -> Option<DeviceFact> {
        DeviceFact::ALL.into_iter().find(|fact| fact.name() == name)
    }

    /// Its name in expressions.
    pub fn name(self) -> &'static str {
        match self {
            DeviceFact::SmCount => "device.sm_count",
            DeviceFact::SmemOptin => "device.smem_optin",
            DeviceFact::Cc => "device.cc",
        }
    }
}

/// The name, in the grid of a launch, of how many of its blocks the call's device holds at once.
pub const MAX_BLOCKS: &str = "launch.max_blocks";

/// A step of a plan.
#[derive(Clone, Debug)]
pub enum Step {
    /// Evaluates a value here and gives it a name.
    Let(String, Value),
    /// Ends the call with the fault unless the condition holds.
    Require(Value, Fault),
    /// Runs steps where the condition holds.
    When(When),
    /// Runs steps several times.
    Repeat(Repeat),
    /// Finds out about the call's [`Device`]. Ends the call with an error of its own where that
    /// fails.
    AskDevice,
    /// Finds out how many blocks of a launch the call's device holds at once. Ends the call with an
    /// error of its own where that fails.
    AskBlocks(AskBlocks),
}

/// The question how many blocks of a launch's kernel a device holds at once: at least one for each
/// multiprocessor. Where the launch does not run, it is not asked, and there are none.
#[derive(Clone, Copy, Debug)]
pub struct AskBlocks {
    /// The number of the launch.
    pub launch: usize,
    /// Whether it runs, where that is not for certain; it has to have a kernel for the dtypes, too.
    pub cond: Option<Value>,
    /// Threads in a block, x first. A layout that no launch can have is refused behind this step.
    pub block: [Value; 3],
    /// Bytes of dynamic shared memory.
    pub shared: Value,
    /// The answer: an [`Expr::Element`] behind the facts of the device.
    pub answer: Value,
}

impl AskBlocks {
    /// The values that it takes.
    pub fn values(&self) -> impl Iterator<Item = Value> {
        self.cond.into_iter().chain(self.block).chain([self.shared])
    }
}

/// Steps under a condition, and the values that leave them.
#[derive(Clone, Debug)]
pub struct When {
    /// The condition.
    pub cond: Value,
    /// The steps that run where it holds.
    pub steps: Vec<Step>,
    /// The values defined by the step as a whole.
    pub yields: Vec<Yielded>,
}

/// A value that a [`When`] defines.
#[derive(Clone, Copy, Debug)]
pub struct Yielded {
    /// The value outside: an [`Expr::Yield`].
    pub outer: Value,
    /// The value where the condition held, evaluated after the steps.
    pub inner: Value,
    /// The value elsewhere: evaluated outside, in any case.
    pub otherwise: Value,
}

/// Steps that run several times, and the values that each turn hands on to the next.
#[derive(Clone, Debug)]
pub struct Repeat {
    /// How many turns there are: none where it is negative, and never more than [`MOST_TURNS`].
    pub count: Value,
    /// The turn's number, counted from 0: an [`Expr::Turn`].
    pub turn: Value,
    /// The name of the turn's number.
    pub name: String,
    /// The steps of each turn.
    pub steps: Vec<Step>,
    /// The values that are handed on.
    pub carried: Vec<Carried>,
}

/// A value that each turn of a [`Repeat`] hands on to the next, and the last one to what follows.
#[derive(Clone, Debug)]
pub struct Carried {
    /// Its name.
    pub name: String,
    /// The value inside a turn: an [`Expr::Turn`].
    pub inner: Value,
    /// Its value in the first turn, and behind the step where there is none. Evaluated before the
    /// step.
    pub first: Value,
    /// Its value in the next turn. Evaluated after the steps of a turn.
    pub next: Value,
    /// Its value behind the step: an [`Expr::Yield`].
    pub outer: Value,
}

/// The checks of one function, and what an accepted call does.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The function's name.
    pub name: String,
    /// The short form of its signature.
    pub signature: String,
    /// Every expression; a [`Value`] is an index.
    pub exprs: Vec<Expr>,
    /// The checks, in order.
    pub steps: Vec<Step>,
    /// Where results and workspaces are allocated, and kernels run.
    pub device: Device,
    /// The numbers of the devices whose memory kernels reach beside that of their own: of each
    /// tensor marked `peer` its own, or -1 where it is in no memory of one device.
    pub peers: Vec<Value>,
    /// The tensors that an accepted call allocates and returns.
    pub results: Vec<Alloc>,
    /// The tensors that an accepted call allocates and frees.
    pub workspaces: Vec<Alloc>,
    /// The launches of an accepted call, in order.
    pub launches: Vec<Launch>,
    /// The dtype variables and the values that each combination gives them.
    pub combinations: Combinations,
}

/// The device of a call.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    /// Its type.
    pub kind: Value,
    /// Its number, where the arguments tell it.
    pub index: Value,
    /// Whether they do. Elsewhere, the device is the one whose context is current.
    pub is_told: Value,
}

impl Device {
    /// Its values.
    pub fn values(self) -> [Value; 3] {
        [self.kind, self.index, self.is_told]
    }
}

/// The combinations of dtypes that a function has kernels for.
#[derive(Clone, Debug, Default)]
pub struct Combinations {
    /// The dtype variables.
    pub vars: Vec<String>,
    /// One dtype a variable, for each combination.
    pub rows: Vec<Vec<DType>>,
    /// The number of the call's combination; `None` where there are no variables.
    pub index: Option<Value>,
}

impl Plan {
    /// A plan to be filled in.
    pub(crate) fn empty(name: &str, signature: &str) -> Plan {
        Plan {
            name: name.to_string(),
            signature: signature.to_string(),
            exprs: vec![],
            steps: vec![],
            device: Device { kind: Value(0), index: Value(0), is_told: Value(0) },
            results: vec![],
            peers: vec![],
            workspaces: vec![],
            launches: vec![],
            combinations: Combinations::default(),
        }
    }

    /// The combinations of dtypes that a launch has kernels for.
    pub fn rows_of<'p>(&'p self, launch: &'p Launch) -> impl Iterator<Item = &'p [DType]> {
        launch.rows.iter().map(|row| &self.combinations.rows[*row][..])
    }

    /// Whether a launch has a kernel for every combination of dtypes.
    pub fn has_every_kernel(&self, launch: &Launch) -> bool {
        launch.rows.len() == self.combinations.rows.len()
    }

    /// The expression behind a value.
    pub fn expr(&self, value: Value) -> &Expr {
        &self.exprs[value.0 as usize]
    }

    /// The type of a value.
    pub fn type_of(&self, value: Value) -> Type {
        type_of(&self.exprs, value)
    }

    /// Whether the arguments of every call tell its device.
    pub fn tells_device(&self) -> bool {
        *self.expr(self.device.is_told) == Expr::Bool(true)
    }

    /// Whether a step asks what is known of the device.
    pub fn asks_device(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::AskDevice))
    }

    /// The launches of whose blocks steps ask, in order. None of these steps stands in another one.
    pub fn asks_blocks(&self) -> impl Iterator<Item = &AskBlocks> {
        self.steps.iter().filter_map(|step| match step {
            Step::AskBlocks(asked) => Some(asked),
            _ => None,
        })
    }

    /// Calls `f` with every value that what follows the checks uses.
    pub fn for_each_effect_value(&self, f: &mut dyn FnMut(Value)) {
        self.device.values().into_iter().for_each(&mut *f);
        self.peers.iter().copied().for_each(&mut *f);
        self.combinations.index.into_iter().for_each(&mut *f);
        for alloc in self.results.iter().chain(&self.workspaces) {
            alloc.dims.iter().flat_map(|dim| dim.values()).for_each(&mut *f);
            [alloc.dtype, alloc.bytes].into_iter().for_each(&mut *f);
        }
        for launch in &self.launches {
            launch.cond.into_iter().for_each(&mut *f);
            launch.for_each_value(f);
        }
    }

    /// The faults, in the order of the steps and launches that raise them.
    pub fn faults(&self) -> Vec<&Fault> {
        fn collect<'p>(steps: &'p [Step], faults: &mut Vec<&'p Fault>) {
            for step in steps {
                match step {
                    Step::Let(..) | Step::AskDevice | Step::AskBlocks(_) => {}
                    Step::Require(_, fault) => faults.push(fault),
                    Step::When(when) => collect(&when.steps, faults),
                    Step::Repeat(repeat) => collect(&repeat.steps, faults),
                }
            }
        }
        let mut faults = Vec::new();
        collect(&self.steps, &mut faults);
        let statuses = self.launches.iter().filter_map(Launch::status);
        faults.extend(statuses.map(|status| &status.fault));
        faults
    }

    /// The values that may differ from one turn of a `repeat` to the next, by number: what the step
    /// gives anew, what its steps yield, and all that is made of these.
    pub fn varying(&self, repeat: &Repeat) -> Vec<bool> {
        let mut varies = vec![false; self.exprs.len()];
        let mut given = vec![repeat.turn];
        given.extend(repeat.carried.iter().map(|carried| carried.inner));
        yielded(&repeat.steps, &mut given);
        given.into_iter().for_each(|value| varies[value.0 as usize] = true);
        for (number, expr) in self.exprs.iter().enumerate() {
            let depends = expr.operands().iter().any(|operand| varies[operand.0 as usize]);
            varies[number] |= depends;
        }
        varies
    }
}

/// Collects what steps yield.
fn yielded(steps: &[Step], into: &mut Vec<Value>) {
    for step in steps {
        match step {
            Step::Let(..) | Step::Require(..) | Step::AskDevice | Step::AskBlocks(_) => {}
            Step::When(when) => {
                yielded(&when.steps, into);
                into.extend(when.yields.iter().map(|yielded| yielded.outer));
            }
            Step::Repeat(repeat) => {
                yielded(&repeat.steps, into);
                into.extend(repeat.carried.iter().map(|carried| carried.outer));
            }
        }
    }
}

/// The type of a value among `exprs`.
fn type_of(exprs: &[Expr], mut value: Value) -> Type {
    loop {
        match exprs[value.0 as usize].own_type() {
            Ok(ty) => return ty,
            Err(operand) => value = operand,
        }
    }
}

impl Expr {
    /// The type, or the operand that has it.
    fn own_type(&self) -> Result<Type, Value> {
        match self {
            Expr::Text(_) | Expr::TextAt(_) => Ok(Type::Text),
            Expr::Bool(_)
            | Expr::TextIs(..)
            | Expr::Overflows(..)
            | Expr::Compare(..)
            | Expr::And(..)
            | Expr::Or(..)
            | Expr::Not(_) => Ok(Type::Bool),
            Expr::Int(_)
            | Expr::Args
            | Expr::NumArgs
            | Expr::Device
            | Expr::Load(..)
            | Expr::Element(..)
            | Expr::Arith(..)
            | Expr::FloatBits(_)
            | Expr::Rounded(..) => Ok(Type::Int),
            // Long chains of alternatives hang on the second operand.
            Expr::Select(_, _, otherwise) => Err(*otherwise),
            Expr::Yield(ty, _) | Expr::Turn(ty, _) => Ok(*ty),
        }
    }

    /// The operands, in order.
    pub fn operands(&self) -> Vec<Value> {
        match self {
            Expr::Int(_)
            | Expr::Bool(_)
            | Expr::Text(_)
            | Expr::Args
            | Expr::NumArgs
            | Expr::Device
            | Expr::Yield(..)
            | Expr::Turn(..) => vec![],
            Expr::Load(a, _)
            | Expr::Element(a, _)
            | Expr::TextAt(a)
            | Expr::TextIs(a, _)
            | Expr::Not(a)
            | Expr::FloatBits(a)
            | Expr::Rounded(a, _) => vec![*a],
            Expr::Arith(_, a, b)
            | Expr::Overflows(_, a, b)
            | Expr::Compare(_, a, b)
            | Expr::And(a, b)
            | Expr::Or(a, b) => vec![*a, *b],
            Expr::Select(a, b, c) => vec![*a, *b, *c],
        }
    }
}
