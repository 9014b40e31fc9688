// SPDX-License-Identifier: Apache-2.0
//! The barrier of the grid, at which the threads of all blocks wait for one another. So all blocks
//! have to be there at once, and none may end before: who waits for such a one waits for ever.

use super::atomic::new_orders;
use super::clock::Clock;
use super::warp::{Block, Status, Warp};

/// All threads of the grid are at its barrier. They go on, and know what any of them did before.
pub(super) fn pass<'a>(blocks: impl Iterator<Item = (&'a mut Block, &'a mut [Warp])>) {
    let mut blocks: Vec<_> = blocks.collect();
    let mut clock = Clock::default();
    let warps = blocks.iter().flat_map(|(_, warps)| warps.iter());
    for order in warps.filter_map(|warp| warp.orders.as_deref()).flatten() {
        clock.join(&order.acquired);
    }
    for (block, _) in &mut blocks {
        block.time += 1;
        block.known = block.time;
        clock.learn_block(block.number, block.known);
    }
    for warp in blocks.iter_mut().flat_map(|(_, warps)| warps.iter_mut()) {
        let orders = warp.orders.get_or_insert_with(new_orders);
        orders.iter_mut().for_each(|order| order.acquired = clock.clone());
        warp.status = Status::Ready;
    }
}

/// Whether a warp waits there.
pub(super) fn is_there(warp: &Warp) -> bool {
    matches!(warp.status, Status::Grid(_))
}
