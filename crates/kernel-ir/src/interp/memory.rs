// SPDX-License-Identifier: Apache-2.0
//! Memory that pointers point into: allocations of bytes with a name and a shape for messages, and
//! which of the bytes were written. Numbers are little endian.

use crate::types::Scalar;
use crate::verify::MOST_ALIGN;
use std::fmt::Write;

/// An allocation of a [`Memories`], by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryId(pub u32);

/// A mode of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// How many.
    pub extent: u64,
    /// From one to the next, in elements.
    pub stride: i64,
}

/// An allocation.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Its name, for messages: `x`.
    pub name: String,
    /// The type of its elements.
    pub element: Scalar,
    /// How its elements are counted, for messages. Where there are no modes, they are in a row.
    pub modes: Vec<Mode>,
    /// The alignment of its beginning, in bytes, and no larger one: an access that needs
    /// more is misaligned. As much as a kernel can ask for, unless that is changed.
    pub align: u32,
    /// How many bytes its beginning lies behind an address that is aligned so.
    pub lead: u32,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The bytes that were written; nothing where all were.
    pub(super) written: Option<Bits>,
    /// Where elements lie that have others of no tensor between them: modes of larger strides
    /// first.
    pub(super) gaps: Vec<Mode>,
}

impl Memory {
    /// An allocation that holds these bytes.
    pub fn new(name: impl Into<String>, element: Scalar, bytes: Vec<u8>) -> Memory {
        let (name, modes, align) = (name.into(), Vec::new(), MOST_ALIGN);
        Memory { name, element, modes, align, lead: 0, bytes, written: None, gaps: Vec::new() }
    }

    /// The allocation where it begins at that address.
    pub fn at_address(self, address: u64) -> Memory {
        let lead = (address % u64::from(self.align)) as u32;
        Memory { lead, ..self }
    }

    /// An allocation that was never written.
    pub fn fresh(name: impl Into<String>, element: Scalar, n_bytes: usize) -> Memory {
        let memory = Memory::new(name, element, vec![0; n_bytes]);
        Memory { written: Some(Bits::new(n_bytes)), ..memory }
    }

    /// Counts the elements of a tensor that begins with the allocation.
    pub fn with_modes(self, modes: Vec<Mode>) -> Memory {
        let gaps = with_gaps(&modes);
        Memory { modes, gaps, ..self }
    }

    /// Counts the elements of a tensor of that shape, the last mode's side by side.
    pub fn with_shape(self, shape: &[u64]) -> Memory {
        let mut stride: i64 = 1;
        let mut modes = Vec::new();
        for &extent in shape.iter().rev() {
            modes.push(Mode { extent, stride });
            stride = stride.saturating_mul(i64::try_from(extent).unwrap_or(i64::MAX));
        }
        modes.reverse();
        self.with_modes(modes)
    }

    /// The first byte that was never written, if there is one.
    pub fn first_unwritten(&self) -> Option<usize> {
        let written = self.written.as_ref()?;
        let word = written.0.iter().position(|word| *word != u64::MAX)?;
        let byte = word * 64 + written.0[word].trailing_ones() as usize;
        (byte < self.bytes.len()).then_some(byte)
    }

    /// Whether an address in it is a multiple of that.
    #[inline]
    pub(super) fn is_aligned(&self, offset: u64, align: u32) -> bool {
        let address = offset.wrapping_add(self.lead.into());
        align <= self.align && address & (u64::from(align) - 1) == 0
    }

    /// Whether an access touches elements alone.
    #[inline]
    pub(super) fn has(&self, offset: u64, bytes: u32) -> bool {
        let is_inside = offset.checked_add(bytes.into());
        let is_inside = is_inside.is_some_and(|end| end <= self.bytes.len() as u64);
        is_inside && (self.gaps.is_empty() || self.gap_in(offset, bytes).is_none())
    }

    /// The first element's place of an access that lies in a gap.
    pub(super) fn gap_in(&self, offset: u64, bytes: u32) -> Option<u64> {
        let size = u64::from(self.element.bytes());
        let last = offset.checked_add(u64::from(bytes.max(1)) - 1)? / size;
        (offset / size..=last).find(|place| !self.has_element(*place))
    }

    /// Whether an element of the tensor lies there.
    fn has_element(&self, place: u64) -> bool {
        let mut rest = place;
        for Mode { extent, stride } in &self.gaps {
            let index = rest / *stride as u64;
            if index >= *extent {
                return false;
            }
            rest -= index * *stride as u64;
        }
        self.gaps.is_empty() || rest == 0
    }

    /// How many bytes there are to know which of its bytes were written.
    pub(super) fn written_bytes(&self) -> u64 {
        self.written.as_ref().map_or(0, |written| written.0.len() as u64 * 8)
    }

    /// The element that holds a byte, as a person names it: `x[3, 100]`.
    pub fn element_at(&self, byte: u64) -> String {
        let size = u64::from(self.element.bytes());
        let mut rest = byte / size;
        if self.modes.is_empty() {
            return format!("{}[{rest}]", self.name);
        }
        let mut index = vec![0; self.modes.len()];
        let mut order: Vec<usize> = (0..self.modes.len()).collect();
        order.sort_by_key(|&mode| std::cmp::Reverse(self.modes[mode].stride));
        for mode in order {
            let Mode { extent, stride } = self.modes[mode];
            if extent > 1 && stride > 0 {
                index[mode] = (rest / stride as u64).min(extent - 1);
                rest -= index[mode] * stride as u64;
            }
        }
        let mut text = format!("{}[", self.name);
        for (i, number) in index.iter().enumerate() {
            let _ = write!(text, "{}{number}", if i > 0 { ", " } else { "" });
        }
        text += "]";
        match rest {
            0 => text,
            _ => format!("{}[{}]", self.name, byte / size),
        }
    }
}

/// The modes of a tensor with gaps, the largest strides first; none where it has no gaps, or where
/// elements do not lie one behind another, so that it cannot be told.
fn with_gaps(modes: &[Mode]) -> Vec<Mode> {
    let mut modes: Vec<Mode> = modes.iter().filter(|mode| mode.extent != 1).copied().collect();
    modes.sort_by_key(|mode| std::cmp::Reverse(mode.stride));
    if modes.iter().any(|mode| mode.extent == 0 || mode.stride <= 0) {
        return Vec::new();
    }
    let mut inner = 1_u128;
    let mut has_gaps = false;
    for mode in modes.iter().rev() {
        let stride = mode.stride as u128;
        if stride < inner {
            return Vec::new();
        }
        has_gaps |= stride > inner;
        inner += (mode.extent as u128 - 1) * stride;
    }
    if has_gaps { modes } else { Vec::new() }
}

/// Allocations that launches share.
#[derive(Clone, Debug, Default)]
pub struct Memories(pub(super) Vec<Memory>);

impl Memories {
    /// Adds one.
    pub fn add(&mut self, memory: Memory) -> MemoryId {
        self.0.push(memory);
        MemoryId(self.0.len() as u32 - 1)
    }

    /// One of these.
    ///
    /// # Panics
    /// Where the number is another's.
    pub fn get(&self, id: MemoryId) -> &Memory {
        &self.0[id.0 as usize]
    }

    /// One of these, to be changed.
    ///
    /// # Panics
    /// Where the number is another's.
    pub fn get_mut(&mut self, id: MemoryId) -> &mut Memory {
        &mut self.0[id.0 as usize]
    }
}

/// A bit for each byte.
#[derive(Clone, Debug)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub fn new(count: usize) -> Bits {
        Bits(vec![0; count / 64 + 1])
    }

    pub fn clear(&mut self) {
        self.0.fill(0);
    }

    /// Sets all that are set of others.
    pub fn unite(&mut self, others: &Bits) {
        self.0.iter_mut().zip(&others.0).for_each(|(own, other)| *own |= other);
    }

    /// Whether these are all set: 16 at most.
    #[inline]
    pub fn has_all(&self, first: usize, count: u32) -> bool {
        let (word, low, high) = split(first, count);
        self.0[word] & low == low && (high == 0 || self.0[word + 1] & high == high)
    }

    /// Sets these.
    #[inline]
    pub fn set(&mut self, first: usize, count: u32) {
        let (word, low, high) = split(first, count);
        self.0[word] |= low;
        if high != 0 {
            self.0[word + 1] |= high;
        }
    }

    /// Whether these are all set, of which there may be many.
    pub fn has_row(&self, first: usize, count: u32) -> bool {
        pieces(first, count).all(|(first, count)| self.has_all(first, count))
    }

    /// Sets these, of which there may be many.
    pub fn set_row(&mut self, first: usize, count: u32) {
        pieces(first, count).for_each(|(first, count)| self.set(first, count));
    }
}

/// Many bits, 16 at a time.
fn pieces(first: usize, count: u32) -> impl Iterator<Item = (usize, u32)> {
    (0..count).step_by(16).map(move |at| (first + at as usize, (count - at).min(16)))
}

/// Which bits of a word, and which of the next one.
#[inline]
fn split(first: usize, count: u32) -> (usize, u64, u64) {
    let mask = (1 << count) - 1_u64;
    let shift = first % 64;
    let high = if shift == 0 { 0 } else { mask >> (64 - shift) };
    (first / 64, mask << shift, high)
}

/// The number that lies there; a truth value is the lowest bit.
#[inline]
pub(super) fn fetch(bytes: &[u8], at: usize, scalar: Scalar) -> u64 {
    let mut word = [0; 8];
    match scalar.bytes() {
        1 => return u64::from(bytes[at]) & scalar.mask(),
        2 => word[..2].copy_from_slice(&bytes[at..at + 2]),
        4 => word[..4].copy_from_slice(&bytes[at..at + 4]),
        _ => word.copy_from_slice(&bytes[at..at + 8]),
    }
    u64::from_le_bytes(word)
}

/// Puts a number there. Says whether that changes anything.
#[inline]
pub(super) fn put(bytes: &mut [u8], at: usize, scalar: Scalar, value: u64) -> bool {
    let old = fetch(bytes, at, scalar);
    let word = value.to_le_bytes();
    match scalar.bytes() {
        1 => bytes[at] = word[0],
        2 => bytes[at..at + 2].copy_from_slice(&word[..2]),
        4 => bytes[at..at + 4].copy_from_slice(&word[..4]),
        _ => bytes[at..at + 8].copy_from_slice(&word),
    }
    old != value
}
