// SPDX-License-Identifier: Apache-2.0
//! The memory that calls of random plans find: arguments, and blocks that lead from one to another.
//!
//! Plans and calls share these rules, which make every load of a plan safe. An argument whose type
//! index is that of a pointer leads to a block, or nowhere. A block has [`BLOCK_WORDS`] words, of
//! which the first [`N_LINKS`] lead to blocks or nowhere, and the rest are integers.

use super::rng::Rng;
use crate::memory::{self, Arguments};
use crate::value::Carrier;
use kernpack_ffi_abi::TypeIndex;
use kernpack_ffi_abi::layout::Any;

/// How many words a block has.
pub const BLOCK_WORDS: usize = 32;
/// How many of them lead to other blocks.
pub const N_LINKS: usize = 3;
/// The type index of arguments that lead to blocks.
pub const POINTER: TypeIndex = TypeIndex::OPAQUE_PTR;

/// What texts say, arguments and constants alike.
pub const TEXTS: [&str; 6] = ["", "a", "ab", "abcdefg", "abcdefgh", "ab \"\\\n\té, and much more"];

/// What launches may ask of the device, as `tests/cuda-stub` answers.
const FACTS: [i64; 3] = [132, 232_448, 90];

/// The arguments of a call of a plan that takes `n_args`.
pub fn arguments(rng: &mut Rng, n_args: usize) -> Arguments {
    let n_blocks = 1 + rng.below(4);
    let mut blocks: Vec<Box<[u64]>> = (0..n_blocks).map(|_| vec![0; BLOCK_WORDS].into()).collect();
    let addresses: Vec<_> = blocks.iter().map(|block| Arguments::address_of(block)).collect();
    for block in &mut blocks {
        for (number, word) in block.iter_mut().enumerate() {
            *word = if number < N_LINKS { link(rng, &addresses) } else { rng.int() as u64 };
        }
    }
    let count = match rng.sixteenths(1) {
        true => rng.below(6),
        false => n_args,
    };
    let mut anys: Vec<u64> = Vec::new();
    for _ in 0..count {
        if rng.sixteenths(4) {
            let any = string(rng, &mut blocks);
            anys.extend(bytemuck::cast_slice::<Any, u64>(&[any]));
            continue;
        }
        let is_pointer = rng.sixteenths(10);
        let type_index = if is_pointer { POINTER.0 } else { rng.pick(&[0, 1, 2, 3, 7, 70, -1]) };
        let payload = if is_pointer { link(rng, &addresses) } else { rng.int() as u64 };
        let any = Any { type_index, padding: rng.bits() as u32, payload: payload as i64 };
        anys.extend(bytemuck::cast_slice::<Any, u64>(&[any]));
    }
    let facts = FACTS.map(|fact| fact as u64);
    Arguments::of_blocks(anys.into(), count, blocks, facts.to_vec().into())
}

/// The address of a block, or now and then none.
fn link(rng: &mut Rng, addresses: &[u64]) -> u64 {
    if rng.sixteenths(4) { 0 } else { rng.pick(addresses) }
}

/// A string, with what it leads to.
fn string(rng: &mut Rng, blocks: &mut Vec<Box<[u64]>>) -> Any {
    let bytes = rng.pick(&TEXTS).as_bytes();
    let carrier = rng.pick(&[Carrier::Any, Carrier::Object, Carrier::CString]);
    let (any, own) = memory::string(carrier, bytes);
    blocks.extend(own);
    any
}
