// SPDX-License-Identifier: Apache-2.0
//! Functions of floats. Halves are computed through float32 where a function rounds more than once.

use super::{Builtin, Given};
use crate::elaborate::Elaborator;
use crate::number::Kind;
use crate::value::Elaborated;
use kernpack_kernel_ir::{Scalar, intrinsic};
use kernpack_syntax::Span;

const fn row(name: &'static str, doc: &'static str) -> Builtin {
    Builtin { name, takes: &["x"], doc, data: name, run: one }
}

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "fma",
        takes: &["a", "b", "c"],
        doc: "`a * b + c`, rounded once. Nothing else contracts.",
        data: "fma",
        run: fma,
    },
    row("sqrt", "The square root, rounded once."),
    row("rsqrt", "One over the square root."),
    row("exp", "The exponential function."),
    row("exp2", "Two to that power."),
    row("log", "The natural logarithm."),
    row("log2", "The logarithm to base two."),
    row("sin", "The sine of an angle in radians."),
    row("cos", "The cosine of an angle in radians."),
    row("tanh", "The hyperbolic tangent."),
    row("erf", "The error function."),
    Builtin {
        name: "pow",
        takes: &["x", "y"],
        doc: "The first to the power of the second.",
        data: "pow",
        run: pow,
    },
    row("floor", "The largest whole number not above."),
    row("ceil", "The least whole number not below."),
    row("trunc", "The whole number towards zero."),
    Builtin {
        name: "round",
        takes: &["x"],
        doc: "The nearest whole number, ties to the even one.",
        data: "round_even",
        run: one,
    },
    row("fast_exp2", "Two to that power, by the machine: within 2 ulp, and 0 below 2^-126."),
    row("fast_log2", "The logarithm to base two, by the machine."),
    row("fast_sin", "The sine, by the machine: for small angles."),
    row("fast_cos", "The cosine, by the machine: for small angles."),
    row("fast_tanh", "The hyperbolic tangent, by the machine: a relative error up to 2^-11."),
    row("fast_rsqrt", "One over the square root, by the machine: within 2 ulp."),
    row("fast_rcp", "One over a number, by the machine: within 1 ulp."),
];

/// The float type in which a number is computed with.
fn float_of(
    cx: &mut Elaborator<'_>,
    value: &Elaborated,
    row: &Builtin,
    span: Span,
) -> Option<Scalar> {
    match cx.emit.kind(value) {
        Some(Kind::Int | Kind::Float) => Some(Scalar::F32),
        Some(Kind::Of(scalar)) if scalar.is_float() => Some(scalar),
        Some(Kind::Of(_)) | None => {
            if !value.is_poison() {
                let message = format!("expected a float, found {}", cx.emit.describe(value));
                let help = format!("write `kp.{}(kp.float32(x))`", row.name);
                cx.mistake("type", span, message, help);
            }
            None
        }
    }
}

/// Whether a row of the intrinsics is of floats of that type.
fn takes(name: &str, scalar: Scalar) -> bool {
    let row = intrinsic::find(name);
    let ty = Some(scalar.into());
    row.is_some_and(|row| row.takes.iter().all(|one| one.takes(scalar.into(), &[ty, ty, ty])))
}

/// The type in which a function computes for one: float32 for halves that it does not take.
fn computed_in(cx: &mut Elaborator<'_>, given: &Given, scalar: Scalar) -> Option<Scalar> {
    if takes(given.row.data, scalar) {
        return Some(scalar);
    }
    if scalar != Scalar::F64 {
        return Some(Scalar::F32);
    }
    let message = format!("`kp.{}` of float64 is reserved for later", given.row.name);
    cx.mistake("reserved", given.span, message, "convert it, as in `kp.float32(x)`");
    None
}

fn one(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let value = given.get("x").clone();
    let Some(scalar) = float_of(cx, &value, given.row, given.at("x")) else {
        return Elaborated::Poison;
    };
    let Some(inner) = computed_in(cx, given, scalar) else { return Elaborated::Poison };
    cx.each_lane(&value, scalar, &mut |cx, one| {
        let typed = cx.emit.typed(&one, inner);
        let result = cx.emit.call_row(given.row.data, &[typed]);
        finish(cx, result, scalar)
    })
}

/// A result as that type; a constant where it is one.
fn finish(
    cx: &mut Elaborator<'_>,
    result: kernpack_kernel_ir::kernel::Value,
    to: Scalar,
) -> Elaborated {
    let nearest = kernpack_kernel_ir::op::Rounding::NearestEven;
    let result = cx.emit.convert(result, to, nearest);
    match cx.emit.b.known(result) {
        Some(known) => Elaborated::of_const(known),
        None => Elaborated::Typed(result),
    }
}

fn pow(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let (x, y) = (given.get("x").clone(), given.get("y").clone());
    let are_floats = [(&x, "x"), (&y, "y")]
        .map(|(value, name)| float_of(cx, value, given.row, given.at(name)).is_some());
    if are_floats != [true; 2] {
        return Elaborated::Poison;
    }
    let Some(scalar) = common(cx, &[&x, &y], given) else { return Elaborated::Poison };
    let Some(inner) = computed_in(cx, given, scalar) else { return Elaborated::Poison };
    cx.lanes(&x, &y, scalar, given.span, &mut |cx, x, y| {
        let operands = [cx.emit.typed(&x, inner), cx.emit.typed(&y, inner)];
        let result = cx.emit.call_row("pow", &operands);
        finish(cx, result, scalar)
    })
}

/// The float type in which several numbers meet.
fn common(cx: &mut Elaborator<'_>, values: &[&Elaborated], given: &Given) -> Option<Scalar> {
    let mut met = Kind::Int;
    for value in values {
        let kind = match cx.emit.kind(value) {
            Some(kind) => kind,
            None => {
                if !value.is_poison() {
                    let message = format!("expected a float, found {}", cx.emit.describe(value));
                    cx.mistake("type", given.span, message, "pass numbers");
                }
                return None;
            }
        };
        met = match (met, kind) {
            (Kind::Int, kind) => kind,
            (Kind::Float, Kind::Int | Kind::Float) => Kind::Float,
            (met, kind) => match cx.emit.common(met, kind) {
                Ok(scalar) => Kind::Of(scalar),
                Err(clash) => {
                    cx.clash(&clash, &format!("`kp.{}`", given.row.name), given.span);
                    return None;
                }
            },
        };
    }
    let scalar = if met == Kind::Int { Scalar::F32 } else { met.alone() };
    if !scalar.is_float() {
        let message = format!("expected floats, found {scalar}");
        let help = format!("convert them, as in `kp.{}(kp.float32(a), …)`", given.row.name);
        cx.mistake("type", given.span, message, help);
        return None;
    }
    Some(scalar)
}

fn fma(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let [a, b, c] = ["a", "b", "c"].map(|name| given.get(name).clone());
    let Some(scalar) = common(cx, &[&a, &b, &c], given) else { return Elaborated::Poison };
    // Two at a time: the first pair of lanes is a tuple for the second.
    let pairs = cx.lanes(&a, &b, scalar, given.span, &mut |_, a, b| Elaborated::tuple(vec![a, b]));
    cx.lanes(&pairs, &c, scalar, given.span, &mut |cx, pair, c| {
        let Elaborated::Tuple(pair) = pair else { return Elaborated::Poison };
        let operands = [&pair.items[0], &pair.items[1], &c].map(|one| cx.emit.typed(one, scalar));
        let result = cx.emit.call_row("fma", &operands);
        finish(cx, result, scalar)
    })
}
