// SPDX-License-Identifier: Apache-2.0
//! From a kernel's tree and the arguments of a launch to operations.

use crate::argument::Argument;
use crate::file::Definition;
use kernpack_kernel_ir::{Kernel, Scalar};
use kernpack_syntax::Diagnostics;
use kernpack_validators::{Expr, KernelArg};

/// What a kernel is compiled for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// The kernel.
    pub kernel: &'r Definition,
    /// What each of its parameters is given, in order. Defaults of the kernel are written out.
    pub arguments: &'r [Argument],
    /// The dtype variables of the signature, as far as the launch binds them.
    pub dtypes: &'r [(String, Scalar)],
    /// The threads of a block in x, y and z, as far as they are known.
    pub block: [Option<u32>; 3],
    /// Its symbol: a C identifier.
    pub symbol: &'r str,
}

/// A kernel, compiled for a launch as far as operations.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The kernel.
    pub kernel: Kernel,
    /// What each of its parameters is passed, in order.
    pub args: Vec<KernelArg>,
    /// The bytes of shared memory that a launch asks for; nothing where the kernel's arrays are
    /// constant and fit what every kernel has.
    pub shared: Option<Expr>,
    /// What may be as it should.
    pub warnings: Diagnostics,
}
