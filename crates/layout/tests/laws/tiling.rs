// SPDX-License-Identifier: Apache-2.0
//! Divisions, products and partitions.

use crate::generate::{Random, at, indices, is_distinct, size_of, try_law};
use kernpack_layout::{
    Coord, Int, Layout, Slot, Static, Tiler, Tuple, add_indices, blocked_product, complement,
    composition, composition_by, cosize, crd2idx, flat_divide, flat_product, idx2crd, index,
    is_compatible, local_partition, local_tile, logical_divide, logical_product,
    make_identity_layout, make_layout_tv, product_each, raked_product, size, tile_count,
    tile_to_shape, tiled_divide, tiled_product, zipped_divide, zipped_product,
};

/// A tiler of a mode's parts, or a layout of parts of the whole.
fn any_tiler(random: &mut Random, of: &Layout) -> Tiler {
    match random.sixteenths(10) {
        true => random.tiler(of),
        false => Tiler::Layout(random.part(size_of(of))),
    }
}

#[test]
fn a_division_is_the_tile_and_the_rest() {
    try_law(80, |random, cx| {
        let layout = random.ordered(96, 2);
        let tiler = random.part(size_of(&layout));
        let (a, b) = (cx.hide(&layout), cx.hide(&tiler));
        let Ok(result) = logical_divide(cx, &a, &Tiler::Layout(b.clone())) else { return false };
        assert_eq!(result.rank(), 2);
        let tile = composition(cx, &a, &b).expect("its first mode");
        assert_eq!(cx.reveal(&result.modes()[0]), cx.reveal(&tile));
        let found = cx.reveal(&result);
        let [mut all, mut parts] = [&layout, &found].map(indices);
        all.sort_unstable();
        parts.sort_unstable();
        assert_eq!(all, parts, "{a} by {b} is {result}");
        true
    });
}

/// `composition(a, (b, complement(b)))`, as the documentation defines it. Where nothing is left of
/// the layout, the complement is what lies behind the tile.
#[test]
fn a_division_is_composed_with_tiler_and_complement() {
    let mut n_tried = 0;
    for seed in 0..2000 {
        let (mut random, cx) = (Random(seed), &mut Static);
        let layout = random.layout(96);
        let tiler = random.part(size_of(&layout));
        let size = Tuple::Leaf(Int::Known(size_of(&layout)));
        let rest = complement(cx, &tiler, &size).expect("a part has one");
        let rest = if rest == Layout::unit() { behind(&tiler) } else { rest };
        let both = Tuple::Node(vec![tiler.clone(), rest]);
        let expected = composition(cx, &layout, &both).ok();
        let found = logical_divide(cx, &layout, &Tiler::Layout(tiler)).ok();
        n_tried += i32::from(found.is_some());
        assert_eq!(found, expected);
    }
    assert!(n_tried > 1000, "{n_tried}");
}

/// One index, with the stride to what lies behind a layout of one mode.
fn behind(of: &Layout) -> Layout {
    let mode = of.as_leaf().expect("a part is one mode");
    let end =
        mode.extent.known().zip(mode.stride.scale.known()).map(|(extent, stride)| extent * stride);
    Layout::mode(1, end.expect("it is known"))
}

#[test]
fn divisions_differ_in_how_their_modes_are_arranged() {
    try_law(60, |random, cx| {
        let layout = random.layout(96);
        let tiler = any_tiler(random, &layout);
        let (a, b) = (cx.hide(&layout), cx.hide_tiler(&tiler));
        let Ok(zipped) = zipped_divide(cx, &a, &b) else { return false };
        assert_eq!(zipped.rank(), 2);
        let [tile, rest] = zipped.modes() else { unreachable!("it has two modes") };
        let tiled = tiled_divide(cx, &a, &b).expect("the same modes");
        let flat = flat_divide(cx, &a, &b).expect("the same modes");
        // Numbers are the same, even if they were computed again.
        let reveal = |layouts: &[_]| layouts.iter().map(|l| cx.reveal(l)).collect::<Vec<_>>();
        assert_eq!(reveal(&tiled.modes()[..1]), reveal(std::slice::from_ref(tile)));
        assert_eq!(reveal(&tiled.modes()[1..]), reveal(rest.modes()));
        assert_eq!(reveal(flat.modes()), reveal(&[tile.modes(), rest.modes()].concat()));
        let keeps = matches!(&b, Tiler::Modes(tilers) if tilers.contains(&Tiler::Keep));
        if !keeps {
            let expected = composition_by(cx, &a, &b).expect("its first mode");
            assert_eq!(cx.reveal(tile), cx.reveal(&expected), "{a} by {b}");
        }
        true
    });
}

/// A tile of the identity says where its elements are.
#[test]
fn tiles_of_the_identity_are_the_coordinates_of_tiles() {
    try_law(50, |random, cx| {
        let layout = random.ordered(96, 1);
        let tiler = random.tiler(&layout);
        let (a, b) = (cx.hide(&layout), cx.hide_tiler(&tiler));
        let identity = make_identity_layout(&a.shape());
        let Ok(tiles) = zipped_divide(cx, &a, &b) else { return false };
        let Ok(coords) = zipped_divide(cx, &identity, &b) else { return false };
        let (tiles, coords) = (cx.reveal(&tiles), cx.reveal(&coords));
        for number in 0..size_of(&tiles) {
            let coord = Tuple::Leaf(Slot::At(Int::Known(number)));
            let place = crd2idx(&mut Static, &coord, &coords).expect("a coordinate");
            // Modes at the end of extent 1 are missing in it.
            let zeros = layout.shape().map(&mut |_| Int::Known(0));
            let place = add_indices(&mut Static, &zeros, &place).expect("nested alike");
            let found = index(&mut Static, &Coord::at(&place), &layout).expect("an index");
            assert_eq!(found, Int::Known(at(&tiles, number)), "{a} by {b} at {number}: {place}");
        }
        true
    });
}

#[test]
fn tiles_are_as_many_as_are_counted() {
    try_law(60, |random, cx| {
        let layout = random.ordered(96, 0);
        let tiler = random.tiler(&layout);
        let (a, b) = (cx.hide(&layout), cx.hide_tiler(&tiler));
        let Ok(zipped) = zipped_divide(cx, &a, &b) else { return false };
        let count = tile_count(cx, &a.shape(), &b).expect("the tiles have been made");
        let (rest, count) = (cx.reveal(&zipped.modes()[1]), cx.reveal_shape(&count));
        let sizes = rest.modes().iter().map(size_of);
        let counts = count.modes().iter().map(crate::generate::product);
        assert!(sizes.eq(counts), "{a} by {b}: {rest} {count}");
        true
    });
}

#[test]
fn a_product_is_the_block_and_its_copies() {
    try_law(60, |random, cx| {
        let (block, tiler) = (random.ordered(24, 2), random.ordered(16, 2));
        let (a, b) = (cx.hide(&block), cx.hide(&tiler));
        let tiler_of = Tiler::Layout(b.clone());
        let Ok(result) = logical_product(cx, &a, &tiler_of) else { return false };
        let found = cx.reveal(&result);
        let [first, copies] = found.modes() else { unreachable!("it has two modes") };
        assert_eq!(first, &block);
        assert!(is_compatible(&tiler.shape(), &copies.shape()), "{a} by {b}: {found}");
        assert!(is_distinct(indices(&found)), "{a} by {b}: {found}");
        // Copies come in the order that the tiler has.
        let (order, places) = (indices(&tiler), indices(copies));
        let mut by_tiler: Vec<_> = (0..order.len()).collect();
        let mut by_place = by_tiler.clone();
        by_tiler.sort_by_key(|&copy| order[copy]);
        by_place.sort_by_key(|&copy| places[copy]);
        assert_eq!(by_tiler, by_place, "{a} by {b}: {found}");
        let zipped = zipped_product(cx, &a, &tiler_of).expect("the same modes");
        assert_eq!(cx.reveal(&zipped), found);
        let tiled = tiled_product(cx, &a, &tiler_of).expect("the same modes");
        assert_eq!(tiled.rank(), 1 + copies.rank());
        let flat = flat_product(cx, &a, &tiler_of).expect("the same modes");
        let modes = [first.modes(), copies.modes()].concat();
        assert_eq!(cx.reveal(&flat), Tuple::Node(modes));
        true
    });
}

#[test]
fn blocked_and_raked_products_pair_the_modes() {
    try_law(60, |random, cx| {
        let (block, tiler) = (random.ordered(24, 0), random.ordered(16, 0));
        let (a, b) = (cx.hide(&block), cx.hide(&tiler));
        let Ok(blocked) = blocked_product(cx, &a, &b) else { return false };
        let raked = raked_product(cx, &a, &b).expect("the same modes");
        let (blocked, raked) = (cx.reveal(&blocked), cx.reveal(&raked));
        assert_eq!(blocked.rank(), block.rank().max(tiler.rank()));
        for (blocked, raked) in blocked.modes().iter().zip(raked.modes()) {
            let (blocked, raked) = (blocked.modes(), raked.modes());
            assert_eq!([&blocked[0], &blocked[1]], [&raked[1], &raked[0]]);
        }
        let mut all = indices(&blocked);
        all.sort_unstable();
        assert!(all.into_iter().eq(0..size_of(&block) * size_of(&tiler)), "{blocked}");
        true
    });
}

#[test]
fn blocks_cover_a_shape() {
    for seed in 0..1000 {
        let (mut random, cx) = (Random(seed), &mut Static);
        let block = random.ordered(16, 0);
        let extent = |mode: &Layout| size_of(mode) * (1 + random.below(3) as i64);
        let extents: Vec<_> = block.modes().iter().map(extent).collect();
        let shape = kernpack_layout::Shape::of_numbers(&extents);
        let covered = tile_to_shape(cx, &block, &shape, None).expect("it covers");
        let sizes = product_each(cx, &covered.shape()).expect("it is small");
        assert_eq!(sizes, shape, "{block}: {covered}");
        assert!(is_distinct(indices(&covered)), "{block}: {covered}");
        assert_eq!(indices(&covered).into_iter().max(), Some(size_of(&covered) - 1));
    }
}

#[test]
fn threads_and_values_have_each_element_once() {
    try_law(60, |random, cx| {
        let (threads, values) = (random.ordered(32, 0), random.ordered(16, 0));
        let (a, b) = (cx.hide(&threads), cx.hide(&values));
        let Ok((tile, layout)) = make_layout_tv(cx, &a, &b) else { return false };
        let (tile, layout) = (cx.reveal_shape(&tile), cx.reveal(&layout));
        assert_eq!(layout.rank(), 2);
        let sizes = [&layout.modes()[0], &layout.modes()[1]].map(size_of);
        assert_eq!(sizes, [size_of(&threads), size_of(&values)]);
        let mut all = indices(&layout);
        all.sort_unstable();
        assert!(all.into_iter().eq(0..crate::generate::product(&tile)), "{layout} in {tile}");
        true
    });
}

#[test]
fn threads_share_a_layout_among_them() {
    try_law(60, |random, cx| {
        let threads = random.ordered(16, 0);
        let extents: Vec<_> = threads
            .modes()
            .iter()
            .map(|mode| size_of(mode) * (1 + random.below(3) as i64))
            .collect();
        let shape = kernpack_layout::Shape::of_numbers(&extents);
        let data: Layout = kernpack_layout::make_row_major_layout(&mut Static, &shape).expect("ok");
        let (a, b) = (cx.hide(&data), cx.hide(&threads));
        let mut all = Vec::new();
        for thread in 0..size_of(&threads) {
            let number = cx.hide_int(thread);
            let Ok(part) = local_partition(cx, &a, &b, &number) else { return false };
            let (layout, offset) = (cx.reveal(&part.layout), cx.reveal_shape(&part.offset));
            let offset = offset.as_leaf().and_then(Int::known).expect("a plain offset");
            all.extend(indices(&layout).into_iter().map(|index| index + offset));
        }
        all.sort_unstable();
        assert!(all.into_iter().eq(0..size_of(&data)), "{a} among {b}");
        true
    });
}

#[test]
fn tiles_by_coordinate_are_those_of_a_division() {
    try_law(60, |random, cx| {
        let layout = random.ordered(96, 1);
        let tiler = Tiler::Modes(
            layout.modes().iter().map(|mode| Tiler::Layout(random.part(size_of(mode)))).collect(),
        );
        let (a, b) = (cx.hide(&layout), cx.hide_tiler(&tiler));
        let Ok(zipped) = zipped_divide(cx, &a, &b) else { return false };
        let zipped = cx.reveal(&zipped);
        let rest = &zipped.modes()[1];
        let number = random.below(size_of(rest) as usize) as i64;
        let counts = product_each(&mut Static, &rest.shape()).expect("it is small");
        let coord = idx2crd(&mut Static, &Int::Known(number), &counts).expect("a coordinate");
        let hidden = cx.hide_shape(&coord);
        let part = local_tile(cx, &a, &b, &Coord::at(&hidden), None).expect("it is there");
        let (tile, offset) = (cx.reveal(&part.layout), cx.reveal_shape(&part.offset));
        let offset = offset.as_leaf().and_then(Int::known).expect("a plain offset");
        for element in 0..size_of(&tile) {
            let expected = at(&zipped.modes()[0], element) + at(rest, number);
            assert_eq!(at(&tile, element) + offset, expected, "{a} by {b} at {coord}");
        }
        true
    });
}

#[test]
fn products_do_not_grow_beyond_what_they_hold() {
    for seed in 0..500 {
        let (mut random, cx) = (Random(seed), &mut Static);
        let (block, tiler) = (random.ordered(24, 0), random.ordered(16, 0));
        let product = logical_product(cx, &block, &Tiler::Layout(tiler)).expect("it is whole");
        assert_eq!(cosize(cx, &product), size(cx, &product));
    }
}
