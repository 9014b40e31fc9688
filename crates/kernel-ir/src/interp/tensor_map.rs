// SPDX-License-Identifier: Apache-2.0
//! The bytes of a box of a tensor, in the tensor and in shared memory. Rows of the box lie one
//! behind the other there. With a swizzle, chunks of 16 bytes change places within a row. A row
//! that is stored is written up to a multiple of 16 bytes of the box, as on Hopper. Not here: when
//! they are copied, which is as with any [copy of many bytes](super::bulk).

use super::bulk::{End, Piece};
use super::execute::Execution;
use super::step::{BoxOf, Register};
use kernpack_machine::tensor_map::UNIT_BYTES;

impl Execution<'_, '_> {
    /// The pieces of a box that a lane copies. Into shared memory, what is outside the tensor
    /// becomes zeros; out of it, that is left out.
    pub fn pieces_of_box(&self, of: &BoxOf, [to, from]: [End; 2], lane: usize) -> Vec<Piece> {
        let (shared, global) = if to.is_global { (from, to) } else { (to, from) };
        let row_bytes = of.map.row_bytes();
        let chunk = if of.map.swizzle == 0 { row_bytes } else { UNIT_BYTES };
        let mut pieces = Vec::new();
        for (number, mut row) in (0..).zip(self.rows(of, global, lane)) {
            if to.is_global && row.first < row.end {
                row.end = row.end.next_multiple_of(UNIT_BYTES).min(row_bytes);
            }
            for first in (0..row_bytes).step_by(chunk as usize) {
                let end = first + chunk;
                let inside = [row.first, row.end].map(|byte| byte.clamp(first, end));
                let parts = [
                    (first, inside[0], false),
                    (inside[0], inside[1], true),
                    (inside[1], end, false),
                ];
                let place = of.map.place_in_box(number * row_bytes + first);
                for (begin, end, is_inside) in parts {
                    if begin == end || to.is_global && !is_inside {
                        continue;
                    }
                    let here = shared.offset + u64::from(place + begin - first);
                    let there = row.at.wrapping_add(begin.into());
                    let (to, from) = match (to.is_global, is_inside) {
                        (true, _) => (there, Some(here)),
                        (false, true) => (here, Some(there)),
                        (false, false) => (here, None),
                    };
                    pieces.push(Piece { to, from, bytes: end - begin });
                }
            }
        }
        pieces
    }

    /// The rows of a box, in order.
    fn rows(&self, of: &BoxOf, global: End, lane: usize) -> Vec<Row> {
        let rank = of.map.rank as Register;
        let number = |register: Register| self.warp.file[register as usize][lane];
        let coordinate = |dim: usize| i64::from(number(of.at[dim]) as u32 as i32);
        let extent = |dim: usize| number(of.argument + 2 + dim as Register) as i64;
        let stride = |dim: usize| number(of.argument + 1 + rank + dim as Register) as i64;
        let outer = &of.map.box_extents()[1..];
        let element = i64::from(of.map.element.bytes());
        let row_bytes = i64::from(of.map.row_bytes());
        let kept = |at: i64| (at * element).clamp(0, row_bytes) as u32;
        let [first, end] = [0, extent(0)].map(|at| kept(at - coordinate(0)));
        let rows = (0..outer.iter().product()).map(|number: u32| {
            let mut at = (global.offset as i64).wrapping_add(coordinate(0) * element);
            let (mut rest, mut is_inside) = (number, true);
            for (dim, count) in (1..).zip(outer) {
                let place = coordinate(dim) + i64::from(rest % count);
                is_inside &= (0..extent(dim)).contains(&place);
                at = at.wrapping_add(place.wrapping_mul(stride(dim)));
                rest /= count;
            }
            Row { at: at as u64, first, end: if is_inside { end } else { first } }
        });
        rows.collect()
    }
}

/// A row of a box.
struct Row {
    /// Where it begins in the tensor's memory, as far as it is there.
    at: u64,
    /// The bytes of it that are inside the tensor.
    first: u32,
    end: u32,
}
