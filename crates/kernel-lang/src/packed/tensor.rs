// SPDX-License-Identifier: Apache-2.0
//! Parameters, results and workspaces of a signature in a packed function.

use super::facts::CallFacts;
use super::value::Evaluated;
use crate::argument::{Dim, ScalarArg, TensorArg};
use kernpack_ffi_abi::DType;
use kernpack_kernel_ir::Scalar;
use kernpack_kernel_ir::kernel::Facts;
use kernpack_layout::{Int, Layout, Tuple};
use kernpack_syntax::Span;
use kernpack_validators::dim::{self, Rank, Star};
use kernpack_validators::expr::{Expr, Field, Op};
use kernpack_validators::host_type::element_path;
use kernpack_validators::param::{Order, Pointer, Strides, Tensor, TensorDType};
use kernpack_validators::{HostType, Literal};
use std::sync::Arc;

/// The memory of a tensor.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Memory {
    /// The caller's.
    Passed,
    /// The call's own: of a result or a workspace.
    Allocated,
}

/// The value of a parameter.
pub(super) fn of_param(path: &str, host_type: &HostType, facts: &CallFacts) -> Evaluated {
    let name = || Arc::from(path);
    let symbol = Expr::symbol(path);
    match host_type {
        HostType::Tensor(tensor) => of_tensor(path, tensor, Memory::Passed, facts),
        HostType::Int(DType::UINT64) => scalar(symbol, Scalar::U64),
        HostType::Int(_) => Evaluated::Dim(symbol),
        HostType::Float(dtype) => match Scalar::of(*dtype) {
            Some(of) => scalar(symbol, of),
            None => Evaluated::Opaque(name(), "a float"),
        },
        HostType::Shape(dims) => of_shape(path, dims, facts),
        HostType::Tuple(elements) => {
            let element = |(i, (name, host_type)): (usize, &(Option<String>, HostType))| {
                let path = element_path(path, i, name.as_deref());
                (name.as_deref().map(Arc::from), of_param(&path, host_type, facts))
            };
            Evaluated::Tuple(elements.iter().enumerate().map(element).collect())
        }
        HostType::Optional(inner) => {
            Evaluated::Optional(name(), Box::new(of_param(path, inner, facts)))
        }
        HostType::String => Evaluated::String(name()),
        HostType::DataType => match facts.row().get(path) {
            Some(dtype) => Evaluated::DTypeParam(name(), *dtype),
            None => Evaluated::Opaque(name(), "a dtype"),
        },
        HostType::Stream | HostType::EnvStream => Evaluated::Stream(name()),
        HostType::Pointer(pointer) => of_pointer(path, *pointer, facts),
        HostType::Literal(literal) => of_literal(literal),
    }
}

fn scalar(expr: Expr, scalar: Scalar) -> Evaluated {
    Evaluated::Scalar(ScalarArg { expr, scalar, facts: Facts::NONE })
}

fn of_literal(literal: &Literal) -> Evaluated {
    match literal {
        Literal::None => Evaluated::None,
        Literal::Bool(truth) => Evaluated::Bool(*truth),
        Literal::Int(value) => Evaluated::Int((*value).into()),
        Literal::Float(value) => Evaluated::Float(*value),
        Literal::Text(text) => Evaluated::Text(Arc::from(&text[..])),
        Literal::DType(dtype) => Evaluated::DType(*dtype),
    }
}

/// The elements of a Shape, of which a star has none that could be named.
fn of_shape(path: &str, dims: &[dim::Dim], facts: &CallFacts) -> Evaluated {
    if Star::among(dims).is_some() {
        return Evaluated::Opaque(Arc::from(path), "a Shape with any number of elements");
    }
    let element = |(i, dim): (usize, &dim::Dim)| match dim {
        dim::Dim::Expr(expr) => Evaluated::number(facts.canonical(expr)),
        dim::Dim::Any | dim::Dim::Star(_) => {
            Evaluated::number(facts.canonical(&Expr::symbol(format!("{path}[{i}]"))))
        }
    };
    Evaluated::tuple(dims.iter().enumerate().map(element))
}

/// A tensor of the signature, or a workspace.
pub(super) fn of_tensor(
    path: &str,
    tensor: &Tensor,
    memory: Memory,
    facts: &CallFacts,
) -> Evaluated {
    let name: Arc<str> = Arc::from(path);
    let dtype = match tensor.dtype() {
        TensorDType::Fixed(dtype) => Some(*dtype),
        TensorDType::Var(var, _) => facts.row().get(var).copied(),
    };
    let Some(dtype) = dtype else { return Evaluated::Poison };
    let Some(element) = Scalar::of(dtype) else {
        let help = "view it as another dtype: its bytes as uint8, for example";
        return Evaluated::NoTensor(name, format!("kernels have no {dtype} yet"), help);
    };
    let Some(view) = view(path, tensor, facts) else {
        let why = "the signature does not say how the dims of its star lie in memory".to_string();
        return Evaluated::NoTensor(
            name,
            why,
            "say how its dims lie, by `order=` or `strides=[…]`",
        );
    };
    // Memory of the call's own is aligned for its elements, wherever it is named.
    let least = if memory == Memory::Allocated { element.bytes() } else { 1 };
    let align = facts.alignment(path).max(least);
    if align < element.bytes() {
        let why = misaligned(align, element);
        return Evaluated::NoTensor(name, why, "write a larger `align`, or none");
    }
    Evaluated::Tensor(Box::new(TensorArg {
        name,
        pointer: Expr::symbol(path),
        element,
        align,
        is_written: memory == Memory::Allocated || tensor.is_mutable(),
        // The launch knows what else the kernel gets.
        is_alone: false,
        view,
        offset: Int::Known(0),
    }))
}

/// A pointer of the signature. Nothing says who reads or writes what lies there, and so it may be
/// written, and may be any tensor's.
fn of_pointer(path: &str, pointer: Pointer, facts: &CallFacts) -> Evaluated {
    let name: Arc<str> = Arc::from(path);
    let Some(dtype) = pointer.dtype else {
        let why = "nothing says what the pointer points to".to_string();
        return Evaluated::NoTensor(name, why, "say it in its type: `Pointer(float32, align=4)`");
    };
    let Some(element) = Scalar::of(dtype) else {
        let help = "point to another dtype: to bytes as uint8, for example";
        return Evaluated::NoTensor(name, format!("kernels have no {dtype} yet"), help);
    };
    let align = facts.alignment(path);
    if align < element.bytes() {
        let why = misaligned(align, element);
        let help = "say `align=` in its type, as in `Pointer(float64, align=8)`";
        return Evaluated::NoTensor(name, why, help);
    }
    Evaluated::Pointer(Box::new(TensorArg {
        name,
        pointer: Expr::symbol(path),
        element,
        align,
        is_written: true,
        // The launch knows what else the kernel gets.
        is_alone: false,
        view: Layout::unit(),
        offset: Int::Known(0),
    }))
}

fn misaligned(align: u32, element: Scalar) -> String {
    format!("its address is a multiple of {align}, and {element} needs one of {}", element.bytes())
}

/// How a tensor lies in memory; nothing where that cannot be told as one layout.
fn view(path: &str, tensor: &Tensor, facts: &CallFacts) -> Option<Layout<Dim>> {
    let dims = tensor.dims();
    let rank = Rank::of(dims);
    let extents = extents(path, dims, facts);
    let written = |i: usize, dim: &dim::Dim| match dim {
        dim::Dim::Expr(expr) => expr.clone(),
        dim::Dim::Any | dim::Dim::Star(_) => field(path, Field::Stride, i, rank),
    };
    let strides = match tensor.strides_wanted() {
        Strides::Any if Star::among(dims).is_some() => return None,
        Strides::Any => (0..dims.len()).map(|i| field(path, Field::Stride, i, rank)).collect(),
        Strides::Dims(strides) => {
            let is_any_star = |(i, stride): (usize, &dim::Dim)| {
                matches!(dims.get(i), Some(dim::Dim::Star(_)))
                    && !matches!(stride, dim::Dim::Expr(_))
            };
            // The stride of a star's dims has no name where nothing says it.
            if strides.iter().enumerate().any(is_any_star) {
                return None;
            }
            strides.iter().enumerate().map(|(i, stride)| written(i, stride)).collect()
        }
        Strides::Compact(order) => compact(&extents, order)?,
    };
    let mode = |(extent, stride): (&Expr, Expr)| {
        let step = facts.step(&stride);
        let stride = match facts.int(&stride) {
            Int::Dynamic(dim) => Int::Dynamic(Dim { step, ..dim }),
            known => known,
        };
        Layout::mode(facts.int(extent), kernpack_layout::Stride::from(stride))
    };
    Some(Tuple::Node(extents.iter().zip(strides).map(mode).collect()))
}

/// The extents: those of a star are one.
pub(super) fn extents(path: &str, dims: &[dim::Dim], facts: &CallFacts) -> Vec<Expr> {
    let rank = Rank::of(dims);
    let extent = |(i, dim): (usize, &dim::Dim)| match dim {
        dim::Dim::Expr(expr) => facts.canonical(expr),
        dim::Dim::Any => facts.canonical(&field(path, Field::Shape, i, rank)),
        dim::Dim::Star(star) => match &star.name {
            Some(name) => Expr::Field(name.clone(), Field::Numel, Span::default()),
            None => others_quotient(path, dims),
        },
    };
    dims.iter().enumerate().map(extent).collect()
}

/// The elements of `*_`, of which only the tensor's number of elements tells: all of them, where
/// nothing else is there.
fn others_quotient(path: &str, dims: &[dim::Dim]) -> Expr {
    let numel = Expr::Field(path.to_string(), Field::Numel, Span::default());
    let others = dims.iter().enumerate().filter(|(_, dim)| !matches!(dim, dim::Dim::Star(_)));
    let rank = Rank::of(dims);
    others.fold(numel, |left, (i, _)| {
        // An empty tensor has no element that the kernel could ask for.
        let extent = field(path, Field::Shape, i, rank);
        let divisor = Expr::binary(Op::Max, extent, Expr::Int(1));
        Expr::binary(Op::FloorDiv, left, divisor)
    })
}

/// A field of the dim that is written at a place.
pub(super) fn field(path: &str, field: fn(i64) -> Field, i: usize, rank: Rank) -> Expr {
    Expr::Field(path.to_string(), field(rank.number(i)), Span::default())
}

/// The strides of a compact tensor.
fn compact(extents: &[Expr], order: &Order) -> Option<Vec<Expr>> {
    let mut strides = vec![Expr::Int(1); extents.len()];
    let mut next = Expr::Int(1);
    for i in order.fastest_first(extents.len())? {
        strides[i] = next.clone();
        next = match (next.as_int(), extents[i].as_int()) {
            (Some(1), _) => extents[i].clone(),
            (_, Some(1)) => next,
            _ => Expr::binary(Op::Mul, next, extents[i].clone()),
        };
    }
    Some(strides)
}
