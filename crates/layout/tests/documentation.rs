// SPDX-License-Identifier: Apache-2.0
//! Examples that CuTe's documentation gives, with the results that it gives; and what is refused,
//! in the words of the errors.

use expect_test::expect;
use kernpack_layout::Symbols;
use kernpack_layout::evaluate::evaluate;

fn told(text: &str) -> String {
    match evaluate(text, &mut Symbols::new()) {
        Ok(object) => object.to_string(),
        Err(error) => format!("refused: {error}"),
    }
}

/// Compares rows of operation and result.
fn check(rows: &[(&str, &str)]) {
    let wrong = rows.iter().filter(|(text, expected)| told(text) != *expected);
    let wrong: Vec<_> = wrong.map(|(text, _)| format!("{text} is {}", told(text))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn coordinates_and_indices() {
    check(&[
        ("crd2idx(16, (3,(2,3)):(3,(12,1)))", "17"),
        ("crd2idx((1,5), (3,(2,3)):(3,(12,1)))", "17"),
        ("crd2idx((1,(1,2)), (3,(2,3)):(3,(12,1)))", "17"),
        ("idx2crd(16, (3,(2,3)))", "(1,(1,2))"),
        ("crd2idx((2,1), (4,5))", "6"),
        ("idx2crd(9, (4,8))", "(1,2)"),
        ("size((4,(16,32)):(1,(4,64)))", "2048"),
        ("cosize((4,3,2):(1,4,12))", "24"),
        ("product_each((2,(3,4)))", "(2,12)"),
        ("slice((0,_,1), (2,3,4):(1,2,6))", "(3):(2) at 6"),
        ("dice((0,_,1), (2,3,4):(1,2,6))", "(2,4):(1,6)"),
        ("get(((4,2),(3,8)):((1,4),(8,24)), 0, 1)", "2:4"),
        ("select((4,2,8):(1,4,8), 2, 0)", "(8,4):(8,1)"),
        ("group_modes((4,5,6):(1,4,20), 1, 3)", "(4,(5,6)):(1,(4,20))"),
    ]);
}

#[test]
fn the_algebra() {
    check(&[
        ("coalesce((2,(1,6)):(1,(6,2)))", "12:1"),
        ("coalesce((2,(1,6)):(1,(6,2)), (1,1))", "(2,6):(1,2)"),
        ("coalesce((3,(4,5)):(8,(1,4)), (1,1))", "(3,20):(8,1)"),
        ("composition((6,2):(8,2), (4,3):(3,1))", "((2,2),3):((24,2),8)"),
        ("composition(20:2, (5,4):(4,1))", "(5,4):(8,2)"),
        ("composition((10,2):(16,4), (5,4):(1,5))", "(5,(2,2)):(16,(80,4))"),
        ("composition((12,(4,8)):(59,(13,1)), <3:4,8:2>)", "(3,(2,4)):(236,(26,1))"),
        ("composition((12,(4,8)):(59,(13,1)), (3,8))", "(3,(4,2)):(59,(13,1))"),
        ("complement(4:1, 24)", "6:4"),
        ("complement(6:4, 24)", "4:1"),
        ("complement((4,6):(1,4), 24)", "1:0"),
        ("complement(4:2, 24)", "(2,3):(1,8)"),
        ("complement((2,4):(1,6), 24)", "3:2"),
        ("complement((2,2):(1,6), 24)", "(3,2):(2,12)"),
        ("right_inverse((2,4,6):(4,1,8))", "(4,2,6):(2,1,8)"),
        ("left_inverse((2,4,6):(4,1,8))", "(4,2,6):(2,1,8)"),
        ("right_inverse((2,4):(4,1))", "(4,2):(2,1)"),
        ("recast_layout(32, 8, (32,4):(1,32))", "(8,4):(1,8)"),
        ("recast_layout(8, 32, (8,4):(1,8))", "(32,4):(1,32)"),
        ("recast_layout(4, 6, (8,4):(1,8))", "(12,4):(1,12)"),
    ]);
}

#[test]
fn divisions_and_products() {
    check(&[
        ("logical_divide((4,2,3):(2,1,8), 4:2)", "((2,2),(2,3)):((4,1),(2,8))"),
        ("logical_divide((6,8):(8,1), (3,4))", "((3,2),(4,2)):((8,24),(1,4))"),
        ("logical_divide((6,8):(8,1), (3,4):(1,3))", "((3,(2,2)),4):((8,(24,1)),2)"),
        ("zipped_divide((6,8):(8,1), (3,4))", "((3,4),(2,2)):((8,1),(24,4))"),
        ("tiled_divide((6,8):(8,1), (3,4))", "((3,4),2,2):((8,1),24,4)"),
        ("flat_divide((6,8):(8,1), (3,4))", "(3,4,2,2):(8,1,24,4)"),
        (
            "get(zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>), 0)",
            "(3,(2,4)):(177,(13,2))",
        ),
        ("logical_product((2,2):(4,1), 6:1)", "((2,2),(2,3)):((4,1),(2,8))"),
        ("logical_product((2,2):(4,1), (4,2):(2,1))", "((2,2),(4,2)):((4,1),(8,2))"),
        ("logical_product((3,4):(4,1), (2,5):(1,2))", "((3,4),(2,5)):((4,1),(12,24))"),
        ("tiled_product((3,4):(4,1), (2,5):(1,2))", "((3,4),2,5):((4,1),12,24)"),
        ("flat_product((3,4):(4,1), (2,5):(1,2))", "(3,4,2,5):(4,1,12,24)"),
        ("blocked_product((3,4):(4,1), (2,5):(1,2))", "((3,2),(4,5)):((4,12),(1,24))"),
        ("raked_product((3,4):(4,1), (2,5):(1,2))", "((2,3),(5,4)):((12,4),(24,1))"),
        ("tile_to_shape((2,2):(1,2), (8,8))", "((2,4),(2,4)):((1,4),(2,16))"),
        ("make_layout_tv((32):(1), (1):(1))", "(32,1):(1,0) in (32)"),
        ("zipped_divide((?,?):(?,1), (1,32))", "((1,32),(?,?)):((0,1),(?,32))"),
    ]);
}

/// The rest of what this crate does.
#[test]
fn strides_along_modes_orders_and_numbers_that_are_not_known() {
    check(&[
        ("coalesce((4,8):(1@0,4@0))", "32:1@0"),
        ("coalesce((4,8):(1@0,4@1))", "(4,8):(1@0,4@1)"),
        ("coalesce((4,n):(1,4))", "(4,n):(1,4)"),
        ("coalesce((m,n):(1,m))", "m*n:1"),
        ("composition((6,8):(8,1), (3,2):(1@1,2@0))", "(3,2):(1,16)"),
        ("crd2idx((2,(1,0)), make_identity_layout((3,(2,2))))", "(2,(1,0))"),
        ("tile_to_shape((2,2):(1,2), (4,6), (1,0))", "((2,2),(2,3)):((1,12),(2,4))"),
        ("local_tile((8,16):(16,1), (4,4), (1,))", "(4,4,4):(16,1,4) at 64"),
        ("local_tile((8,16):(16,1), (4,4), 3)", "(4,4):(16,1) at 68"),
        ("local_partition((8,16):(16,1), (2,4):(4,1), 5, (1,_))", "(4,16):(32,1) at 16"),
        ("complement(?{min=1}:1, ?)", "?:?"),
        ("complement(n{min=1}:1, 24)", "ceil_div(24,n):n"),
        ("slice((_,2), S<2,0,3> o 4 o (8,8):(8,1))", "S<2,0,3> o 6 o (8):(8)"),
        ("upcast(S<3,4,3> o 0 o (8,64):(64,1), 8)", "S<3,1,3> o 0 o (8,8):(8,1)"),
        ("vector_width((m,n{div=2}):(n,1), 4, 16)", "2"),
        ("vector_width((m,n{div=8}):(n,1), 4, 8)", "2"),
    ]);
}

#[test]
fn what_is_refused_is_told_with_the_layouts() {
    let calls = [
        "composition((4,3):(3,1), 2:6)",
        "composition((4,3):(3,1), 6:1)",
        "composition((3,2):(1,12), (2,3):(1,1))",
        "composition((m,n):(n,1), 4:1)",
        "composition((4,3):(3,1), 2:1@2)",
        "composition((4,3), (2,2):(1@0,1))",
        "composition((4,3), <2,2,2>)",
        "complement((2,2):(1,3), 24)",
        "complement(n:1, 24)",
        "complement((4,8):(1@0,1@1), 24)",
        "left_inverse((4,2):(1,2))",
        "left_inverse((m,n):(n,1))",
        "make_layout_tv(4:2, 2:1)",
        "make_layout_tv(4:1, (2,2):(1,0))",
        "make_layout((4,8), (1,(2,3)))",
        "make_layout((4,-8))",
        "group_modes((4,8), 1, 3)",
        "get((4,8), 2)",
        "coalesce((4,8), (1,1,1))",
        "crd2idx((1,2,3), (4,8))",
        "zip((4,8), (4,8,2))",
        "recast_layout(16, 8, (3,8):(1,3))",
        "recast_layout(8, 16, (4,8):(2,8))",
        "recast_layout(8, 0, (4,8))",
        "S<3,0,2> o 0 o 8",
        "make_ordered_layout((4,8), (0,1,2))",
        "size((4294967296,4294967296):(1,1))",
        "crd2idx(1, (0,2):(1,1))",
        "vector_width((4,8):(1@0,1@1), 4, 16)",
    ];
    let told: String = calls.iter().map(|call| format!("{call}\n  {}\n", told(call))).collect();
    expect![[r#"
        composition((4,3):(3,1), 2:6)
          refused: the composition of `(4,3):(3,1)` with `2:6` is no layout: the extent `4` is not known to divide the stride `6`, nor to be divided by it
        composition((4,3):(3,1), 6:1)
          refused: the composition of `(4,3):(3,1)` with `6:1` is no layout: `6` elements are not known to be a multiple or a part of the `4` that a mode has
        composition((3,2):(1,12), (2,3):(1,1))
          refused: the composition of `(3,2):(1,12)` with `(2,3):(1,1)` is no layout: together its modes are not known to stay within the extent `3`
        composition((m,n):(n,1), 4:1)
          refused: the composition of `(m,n):(n,1)` with `4:1` is no layout: `4` elements are not known to be a multiple or a part of the `m` that a mode has
        composition((4,3):(3,1), 2:1@2)
          refused: `(4,3):(3,1)` has 2 modes, and no mode 2
        composition((4,3), (2,2):(1@0,1))
          refused: `(2,2):(1@0,1)` adds up plain strides and strides along modes
        composition((4,3), <2,2,2>)
          refused: the tiler `<2:1,2:1,2:1>` has more modes than `(4,3):(1,4)`
        complement((2,2):(1,3), 24)
          refused: `(2,2):(1,3)` has no complement: the stride `3` is not known to be a positive multiple of `2`, which the modes below it span
        complement(n:1, 24)
          refused: `n:1` has no complement: `n` is not known to be positive
        complement((4,8):(1@0,1@1), 24)
          refused: a complement needs plain strides, and `(4,8):(1@0,1@1)` has strides along modes
        left_inverse((4,2):(1,2))
          refused: `(4,2):(1,2)` has no left inverse: it is not known to give each coordinate its own index
        left_inverse((m,n):(n,1))
          refused: `(m,n):(n,1)` has no left inverse: it is not known to give each coordinate its own index
        make_layout_tv(4:2, 2:1)
          refused: `4:2` is not known to have each index once, from 0 to its size
        make_layout_tv(4:1, (2,2):(1,0))
          refused: `(2,2):(1,0)` is not known to have each index once, from 0 to its size
        make_layout((4,8), (1,(2,3)))
          refused: the shape `(4,8)` and the stride `(1,(2,3))` are not nested alike
        make_layout((4,-8))
          refused: the extent `-8` is negative
        group_modes((4,8), 1, 3)
          refused: `(4,8):(1,4)` has 2 modes, and no range 1 to 3 of them
        get((4,8), 2)
          refused: `(4,8):(1,4)` has 2 modes, and no mode 2
        coalesce((4,8), (1,1,1))
          refused: the profile `(1,1,1)` has more modes than `(4,8):(1,4)`
        crd2idx((1,2,3), (4,8))
          refused: the coordinate `(1,2,3)` does not fit the shape `(4,8)`
        zip((4,8), (4,8,2))
          refused: `(4,8):(1,4)` and `(4,8,2):(1,4,32)` have different numbers of modes
        recast_layout(16, 8, (3,8):(1,3))
          refused: `(3,8):(1,3)` cannot be made of elements of 16 bits instead of 8: 2 is not known to divide the extent 3
        recast_layout(8, 16, (4,8):(2,8))
          refused: `(4,8):(2,8)` cannot be made of elements of 8 bits instead of 16: no stride is 1, so that the parts of an element have no mode
        recast_layout(8, 0, (4,8))
          refused: `(4,8):(1,4)` cannot be made of elements of 8 bits instead of 0: a width is at least 1 bit
        S<3,0,2> o 0 o 8
          refused: `S<3,0,2>` is no swizzle: the shift must be at least as wide as the bits, and all of them must lie in an index
        make_ordered_layout((4,8), (0,1,2))
          refused: the order `(0,1,2)` does not fit the shape `(4,8)`
        size((4294967296,4294967296):(1,1))
          refused: `mul` of `4294967296` and `4294967296` exceeds 64 bits
        crd2idx(1, (0,2):(1,1))
          refused: `mod` of `1` by 0
        vector_width((4,8):(1@0,1@1), 4, 16)
          refused: an access needs plain strides, and `(4,8):(1@0,1@1)` has strides along modes
    "#]].assert_eq(&told);
}
