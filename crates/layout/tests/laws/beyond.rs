// SPDX-License-Identifier: Apache-2.0
//! Beyond a layout: its last mode goes on with its stride, whatever its extent, and no
//! operation that takes a layout apart may lose that. Extents of 1 stand in every place here, as
//! they are what coalescing leaves out.

use crate::generate::{CASES, Random, at, indices, size_of, try_law};
use crate::hidden::Hidden;
use kernpack_layout::{
    Coord, Int, Layout, Mode, Shape, Slot, Static, Tiler, Tuple, composition, crd2idx, evaluate,
    flat_divide, local_partition, local_tile, logical_divide, logical_product,
    make_identity_layout, recast_layout, tiled_divide, zipped_divide,
};

/// A layout in which about half of the extents are 1.
fn with_ones(random: &mut Random, most: i64) -> Layout {
    let layout = random.layout(most);
    layout.map(&mut |mode| match random.sixteenths(8) {
        true => Mode { extent: Int::Known(1), stride: mode.stride.clone() },
        false => mode.clone(),
    })
}

/// A layout of one mode, with a stride of its own.
fn one_mode(random: &mut Random) -> Layout {
    Layout::mode(random.pick(&[1, 1, 1, 2, 3, 5]), random.pick(&[0, 1, 3, 7, 16]))
}

/// The index of a coordinate of two numbers.
fn at_pair(layout: &Layout, first: i64, second: i64) -> i64 {
    let [first, second] = [first, second].map(|at| Tuple::Leaf(Slot::At(Int::Known(at))));
    let index = crd2idx(&mut Static, &Tuple::Node(vec![first, second]), layout);
    index.expect("two modes").as_leaf().and_then(Int::known).expect("a plain index")
}

fn number(shape: &Shape) -> i64 {
    shape.as_leaf().and_then(Int::known).expect("a plain offset")
}

/// `r(c) == a(b(c))`, where `b` reaches as far beyond `a` as it will.
#[test]
fn a_composition_goes_on_in_the_last_mode() {
    let mut n_beyond = 0;
    try_law(50, |random, cx| {
        let (lhs, rhs) = (with_ones(random, 48), with_ones(random, 48));
        let (a, b) = (cx.hide(&lhs), cx.hide(&rhs));
        let Ok(result) = composition(cx, &a, &b) else { return false };
        let found = cx.reveal(&result);
        for (number, inner) in indices(&rhs).into_iter().enumerate() {
            n_beyond += u64::from(inner >= size_of(&lhs));
            let index = at(&found, number as i64);
            assert_eq!(index, at(&lhs, inner), "{a} o {b} is {result} at {number}");
        }
        true
    });
    assert!(n_beyond > CASES, "{n_beyond}");
}

/// Behind one mode, a mode goes on with both, beyond its own extent too.
#[test]
fn a_composition_of_single_modes_multiplies_their_strides() {
    try_law(100, |random, cx| {
        let (lhs, rhs) = (one_mode(random), one_mode(random));
        let (a, b) = (cx.hide(&lhs), cx.hide(&rhs));
        let result = composition(cx, &a, &b).expect("single modes compose");
        let found = cx.reveal(&result);
        for number in 0..12 {
            assert_eq!(at(&found, number), at(&lhs, at(&rhs, number)), "{a} o {b} is {result}");
        }
        true
    });
}

/// Element `e` of tile `t` is where the layout has `t * extent + e`, in tiles beyond the last too.
#[test]
fn tiles_go_on_beyond_the_last() {
    try_law(90, |random, cx| {
        let (first, second) = (one_mode(random), one_mode(random));
        let layout = Tuple::Node(vec![first.clone(), second.clone()]);
        let extents = [random.pick(&[1, 2, 3, 4]), random.pick(&[1, 2, 4, 6])];
        let tile = cx.hide_shape(&Shape::of_numbers(&extents));
        let (a, b) = (cx.hide(&layout), Tiler::of_shape(cx, &tile).expect("extents"));
        let Ok(zipped) = zipped_divide(cx, &a, &b) else { return false };
        let logical = logical_divide(cx, &a, &b).expect("the same modes");
        let tiled = tiled_divide(cx, &a, &b).expect("the same modes");
        let flat = flat_divide(cx, &a, &b).expect("the same modes");
        let rests = [cx.reveal(&zipped).modes()[1].clone(), modes(&cx.reveal(&tiled), 1)];
        let rests = rests.into_iter().chain([modes(&cx.reveal(&flat), 2), rests_of(&logical, cx)]);
        let rests: Vec<_> = rests.collect();
        for (i, j) in [(0, 0), (1, 0), (0, 1), (2, 3)] {
            let coord = cx.hide_shape(&Shape::of_numbers(&[i, j]));
            let part = local_tile(cx, &a, &b, &Coord::at(&coord), None).expect("as divided");
            let (tile, offset) = (cx.reveal(&part.layout), number(&cx.reveal_shape(&part.offset)));
            let origin = at(&first, i * extents[0]) + at(&second, j * extents[1]);
            assert_eq!(offset, origin, "{a} by {b} at {i},{j}");
            for rest in &rests {
                assert_eq!(at_pair(rest, i, j), origin, "{a} by {b} is {zipped}");
            }
            for (row, column) in (0..extents[0]).flat_map(|r| (0..extents[1]).map(move |c| (r, c)))
            {
                let expected = at(&first, row) + at(&second, column);
                assert_eq!(at_pair(&tile, row, column), expected, "{a} by {b} is {zipped}");
            }
        }
        true
    });
}

/// The modes from one on, as a layout.
fn modes(layout: &Layout, from: usize) -> Layout {
    Tuple::Node(layout.modes()[from..].to_vec())
}

/// The second halves of a logical division's modes.
fn rests_of(logical: &kernpack_layout::LayoutOf<Hidden>, cx: &Hidden) -> Layout {
    let modes = logical.modes().iter().map(|mode| cx.reveal(&mode.modes()[1]));
    Tuple::Node(modes.collect())
}

/// The coordinates of a tile beyond are those of its elements, by which predicates know them.
#[test]
fn tiles_of_the_identity_go_on_beyond_the_last() {
    for seed in 0..CASES {
        let mut random = Random(seed);
        let cx = &mut Static;
        let extents = [0, 0].map(|_| random.pick(&[1, 1, 2, 5]));
        let tile = [0, 0].map(|_| random.pick(&[2, 3, 4]));
        let identity = make_identity_layout(&Shape::of_numbers(&extents));
        let tiler = Tiler::Modes(tile.map(|extent| Layout::mode(extent, 1).into()).to_vec());
        let at = [0, 0].map(|_| random.below(4) as i64);
        let coord = Coord::at(&Shape::of_numbers(&at));
        let part = local_tile(cx, &identity, &tiler, &coord, None).expect("single modes divide");
        let inner = [0, 1].map(|mode| random.below(tile[mode] as usize) as i64);
        let index = crd2idx(cx, &Coord::at(&Shape::of_numbers(&inner)), &part.layout);
        let index = kernpack_layout::add_indices(cx, &part.offset, &index.expect("a coordinate"));
        let zeros = Shape::of_numbers(&[0, 0]);
        let index = kernpack_layout::add_indices(cx, &zeros, &index.expect("nested alike"));
        let expected = [0, 1].map(|mode| at[mode] * tile[mode] + inner[mode]);
        assert_eq!(index, Ok(Shape::of_numbers(&expected)), "{extents:?} {tile:?}");
    }
}

/// Threads that reach beyond a mode have the elements that would be there.
#[test]
fn partitions_go_on_beyond_a_mode() {
    try_law(90, |random, cx| {
        let (first, second) = (one_mode(random), one_mode(random));
        let layout = Tuple::Node(vec![first.clone(), second.clone()]);
        let counts = [random.pick(&[1, 2, 4]), random.pick(&[2, 3, 4])];
        let threads =
            Tuple::Node(vec![Layout::mode(counts[0], counts[1]), Layout::mode(counts[1], 1)]);
        let thread = random.below((counts[0] * counts[1]) as usize) as i64;
        let (a, b, at_thread) = (cx.hide(&layout), cx.hide(&threads), cx.hide_int(thread));
        let Ok(part) = local_partition(cx, &a, &b, &at_thread) else { return false };
        let (of, offset) = (cx.reveal(&part.layout), number(&cx.reveal_shape(&part.offset)));
        let (row, column) = (thread / counts[1], thread % counts[1]);
        for (i, j) in [(0, 0), (1, 0), (0, 1), (2, 2)] {
            let expected = at(&first, i * counts[0] + row) + at(&second, j * counts[1] + column);
            assert_eq!(offset + at_pair(&of, i, j), expected, "{a} among {b} for {thread}");
        }
        true
    });
}

/// Copies of a compact block go on behind the last one.
#[test]
fn copies_go_on_behind_the_last() {
    for seed in 0..CASES {
        let mut random = Random(seed);
        let block = random.ordered(24, 0);
        let count = random.pick(&[1, 1, 2, 3]);
        let tiler = Tiler::Layout(Layout::mode(count, 1));
        let product = logical_product(&mut Static, &block, &tiler).expect("it is compact");
        for copy in 0..5 {
            assert_eq!(at(&product.modes()[1], copy), copy * size_of(&block), "{block}: {product}");
        }
    }
}

/// A mode of one element keeps the stride that a whole number of elements has.
#[test]
fn recast_modes_of_extent_one_keep_whole_strides() {
    for stride in 0..32 {
        let layout = Tuple::Node(vec![Layout::mode(1, stride), Layout::mode(8, 1)]);
        let larger = recast_layout(&mut Static, &layout, 4, 1).expect("8 are two of 4");
        let whole = if stride % 4 == 0 { stride / 4 } else { 0 };
        assert_eq!(larger, Tuple::Node(vec![Layout::mode(1, whole), Layout::mode(2, 1)]));
    }
}

#[test]
fn one_tile_of_one_mode_knows_the_next() {
    let told = |text: &str| match evaluate::evaluate(text, &mut kernpack_layout::Symbols::new()) {
        Ok(object) => object.to_string(),
        Err(error) => format!("refused: {error}"),
    };
    let rows = [
        ("composition(1:7, 3:1)", "3:7"),
        ("composition((4,1):(1,100), 8:1)", "(4,2):(1,100)"),
        ("composition((4,1):(1,4), 8:1)", "8:1"),
        ("composition((4,1):(1,s), 8:1)", "(4,2):(1,s)"),
        (
            "zipped_divide(make_identity_layout((1,5)), (2,4))",
            "((2,4),(1,2)):((1@0,1@1),(2@0,4@1))",
        ),
        ("local_tile((4,5):(16,3), (4,1), (1,1))", "(4,1):(16,0) at 67"),
        ("local_tile((4,5):(s,3), (4,1), (1,1))", "(4,1):(s,0) at (4*s)+3"),
        ("logical_divide((1,n):(n,1), (2,4))", "((2,1),(4,ceil_div(n,4))):((n,2*n),(1,4))"),
        ("logical_divide(((2,2),3):((1,50),7), (4,3))", "(((2,2),1),(3,1)):(((1,50),100),(7,21))"),
        ("coalesce(1:7)", "1:0"),
        ("complement(4:1, 4)", "1:0"),
    ];
    for (text, expected) in rows {
        assert_eq!(told(text), expected, "{text}");
    }
}
