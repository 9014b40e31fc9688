// SPDX-License-Identifier: Apache-2.0
//! Arguments that a launch passes to a kernel, as they are known while the kernel is compiled. A
//! launch in a package file and one in a packed function make the same arguments.
//!
//! A number that a call has is an expression over the signature's dims, and what is known of it:
//! the kernel is passed it where it uses it, and where it uses it twice, once.

use crate::file::ModuleId;
use crate::integer::Integer;
use crate::python::tree::{Function, Name};
use kernpack_kernel_ir::Scalar;
use kernpack_kernel_ir::kernel::Facts;
use kernpack_layout::{Int, Layout, Swizzle};
use kernpack_validators::Expr;
use std::fmt;
use std::sync::Arc;

/// A number of a call, an `int64`.
#[derive(Clone, Debug, PartialEq)]
pub struct Dim {
    /// The expression of its value.
    pub expr: Expr,
    /// The facts about it.
    pub facts: Facts,
    /// The divisor of every step that this is the stride of, 1 or more: of a stride that no
    /// step takes, more may be known than of the number.
    pub step: i64,
}

/// As it stands in a layout: as CuTe prints what is not known.
impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expr.fmt(f)
    }
}

/// The argument of a kernel's parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A tensor.
    Tensor(Box<TensorArg>),
    /// An address, of which nothing says how many elements lie there: the tensor has one.
    Pointer(Box<TensorArg>),
    /// A number that each call has its own of.
    Scalar(ScalarArg),
    /// A constant of the code itself.
    Constant(Constant),
    /// A layout with numbers that each call has its own of.
    Layout(Layout<Dim>, Option<Swizzle>),
    /// A function.
    Function(FunctionArg),
    /// Several, with names where the signature has some.
    Tuple(Vec<(Option<Name>, Argument)>),
    /// An argument that may be None.
    Optional(Box<OptionalArg>),
}

/// A tensor, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorArg {
    /// Its name in messages.
    pub name: Name,
    /// The pointer that is passed: the parameter, result or workspace.
    pub pointer: Expr,
    /// The type of its elements.
    pub element: Scalar,
    /// The alignment of the pointer, in bytes.
    pub align: u32,
    /// Whether the kernel may write there: it is `mut`, a result or a workspace.
    pub is_written: bool,
    /// Whether nothing that is written through another pointer lies there, nor, where this one is
    /// written, anything that another one reads.
    pub is_alone: bool,
    /// Extents and strides, in elements.
    pub view: Layout<Dim>,
    /// The first element, counted from the pointer.
    pub offset: Int<Dim>,
}

/// A number that each call has its own of.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarArg {
    /// Its expression: a parameter, or an expression over dims.
    pub expr: Expr,
    /// Its type in the kernel, and as it is passed.
    pub scalar: Scalar,
    /// The facts about it, where it is an integer.
    pub facts: Facts,
}

/// A constant of the code itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// `None`
    None,
    /// `True`, `False`
    Bool(bool),
    /// An integer without a type, as Python has them.
    Int(Integer),
    /// A float without a type.
    Float(f64),
    /// A number of a type.
    Number(kernpack_kernel_ir::Const),
    /// A text.
    Text(Arc<str>),
    /// A dtype.
    DType(Scalar),
    /// A layout of which all is known, with a swizzle of its indices or without.
    Layout(Layout, Option<Swizzle>),
    /// A swizzle.
    Swizzle(Swizzle),
}

/// A function, passed to a kernel.
#[derive(Clone, Debug)]
pub enum FunctionArg {
    /// A `def` or a `lambda`, with what it uses of the place where it stands.
    Written {
        /// The file it stands in.
        module: ModuleId,
        /// The function.
        function: Arc<Function>,
        /// Names that are not the file's.
        captured: Vec<(Name, Argument)>,
    },
    /// One of kernpack's, by its name there: `exp`.
    Builtin(Name),
}

/// An argument that may be None.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionalArg {
    /// 1 where it is given, else 0: `w.given`.
    pub given: Expr,
    /// The argument where it is given.
    pub inner: Argument,
    /// Its name in messages.
    pub name: Name,
}

/// A function that is written is the one at its place, with what it uses there.
impl PartialEq for FunctionArg {
    fn eq(&self, other: &FunctionArg) -> bool {
        match (self, other) {
            (
                FunctionArg::Written { function: a, captured: of_a, .. },
                FunctionArg::Written { function: b, captured: of_b, .. },
            ) => Arc::ptr_eq(a, b) && of_a == of_b,
            (FunctionArg::Builtin(a), FunctionArg::Builtin(b)) => a == b,
            _ => false,
        }
    }
}
