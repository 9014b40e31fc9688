// SPDX-License-Identifier: Apache-2.0
//! Arguments that a caller passes to a function, and the memory that its tensors lie in.
//! Tensors that share bytes lie in one memory, so that what one of them is written shows in the
//! others, as in a call.
//!
//! A memory reaches from the first to the last byte of its tensors. Those that only touch have
//! memories of their own: what goes beyond the end of one of them is found. Not here: whose memory
//! it is, and how it is read; and the call.

use super::InterpretError;
use super::runs::each_run;
use kernpack_ffi_abi::managed::row_major;
use kernpack_validators::described::{Described, DescribedTensor, data_at, tensor_at};
use std::ops::Range;

/// So much of an address counts in checks of alignment.
const KEPT: u64 = 1 << 20;

/// Arguments, with the memory of their tensors.
#[derive(Clone, Debug, Default)]
pub struct Passed {
    /// The arguments. Tensors have addresses that [`place`](Passed::place) takes.
    pub(super) arguments: Vec<Described>,
    /// The memories.
    pub(super) memories: Vec<PassedMemory>,
}

/// Bytes of the caller's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedMemory {
    /// Where they begin.
    pub address: u64,
    /// Their contents.
    pub bytes: Vec<u8>,
}

impl Passed {
    /// Arguments whose tensors have the addresses of their first elements as `data`; tensors
    /// without have none. `read` copies the bytes that lie at an address, for those of elements
    /// alone.
    ///
    /// # Errors
    /// Where they have more bytes than may be taken, or than there are addresses.
    pub fn of(
        mut arguments: Vec<Described>,
        most_bytes: Option<u64>,
        read: &mut dyn FnMut(u64, &mut [u8]),
    ) -> Result<Passed, InterpretError> {
        let mut tensors = Vec::new();
        arguments.iter_mut().for_each(|argument| collect(argument, &mut tensors));
        let ranges = tensors.iter().map(|tensor| range(tensor)).collect::<Option<Vec<_>>>();
        let ranges = ranges.ok_or_else(|| {
            InterpretError::Other("a tensor is larger than memory can be".to_string())
        })?;
        let pieces = pieces(&ranges);
        let all: u64 = pieces.iter().map(|piece| piece.end - piece.start).sum();
        if let Some(most) = most_bytes.filter(|most| all > *most) {
            let message = format!("the arguments have {all} bytes, and {most} may be taken");
            return Err(InterpretError::Other(message));
        }
        let memory = |piece: &Range<u64>| PassedMemory {
            address: piece.start,
            bytes: vec![0; (piece.end - piece.start) as usize],
        };
        let mut memories: Vec<_> = pieces.iter().map(memory).collect();
        for (tensor, range) in tensors.into_iter().zip(&ranges) {
            let address = tensor.data.unwrap_or_default();
            let number =
                pieces.iter().position(|piece| is_in(range, piece)).filter(|_| address > 0);
            if let Some(number) = number {
                copy(tensor, &mut memories[number], read);
            }
            // An address that is not there stays NULL, which checks may refuse.
            tensor.data = Some(number.map_or(0, |number| {
                let start = pieces[number].start;
                data_at(number, start % KEPT + address - start)
            }));
        }
        Ok(Passed { arguments, memories })
    }

    /// The address that [`place`](Passed::place) takes for one that the caller has of some byte of
    /// its tensors; nothing of others.
    pub(super) fn known(&self, address: u64) -> Option<u64> {
        let is_in = |memory: &PassedMemory| {
            let offset = address.checked_sub(memory.address);
            offset.is_some_and(|offset| offset < memory.bytes.len() as u64)
        };
        let number = self.memories.iter().position(is_in)?;
        let start = self.memories[number].address;
        Some(data_at(number, start % KEPT + address - start))
    }

    /// The memory, and how far into it, that an address of a tensor or a launch leads to.
    pub(super) fn place(&self, address: u64) -> Option<(usize, u64)> {
        let (number, offset) = tensor_at(address)?;
        let lead = self.memories.get(number)?.address % KEPT;
        Some((number, offset.wrapping_sub(lead)))
    }
}

/// Copies the elements of a tensor into the memory that it lies in.
fn copy(tensor: &DescribedTensor, memory: &mut PassedMemory, read: &mut dyn FnMut(u64, &mut [u8])) {
    let first = tensor.data.unwrap_or_default();
    each_run(tensor.dtype, &tensor.shape, &strides(tensor), &mut |run| {
        let address = first.wrapping_add_signed(run.start);
        let (at, count) = ((address - memory.address) as usize, (run.end - run.start) as usize);
        read(address, &mut memory.bytes[at..at + count]);
    });
}

/// The tensors of an argument, in order.
fn collect<'d>(argument: &'d mut Described, tensors: &mut Vec<&'d mut DescribedTensor>) {
    match argument {
        Described::Tensor(tensor) => tensors.push(tensor),
        Described::Tuple(elements) | Described::List(elements) => {
            elements.iter_mut().for_each(|element| collect(element, tensors));
        }
        Described::None
        | Described::Bool(_)
        | Described::Int(_)
        | Described::Float(_)
        | Described::Text(_)
        | Described::DType(_)
        | Described::Pointer(_)
        | Described::Shape(_)
        | Described::Object
        | Described::Other(_) => {}
    }
}

/// The strides of a tensor, in elements.
pub(super) fn strides(tensor: &DescribedTensor) -> Vec<i64> {
    tensor.strides.clone().unwrap_or_else(|| {
        let mut strides = vec![1; tensor.shape.len()];
        row_major(&tensor.shape, &mut strides);
        strides
    })
}

/// How far the bytes of a tensor are from those of its first element, before and behind.
fn reach(tensor: &DescribedTensor) -> Option<Range<i64>> {
    if tensor.shape.iter().any(|extent| *extent <= 0) {
        return Some(0..0);
    }
    let (mut first, mut last) = (0_i64, 0_i64);
    for (extent, stride) in tensor.shape.iter().zip(strides(tensor)) {
        let way = (extent - 1).checked_mul(stride)?;
        first = first.checked_add(way.min(0))?;
        last = last.checked_add(way.max(0))?;
    }
    let bits = i64::from(tensor.dtype.element_bits());
    let first = first.checked_mul(bits)?.div_euclid(8);
    let end = last.checked_add(1)?.checked_mul(bits)?.checked_add(7)?.div_euclid(8);
    Some(first..end)
}

/// The bytes that a tensor has; none where it has no address.
fn range(tensor: &DescribedTensor) -> Option<Range<u64>> {
    let address = tensor.data.unwrap_or_default();
    if address == 0 {
        return Some(0..0);
    }
    let Range { start, end } = reach(tensor)?;
    Some(address.checked_add_signed(start)?..address.checked_add_signed(end)?)
}

/// The memories of tensors with these bytes, from the lowest address on.
fn pieces(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut sorted: Vec<_> = ranges.iter().filter(|range| range.start > 0).cloned().collect();
    // Of those that begin alike the longest is the first, and holds the others.
    sorted.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut pieces: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match pieces.last_mut() {
            Some(last) if range.start < last.end || *last == range => {
                last.end = last.end.max(range.end);
            }
            Some(_) | None => pieces.push(range),
        }
    }
    pieces
}

/// Whether bytes are those of a piece, or some of them.
fn is_in(range: &Range<u64>, piece: &Range<u64>) -> bool {
    piece.start <= range.start
        && range.end <= piece.end
        && (range == piece || range.start < piece.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernpack_ffi_abi::DType;

    fn tensor(data: u64, shape: &[i64], strides: Option<&[i64]>) -> Described {
        let (dtype, shape, strides) = (DType::FLOAT32, shape.to_vec(), strides.map(<[_]>::to_vec));
        Described::Tensor(DescribedTensor { dtype, shape, strides, device: None, data: Some(data) })
    }

    type Places = Vec<Option<(usize, u64)>>;

    /// The memory and the offset of each tensor, and what was read.
    fn placed(arguments: Vec<Described>) -> (Places, Vec<(u64, usize)>) {
        let mut read = Vec::new();
        let mut passed = Passed::of(arguments, None, &mut |address, bytes| {
            read.push((address, bytes.len()));
        })
        .unwrap();
        let mut arguments = std::mem::take(&mut passed.arguments);
        let mut tensors = Vec::new();
        arguments.iter_mut().for_each(|argument| collect(argument, &mut tensors));
        let places = tensors.iter().map(|tensor| passed.place(tensor.data.unwrap()));
        (places.collect(), read)
    }

    #[test]
    fn tensors_that_share_bytes_share_memory() {
        let x = tensor(0x10_0010, &[4], None);
        let overlapping = tensor(0x10_0018, &[2, 2], Some(&[3, 1]));
        let within = Described::Tuple(vec![Described::None, tensor(0x10_0014, &[1], None)]);
        let touching = tensor(0x10_002c, &[2], None);
        let (places, read) = placed(vec![x, overlapping, within, touching]);
        assert_eq!(places, [Some((0, 0)), Some((0, 8)), Some((0, 4)), Some((1, 0))]);
        // Bytes that two tensors share are read for both.
        let runs = [(0x10_0010, 16), (0x10_0018, 8), (0x10_0024, 8), (0x10_0014, 4)];
        assert_eq!(read, [&runs[..], &[(0x10_002c, 8)]].concat());
    }

    #[test]
    fn strides_may_go_back_and_nowhere() {
        let reversed = tensor(0x1018, &[3, 5], Some(&[-2, 0]));
        let read = vec![(0x1008, 4), (0x1010, 4), (0x1018, 4)];
        assert_eq!(placed(vec![reversed]), (vec![Some((0, 16))], read));
    }

    #[test]
    fn what_has_no_elements_or_no_address_has_no_bytes() {
        let empty = tensor(0x1000, &[0, 3], None);
        let null = tensor(0, &[2], None);
        let behind = tensor(0x1000, &[1], None);
        let (places, read) = placed(vec![empty, null, behind]);
        assert_eq!(places, [Some((0, 0)), None, Some((0, 0))]);
        assert_eq!(read, [(0x1000, 4)]);
        let (places, read) = placed(vec![tensor(0x1000, &[1], None), tensor(0x1004, &[0], None)]);
        assert_eq!(places, [Some((0, 0)), Some((1, 0))]);
        assert_eq!(read, [(0x1000, 4)]);
    }

    #[test]
    fn no_more_is_read_than_may_be_taken() {
        let mut n_read = 0;
        let mut of = |shape: &[i64], most| {
            let mut read = |_, bytes: &mut [u8]| n_read += bytes.len();
            Passed::of(vec![tensor(64, shape, None)], Some(most), &mut read).is_ok()
        };
        assert!(of(&[4], 16) && !of(&[5], 16));
        assert!(!of(&[i64::MAX, 2], u64::MAX));
        assert_eq!(n_read, 16);
    }

    #[test]
    fn what_lies_between_elements_is_not_read() {
        let mut read = |_, bytes: &mut [u8]| bytes.fill(7);
        let passed = Passed::of(vec![tensor(0x1000, &[2], Some(&[2]))], None, &mut read).unwrap();
        assert_eq!(passed.memories[0].bytes, [7, 7, 7, 7, 0, 0, 0, 0, 7, 7, 7, 7]);
    }

    #[test]
    fn addresses_keep_their_alignment() {
        let passed = Passed::of(vec![tensor(0x7004, &[4], None)], None, &mut |_, _| {});
        let Ok(Passed { arguments, .. }) = passed else { panic!() };
        let Described::Tensor(tensor) = &arguments[0] else { panic!() };
        assert_eq!(tensor.data.unwrap() % 0x1_0000, 0x7004);
    }
}
