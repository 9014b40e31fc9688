// SPDX-License-Identifier: Apache-2.0
//! Values of a packed function's expressions: constants, numbers that each call has its own of,
//! and what is passed on to kernels.

use super::closure::Closure;
use crate::argument::{Dim, ScalarArg, TensorArg};
use crate::file::{Definition, ModuleId};
use crate::integer::Integer;
use crate::python::tree::Name;
use kernpack_ffi_abi::DType;
use kernpack_layout::{Layout, Swizzle};
use kernpack_syntax::Span;
use kernpack_validators::{Expr, Rule};
use std::sync::Arc;

/// The value of an expression while a packed function is evaluated.
#[derive(Clone, Debug)]
pub(super) enum Evaluated {
    /// Nothing that can be told: a mistake was reported.
    Poison,
    /// `None`; in a coordinate, all of a mode.
    None,
    /// `True`, `False`
    Bool(bool),
    /// An integer that is known.
    Int(Integer),
    /// A float that is known.
    Float(f64),
    /// A text that is known.
    Text(Arc<str>),
    /// A dtype: known, as each combination of dtypes has a run of its own.
    DType(DType),
    /// The dtype that a parameter passes, which no kernel gets.
    DTypeParam(Name, DType),
    /// An integer, or a truth value, that each call has its own of.
    Dim(Expr),
    /// A parameter that no expression can hold: a float, a uint64.
    Scalar(ScalarArg),
    /// The contents of a String, which no kernel gets.
    String(Name),
    /// A parameter that only the layout of a launch can name.
    Stream(Name),
    /// A parameter that nothing can name, and what it is.
    Opaque(Name, &'static str),
    /// Several.
    Tuple(Vec<(Option<Name>, Evaluated)>),
    /// A range of constants: the first, the end and the step.
    Range([i128; 3]),
    /// A layout, with a swizzle of its indices or without.
    Layout(Layout<Dim>, Option<Swizzle>),
    /// A swizzle.
    Swizzle(Swizzle),
    /// A tensor, or a view of one.
    Tensor(Box<TensorArg>),
    /// An address, of which nothing says how many elements lie there: the tensor has one.
    Pointer(Box<TensorArg>),
    /// A tensor or a pointer that no kernel gets, with the reason and what to do about it.
    NoTensor(Name, String, &'static str),
    /// An argument that may be None, and what it is where it is given.
    Optional(Name, Box<Evaluated>),
    /// A kernel.
    Kernel(Arc<Definition>),
    /// A function that is written.
    Function(Closure),
    /// A function of kernpack's or of Python's.
    Builtin(Name),
    /// `kp`
    Kernpack,
    /// `kp.device`
    Device,
    /// Another kernel file.
    Module(ModuleId),
    /// A condition that each call answers.
    Rule(Rule),
    /// A kernel with its arguments, which is not launched yet.
    Call(Box<KernelCall>),
}

/// A kernel with its arguments.
#[derive(Clone, Debug)]
pub(super) struct KernelCall {
    /// The kernel.
    pub kernel: Arc<Definition>,
    /// The argument of each of its parameters, and where that is written.
    pub args: Vec<(Evaluated, Span)>,
}

impl Evaluated {
    /// A tuple without names.
    pub fn tuple(items: impl IntoIterator<Item = Evaluated>) -> Evaluated {
        Evaluated::Tuple(items.into_iter().map(|item| (None, item)).collect())
    }

    /// A number of a call, or one that is known.
    pub fn number(expr: Expr) -> Evaluated {
        match expr {
            Expr::Int(value) => Evaluated::Int(value.into()),
            Expr::Symbol(..) | Expr::Field(..) | Expr::Binary(..) => Evaluated::Dim(expr),
        }
    }

    /// The integer that it is for an expression; truth values are 1 and 0 there.
    pub fn expr(&self) -> Option<Expr> {
        match self {
            Evaluated::Int(value) => value.as_i64().map(Expr::Int),
            Evaluated::Bool(truth) => Some(Expr::Int((*truth).into())),
            Evaluated::Dim(expr) => Some(expr.clone()),
            _ => None,
        }
    }

    /// The dtype that it is.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Evaluated::DType(dtype) | Evaluated::DTypeParam(_, dtype) => Some(*dtype),
            _ => None,
        }
    }

    /// Its words in messages.
    pub fn what(&self) -> &'static str {
        match self {
            Evaluated::Poison => "nothing",
            Evaluated::None => "`None`",
            Evaluated::Bool(_) | Evaluated::Rule(_) => "a truth value",
            Evaluated::Int(_) | Evaluated::Dim(_) => "an integer",
            Evaluated::Float(_) => "a float",
            Evaluated::Text(_) => "a text",
            Evaluated::DType(_) | Evaluated::DTypeParam(..) => "a dtype",
            Evaluated::Scalar(scalar) if scalar.scalar.is_float() => "a float parameter",
            Evaluated::Scalar(_) => "a uint64 parameter",
            Evaluated::String(_) => "a String parameter",
            Evaluated::Stream(_) => "a stream",
            Evaluated::Opaque(_, what) => what,
            Evaluated::Tuple(_) => "a tuple",
            Evaluated::Range(_) => "a range",
            Evaluated::Layout(..) => "a layout",
            Evaluated::Swizzle(_) => "a swizzle",
            Evaluated::Tensor(_) | Evaluated::NoTensor(..) => "a tensor",
            Evaluated::Pointer(_) => "a pointer",
            Evaluated::Optional(..) => "an argument that may be None",
            Evaluated::Kernel(_) => "a kernel",
            Evaluated::Function(_) | Evaluated::Builtin(_) => "a function",
            Evaluated::Kernpack | Evaluated::Module(_) => "a module",
            Evaluated::Device => "the device of the call",
            Evaluated::Call(_) => "a kernel with its arguments",
        }
    }
}
