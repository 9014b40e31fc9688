// SPDX-License-Identifier: Apache-2.0
//! What expressions of a packed function give: constants, numbers that each call has its own of,
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

/// What an expression gives.
#[derive(Clone, Debug)]
pub(super) enum Value {
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
    /// What a String says, which no kernel gets.
    String(Name),
    /// A parameter that only the layout of a launch can name.
    Stream(Name),
    /// A parameter that nothing can name, and what it is.
    Opaque(Name, &'static str),
    /// Several.
    Tuple(Vec<(Option<Name>, Value)>),
    /// A layout, with a swizzle of its indices or without.
    Layout(Layout<Dim>, Option<Swizzle>),
    /// A swizzle.
    Swizzle(Swizzle),
    /// A tensor, or a view of one.
    Tensor(Box<TensorArg>),
    /// A tensor that no kernel gets, with the reason and what to do about it.
    NoTensor(Name, String, &'static str),
    /// An argument that may be None, and what it is where it is given.
    Optional(Name, Box<Value>),
    /// A kernel.
    Kernel(Arc<Definition>),
    /// A function that is written.
    Function(Closure),
    /// A function of kernpack's or of Python's.
    Builtin(Name),
    /// `kp`
    Kernpack,
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
    /// What each of its parameters is given, and where that is written.
    pub args: Vec<(Value, Span)>,
}

impl Value {
    /// A tuple without names.
    pub fn tuple(items: impl IntoIterator<Item = Value>) -> Value {
        Value::Tuple(items.into_iter().map(|item| (None, item)).collect())
    }

    /// A number of a call, or one that is known.
    pub fn number(expr: Expr) -> Value {
        match expr {
            Expr::Int(value) => Value::Int(value.into()),
            Expr::Symbol(..) | Expr::Field(..) | Expr::Binary(..) => Value::Dim(expr),
        }
    }

    /// The integer that it is for an expression; truth values are 1 and 0 there.
    pub fn expr(&self) -> Option<Expr> {
        match self {
            Value::Int(value) => value.as_i64().map(Expr::Int),
            Value::Bool(truth) => Some(Expr::Int((*truth).into())),
            Value::Dim(expr) => Some(expr.clone()),
            _ => None,
        }
    }

    /// The dtype that it is.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Value::DType(dtype) | Value::DTypeParam(_, dtype) => Some(*dtype),
            _ => None,
        }
    }

    /// What messages call it.
    pub fn what(&self) -> &'static str {
        match self {
            Value::Poison => "nothing",
            Value::None => "`None`",
            Value::Bool(_) | Value::Rule(_) => "a truth value",
            Value::Int(_) | Value::Dim(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Text(_) => "a text",
            Value::DType(_) | Value::DTypeParam(..) => "a dtype",
            Value::Scalar(scalar) if scalar.scalar.is_float() => "a float parameter",
            Value::Scalar(_) => "a uint64 parameter",
            Value::String(_) => "a String parameter",
            Value::Stream(_) => "a stream",
            Value::Opaque(_, what) => what,
            Value::Tuple(_) => "a tuple",
            Value::Layout(..) => "a layout",
            Value::Swizzle(_) => "a swizzle",
            Value::Tensor(_) | Value::NoTensor(..) => "a tensor",
            Value::Optional(..) => "an argument that may be None",
            Value::Kernel(_) => "a kernel",
            Value::Function(_) | Value::Builtin(_) => "a function",
            Value::Kernpack | Value::Module(_) => "a module",
            Value::Call(_) => "a kernel with its arguments",
        }
    }
}
