// SPDX-License-Identifier: Apache-2.0
//! How many blocks of a launch a device holds at once: blocks beyond these begin when one of them
//! has ended, so that none of them may wait for the others; and grids are computed from it.
//! Registers are not known here, and may make it fewer.

use kernpack_kernel_ir::kernel::Kernel;
use kernpack_kernel_ir::shared::{self, SharedLayout};
use kernpack_machine::Multiprocessor;
use kernpack_validators::described::DeviceFacts;
use kernpack_validators::plan::LaidOut;

/// How many blocks of a launch a device holds. Of a device that is not known, as many as any does.
pub(super) fn blocks_at_once(
    [multiprocessors, most_shared, capability]: DeviceFacts,
    kernel: &Kernel,
    block: [i64; 3],
    shared: i64,
) -> u64 {
    let number = |value: i64| u64::try_from(value).unwrap_or(0);
    let known = u32::try_from(capability).ok().and_then(Multiprocessor::of);
    let multiprocessor = known.unwrap_or_else(Multiprocessor::largest);
    let threads = block.iter().fold(1, |all: u64, one| all.saturating_mul(number(*one)));
    // A launch brings its bytes beside arrays of the kernel's own, or all of them.
    let own = match SharedLayout::of(kernel) {
        SharedLayout::Static => shared::ends(kernel).1.bytes,
        SharedLayout::Dynamic(_) => 0,
    };
    let shared = own.saturating_add(number(shared));
    let each = multiprocessor.blocks_at_once(threads, shared, number(most_shared));
    number(multiprocessors).saturating_mul(each)
}

/// The problem of a launch whose blocks have to run at once.
pub(super) fn refusal(at_once: u64, layout: &LaidOut) -> Option<String> {
    let blocks = layout.grid.iter().fold(1_i64, |all, one| all.saturating_mul(*one));
    let is_too_large = layout.cooperative && u64::try_from(blocks).is_ok_and(|all| all > at_once);
    is_too_large.then(|| {
        format!("a cooperative grid of {blocks} blocks: the device runs {at_once} of them at once")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernpack_kernel_ir::text::{Item, parse};

    /// How many blocks of so many threads and bytes of shared memory run at once.
    fn blocks(facts: DeviceFacts, threads: i64, shared: i64) -> u64 {
        let text = "kernel k() { shared0 a: int8 bytes 40000 align 1 }".into();
        let items = parse(&text).unwrap_or_else(|problems| panic!("{problems}"));
        let Some(Item::Kernel(kernel)) = items.into_iter().next() else { panic!("no kernel") };
        let kernel = match shared {
            0 => Kernel { shared: vec![], ..kernel },
            _ => kernel,
        };
        blocks_at_once(facts, &kernel, [threads, 1, 1], shared)
    }

    #[test]
    fn threads_blocks_and_shared_memory_bound_it() {
        let h200 = [132, 232_448, 90];
        assert_eq!(blocks(h200, 1024, 0), 264);
        assert_eq!(blocks(h200, 1000, 0), 264);
        assert_eq!(blocks(h200, 32, 0), 132 * 32);
        assert_eq!(blocks(h200, 1, 0), 132 * 32);
        assert_eq!(blocks(h200, 256, 0), 132 * 8);
        // Arrays of the kernel's own, and what the launch brings beside them.
        assert_eq!(blocks(h200, 32, 1), 132 * 5);
        assert_eq!(blocks(h200, 32, 70_000), 132 * 2);
        assert_eq!(blocks(h200, 32, 100_000), 132);
        assert_eq!(blocks(h200, 32, 192_448), 132);
        assert_eq!(blocks(h200, 32, 192_449), 0);
        assert_eq!(blocks([1, 101_376, 89], 512, 0), 3);
        assert_eq!(blocks([1, 101_376, 86], 32, 0), 16);
        assert_eq!(blocks([1, 65_536, 75], 256, 0), 4);
    }
}
