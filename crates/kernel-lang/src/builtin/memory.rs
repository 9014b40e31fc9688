// SPDX-License-Identifier: Apache-2.0
//! Tensors: new ones, views, copies.

use super::{Builtin, Given};
use crate::algebra;
use crate::elaborate::Elaborator;
use crate::python::tree::Name;
use crate::tensor::{BoxCopy, Predicate, map_of};
use crate::value::{Elaborated, Tensor};
use kernpack_kernel_ir::Scalar;
use kernpack_kernel_ir::intrinsic::REDUCTIONS;
use kernpack_layout::make_ordered_layout;
use std::sync::Arc;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "shared",
        takes: &["dtype", "layout"],
        doc: "A tensor that the threads of a block share. Of a shape, the first mode is the \
              fastest. Its extents are constants, or expressions over dims. What it holds at \
              first is not known.",
        data: "",
        run: shared,
    },
    Builtin {
        name: "make_rmem_tensor",
        takes: &["layout", "dtype"],
        doc: "A tensor in registers, of which each thread has its own. Its extents are constants, \
              and so should be the indices: where they are not, it lies in local memory, which a \
              warning says.",
        data: "",
        run: register,
    },
    Builtin {
        name: "make_fragment",
        takes: &["layout", "dtype"],
        doc: "As `kp.make_rmem_tensor`.",
        data: "",
        run: register,
    },
    Builtin {
        name: "make_fragment_like",
        takes: &["x", "dtype="],
        doc: "A tensor in registers of a tensor's shape, and its dtype where none is said. Its \
              strides are compact, in the order of the tensor's.",
        data: "",
        run: register_like,
    },
    Builtin {
        name: "make_tensor",
        takes: &["pointer", "layout"],
        doc: "The memory behind a pointer, `x.iterator`, with another layout.",
        data: "",
        run: tensor,
    },
    Builtin {
        name: "make_identity_tensor",
        takes: &["shape"],
        doc: "A tensor whose elements are their own coordinates, tuples. Divided and sliced like \
              another tensor, it says where in that the elements of a tile are.",
        data: "",
        run: identity,
    },
    Builtin {
        name: "recast_tensor",
        takes: &["x", "dtype"],
        doc: "The same memory as elements of another type.",
        data: "",
        run: recast,
    },
    Builtin {
        name: "copy",
        takes: &["source", "target", "pred=", "to=", "mcast_mask=", "reduction_kind="],
        doc: "Copies a tile of constant size, with the widest accesses that alignment and \
              strides are known to allow. `pred` is a bool, or one for each element: what it is \
              false for is neither read nor written. With `to=kp.async_group` the copy goes on by \
              itself, from global to shared memory, until its group is waited for, and becomes \
              zeros where `pred` is false. With an mbarrier one thread copies the tile, whose \
              elements lie side by side, from global memory, or from the block's own, to shared \
              memory, also of another block of the cluster; `to=kp.bulk_group` does from shared to \
              global memory. Both need sm_90, and addresses and bytes that are multiples of 16. So \
              tiles of a map, `kp.make_tma(x, layout)`, come and go: with `mcast_mask` to all blocks \
              of the cluster whose bit is set, each of whose mbarriers at that place counts the \
              bytes; with `reduction_kind`, which is `\"add\"`, `\"min\"`, `\"max\"`, `\"and\"`, \
              `\"or\"` or `\"xor\"`, each element is combined with that of the tensor, in one step. An \
              object that has a field `to`, as stages of pipelines have, stands for what that is.",
        data: "",
        run: copy,
    },
    Builtin {
        name: "autovec_copy",
        takes: &["source", "target"],
        doc: "As `kp.copy` without `pred`.",
        data: "",
        run: copy,
    },
];

fn shared(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let Some(dtype) = cx.dtype_arg(given, "dtype") else { return Elaborated::Poison };
    let of = given.get("layout").clone();
    let Some(layout) = cx.layout(&of, given.at("layout")) else { return Elaborated::Poison };
    // The indices of a shape alone have no gaps.
    let count = match of {
        Elaborated::Layout(_) if !cx.can_be_new(&layout.layout, given.at("layout")) => {
            return Elaborated::Poison;
        }
        Elaborated::Layout(_) => kernpack_layout::cosize(&mut cx.emit, &layout.layout),
        _ => kernpack_layout::size(&mut cx.emit, &layout.layout),
    };
    match cx.algebra(count, given.span) {
        Some(count) => cx.make_shared(dtype, layout, &count, given.span),
        None => Elaborated::Poison,
    }
}

fn register(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let Some(dtype) = cx.dtype_arg(given, "dtype") else { return Elaborated::Poison };
    match cx.layout(&given.get("layout").clone(), given.at("layout")) {
        Some(layout) => cx.make_register(dtype, &layout.layout, given.span),
        None => Elaborated::Poison,
    }
}

fn tensor_arg(cx: &mut Elaborator<'_>, given: &Given, name: &str) -> Option<Arc<Tensor>> {
    match given.get(name) {
        Elaborated::Tensor(tensor) => Some(tensor.clone()),
        _ => {
            cx.expected("a tensor", given, name);
            None
        }
    }
}

fn register_like(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let Some(like) = tensor_arg(cx, given, "x") else { return Elaborated::Poison };
    let dtype: Scalar = match (given.opt("dtype"), crate::expr::memory_of(&like)) {
        (None, Some(memory)) => memory.element,
        (None, None) => return cx.expected("a dtype", given, "dtype"),
        (Some(_), _) => match cx.dtype_arg(given, "dtype") {
            Some(dtype) => dtype,
            None => return Elaborated::Poison,
        },
    };
    // The order of the strides, as far as they are known: others are slower.
    let order = like.layout.map(&mut |mode| mode.stride.scale.known().unwrap_or(i64::MAX));
    let shape = like.layout.shape();
    let layout = make_ordered_layout(&mut cx.emit, &shape, &order);
    match cx.algebra(layout, given.span) {
        Some(layout) => cx.make_register(dtype, &layout, given.span),
        None => Elaborated::Poison,
    }
}

fn tensor(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    match cx.layout(&given.get("layout").clone(), given.at("layout")) {
        Some(layout) => cx.make_view(&given.get("pointer").clone(), layout, given.span),
        None => Elaborated::Poison,
    }
}

fn identity(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    // A coordinate is a tuple, also in one mode.
    let shape = match given.get("shape") {
        tuple @ Elaborated::Tuple(_) => tuple.clone(),
        Elaborated::Layout(layout) => algebra::shape_value(cx, &layout.layout.shape()),
        one => Elaborated::tuple(vec![one.clone()]),
    };
    cx.make_coordinates(&shape, given.at("shape"))
}

fn recast(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let tensor = tensor_arg(cx, given, "x");
    match (tensor, cx.dtype_arg(given, "dtype")) {
        (Some(tensor), Some(dtype)) => cx.recast(&tensor, dtype, given.span),
        _ => Elaborated::Poison,
    }
}

/// Keywords that only copies of boxes have.
const MASK: &str = "mcast_mask";
const REDUCTION: &str = "reduction_kind";

/// Whether an argument is passed that may be left out, and is not `None`.
fn is_given(given: &Given, name: &str) -> bool {
    given.opt(name).is_some_and(|arg| !matches!(arg.value, Elaborated::None))
}

/// The values of `to` in words.
const TO: &str = "`kp.async_group`, an mbarrier, `kp.bulk_group` or an object with a field `to`";

fn copy(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let source = tensor_arg(cx, given, "source");
    let (Some(source), Some(target)) = (source, tensor_arg(cx, given, "target")) else {
        return Elaborated::Poison;
    };
    let pred = match given.opt("pred").cloned() {
        None => Predicate::Always,
        Some(pred) => {
            let size = cx.known_size(&target.layout, given.span);
            match size.and_then(|size| cx.predicate(&pred.value, size, pred.span)) {
                Some(pred) => pred,
                None => return Elaborated::Poison,
            }
        }
    };
    let of_map = [&source, &target].into_iter().find(|one| map_of(one).is_some()).cloned();
    let to = given.opt("to").map(|to| match &to.value {
        // A stage of a pipeline says what it is filled by.
        Elaborated::Object(stage) => cx.object_part(stage, &Name::from("to"), to.span),
        other => Some(other.clone()),
    });
    let to = to.map(|to| to.unwrap_or(Elaborated::Poison));
    let is_multicast = is_given(given, MASK);
    if let (Some(Elaborated::Mbarrier(_)), Some(stage)) = (&to, given.opt("to").cloned())
        && !is_multicast
    {
        cx.expect_bytes(&stage, &target);
    }
    if let Some(of_map) = of_map.filter(|_| !matches!(to, Some(Elaborated::Poison))) {
        copy_box(cx, [&source, &target], &pred, (&of_map.name, to.as_ref()), given);
        return Elaborated::None;
    }
    if let Some(name) = [MASK, REDUCTION].into_iter().find(|name| is_given(given, name)) {
        let message = format!("`{name}` is for copies of tiles of a map");
        cx.mistake("arguments", given.span, message, "make a map: `kp.make_tma(x, layout)`");
        return Elaborated::Poison;
    }
    match to {
        Some(Elaborated::Poison) => return cx.expected(TO, given, "to"),
        None | Some(Elaborated::None) => cx.copy(&source, &target, &pred, given.span),
        Some(Elaborated::AsyncGroup) => cx.copy_async(&source, &target, &pred, given.span),
        Some(Elaborated::Mbarrier(barrier)) if barrier.stages.is_none() => {
            cx.copy_bulk(&source, &target, &pred, Some(&barrier), given.span);
        }
        Some(Elaborated::BulkGroup) => cx.copy_bulk(&source, &target, &pred, None, given.span),
        Some(_) => return cx.expected(TO, given, "to"),
    }
    Elaborated::None
}

/// A copy from or to a map, of that name.
fn copy_box(
    cx: &mut Elaborator<'_>,
    tensors: [&Tensor; 2],
    pred: &Predicate,
    (name, to): (&Name, Option<&Elaborated>),
    given: &Given,
) {
    let span = given.span;
    let refused = match to {
        Some(Elaborated::BulkGroup) => MASK,
        _ => REDUCTION,
    };
    if is_given(given, refused) {
        let way = if refused == MASK { "to shared memory" } else { "to a map" };
        let message = format!("`{refused}` is for copies {way}");
        cx.mistake("arguments", span, message, "leave it out");
        return;
    }
    match to {
        Some(Elaborated::Mbarrier(barrier)) if barrier.stages.is_none() => {
            let blocks = match is_given(given, MASK) {
                true => cx.index_arg(given, MASK).map(Some),
                false => Some(None),
            };
            if let Some(blocks) = blocks {
                cx.copy_box(tensors, pred, &BoxCopy::Load(barrier, blocks), span);
            }
        }
        Some(Elaborated::BulkGroup) => {
            let reduction = match is_given(given, REDUCTION) {
                true => cx.word(given, REDUCTION, REDUCTIONS, REDUCTIONS[0]).map(Some),
                false => Some(None),
            };
            if let Some(reduction) = reduction {
                cx.copy_box(tensors, pred, &BoxCopy::Store(reduction), span);
            }
        }
        _ => {
            let message = format!("`{name}` is of a map, and what the copy belongs to is not said");
            let help = "give `to=`: an mbarrier to shared memory, `kp.bulk_group` from there";
            cx.mistake("type", span, message, help);
        }
    }
}
