// SPDX-License-Identifier: Apache-2.0
//! Lines of any text as layouts: each is refused with a message, or it prints, and reads back as
//! what prints alike. What the algebra makes of the first two is an answer or an error.
#![no_main]

use kernpack_layout::{
    LayoutOf, Result, Symbols, Tiler, blocked_product, coalesce, complement_of_all, composition_by,
    coshape, filter, flat_divide, flat_product, is_injective, left_inverse, local_tile,
    logical_divide, logical_product, make_layout_tv, max_common_layout, parse, raked_product,
    right_inverse, size, tiled_divide, tiled_product, zipped_divide, zipped_product,
};
use libfuzzer_sys::fuzz_target;

type Layout = LayoutOf<Symbols>;

fuzz_target!(|text: &str| {
    let mut cx = Symbols::new();
    let mut layouts = Vec::new();
    for line in text.lines().take(2) {
        match parse::layout(line, &mut cx) {
            Ok(layout) => {
                check_text(&layout);
                check_one(&mut cx, &layout);
                layouts.push(layout);
            }
            Err(error) => assert!(!error.to_string().is_empty(), "refused without a reason"),
        }
        _ = parse::composed(line, &mut cx).map(|composed| composed.to_string());
        let (tiler, coord) = (parse::tiler(line, &mut cx), parse::coord(line, &mut cx));
        if let (Some(layout), Ok(tiler)) = (layouts.first(), &tiler) {
            check_tiler(&mut cx, &layout.clone(), tiler);
            if let Ok(coord) = coord {
                _ = local_tile(&mut cx, layout, tiler, &coord, None).map(|part| part.layout);
            }
        }
    }
    if let [a, b] = &layouts[..] {
        check_two(&mut cx, a, b);
    }
});

/// What is printed reads back as what prints alike, but for numbers that have no name.
fn check_text(layout: &Layout) {
    let printed = layout.to_string();
    let again = parse::layout(&printed, &mut Symbols::new())
        .unwrap_or_else(|error| panic!("`{printed}` does not read back: {error}"));
    assert_eq!(again.to_string(), printed, "printing is not stable");
}

fn told(result: Result<Layout>) -> Option<Layout> {
    match result {
        Ok(layout) => {
            assert!(!layout.to_string().is_empty());
            Some(layout)
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

fn check_one(cx: &mut Symbols, layout: &Layout) {
    for make in [coalesce, right_inverse, left_inverse, filter, complement_of_all] {
        told(make(cx, layout));
    }
    let flat = layout.flatten();
    if let (Ok(a), Ok(b)) = (size(cx, layout), size(cx, &flat)) {
        assert_eq!(a.to_string(), b.to_string(), "the size of `{layout}`");
    }
    _ = coshape(cx, layout);
    _ = is_injective(layout);
}

fn check_tiler(cx: &mut Symbols, layout: &Layout, tiler: &Tiler<kernpack_layout::Symbol>) {
    for make in [
        composition_by,
        logical_divide,
        zipped_divide,
        tiled_divide,
        flat_divide,
        logical_product,
        zipped_product,
        tiled_product,
        flat_product,
    ] {
        told(make(cx, layout, tiler));
    }
}

fn check_two(cx: &mut Symbols, a: &Layout, b: &Layout) {
    for make in [blocked_product, raked_product, max_common_layout] {
        told(make(cx, a, b));
    }
    if let Ok((tile, owners)) = make_layout_tv(cx, a, b) {
        assert!(!tile.to_string().is_empty() && !owners.to_string().is_empty());
    }
}
