// SPDX-License-Identifier: Apache-2.0
//! Makes accesses of elements that lie side by side ready to become one.
//!
//! A code generator joins loads, or stores, that stand together and of which the first is aligned
//! as the whole. So guards that all hold or all fail become one (`join.rs`): of `i < n`,
//! `i + 1 < n` ... where `i` and `n` are multiples of 4. And an access says as much about its
//! address as is known of it (`align.rs`).
//!
//! A kernel does the same as before, to the last bit. The interpreter runs kernels as they were
//! written, and what it says of them is about that.
//!
//! Volatile accesses stay as they are, and say behind which parameters others write
//! (`volatile.rs`).
//!
//! Where accesses are not as wide as they might be, [`sites`] says which fact is missing. Whether
//! more that is known makes any of them wider, [`is_as_wide`] says.
//!
//! Not here: which accesses become one, as that is the code generator's to say; and vectors, which
//! copies of tiles make themselves.

mod align;
mod condition;
mod effect;
mod join;
mod site;
mod sum;
#[cfg(test)]
mod tests;
mod volatile;
mod width;

use crate::kernel::Kernel;
use crate::ranges::Ranges;

pub use site::{Missing, Site, sites};
pub use volatile::volatile_params;
pub use width::is_as_wide;

/// Widens what can be. The kernel is verified and expanded, and stays so. Gives its ranges.
pub fn widen(kernel: &mut Kernel) -> Ranges {
    let mut ranges = Ranges::of(kernel);
    if join::join(kernel, &ranges) {
        ranges = Ranges::of(kernel);
    }
    align::raise(kernel, &ranges);
    ranges
}
