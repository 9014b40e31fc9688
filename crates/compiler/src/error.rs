// SPDX-License-Identifier: Apache-2.0
//! Why a package could not be built.

use crate::image::{Arch, ImageError};
use crate::link::LinkError;
use crate::llvm::CodegenError;
use crate::source::c_compiler::CCompilerError;
use crate::source::cuda::CudaError;
use crate::source::triton::TritonSourceError;
use kernpack_syntax::Diagnostics;
use std::path::PathBuf;
use thiserror::Error;

/// Why a package could not be built.
#[derive(Debug, Error)]
pub enum CompileError {
    /// What the function says does not fit together.
    #[error("in function `{function}`:\n{diagnostics}")]
    Function {
        /// The function.
        function: String,
        /// What is wrong with it.
        diagnostics: Diagnostics,
    },
    /// The source of a function cannot be had.
    #[error("in function `{function}`: {reason}")]
    Source {
        /// The function, or the first of several that have this source.
        function: String,
        /// Why not.
        reason: Box<CompileError>,
    },
    /// A file could not be read.
    #[error("cannot read `{}`: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: std::io::Error,
    },
    /// A file is of no kind that a source can be.
    #[error("`{}` is no host source: expected a file ending in .o, .a or .c", .0.display())]
    SourceKind(PathBuf),
    /// A file has no bytes.
    #[error("`{}` is empty; build or copy it again", .0.display())]
    Empty(PathBuf),
    /// The C compiler made no object of a C file.
    #[error(transparent)]
    CCompiler(#[from] CCompilerError),
    /// A source lacks a kernel that a launch names.
    #[error("`{}` has no function `{kernel}`, which `{function}` launches; it has {has}", path.display())]
    MissingKernel {
        /// The source.
        path: PathBuf,
        /// The symbol.
        kernel: String,
        /// The function that launches it.
        function: String,
        /// The functions the source has.
        has: String,
    },
    /// GPU code is damaged, or lacks a kernel.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// CUDA C++ gave no GPU code.
    #[error(transparent)]
    Cuda(#[from] CudaError),
    /// What Triton says of a kernel does not fit the launch, or cannot be had.
    #[error(transparent)]
    Triton(#[from] TritonSourceError),
    /// GPU code is not what the package file says.
    #[error("`{}` should be {expected}, and is {found}", path.display())]
    OtherImage {
        /// The file.
        path: PathBuf,
        /// What it is said to be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// Two files of one source are for the same devices.
    #[error("`{}` and `{}` both have code for {arch}; name one file for each architecture", files.0.display(), files.1.display())]
    SameArch {
        /// Both files, in their order.
        files: (PathBuf, PathBuf),
        /// What both are for.
        arch: Arch,
    },
    /// A kernel's parameters are not the arguments that a launch passes.
    #[error("kernel `{kernel}` of `{file}` takes {takes}, but `{function}` passes {passes}")]
    KernelParams {
        /// The kernel.
        kernel: String,
        /// Where it is from.
        file: String,
        /// The function that launches it.
        function: String,
        /// What the image says.
        takes: String,
        /// What the launch says.
        passes: String,
    },
    /// Objects do not link.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The generated code was refused: a bug of kernpack's.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
}

impl CompileError {
    /// The error of a source that this function has.
    pub(crate) fn in_source_of(self, function: &str) -> CompileError {
        CompileError::Source { function: function.to_string(), reason: Box::new(self) }
    }
}
