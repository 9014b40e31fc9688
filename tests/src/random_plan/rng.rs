// SPDX-License-Identifier: Apache-2.0
//! Numbers that look random, the same for the same seed on any machine: SplitMix64.

/// A source of numbers.
#[derive(Clone, Debug)]
pub struct Rng(u64);

/// Numbers at which something changes.
const INTERESTING: [i64; 24] = [
    0,
    1,
    -1,
    2,
    3,
    4,
    7,
    8,
    16,
    31,
    63,
    64,
    100,
    127,
    128,
    255,
    1 << 15,
    1 << 16,
    i32::MAX as i64,
    i32::MIN as i64,
    u32::MAX as i64,
    1 << 52,
    i64::MAX,
    i64::MIN,
];

impl Rng {
    /// The source of a seed.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    /// Whether something happens that does so `n` times in 16.
    pub fn sixteenths(&mut self, n: usize) -> bool {
        self.below(16) < n
    }

    /// One of some.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// An integer: most often a small one, now and then one at which something changes, or any.
    pub fn int(&mut self) -> i64 {
        match self.below(8) {
            0..=4 => self.below(6) as i64 - 1,
            5 | 6 => self.pick(&INTERESTING),
            _ => self.bits() as i64,
        }
    }
}
