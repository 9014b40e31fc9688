// SPDX-License-Identifier: Apache-2.0
//! Reductions over the threads of a block: in each warp with shuffles, then over the warps through
//! shared memory.

use super::warp::{number, operation};
use super::{Builtin, Given};
use crate::elaborate::Elaborator;
use crate::expr::{largest, least};
use crate::value::Elaborated;
use kernpack_kernel_ir::kernel::{self, SharedArray, Size};
use kernpack_kernel_ir::op::{Binary, Compare, Guard, Load, Region, Store};
use kernpack_kernel_ir::{Const, Scalar, Type};
use kernpack_machine::block::{MOST_ACCESS_BYTES, MOST_WARPS, WARP_SIZE};

const fn row(name: &'static str, doc: &'static str, data: &'static str) -> Builtin {
    Builtin { name, takes: &["x"], doc, data, run: reduce }
}

pub(super) const ROWS: &[Builtin] = &[
    row(
        "block_reduction_sum",
        "The sum over the block; every thread gets it. The threads of a block are a multiple of \
         32. It has barriers, so that conditions around it are the same for the whole block.",
        "add",
    ),
    row("block_reduction_max", "The largest of the block, as `block_reduction_sum`.", "max"),
    row("block_reduction_min", "The smallest of the block, as `block_reduction_sum`.", "min"),
];

/// The threads of a warp.
const LANES: i64 = WARP_SIZE as i64;

/// The number with which an operation changes nothing.
fn identity(op: Binary, scalar: Scalar) -> Const {
    match (op, scalar.is_float()) {
        (Binary::Max, true) => Const::float(scalar, f64::NEG_INFINITY),
        (Binary::Min, true) => Const::float(scalar, f64::INFINITY),
        (Binary::Max, false) => least(scalar),
        (Binary::Min, false) => largest(scalar),
        _ => Const::from_bits(scalar, 0),
    }
}

fn reduce(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let Some((value, scalar)) = number(cx, given, "x") else { return Elaborated::Poison };
    if scalar == Scalar::Bool {
        let help = "convert it, as in `kp.int32(b)`";
        return cx.mistake("type", given.at("x"), "a reduction of bools", help);
    }
    let op = operation(given.row.data);
    let threads = cx.threads_of_block();
    match threads {
        Some(threads) if threads % LANES != 0 => {
            let message = format!("a block of {threads} threads is reduced");
            let help = format!("launch it with a multiple of {LANES}");
            cx.mistake("block-size", given.span, message, help)
        }
        Some(LANES) => Elaborated::Typed(cx.reduce_warp(op, value, WARP_SIZE)),
        Some(threads) => Elaborated::Typed(reduce_block(cx, op, value, Some(threads / LANES))),
        None => Elaborated::Typed(reduce_block(cx, op, value, None)),
    }
}

fn reduce_block(
    cx: &mut Elaborator<'_>,
    op: Binary,
    value: kernel::Value,
    warps: Option<i64>,
) -> kernel::Value {
    let scalar = cx.emit.b.ty(value).scalar().unwrap_or(Scalar::F32);
    let array = partials(cx, scalar, warps.unwrap_or(MOST_WARPS.into()));
    let own = cx.reduce_warp(op, value, WARP_SIZE);
    let (lane, warp) = (cx.emit.call_row("lane_idx", &[]), cx.emit.call_row("warp_idx", &[]));
    let bytes = cx.emit.b.index(scalar.bytes().into());
    let zero = cx.emit.b.index(0);
    let is_first = cx.emit.b.compare(Compare::Eq, lane, zero);
    cx.emit.b.open();
    let offset = cx.emit.compute_binary(Binary::Mul, warp, bytes);
    let pointer = cx.emit.b.offset(array, offset);
    let align = scalar.bytes();
    cx.emit.b.store(Store { pointer, value: own, align, qualifier: None, condition: None });
    let stores = cx.emit.b.close();
    cx.emit.b.if_else(is_first, stores, Region::default());
    cx.emit.call_with("barrier", vec![]);
    let count = match warps {
        Some(warps) => cx.emit.b.index(warps),
        None => count_warps(cx),
    };
    let condition = cx.emit.b.compare(Compare::Lt, lane, count);
    let otherwise = cx.emit.b.constant(identity(op, scalar));
    let offset = cx.emit.compute_binary(Binary::Mul, lane, bytes);
    let pointer = cx.emit.b.offset(array, offset);
    let guard = Some(Guard { condition, otherwise });
    let part =
        cx.emit.b.load(Type::Scalar(scalar), Load { pointer, align, qualifier: None, guard });
    let all = cx.reduce_warp(op, part, WARP_SIZE);
    // Whoever reduces next writes where this was read.
    cx.emit.call_with("barrier", vec![]);
    all
}

/// The address of an array with a number for each warp. Reductions of one type share it.
fn partials(cx: &mut Elaborator<'_>, element: Scalar, warps: i64) -> kernel::Value {
    let name = format!("reduction of {element}");
    let known = cx.emit.b.kernel().shared.iter().position(|array| array.name == name);
    let shared = match known {
        Some(number) => kernel::Shared(number as u32),
        None => {
            let size = Size::Bytes(element.bytes() * warps as u32);
            cx.emit.b.shared(SharedArray { name, element, size, align: MOST_ACCESS_BYTES })
        }
    };
    cx.emit.b.shared_address(shared)
}

fn count_warps(cx: &mut Elaborator<'_>) -> kernel::Value {
    let mut threads = cx.emit.b.index(1);
    for (axis, name) in ["block_dim.x", "block_dim.y", "block_dim.z"].into_iter().enumerate() {
        let side = match cx.block[axis] {
            Some(side) => cx.emit.b.index(side.into()),
            None => cx.emit.call_row(name, &[]),
        };
        threads = cx.emit.compute_binary(Binary::Mul, threads, side);
    }
    let lanes = cx.emit.b.index(LANES);
    cx.emit.compute_binary(Binary::FloorDiv, threads, lanes)
}
