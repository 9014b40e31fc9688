// SPDX-License-Identifier: Apache-2.0
//! Exchanges of the threads of a warp. Every thread of the warp takes part: conditions around are
//! the same for all of it.

use super::{Builtin, Given};
use crate::elaborate::Elaborator;
use crate::value::Elaborated;
use kernpack_kernel_ir::op::Binary;
use kernpack_kernel_ir::{Scalar, kernel};
use kernpack_machine::block::WARP_SIZE;
use kernpack_syntax::Span;

const fn shuffle(
    name: &'static str,
    takes: &'static [&'static str],
    doc: &'static str,
    data: &'static str,
) -> Builtin {
    Builtin { name, takes, doc, data, run: run_shuffle }
}

const fn vote(name: &'static str, doc: &'static str, data: &'static str) -> Builtin {
    Builtin { name, takes: &["condition"], doc, data, run: run_vote }
}

const fn reduction(name: &'static str, doc: &'static str, data: &'static str) -> Builtin {
    Builtin { name, takes: &["x", "threads_in_group="], doc, data, run: reduce_by_row }
}

pub(super) const ROWS: &[Builtin] = &[
    reduction(
        "warp_reduction_sum",
        "The sum over the warp, or over groups of `threads_in_group` lanes side by side; every \
         lane gets it.",
        "add",
    ),
    reduction("warp_reduction_max", "The largest of the warp, as `warp_reduction_sum`.", "max"),
    reduction("warp_reduction_min", "The smallest of the warp, as `warp_reduction_sum`.", "min"),
    Builtin {
        name: "warp_reduction",
        takes: &["x", "function", "threads_in_group="],
        doc: "What a function of two numbers makes of the warp's: it is given a lane's own and \
              that of the lane 16, 8, 4, 2 and 1 away.",
        data: "",
        run: reduce_by_function,
    },
    shuffle("shuffle_sync", &["x", "lane"], "The value of that lane, modulo 32.", "shuffle.idx"),
    shuffle(
        "shuffle_sync_up",
        &["x", "by"],
        "The value of the lane so many below; a lane that has none keeps its own.",
        "shuffle.up",
    ),
    shuffle(
        "shuffle_sync_down",
        &["x", "by"],
        "The value of the lane so many above; a lane that has none keeps its own.",
        "shuffle.down",
    ),
    shuffle(
        "shuffle_sync_bfly",
        &["x", "bits"],
        "The value of the lane whose number differs in those bits.",
        "shuffle.xor",
    ),
    vote("vote_any_sync", "Whether it holds in any lane.", "vote.any"),
    vote("vote_all_sync", "Whether it holds in all lanes.", "vote.all"),
    vote(
        "vote_ballot_sync",
        "The lanes in which it holds: a `uint32`, a bit for each.",
        "vote.ballot",
    ),
    Builtin {
        name: "match_any_sync",
        takes: &["x"],
        doc: "The lanes that have the same value: a `uint32`, a bit for each.",
        data: "match.any",
        run: run_match,
    },
];

/// A number of the kernel's, of any type, with its type.
pub(super) fn number(
    cx: &mut Elaborator<'_>,
    given: &Given,
    name: &str,
) -> Option<(kernel::Value, Scalar)> {
    let value = given.get(name).clone();
    match cx.typed_alone(&value, given.span) {
        Some(typed) => typed.ok(),
        None => {
            cx.expected("a number", given, name);
            None
        }
    }
}

fn run_shuffle(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let Some((value, _)) = number(cx, given, "x") else { return Elaborated::Poison };
    let Some(lane) = cx.index_arg(given, given.row.takes[1]) else { return Elaborated::Poison };
    let rounding = kernpack_kernel_ir::op::Rounding::NearestEven;
    let lane = cx.emit.convert(lane, Scalar::I32, rounding);
    Elaborated::Typed(cx.emit.call_row(given.row.data, &[value, lane]))
}

fn run_vote(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let condition = given.get("condition").clone();
    if cx.read_condition(&condition, given.at("condition")).is_none() {
        return Elaborated::Poison;
    }
    let condition = cx.emit.typed(&condition, Scalar::Bool);
    Elaborated::Typed(cx.emit.call_row(given.row.data, &[condition]))
}

fn run_match(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let Some((value, _)) = number(cx, given, "x") else { return Elaborated::Poison };
    Elaborated::Typed(cx.emit.call_row("match.any", &[value]))
}

/// The lanes that reduce together.
fn group(cx: &mut Elaborator<'_>, given: &Given) -> Option<u32> {
    if given.opt("threads_in_group").is_none() {
        return Some(WARP_SIZE);
    }
    let lanes = given.get("threads_in_group").as_int();
    let lanes = lanes.and_then(|lanes| u32::try_from(lanes).ok());
    let lanes = lanes.filter(|lanes| lanes.is_power_of_two() && *lanes <= WARP_SIZE);
    if lanes.is_none() {
        let expected = format!("a constant power of two up to {WARP_SIZE}");
        cx.expected(&expected, given, "threads_in_group");
    }
    lanes
}

/// The operation of a reduction.
pub(super) fn operation(data: &str) -> Binary {
    Binary::parse(data).unwrap_or(Binary::Add)
}

fn reduce_by_row(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let Some(lanes) = group(cx, given) else { return Elaborated::Poison };
    let Some((value, scalar)) = number(cx, given, "x") else { return Elaborated::Poison };
    if scalar == Scalar::Bool {
        let help = "convert it, as in `kp.int32(b)`, or vote";
        return cx.mistake("type", given.at("x"), "a reduction of bools", help);
    }
    Elaborated::Typed(cx.reduce_warp(operation(given.row.data), value, lanes))
}

fn reduce_by_function(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let Some(lanes) = group(cx, given) else { return Elaborated::Poison };
    let Some((value, scalar)) = number(cx, given, "x") else { return Elaborated::Poison };
    let mut value = Elaborated::Typed(value);
    let mut bits = lanes / 2;
    while bits > 0 {
        let own = cx.emit.typed(&value, scalar);
        let mask = cx.emit.b.int(Scalar::I32, bits.into());
        let other = Elaborated::Typed(cx.emit.call_row("shuffle.xor", &[own, mask]));
        value = cx.call_two(given.get("function"), own.into(), other, given.at("function"));
        if cx.emit.scalar_of_name(&value) != Some(scalar) {
            return cx.function_type(&value, scalar, given.at("function"));
        }
        bits /= 2;
    }
    value
}

impl From<kernel::Value> for Elaborated {
    fn from(value: kernel::Value) -> Elaborated {
        Elaborated::Typed(value)
    }
}

impl Elaborator<'_> {
    /// Reduces the numbers of so many lanes side by side.
    pub fn reduce_warp(&mut self, op: Binary, value: kernel::Value, lanes: u32) -> kernel::Value {
        let mut value = value;
        let mut bits = lanes / 2;
        while bits > 0 {
            let mask = self.emit.b.int(Scalar::I32, bits.into());
            let other = self.emit.call_row("shuffle.xor", &[value, mask]);
            value = self.emit.compute_binary(op, value, other);
            bits /= 2;
        }
        value
    }

    /// Calls a function with two arguments.
    pub fn call_two(
        &mut self,
        function: &Elaborated,
        a: Elaborated,
        b: Elaborated,
        span: Span,
    ) -> Elaborated {
        let positional = [a, b].map(|value| crate::expr::Arg { value, span }).to_vec();
        let args = crate::expr::Args { positional, named: vec![] };
        self.call_value(function, args, span)
    }

    /// Reports that a function that reduces gives something else than it is given.
    pub fn function_type(&mut self, found: &Elaborated, scalar: Scalar, span: Span) -> Elaborated {
        if found.is_poison() {
            return Elaborated::Poison;
        }
        let message =
            format!("the function is given {scalar} and gives {}", self.emit.describe(found));
        self.mistake("type", span, message, format!("return `kp.{scalar}(…)`"))
    }
}
