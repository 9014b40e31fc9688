// SPDX-License-Identifier: Apache-2.0
//! Attention: what `attention.py` computes of keys up to a place, between two, of none, and of
//! sequences side by side, against softmax in float64.

use crate::call::{Arg, call};
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
    let of_weight = 8.0 * U + (3.0 * query.len() as f64 + 8.0) * U * size;
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
    let starts = |of: &[f64]| {
        let shape = [of.len() as i64];
        Arg::Tensor(crate::call::Array::of(Scalar::I32, &shape, of.to_vec()))
    };
    let behind = [starts(&[0.0, 3.0, 5.0, 6.0]), starts(&[0.0, 4.0, 4.0, 140.0]), Arg::Int(3)];
    let parts = [(Rows(0, 3), Rows(0, 4)), (Rows(3, 5), Rows(4, 4)), (Rows(5, 6), Rows(4, 140))];
    for (left, right) in [(-1, -1), (-1, 0), (2, 0)] {
        let case =
            Case { batch: 1, heads: 2, heads_k: 1, queries: 6, keys: 140, d: 64, left, right };
        expect_attention("attention_varlen", Scalar::F16, case, &parts, &behind);
    }
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
