// SPDX-License-Identifier: Apache-2.0
//! Whether two kernels that do the same have accesses of the same width, where not the same is
//! known of their parameters.
//!
//! What is known may be of no use: it makes no guards one, and says nothing of an address that an
//! access needs. An access may become as wide as the elements beside it and its address allow.
//!
//! Not here: the width that an access has in the end, which the code generator decides.

use super::join::join;
use super::site::{Access, accesses};
use crate::expand::expand;
use crate::kernel::Kernel;
use crate::ranges::Ranges;
use crate::types::MOST_VECTOR_BYTES;
use crate::verify::verify;

/// Whether kernels that differ in their parameters alone become the same, but for those, and access
/// as much at once. It is not so where one of them is wrong.
pub fn is_as_wide(a: &Kernel, b: &Kernel) -> bool {
    let (Some((a, of_a)), Some((b, of_b))) = (joined(a), joined(b)) else { return false };
    a.body == b.body && of_a == of_b
}

/// A kernel in which guards have become one, and how many bytes each access may become, in order.
fn joined(kernel: &Kernel) -> Option<(Kernel, Vec<u32>)> {
    let mut kernel = kernel.clone();
    expand(&mut kernel);
    verify(&kernel).ok()?;
    let ranges = Ranges::of(&kernel);
    let ranges = if join(&mut kernel, &ranges) { Ranges::of(&kernel) } else { ranges };
    let accesses = accesses(&kernel, &ranges);
    let widths = accesses.iter().map(|access| access.align.min(reach(access, &accesses)));
    let widths = widths.collect();
    Some((kernel, widths))
}

/// How many bytes lie side by side from an access on, among those that are made together with it.
fn reach(access: &Access, all: &[Access]) -> u32 {
    let is_beside = |reach: u32, other: &Access| {
        let distance = other.offset.constant.checked_sub(access.offset.constant);
        other.is_made_with(access)
            && other.offset.terms == access.offset.terms
            && distance == Some(reach.into())
    };
    let mut reach = access.bytes;
    while let Some(next) = all.iter().find(|other| is_beside(reach, other)) {
        if reach >= MOST_VECTOR_BYTES {
            break;
        }
        reach += next.bytes;
    }
    reach.min(MOST_VECTOR_BYTES)
}
