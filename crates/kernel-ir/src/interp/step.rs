// SPDX-License-Identifier: Apache-2.0
//! Steps of a warp. Values are registers, and regions are places to go to.
//!
//! A register has a number of 64 bits for each thread of a warp. A vector takes as many as it has
//! lanes, and a pointer two: which allocation of its space, and how many bytes into it.

use super::clock::Reach;
use super::matrix::MatrixStep;
use super::products::ProductStep;
use crate::constant::Const;
use crate::intrinsic::{AtomicOp, DependentOp, Geometry, Intrinsic, Level, MbarrierOp, WarpOp};
use crate::kernel::{ParamKind, TensorMap};
use crate::op::{Binary, Check, Compare, Rounding, Unary};
use crate::types::{Scalar, Space, Type};

/// The first of the registers of a value.
pub(super) type Register = u32;

/// A place in the list of steps.
pub(super) type Pc = u32;

/// A statement that an index is in bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct InBounds<'a> {
    /// The type of both numbers.
    pub scalar: Scalar,
    /// The index.
    pub index: Register,
    /// One past the largest.
    pub extent: Register,
    /// Its check, where the kernel itself makes it.
    pub check: Option<&'a Check>,
}

/// The next step of a warp.
#[derive(Clone, Debug)]
pub(super) enum Step<'a> {
    Unary {
        op: Unary,
        scalar: Scalar,
        x: Register,
        out: Register,
        count: u32,
    },
    Binary {
        op: Binary,
        scalar: Scalar,
        a: Register,
        b: Register,
        out: Register,
        count: u32,
    },
    Compare {
        op: Compare,
        scalar: Scalar,
        a: Register,
        b: Register,
        out: Register,
    },
    Select {
        condition: Register,
        then: Register,
        otherwise: Register,
        out: Register,
        count: u32,
    },
    Convert {
        from: Scalar,
        to: Scalar,
        how: Rounding,
        x: Register,
        out: Register,
        count: u32,
    },
    Bitcast {
        from: Type,
        to: Type,
        x: Register,
        out: Register,
    },
    /// Copies registers, one by one.
    Copy {
        from: Vec<Register>,
        out: Register,
    },
    /// The beginning of an array of the block.
    Shared {
        array: u32,
        out: Register,
    },
    /// The beginning of a register tensor.
    Local {
        local: u32,
        out: Register,
    },
    Offset {
        pointer: Register,
        bytes: Register,
        out: Register,
    },
    Load {
        access: Access,
        out: Register,
        guard: Option<(Register, Register)>,
    },
    Store {
        access: Access,
        value: Register,
        condition: Option<Register>,
    },
    InBounds(InBounds<'a>),
    Set {
        slot: Register,
        value: Register,
        count: u32,
    },
    Pure {
        meaning: fn(&[Const]) -> Const,
        operands: Vec<(Scalar, Register)>,
        out: Register,
    },
    Approximate {
        meaning: fn(&[Const]) -> Const,
        operands: Vec<(Scalar, Register)>,
        out: Register,
    },
    Geometry {
        geometry: Geometry,
        out: Register,
    },
    Exchange {
        op: WarpOp,
        row: &'static Intrinsic,
        value: (Scalar, Register),
        by: (Scalar, Register),
        out: Register,
    },
    Matrix(Box<MatrixStep>),
    Product(ProductStep),
    Barrier(Level),
    Fence {
        reach: Reach,
    },
    /// At a barrier with a number, which so many threads come to.
    Named {
        number: Register,
        n_threads: u32,
        waits: bool,
    },
    /// A clock of the machine, of which the interpreter has its own.
    Timer {
        out: Register,
    },
    /// At the barrier of the cluster. Says whether what was done before is told.
    Arrive {
        is_release: bool,
    },
    /// For the others at that barrier.
    Meet,
    /// The same place in the memory of another block of the cluster.
    Map {
        pointer: Register,
        rank: Register,
        out: Register,
    },
    Prefetch(Access),
    Atomic(Box<Atomic>),
    Mbarrier(Box<MbarrierStep>),
    Bulk(BulkStep),
    BeginCopies(Box<Copy>),
    CommitCopies,
    /// Waits for all but so many groups.
    WaitForCopies(usize),
    Dependent(DependentOp),
    Print {
        format: &'a str,
        values: Vec<(Type, Register)>,
    },
    Assert(Box<Assert<'a>>),
    Unsupported(String),
    Control(Control),
}

/// A condition that has to hold, and the message where it does not.
#[derive(Clone, Debug)]
pub(super) struct Assert<'a> {
    pub condition: Register,
    pub format: &'a str,
    pub values: Vec<(Type, Register)>,
}

/// Which threads run next, and what.
#[derive(Clone, Copy, Debug)]
pub(super) enum Control {
    /// Threads go on behind this step where the condition holds, else behind `otherwise`.
    If {
        condition: Register,
        otherwise: Pc,
    },
    /// The other threads' turn.
    Else {
        end: Pc,
    },
    /// All that are left go on; to `close` where none is.
    EndIf {
        close: Pc,
    },
    For(For),
    ForNext {
        bounds: Bounds,
        body: Pc,
    },
    While,
    WhileTest {
        condition: Register,
        exit: Pc,
    },
    WhileNext {
        before: Pc,
    },
    EndLoop {
        close: Pc,
    },
    Break {
        close: Pc,
    },
    Continue {
        close: Pc,
    },
    Return {
        close: Pc,
    },
    End,
}

/// The beginning of a `for` loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct For {
    pub bounds: Bounds,
    pub first: Register,
    /// Where to go when no thread has a turn.
    pub exit: Pc,
}

/// The bounds and the step of a `for` loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub scalar: Scalar,
    pub index: Register,
    pub end: Register,
    pub step: Register,
}

impl Control {
    /// Sets where threads go that leave the region in which the step is.
    pub fn set_close(&mut self, to: Pc) {
        match self {
            Control::EndIf { close }
            | Control::EndLoop { close }
            | Control::Break { close }
            | Control::Continue { close }
            | Control::Return { close } => *close = to,
            Control::If { .. }
            | Control::Else { .. }
            | Control::For(_)
            | Control::ForNext { .. }
            | Control::While
            | Control::WhileTest { .. }
            | Control::WhileNext { .. }
            | Control::End => {}
        }
    }
}

/// An access to memory, but for where it goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub space: Space,
    pub pointer: Register,
    pub scalar: Scalar,
    /// So many scalars in a row.
    pub count: u32,
    pub align: u32,
    /// Its place among those of all accesses.
    pub site: u32,
}

impl Access {
    pub fn bytes(&self) -> u32 {
        self.scalar.bytes() * self.count
    }

    /// The same of so many bytes.
    pub fn of_bytes(self, bytes: u32) -> Access {
        Access { count: bytes / self.scalar.bytes(), ..self }
    }
}

/// An atomic operation.
#[derive(Clone, Debug)]
pub(super) struct Atomic {
    pub access: Access,
    pub op: AtomicOp,
    /// Where it is done at all, and what it gives where it is not.
    pub guard: Option<(Register, Option<Register>)>,
    /// The operand; the expected one of two.
    pub value: Register,
    /// The value that is written where the expected one is there.
    pub replacement: Register,
    pub is_acquire: bool,
    pub is_release: bool,
    /// Which threads of other blocks take part.
    pub reach: Reach,
    pub out: Option<Register>,
}

/// A deed about an mbarrier.
#[derive(Clone, Debug)]
pub(super) struct MbarrierStep {
    pub op: MbarrierOp,
    pub access: Access,
    /// The count, the bytes or the parity.
    pub number: Register,
    pub out: Option<Register>,
}

/// A deed about copies of many bytes.
#[derive(Clone, Debug)]
pub(super) enum BulkStep {
    /// One begins.
    Begin(Box<BulkCopy>),
    /// A box is fetched, which changes nothing.
    Prefetch,
    Commit,
    /// Waits for all but so many groups, or until they have read.
    Wait {
        n_left: usize,
        only_reads: bool,
    },
    Fence {
        /// Whether it is about shared memory alone.
        is_of_shared: bool,
    },
}

/// A copy of many bytes, into shared memory where it has an mbarrier, else out of it.
#[derive(Clone, Debug)]
pub(super) struct BulkCopy {
    pub to: Access,
    pub from: Access,
    pub amount: Amount,
    /// The mbarrier whose phase counts them.
    pub barrier: Option<Access>,
    /// The mask of the blocks of the cluster that it goes to, where there is one.
    pub blocks: Option<Register>,
    /// The operation that combines each element with the one where it goes, and their type.
    pub reduction: Option<(Binary, Scalar)>,
}

/// How much is copied.
#[derive(Clone, Debug)]
pub(super) enum Amount {
    /// So many bytes in a row.
    Bytes(Register),
    /// A box of a tensor.
    Box(BoxOf),
}

/// The box of a tensor.
#[derive(Clone, Debug)]
pub(super) struct BoxOf {
    pub map: TensorMap,
    /// Where the registers of the map's argument begin.
    pub argument: Register,
    /// The coordinates that it begins at, the innermost first.
    pub at: Vec<Register>,
}

/// How many registers the argument of a parameter takes: that of a map its address, its extents and
/// all strides but the innermost.
pub(super) const fn param_width(kind: &ParamKind) -> u32 {
    match kind {
        ParamKind::Scalar(..) | ParamKind::Pointer(_) => width(kind.ty()),
        ParamKind::Map(map) => width(kind.ty()) + 2 * map.rank as u32 - 1,
    }
}

/// A copy that goes on by itself.
#[derive(Clone, Debug)]
pub(super) struct Copy {
    pub to: Access,
    pub from: Access,
    /// Whether it copies; else it writes zeros.
    pub given: Register,
}

/// How many registers a value takes.
pub(super) const fn width(ty: Type) -> u32 {
    match ty {
        Type::Scalar(_) => 1,
        Type::Vector(_, lanes) => lanes as u32,
        Type::Pointer(_) => 2,
    }
}
