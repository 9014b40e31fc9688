// SPDX-License-Identifier: Apache-2.0
//! Directives for the compiler, and lines for a person.

use super::{Builtin, Given};
use crate::elaborate::Elaborator;
use crate::emit::Emission;
use crate::expr::Arg;
use crate::unroll;
use crate::value::{Elaborated, Range};
use kernpack_kernel_ir::Scalar;
use kernpack_kernel_ir::op::OpKind;
use kernpack_machine::Arch;
use std::sync::Arc;

pub(super) const ROWS: &[Builtin] = &[
    unrolled(unroll::RANGE, range, ""),
    unrolled(unroll::RANGE_CONSTEXPR, range, "constant"),
    Builtin {
        name: "const_expr",
        takes: &["x"],
        doc: "Its argument, which has to be known while compiling.",
        data: "",
        run: const_expr,
    },
    Builtin {
        name: "static_assert",
        takes: &["condition", "message="],
        doc: "That a condition holds, which is known while compiling. `assert` does the same.",
        data: "",
        run: static_assert,
    },
    Builtin {
        name: "has_arch",
        takes: &["arch"],
        doc: "Whether the code may use what an architecture has, such as `\"sm_90a\"`, as its launch \
              says by `arch=`. A launch for several of which only some have it becomes alternatives, \
              with a kernel each.",
        data: "",
        run: has_arch,
    },
    super::shown::PRINT_TYPE,
    Builtin {
        name: "printf",
        takes: &["format", "*values"],
        doc: "Writes a line for a person, where `{}` in the constant format stands for the next \
              value.",
        data: "",
        run: printf,
    },
    super::ptx::ROW,
    super::numbers::plain(crate::plain::LEN),
    unrolled(unroll::ENUMERATE, enumerate, ""),
    unrolled(unroll::ZIP, zip, ""),
];

/// A function of loops.
const fn unrolled(
    row: unroll::Row,
    run: fn(&mut Elaborator<'_>, &Given) -> Elaborated,
    data: &'static str,
) -> Builtin {
    Builtin { name: row.name, takes: row.takes, doc: row.doc, data, run }
}

fn range(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    if given.is_poisoned() {
        return Elaborated::Poison;
    }
    let is_constant = given.row.data == "constant";
    let Some([first, end, step]) = unroll::bounds(cx, &given.rest, given.span) else {
        return Elaborated::Poison;
    };
    if is_constant && let Some(arg) = given.rest.iter().find(|arg| arg.value.as_int().is_none()) {
        if let Elaborated::Int(_) = arg.value {
            cx.fits(&arg.value, Scalar::I64, arg.span);
            return Elaborated::Poison;
        }
        return cx.not_constant(arg, "write `range`, which runs in the kernel");
    }
    Elaborated::Range(Arc::new(Range { first, end, step, is_constant }))
}

impl Emission {
    fn is_constant(&self, value: &Elaborated) -> bool {
        match value {
            Elaborated::Typed(value) => self.b.known(*value).is_some(),
            Elaborated::Elements(elements) => {
                elements.items.iter().all(|one| self.is_constant(one))
            }
            Elaborated::Tuple(tuple) => tuple.items.iter().all(|one| self.is_constant(one)),
            Elaborated::Layout(layout) => layout.layout.is_static(),
            Elaborated::Tensor(_) | Elaborated::Pointer(_) | Elaborated::Optional(_) => false,
            _ => true,
        }
    }
}

impl Elaborator<'_> {
    /// Reports that something is not known while compiling.
    pub fn not_constant(&mut self, arg: &Arg, help: &str) -> Elaborated {
        let found = self.emit.describe(&arg.value);
        let message = format!("this is not known while compiling: {found}");
        self.mistake("constexpr", arg.span, message, help)
    }
}

fn const_expr(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let value = given.get("x").clone();
    if cx.emit.is_constant(&value) {
        return value;
    }
    let arg = Arg { value, span: given.at("x") };
    cx.not_constant(&arg, "leave out `kp.const_expr`, or pass a constant")
}

fn static_assert(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    match given.get("condition") {
        Elaborated::Bool(true) | Elaborated::Poison => Elaborated::None,
        Elaborated::Bool(false) => {
            let text = match given.get("message") {
                Elaborated::Text(text) => text.to_string(),
                _ => "an assertion does not hold".to_string(),
            };
            cx.mistake("assert", given.span, text, "see the arguments that the kernel is given")
        }
        other => {
            let arg = Arg { value: other.clone(), span: given.at("condition") };
            cx.not_constant(&arg, "write the condition in the signature")
        }
    }
}

fn has_arch(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let asked: Option<Arch> = match given.get("arch") {
        Elaborated::Text(name) => name.parse().ok(),
        _ => None,
    };
    let Some(asked) = asked else {
        return cx.expected("the name of an architecture, such as `\"sm_90a\"`", given, "arch");
    };
    let n_having = cx.archs.iter().filter(|arch| arch.has(asked)).count();
    let (has_one, has_all) = (n_having > 0, n_having == cx.archs.len());
    if has_one && !has_all {
        cx.apart.get_or_insert(asked);
    }
    Elaborated::Bool(has_one && has_all)
}

fn printf(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let Elaborated::Text(format) = given.get("format") else {
        return cx.expected("a constant text", given, "format");
    };
    let places = format.matches("{}").count();
    let mut values = Vec::new();
    for arg in &given.rest {
        match cx.typed_alone(&arg.value, arg.span) {
            Some(Ok((value, _))) => values.push(value),
            Some(Err(poison)) => return poison,
            None if arg.value.is_poison() => return Elaborated::Poison,
            None => {
                let message = format!("{} cannot be printed", cx.emit.describe(&arg.value));
                return cx.mistake("printf", arg.span, message, "pass numbers");
            }
        }
    }
    if places != values.len() {
        let message = format!("the format has {places} `{{}}`, and {} values follow", values.len());
        return cx.mistake("printf", given.span, message, "write `{}` once for each value");
    }
    cx.emit.b.effect(OpKind::Print(format.to_string(), values));
    Elaborated::None
}

fn enumerate(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let found = given.opt("x").and_then(|x| unroll::enumerate(cx, x));
    found.unwrap_or(Elaborated::Poison)
}

fn zip(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    unroll::zip(cx, &given.rest).unwrap_or(Elaborated::Poison)
}
