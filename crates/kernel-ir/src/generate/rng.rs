// SPDX-License-Identifier: Apache-2.0
//! Random numbers that are the same for the same seed, on every machine: SplitMix64 (Steele, Lea,
//! Flood, 2014).

pub(crate) struct Rng(u64);

impl Rng {
    pub const fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub const fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit
    }

    /// A number from `least` to `most`.
    pub const fn within(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// Whether something happens that happens so many times in a hundred.
    pub const fn percent(&mut self, often: u64) -> bool {
        self.below(100) < often
    }

    /// One of a list, which is not empty.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}
