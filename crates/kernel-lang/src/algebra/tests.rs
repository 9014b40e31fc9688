// SPDX-License-Identifier: Apache-2.0
//! Every function of the algebra gives the same in a packed function as in a kernel.

use super::ROWS;
use crate::file::KernelFiles;
use crate::packed::settle::Kernels;
use crate::packed::tests::check;
use crate::packed::{Unrelated, functions};
use expect_test::expect;
use kernpack_syntax::Texts;
use std::io;
use std::path::Path;

/// A call of each function, or more.
const CALLS: &[&str] = &[
    "make_layout((4, (2, 3)))",
    "make_layout(shape=(4, 8), stride=(8, 1))",
    "make_ordered_layout((4, 8, 2), order=(1, 0, 2))",
    "make_composed_layout(kp.make_swizzle(3, 4, 3), 0, (8, 64))",
    "make_layout_tv(kp.make_layout((2, 4), stride=(4, 1)), kp.make_layout((2, 2)))",
    "tile_to_shape(kp.make_layout((2, 2)), (8, 8))",
    "tile_to_shape(kp.make_layout((2, 2)), (8, 8), order=(1, 0))",
    "size((4, 8))",
    "size(((4, 2), 8), mode=[0, 1])",
    "cosize(kp.make_layout((4, 8), stride=(16, 1)))",
    "rank((4, 8))",
    "depth(((4, 2), 8))",
    "shape(((4, (2,)), 8))",
    "shape(8)",
    "get(((2, 3), 4), mode=[0, 1])",
    "select((2, 3, 4), mode=[2, 0])",
    "group_modes((2, 3, 4), 0, 2)",
    "group_modes((2, 3, 4), 1)",
    "coalesce(kp.make_layout((2, (1, 6)), stride=(1, (6, 2))))",
    "filter(kp.make_layout((4, 2, 3), stride=(1, 0, 4)))",
    "flatten(((2, 3), 4))",
    "right_inverse(kp.make_layout((2, 4), stride=(4, 1)))",
    "left_inverse(kp.make_layout((4, 2), stride=(2, 16)))",
    "complement(kp.make_layout(4, stride=2), cotarget=24)",
    "complement(kp.make_layout((2, 2), stride=(4, 1)))",
    "composition(kp.make_layout((6, 2), stride=(8, 2)), rhs=kp.make_layout((4, 3), stride=(3, 1)))",
    "logical_divide((8, 16), tiler=(4, 4))",
    "zipped_divide((8, 16), (4, None))",
    "tiled_divide((8, 16), (4, 4))",
    "flat_divide((8, 16), (4, 4))",
    "logical_product((2, 2), tiler=6)",
    "zipped_product((3, 4), kp.make_layout((2, 5)))",
    "tiled_product((3, 4), kp.make_layout((2, 5)))",
    "flat_product((3, 4), kp.make_layout((2, 5)))",
    "blocked_product((3, 4), kp.make_layout((2, 5)))",
    "raked_product((3, 4), kp.make_layout((2, 5)))",
    "local_tile((8, 16), (4, 4), (1, None))",
    "local_tile((8, 16), (4, 4, 2), (1, 2, 0), proj=(1, 1, None))",
    "local_partition((8, 16), tiler=(2, 4), index=5)",
    "domain_offset((1, 2), (8, 16))",
    "crd2idx((1, 5), kp.make_layout((4, 8), stride=(8, 1)))",
    "crd2idx((3, 1), kp.make_composed_layout(kp.make_swizzle(2, 0, 3), 0, kp.make_layout((8, 8), \
     stride=(8, 1))))",
    "crd2idx((3, 1), kp.zipped_divide(kp.make_composed_layout(kp.make_swizzle(2, 0, 3), 0, \
     (8, 8)), (4, 4))[0])",
    "idx2crd(13, (4, 8))",
    "elem_less((1, 2), (2, 3))",
    "elem_less((1, 3), (2, 3))",
];

/// The problems of a file in which a packed function passes a kernel what it computes, and the
/// kernel holds that against what it computes itself.
fn problems_of(call: &str) -> Option<String> {
    let text = format!(
        "import kernpack as kp\n\
         @kp.kernel\n\
         def k(given: kp.Constexpr):\n    kp.static_assert(given == kp.{call})\n\
         @kp.jit(\"f(n: int32)\")\n\
         def f(n):\n    k(kp.{call}).launch(grid=1, block=1)\n"
    );
    let mut texts = Texts::default();
    let mut door = |path: &Path| match path.to_str() {
        Some("algebra.py") => Ok(text.as_bytes().to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let files = KernelFiles::read(Path::new("algebra.py"), &mut door, &mut texts).ok()?;
    let (packed, problems) = functions(&files);
    if problems.has_errors() {
        return Some(format!("kp.{call}: {problems}"));
    }
    let problems =
        Kernels::default().settle(&files, &packed.first()?.rows, Unrelated::Ignore).err()?;
    Some(format!("kp.{call}: {problems}"))
}

#[test]
fn packed_functions_compute_what_kernels_do() {
    let problems: Vec<_> = CALLS.iter().filter_map(|call| problems_of(call)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let wrong = problems_of("size((4, 8)) + n");
    assert!(wrong.is_some_and(|wrong| wrong.contains("not defined")), "a mistake is told");
}

#[test]
fn every_function_gives_what_the_algebra_does() {
    let launch = |call: &&str| format!("    k(kp.{call}).launch(grid=1, block=1)\n");
    let launches: String = CALLS.iter().map(launch).collect();
    check(
        &format!("@kp.jit(\"f(n: int32)\")\ndef f(n):\n{launches}"),
        expect![[r#"
        f
          k((4,(2,3)):(1,(4,8)); None; None) grid 1 block 1
          k((4,8):(8,1); None; None) grid 1 block 1
          k((4,8,2):(8,1,32); None; None) grid 1 block 1
          k(S<3,4,3> o 0 o (8,64):(1,8); None; None) grid 1 block 1
          k(((4, 8), ((4,2),(2,2)):((8,2),(1,4))); None; None) grid 1 block 1
          k(((2,4),(2,4)):((1,4),(2,16)); None; None) grid 1 block 1
          k(((2,4),(2,4)):((1,16),(2,4)); None; None) grid 1 block 1
          k(32; None; None) grid 1 block 1
          k(2; None; None) grid 1 block 1
          k(56; None; None) grid 1 block 1
          k(2; None; None) grid 1 block 1
          k(2; None; None) grid 1 block 1
          k(((4, 2), 8); None; None) grid 1 block 1
          k((8); None; None) grid 1 block 1
          k(3:2; None; None) grid 1 block 1
          k((4,2):(6,1); None; None) grid 1 block 1
          k(((2,3),4):((1,2),6); None; None) grid 1 block 1
          k((2,(3,4)):(1,(2,6)); None; None) grid 1 block 1
          k(12:1; None; None) grid 1 block 1
          k(12:1; None; None) grid 1 block 1
          k((2,3,4):(1,2,6); None; None) grid 1 block 1
          k((4,2):(2,1); None; None) grid 1 block 1
          k((2,8,2):(0,1,4); None; None) grid 1 block 1
          k((2,3):(1,8); None; None) grid 1 block 1
          k(2:2; None; None) grid 1 block 1
          k(((2,2),3):((24,2),8); None; None) grid 1 block 1
          k(((4,2),(4,4)):((1,4),(8,32)); None; None) grid 1 block 1
          k(((4,1),(2,16)):((1,0),(4,8)); None; None) grid 1 block 1
          k(((4,4),2,4):((1,8),4,32); None; None) grid 1 block 1
          k((4,4,2,4):(1,8,4,32); None; None) grid 1 block 1
          k(((2,2),6):((1,2),4); None; None) grid 1 block 1
          k(((3,4),(2,5)):((1,3),(12,24)); None; None) grid 1 block 1
          k(((3,4),2,5):((1,3),12,24); None; None) grid 1 block 1
          k((3,4,2,5):(1,3,12,24); None; None) grid 1 block 1
          k(((3,2),(4,5)):((1,12),(3,24)); None; None) grid 1 block 1
          k(((2,3),(5,4)):((12,1),(24,3)); None; None) grid 1 block 1
          k((4,4,4):(1,8,32); None; None) grid 1 block 1
          k((4,4):(1,8); None; None) grid 1 block 1
          k((4,4):(2,32); None; None) grid 1 block 1
          k((8,16):(1,8); None; None) grid 1 block 1
          k(13; None; None) grid 1 block 1
          k(26; None; None) grid 1 block 1
          k(10; None; None) grid 1 block 1
          k((1, 3); None; None) grid 1 block 1
          k(true; None; None) grid 1 block 1
          k(false; None; None) grid 1 block 1
    "#]],
    );
}

#[test]
fn what_a_swizzle_would_be_lost_in_is_refused() {
    let calls = [
        "make_composed_layout(kp.make_swizzle(1, 0, 3), 0, S)",
        "make_layout_tv(S, kp.make_layout(2))",
        "make_layout_tv(kp.make_layout(2), S)",
        "composition((64, 2), S)",
        "zipped_divide((64, 2), (S, 2))",
        "blocked_product((3, 4), S)",
        "complement(S)",
        "right_inverse(S)",
        "left_inverse(S)",
        "local_tile(S, (4, 4), (1, 1))",
        "local_partition(S, (2, 4), 5)",
        "local_partition((64, 2), S, 5)",
        "domain_offset((1, 2), S)",
        "shape(S[3, None])",
    ];
    for call in calls {
        let made = "kp.make_composed_layout(kp.make_swizzle(2, 0, 3), 0, (8, 8))";
        let problems = problems_of(&call.replace('S', made)).unwrap_or_default();
        let expected = "error[layout]: a layout with a swizzle, S<2,0,3>, is no plain layout";
        assert!(problems.contains(expected), "{call}: {problems}");
    }
}

#[test]
fn every_function_is_called() {
    let is_called = |name: &str| CALLS.iter().any(|call| call.contains(&format!("{name}(")));
    let missing: Vec<_> = ROWS.iter().map(|row| row.name).filter(|name| !is_called(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
