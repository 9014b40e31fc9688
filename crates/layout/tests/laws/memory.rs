// SPDX-License-Identifier: Apache-2.0
//! Layouts of memory: swizzles, elements of another width, widths of accesses.

use crate::generate::{CASES, Random, at, indices, is_distinct, size_of, try_law};
use crate::hidden::Hidden;
use kernpack_layout::{
    Access, Composed, Coord, Int, Slot, Static, Swizzle, Tuple, alignment, recast_layout,
    vector_width,
};

fn any_swizzle(random: &mut Random) -> Swizzle {
    let bits = random.below(4) as u32;
    let shift = (bits + random.below(3) as u32) as i32;
    let sign = random.pick(&[1, -1]);
    Swizzle::new(bits, random.below(5) as u32, sign * shift).expect("its fields are apart")
}

#[test]
fn a_swizzle_is_its_own_inverse() {
    for seed in 0..CASES {
        let mut random = Random(seed);
        let swizzle = any_swizzle(&mut random);
        let index = random.below(1 << 14) as i64;
        assert_eq!(swizzle.of_number(swizzle.of_number(index)), index, "{swizzle}");
        let block = swizzle.block();
        assert_eq!(
            swizzle.of_number(index).div_euclid(block),
            index.div_euclid(block),
            "{swizzle}"
        );
        let more = random.below(100) as i64 * swizzle.period();
        assert_eq!(swizzle.of_number(index + more), swizzle.of_number(index) + more, "{swizzle}");
        let places = swizzle.bits() + swizzle.base() + swizzle.shift().unsigned_abs();
        let all = (0..1 << places).map(|index| swizzle.of_number(index));
        assert!(all.clone().all(|index| index < 1 << places));
        assert!(is_distinct(all.collect()), "{swizzle}");
    }
}

#[test]
fn swizzles_of_hidden_indices_are_those_of_the_numbers() {
    for seed in 0..CASES {
        let (mut random, mut cx) = (Random(seed), Hidden::new(seed, true));
        let swizzle = any_swizzle(&mut random);
        let number = random.pick(&[1, 4, 8, 64, 512]) * random.below(100) as i64;
        let index = cx.hide_int(number);
        let found = swizzle.apply(&mut cx, &index).expect("it fits");
        assert_eq!(cx.reveal_int(&found), swizzle.of_number(number), "{swizzle} of {index}");
    }
}

#[test]
fn slices_of_composed_layouts_keep_their_swizzle() {
    for seed in 0..CASES {
        let mut random = Random(seed);
        let cx = &mut Static;
        let layout = random.ordered(256, 1);
        let offset = Tuple::Leaf(Int::Known(random.below(64) as i64));
        let swizzled = Composed::swizzled(any_swizzle(&mut random), layout.clone());
        let composed = Composed { offset, ..swizzled };
        let number = random.below(size_of(&layout) as usize) as i64;
        let shape = layout.shape();
        let coord = kernpack_layout::idx2crd(cx, &Int::Known(number), &shape).expect("one");
        let whole = composed.crd2idx(cx, &Coord::at(&coord)).expect("an index");
        let (first, others) = match &coord {
            Tuple::Leaf(_) => continue,
            Tuple::Node(modes) => (&modes[0], &modes[1..]),
        };
        let mut free = vec![Tuple::Leaf(Slot::Free)];
        free.extend(others.iter().map(Coord::at));
        let slice = composed.slice(cx, &Tuple::Node(free)).expect("it fits");
        let inner = Tuple::Node(vec![Coord::at(first)]);
        assert_eq!(slice.crd2idx(cx, &inner), Ok(whole), "{composed} at {coord}");
    }
}

/// The parts of elements that a layout of elements of `n` parts has.
fn parts(of: &[i64], n: i64) -> Vec<i64> {
    let mut parts: Vec<_> = of.iter().flat_map(|index| index * n..(index + 1) * n).collect();
    parts.sort_unstable();
    parts
}

#[test]
fn recast_layouts_have_the_same_bits() {
    try_law(25, |random, cx| {
        let layout = random.ordered(64, 3);
        let (new_bits, old_bits) = random.pick(&[(8, 16), (16, 8), (32, 8), (4, 6), (6, 4)]);
        let hidden = cx.hide(&layout);
        let Ok(result) = recast_layout(cx, &hidden, new_bits, old_bits) else { return false };
        let found = cx.reveal(&result);
        let (new, old) = (indices(&found), indices(&layout));
        let (new, old) = (parts(&new, new_bits), parts(&old, old_bits));
        let is_unit = |mode: &&kernpack_layout::Mode| mode.stride.scale.is(1) && !mode.extent.is(1);
        match layout.leaves().iter().any(is_unit) {
            true => assert_eq!(new, old, "{hidden}: {result}"),
            false => assert!(old.iter().all(|part| new.contains(part)), "{hidden}: {result}"),
        }
        true
    });
}

#[test]
fn recast_swizzles_move_the_same_bits() {
    let mut n_tried = 0;
    for seed in 0..CASES {
        let mut random = Random(seed);
        let swizzle = any_swizzle(&mut random);
        let n = random.pick(&[2, 4]);
        let smaller = swizzle.recast(1, n).expect("its bits move up");
        for index in 0..200 {
            // Parts of an element stay together.
            assert_eq!(smaller.of_number(index) / n, swizzle.of_number(index / n), "{swizzle}");
            assert_eq!(smaller.of_number(index) % n, index % n);
        }
        if 1 << swizzle.base() >= n {
            n_tried += 1;
            let larger = swizzle.recast(n, 1).expect("its bits move down");
            assert_eq!(larger.recast(1, n), Ok(swizzle));
        }
    }
    assert!(n_tried > 1000, "{n_tried}");
}

/// Every access has all its elements, and begins at a multiple of its size.
#[test]
fn accesses_are_whole_and_aligned() {
    let mut widths = [0; 5];
    try_law(100, |random, cx| {
        let layout = random.layout(64);
        let hidden = cx.hide(&layout);
        let access = Access {
            element_bytes: random.pick(&[1, 2, 3, 4, 8]),
            alignment_bytes: random.pick(&[1, 4, 8, 16, 24]),
            max_bytes: 16,
        };
        let width = vector_width(cx, &hidden, &access).expect("it is plain");
        widths[width.trailing_zeros() as usize] += 1;
        let bytes = width * access.element_bytes;
        assert!(width == 1 || bytes <= 16 && access.alignment_bytes % bytes == 0, "{access:?}");
        let mut all = indices(&layout);
        all.sort_unstable();
        all.dedup();
        for index in &all {
            let first = index - index % width;
            assert!((first..first + width).all(|index| all.binary_search(&index).is_ok()));
        }
        true
    });
    assert!(widths.iter().all(|&count| count > 3), "{widths:?}");
}

/// With everything known, nothing wider is aligned and whole.
#[test]
fn accesses_are_as_wide_as_they_may_be() {
    for seed in 0..CASES {
        let mut random = Random(seed);
        let layout = random.ordered(64, 2);
        let access = Access { element_bytes: 4, alignment_bytes: 16, max_bytes: 16 };
        let width = vector_width(&mut Static, &layout, &access).expect("it is plain");
        let all = indices(&layout);
        let is_whole = |width: i64| {
            let first = |index: &i64| index - index % width;
            all.iter().map(first).all(|first| (first..first + width).all(|i| all.contains(&i)))
        };
        let widest = [4, 2, 1].into_iter().find(|&width| is_whole(width));
        assert_eq!(Some(width), widest, "{layout}");
    }
}

#[test]
fn alignment_is_that_of_address_and_offset() {
    for seed in 0..CASES {
        let (mut random, mut cx) = (Random(seed), Hidden::new(seed, true));
        let (offset, base) = (random.below(100) as i64, random.pick(&[1, 8, 16, 128]));
        let hidden = cx.hide_int(offset);
        let found = alignment(&cx, base, &hidden, 4);
        assert_eq!(base % found, 0);
        assert_eq!(offset * 4 % found, 0, "{hidden} from {base}");
    }
    let layout = Random(0).layout(8);
    assert_eq!(at(&layout, 0), 0);
}
