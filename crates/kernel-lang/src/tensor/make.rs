// SPDX-License-Identifier: Apache-2.0
//! New tensors: shared ones, register tensors, coordinates, and views of pointers.

use crate::algebra::Algebra;
use crate::elaborate::Elaborator;
use crate::expr::memory_of;
use crate::python::tree::Name;
use crate::value::{Base, Elaborated, LayoutValue, Leaf, Memory, Tensor};
use kernpack_kernel_ir::kernel::{SharedArray, Size};
use kernpack_kernel_ir::verify::MOST_ALIGN;
use kernpack_kernel_ir::{Scalar, Space};
use kernpack_layout::{Arith, Int, Layout, Mode, Swizzle, Tuple};
use kernpack_machine::block::MOST_ACCESS_BYTES;
use kernpack_machine::shared::MOST_BYTES;
use kernpack_syntax::Span;
use std::sync::Arc;

/// The alignment of every array of a block, in bytes: what the widest access needs.
const SHARED_ALIGN: u32 = MOST_ACCESS_BYTES;
/// The least alignment of an array with a swizzle: the banks of shared memory, so that what the
/// swizzle spreads is spread over them. Its bytes are counted from the array's beginning.
const SWIZZLED_ALIGN: u32 = 128;

/// The alignment of an array with a swizzle of its bytes: as far as can be, so many that the bits
/// of its addresses are those of its indices. So what swizzles addresses does the same.
fn swizzled_align(bytes: Swizzle) -> u32 {
    let n_bits = bytes.bits() + bytes.base() + bytes.shift().unsigned_abs();
    (1 << n_bits.min(MOST_ALIGN.ilog2())).max(SWIZZLED_ALIGN)
}

impl Elaborator<'_> {
    /// The name of what is made now.
    pub(super) fn made_name(&mut self, otherwise: &str) -> Name {
        self.naming.clone().unwrap_or_else(|| Name::from(otherwise))
    }

    /// A tensor that the threads of a block share, of so many elements.
    pub fn make_shared(
        &mut self,
        element: Scalar,
        layout: LayoutValue,
        count: &Int<Leaf>,
        span: Span,
    ) -> Elaborated {
        let (mut count, mut swizzle) = (*count, None);
        if let Some(elements) = layout.swizzle {
            let bytes = elements.recast(8, i64::from(element.bytes()) * 8);
            let block = Int::Known(elements.block());
            let blocks = Arith::ceil_div(&mut self.emit, &count, &block);
            let whole = blocks.and_then(|blocks| Arith::mul(&mut self.emit, &blocks, &block));
            let (Some(bytes), Some(whole)) = (self.algebra(bytes, span), self.algebra(whole, span))
            else {
                return Elaborated::Poison;
            };
            (count, swizzle) = (whole, Some(bytes));
        }
        let Some(size) = self.shared_size(&count, element, span) else { return Elaborated::Poison };
        let name = self.made_name("shared");
        let align = swizzle.map_or(SHARED_ALIGN, swizzled_align);
        let array = SharedArray { name: name.to_string(), element, size, align };
        let shared = self.emit.b.shared(array);
        let pointer = self.emit.address_of_array(shared);
        let space = Space::Shared;
        let (is_written, qualifier) = (true, None);
        let memory = Memory { space, pointer, align, element, is_written, swizzle, qualifier };
        self.tensor(name, memory, layout.layout)
    }

    fn tensor(&mut self, name: Name, memory: Memory, layout: Layout<Leaf>) -> Elaborated {
        let (base, offset) = (Base::Memory(memory), Tuple::Leaf(Int::Known(0)));
        Elaborated::Tensor(Arc::new(Tensor { name, base, offset, layout, limits: Vec::new() }))
    }

    /// Whether new memory can be laid out so; reports why not.
    pub fn can_be_new(&mut self, layout: &Layout<Leaf>, span: Span) -> bool {
        let is_negative = |mode: &Mode<Leaf>| self.emit.facts_of(&mode.stride.scale).min < 0;
        if layout.leaves().into_iter().any(is_negative) {
            let message = format!("the strides of `{layout}` are not known to be 0 or more");
            let help =
                "lay new memory out with other strides, or say in the signature what they are";
            self.mistake("layout", span, message, help);
            return false;
        }
        self.is_of_memory(layout, span)
    }

    /// Whether the indices of a layout are places in memory; reports where they are coordinates.
    fn is_of_memory(&mut self, layout: &Layout<Leaf>, span: Span) -> bool {
        if !layout.is_plain() {
            let message = format!("`{layout}` gives coordinates, and no places in memory");
            let help = "give strides that are numbers, as `kp.make_layout(shape)` does";
            self.mistake("layout", span, message, help);
        }
        layout.is_plain()
    }

    fn shared_size(&mut self, count: &Int<Leaf>, element: Scalar, span: Span) -> Option<Size> {
        let bytes = i64::from(element.bytes());
        match count {
            Int::Known(count) => match count.checked_mul(bytes) {
                Some(bytes) if bytes <= i64::from(MOST_BYTES) => Some(Size::Bytes(bytes as u32)),
                _ => {
                    let message =
                        format!("{count} elements of {bytes} bytes are more than a block has");
                    let help = format!("share at most {} KiB", MOST_BYTES >> 10);
                    self.mistake("shared", span, message, help);
                    None
                }
            },
            Int::Dynamic(leaf) => {
                let expr = self.emit.expr_of(leaf.value);
                let Some(expr) = expr else {
                    let message = "the extents of a shared tensor are not known at the launch";
                    let help = "use constants, and dims of the signature";
                    self.mistake("shared", span, message, help);
                    return None;
                };
                let facts = kernpack_kernel_ir::kernel::Facts {
                    min: leaf.facts.min.saturating_mul(bytes),
                    max: leaf.facts.max.saturating_mul(bytes),
                    divisor: leaf.facts.divisor.saturating_mul(bytes).max(1),
                };
                let expr = if bytes == 1 { expr } else { expr * bytes };
                let value = self.emit.number(&expr, Scalar::I64, facts);
                Some(Size::Param(value))
            }
        }
    }

    /// A tensor of which each thread has its own.
    pub fn make_register(
        &mut self,
        element: Scalar,
        layout: &Layout<Leaf>,
        span: Span,
    ) -> Elaborated {
        if self.known_size(layout, span).is_none() || !self.can_be_new(layout, span) {
            return Elaborated::Poison;
        }
        let cosize = kernpack_layout::cosize(&mut self.emit, layout);
        let count = match self.algebra(cosize, span) {
            Some(Int::Known(count)) if (0..=1 << 16).contains(&count) => count as u32,
            Some(_) => {
                let message = "a register tensor has constant strides, and few elements between";
                self.mistake("register-tensor", span, message, "use a compact layout");
                return Elaborated::Poison;
            }
            None => return Elaborated::Poison,
        };
        let name = self.made_name("registers");
        let pointer = self.emit.local(&name, element, count);
        let memory = Memory {
            space: Space::Local,
            pointer,
            align: SHARED_ALIGN,
            element,
            is_written: true,
            swizzle: None,
            qualifier: None,
        };
        self.tensor(name, memory, layout.clone())
    }

    /// The coordinates of a shape, as a tensor.
    pub fn make_coordinates(&mut self, shape: &Elaborated, span: Span) -> Elaborated {
        let Some(shape) = self.read_shape(shape, span) else { return Elaborated::Poison };
        Elaborated::Tensor(Arc::new(Tensor {
            name: Name::from("coordinates"),
            base: Base::Coordinates,
            offset: Tuple::Leaf(Int::Known(0)),
            layout: kernpack_layout::make_identity_layout(&shape),
            limits: Vec::new(),
        }))
    }

    /// A view of what a pointer points to.
    pub fn make_view(
        &mut self,
        pointer: &Elaborated,
        layout: LayoutValue,
        span: Span,
    ) -> Elaborated {
        let (Elaborated::Pointer(tensor) | Elaborated::Tensor(tensor)) = pointer else {
            if !pointer.is_poison() {
                let message = format!("expected a pointer, found {}", self.emit.describe(pointer));
                self.mistake("type", span, message, "pass `x.iterator`");
            }
            return Elaborated::Poison;
        };
        if memory_of(tensor).is_some() && !self.is_of_memory(&layout.layout, span) {
            return Elaborated::Poison;
        }
        let mut tensor = tensor.with_layout(layout.layout, tensor.places());
        if let (Some(swizzle), Base::Memory(memory)) = (layout.swizzle, &mut tensor.base) {
            let bytes = swizzle.recast(8, i64::from(memory.element.bytes()) * 8);
            let Some(bytes) = self.algebra(bytes, span) else { return Elaborated::Poison };
            if memory.swizzle.is_some_and(|known| known != bytes) {
                let message = "the memory has another swizzle already";
                let help = "make the view with the swizzle that it has, or none";
                return self.mistake("layout", span, message, help);
            }
            memory.swizzle = Some(bytes);
        }
        Elaborated::Tensor(Arc::new(tensor))
    }
}
