// SPDX-License-Identifier: Apache-2.0
//! Intrinsics: what a kernel can ask of the machine beyond the closed list of operations. A row of
//! a table says what one means: types, documentation, what it computes, who takes part, what it
//! touches. Front end, text, verifier, interpreter, lowering and the reference read the rows.
//!
//! The tables are one file a family. Not here: how a row is run (`interp/`), and how a target does
//! it, or what it needs for it: that is the target's column (`crates/codegen`'s `kernel/<target>`).

mod atomic;
mod bits;
mod bulk;
mod cluster;
mod copy;
mod dependent;
mod geometry;
mod math;
mod matrix;
mod mbarrier;
mod model;
mod prefetch;
mod sync;
mod timer;
mod warp;
mod wgmma;

use crate::constant::Const;
use crate::types::{Class, Scalar, Space, Type};
use kernpack_machine::block::{MOST_THREADS, WARP_SIZE};
use std::fmt;

pub use atomic::{ORDERS, SCOPES};
pub use bulk::{BULK_ALIGN, REDUCTIONS, reduced_types};
pub use cluster::ARRIVALS;
pub use copy::MOST_IN_FLIGHT;
pub use matrix::{MATRIX_ROW_BYTES, N_COLUMNS, N_MATRIX_ROWS, N_OF_ROW, N_ROWS, ROW_BYTES, WAYS};
pub use mbarrier::{MBARRIER_BYTES, MOST_ARRIVALS};
pub use model::INTERPRETED;
pub use prefetch::CACHES;
pub use sync::N_BARRIERS;
pub use wgmma::{FACTORS, MAJORS, MOST_GROUPS, SWIZZLES};

/// A row.
#[derive(Debug)]
pub struct Intrinsic {
    /// Its name in a kernel's text, and in the language where it has one: `shuffle.xor`.
    pub name: &'static str,
    /// Its meaning, in a sentence or more.
    pub doc: &'static str,
    /// The operands that it accepts.
    pub takes: &'static [Accepts],
    /// The type of its result.
    pub gives: Gives,
    /// The threads that execute it together.
    pub together: Level,
    /// The level at which the conditions around it have to be uniform.
    pub uniform: Level,
    /// Memory that it touches.
    pub touches: Touches,
    /// When what it does is done.
    pub completes: Completes,
    /// The result's uniformity.
    pub result: Spread,
    /// How the interpreter does it.
    pub meaning: Meaning,
}

/// The operands that a place accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepts {
    /// A truth value.
    Bool,
    /// An integer of any type.
    Int,
    /// An integer without a sign.
    Unsigned,
    /// A float of one of these types; of any where there are none.
    Float(&'static [Scalar]),
    /// A value of one of these types.
    OneOf(&'static [Scalar]),
    /// A number or truth value of any type of 1 to 8 bytes.
    Any,
    /// A value of this type.
    Exactly(Scalar),
    /// The type of the operand with that number.
    Like(usize),
    /// So many numbers of one of these types, side by side.
    Vector(&'static [Scalar], u8),
    /// So many numbers of the type that those of the operand with that number have.
    VectorLike(usize, u8),
    /// An address in one of these spaces.
    Pointer(&'static [Space]),
    /// A number that the code itself has, within these bounds, both included.
    Constant(i64, i64),
    /// A power of two that the code itself has, within these bounds, both included.
    PowerOfTwo(i64, i64),
    /// A multiple of the first that the code itself has, within these bounds, both included.
    Multiple(i64, i64, i64),
    /// A register tensor of elements of one of these types.
    Registers(&'static [Scalar]),
    /// A number of threads that is whole warps, and that the code itself has.
    Warps,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// The type of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// Nothing.
    Nothing,
    /// A value of this type.
    Exactly(Scalar),
    /// The type of the operand with that number.
    Like(usize),
    /// So many numbers of this type, side by side.
    Vector(Scalar, u8),
    /// An address in that space.
    Pointer(Space),
}

/// Threads that do something together, or alike: each level holds those above it in this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// One thread.
    Thread,
    /// 32 threads in a row.
    Warp,
    /// Four warps in a row.
    Warpgroup,
    /// The threads of a block.
    Block,
    /// The blocks of a cluster.
    Cluster,
    /// The whole grid.
    Grid,
}

/// Memory that an intrinsic touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touches {
    /// None.
    Nothing,
    /// It reads what its first operand, a pointer, points to.
    Read,
    /// It writes what its first operand points to.
    Write,
    /// It reads and writes what its first operand points to, as one step.
    Atomic,
    /// It writes what its first operand points to, and reads what its second does.
    Copy,
    /// It reads what those of its operands point to that are pointers to shared memory.
    Shared,
    /// It orders what other operations touch.
    Order,
}

/// When what an intrinsic does is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completes {
    /// When it has returned.
    AtOnce,
    /// When the thread has waited for the group that it is in: what it touches may be touched at
    /// any time until then.
    WithGroup,
    /// When a thread has waited for the phase of the mbarrier that it belongs to.
    WithPhase,
}

/// How alike the result is among threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// As alike as its operands.
    AsOperands,
    /// Each thread may get another.
    Varies,
    /// The same for all threads of that level, whatever the operands.
    Uniform(Level),
}

/// How the interpreter does it.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    /// It computes: a function of its operands, which have these types. It folds constants too.
    Pure(fn(&[Const]) -> Const),
    /// It is computed with other operations: the function of that name in `math/`.
    Expand(&'static str),
    /// It computes, but not to the last bit alike everywhere: what the interpreter takes for it.
    Approximate(fn(&[Const]) -> Const),
    /// It asks where in the grid a thread is.
    Geometry(Geometry),
    /// Threads of a warp exchange values.
    Warp(WarpOp),
    /// The lanes of a warp hold matrices together.
    Matrix(MatrixOp),
    /// Threads wait for one another.
    Barrier,
    /// Some warps of a block meet at a barrier with a number.
    Named {
        /// Whether it waits.
        waits: bool,
    },
    /// It asks whether the interpreter runs the kernel.
    Interpreted,
    /// It asks what time it is.
    Timer(Timer),
    /// It orders what came before and after it.
    Fence,
    /// It changes memory in one step.
    Atomic(AtomicOp),
    /// It has something fetched that is read later.
    Prefetch,
    /// It is about copies in flight.
    Copy(CopyOp),
    /// It is about the blocks of a cluster.
    Cluster(ClusterOp),
    /// It is about copies of many bytes.
    Bulk(BulkOp),
    /// It is about an mbarrier.
    Mbarrier(MbarrierOp),
    /// It is about launches that begin before those in front of them have ended.
    Dependent(DependentOp),
    /// It is about products that the warps of a warpgroup make together.
    Product(ProductOp),
    /// The threads of a warpgroup have more registers from there on, or fewer.
    Registers {
        /// Whether they have more.
        is_increase: bool,
    },
}

/// Where in the grid a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Geometry {
    /// The thread within its block, in x, y or z.
    ThreadIdx(usize),
    /// The block within the grid.
    BlockIdx(usize),
    /// The threads of a block.
    BlockDim(usize),
    /// The blocks of the grid.
    GridDim(usize),
    /// The block within its cluster, in x, y or z.
    BlockInCluster(usize),
    /// The blocks of a cluster.
    BlockInClusterDim(usize),
    /// The cluster within the grid.
    ClusterIdx(usize),
    /// The clusters of the grid.
    ClusterDim(usize),
    /// The block within its cluster, counted in x first, then in y, then in z.
    ClusterRank,
    /// How many blocks a cluster has.
    ClusterSize,
    /// The thread within its warp.
    Lane,
    /// The warp within its block.
    Warp,
    /// The warpgroup within its block.
    Warpgroup,
}

/// An exchange of the threads of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpOp {
    /// The value of the lane with that number.
    ShuffleIdx,
    /// The value of the lane so many below; a lane that has none keeps its own.
    ShuffleUp,
    /// The value of the lane so many above; a lane that has none keeps its own.
    ShuffleDown,
    /// The value of the lane whose number differs in those bits.
    ShuffleXor,
    /// Whether it holds for any.
    Any,
    /// Whether it holds for all.
    All,
    /// For which it holds: a bit for each lane.
    Ballot,
    /// Which lanes have the same value: a bit for each.
    Match,
}

/// The deeds of a warp about matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixOp {
    /// It multiplies two, and adds a third.
    Multiply,
    /// It reads some of shared memory.
    Load,
    /// It writes some into shared memory.
    Store,
}

/// The ways to deal with products of warpgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProductOp {
    /// They see what registers hold.
    Fence,
    /// One begins.
    Multiply,
    /// Those that have begun become a group.
    Commit,
    /// All but the last groups are waited for.
    Wait,
}

/// The effect of an atomic operation on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOp {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Writes, and gives what was there.
    Exchange,
    /// Writes where an expected value is there, and gives what was there.
    CompareExchange,
    /// Computes with what is there, and gives what was there.
    Update(crate::op::Binary),
}

/// The ways to deal with copies in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyOp {
    /// One begins.
    Begin,
    /// Those that have begun become a group.
    Commit,
    /// All but the last groups are waited for.
    Wait,
}

/// A clock of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// That of a multiprocessor, in cycles.
    Cycles,
    /// That of the device, in nanoseconds.
    Nanoseconds,
}

/// The deeds of blocks of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterOp {
    /// Arrive at its barrier.
    Arrive,
    /// Wait for the arrivals.
    Wait,
    /// Reach the shared memory of another one.
    Map,
}

/// The ways to deal with copies of many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkOp {
    /// One into shared memory begins.
    Copy,
    /// One out of it begins.
    Store,
    /// One of a box of a tensor into shared memory begins.
    LoadBox,
    /// One of a box into the shared memory of several blocks begins.
    MulticastBox,
    /// One out of it into a box of a tensor begins.
    StoreBox,
    /// One out of it begins that combines a box of a tensor with what it copies.
    ReduceBox,
    /// A box of a tensor is fetched that is read later.
    PrefetchBox,
    /// Those out of it that have begun become a group.
    Commit,
    /// All but the last groups are waited for.
    Wait,
    /// All but the last groups are waited for as far as they read.
    WaitRead,
    /// They see what was written before.
    Fence,
    /// They see what was written into shared memory before.
    FenceShared,
}

/// The deeds about mbarriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierOp {
    /// Makes one.
    Init,
    /// Arrives.
    Arrive,
    /// Arrives, and orders nothing that threads do.
    ArriveRelaxed,
    /// Arrives when copies of the thread are done.
    ArriveAfterCopies,
    /// Has its phase expect bytes.
    ExpectTx,
    /// Has its phase expect bytes, and arrives.
    ArriveExpectTx,
    /// Brings bytes that no copy does.
    CompleteTx,
    /// Waits for a phase.
    Wait,
    /// Asks whether a phase is complete.
    TryWait,
}

/// The deeds of a launch about those in front of it and behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependentOp {
    /// Waits for the one in front of it.
    Wait,
    /// Lets the one behind it begin.
    LaunchDependents,
}

/// Every row, family by family.
pub fn all() -> impl Iterator<Item = &'static Intrinsic> {
    let families = [
        geometry::ROWS,
        math::ROWS,
        bits::ROWS,
        warp::ROWS,
        matrix::ROWS,
        wgmma::ROWS,
        sync::ROWS,
        timer::ROWS,
        model::ROWS,
        atomic::ROWS,
        prefetch::ROWS,
        copy::ROWS,
        bulk::ROWS,
        cluster::ROWS,
        mbarrier::ROWS,
        dependent::ROWS,
    ];
    families.into_iter().flatten()
}

/// The row of that name.
pub fn find(name: &str) -> Option<&'static Intrinsic> {
    all().find(|row| row.name == name)
}

/// Rows are equal where they are one.
impl PartialEq for Intrinsic {
    fn eq(&self, other: &Intrinsic) -> bool {
        self.name == other.name
    }
}

impl Intrinsic {
    /// Whether a thread does it by itself and touches no memory: nothing is lost where nobody uses
    /// its result.
    pub fn only_gives(&self) -> bool {
        self.together == Level::Thread && self.touches == Touches::Nothing
    }

    /// How many 8x8 matrices it loads or stores.
    pub fn n_matrices(&self) -> u32 {
        let lanes = match (self.gives, self.takes) {
            (Gives::Vector(_, lanes), _) | (_, &[_, Accepts::Vector(_, lanes), ..]) => lanes,
            _ => 0,
        };
        u32::from(lanes) / N_OF_ROW as u32
    }

    /// The map among its operands, by its place, and how many coordinates follow, where it copies a
    /// box of a tensor.
    pub fn map_operand(&self) -> Option<(usize, usize)> {
        let is_map = |accepts: &Accepts| *accepts == Accepts::Pointer(&[Space::Map]);
        let place = self.takes.iter().position(is_map)?;
        let coordinates = self.takes.iter().filter(|one| **one == Accepts::Exactly(Scalar::I32));
        Some((place, coordinates.count()))
    }

    /// Whether it computes: its result is a number, and a function of its operands.
    pub fn computes(&self) -> bool {
        let gives_number = !matches!(self.gives, Gives::Pointer(_) | Gives::Nothing);
        self.only_gives() && self.result == Spread::AsOperands && gives_number
    }

    /// The type of its result where operands have these types; nothing stands for a constant or a
    /// word.
    pub fn result(&self, types: &[Option<Type>]) -> Option<Type> {
        match self.gives {
            Gives::Nothing => None,
            Gives::Exactly(scalar) => Some(Type::Scalar(scalar)),
            Gives::Like(operand) => types.get(operand).copied().flatten(),
            Gives::Vector(scalar, lanes) => Some(Type::Vector(scalar, lanes)),
            Gives::Pointer(space) => Some(Type::Pointer(space)),
        }
    }
}

impl Accepts {
    /// Whether a value of that type will do, where the operands have these types.
    pub fn takes(self, ty: Type, types: &[Option<Type>]) -> bool {
        match (self, ty) {
            (Accepts::Pointer(spaces), Type::Pointer(space)) => spaces.contains(&space),
            (Accepts::Like(other), _) => types.get(other).copied().flatten() == Some(ty),
            (Accepts::Float(of), Type::Scalar(scalar)) => {
                scalar.is_float() && (of.is_empty() || of.contains(&scalar))
            }
            (Accepts::Bool, Type::Scalar(scalar)) => scalar == Scalar::Bool,
            (Accepts::Int, Type::Scalar(scalar)) => scalar.is_int(),
            (Accepts::Unsigned, Type::Scalar(scalar)) => scalar.class() == Class::Unsigned,
            (Accepts::OneOf(of), Type::Scalar(scalar)) => of.contains(&scalar),
            (Accepts::Vector(of, lanes), Type::Vector(scalar, found)) => {
                found == lanes && of.contains(&scalar)
            }
            (Accepts::VectorLike(other, lanes), Type::Vector(scalar, found)) => {
                let like = types.get(other).copied().flatten().and_then(Type::scalar);
                found == lanes && like == Some(scalar)
            }
            (Accepts::Any, Type::Scalar(_)) => true,
            (Accepts::Exactly(expected), Type::Scalar(scalar)) => expected == scalar,
            (
                Accepts::Pointer(_)
                | Accepts::Float(_)
                | Accepts::Bool
                | Accepts::Int
                | Accepts::Unsigned
                | Accepts::OneOf(_)
                | Accepts::Any
                | Accepts::Exactly(_)
                | Accepts::Vector(..)
                | Accepts::VectorLike(..)
                | Accepts::Constant(..)
                | Accepts::PowerOfTwo(..)
                | Accepts::Multiple(..)
                | Accepts::Registers(_)
                | Accepts::Warps
                | Accepts::Word(_),
                Type::Scalar(_) | Type::Vector(..) | Type::Pointer(_),
            ) => false,
        }
    }
}

impl Accepts {
    /// Whether a number that the code itself has will do.
    pub fn takes_constant(self, number: i64) -> bool {
        match self {
            Accepts::Constant(least, most) => (least..=most).contains(&number),
            Accepts::PowerOfTwo(least, most) => {
                (least..=most).contains(&number) && number.count_ones() == 1
            }
            Accepts::Multiple(of, least, most) => {
                (least..=most).contains(&number) && number % of == 0
            }
            Accepts::Warps => {
                (1..=MOST_THREADS.into()).contains(&number) && number % i64::from(WARP_SIZE) == 0
            }
            _ => false,
        }
    }
}

/// As a message says it: `an integer`, `float32 or float64`.
impl fmt::Display for Accepts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let either = |names: Vec<&str>| names.join(" or ");
        match self {
            Accepts::Bool => f.write_str("a bool"),
            Accepts::Int => f.write_str("an integer"),
            Accepts::Unsigned => f.write_str("an unsigned integer"),
            Accepts::Float([]) => f.write_str("a float"),
            Accepts::Float(of) | Accepts::OneOf(of) => {
                f.write_str(&either(of.iter().map(|one| one.name()).collect()))
            }
            Accepts::Any => f.write_str("a number or a bool"),
            Accepts::Exactly(scalar) => scalar.fmt(f),
            Accepts::Like(operand) => write!(f, "the type of operand {operand}"),
            Accepts::Vector(of, lanes) => {
                let names = of.iter().map(|one| Type::Vector(*one, *lanes).to_string());
                f.write_str(&names.collect::<Vec<_>>().join(" or "))
            }
            Accepts::VectorLike(operand, lanes) => {
                write!(f, "{lanes} of the type that operand {operand} has several of")
            }
            Accepts::Pointer(of) => {
                let spaces: Vec<_> = of.iter().map(|space| space.name()).collect();
                write!(f, "a pointer to {} memory", either(spaces))
            }
            Accepts::Constant(least, most) => write!(f, "a constant from {least} to {most}"),
            Accepts::PowerOfTwo(least, most) => {
                write!(f, "a constant power of two from {least} to {most}")
            }
            Accepts::Multiple(of, least, most) => {
                write!(f, "a constant multiple of {of} from {least} to {most}")
            }
            Accepts::Registers(of) => {
                let names = of.iter().map(|one| one.name()).collect();
                write!(f, "a register tensor of {}", either(names))
            }
            Accepts::Warps => {
                write!(f, "a constant multiple of {WARP_SIZE} up to {MOST_THREADS}")
            }
            Accepts::Word(words) => f.write_str(&either(words.to_vec())),
        }
    }
}

/// A row that computes, for tables.
const fn pure(
    name: &'static str,
    doc: &'static str,
    takes: &'static [Accepts],
    meaning: Meaning,
) -> Intrinsic {
    Intrinsic {
        name,
        doc,
        takes,
        gives: Gives::Like(0),
        together: Level::Thread,
        uniform: Level::Thread,
        touches: Touches::Nothing,
        completes: Completes::AtOnce,
        result: Spread::AsOperands,
        meaning,
    }
}
