// SPDX-License-Identifier: Apache-2.0
//! Random layouts, from seeds: the same in every run.

use crate::hidden::Hidden;
use kernpack_layout::{
    Arith, Int, Layout, LayoutOf, Shape, Static, Stride, Tiler, Tuple, index_of, size,
};

/// How many layouts each law is tried on.
pub const CASES: u64 = 3000;

/// splitmix64
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below another.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// True so many times in 16.
    pub fn sixteenths(&mut self, n: usize) -> bool {
        self.below(16) < n
    }

    /// A shape of at most so many coordinates.
    pub fn shape(&mut self, most: i64) -> Shape {
        loop {
            let shape = self.nested(2);
            if product(&shape) <= most {
                return shape;
            }
        }
    }

    fn nested(&mut self, depth: usize) -> Shape {
        if depth == 0 || self.sixteenths(7) {
            return Tuple::Leaf(Int::Known(self.pick(&[1, 2, 2, 3, 4, 4, 5, 6, 8])));
        }
        let rank = 1 + self.below(3);
        Tuple::Node((0..rank).map(|_| self.nested(depth - 1)).collect())
    }

    /// A layout without holes but for some, in any order of its modes; or one with any strides.
    pub fn layout(&mut self, most: i64) -> Layout {
        match self.sixteenths(12) {
            true => self.ordered(most, 2),
            false => {
                let shape = self.shape(most);
                let strides =
                    shape.map(&mut |_| Stride::from(self.pick(&[0, 1, 2, 3, 4, 6, 8, 12])));
                Layout::of(&shape, &strides).expect("nested alike")
            }
        }
    }

    /// A layout in which modes begin where those of smaller strides end, or, so many times in 16,
    /// further on.
    pub fn ordered(&mut self, most: i64, gaps: usize) -> Layout {
        let shape = self.shape(most);
        let extents: Vec<_> = shape.leaves().into_iter().cloned().collect();
        let mut strides = vec![0; extents.len()];
        let mut left: Vec<_> = (0..extents.len()).collect();
        let mut span = 1;
        while !left.is_empty() {
            let mode = left.remove(self.below(left.len()));
            span *= if self.sixteenths(gaps) { self.pick(&[2, 3, 4]) } else { 1 };
            strides[mode] = span;
            span *= extents[mode].known().expect("extents are known");
        }
        let mut strides = strides.into_iter();
        let strides = shape.map(&mut |_| Stride::from(strides.next().expect("one for each")));
        Layout::of(&shape, &strides).expect("nested alike")
    }

    /// A layout of one mode that takes a part of so many elements.
    pub fn part(&mut self, of: i64) -> Layout {
        let divisors: Vec<_> = (1..=of).filter(|n| of % n == 0).collect();
        let count = self.pick(&divisors);
        let steps: Vec<_> = divisors.into_iter().filter(|step| of % (count * step) == 0).collect();
        Layout::mode(count, self.pick(&steps))
    }

    /// A tiler for each mode of a layout, or for the first ones.
    pub fn tiler(&mut self, of: &Layout) -> Tiler {
        let n_modes = 1 + self.below(of.rank());
        let modes = of.modes()[..n_modes].iter().map(|mode| match self.sixteenths(2) {
            true => Tiler::Keep,
            false => Tiler::Layout(self.part(size_of(mode))),
        });
        Tiler::Modes(modes.collect())
    }
}

pub fn product(shape: &Shape) -> i64 {
    shape.leaves().into_iter().map(|extent| extent.known().expect("it is known")).product()
}

pub fn size_of(layout: &Layout) -> i64 {
    product(&layout.shape())
}

/// The index of the coordinate with a number, of layouts with plain strides.
pub fn at(layout: &Layout, number: i64) -> i64 {
    let index = index_of(&mut Static, &Int::Known(number), layout).expect("a plain index");
    index.known().expect("it is known")
}

/// The indices of all coordinates.
pub fn indices(layout: &Layout) -> Vec<i64> {
    (0..size_of(layout)).map(|number| at(layout, number)).collect()
}

pub fn is_distinct(mut indices: Vec<i64>) -> bool {
    let length = indices.len();
    indices.sort_unstable();
    indices.dedup();
    indices.len() == length
}

/// Tries a law on many layouts, with numbers known and hidden, and expects that the operation
/// results in something so many times in a hundred.
pub fn try_law(percent: u64, mut law: impl FnMut(&mut Random, &mut Hidden) -> bool) {
    for hidden in [false, true] {
        let mut n_results = 0;
        for seed in 0..CASES {
            let mut random = Random(seed);
            let mut cx = Hidden::new(seed, hidden);
            n_results += u64::from(law(&mut random, &mut cx));
        }
        let least = if hidden { percent / 4 } else { percent };
        assert!(n_results * 100 >= CASES * least, "{n_results} of {CASES}, hidden: {hidden}");
    }
}

/// A size, also of a hidden layout.
pub fn size_in(cx: &mut Hidden, layout: &LayoutOf<Hidden>) -> i64 {
    let size = size(cx, layout).expect("it is small");
    let facts = cx.facts_of(&size);
    let number = cx.reveal_int(&size);
    assert!(facts.min <= number && number <= facts.max, "{facts:?} of {number}");
    number
}
