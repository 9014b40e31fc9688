// SPDX-License-Identifier: Apache-2.0
//! Kernels with what they are launched with, for the interpreter here and for a GPU elsewhere: both
//! have to give the same bits.
//!
//! ```text
//! operations, rows: a kernel for each operation on each type, over all pairs of numbers that matter ┐
//! arrays: of each type, read and written where only the run tells ──────────────────────────────────┤
//! generated: random kernels, a seed each ───────────────────────────────────────────────────────────┤
//! schedules: random roles, stages and waits of products of matrices, a seed each ───────────────────┴─▶ Case
//! Case ──interpreted──▶ what its buffers hold ┬─▶ a folder (`record`), which replay_kernels.py
//!      ──image──▶ PTX, cubin ─────────────────┘   of tests/gpu launches and compares
//! ```
//!
//! [`soak`] has random kernels read by everything that reads kernels, for as long as it is told to.
//! The program `kernels` is what runs it, and what records. Not here: kernels as people write them.

pub mod arrays;
pub mod generated;
pub mod image;
pub mod input;
pub mod interpreted;
pub mod matrices;
pub mod numbers;
pub mod one_value;
pub mod operations;
pub mod record;
pub mod rows;
pub mod schedules;
pub mod soak;

use input::Input;
use kernpack_codegen::kernel::nvptx::check_needs;
use kernpack_kernel_ir::{Const, Kernel, Scalar};
use kernpack_machine::Arch;
use kernpack_machine::tensor_map::MOST_RANK;

/// A kernel and a launch of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The kernel, verified and expanded. Its name is the case's.
    pub kernel: Kernel,
    /// What is said of it where it differs: its seed, or its operation.
    pub origin: String,
    /// The blocks of the launch.
    pub grid: [u32; 3],
    /// The threads of a block.
    pub block: [u32; 3],
    /// The blocks of a cluster.
    pub cluster: [u32; 3],
    /// What each parameter is given.
    pub arguments: Vec<Argument>,
}

/// Any version of PTX.
const ANY_PTX: u32 = u32::MAX;

impl Case {
    /// Whether an architecture has what the kernel calls.
    pub fn is_for(&self, arch: Arch) -> bool {
        check_needs(&self.kernel, arch, ANY_PTX).is_ok()
    }
}

/// What a parameter is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A number.
    Scalar(Const),
    /// A tensor of its own.
    Buffer(Buffer),
    /// The map of a tensor of its own.
    Map(Mapped),
}

impl Argument {
    /// The tensor that it has.
    pub fn buffer(&self) -> Option<&Buffer> {
        match self {
            Argument::Scalar(_) => None,
            Argument::Buffer(buffer) | Argument::Map(Mapped { buffer, .. }) => Some(buffer),
        }
    }
}

/// A tensor as its map has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapped {
    /// The tensor.
    pub buffer: Buffer,
    /// Its extents, the innermost first; 1 beyond its rank.
    pub extents: [u64; MOST_RANK],
    /// The strides of all dims but the innermost, in bytes; 0 beyond.
    pub strides: [u64; MOST_RANK - 1],
}

/// A tensor before the launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// The type of its elements.
    pub element: Scalar,
    /// How many.
    pub count: usize,
    /// What they are.
    pub input: Input,
}

impl Buffer {
    /// What it holds before the launch.
    pub fn bytes(&self) -> Vec<u8> {
        self.input.bytes(self.element, self.count)
    }
}
