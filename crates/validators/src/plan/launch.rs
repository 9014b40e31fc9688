// SPDX-License-Identifier: Apache-2.0
//! The effects of an accepted call, as data: the tensors it allocates, the kernels it launches and
//! the arguments they get, all in terms of the plan's values.

use super::{TensorMap, Value};
use crate::fault::Fault;
use crate::geometry::LaunchFlags;
use kernpack_ffi_abi::DType;

/// The least alignment of what calls allocate, in bytes: what accesses of 16 bytes need.
pub const ALLOCATED_ALIGN: u32 = 16;

/// A compact row-major tensor that the entry point allocates through the environment's allocator.
#[derive(Clone, Debug)]
pub struct Alloc {
    /// Its name in the signature or the package file.
    pub name: String,
    /// Its extents, checked not to be negative.
    pub dims: Vec<AllocDim>,
    /// Its size in bytes, checked to be a 64-bit integer.
    pub bytes: Value,
    /// Its packed dtype: a constant, or what a dtype variable is bound to.
    pub dtype: Value,
    /// The alignment of its data, in bytes; a power of two. A result of fewer is refused where it
    /// has elements, and a workspace begins where it has it.
    pub align: u32,
}

/// One extent of an allocation, or several.
#[derive(Clone, Copy, Debug)]
pub enum AllocDim {
    /// An extent.
    One(Value),
    /// Extents that lie in memory.
    Many {
        /// How many they are: none where it is negative, and never more than
        /// [`MOST_TURNS`](super::MOST_TURNS).
        count: Value,
        /// The address of the first.
        start: Value,
        /// The bytes from one to the next.
        step: Value,
    },
}

impl AllocDim {
    /// The values of the plan that it is made of.
    pub fn values(self) -> Vec<Value> {
        match self {
            AllocDim::One(value) => vec![value],
            AllocDim::Many { count, start, step } => vec![count, start, step],
        }
    }
}

/// The C type of a scalar argument of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CScalar {
    /// An integer type, or `bool`.
    Int(DType),
    /// A float type; the value is the bits of a float64, checked to fit, and is rounded to the type
    /// as it is passed.
    Float(DType),
    /// A pointer.
    Pointer,
}

/// An argument of a kernel.
#[derive(Clone, Debug)]
pub enum LaunchArg {
    /// A value of the plan, already checked to fit its C type.
    Value(Value, CScalar),
    /// The data pointer of a result, by number.
    Result(usize),
    /// The data pointer of a workspace, by number.
    Workspace(usize),
    /// The environment's stream for the call's device.
    EnvStream,
    /// Where kernels of the package write down that an assertion has failed on the call's device.
    AssertRecord,
    /// Several arguments as one C struct, passed by value.
    Struct(Vec<LaunchArg>),
    /// A tensor map, passed by value.
    TensorMap(Box<TensorMap>),
}

/// A kernel to run where a condition holds.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Where it runs; `None`: always.
    pub cond: Option<Value>,
    /// The combinations of dtypes that it has kernels for, by number in ascending order: under
    /// others it does not run. None where there are no dtype variables.
    pub rows: Vec<usize>,
    /// Its number in the function's description.
    pub index: usize,
    /// Its arguments.
    pub args: Vec<LaunchArg>,
    /// Where it runs.
    pub site: Site,
}

/// Where a launch runs.
#[derive(Clone, Debug)]
pub enum Site {
    /// On the host: a function is called. What it returns, where that is a status.
    Host(Option<Status>),
    /// On a GPU.
    Gpu(Grid),
}

/// The status that a host function returns.
#[derive(Clone, Debug)]
pub struct Status {
    /// The status: a value that only this fault uses.
    pub value: Value,
    /// The error where that is not 0.
    pub fault: Fault,
}

/// The layout of a launch on a GPU, with every number checked to be in its range.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Blocks in the grid, x first.
    pub grid: [Value; 3],
    /// Threads in a block, x first.
    pub block: [Value; 3],
    /// Blocks in a cluster, x first, where there are clusters.
    pub cluster: Option<[Value; 3]>,
    /// Bytes of dynamic shared memory.
    pub shared: Value,
    /// The flags that it asks for.
    pub flags: LaunchFlags,
    /// The priority, where it is not the stream's.
    pub priority: Option<Value>,
    /// The stream, where it is a parameter.
    pub stream: Option<Value>,
}

impl Grid {
    /// Calls `f` with every value of the plan that the layout uses.
    pub fn for_each_value(&self, f: &mut dyn FnMut(Value)) {
        self.grid.iter().chain(&self.block).for_each(|value| f(*value));
        self.cluster.iter().flatten().for_each(|value| f(*value));
        f(self.shared);
        self.priority.iter().chain(&self.stream).for_each(|value| f(*value));
    }
}

impl Launch {
    /// How it is laid out, where it runs on a GPU.
    pub fn grid(&self) -> Option<&Grid> {
        match &self.site {
            Site::Host(_) => None,
            Site::Gpu(grid) => Some(grid),
        }
    }

    /// Whether it has a kernel for a combination of dtypes.
    pub fn has_kernel_for(&self, combination: Option<i64>) -> bool {
        combination.is_none_or(|number| self.rows.iter().any(|row| *row as i64 == number))
    }

    /// The status that its function returns, where it returns one.
    pub fn status(&self) -> Option<&Status> {
        match &self.site {
            Site::Host(status) => status.as_ref(),
            Site::Gpu(_) => None,
        }
    }

    /// Calls `f` with every value of the plan that the launch uses when it runs: not with those
    /// that it has itself.
    pub fn for_each_value(&self, f: &mut dyn FnMut(Value)) {
        self.args.iter().for_each(|arg| arg.for_each_value(f));
        self.grid().iter().for_each(|grid| grid.for_each_value(f));
        if let Some(status) = self.status() {
            status.fault.values().filter(|value| *value != status.value).for_each(&mut *f);
        }
    }

    /// Whether its kernel may write down that an assertion has failed.
    pub fn asserts(&self) -> bool {
        self.args.iter().any(|arg| matches!(arg, LaunchArg::AssertRecord))
    }

    /// Whether it asks for the environment's stream.
    pub fn uses_env_stream(&self) -> bool {
        let to_launch = self.grid().is_some_and(|grid| grid.stream.is_none());
        to_launch || self.args.iter().any(LaunchArg::uses_env_stream)
    }
}

impl LaunchArg {
    /// Whether it is the environment's stream, or has that in it.
    pub fn uses_env_stream(&self) -> bool {
        match self {
            LaunchArg::EnvStream => true,
            LaunchArg::Struct(fields) => fields.iter().any(LaunchArg::uses_env_stream),
            LaunchArg::Value(..)
            | LaunchArg::Result(_)
            | LaunchArg::Workspace(_)
            | LaunchArg::AssertRecord
            | LaunchArg::TensorMap(_) => false,
        }
    }

    /// A workspace that it is, or has in it, by number.
    pub fn workspace(&self) -> Option<usize> {
        match self {
            LaunchArg::Workspace(number) => Some(*number),
            LaunchArg::Struct(fields) => fields.iter().find_map(LaunchArg::workspace),
            LaunchArg::TensorMap(map) => map.base.workspace(),
            LaunchArg::Value(..) | LaunchArg::Result(_) => None,
            LaunchArg::EnvStream | LaunchArg::AssertRecord => None,
        }
    }

    /// Calls `f` with every value of the plan that the argument uses.
    pub fn for_each_value(&self, f: &mut dyn FnMut(Value)) {
        match self {
            LaunchArg::Value(value, _) => f(*value),
            LaunchArg::Result(_) | LaunchArg::Workspace(_) => {}
            LaunchArg::EnvStream | LaunchArg::AssertRecord => {}
            LaunchArg::Struct(fields) => fields.iter().for_each(|field| field.for_each_value(f)),
            LaunchArg::TensorMap(map) => map.for_each_value(f),
        }
    }
}
