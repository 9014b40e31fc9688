// SPDX-License-Identifier: Apache-2.0
//! Where threads part and meet again, and where in the grid they are.

use super::trial;
use crate::types::Scalar;

/// Each thread leaves a number at its place in the block: `{operations}` puts it into slot `s0`,
/// with the thread in `v1`, and 0, 1, 2 ... in `v10`, `v11`, `v12` ... up to 7.
fn each(operations: &str, n_threads: u32) -> Vec<i32> {
    let constants: String = (0..8).map(|i| format!("v{}: int64 = const {i}\n", 10 + i)).collect();
    let text = format!(
        "kernel k(v0 out: pointer.global int32 align 4 written) {{
            s0 sum: int64
            s1 other: int64
            v1: int64 = call thread_idx.x()
            {constants}
            set s0, v10
            set s1, v10
            {operations}
            v2: int64 = get s0
            v3: int32 = convert v2
            v4: int64 = mul v1, v14
            v5: pointer.global = offset v0, v4
            store v5, v3 align 4
        }}"
    );
    let mut run = trial(&text, 1, n_threads).fresh(Scalar::I32, n_threads as usize);
    run.clean();
    run.ints_at(0)
}

fn modelled(n_threads: i32, of: impl Fn(i32) -> i32) -> Vec<i32> {
    (0..n_threads).map(of).collect()
}

const ADD_ONE: &str = "v30: int64 = get s0 v31: int64 = add v30, v11 set s0, v31";

#[test]
fn loops_run_as_often_as_each_thread_says() {
    let text = format!("for v20: int64 = v10 to v1 step v13 {{ {ADD_ONE} }}");
    assert_eq!(each(&text, 48), modelled(48, |t| (t + 2) / 3));
    let backwards = format!(
        "v19: int64 = const -1 for v20: int64 = v10 to v1 step v19 {{ {ADD_ONE} }}
         for v21: int64 = v10 to v1 step v10 {{ set s0, v17 }}"
    );
    assert_eq!(each(&backwards, 48), modelled(48, |_| 0));
}

#[test]
fn a_sum_that_overflows_ends_a_loop() {
    let text = format!(
        "v18: int64 = const {} v19: int64 = const {}
         for v20: int64 = v18 to v19 step v17 {{ {ADD_ONE} }}",
        i64::MAX - 10,
        i64::MAX
    );
    assert_eq!(each(&text, 3), [2, 2, 2]);
}

#[test]
fn break_and_continue_are_each_threads_own() {
    let text = format!(
        "for v20: int64 = v10 to v1 step v11 {{
            v21: int64 = floormod v20, v12
            v22: bool = eq v21, v10
            if v22 {{ continue }}
            v23: int64 = const 20
            v24: bool = ge v20, v23
            if v24 {{ v25: bool = lt v1, v23 if v25 {{ set s0, v10 }} else {{ break }} }}
            {ADD_ONE}
        }}"
    );
    assert_eq!(
        each(&text, 64),
        modelled(64, |t| (0..t.min(20)).filter(|i| i % 2 == 1).count() as i32)
    );
}

#[test]
fn a_loop_in_a_loop_is_left_alone() {
    let text = format!(
        "for v20: int64 = v10 to v1 step v11 {{
            for v21: int64 = v10 to v17 step v11 {{
              v22: bool = gt v21, v20
              if v22 {{ break }}
              v23: bool = eq v21, v12
              if v23 {{ continue }}
              {ADD_ONE}
            }}
            v24: bool = eq v20, v15
            if v24 {{ break }}
        }}"
    );
    let model =
        |t: i32| (0..t.min(6)).map(|i| (0..=i.min(6)).filter(|j| *j != 2).count() as i32).sum();
    assert_eq!(each(&text, 33), modelled(33, model));
}

#[test]
fn a_while_loop_tests_before_each_turn() {
    let text = "
        set s0, v1
        while {
          v20: int64 = get s0
          v21: bool = gt v20, v17
        } v21 {
          v22: int64 = floordiv v20, v12
          set s0, v22
          v23: int64 = floormod v22, v13
          v24: bool = eq v23, v10
          if v24 { continue }
          v25: int64 = add v22, v11
          set s0, v25
        }";
    let model = |mut x: i32| {
        while x > 7 {
            x /= 2;
            x += i32::from(x % 3 != 0);
        }
        x
    };
    assert_eq!(each(text, 1024), modelled(1024, model));
}

#[test]
fn values_live_on_in_loops_and_branches_that_read_them() {
    // Registers are shared by values that do not live at once: these do.
    let text = "
        v20: int64 = mul v1, v13
        for v21: int64 = v10 to v13 step v11 {
          v22: int64 = add v21, v12
          v23: int64 = mul v22, v22
          v24: bool = lt v1, v14
          if v24 {
            v25: int64 = add v23, v20
            v26: int64 = get s0
            v27: int64 = add v26, v25
            set s0, v27
          } else {
            v28: int64 = sub v23, v20
            v29: int64 = get s0
            v30: int64 = add v29, v28
            set s0, v30
          }
        }
        v31: int64 = get s0
        v32: int64 = add v31, v20
        set s0, v32";
    let model = |t: i32| {
        let turns: i32 =
            (0..3).map(|i| (i + 2) * (i + 2) + if t < 4 { 3 * t } else { -3 * t }).sum();
        turns + 3 * t
    };
    assert_eq!(each(text, 40), modelled(40, model));
}

#[test]
fn a_thread_that_returns_does_nothing_more() {
    let text = "kernel k(v0 out: pointer.global int64 align 8 written) {
        v1: int64 = call thread_idx.x()
        v2: int64 = const 8
        v3: int64 = const 5
        v4: int64 = const 1
        v5: int64 = mul v1, v2
        v6: pointer.global = offset v0, v5
        for v7: int64 = v4 to v2 step v4 {
          v8: bool = eq v7, v1
          if v8 { store v6, v7 align 8 v9: bool = ge v1, v3 if v9 { return } }
        }
        v10: int64 = const 100
        store v6, v10 align 8
    }";
    let mut run = trial(text, 1, 40).fresh(Scalar::I64, 40);
    run.clean();
    let (numbers, _) = run.bytes(0).as_chunks::<8>();
    let numbers: Vec<_> = numbers.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect();
    let expected: Vec<_> = (0..40).map(|t| if (5..8).contains(&t) { t } else { 100 }).collect();
    assert_eq!(numbers, expected);
}

/// The names of a place in the grid, in the order in which [`places`] writes them.
const PLACES: [&str; 14] = [
    "thread_idx.x",
    "thread_idx.y",
    "thread_idx.z",
    "block_idx.x",
    "block_idx.y",
    "block_idx.z",
    "block_dim.x",
    "block_dim.y",
    "block_dim.z",
    "grid_dim.x",
    "grid_dim.y",
    "grid_dim.z",
    "lane_idx",
    "warp_idx",
];

#[test]
fn each_thread_knows_its_place() {
    let mut operations = String::new();
    for (i, name) in PLACES.iter().enumerate() {
        operations += &format!("v{}: int64 = call {name}()\n", 10 + i);
    }
    operations += "print \"";
    operations += &["{}"; 14].join(" ");
    let values: Vec<_> = (10..24).map(|i| format!("v{i}")).collect();
    operations += &format!("\", {}", values.join(", "));
    let mut run =
        trial(&format!("kernel k() {{ {operations} }}"), 1, 1).grid([2, 3, 2]).block([5, 4, 3]);
    let printed = run.clean().printed;
    let mut expected = Vec::new();
    for block in 0..12 {
        for thread in 0..60 {
            let (x, y, z) = (thread % 5, thread / 5 % 4, thread / 20);
            let (bx, by, bz) = (block % 2, block / 2 % 3, block / 6);
            let (lane, warp) = (thread % 32, thread / 32);
            expected.push(format!("{x} {y} {z} {bx} {by} {bz} 5 4 3 2 3 2 {lane} {warp}"));
        }
    }
    assert_eq!(printed, expected);
}

#[test]
fn an_empty_grid_runs_nothing() {
    let text = "kernel k() { print \"here\" }";
    let outcome = trial(text, 1, 1).grid([5, 0, 7]).clean();
    assert_eq!((outcome.printed.len(), outcome.thread_ops), (0, 0));
    assert_eq!(trial(text, 3, 1).clean().printed, ["here"; 3]);
    let mut few = trial(text, 3, 64);
    few.options.most_printed = 5;
    assert_eq!(few.clean().printed.len(), 5);
}
