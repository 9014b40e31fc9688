// SPDX-License-Identifier: Apache-2.0
//! Attention: what `attention.py` computes of keys up to a place, between two, of none, and of
//! sequences side by side, and `paged_decode.py` of keys in pages, against softmax in float64.

use crate::call::{Arg, Array, call};
use crate::results::{F32, U, expect_near, fresh, function, input, rounding, sound};
use kernpack_kernel_ir::Scalar;

const SCALE: f64 = 0.125;

/// Extents of a call: so many queries and keys, in numbers of `d`, of `heads` heads that share
/// `heads_k`.
#[derive(Clone, Copy, Debug)]
struct Case {
    batch: i64,
    heads: i64,
    heads_k: i64,
    queries: i64,
    keys: i64,
    d: i64,
    left: i64,
    right: i64,
}

/// A range of rows.
#[derive(Clone, Copy)]
struct Rows(usize, usize);

/// Whether a query sees a key.
fn sees(case: &Case, (query, n_queries): (i64, i64), (key, n_keys): (i64, i64)) -> bool {
    let at = query + n_keys - n_queries;
    (case.left < 0 || key >= at - case.left) && (case.right < 0 || key <= at + case.right)
}

/// The mean of values, and the logarithm of the sum of weights, of one query; each with how far it
/// may be off.
fn mean_of(
    element: Scalar,
    query: &[f64],
    seen: &[(&[f64], &[f64])],
    n_keys: i64,
) -> (Vec<(f64, f64)>, (f64, f64)) {
    let dot = |key: &[f64], f: fn(f64) -> f64| -> f64 {
        query.iter().zip(key).map(|(q, k)| f(q * k)).sum()
    };
    let scores: Vec<_> = seen.iter().map(|(key, _)| SCALE * dot(key, |x| x)).collect();
    let size = seen.iter().map(|(key, _)| SCALE * dot(key, f64::abs)).fold(0.0, f64::max);
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if scores.is_empty() {
        return (vec![(0.0, 0.0); query.len()], (f64::NEG_INFINITY, f64::NAN));
    }
    let (unit, least) = rounding(element);
    let total: f64 = scores.iter().map(|score| (score - most).exp()).sum();
    let of_weight = 16.0 * U + (3.0 * query.len() as f64 + 16.0) * U * size;
    let of_sums = 2.0 * of_weight + 4.0 * (n_keys as f64 + 128.0) * U;
    let mean = |i: usize| {
        let terms = scores.iter().zip(seen).map(|(score, (_, value))| {
            let weight = (score - most).exp() / total;
            (weight * value[i], weight * value[i].abs(), value[i].abs())
        });
        let (mean, weighed, values) =
            terms.fold((0.0, 0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1, all.2 + one.2));
        let bound = unit * f64::abs(mean) + (unit + of_sums) * weighed + least * (values + 1.0);
        (mean, bound)
    };
    let logarithm = most + total.ln();
    let of_logarithm = of_sums + 4.0 * U * (logarithm.abs() + most.abs());
    ((0..query.len()).map(mean).collect(), (logarithm, of_logarithm))
}

/// Calls a function, and holds what it has written of each pair of ranges, of queries and of their
/// keys, to the bound.
fn expect_attention(
    name: &'static str,
    element: Scalar,
    case: Case,
    parts: &[(Rows, Rows)],
    behind: &[Arg],
) {
    let Case { batch, heads, heads_k, queries, keys, d, left, right } = case;
    let (q, of_q) = input(element, &[batch, heads, queries, d], 1);
    let (k, of_k) = input(element, &[batch, heads_k, keys, d], 2);
    let (v, of_v) = input(element, &[batch, heads_k, keys, d], 3);
    let mut args = vec![q, k, v, fresh(element, &[batch, heads, queries, d])];
    args.push(fresh(F32, &[batch, heads, queries]));
    args.extend_from_slice(behind);
    args.extend([Arg::Float(SCALE), Arg::Int(left), Arg::Int(right)]);
    let came = sound(&function("attention", name), &args);
    let what = format!("{name} {element} {case:?}");
    let row = |of: &[f64], head: i64, n_rows: i64, at: usize| {
        let first = (head * n_rows) as usize * d as usize + at * d as usize;
        of[first..first + d as usize].to_vec()
    };
    for head in 0..batch * heads {
        let shared = head / heads * heads_k + head % heads / (heads / heads_k);
        for &(Rows(first_q, end_q), Rows(first_k, end_k)) in parts {
            let (n_queries, n_keys) = ((end_q - first_q) as i64, (end_k - first_k) as i64);
            for at in first_q..end_q {
                let is_seen = |key: &usize| {
                    let key = (*key - first_k) as i64;
                    sees(&case, ((at - first_q) as i64, n_queries), (key, n_keys))
                };
                let seen: Vec<_> = (first_k..end_k).filter(is_seen).collect();
                let seen = seen.into_iter();
                let seen =
                    seen.map(|at| (row(&of_k, shared, keys, at), row(&of_v, shared, keys, at)));
                let seen: Vec<_> = seen.collect();
                let seen: Vec<_> = seen.iter().map(|(k, v)| (&k[..], &v[..])).collect();
                let (mean, logarithm) =
                    mean_of(element, &row(&of_q, head, queries, at), &seen, n_keys);
                let what = format!("{what}, head {head}, query {at}");
                expect_near(&what, &row(&came.tensors[3], head, queries, at), mean);
                let found = came.tensors[4][(head * queries) as usize + at];
                if seen.is_empty() {
                    assert_eq!(found, f64::NEG_INFINITY, "{what}");
                } else {
                    expect_near(&what, &[found], [logarithm]);
                }
            }
        }
    }
}

#[test]
fn queries_attend_to_keys() {
    // Below a tile and beyond it, of queries and keys; with masks of neither, one and both sides.
    for (element, [batch, heads, heads_k], [queries, keys, d], [left, right]) in [
        (Scalar::F16, [1, 1, 1], [1, 1, 64], [-1, -1]),
        (Scalar::BF16, [2, 2, 1], [3, 130, 64], [-1, -1]),
        (Scalar::F16, [1, 1, 1], [129, 128, 128], [-1, 0]),
        (Scalar::BF16, [1, 1, 1], [130, 5, 64], [-1, 0]),
        (Scalar::F16, [1, 1, 1], [5, 400, 64], [300, 3]),
        (Scalar::BF16, [1, 1, 1], [5, 2, 64], [0, -1]),
        (Scalar::F16, [1, 1, 1], [2, 300, 64], [i32::MAX.into(), i32::MAX.into()]),
        (Scalar::BF16, [1, 2, 1], [3, 0, 64], [-1, -1]),
        (Scalar::F16, [2, 2, 1], [0, 3, 128], [-1, -1]),
    ] {
        let case = Case { batch, heads, heads_k, queries, keys, d, left, right };
        let all = (Rows(0, queries as usize), Rows(0, keys as usize));
        expect_attention("attention", element, case, &[all], &[]);
    }
}

#[test]
fn sequences_attend_to_their_own_keys() {
    let starts = |of: &[i64]| integers(&[of.len() as i64], of);
    let behind = [starts(&[0, 3, 5, 6]), starts(&[0, 4, 4, 140]), Arg::Int(3)];
    let parts = [(Rows(0, 3), Rows(0, 4)), (Rows(3, 5), Rows(4, 4)), (Rows(5, 6), Rows(4, 140))];
    for (left, right) in [(-1, -1), (-1, 0), (2, 0)] {
        let case =
            Case { batch: 1, heads: 2, heads_k: 1, queries: 6, keys: 140, d: 64, left, right };
        expect_attention("attention_varlen", Scalar::F16, case, &parts, &behind);
    }
}

/// Integers.
fn integers(shape: &[i64], values: &[i64]) -> Arg {
    let values = values.iter().map(|value| *value as f64).collect();
    Arg::Tensor(Array::of(Scalar::I32, shape, values))
}

/// Of sequences of these lengths, whose pages lie in the opposite order. What is behind the last
/// key of each is no number.
fn expect_decode(element: Scalar, [heads, heads_k, page, d]: [i64; 4], lengths: &[i64]) {
    let (n, most) = (lengths.len() as i64, lengths.iter().copied().max().unwrap_or(0));
    let width = (most + page - 1) / page;
    let n_pages = n * width + 1;
    let (q, of_q) = input(element, &[n, heads, d], 1);
    let pages = |seed| input(element, &[n_pages, page, heads_k, d], seed).1;
    let (mut of_k, mut of_v) = (pages(2), pages(3));
    let page_of = |sequence: i64, number: i64| n_pages - 1 - sequence * width - number;
    let row = |sequence: i64, key: i64, head: i64| {
        let place = page_of(sequence, key / page) * page + key % page;
        let first = ((place * heads_k + head) * d) as usize;
        first..first + d as usize
    };
    for (sequence, length) in (0..).zip(lengths) {
        for key in *length..width * page {
            for head in 0..heads_k {
                of_k[row(sequence, key, head)].fill(f64::NAN);
                of_v[row(sequence, key, head)].fill(f64::NAN);
            }
        }
    }
    let shape = [n_pages, page, heads_k, d];
    let [k, v] = [&of_k, &of_v].map(|of| Arg::Tensor(Array::of(element, &shape, of.clone())));
    let numbers = (0..n).flat_map(|sequence| (0..width).map(move |at| (sequence, at)));
    let numbers: Vec<_> = numbers.map(|(sequence, at)| page_of(sequence, at)).collect();
    let (table, lengths_of) = (integers(&[n, width], &numbers), integers(&[n], lengths));
    let out = fresh(element, &[n, heads, d]);
    let decode = function("paged_decode", "paged_decode");
    let came = sound(&decode, &[q, k, v, table, lengths_of, out, Arg::Float(SCALE)]);
    for (sequence, length) in (0..).zip(lengths) {
        for head in 0..heads {
            let shared = head / (heads / heads_k);
            let seen = (0..*length).map(|key| row(sequence, key, shared));
            let seen: Vec<_> = seen.map(|at| (&of_k[at.clone()], &of_v[at])).collect();
            let first = ((sequence * heads + head) * d) as usize;
            let own = first..first + d as usize;
            let (mean, _) = mean_of(element, &of_q[own.clone()], &seen, *length);
            let what = format!("{element} {heads}/{heads_k}, {page}, {d}: {length} keys of {head}");
            expect_near(&what, &came.tensors[5][own], mean);
        }
    }
}

#[test]
fn one_query_attends_to_keys_in_pages() {
    expect_decode(Scalar::BF16, [8, 1, 16, 64], &[0, 1, 17, 64]);
    expect_decode(Scalar::F16, [3, 3, 64, 64], &[65]);
    expect_decode(Scalar::BF16, [9, 1, 64, 64], &[130]);
    expect_decode(Scalar::F16, [2, 1, 16, 128], &[1100, 3]);
    expect_decode(Scalar::F16, [2, 1, 64, 128], &[63]);
}

#[test]
fn attention_is_not_in_place() {
    let shape = [1, 1, 4, 64];
    let (q, _) = input(Scalar::F16, &shape, 9);
    let out = Arg::Within { of: 0, from: 0, shape: shape.to_vec() };
    let args =
        [q, fresh(Scalar::F16, &shape), fresh(Scalar::F16, &shape), out, fresh(F32, &shape[..3])];
    let all = [&args[..], &[Arg::Float(SCALE), Arg::Int(-1), Arg::Int(-1)]].concat();
    let refused = call(&function("attention", "attention"), &all).unwrap_err();
    assert!(refused.contains("noalias(q, out)"), "{refused}");
}
