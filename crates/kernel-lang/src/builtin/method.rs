// SPDX-License-Identifier: Apache-2.0
//! Methods: what is written behind the point of a value.

use super::{Builtin, Given};
use crate::elaborate::Elaborator;
use crate::value::{Elaborated, Elements};

pub(super) const TENSOR: &[Builtin] = &[
    Builtin {
        name: "load",
        takes: &[],
        doc: "The elements of a tile of constant size, each a value of the thread: operators and \
              functions work on all of them.",
        data: "",
        run: load,
    },
    Builtin {
        name: "store",
        takes: &["value"],
        doc: "Writes the elements of a tile, or one number to all of it.",
        data: "",
        run: store,
    },
    Builtin {
        name: "fill",
        takes: &["value"],
        doc: "Writes one number to each element of a tile.",
        data: "",
        run: store,
    },
];

pub(super) const ELEMENTS: &[Builtin] = &[
    Builtin {
        name: "to",
        takes: &["dtype", "rounding="],
        doc: "The elements as another type, as `kp.convert`.",
        data: "",
        run: to,
    },
    Builtin {
        name: "reduce",
        takes: &["function", "init="],
        doc: "What a function of two numbers makes of all elements: of neighbours first, then of \
              what comes of these, and at last of `init` and that.",
        data: "",
        run: reduce,
    },
];

pub(super) const NUMBER: &[Builtin] = &[Builtin {
    name: "to",
    takes: &["dtype", "rounding="],
    doc: "The number as another type, as `kp.convert`.",
    data: "",
    run: to,
}];

fn load(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    match &given.of {
        Elaborated::Tensor(tensor) => cx.load_all(tensor, given.span),
        _ => Elaborated::Poison,
    }
}

fn store(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    if let Elaborated::Tensor(tensor) = &given.of {
        cx.store_all(tensor, &given.get("value").clone(), given.span);
    }
    Elaborated::None
}

fn to(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    cx.cast_as_given(&given.of.clone(), given, given.span)
}

fn reduce(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let Elaborated::Elements(elements) = &given.of else { return Elaborated::Poison };
    let (scalar, span) = (elements.scalar, given.at("function"));
    let mut items = Elements::clone(elements).items;
    while items.len() > 1 {
        let mut halved = Vec::with_capacity(items.len().div_ceil(2));
        for pair in items.chunks(2) {
            let [a, b] = pair else {
                halved.extend_from_slice(pair);
                continue;
            };
            let made = cx.call_two(given.get("function"), a.clone(), b.clone(), span);
            if cx.emit.scalar_of_name(&made) != Some(scalar) {
                return cx.function_type(&made, scalar, span);
            }
            halved.push(made);
        }
        items = halved;
    }
    match (items.pop(), given.opt("init").cloned()) {
        (Some(all), None) => all,
        (Some(all), Some(init)) => cx.call_two(given.get("function"), init.value, all, span),
        (None, Some(init)) => init.value,
        (None, None) => {
            let message = "a reduction of no elements";
            cx.mistake("shape", given.span, message, "pass `init`")
        }
    }
}
