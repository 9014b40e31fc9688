// SPDX-License-Identifier: Apache-2.0
//! Copies of tiles, with the widest accesses that are known to be right: what lies side by side in
//! memory, from an address that is a multiple of the access's size.

use super::Within;
use super::limit::Touched;
use crate::elaborate::Elaborator;
use crate::emit::Emission;
use crate::expr::memory_of;
use crate::value::{Elaborated, Leaf, Memory, Tensor};
use kernpack_kernel_ir::kernel;
use kernpack_kernel_ir::op::{Guard, Load, Qualifier, Store};
use kernpack_kernel_ir::types::MOST_VECTOR_BYTES;
use kernpack_kernel_ir::{Const, Type};
use kernpack_layout::{
    Access, Arith, Int, Layout, Mode, Result, Tiler, Tuple, alignment, index_of, logical_divide,
    max_common_layout, vector_width,
};
use kernpack_syntax::Span;

/// Which elements are touched.
#[derive(Clone, Debug)]
pub(crate) enum Predicate {
    /// All.
    Always,
    /// All, where it holds.
    When(kernel::Value),
    /// Each where its own holds.
    Each(Vec<kernel::Value>),
}

/// How a tile is taken apart: accesses of as many elements each.
#[derive(Clone, Debug)]
pub(crate) struct Pieces {
    /// How many elements there are.
    pub size: usize,
    /// How many an access has.
    width: usize,
    /// The elements of an access, and the accesses: numbers of elements of the tile.
    order: Layout<Leaf>,
}

impl Pieces {
    /// Whether one access has all elements, as many as that.
    pub fn is_one_of(&self, n_elements: usize) -> bool {
        [self.size, self.width] == [n_elements; 2]
    }
}

impl Emission {
    /// How many elements one access of each tile has, and which: numbers of elements.
    fn common_run(&mut self, tensors: &[&Tensor], most: i64) -> Option<(usize, Mode<Leaf>)> {
        let common = match tensors {
            [one] => max_common_layout(self, &one.layout, &one.layout),
            [a, b, ..] => max_common_layout(self, &a.layout, &b.layout),
            [] => return None,
        };
        let common = kernpack_layout::coalesce(self, &common.ok()?).ok()?;
        let first = common.leaves().first().map(|mode| (*mode).clone())?;
        let mut width = first.extent.known()?;
        width = 1 << width.max(1).trailing_zeros().min(8);
        for tensor in tensors {
            width = width.min(self.width_of(tensor, most)?);
        }
        let mode = Mode { extent: Int::Known(width), stride: first.stride };
        Some((width as usize, mode))
    }

    /// How many elements one access of a tile may have.
    fn width_of(&mut self, tensor: &Tensor, most: i64) -> Option<i64> {
        let memory = memory_of(tensor)?;
        let is_alone = memory.qualifier == Some(Qualifier::Volatile);
        if is_alone || memory.element == kernpack_kernel_ir::Scalar::Bool {
            return Some(1);
        }
        let Tuple::Leaf(offset) = &tensor.offset else { return None };
        let element_bytes = i64::from(memory.element.bytes());
        let align = alignment(self, memory.align.into(), offset, element_bytes);
        let most = match memory.swizzle {
            Some(swizzle) => most.min(1 << swizzle.base().min(20)),
            None => most,
        };
        let access = Access {
            element_bytes,
            alignment_bytes: align.max(1),
            max_bytes: most.max(element_bytes),
        };
        vector_width(self, &tensor.layout, &access).ok()
    }

    /// The numbers of the elements of each access.
    pub(super) fn runs(&mut self, pieces: &Pieces) -> Vec<Vec<usize>> {
        let n_runs = pieces.size / pieces.width.max(1);
        let number = |run: usize, lane: usize| (run * pieces.width + lane) as i64;
        let mut runs = Vec::with_capacity(n_runs);
        for run in 0..n_runs {
            let mut lanes = Vec::with_capacity(pieces.width);
            for lane in 0..pieces.width {
                let at = index_of(self, &Int::Known(number(run, lane)), &pieces.order);
                let at = at.ok().and_then(|at| at.known()).unwrap_or(0);
                lanes.push(at as usize);
            }
            runs.push(lanes);
        }
        runs
    }

    /// Where the element of that number is, counted from the memory's address.
    pub fn element_at(&mut self, tensor: &Tensor, number: usize) -> Result<Int<Leaf>> {
        let at = index_of(self, &Int::Known(number as i64), &tensor.layout)?;
        match &tensor.offset {
            Tuple::Leaf(offset) => Arith::add(self, offset, &at),
            Tuple::Node(_) => Ok(at),
        }
    }

    /// The values of a tile's elements, in its order.
    pub fn load_pieces(
        &mut self,
        tensor: &Tensor,
        pieces: &Pieces,
        pred: &Predicate,
    ) -> Result<Vec<kernel::Value>> {
        let Some(memory) = memory_of(tensor).cloned() else { return Ok(Vec::new()) };
        let mut items = vec![None; pieces.size];
        for lanes in self.runs(pieces) {
            let at = self.element_at(tensor, lanes[0])?;
            let loaded = self.load_run(&memory, &at, lanes.len(), pred.at(lanes[0]))?;
            for (lane, number) in lanes.iter().enumerate() {
                items[*number] = Some(self.b.extract(loaded, lane as u8));
            }
        }
        Ok(items.into_iter().flatten().collect())
    }

    pub(super) fn load_run(
        &mut self,
        memory: &Memory,
        at: &Int<Leaf>,
        width: usize,
        condition: Option<kernel::Value>,
    ) -> Result<kernel::Value> {
        let (pointer, align) = self.address(memory, at)?;
        let ty = Type::of_lanes(memory.element, width as u8);
        let guard = condition.map(|condition| {
            let zero = self.b.constant(Const::from_bits(memory.element, 0));
            let otherwise = self.b.splat(zero, width as u8);
            Guard { condition, otherwise }
        });
        let (align, qualifier) = (align.min(ty.bytes()), memory.qualifier);
        Ok(self.b.load(ty, Load { pointer, align, qualifier, guard }))
    }

    /// Makes the elements of a tile something.
    pub fn store_pieces(
        &mut self,
        tensor: &Tensor,
        pieces: &Pieces,
        items: &[kernel::Value],
        pred: &Predicate,
    ) -> Result<()> {
        let Some(memory) = memory_of(tensor).cloned() else { return Ok(()) };
        for lanes in self.runs(pieces) {
            let at = self.element_at(tensor, lanes[0])?;
            let values = lanes.iter().map(|number| items[*number]).collect();
            let value = self.b.vector(values);
            let (pointer, align) = self.address(&memory, &at)?;
            let align = align.min(self.b.ty(value).bytes());
            let (condition, qualifier) = (pred.at(lanes[0]), memory.qualifier);
            self.b.store(Store { pointer, value, align, qualifier, condition });
        }
        Ok(())
    }
}

impl<'f> Elaborator<'f> {
    /// The predicate of which elements are copied: a bool, or one for each.
    pub fn predicate(&mut self, value: &Elaborated, size: usize, span: Span) -> Option<Predicate> {
        use crate::number::Condition;
        let value = match value {
            Elaborated::Tensor(tensor) => self.load_all(tensor, span),
            other => other.clone(),
        };
        match &value {
            Elaborated::None => Some(Predicate::Always),
            Elaborated::Elements(elements) if elements.items.len() == size => {
                let scalar = kernpack_kernel_ir::Scalar::Bool;
                if elements.scalar != scalar {
                    let message = format!("a predicate is bools, found {}", elements.scalar);
                    self.mistake("type", span, message, "compare, as in `x < n`");
                    return None;
                }
                let items = elements.items.iter().map(|item| self.emit.typed(item, scalar));
                Some(Predicate::Each(items.collect()))
            }
            Elaborated::Elements(elements) if elements.items.len() != 1 => {
                let message = format!("{} bools for {size} elements", elements.items.len());
                self.mistake("shape", span, message, "give one bool, or one for each element");
                None
            }
            value => {
                let one = match value {
                    Elaborated::Elements(elements) => elements.items[0].clone(),
                    other => other.clone(),
                };
                match self.read_condition(&one, span)? {
                    Condition::Constant(true) => Some(Predicate::Always),
                    Condition::Constant(false) => {
                        let never = self.emit.b.constant(Const::bool(false));
                        Some(Predicate::When(never))
                    }
                    Condition::Typed(condition) => Some(Predicate::When(condition)),
                }
            }
        }
    }

    /// How a tile is best accessed by itself.
    pub fn pieces(&mut self, tensor: &Tensor, span: Span) -> Option<Pieces> {
        self.pieces_of(&[tensor], MOST_VECTOR_BYTES.into(), span)
    }

    /// How tiles of one size are best accessed together.
    fn pieces_of(&mut self, tensors: &[&Tensor], most: i64, span: Span) -> Option<Pieces> {
        let size = self.known_size(&tensors[0].layout, span)?;
        let (width, run) = self.emit.common_run(tensors, most).unwrap_or((1, Mode::new(1, 0)));
        let all = Layout::mode(size as i64, 1);
        let order = match width {
            1 => Some(Tuple::Node(vec![Layout::unit(), all.clone()])),
            _ => logical_divide(&mut self.emit, &all, &Tiler::Layout(Tuple::Leaf(run))).ok(),
        };
        let plain = Tuple::Node(vec![Layout::unit(), all]);
        Some(match order {
            Some(order) => Pieces { size, width, order },
            None => Pieces { size, width: 1, order: plain },
        })
    }

    /// `kp.copy(source, target, pred=…)`
    pub fn copy(&mut self, source: &Tensor, target: &Tensor, pred: &Predicate, span: Span) {
        let touched = [(source, pred), (target, pred)];
        let Some((pieces, within)) = self.pieces_of_copy(touched, span) else { return };
        let [read, written] = within.map(|within| self.emit.narrowed(pred, within));
        let items = self.emit.load_pieces(source, &pieces, &read);
        let Some(items) = self.algebra(items, span) else { return };
        let stored = self.emit.store_pieces(target, &pieces, &items, &written);
        self.algebra(stored, span);
    }

    /// How one tensor is copied to another, where it can be: what is touched of each, and where.
    pub(super) fn pieces_of_copy(
        &mut self,
        touched: [(&Tensor, &Predicate); 2],
        span: Span,
    ) -> Option<(Pieces, [Within; 2])> {
        let [(source, read), (target, write)] = touched;
        self.writable(target, span)?;
        let (Some(from), Some(to)) = (memory_of(source), memory_of(target)) else {
            self.mistake("type", span, "coordinates are not copied", "copy a tensor");
            return None;
        };
        if from.element != to.element {
            let message = format!("a copy from {} to {}", from.element, to.element);
            let help = format!("write `y.store(x.load().to(kp.{}))`", to.element);
            self.mistake("element-type", span, message, help);
            return None;
        }
        let a = self.known_size(&source.layout, span)?;
        let b = self.known_size(&target.layout, span)?;
        if a != b {
            let message = format!("a copy from {a} elements to {b}");
            self.mistake("shape", span, message, "make both of one size");
            return None;
        }
        let most = match read {
            Predicate::Each(_) => from.element.bytes().into(),
            Predicate::Always | Predicate::When(_) => MOST_VECTOR_BYTES.into(),
        };
        let pieces = self.pieces_of(&[source, target], most, span)?;
        let all = Touched::All(pieces.size);
        let read = self.keep_to_limits(source, all, read, span)?;
        let written = self.keep_to_limits(target, all, write, span)?;
        Some((pieces, [read, written]))
    }
}

impl Predicate {
    /// The condition of an element.
    pub(super) fn at(&self, number: usize) -> Option<kernel::Value> {
        match self {
            Predicate::Always => None,
            Predicate::When(condition) => Some(*condition),
            Predicate::Each(conditions) => conditions.get(number).copied(),
        }
    }
}
