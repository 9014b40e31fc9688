// SPDX-License-Identifier: Apache-2.0
//! Mbarriers: barriers in shared memory that count arrivals, and bytes that copies bring, phase by
//! phase. Each thread keeps the parity of the phase that it waits for next.

use super::{Builtin, Given};
use crate::elaborate::Elaborator;
use crate::python::tree::Name;
use crate::tensor::Within;
use crate::value::{Elaborated, Mbarrier};
use kernpack_kernel_ir::intrinsic::MBARRIER_BYTES;
use kernpack_kernel_ir::kernel::{self, SharedArray, Size};
use kernpack_kernel_ir::op::{Binary, Operand, Rounding};
use kernpack_kernel_ir::{Scalar, Space};
use kernpack_syntax::Span;
use std::sync::Arc;

/// The most of one call: a thread keeps a bit for each.
const MOST_STAGES: i128 = 32;

/// The methods of an mbarrier in another block's memory.
const REMOTE: &[&str] = &["arrive", "arrive_relaxed", "expect_tx", "arrive_and_expect_tx"];

pub(super) const ROWS: &[Builtin] = &[Builtin {
    name: "mbarrier",
    takes: &["stages="],
    doc: "A barrier in shared memory, which a thread has to `init`; with `stages`, a constant, so \
          many of them, which are indexed. Those who arrive go on, and those who wait see what was \
          written before the arrivals. `kp.map_shared(bar, rank)` is that of another block of the \
          cluster, at which a thread can arrive.",
    data: "",
    run: make,
}];

pub(super) const METHODS: &[Builtin] = &[
    Builtin {
        name: "init",
        takes: &["count"],
        doc: "Makes the barrier: `count` arrivals complete each phase. One thread does, and others \
              use it behind a barrier of the block, or of the cluster.",
        data: "mbarrier.init",
        run: with_number,
    },
    Builtin {
        name: "arrive",
        takes: &[],
        doc: "Arrives, and goes on.",
        data: "mbarrier.arrive",
        run: arrive,
    },
    Builtin {
        name: "arrive_relaxed",
        takes: &[],
        doc: "As `arrive`, and says nothing of what was read and written before: only that those \
              copies and products are done that this thread has waited for.",
        data: "mbarrier.arrive_relaxed",
        run: arrive,
    },
    Builtin {
        name: "arrive_after_copies",
        takes: &[],
        doc: "Arrives when all copies `to=kp.async_group` are done that this thread has begun: those \
              who wait for the phase see them.",
        data: "mbarrier.arrive_after_copies",
        run: arrive,
    },
    Builtin {
        name: "expect_tx",
        takes: &["bytes"],
        doc: "The phase that goes on is complete only when copies have brought `bytes` more.",
        data: "mbarrier.expect_tx",
        run: with_number,
    },
    Builtin {
        name: "arrive_and_expect_tx",
        takes: &["bytes"],
        doc: "Has the phase expect `bytes` more, and arrives.",
        data: "mbarrier.arrive_expect_tx",
        run: with_number,
    },
    Builtin {
        name: "wait",
        takes: &["phase="],
        doc: "Waits until the phase of that parity is complete, which is the one that goes on or \
              the one before it: that before the first, of parity 1, is. Without `phase` the \
              thread waits for the first phase, the next time for the second, and so on.",
        data: "mbarrier.wait",
        run: wait,
    },
    Builtin {
        name: "try_wait",
        takes: &["phase"],
        doc: "Waits for a while, and says whether the phase of that parity is complete.",
        data: "mbarrier.try_wait",
        run: try_wait,
    },
];

fn make(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let stages = match given.opt("stages").map(|arg| arg.value.as_int()) {
        None => None,
        Some(Some(n)) if (1..=MOST_STAGES).contains(&n) => Some(n as u32),
        Some(_) => {
            return cx.expected(&format!("a constant from 1 to {MOST_STAGES}"), given, "stages");
        }
    };
    let name = cx.naming.clone().unwrap_or_else(|| Name::from("mbarrier"));
    let size = Size::Bytes(stages.unwrap_or(1) * MBARRIER_BYTES);
    let array =
        SharedArray { name: name.to_string(), element: Scalar::U64, size, align: MBARRIER_BYTES };
    let shared = cx.emit.b.shared(array);
    let pointer = cx.emit.b.shared_address(shared);
    let phases = cx.emit.b.slot(&*name, Scalar::I32.into());
    let zero = cx.emit.b.int(Scalar::I32, 0);
    cx.emit.b.set(phases, zero);
    let (space, within) = (Space::Shared, Within::EVERYWHERE);
    let barrier = Mbarrier { name, space, pointer, stages, stage: zero, phases, within };
    Elaborated::Mbarrier(Arc::new(barrier))
}

/// The one that a method is of.
fn one(cx: &mut Elaborator<'_>, given: &Given) -> Option<Arc<Mbarrier>> {
    let Elaborated::Mbarrier(barrier) = &given.of else { return None };
    let barrier = barrier.clone();
    let (name, method) = (&barrier.name, given.row.name);
    if let Some(stages) = barrier.stages {
        let message = format!("`{name}` is {stages} mbarriers");
        cx.mistake("type", given.span, message, format!("choose one: `{name}[i].{method}(…)`"));
        return None;
    }
    let is_own = barrier.space == Space::Shared;
    if !is_own && !REMOTE.contains(&method) {
        let message = format!("`{name}` is in another block's memory, where threads only arrive");
        let help = format!("leave `{method}` to threads of that block");
        cx.mistake("type", given.span, message, help);
        return None;
    }
    Some(barrier)
}

fn arrive(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    if let Some(barrier) = one(cx, given) {
        let operands = vec![Operand::Value(barrier.pointer)];
        cx.emit.access(barrier.within, |emit| emit.call_with(given.row.data, operands));
    }
    Elaborated::None
}

/// A method that takes a number.
fn with_number(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let name = given.row.takes[0];
    let (Some(barrier), Some(number)) = (one(cx, given), cx.index_arg(given, name)) else {
        return Elaborated::Poison;
    };
    let number = cx.emit.convert(number, Scalar::I32, Rounding::NearestEven);
    let operands = [barrier.pointer, number].map(Operand::Value).to_vec();
    let result = cx.emit.access(barrier.within, |emit| emit.call_with(given.row.data, operands));
    result.map_or(Elaborated::None, Elaborated::Typed)
}

/// Nobody waits for an mbarrier that there is not.
fn try_wait(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    match (with_number(cx, given), &given.of) {
        (Elaborated::Typed(is_complete), Elaborated::Mbarrier(barrier)) => {
            Elaborated::Typed(cx.emit.or_skipped(is_complete, barrier.within))
        }
        (result, _) => result,
    }
}

fn wait(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    if given.opt("phase").is_some() {
        // The name of its parameter says that it may be left out.
        let Some(phase) = cx.index_arg(given, "phase") else { return Elaborated::Poison };
        let phase = cx.emit.convert(phase, Scalar::I32, Rounding::NearestEven);
        if let Some(barrier) = one(cx, given) {
            wait_for(cx, &barrier, phase);
        }
        return Elaborated::None;
    }
    let Some(barrier) = one(cx, given) else { return Elaborated::Poison };
    let b = &mut cx.emit.b;
    let phases = b.get(barrier.phases);
    let phase = b.binary(Binary::Shr, phases, barrier.stage);
    wait_for(cx, &barrier, phase);
    let b = &mut cx.emit.b;
    let one = b.int(Scalar::I32, 1);
    let bit = b.binary(Binary::Shl, one, barrier.stage);
    let next = b.binary(Binary::Xor, phases, bit);
    b.set(barrier.phases, next);
    Elaborated::None
}

fn wait_for(cx: &mut Elaborator<'_>, barrier: &Mbarrier, phase: kernel::Value) {
    let operands = [barrier.pointer, phase].map(Operand::Value).to_vec();
    cx.emit.access(barrier.within, |emit| emit.call_with("mbarrier.wait", operands));
}

impl Elaborator<'_> {
    /// `bars[i]`
    pub fn mbarrier_at(
        &mut self,
        barriers: &Mbarrier,
        index: &Elaborated,
        span: Span,
    ) -> Elaborated {
        let Some(stages) = barriers.stages else {
            let message = format!("`{}` is one mbarrier, and has no elements", barriers.name);
            return self.mistake("subscript", span, message, "leave the index out");
        };
        if let Some(at) = index.as_int().filter(|at| !(0..i128::from(stages)).contains(at)) {
            let message = format!("there is no mbarrier {at} of {stages}");
            return self.mistake(
                "subscript",
                span,
                message,
                format!("count from 0 to {}", stages - 1),
            );
        }
        let Some(at) = self.read_index(index, span) else { return Elaborated::Poison };
        let b = &mut self.emit.b;
        let (extent, size) = (b.index(stages.into()), b.index(MBARRIER_BYTES.into()));
        let mut within = barriers.within;
        if index.as_int().is_none() {
            let check = self.emit.check(&barriers.name);
            self.emit.b.in_bounds(at, extent, check);
            within = self.emit.within(at, extent);
        }
        let b = &mut self.emit.b;
        let bytes = b.binary(Binary::Mul, at, size);
        let pointer = b.offset(barriers.pointer, bytes);
        let stage = self.emit.convert(at, Scalar::I32, Rounding::NearestEven);
        let one = Mbarrier { pointer, stages: None, stage, within, ..barriers.clone() };
        Elaborated::Mbarrier(Arc::new(one))
    }
}
