// SPDX-License-Identifier: Apache-2.0
//! Conditions that are asked, and those that are known without asking.

use crate::packed::tests::check;
use expect_test::expect;

#[test]
fn alignments_of_the_signature_are_not_asked_for() {
    check(
        r#"
@kp.jit("f(x: Tensor([n], float32, align=16), w: Optional[Tensor([n], float32, align=8)])")
def f(x, w):
    k(1 if kp.aligned(x, 16) and kp.aligned(x[None], 4) else 2).launch(grid=1, block=1)
    if kp.aligned(x, 32):
        k(1 if kp.aligned(x, 32) else 2).launch(grid=1, block=2)
    if w is not None and kp.aligned(w, 8):
        k(w).launch(grid=1, block=3)

@kp.jit("g(w: Optional[Tensor([n], float32, align=8)])")
def g(w):
    if kp.aligned(w, 8):
        k(w).launch(grid=1, block=1)
"#,
        expect![[r#"
            f
              k(1; None; None) grid 1 block 1
              k(1; None; None) grid 1 block 2 when aligned(x, 32)
              k(w: float32 (n):(1) align 8 alone; None; None) grid 1 block 3 when w.given != 0
            error[unguarded]: `w` may be None
              16:19 `w` used without having asked
              help: ask first: `if w is not None:`"#]],
    );
}

#[test]
fn membership_is_decided_by_what_is_known() {
    check(
        r#"
@kp.jit("f(n: int32, mode: String)")
def f(n, mode):
    if n in (4, n) and n + 1 in (4, n + 1) and 4 in (2.0, 4.0) and 1.5 < 2:
        k(1).launch(grid=1, block=1)
    if n in (4, 5):
        k(2).launch(grid=1, block=1)
        if n in (4, 2 * n) or n not in (4, 5):
            k(3).launch(grid=1, block=1)
    if mode in () or 2 ** 70 in (1.5, 7):
        k(4).launch(grid=1, block=1)
"#,
        expect![[r#"
            f
              k(1; None; None) grid 1 block 1 when n + 1 == 4 or n + 1 == n + 1
              k(2; None; None) grid 1 block 1 when n in {4, 5}
              k(3; None; None) grid 1 block 1 when n in {4, 5}, n == 4
              k(4; None; None) grid 1 block 1 when mode in {}
        "#]],
    );
}

#[test]
fn what_a_number_is_not_is_known_whichever_side_it_stands_on() {
    check(
        r#"
@kp.jit("f(x: Tensor([m, n], float32))")
def f(x):
    m, n = x.shape
    if m != 0 and 0 != n:
        k(m, n).launch(grid=(m, n, 2), block=(4, 2, 1))
"#,
        expect![[r#"
            f
              k(m: int64 1..; n: int64 1..; None) grid m, n, 2 block 4, 2, 1 when m != 0 and 0 != n
        "#]],
    );
}

/// Python divides first, whatever stands behind `and`: where that has no value, the condition does
/// not hold, and no other part makes it.
#[test]
fn what_breaks_is_asked_though_the_rest_decides() {
    check(
        r#"
@kp.jit("f(x: Tensor([m], float32), q: int32, b: int32)")
def f(x, q, b):
    m = x.shape[0]
    if (m // q >= 1 and False) or b == 1:
        k(1).launch(grid=1, block=1)
    if not (m // q >= 1 and False):
        k(2).launch(grid=1, block=1)
    if 3 in (m // q, 3) or b == 2:
        k(3).launch(grid=1, block=1)
    if (0 <= m // q < -1) or b == 3:
        k(4).launch(grid=1, block=1)
    never = m // q >= 1 and b == 4 and False
    if never or b == 4:
        k(5).launch(grid=1, block=1)
    if (m // 2 < 0 and m // q == 1) or b == 5:
        k(6).launch(grid=1, block=1)
    if m // q >= 1 and False:
        k(7).launch(grid=1, block=1)
    k(8 if never else 9).launch(grid=1, block=1)
"#,
        expect![[r#"
            f
              k(1; None; None) grid 1 block 1 when m // q >= 1 and 0 == 1 or b == 1
              k(2; None; None) grid 1 block 1 when not (m // q >= 1 and 0 == 1)
              k(3; None; None) grid 1 block 1 when (3 == m // q or 1 == 1) or b == 2
              k(4; None; None) grid 1 block 1 when 0 <= m // q and m // q < -1 or b == 3
              k(5; None; None) grid 1 block 1 when m // q >= 1 and b == 4 and 0 == 1 or b == 4
              k(6; None; None) grid 1 block 1 when b == 5
              k(9; None; None) grid 1 block 1
        "#]],
    );
}
