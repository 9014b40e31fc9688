// SPDX-License-Identifier: Apache-2.0
//! Atomic operations on elements of tensors.

use super::{Builtin, Given};
use crate::algebra::Algebra;
use crate::elaborate::Elaborator;
use crate::expr::memory_of;
use crate::tensor::Within;
use crate::value::{Elaborated, Memory, Tensor};
use kernpack_kernel_ir::op::Operand;
use kernpack_kernel_ir::{Scalar, Space, kernel};
use kernpack_layout::Tuple;
use std::sync::Arc;

const ORDERS: &[&str] = &["relaxed", "acquire", "release", "acq_rel"];
const SCOPES: &[&str] = &["block", "cluster", "gpu", "sys"];

const fn row(name: &'static str, doc: &'static str, data: &'static str) -> Builtin {
    Builtin { name, takes: &["x", "index", "value", "order=", "scope="], doc, data, run: update }
}

pub(super) const ROWS: &[Builtin] = &[
    row(
        "atomic_add",
        "Adds to `x[index]`; gives what was there. `order` is `\"relaxed\"`, which it is where it \
         is left out, `\"acquire\"`, `\"release\"` or `\"acq_rel\"`, and `scope` `\"block\"`, \
         `\"cluster\"`, `\"gpu\"`, which it is where it is left out, or `\"sys\"`.",
        "atomic.add",
    ),
    row("atomic_min", "Keeps the smaller integer; gives what was there.", "atomic.min"),
    row("atomic_max", "Keeps the larger integer; gives what was there.", "atomic.max"),
    row("atomic_and", "Keeps common bits; gives what was there.", "atomic.and"),
    row("atomic_or", "Adds bits; gives what was there.", "atomic.or"),
    row("atomic_xor", "Flips bits; gives what was there.", "atomic.xor"),
    row("atomic_exch", "Writes an integer; gives what was there.", "atomic.exchange"),
    Builtin {
        name: "atomic_cas",
        takes: &["x", "index", "compare", "value", "order=", "scope="],
        doc: "Writes an integer where `compare` is there; gives what was there.",
        data: "atomic.cas",
        run: compare_and_swap,
    },
    Builtin {
        name: "atomic_store",
        takes: &["x", "index", "value", "order=", "scope="],
        doc: "Writes an integer, seen by others in that order.",
        data: "atomic.store",
        run: store,
    },
    Builtin {
        name: "atomic_load",
        takes: &["x", "index", "order=", "scope="],
        doc: "An `int32` or `int64` that others write, read in that order.",
        data: "atomic.load",
        run: load,
    },
];

/// The element that is meant: its memory and its address.
struct Place {
    memory: Memory,
    pointer: kernel::Value,
    within: Within,
}

fn place(cx: &mut Elaborator<'_>, given: &Given, is_written: bool) -> Option<Place> {
    let tensor: Arc<Tensor> = match given.get("x") {
        Elaborated::Tensor(tensor) => tensor.clone(),
        _ => {
            cx.expected("a tensor", given, "x");
            return None;
        }
    };
    let memory = match is_written {
        true => cx.writable(&tensor, given.at("x"))?.clone(),
        false => match memory_of(&tensor) {
            Some(memory) => memory.clone(),
            None => {
                let help = "read from the tensor that the coordinates are of";
                cx.mistake("atomic", given.at("x"), "coordinates are in no memory", help);
                return None;
            }
        },
    };
    if memory.space == Space::Local {
        let message = "a register tensor is no other thread's";
        cx.mistake("atomic", given.at("x"), message, "use a shared tensor, or one that was passed");
        return None;
    }
    let (pointer, within) = cx.element_address(&tensor, &memory, given)?;
    Some(Place { memory, pointer, within })
}

impl Elaborator<'_> {
    /// The address of the element of a tensor in that memory whose index is the argument `index`,
    /// and where it is accessed.
    pub(super) fn element_address(
        &mut self,
        tensor: &Tensor,
        memory: &Memory,
        given: &Given,
    ) -> Option<(kernel::Value, Within)> {
        let span = given.at("index");
        let coord = self.read_coord(&given.get("index").clone(), span)?;
        if coord.has_free() {
            self.expected("an index for each mode", given, "index");
            return None;
        }
        let (at, within) = self.element_index(tensor, &coord, span)?;
        let Tuple::Leaf(at) = at else { return None };
        let address = self.emit.address(memory, &at);
        self.algebra(address, span).map(|(pointer, _)| (pointer, within))
    }
}

/// Calls a row, where the element is accessed.
fn access(
    cx: &mut Elaborator<'_>,
    within: Within,
    row: &str,
    operands: Vec<Operand>,
) -> Elaborated {
    let given = cx.emit.access(within, |emit| emit.call_with(row, operands));
    given.map_or(Elaborated::None, Elaborated::Typed)
}

fn words(cx: &mut Elaborator<'_>, given: &Given) -> Option<[Operand; 2]> {
    let order = cx.word(given, "order", ORDERS, "relaxed")?;
    let scope = cx.word(given, "scope", SCOPES, "gpu")?;
    Some([Operand::Word(order), Operand::Word(scope)])
}

/// Whether a GPU does that in one step on elements of that type.
fn is_atomic(data: &str, scalar: Scalar) -> bool {
    let wide = scalar.is_int() && scalar.bits() >= 32;
    wide || data == "atomic.add" && scalar.is_float()
}

fn require_type(cx: &mut Elaborator<'_>, given: &Given, scalar: Scalar) -> bool {
    if is_atomic(given.row.data, scalar) {
        return true;
    }
    let name = given.row.name;
    let message = format!("there is no `kp.{name}` of {scalar}");
    let help = match name {
        "atomic_add" => "use elements of 32 or 64 bits, or float16 or bfloat16",
        _ => "use integers of 32 or 64 bits",
    };
    cx.mistake("atomic", given.at("x"), message, help);
    false
}

fn update(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let Some(place) = place(cx, given, true) else { return Elaborated::Poison };
    let element = place.memory.element;
    if !require_type(cx, given, element) {
        return Elaborated::Poison;
    }
    let value = cx.element_value(&given.get("value").clone(), element, given.at("value"));
    let (Some(value), Some([order, scope])) = (value, words(cx, given)) else {
        return Elaborated::Poison;
    };
    let operands = vec![Operand::Value(place.pointer), Operand::Value(value), order, scope];
    access(cx, place.within, given.row.data, operands)
}

fn store(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    update(cx, given);
    Elaborated::None
}

fn compare_and_swap(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let Some(place) = place(cx, given, true) else { return Elaborated::Poison };
    let element = place.memory.element;
    if !require_type(cx, given, element) {
        return Elaborated::Poison;
    }
    let compare = cx.element_value(&given.get("compare").clone(), element, given.at("compare"));
    let value = cx.element_value(&given.get("value").clone(), element, given.at("value"));
    let (Some(compare), Some(value), Some([order, scope])) = (compare, value, words(cx, given))
    else {
        return Elaborated::Poison;
    };
    let values = [place.pointer, compare, value].map(Operand::Value);
    let operands = values.into_iter().chain([order, scope]).collect();
    access(cx, place.within, given.row.data, operands)
}

fn load(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let Some(place) = place(cx, given, false) else { return Elaborated::Poison };
    let row = match place.memory.element {
        Scalar::I32 => "atomic.load.int32",
        Scalar::I64 => "atomic.load.int64",
        other => {
            let message = format!("there is no `kp.atomic_load` of {other}");
            return cx.mistake("atomic", given.at("x"), message, "use int32 or int64");
        }
    };
    let Some([order, scope]) = words(cx, given) else { return Elaborated::Poison };
    let operands = vec![Operand::Value(place.pointer), order, scope];
    access(cx, place.within, row, operands)
}
