// SPDX-License-Identifier: Apache-2.0
//! Whose names functions see.

use crate::packed::tests::{check, check_beside};
use expect_test::expect;

#[test]
fn both_sides_see_the_names_of_their_own_file() {
    check_beside(
        r#"
BLOCKS = 7
def go(k, n):
    if n > 4:
        blocks = 1
    else:
        blocks = BLOCKS
    k(n).launch(grid=blocks, block=1)
"#,
        r#"
import beside
BLOCKS = 55

@kp.jit("f(n: int64)")
def f(n):
    beside.go(k, n)
    k(n).launch(grid=BLOCKS, block=1)
"#,
        expect![[r#"
            f
              k(n: int64 5..; None; None) grid 1 block 1 when n > 4
              k(n: int64 5..; None; None) grid 55 block 1 when n > 4
              k(n: int64 ..4; None; None) grid 7 block 1 when !(n > 4)
              k(n: int64 ..4; None; None) grid 55 block 1 when !(n > 4)
        "#]],
    );
}

#[test]
fn kernels_get_what_functions_see_when_they_are_launched() {
    check(
        r#"
@kp.jit("f(x: Tensor([n], float32, mut))")
def f(x):
    by = 3
    def add(v, more=by):
        return v + more
    twice = lambda v: add(add(v)) * x.shape[0]
    by = 4
    k(twice, add(1)).launch(grid=1, block=1)
    if x.shape[0] == 8:
        k(twice).launch(grid=1, block=1)
"#,
        expect![[r#"
            f
              k(lambda[add=add[by=4], x=x: float32 (n):(1) align 4 written alone]; 5; None) grid 1 block 1
              k(lambda[add=add[by=4], x=x: float32 (8):(1) align 4 written alone]; None; None) grid 1 block 1 when n == 8
        "#]],
    );
}

#[test]
fn all_that_a_function_names_is_seen() {
    check(
        r#"
@kp.jit("f(x: Tensor([n], float32, mut))")
def f(x):
    least, table, most, step = 3, (1, 2), 9, 4
    def g(v):
        assert least > 1, "too few"
        while v < most:
            v += step
        return v + [w for w in table][0]
    k(g).launch(grid=1, block=1)
"#,
        expect![[r#"
            f
              k(g[least=3, most=9, step=4, table=(1, 2)]; None; None) grid 1 block 1
        "#]],
    );
}
