// SPDX-License-Identifier: Apache-2.0
//! Operations that statements become.

use super::{elaborate_k, int, operations, read, run_clean, scalar, written};
use crate::argument::Argument;
use expect_test::{Expect, expect};
use kernpack_kernel_ir::Scalar::{F32, I32, I64};
use kernpack_kernel_ir::interp::Memory;
use kernpack_kernel_ir::{Const, verify};

fn check(source: &str, arguments: &[Argument], expected: Expect) {
    let shown = match elaborate_k(source, arguments, 256) {
        Ok(instance) => {
            let verified = verify::verify(&instance.kernel);
            let found = verified.err().map(|problems| problems.to_string()).unwrap_or_default();
            operations(&instance) + &found
        }
        Err(problems) => problems,
    };
    expected.assert_eq(&shown);
}

#[test]
fn a_sum_of_rows() {
    let source = "
@kp.kernel
def k(x, out, threads: kp.Constexpr):
    partial = kp.shared(kp.float32, threads // 32)
    row, _, _ = kp.block_idx()
    t, _, _ = kp.thread_idx()
    acc = kp.float32(0)
    for i in range(t, x.shape[1], threads):
        acc += x[row, i]
    acc = kp.warp_reduction_sum(acc)
    if kp.lane_idx() == 0:
        partial[kp.warp_idx()] = acc
    kp.sync_threads()
    if kp.warp_idx() == 0:
        acc = partial[kp.lane_idx()] if kp.lane_idx() < threads // 32 else 0.0
        acc = kp.warp_reduction_sum(acc)
        if kp.lane_idx() == 0:
            out[row] = acc
";
    check(
        source,
        &[read("x", F32, &["m", "n"]), written("out", F32, &["m"]), int(256)],
        expect![[r#"
            kernel k(v0 x: pointer.global float32 align 16 alone, v1 n: int64 0..1099511627776, v2 m: int64 0..1099511627776, v3 out: pointer.global float32 align 16 alone written) block [256, 1, 1] {
              shared0 partial: float32 bytes 32 align 16
              s0 acc: float32
              s1 chosen: float32
              v4: pointer.shared = shared0
              v5: int64 = call block_idx.x()
              v6: int64 = call thread_idx.x()
              v7: int64 = const 256
              v8: float32 = const 0.0
              set s0, v8
              for v9: int64 = v6 to v1 step v7 {
                v10: float32 = get s0
                inbounds v5, v2
                inbounds v9, v1
                v11: int64 = mul v5, v1
                v12: int64 = add v11, v9
                v13: int64 = const 4
                v14: int64 = mul v12, v13
                v15: pointer.global = offset v0, v14
                v16: float32 = load v15 align 4
                v17: float32 = add v10, v16
                set s0, v17
              }
              v18: float32 = get s0
              v19: int32 = const 16
              v20: float32 = call shuffle.xor(v18, v19)
              v21: float32 = add v18, v20
              v22: int32 = const 8
              v23: float32 = call shuffle.xor(v21, v22)
              v24: float32 = add v21, v23
              v25: int32 = const 4
              v26: float32 = call shuffle.xor(v24, v25)
              v27: float32 = add v24, v26
              v28: int32 = const 2
              v29: float32 = call shuffle.xor(v27, v28)
              v30: float32 = add v27, v29
              v31: int32 = const 1
              v32: float32 = call shuffle.xor(v30, v31)
              v33: float32 = add v30, v32
              set s0, v33
              v34: int64 = call lane_idx()
              v35: int64 = const 0
              v36: bool = eq v34, v35
              if v36 {
                v37: float32 = get s0
                v38: int64 = call warp_idx()
                v39: int64 = const 4
                v40: int64 = mul v38, v39
                v41: pointer.shared = offset v4, v40
                store v41, v37 align 4
              }
              call barrier()
              v42: int64 = call warp_idx()
              v43: bool = eq v42, v35
              if v43 {
                v44: int64 = call lane_idx()
                v45: int64 = const 8
                v46: bool = lt v44, v45
                if v46 {
                  v47: int64 = call lane_idx()
                  inbounds v47, v45
                  v48: int64 = const 4
                  v49: int64 = mul v47, v48
                  v50: pointer.shared = offset v4, v49
                  v51: float32 = load v50 align 4
                  set s1, v51
                } else {
                  set s1, v8
                }
                v52: float32 = get s1
                set s0, v52
                v53: float32 = get s0
                v54: float32 = call shuffle.xor(v53, v19)
                v55: float32 = add v53, v54
                v56: float32 = call shuffle.xor(v55, v22)
                v57: float32 = add v55, v56
                v58: float32 = call shuffle.xor(v57, v25)
                v59: float32 = add v57, v58
                v60: float32 = call shuffle.xor(v59, v28)
                v61: float32 = add v59, v60
                v62: float32 = call shuffle.xor(v61, v31)
                v63: float32 = add v61, v62
                set s0, v63
                v64: int64 = call lane_idx()
                v65: bool = eq v64, v35
                if v65 {
                  v66: float32 = get s0
                  inbounds v5, v2
                  v67: int64 = const 4
                  v68: int64 = mul v5, v67
                  v69: pointer.global = offset v3, v68
                  store v69, v66 align 4
                }
              }
            }
        "#]],
    );
}

/// Runs a kernel in which each of 32 threads has its number `t` and writes `out[t]`; `n` is 10.
fn expect_run(source: &str, expected: impl Fn(i64) -> i64) {
    let arguments = [written("out", I64, &["32"]), scalar("n", I32)];
    let made = elaborate_k(source, &arguments, 32);
    let instance = made.unwrap_or_else(|problems| panic!("{problems}"));
    let mut out = vec![Memory::fresh("out", I64, 32 * 8)];
    run_clean(instance, [[1; 3], [32, 1, 1]], &mut out, &|_, scalar| Const::int(scalar, 10));
    let found: Vec<_> = out[0].elements().into_iter().filter_map(Const::as_int).collect();
    let wanted: Vec<_> = (0..32).map(expected).collect();
    assert_eq!(found, wanted, "{source}");
}

#[test]
fn branches_join() {
    expect_run(
        "
@kp.kernel
def k(out, n):
    t = kp.thread_idx()[0]
    a, b = 1, 2
    if t < 3:
        a = t
        c = 5
    elif t < 6:
        b = t * 10
        c = 6
    else:
        a, b = b, a
        c = 5
    if t == 31:
        c = 7
    out[t] = a * 10000 + b * 100 + c
",
        |t| {
            let (a, b, c) = match t {
                0..3 => (t, 2, 5),
                3..6 => (1, t * 10, 6),
                _ => (2, 1, if t == 31 { 7 } else { 5 }),
            };
            a * 10000 + b * 100 + c
        },
    );
}

#[test]
fn loops_break_and_continue() {
    expect_run(
        "
@kp.kernel
def k(out, n):
    t = kp.thread_idx()[0]
    total = 0
    for i in range(t, 100, 3):
        if i % 2 == 0:
            continue
        if i > 50:
            break
        total += i
    i = 0
    while True:
        i += 1
        if i > n:
            break
        j = 0
        while j < i:
            if j == 4:
                break
            j += 1
            total += 1
    for i in range(10, t, -2):
        total += i * 1000
    out[t] = total
",
        |t| {
            let mut total: i64 = 0;
            for i in (t..100).step_by(3) {
                if i % 2 == 0 {
                    continue;
                }
                if i > 50 {
                    break;
                }
                total += i;
            }
            total += (1..=10).map(|i: i64| i.min(4)).sum::<i64>();
            let mut i = 10;
            while i > t {
                total += i * 1000;
                i -= 2;
            }
            total
        },
    );
}

#[test]
fn functions_return_early() {
    expect_run(
        "
def first_multiple(t, by):
    if by == 0:
        return -1
    for i in range(t, t + 50):
        for j in range(2):
            if i % by == 0 and j == 1:
                return i
    return -2

def sign(a):
    if a > 0:
        return 1, a
    elif a < 0:
        return -1, -a
    return 0, 0

def nothing(a):
    if a > 3:
        return
    pass

@kp.kernel
def k(out, n):
    t = kp.thread_idx()[0]
    s, m = sign(t - n)
    nothing(t)
    a = first_multiple(t, 7)
    b = first_multiple(t, t - t)
    if t == 20:
        out[t] = 5
        return
    out[t] = a * 1000 + b * 100 + s * 50 + m
",
        |t| {
            if t == 20 {
                return 5;
            }
            let a = (t..).find(|i| i % 7 == 0).expect("there is one");
            a * 1000 - 100 + (t - 10).signum() * 50 + (t - 10).abs()
        },
    );
}

#[test]
fn functions_are_values() {
    expect_run(
        "
from math import pi

SCALE = 3
TABLE = (lambda a: a + 1, lambda a: a * SCALE)

def apply(f, *, a, times=2):
    for _ in kp.range_constexpr(times):
        a = f(a)
    return a

def pick(name):
    if name == 'add':
        return TABLE[0]
    return TABLE[1]

@kp.kernel
def k(out, n):
    t = kp.thread_idx()[0]
    late = 1
    def shifted(a, by=2):
        return a + by + late
    late = 100
    value = apply(pick('add'), a=t)
    value = apply(pick('mul'), a=value, times=3)
    out[t] = apply(lambda a: shifted(a, by=n), a=value, times=1)
",
        |t| (t + 2) * 27 + 10 + 100,
    );
}

#[test]
fn loops_unroll() {
    expect_run(
        "
@kp.kernel
def k(out, n):
    t = kp.thread_idx()[0]
    total = 0
    for i in kp.range_constexpr(10):
        if i == 2:
            continue
        if i == 6:
            break
        if t > i:
            total += i
    for i, (a, b) in enumerate(((1, 2), (3, 4))):
        total += (a * b + i) * 100
    parts = [t * i for i in range(4)]
    for part in parts:
        total += part
    out[t] = total + i
",
        |t| {
            let small: i64 = [0, 1, 3, 4, 5].iter().filter(|i| t > **i).sum();
            small + (2 + 13) * 100 + t * 6 + 1
        },
    );
}

#[test]
fn what_is_right_runs_only_where_it_is_asked() {
    expect_run(
        "
@kp.kernel
def k(out, n):
    t = kp.thread_idx()[0]
    small = kp.shared(kp.int64, 4)
    if t < 4:
        small[t] = t - 2
    kp.sync_threads()
    a = 1 if t < 4 and small[t] > 0 else 0
    b = 1 if t >= 4 or small[t] == 0 else 0
    c = small[t] if t < 4 else 7
    out[t] = a * 100 + b * 10 + c
",
        |t| {
            let value = t - 2;
            let a = i64::from(t < 4 && value > 0);
            let b = i64::from(t >= 4 || value == 0);
            a * 100 + b * 10 + if t < 4 { value } else { 7 }
        },
    );
}

#[test]
fn tuples_and_elements_change_in_loops() {
    expect_run(
        "
@kp.kernel
def k(out, n):
    t = kp.thread_idx()[0]
    best = (t, 0)
    held = kp.make_rmem_tensor(3, kp.int64)
    held.fill(t)
    values = held.load()
    for i in range(4):
        if (t * 7 + i * 5) % 11 > best[0] % 11:
            best = ((t * 7 + i * 5) % 11, i)
        values = values + i
    out[t] = best[0] * 1000 + best[1] * 100 + values.reduce(kp.add)
",
        |t| {
            let mut best = (t, 0);
            for i in 0..4 {
                let value = (t * 7 + i * 5) % 11;
                if value > best.0 % 11 {
                    best = (value, i);
                }
            }
            best.0 * 1000 + best.1 * 100 + 3 * (t + 6)
        },
    );
}

#[test]
fn what_is_constant_is_chosen_while_compiling() {
    let source = "
VECTORS = True

def width(dtype):
    if dtype == kp.float16:
        return 8
    assert dtype == kp.float32, 'another dtype'
    return 4

@kp.kernel
def k(x, out):
    t = kp.thread_idx()[0]
    w = width(x.element_type)
    if VECTORS and w == 4:
        offset = t * w
        out[t] = x[0, offset]
    else:
        undefined_name()
";
    check(
        source,
        &[read("x", F32, &["8", "n"]), written("out", F32, &["n"])],
        expect![[r#"
            kernel k(v0 x: pointer.global float32 align 16 alone, v1 n: int64 0..1099511627776, v2 out: pointer.global float32 align 16 alone written) block [256, 1, 1] {
              v3: int64 = call thread_idx.x()
              v4: int64 = const 4
              v5: int64 = mul v3, v4
              inbounds v5, v1
              v6: int64 = const 16
              v7: int64 = mul v3, v6
              v8: pointer.global = offset v0, v7
              v9: float32 = load v8 align 4
              inbounds v3, v1
              v10: pointer.global = offset v2, v5
              store v10, v9 align 4
            }
        "#]],
    );
}

#[test]
fn an_early_return_is_a_loop_of_one_turn() {
    let source = "
def f(a):
    for i in range(a):
        if i * i > a:
            return i
    return a

@kp.kernel
def k(out, n):
    out[0] = f(n)
";
    check(
        source,
        &[written("out", I64, &["n"]), scalar("n", I64)],
        expect![[r#"
            kernel k(v0 out: pointer.global int64 align 16 alone written, v1 n: int64 0..1099511627776) block [256, 1, 1] {
              s0 result: int64
              s1 returned: bool
              v2: int64 = const 0
              set s0, v2
              v3: bool = const false
              set s1, v3
              v4: int64 = const 1
              for v5: int64 = v2 to v4 step v4 {
                v6: int64 = const 0
                v7: int64 = const 1
                for v8: int64 = v6 to v1 step v7 {
                  v9: int64 = mul v8, v8
                  v10: bool = gt v9, v1
                  if v10 {
                    set s0, v8
                    v11: bool = const true
                    set s1, v11
                    break
                  }
                }
                v12: bool = get s1
                if v12 {
                  break
                }
                set s0, v1
                break
              }
              v13: int64 = get s0
              inbounds v2, v1
              store v0, v13 align 8
            }
        "#]],
    );
}

/// The index of a loop that is unrolled is a constant of its own in each turn, whatever else the
/// name was.
#[test]
fn indices_of_unrolled_loops_are_new_in_each_turn() {
    expect_run(
        "
@kp.kernel
def k(out, n):
    d = kp.float16(n)
    total = kp.int64(0)
    for d in (2049, 4097):
        s = kp.float32(d)
        total += kp.int64(s)
        view = kp.make_layout(d)
        total += kp.size(view)
    while n < 0:
        e = kp.int8(1)
        n += 1
    e = kp.int8(1)
    for turn in range(n):
        e += 1
    for e in kp.range_constexpr(300, 302):
        total += e
    for one, d in ((0.5, 70000), (3, 0.25)):
        total += kp.int64(kp.float32(one) * 2) + kp.int64(kp.float32(d) * 4)
    for one in [kp.int64(kp.float32(x)) for x in (kp.float16(0), 4097)]:
        total += one
    out[kp.thread_idx()[0]] = total
",
        |_| 2 * (2049 + 4097) + 601 + (1 + 280000) + (6 + 1) + 4097,
    );
}

#[test]
fn an_index_that_had_another_type_ends_with_its_loop() {
    check(
        "
@kp.kernel
def k(out, n):
    d = kp.float16(n)
    for d in (2049, 4097):
        pass
    out[0] = kp.int64(d)
    e = 0
    for e in (1, 2):
        pass
    out[0] = e
",
        &[written("out", I64, &["1"]), scalar("n", I32)],
        expect![[r#"
            error[unassigned]: `d` is the index of a loop that has ended
              8:23 `d`
              help: assign it to another name in the loop"#]],
    );
}

/// Constants alone are computed with as in Python, however large it is on the way;
/// a value of a type is made of it where it fits.
#[test]
fn constants_are_integers_of_any_size() {
    expect_run(
        "
BIG = 123456789012345678901234567890123456789012345678901234567890

@kp.kernel
def k(out, n):
    t = kp.thread_idx()[0]
    total = 10 ** 40 % 7 + BIG // 10 ** 50 + (BIG & 0xFF)
    for power in (10 ** 40, 10 ** 41):
        total += power // 10 ** 39
    if -BIG < 0 and BIG > 1e59 and kp.min(BIG, 10 ** 70) == BIG and abs(-BIG) == BIG:
        total += kp.ceil_div(7, -2) + kp.ceil_div(10 ** 40, 10 ** 39 + 1)
    if kp.float64(10 ** 40) == 1e40 and kp.float32(2 ** 90 + 2 ** 66 + 1) > kp.float32(2 ** 90):
        total += 1
    out[t] = total + t % (10 ** 40 // 10 ** 40 + 1)
",
        |t| 4 + 1234567890 + 210 + 10 + 100 - 3 + 10 + 1 + t % 2,
    );
}

#[test]
fn constants_that_fit_no_type_are_refused_where_one_is_needed() {
    check(
        "
@kp.kernel
def k(out, n):
    big = 10 ** 40
    out[0] = big
    n += big
    s = kp.int64(big) + kp.uint64(-big)
    for i in range(big):
        pass
    for i in kp.range_constexpr(big):
        pass
    x = 9 ** 9 ** 9
    y = 1 << 2 ** 70
    z = big ** 10 * 0.5
    u = (1, 2)[big]
    v = out[big]
    w = 1 << -1
    q = big // 0 + 0 ** -1
",
        &[written("out", I64, &["1"]), scalar("n", I32)],
        expect![[r#"
            error[literal]: 10000000000000000000000000000000000000000 is no int64, which goes from -9223372036854775808 to 9223372036854775807
              6:14 `big`
              help: write one of these, or convert what it meets to a wider type
            error[literal]: 10000000000000000000000000000000000000000 is no int32, which goes from -2147483648 to 2147483647
              7:5 `n += big`
              help: write one of these, or convert what it meets to a wider type
            error[literal]: 10000000000000000000000000000000000000000 is no int64, which goes from -9223372036854775808 to 9223372036854775807
              8:18 `big`
              help: choose a wider type
            error[literal]: -10000000000000000000000000000000000000000 is no uint64, which goes from 0 to 18446744073709551615
              8:35 `-big`
              help: choose a wider type
            error[literal]: 10000000000000000000000000000000000000000 is no int64, which goes from -9223372036854775808 to 9223372036854775807
              9:14 `range(big)`
              help: write one of these, or convert what it meets to a wider type
            error[literal]: 10000000000000000000000000000000000000000 is no int64, which goes from -9223372036854775808 to 9223372036854775807
              11:33 `big`
              help: write one of these, or convert what it meets to a wider type
            error[literal]: `**` gives an integer of more than 65536 bits
              13:9 `9 ** 9 ** 9`
              help: compute with smaller numbers
            error[literal]: `<<` gives an integer of more than 65536 bits
              14:9 `1 << 2 ** 70`
              help: compute with smaller numbers
            error[literal]: `*` of an integer that is beyond all floats
              15:9 `big ** 10 * 0.5`
              help: compute with smaller numbers
            error[subscript]: there is no item 10000000000000000000000000000000000000000 of 2
              16:16 `big`
              help: count from 0 to 1
            error[literal]: 10000000000000000000000000000000000000000 is no int64, which goes from -9223372036854775808 to 9223372036854775807
              17:9 `out[big]`
              help: write one of these, or convert what it meets to a wider type
            error[operator]: there is no `<<` of an integer and an integer
              18:9 `1 << -1`
              help: convert both to an integer
            error[division]: `//` by zero
              19:9 `big // 0`
              help: divide by something else
            error[division]: `**` by zero
              19:20 `0 ** -1`
              help: divide by something else"#]],
    );
}
