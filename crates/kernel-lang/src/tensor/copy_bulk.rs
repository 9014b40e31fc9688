// SPDX-License-Identifier: Apache-2.0
//! Copies of many bytes that one thread begins: `kp.copy(…, to=bar)` into shared memory, which an
//! mbarrier counts, and `to=kp.bulk_group` out of it. What is copied lies side by side, and
//! addresses and bytes are multiples of 16.

use super::Within;
use super::copy::Predicate;
use crate::elaborate::Elaborator;
use crate::emit::Emission;
use crate::expr::{Arg, Args, memory_of};
use crate::python::tree::Name;
use crate::value::{Elaborated, Leaf, Mbarrier, Tensor};
use kernpack_kernel_ir::intrinsic::BULK_ALIGN;
use kernpack_kernel_ir::op::Operand;
use kernpack_kernel_ir::{Scalar, Space, kernel};
use kernpack_layout::{Int, Tuple, alignment, coalesce};
use kernpack_syntax::Span;

/// The places that a copy goes from and to, by what it belongs to.
const TO_MBARRIER: [&[Space]; 2] =
    [&[Space::Global, Space::Shared], &[Space::Shared, Space::Cluster]];
const TO_GROUP: [&[Space]; 2] = [&[Space::Shared], &[Space::Global]];

impl Elaborator<'_> {
    /// `kp.copy(source, target, to=…)`, with an mbarrier or none.
    pub fn copy_bulk(
        &mut self,
        source: &Tensor,
        target: &Tensor,
        pred: &Predicate,
        barrier: Option<&Mbarrier>,
        span: Span,
    ) {
        if self.is_without_pred(pred, span).is_none() {
            return;
        }
        let spaces = if barrier.is_some() { TO_MBARRIER } else { TO_GROUP };
        let touched = [(source, pred), (target, pred)];
        let is_here = self.is_in_memory(source, spaces[0], span)
            && self.is_in_memory(target, spaces[1], span);
        if !is_here {
            return;
        }
        let Some((_, [read, written])) = self.pieces_of_copy(touched, span) else { return };
        let within = self.emit.both(read, written);
        let Some(size) = self.known_size(&source.layout, span) else { return };
        let Some(pointers) = self.bulk_addresses([source, target], size, span) else { return };
        let [from, to] = pointers.map(Operand::Value);
        let bytes = memory_of(source).map_or(0, |memory| memory.element.bytes()) as usize * size;
        let bytes = self.emit.b.int(Scalar::I32, bytes as i64);
        let bytes = Operand::Value(bytes);
        match barrier {
            Some(barrier) => self.emit.begin_bulk_copy([to, from, bytes], barrier, within),
            None => {
                let operands = vec![to, from, bytes];
                self.emit.access(within, |emit| emit.call_with("copy.bulk_store", operands));
            }
        }
    }

    /// Has an object know how many bytes a copy that it counts brings, where it has a method
    /// `expect`.
    pub fn expect_bytes(&mut self, stage: &Arg, target: &Tensor) {
        let Elaborated::Object(object) = &stage.value else { return };
        let size = kernpack_layout::size(&mut self.emit, &target.layout).ok();
        let size = size.and_then(|size| size.known());
        let bytes = memory_of(target).map(|memory| i64::from(memory.element.bytes()));
        // What is no tile of constant size in memory is refused as it is copied.
        let Some(bytes) = size.zip(bytes).and_then(|(size, each)| size.checked_mul(each)) else {
            return;
        };
        let Some(expect) = self.object_part(object, &Name::from("expect"), stage.span) else {
            return;
        };
        let value = Elaborated::Int(bytes.into());
        let positional = vec![Arg { value, span: stage.span }];
        self.call_value(&expect, Args { positional, named: vec![] }, stage.span);
    }

    /// That a copy has no `pred`; reports where it has one.
    pub(super) fn is_without_pred(&mut self, pred: &Predicate, span: Span) -> Option<()> {
        if matches!(pred, Predicate::Always) {
            return Some(());
        }
        let message = "a copy of many bytes has no `pred`: one thread begins it";
        self.mistake("arguments", span, message, "put it under an `if`");
        None
    }

    /// Whether a tensor is in one of these memories; reports where not.
    fn is_in_memory(&mut self, tensor: &Tensor, spaces: &[Space], span: Span) -> bool {
        let found = memory_of(tensor).map(|memory| memory.space);
        // Coordinates are told with what every copy needs.
        if found.is_none_or(|found| spaces.contains(&found)) {
            return true;
        }
        let names: Vec<_> = spaces.iter().map(|space| space.name()).collect();
        let found = found.map_or("", Space::name);
        let message = format!(
            "expected {} memory, found `{}` in {found} memory",
            names.join(" or "),
            tensor.name
        );
        let help =
            "copy to shared memory with an mbarrier, and to global memory with `kp.bulk_group`";
        self.mistake("type", span, message, help);
        false
    }

    /// The addresses of tensors whose elements lie side by side, from multiples of 16 on.
    fn bulk_addresses(
        &mut self,
        tensors: [&Tensor; 2],
        size: usize,
        span: Span,
    ) -> Option<[kernel::Value; 2]> {
        for tensor in tensors {
            self.is_in_a_row(tensor, size, span)?;
            self.is_aligned_for_bulk(tensor, size, span)?;
        }
        let [source, target] = tensors.map(|tensor| {
            let memory = memory_of(tensor)?.clone();
            let at = self.emit.element_at(tensor, 0);
            let at = self.algebra(at, span)?;
            let address = self.emit.address(&memory, &at);
            self.algebra(address, span).map(|(pointer, _)| pointer)
        });
        Some([source?, target?])
    }

    /// That elements lie one behind the other; reports where that is not known.
    fn is_in_a_row(&mut self, tensor: &Tensor, size: usize, span: Span) -> Option<()> {
        let layout = coalesce(&mut self.emit, &tensor.layout);
        let layout = self.algebra(layout, span)?;
        let is_swizzled = memory_of(tensor).is_some_and(|memory| memory.swizzle.is_some());
        let is_row = match &layout.leaves()[..] {
            [mode] => size <= 1 || mode.stride.scale.known() == Some(1),
            _ => size <= 1,
        };
        if is_row && !is_swizzled {
            return Some(());
        }
        let name = &tensor.name;
        let message = match is_swizzled {
            true => format!("`{name}` has a swizzle, and a copy of many bytes keeps their order"),
            false => {
                format!("the elements of `{name}` are not known to lie side by side: `{layout}`")
            }
        };
        self.mistake("layout", span, message, "copy rows of stride 1, or leave out `to=`");
        None
    }

    /// That address and bytes are multiples of 16; reports where that is not known.
    fn is_aligned_for_bulk(&mut self, tensor: &Tensor, size: usize, span: Span) -> Option<()> {
        let memory = memory_of(tensor)?.clone();
        let bytes = i64::from(memory.element.bytes());
        let needed = i64::from(BULK_ALIGN);
        let all = bytes * size as i64;
        if all % needed != 0 {
            let message = format!("a copy of {all} bytes: many bytes are a multiple of {needed}");
            self.mistake("alignment", span, message, "copy as many elements as are one");
            return None;
        }
        let offset = match &tensor.offset {
            Tuple::Leaf(offset) => *offset,
            Tuple::Node(_) => Int::<Leaf>::Known(0),
        };
        let known = alignment(&self.emit, memory.align.into(), &offset, bytes);
        if known % needed == 0 {
            return Some(());
        }
        let name = &tensor.name;
        let (message, help) = match i64::from(memory.align) % needed {
            0 => (
                format!("where `{name}` begins is not known to be a multiple of {needed} bytes"),
                format!("say that it is, as by `n % {} == 0` of a row's length", needed / bytes),
            ),
            _ => (
                format!(
                    "`{name}` is known to be aligned to {} bytes, not to {needed}",
                    memory.align
                ),
                format!("write `align={needed}` in the signature"),
            ),
        };
        self.mistake("alignment", span, message, help);
        None
    }
}

impl Emission {
    fn begin_bulk_copy(&mut self, of: [Operand; 3], barrier: &Mbarrier, within: Within) {
        let (counts, bytes) = (Operand::Value(barrier.pointer), of[2].clone());
        let operands = of.into_iter().chain([counts]).collect();
        self.begin_counted(("copy.bulk", operands), bytes, barrier, within);
    }

    /// Begins a copy where it can be made. An mbarrier gets its bytes elsewhere, too.
    pub(super) fn begin_counted(
        &mut self,
        (row, operands): (&str, Vec<Operand>),
        bytes: Operand,
        barrier: &Mbarrier,
        within: Within,
    ) {
        let counts = Operand::Value(barrier.pointer);
        let made = self.both(within, barrier.within);
        self.access(made, |emit| emit.call_with(row, operands));
        if let Some(skipped) = self.skipped(within) {
            let brought = self.both(skipped, barrier.within);
            self.access(brought, |emit| {
                emit.call_with("mbarrier.complete_tx", vec![counts, bytes])
            });
        }
    }
}
