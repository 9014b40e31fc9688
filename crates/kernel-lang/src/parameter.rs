// SPDX-License-Identifier: Apache-2.0
//! Parameters of a kernel: what it asked for while it was elaborated, each pointer and each number
//! once. Numbers are expressions over the dims of a call, and so are sums and products of them, as
//! the launch has to know how large shared tensors are.

use crate::extents::Given;
use crate::finish;
use kernpack_kernel_ir::kernel::{Facts, Param, ParamKind, Pointer, TensorMap, Value};
use kernpack_kernel_ir::op::Binary;
use kernpack_kernel_ir::shared::{Extent, SharedLayout};
use kernpack_kernel_ir::{Builder, Const, Kernel, Scalar};
use kernpack_validators::expr::Op;
use kernpack_validators::plan::CScalar;
use kernpack_validators::{Expr, KernelArg, MapSpec};
use rustc_hash::FxHashMap;
use std::collections::HashMap;

/// The most operations, names and constants of an expression that a launch is to compute.
const MOST_NODES: usize = 256;

/// The parameters of a kernel in the making.
#[derive(Debug, Default)]
pub(crate) struct Parameters {
    list: Vec<Parameter>,
    known: HashMap<String, Value>,
    /// The numbers in terms of a call.
    terms: FxHashMap<Value, Term>,
}

/// A number in terms of a call: put together only where it is asked for, as sums of sums grow
/// large.
#[derive(Debug)]
enum Term {
    Given(Expr),
    Of(Op, [Value; 2]),
}

#[derive(Debug)]
struct Parameter {
    value: Value,
    param: Param,
    arg: KernelArg,
}

impl Parameters {
    /// The pointer that a call passes.
    pub fn pointer(&mut self, b: &mut Builder, expr: &Expr, pointer: Pointer) -> Value {
        let text = format!("pointer {expr}");
        if let Some(&value) = self.known.get(&text) {
            return value;
        }
        let kind = ParamKind::Pointer(pointer);
        self.add(b, text, expr.to_string(), kind, KernelArg::Value(expr.clone(), None))
    }

    /// The name of what a pointer is passed.
    pub fn pointer_name(&self, pointer: Value) -> Option<String> {
        self.pointer_param(pointer).map(|(name, _)| name)
    }

    /// The parameter that a pointer is: its name, and what is known of it.
    pub fn pointer_param(&self, pointer: Value) -> Option<(String, Pointer)> {
        let Parameter { param, .. } = self.list.iter().find(|param| param.value == pointer)?;
        match param.kind {
            ParamKind::Pointer(pointer) => Some((param.name.clone(), pointer)),
            ParamKind::Scalar(..) | ParamKind::Map(_) => None,
        }
    }

    /// The map that a launch makes.
    pub fn map(&mut self, b: &mut Builder, spec: MapSpec, map: TensorMap) -> Value {
        let text = spec.to_string();
        if let Some(&value) = self.known.get(&text) {
            return value;
        }
        let name = format!("map of {}", spec.tensor);
        self.add(b, text, name, ParamKind::Map(map), KernelArg::TensorMap(spec))
    }

    /// A number that a call has.
    pub fn number(&mut self, b: &mut Builder, expr: &Expr, scalar: Scalar, facts: Facts) -> Value {
        let text = format!("{scalar} {expr}");
        if let Some(&value) = self.known.get(&text) {
            return value;
        }
        let kind = ParamKind::Scalar(scalar, facts);
        let arg = KernelArg::Value(expr.clone(), CScalar::of(scalar.dtype()));
        let value = self.add(b, text, expr.to_string(), kind, arg);
        if scalar == Scalar::I64 {
            self.terms.insert(value, Term::Given(expr.clone()));
        }
        value
    }

    fn add(
        &mut self,
        b: &mut Builder,
        text: String,
        name: String,
        kind: ParamKind,
        arg: KernelArg,
    ) -> Value {
        let value = b.loop_index(kind.ty());
        self.known.insert(text, value);
        self.list.push(Parameter { value, param: Param { name, kind }, arg });
        value
    }

    /// A number in terms of a call, where that can be said.
    pub fn expr(&self, value: Value, kernel: &Kernel) -> Option<Expr> {
        let mut nodes_left = MOST_NODES;
        self.term(value, kernel, &mut nodes_left)
    }

    fn term(&self, value: Value, kernel: &Kernel, nodes_left: &mut usize) -> Option<Expr> {
        *nodes_left = nodes_left.checked_sub(1)?;
        if let Some(number) = kernel.constant(value).and_then(Const::as_int) {
            return Some(Expr::Int(number));
        }
        match self.terms.get(&value)? {
            Term::Given(expr) => Some(expr.clone()),
            Term::Of(op, [left, right]) => {
                let left = self.term(*left, kernel, nodes_left)?;
                Some(Expr::binary(*op, left, self.term(*right, kernel, nodes_left)?))
            }
        }
    }

    /// The numbers of the call that the kernel asked for.
    pub fn given(&self) -> Vec<Given<'_>> {
        let given = self.list.iter().filter_map(|one| match (&one.param.kind, &one.arg) {
            (ParamKind::Scalar(_, facts), KernelArg::Value(expr, _)) => {
                Some(Given { value: one.value, divisor: facts.divisor.max(1), expr })
            }
            _ => None,
        });
        given.collect()
    }

    /// Writes down what the result of an operation is.
    pub fn combine(&mut self, op: Binary, result: Value, a: Value, c: Value, b: &Builder) {
        if let Some(op) = term_op(op) {
            self.write(op, result, a, c, b);
        }
    }

    /// Writes down that a result is a quotient rounded up.
    pub fn ceil_div(&mut self, result: Value, a: Value, c: Value, b: &Builder) {
        self.write(Op::CeilDiv, result, a, c, b);
    }

    fn write(&mut self, op: Op, result: Value, a: Value, c: Value, b: &Builder) {
        let is_said = |value| b.known_int(value).is_some() || self.terms.contains_key(&value);
        if is_said(a) && is_said(c) && b.known(result).is_none() {
            self.terms.insert(result, Term::Of(op, [a, c]));
        }
    }

    /// Puts the parameters into the kernel, in order. Gives what each is passed, and the bytes of
    /// shared memory that a launch asks for.
    pub fn finish(self, kernel: &mut Kernel) -> (Vec<KernelArg>, Option<Expr>) {
        let shared = self.shared(kernel);
        let used = finish::remove_unused(kernel);
        let kept: Vec<_> = self.list.into_iter().filter(|one| used[one.value.index()]).collect();
        let values: Vec<_> = kept.iter().map(|one| one.value).collect();
        finish::renumber(kernel, &values);
        let mapped = mapped_tensors(&kept);
        let kept = kept.into_iter().map(|one| one.beside_maps(&mapped));
        let (params, args) = kept.map(|one| (one.param, one.arg)).unzip();
        kernel.params = params;
        (args, shared)
    }

    /// The bytes of all arrays of a block, where a launch has to ask for them.
    fn shared(&self, kernel: &Kernel) -> Option<Expr> {
        let SharedLayout::Dynamic(layout) = SharedLayout::of(kernel) else { return None };
        let Extent { bytes, params, rounding } = layout.total;
        let (known, rounding) = (i64::try_from(bytes).ok()?, i64::from(rounding));
        let mut parts = Vec::new();
        for value in params {
            let Term::Given(expr) = self.terms.get(&value)? else { return None };
            let rounded = expr.clone().ceildiv(rounding) * rounding;
            parts.push(match self.is_size(value) {
                true => rounded,
                // What is negative counts as nothing.
                false => Expr::binary(Op::Max, rounded, Expr::Int(0)),
            });
        }
        if known > 0 || parts.is_empty() {
            parts.push(Expr::Int(known));
        }
        parts.into_iter().reduce(|sum, part| sum + part)
    }

    /// Whether a parameter is a number that is never negative.
    fn is_size(&self, value: Value) -> bool {
        let param = self.list.iter().find(|one| one.value == value).map(|one| &one.param.kind);
        matches!(param, Some(ParamKind::Scalar(_, facts)) if facts.min >= 0)
    }
}

/// The tensors that maps are of, each with whether it is written by its map.
fn mapped_tensors(params: &[Parameter]) -> Vec<(String, bool)> {
    let of_map = |one: &Parameter| match (&one.param.kind, &one.arg) {
        (ParamKind::Map(map), KernelArg::TensorMap(spec)) => {
            Some((spec.tensor.clone(), map.is_written))
        }
        _ => None,
    };
    params.iter().filter_map(of_map).collect()
}

impl Parameter {
    /// The parameter beside maps of these tensors: what copies touch, a pointer does not reach
    /// alone.
    fn beside_maps(mut self, mapped: &[(String, bool)]) -> Parameter {
        if let ParamKind::Pointer(pointer) = &mut self.param.kind {
            let is_touched = |(tensor, is_written): &(String, bool)| {
                *tensor == self.param.name && (*is_written || pointer.is_written)
            };
            pointer.is_alone &= !mapped.iter().any(is_touched);
        }
        self
    }
}

/// The operation on numbers of a call that an operation of a kernel is.
pub(crate) fn term_op(op: Binary) -> Option<Op> {
    Some(match op {
        Binary::Add => Op::Add,
        Binary::Sub => Op::Sub,
        Binary::Mul => Op::Mul,
        Binary::FloorDiv => Op::FloorDiv,
        Binary::FloorMod => Op::Mod,
        Binary::Min => Op::Min,
        Binary::Max => Op::Max,
        Binary::Div
        | Binary::MulHigh
        | Binary::And
        | Binary::Or
        | Binary::Xor
        | Binary::Shl
        | Binary::Shr => return None,
    })
}
