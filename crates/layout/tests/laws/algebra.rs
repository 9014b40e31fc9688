// SPDX-License-Identifier: Apache-2.0
//! Coalesce, composition, complement, inverses.

use crate::generate::{Random, at, indices, is_distinct, product, size_of, try_law};
use kernpack_layout::{
    Int, Layout, Static, Tuple, coalesce, coalesce_by, complement, composition, composition_by,
    cosize, filter, is_compatible, is_injective, left_inverse, max_common_layout,
    max_common_vector, modes, nullspace, right_inverse,
};

fn cosize_of(layout: &Layout) -> i64 {
    cosize(&mut Static, layout).expect("it is small").known().expect("it is known")
}

#[test]
fn coalesced_layouts_are_flat_and_the_same_function() {
    try_law(100, |random, cx| {
        let layout = random.layout(64);
        let hidden = cx.hide(&layout);
        let result = coalesce(cx, &hidden).expect("it is small");
        let result = cx.reveal(&result);
        assert_eq!(size_of(&result), size_of(&layout));
        assert!(result.depth() <= 1, "{result}");
        assert_eq!(indices(&result), indices(&layout), "{layout} to {result}");
        true
    });
}

#[test]
fn nothing_is_left_to_coalesce() {
    for seed in 0..1000 {
        let layout = Random(seed).layout(64);
        let once = coalesce(&mut Static, &layout).expect("it is small");
        assert_eq!(coalesce(&mut Static, &once), Ok(once.clone()));
        for pair in once.leaves().windows(2) {
            let end = pair[0].extent.known().zip(pair[0].stride.scale.known());
            let begin = pair[1].stride.scale.known();
            assert_ne!(end.map(|(extent, stride)| extent * stride), begin, "{layout} to {once}");
        }
        assert!(once.leaves().iter().all(|mode| once.is_leaf() || !mode.extent.is(1)), "{once}");
    }
}

#[test]
fn coalescing_by_mode_is_coalescing_each_mode() {
    for seed in 0..1000 {
        let layout = Random(seed).layout(64);
        let cx = &mut Static;
        let profile = Tuple::Node(layout.modes().iter().map(|_| Tuple::Leaf(1)).collect());
        let by_mode = coalesce_by(cx, &layout, &profile).expect("it is small");
        let each = layout.modes().iter().map(|mode| coalesce(cx, mode).expect("it is small"));
        assert_eq!(by_mode, Tuple::Node(each.collect()));
    }
}

#[test]
fn filtered_layouts_have_the_same_indices_without_repetition() {
    for seed in 0..1000 {
        let layout = Random(seed).layout(64);
        let filtered = filter(&mut Static, &layout).expect("it is small");
        let [mut all, mut kept] = [&layout, &filtered].map(indices);
        all.sort_unstable();
        all.dedup();
        kept.sort_unstable();
        kept.dedup();
        assert_eq!(all, kept);
        let is_unit = filtered == Layout::unit();
        assert!(is_unit || filtered.leaves().iter().all(|mode| !mode.stride.scale.is(0)));
    }
}

#[test]
fn a_composition_is_one_layout_behind_the_other() {
    try_law(50, |random, cx| {
        let lhs = random.layout(96);
        let rhs = match random.sixteenths(8) {
            true => random.part(size_of(&lhs)),
            false => random.layout(size_of(&lhs)),
        };
        let (a, b) = (cx.hide(&lhs), cx.hide(&rhs));
        let Ok(result) = composition(cx, &a, &b) else { return false };
        let found = cx.reveal(&result);
        assert!(is_compatible(&rhs.shape(), &found.shape()), "{lhs} o {rhs} is {found}");
        for (number, inner) in indices(&rhs).into_iter().enumerate() {
            let index = at(&found, number as i64);
            assert_eq!(index, at(&lhs, inner), "{a} o {b} is {result} at {number}");
        }
        true
    });
}

#[test]
fn composing_by_mode_is_composing_each_mode() {
    try_law(60, |random, cx| {
        let lhs = random.layout(96);
        let tiler = random.tiler(&lhs);
        let (a, b) = (cx.hide(&lhs), cx.hide_tiler(&tiler));
        let Ok(result) = composition_by(cx, &a, &b) else { return false };
        let kernpack_layout::Tiler::Modes(tilers) = &b else { unreachable!("it has modes") };
        assert_eq!(result.rank(), tilers.len());
        for (number, tiler) in tilers.iter().enumerate() {
            let mode = composition_by(cx, &a.modes()[number], tiler).expect("each composes");
            assert_eq!(cx.reveal(&mode), cx.reveal(&result.modes()[number]));
        }
        true
    });
}

#[test]
fn composition_is_associative() {
    let mut n_tried = 0;
    for seed in 0..3000 {
        let (mut random, cx) = (Random(seed), &mut Static);
        let a = random.ordered(96, 1);
        let b = random.part(size_of(&a));
        let c = random.part(size_of(&b));
        let left = composition(cx, &a, &b).and_then(|ab| composition(cx, &ab, &c));
        let right = composition(cx, &b, &c).and_then(|bc| composition(cx, &a, &bc));
        if let (Ok(left), Ok(right)) = (left, right) {
            n_tried += 1;
            assert_eq!(indices(&left), indices(&right), "{a} o {b} o {c}");
        }
    }
    assert!(n_tried > 1000, "{n_tried}");
}

#[test]
fn a_complement_is_ordered_disjoint_and_completes_its_layout() {
    try_law(60, |random, cx| {
        let layout = random.layout(32);
        let span = cosize_of(&layout);
        let target = match random.sixteenths(4) {
            true => random.shape(100),
            false => Tuple::Leaf(Int::Known(random.pick(&[1, span, 2 * span, 24, 96, 100]))),
        };
        let (hidden, of) = (cx.hide(&layout), cx.hide_shape(&target));
        let Ok(result) = complement(cx, &hidden, &of) else { return false };
        let (result, size) = (cx.reveal(&result), product(&target));
        let of_layout = indices(&layout);
        let rest = indices(&result);
        assert!(rest.windows(2).all(|pair| pair[0] < pair[1]), "{hidden}: {result}");
        assert!(rest[1..].iter().all(|index| !of_layout.contains(index)), "{hidden}: {result}");
        let both = Tuple::Node(vec![layout.clone(), result.clone()]);
        assert!(cosize_of(&both) >= size, "{hidden}: {result} below {size}");
        // What it goes on behind is the end of the modes, which is at the last stride's end.
        let ends = layout
            .leaves()
            .into_iter()
            .filter_map(|mode| Some(mode.extent.known()? * mode.stride.scale.known()?));
        let span = ends.max().unwrap_or(1).max(1);
        let bound = (size + span - 1) / span * span;
        assert!(cosize_of(&result) <= bound.max(1), "{hidden}: {result} below {size}");
        assert!(size_of(&result) >= size / of_distinct(&layout), "{hidden}: {result}");
        let distinct = filter(&mut Static, &layout).expect("it is small");
        let mut all = indices(&Tuple::Node(vec![distinct, result.clone()]));
        all.sort_unstable();
        assert!(all.into_iter().eq(0..size_of(&result) * of_distinct(&layout)), "{result}");
        true
    });
}

/// How many different indices a layout has.
fn of_distinct(layout: &Layout) -> i64 {
    let mut all = indices(layout);
    all.sort_unstable();
    all.dedup();
    all.len() as i64
}

#[test]
fn a_right_inverse_has_a_coordinate_for_each_index() {
    try_law(100, |random, cx| {
        let layout = random.layout(64);
        let hidden = cx.hide(&layout);
        let inverse = right_inverse(cx, &hidden).expect("it is small");
        let inverse = cx.reveal(&inverse);
        for number in 0..size_of(&inverse) {
            assert_eq!(at(&layout, at(&inverse, number)), number, "{hidden}: {inverse}");
        }
        true
    });
}

/// Of layouts without holes it is the whole of it, and its right inverse is the left one.
#[test]
fn inverses_of_compact_layouts_are_whole() {
    for seed in 0..1000 {
        let (mut random, cx) = (Random(seed), &mut Static);
        let layout = random.ordered(64, 0);
        let right = right_inverse(cx, &layout).expect("it is small");
        let left = left_inverse(cx, &layout).expect("it is injective");
        assert_eq!(size_of(&right), size_of(&layout), "{layout}: {right}");
        assert_eq!(indices(&right), indices(&left), "{layout}");
        let identity = composition(cx, &layout, &right).expect("it composes");
        let identity = coalesce(cx, &identity).expect("it is small");
        let size = size_of(&layout);
        let whole = Layout::mode(size, i64::from(size > 1));
        assert_eq!(identity, whole, "{layout}: {right}");
    }
}

#[test]
fn a_left_inverse_has_the_coordinate_of_each_index() {
    try_law(70, |random, cx| {
        let layout = random.layout(64);
        let hidden = cx.hide(&layout);
        let Ok(inverse) = left_inverse(cx, &hidden) else { return false };
        let inverse = cx.reveal(&inverse);
        for (number, index) in indices(&layout).into_iter().enumerate() {
            // Where stride 0 repeats an index, the first coordinate that has it.
            let found = at(&inverse, index);
            assert_eq!(at(&layout, found), index, "{hidden}: {inverse}");
            assert!(!is_distinct(indices(&layout)) || found == number as i64);
        }
        true
    });
}

#[test]
fn what_two_layouts_have_in_common_is_contiguous_in_both() {
    let mut n_common = 0;
    try_law(80, |random, cx| {
        let (a, b) = (random.ordered(64, 2), random.ordered(64, 2));
        let b = if random.sixteenths(8) { a.clone() } else { b };
        let (of_a, of_b) = (cx.hide(&a), cx.hide(&b));
        let Ok(common) = max_common_layout(cx, &of_a, &of_b) else { return false };
        let common = cx.reveal(&common);
        for number in 0..size_of(&common) {
            let coord = at(&common, number);
            assert_eq!((at(&a, coord), at(&b, coord)), (number, number), "{of_a} {of_b}");
        }
        let width = max_common_vector(cx, &of_a, &of_b).expect("as the layout");
        assert_eq!(width, size_of(&common));
        n_common += i64::from(width > 1);
        true
    });
    assert!(n_common > 1000, "{n_common}");
}

#[test]
fn a_nullspace_has_index_zero() {
    for seed in 0..1000 {
        let (layout, cx) = (Random(seed).layout(64), &mut Static);
        let space = nullspace(cx, &layout).expect("it is small");
        assert!(indices(&space).into_iter().all(|number| at(&layout, number) == 0));
        let filtered = filter(cx, &layout).expect("it is small");
        assert_eq!(size_of(&space), size_of(&layout) / size_of(&filtered), "{layout}: {space}");
        assert_eq!(nullspace(cx, &space), Ok(Layout::unit()));
    }
}

#[test]
fn injective_is_what_has_different_indices() {
    for seed in 0..1000 {
        let layout = Random(seed).layout(64);
        assert_eq!(is_injective(&layout), Some(is_distinct(indices(&layout))), "{layout}");
    }
}

#[test]
fn grouping_and_flattening_change_no_index() {
    for seed in 0..1000 {
        let mut random = Random(seed);
        let layout = random.layout(64);
        assert_eq!(indices(&layout.flatten()), indices(&layout));
        let begin = random.below(layout.rank());
        let end = begin + 1 + random.below(layout.rank() - begin);
        let grouped = modes::group_modes(&layout, begin, end).expect("a range of them");
        assert_eq!(grouped.rank(), layout.rank() - (end - begin) + 1);
        assert_eq!(indices(&grouped), indices(&layout));
        let longer = modes::append(&layout, 5);
        assert_eq!((longer.rank(), indices(&longer)), (5, indices(&layout)));
        assert_eq!(indices(&modes::prepend(&layout, 5)), indices(&layout));
    }
}
