// SPDX-License-Identifier: Apache-2.0
//! Coordinates and indices.

use crate::generate::{Random, at, indices, product, size_in, size_of, try_law};
use kernpack_layout::{
    Coord, Int, Layout, Slot, Static, Tuple, coshape, cosize, crd2idx, crd2num, idx2crd, index,
    make_identity_layout, make_layout, product_each, slice_and_offset,
};

#[test]
fn coordinates_of_all_forms_have_the_same_index() {
    try_law(100, |random, cx| {
        let layout = random.layout(64);
        let hidden = cx.hide(&layout);
        let shape = hidden.shape();
        let number = random.below(size_of(&layout) as usize) as i64;
        let hidden_number = cx.hide_int(number);
        let natural = idx2crd(cx, &hidden_number, &shape).expect("a coordinate");
        assert!(natural.is_congruent(&shape));
        let by_mode = by_mode(random, cx, &Coord::at(&natural), &shape);
        for coord in [Coord::at(&natural), by_mode] {
            let found = index(cx, &coord, &hidden).expect("an index");
            assert_eq!(cx.reveal_int(&found), at(&layout, number), "{hidden} at {coord}");
        }
        let back = crd2num(cx, &Coord::at(&natural), &shape).expect("a number");
        assert_eq!(cx.reveal_int(&back), number, "{hidden} at {natural}");
        true
    });
}

/// A coordinate in which some modes with modes have one number.
fn by_mode(
    random: &mut Random,
    cx: &mut crate::hidden::Hidden,
    coord: &Coord<crate::hidden::Secret>,
    shape: &kernpack_layout::Shape<crate::hidden::Secret>,
) -> Coord<crate::hidden::Secret> {
    match (coord, shape) {
        (Tuple::Node(coords), Tuple::Node(modes)) if random.sixteenths(8) => {
            let pairs = coords.iter().zip(modes);
            Tuple::Node(pairs.map(|(coord, mode)| by_mode(random, cx, coord, mode)).collect())
        }
        (_, _) => Tuple::Leaf(Slot::At(crd2num(cx, coord, shape).expect("a number"))),
    }
}

#[test]
fn sizes_and_cosizes_are_what_they_say() {
    try_law(100, |random, cx| {
        let layout = random.layout(64);
        let hidden = cx.hide(&layout);
        assert_eq!(size_in(cx, &hidden), size_of(&layout));
        let largest = indices(&layout).into_iter().max().expect("it is not empty");
        let found = cosize(cx, &hidden).expect("it is small");
        assert_eq!(cx.reveal_int(&found), largest + 1, "{hidden}");
        true
    });
}

#[test]
fn an_identity_layout_maps_coordinates_to_themselves() {
    try_law(100, |random, cx| {
        let shape = random.shape(64);
        let hidden = cx.hide_shape(&shape);
        let identity = make_identity_layout(&hidden);
        let number = random.below(product(&shape) as usize) as i64;
        let coord = idx2crd(&mut Static, &Int::Known(number), &shape).expect("a coordinate");
        let hidden_coord = cx.hide_shape(&coord);
        let found = crd2idx(cx, &Coord::at(&hidden_coord), &identity).expect("an index");
        assert_eq!(cx.reveal_shape(&found), coord);
        let all = coshape(cx, &identity).expect("it is small");
        assert_eq!(cx.reveal_shape(&all), shape);
        true
    });
}

#[test]
fn a_slice_has_what_is_free_and_the_offset_the_rest() {
    try_law(100, |random, cx| {
        let layout = random.layout(64);
        let hidden = cx.hide(&layout);
        let number = random.below(size_of(&layout) as usize) as i64;
        let whole = idx2crd(&mut Static, &Int::Known(number), &layout.shape()).expect("one");
        let hidden_coord = cx.hide_shape(&whole);
        let (mut fixed, mut taken) = (Vec::new(), Vec::new());
        let coord = freed(random, &Coord::at(&hidden_coord), &whole, &mut taken, &mut fixed);
        let (kept, offset) = slice_and_offset(cx, &coord, &hidden).expect("it fits");
        let (kept, offset) = (cx.reveal(&kept), cx.reveal_shape(&offset));
        // The coordinate of what was kept is made of the parts that are free.
        let inner = match &coord {
            Tuple::Leaf(Slot::Free) => whole.clone(),
            _ => Tuple::Node(taken),
        };
        let inner = index(&mut Static, &Coord::at(&inner), &kept).expect("an index");
        let offset = offset.as_leaf().and_then(Int::known).expect("a plain offset");
        let sum = inner.known().expect("it is known") + offset;
        assert_eq!(sum, at(&layout, number), "{hidden} at {coord}: {kept}");
        true
    });
}

/// A coordinate with some of its modes free, and what was freed.
fn freed(
    random: &mut Random,
    coord: &Coord<crate::hidden::Secret>,
    numbers: &kernpack_layout::Shape,
    taken: &mut Vec<kernpack_layout::Shape>,
    fixed: &mut Vec<kernpack_layout::Shape>,
) -> Coord<crate::hidden::Secret> {
    if random.sixteenths(6) {
        taken.push(numbers.clone());
        return Tuple::Leaf(Slot::Free);
    }
    match (coord, numbers) {
        (Tuple::Node(coords), Tuple::Node(modes)) => {
            let pairs = coords.iter().zip(modes);
            let modes = pairs.map(|(coord, mode)| freed(random, coord, mode, taken, fixed));
            Tuple::Node(modes.collect())
        }
        (coord, numbers) => {
            fixed.push(numbers.clone());
            coord.clone()
        }
    }
}

#[test]
fn compact_layouts_count() {
    try_law(100, |random, cx| {
        let shape = random.shape(64);
        let hidden = cx.hide_shape(&shape);
        let layout = make_layout(cx, &hidden).expect("it is small");
        let layout = cx.reveal(&layout);
        assert!(indices(&layout).into_iter().eq(0..product(&shape)), "{layout}");
        let each = product_each(cx, &hidden).expect("it is small");
        let each = cx.reveal_shape(&each);
        let sizes = shape.modes().iter().map(|mode| Tuple::Leaf(Int::Known(product(mode))));
        assert_eq!(each.modes(), sizes.collect::<Vec<_>>());
        let of_each: Layout = make_layout(&mut Static, &each).expect("it is small");
        assert_eq!(indices(&of_each), indices(&layout));
        true
    });
}
