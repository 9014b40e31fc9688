// SPDX-License-Identifier: Apache-2.0
//! What a kernel is compiled for, held against the numbers of a call that runs it.

use super::call::Call;
use super::subject::Subject;
use crate::value;
use kernpack_kernel_ir::kernel::Facts;
use kernpack_kernel_ir::{Const, Scalar};
use kernpack_kernel_lang::argument::{Argument, Constant, Dim, ScalarArg, TensorArg};
use kernpack_kernel_lang::packed::{Claim, Fact, PackedLaunch};
use kernpack_layout::{Int, Layout, Mode, Tuple};
use kernpack_validators::plan::Accepted;
use kernpack_validators::{Expr, KernelArg};
use std::collections::HashMap;
use std::fmt;

/// What came of a call.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub n_launches: usize,
    pub n_claims: usize,
    pub failures: Vec<Failure>,
}

/// A claim that does not hold.
#[derive(Debug)]
pub(super) struct Failure {
    /// What is claimed, without the numbers of the call.
    pub kind: String,
    /// What is so.
    got: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "believed: {}; and it is {}", self.kind, self.got)
    }
}

/// The numbers of a call.
struct Numbers<'c> {
    call: &'c Call,
    values: HashMap<String, i64>,
    held: Held,
}

/// Holds what is believed of every launch that runs.
pub(super) fn hold(subject: &Subject, call: &Call, accepted: &Accepted) -> Held {
    let Some((_, values)) = accepted.launches.last() else { return Held::default() };
    let names = subject.names.iter().zip(values);
    let values = names.filter_map(|(name, value)| Some((name.to_string(), (*value)?))).collect();
    let mut numbers = Numbers { call, values, held: Held::default() };
    let row = accepted.combination.and_then(|row| usize::try_from(row).ok()).unwrap_or(0);
    let (mut made, mut written) = (Vec::new(), Vec::new());
    for (index, _) in &accepted.launches[..accepted.launches.len() - 1] {
        let Some(rows) = subject.launches.get(*index) else {
            written.extend(subject.ways.iter().map(|ways| ways[index - subject.launches.len()]));
            continue;
        };
        match rows.get(&row) {
            Some(launch) => {
                numbers.launch(subject, launch);
                made.push(launch.geometry.grid[0].as_int().unwrap_or(0) as usize);
            }
            None if subject.ways.is_some() => {}
            None => numbers.claim(&format!("launch {index} never runs"), Err("run".to_string())),
        }
    }
    if subject.ways.is_some() {
        let outcome = if made == written { Ok(()) } else { Err(format!("{written:?}")) };
        numbers.claim(&format!("the launches {made:?} run"), outcome);
    }
    numbers.held
}

impl Numbers<'_> {
    fn claim(&mut self, kind: &str, outcome: Result<(), String>) {
        self.held.n_claims += 1;
        if let Err(got) = outcome {
            self.held.failures.push(Failure { kind: kind.to_string(), got });
        }
    }

    /// The value of an expression: nothing where it has none, and no call gets there.
    fn value(&self, expr: &Expr) -> Option<i64> {
        expr.value(&|name| self.values.get(name).copied().or_else(|| self.numel(name)))
    }

    /// `x.numel`, which the entry point refuses where 64 bits do not hold it.
    fn numel(&self, name: &str) -> Option<i64> {
        let tensor = self.call.tensors.get(name.strip_suffix(".numel")?)?;
        tensor.shape.iter().try_fold(1i64, |numel, extent| numel.checked_mul(*extent))
    }

    fn launch(&mut self, subject: &Subject, launch: &PackedLaunch) {
        self.held.n_launches += 1;
        for Fact { claim, .. } in &launch.known {
            match claim {
                Claim::Number(expr, facts) => self.number(expr, *facts),
                Claim::Aligned(path, bytes) => self.aligned(path, *bytes),
                Claim::Apart(a, b) => self.apart(a, b),
            }
        }
        for (arg, given) in launch.args.iter().zip(&subject.args) {
            self.argument(arg, given);
        }
        for (arg, modes) in launch.args.iter().skip(subject.args.len()).zip(&subject.layouts) {
            self.layout_arg(arg, modes);
        }
        let mut tensors = Vec::new();
        launch.args.iter().for_each(|arg| add_tensors(arg, &mut tensors));
        for (i, tensor) in tensors.iter().enumerate() {
            for other in tensors[i + 1..].iter().chain(&tensors[..i]) {
                let meet = tensor.is_written || other.is_written;
                if tensor.is_alone && meet && tensor.pointer != other.pointer {
                    self.apart(&tensor.pointer.to_string(), &other.pointer.to_string());
                }
            }
        }
    }

    fn argument(&mut self, arg: &Argument, given: &KernelArg) {
        match (arg, given) {
            (Argument::Constant(constant), KernelArg::Value(expr, _)) => {
                let known = match constant {
                    Constant::Int(value) => {
                        value.small().and_then(|value| i64::try_from(value).ok())
                    }
                    Constant::Number(number) => number.as_int(),
                    _ => None,
                };
                if let (Some(known), Some(value)) = (known, self.value(expr)) {
                    let outcome = if known == value { Ok(()) } else { Err(value.to_string()) };
                    self.claim(&format!("{expr} is {known}"), outcome);
                }
            }
            _ => self.part(arg),
        }
    }

    /// A layout that a packed function has made of these extents and strides.
    fn layout_arg(&mut self, arg: &Argument, expected: &[(Expr, Expr)]) {
        let found: Vec<_> = match arg {
            Argument::Layout(layout, _) => {
                let numbers = modes(layout).into_iter();
                numbers.map(|mode| [mode.extent.clone(), mode.stride.scale.clone()]).collect()
            }
            Argument::Constant(Constant::Layout(layout, _)) => {
                let known = |int: &Int<std::convert::Infallible>| match int {
                    Int::Known(value) => Int::Known(*value),
                    Int::Dynamic(never) => match *never {},
                };
                let numbers = modes(layout).into_iter();
                numbers.map(|mode| [known(&mode.extent), known(&mode.stride.scale)]).collect()
            }
            other => panic!("a layout is passed as {other:?}"),
        };
        assert_eq!(found.len(), expected.len(), "a mode each");
        for (numbers, (extent, stride)) in found.iter().zip(expected) {
            // No step is along a mode of extent 1.
            let n_held = if self.value(extent) == Some(1) { 1 } else { 2 };
            for (int, expr) in numbers.iter().zip([extent, stride]).take(n_held) {
                if let (Some(believed), Some(value)) = (self.int(int), self.value(expr)) {
                    let is_so = believed == value;
                    let outcome = if is_so { Ok(()) } else { Err(value.to_string()) };
                    self.claim(&format!("{expr} of a layout is {int:?}"), outcome);
                }
            }
        }
    }

    fn part(&mut self, arg: &Argument) {
        match arg {
            Argument::Tensor(tensor) | Argument::Pointer(tensor) => self.tensor(tensor),
            Argument::Scalar(ScalarArg { expr, facts, scalar }) => {
                self.number(expr, *facts);
                self.fits(expr, *scalar);
            }
            Argument::Tuple(items) => items.iter().for_each(|(_, item)| self.part(item)),
            Argument::Optional(optional) => self.part(&optional.inner),
            Argument::Layout(..) | Argument::Constant(_) | Argument::Function(_) => {}
        }
    }

    fn number(&mut self, expr: &Expr, facts: Facts) {
        let Facts { min, max, divisor } = facts;
        let Some(value) = self.value(expr) else { return };
        let holds = min <= value && value <= max && value % divisor.max(1) == 0;
        let outcome = if holds { Ok(()) } else { Err(value.to_string()) };
        self.claim(&format!("{expr} is in {min}..={max}, a multiple of {divisor}"), outcome);
    }

    /// That the type that a number is passed as holds it.
    fn fits(&mut self, expr: &Expr, scalar: Scalar) {
        let Some(value) = self.value(expr).filter(|_| !scalar.is_float()) else { return };
        let held = Const::from_bits(scalar, value as u64);
        let same = held.as_int().map_or(held.bits() as i64, |held| held);
        let holds = same == value && (scalar.is_signed() || value >= 0);
        let outcome = if holds { Ok(()) } else { Err(value.to_string()) };
        self.claim(&format!("{expr} is one of {scalar}"), outcome);
    }

    /// A number of a layout, and what is known of it.
    fn int(&mut self, int: &Int<Dim>) -> Option<i64> {
        match int {
            Int::Known(value) => Some(*value),
            Int::Dynamic(dim) => {
                self.number(&dim.expr, dim.facts);
                self.value(&dim.expr)
            }
        }
    }

    fn tensor(&mut self, tensor: &TensorArg) {
        let path = tensor.pointer.to_string();
        let modes = modes(&tensor.view);
        let numbers =
            modes.iter().map(|mode| (self.int(&mode.extent), self.int(&mode.stride.scale)));
        let numbers: Vec<_> = numbers.collect();
        let Some(passed) = self.call.tensors.get(&path) else { return };
        self.aligned(&path, tensor.align);
        if modes.len() != passed.shape.len() {
            return;
        }
        let strides = passed.strides.clone().unwrap_or_else(|| value::row_major(&passed.shape));
        for (i, (extent, stride)) in numbers.into_iter().enumerate() {
            let (own, actual) = (passed.shape[i], strides[i]);
            // What no step takes may be anything.
            let is_free = own == 1 || is_empty(passed);
            let is = |known: Option<i64>, actual: i64| match known {
                Some(known) if known != actual => Err(actual.to_string()),
                Some(_) | None => Ok(()),
            };
            if !is_empty(passed) || modes[i].extent.is(0) {
                self.claim(&format!("{path}.shape[{i}] is {:?}", modes[i].extent), is(extent, own));
            }
            // A compact stride beyond 64 bits has no value, and no kernel is passed it.
            if let (false, Int::Dynamic(dim), Some(_)) = (is_free, &modes[i].stride.scale, stride) {
                let rest = actual % dim.step;
                let outcome = if rest == 0 { Ok(()) } else { Err(actual.to_string()) };
                let kind = format!("{path}.strides[{i}] is a multiple of {} in steps", dim.step);
                self.claim(&kind, outcome);
            }
            if !is_free {
                let kind = format!("{path}.strides[{i}] is {:?}", modes[i].stride.scale);
                self.claim(&kind, is(stride, actual));
            }
        }
    }

    /// That two tensors share no memory.
    fn apart(&mut self, a: &str, b: &str) {
        if let [Some(first), Some(second)] = [a, b].map(|path| self.call.tensors.get(path)) {
            let holds = is_empty(first) || is_empty(second) || are_apart(first, second);
            let outcome = if holds { Ok(()) } else { Err("in it".to_string()) };
            self.claim(&format!("{a} is apart from {b}"), outcome);
        }
    }

    /// That the address of a tensor is a multiple of so many bytes.
    fn aligned(&mut self, path: &str, bytes: u32) {
        let Some(passed) = self.call.tensors.get(path) else { return };
        let rest = passed.data.wrapping_add(passed.byte_offset) % u64::from(bytes);
        let holds = rest == 0 || is_empty(passed);
        let outcome = if holds { Ok(()) } else { Err(format!("{rest} beyond one")) };
        self.claim(&format!("{path} is at a multiple of {bytes}"), outcome);
    }
}

fn modes<L>(view: &Layout<L>) -> Vec<&Mode<L>> {
    match view {
        Tuple::Leaf(mode) => vec![mode],
        Tuple::Node(parts) => parts.iter().flat_map(modes).collect(),
    }
}

fn add_tensors<'a>(arg: &'a Argument, tensors: &mut Vec<&'a TensorArg>) {
    match arg {
        Argument::Tensor(tensor) | Argument::Pointer(tensor) => tensors.push(tensor),
        Argument::Tuple(items) => items.iter().for_each(|(_, item)| add_tensors(item, tensors)),
        Argument::Optional(optional) => add_tensors(&optional.inner, tensors),
        _ => {}
    }
}

fn is_empty(tensor: &value::Tensor) -> bool {
    tensor.shape.contains(&0)
}

/// Whether no byte lies in the range of both.
fn are_apart(a: &value::Tensor, b: &value::Tensor) -> bool {
    let ([low_a, high_a], [low_b, high_b]) = (range(a), range(b));
    high_a <= low_b || high_b <= low_a
}

/// From the lowest byte to one past the highest.
fn range(tensor: &value::Tensor) -> [i128; 2] {
    let first = i128::from(tensor.data.wrapping_add(tensor.byte_offset));
    let bytes = i128::from(tensor.dtype.element_bytes());
    let strides = tensor.strides.clone().unwrap_or_else(|| value::row_major(&tensor.shape));
    let reaches = tensor.shape.iter().zip(&strides);
    let reaches: Vec<_> =
        reaches.map(|(extent, stride)| i128::from(extent - 1) * i128::from(*stride)).collect();
    let sum = |holds: fn(&i128) -> bool| reaches.iter().copied().filter(holds).sum::<i128>();
    [first + sum(|reach| *reach < 0) * bytes, first + (sum(|reach| *reach > 0) + 1) * bytes]
}
