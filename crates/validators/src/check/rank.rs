// SPDX-License-Identifier: Apache-2.0
//! The rank of a tensor.

use super::{Info, shape_size};
use crate::expr::Field;
use crate::fault::{Format, Phrase};
use crate::path::Path;
use crate::plan::{Compare, MOST_TURNS, Value};
use crate::planner::{BoundStar, Planner, StarUse};
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "tensor-rank",
    kind: ErrorKind::ValueError,
    doc: "The tensor has as many dims as the signature gives it, and where `*b` stands among them, as many more as `*b` has elsewhere in the call; never more than 64.",
    example: "Mismatched Tensor on argument #0 when calling: `f(a: Tensor([m, n], float32))`, expected ndim=2, got 3",
};

/// Requires `rank` dims.
pub fn require(cx: &mut Planner<'_>, path: &Path, actual: Value, rank: usize) {
    let cond = cx.b.eq_int(actual, rank as i64);
    let subject = path.location("Mismatched Tensor");
    let got = Phrase::value(actual, Format::Int);
    cx.require(cond, INFO.complaint(subject, format!("ndim={rank}"), got));
}

/// Requires room for the dims beside a star, and no more than 64 in all.
pub fn require_room(cx: &mut Planner<'_>, at: &StarUse) {
    let least = cx.b.int(at.n_others as i64);
    let cond = cx.b.compare(Compare::Le, least, at.n_dims);
    complain(cx, at, cond, Phrase::text(format!(">={}", at.n_others)));
    require_few(cx, at);
}

/// Requires as many dims as the star stands for elsewhere, beside the others.
pub fn require_same(cx: &mut Planner<'_>, at: &StarUse, bound: &BoundStar) {
    let n_others = cx.b.int(at.n_others as i64);
    let expected = cx.b.add_ints(bound.dims.ndim, n_others);
    let cond = cx.b.eq(at.n_dims, expected);
    let words = Phrase::text("=").and_value(expected, Format::Int);
    let words = words.and(format!(" ({}{} is ", at.name(), Field::Ndim));
    complain(cx, at, cond, words.and_value(bound.dims.ndim, Format::Int).and(")"));
    if at.n_others > bound.from.n_others {
        require_few(cx, at);
    }
}

fn require_few(cx: &mut Planner<'_>, at: &StarUse) {
    let most = cx.b.int(MOST_TURNS);
    let cond = cx.b.compare(Compare::Le, at.n_dims, most);
    complain(cx, at, cond, Phrase::text(format!("<={MOST_TURNS}")));
}

/// Requires what is `expected` of the number of dims.
fn complain(cx: &mut Planner<'_>, at: &StarUse, cond: Value, expected: Phrase) {
    let got = Phrase::value(at.n_dims, Format::Int);
    let complaint = match (at.field)(0) {
        Field::Element(_) => {
            let expected = Phrase::text("shape size").and_phrase(expected);
            shape_size::INFO.complaint(at.owner.location("Mismatched Shape"), expected, got)
        }
        _ => {
            let expected = Phrase::text("ndim").and_phrase(expected);
            INFO.complaint(at.owner.location("Mismatched Tensor"), expected, got)
        }
    };
    cx.require(cond, complaint);
}
