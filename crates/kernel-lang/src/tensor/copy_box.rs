// SPDX-License-Identifier: Apache-2.0
//! Copies of boxes of a tensor that one thread begins, by the tensor's map: `kp.copy(tA[None, (m,
//! k)], tile, to=bar)` into shared memory, which an mbarrier counts, and `to=kp.bulk_group` out of
//! it. Of a tile beyond the tensor's edge, what is outside becomes zeros, and is not written.

use super::copy::Predicate;
use super::limit::Touched;
use super::map::map_of;
use crate::elaborate::Elaborator;
use crate::expr::memory_of;
use crate::value::{Leaf, Mapped, Mbarrier, Memory, Tensor};
use kernpack_kernel_ir::intrinsic::reduced_types;
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::{Operand, Rounding};
use kernpack_kernel_ir::{Scalar, Space};
use kernpack_layout::{Arith, Int, Shape, Tuple, alignment, coalesce};
use kernpack_machine::tensor_map::UNIT_BYTES;
use kernpack_syntax::{Diagnostic, Span};

/// A copy of a box.
pub(crate) enum BoxCopy<'a> {
    /// From a map. The mbarrier counts it; it goes to the blocks whose bits are in a mask, where
    /// there is one.
    Load(&'a Mbarrier, Option<Value>),
    /// To a map, in a group of the thread. It combines the elements so, where that is said.
    Store(Option<&'static str>),
}

impl Elaborator<'_> {
    /// `kp.copy(source, target, to=…)`, where one of both is of a map.
    pub fn copy_box(
        &mut self,
        [source, target]: [&Tensor; 2],
        pred: &Predicate,
        copy: &BoxCopy<'_>,
        span: Span,
    ) -> Option<()> {
        self.is_without_pred(pred, span)?;
        let (tiles, shared) = match copy {
            BoxCopy::Load(..) => (source, target),
            BoxCopy::Store(_) => (target, source),
        };
        let Some(mapped) = map_of(tiles).cloned() else {
            let (message, help) = match copy {
                BoxCopy::Load(..) => {
                    ("an mbarrier counts what comes from a map", "copy from the map")
                }
                BoxCopy::Store(_) => {
                    ("`kp.bulk_group` is of what goes to a map", "copy to the map")
                }
            };
            self.mistake("type", span, message, help);
            return None;
        };
        self.is_tile(tiles, &mapped, span)?;
        let may_be_others = matches!(copy, BoxCopy::Load(_, None));
        let memory = self.box_memory(shared, &mapped, may_be_others, span)?;
        if let BoxCopy::Store(reduction) = copy {
            self.map_is_written(tiles, &mapped, span)?;
            self.is_reduced(&mapped, *reduction, span)?;
        }
        let blocks = match copy {
            BoxCopy::Load(barrier, Some(mask)) => Some(self.mask(barrier, *mask, span)?),
            BoxCopy::Load(_, None) | BoxCopy::Store(_) => None,
        };
        let size = (mapped.pitch() * mapped.n_boxes) as usize;
        let always = Predicate::Always;
        let within = self.keep_to_limits(shared, Touched::All(size), &always, span)?;
        for number in 0..mapped.n_boxes {
            let at = self.coordinates(&tiles.offset, &mapped, number, span)?;
            let address = self.box_address(shared, &memory, number * mapped.pitch(), span)?;
            let rank = at.len();
            let at = at.into_iter().map(Operand::Value);
            let (map, address) = (Operand::Value(mapped.pointer), Operand::Value(address));
            match copy {
                BoxCopy::Load(barrier, _) => {
                    let operands = [address, map, Operand::Value(barrier.pointer)].into_iter();
                    let operands = operands.chain(blocks.map(Operand::Value)).chain(at).collect();
                    let bytes = i64::from(mapped.map.box_bytes());
                    let bytes = Operand::Value(self.emit.b.int(Scalar::I32, bytes));
                    let way = if blocks.is_some() { "multicast" } else { "load" };
                    let row = format!("tma.{way}{rank}");
                    self.emit.begin_counted((&row, operands), bytes, barrier, within);
                }
                BoxCopy::Store(reduction) => {
                    let operands = [map, address].into_iter();
                    let operands = operands.chain(reduction.map(Operand::Word)).chain(at).collect();
                    let way = if reduction.is_some() { "reduce" } else { "store" };
                    let row = format!("tma.{way}{rank}");
                    self.emit.access(within, |emit| emit.call_with(&row, operands));
                }
            }
        }
        Some(())
    }

    /// `kp.prefetch(tma[None, …])`
    pub fn prefetch_box(&mut self, tiles: &Tensor, mapped: &Mapped, span: Span) -> Option<()> {
        self.is_tile(tiles, mapped, span)?;
        for number in 0..mapped.n_boxes {
            let at = self.coordinates(&tiles.offset, mapped, number, span)?;
            let row = format!("tma.prefetch{}", at.len());
            let operands = [mapped.pointer].into_iter().chain(at).map(Operand::Value).collect();
            self.emit.call_with(&row, operands);
        }
        Some(())
    }

    /// The blocks of a cluster that a box goes to, where the mbarrier is the block's own; reports
    /// where not.
    fn mask(&mut self, barrier: &Mbarrier, mask: Value, span: Span) -> Option<Value> {
        if barrier.space != Space::Shared {
            let message = "`mcast_mask` is of blocks that are counted from this one's mbarrier";
            self.mistake("type", span, message, "give the block's own mbarrier and tile");
            return None;
        }
        Some(self.emit.convert(mask, Scalar::U16, Rounding::NearestEven))
    }

    /// That the device combines such elements; reports where not.
    fn is_reduced(
        &mut self,
        mapped: &Mapped,
        reduction: Option<&'static str>,
        span: Span,
    ) -> Option<()> {
        let (Some(reduction), element) = (reduction, mapped.map.element) else { return Some(()) };
        let types = reduced_types(reduction);
        if types.contains(&element) {
            return Some(());
        }
        let names: Vec<_> = types.iter().map(|scalar| scalar.name()).collect();
        let message = format!("`reduction_kind=\"{reduction}\"` is not for {element}");
        let help = format!("the device does so with {}", names.join(", "));
        self.mistake("element-type", span, message, help);
        None
    }

    /// That a view of a map is one tile of it; reports where not.
    fn is_tile(&mut self, tiles: &Tensor, mapped: &Mapped, span: Span) -> Option<()> {
        if tiles.layout.leaves() == mapped.tile.leaves() {
            return Some(());
        }
        let name = &tiles.name;
        let message =
            format!("`{name}` is `{}` here, and a tile is `{}`", tiles.layout, mapped.tile);
        let help =
            format!("copy one tile of it: `{name}[None, …]`, with its place among the tiles");
        self.mistake("shape", span, message, help);
        None
    }

    /// The shared memory of a tile, where the map's boxes go there; reports where not.
    fn box_memory(
        &mut self,
        shared: &Tensor,
        mapped: &Mapped,
        is_load: bool,
        span: Span,
    ) -> Option<Memory> {
        let spaces: &[Space] = match is_load {
            true => &[Space::Shared, Space::Cluster],
            false => &[Space::Shared],
        };
        let name = &shared.name;
        let Some(memory) = memory_of(shared).filter(|memory| spaces.contains(&memory.space)) else {
            let message = format!(
                "boxes are copied to shared memory and from there, and `{name}` is elsewhere"
            );
            self.mistake(
                "type",
                span,
                message,
                "copy to a tile in shared memory, and on from there",
            );
            return None;
        };
        let mut memory = memory.clone();
        let element = mapped.map.element;
        if memory.element != element {
            let message = format!("`{name}` is of {}, and the map of {element}", memory.element);
            self.mistake("element-type", span, message, "make both of one type");
            return None;
        }
        let layout = coalesce(&mut self.emit, &shared.layout);
        let layout = self.algebra(layout, span)?;
        if layout != mapped.layout || memory.swizzle != mapped.swizzle {
            let problem = format!("`{name}` is not laid out as the map says");
            let problem = Diagnostic::new("layout", problem);
            let shown = |layout, swizzle: Option<_>| match swizzle {
                Some(swizzle) => format!("{swizzle} o {layout}"),
                None => format!("{layout}"),
            };
            let found = shown(&shared.layout, memory.swizzle);
            let expected = shown(&mapped.layout, mapped.swizzle);
            let problem = problem.label(span, format!("expected `{expected}`, found `{found}`"));
            self.report(problem.help("make the map and the shared tensor with one layout"));
            return None;
        }
        let align = mapped.map.box_align();
        if self.emit.align_array(memory.pointer, align) {
            memory.align = memory.align.max(align);
        }
        self.is_aligned_for_boxes(shared, &memory, mapped, span)?;
        Some(memory)
    }

    /// That a tile begins where boxes can; reports where that is not known.
    fn is_aligned_for_boxes(
        &mut self,
        shared: &Tensor,
        memory: &Memory,
        mapped: &Mapped,
        span: Span,
    ) -> Option<()> {
        let bytes = i64::from(memory.element.bytes());
        let needed = i64::from(mapped.map.box_align());
        let offset = match &shared.offset {
            Tuple::Leaf(offset) => *offset,
            Tuple::Node(_) => Int::<Leaf>::Known(0),
        };
        let known = alignment(&self.emit, memory.align.into(), &offset, bytes);
        let is_apart = mapped.n_boxes == 1 || mapped.pitch() * bytes % needed == 0;
        if known % needed == 0 && is_apart {
            return Some(());
        }
        let message = format!(
            "where boxes of `{}` begin is not known to be a multiple of {needed} bytes",
            shared.name
        );
        let help = "give tiles and stages as many bytes as are a multiple of that";
        self.mistake("alignment", span, message, help);
        None
    }

    fn map_is_written(&mut self, tiles: &Tensor, mapped: &Mapped, span: Span) -> Option<()> {
        if mapped.map.is_written {
            self.emit.note_written(mapped.tensor);
            return self.writes_within_rows(mapped, span);
        }
        let (name, _) = self.emit.pointer_param(mapped.tensor)?;
        let problem = format!("`{}` is a map of `{name}`, which is not `mut`", tiles.name);
        let problem = Diagnostic::new("read-only", problem).label(span, "written here");
        let help = format!("write `mut` for `{name}` in the signature, or make it a result");
        self.report(problem.help(help));
        None
    }

    /// That nothing is written behind the rows of a tensor; reports where that is not known. The
    /// device stores boxes 16 bytes at a time, also beyond the last element of a row. That is what
    /// an H100 does; no manual says it.
    fn writes_within_rows(&mut self, mapped: &Mapped, span: Span) -> Option<()> {
        if mapped.has_whole_units {
            return Some(());
        }
        let (name, _) = self.emit.pointer_param(mapped.tensor)?;
        let message = format!(
            "rows of `{name}` are not known to be a multiple of {UNIT_BYTES} bytes, which are written at once"
        );
        let unit = UNIT_BYTES / mapped.map.element.bytes();
        let help =
            format!("say so of their extent: `n % {unit} == 0`; or store elements by threads");
        self.mistake("tensor-map", span, message, help);
        None
    }

    /// The coordinates of a box, the innermost first.
    fn coordinates(
        &mut self,
        offset: &Shape<Leaf>,
        mapped: &Mapped,
        number: i64,
        span: Span,
    ) -> Option<Vec<Value>> {
        let mut values = Vec::new();
        for (depth, mode) in mapped.order.iter().enumerate() {
            let at = offset.modes().get(*mode).and_then(|at| at.as_leaf()).copied();
            let at = at.unwrap_or(Int::Known(0));
            let further = if depth == 0 { number * i64::from(mapped.map.extents[0]) } else { 0 };
            let at = Arith::add(&mut self.emit, &at, &Int::Known(further));
            let at = self.algebra(at, span)?;
            let at = self.emit.index(&at);
            values.push(self.emit.convert(at, Scalar::I32, Rounding::NearestEven));
        }
        Some(values)
    }

    /// The address of a box, so many elements behind the beginning of its tile.
    fn box_address(
        &mut self,
        shared: &Tensor,
        memory: &Memory,
        further: i64,
        span: Span,
    ) -> Option<Value> {
        let at = self.emit.element_at(shared, 0);
        let at = at.and_then(|at| Arith::add(&mut self.emit, &at, &Int::Known(further)));
        let at = self.algebra(at, span)?;
        // A box begins with a pattern of the swizzle, where nothing changes places.
        let plain = Memory { swizzle: None, ..memory.clone() };
        let address = self.emit.address(&plain, &at);
        self.algebra(address, span).map(|(pointer, _)| pointer)
    }
}
