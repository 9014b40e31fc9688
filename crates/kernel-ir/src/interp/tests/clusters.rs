// SPDX-License-Identifier: Apache-2.0
//! Clusters: what blocks give one another through their shared memory, and what has to keep them
//! there meanwhile.

use super::{Trial, trial};
use crate::types::Scalar;
use expect_test::{Expect, expect};

/// Two clusters of four blocks of 64 threads. Each thread writes a number to its block's memory,
/// and reads that of the next block of its cluster: with what stands before and behind that.
fn ring(before: &str, behind: &str, last: &str) -> Trial {
    let text = format!(
        "kernel k(v0 out: pointer.global int32 align 4 written) block [64, 1, 1] {{
            shared0 own: int32 bytes 256 align 16
            v1: int64 = call thread_idx.x()
            v2: int64 = call block_idx.x()
            v3: int64 = call block_idx_in_cluster()
            v4: int64 = call cluster_size()
            v5: int64 = call block_dim.x()
            v6: int64 = const 4
            v7: int64 = mul v1, v6
            v8: int64 = mul v2, v5
            v9: int64 = add v8, v1
            v10: int32 = convert v9
            v11: pointer.shared = shared0
            v12: pointer.shared = offset v11, v7
            store v12, v10 align 4 @2:1
            {before}
            v13: int64 = const 1
            v14: int64 = add v3, v13
            v15: int64 = floormod v14, v4
            v16: int32 = convert v15
            v17: pointer.cluster = call shared.map(v11, v16)
            v18: pointer.cluster = offset v17, v7
            v19: int32 = load v18 align 4 @5:1
            {behind}
            v20: int64 = mul v9, v6
            v21: pointer.global = offset v0, v20
            store v21, v19 align 4
            {last}
        }}"
    );
    trial(&text, 8, 64).cluster([4, 1, 1]).fresh(Scalar::I32, 512)
}

const ARRIVE: &str = "call cluster.arrive(release) @3:1 ";
const WAIT: &str = "call cluster.wait() @4:1 ";

fn both() -> String {
    [ARRIVE, WAIT].concat()
}

#[test]
fn a_block_reads_what_the_next_one_has_written() {
    for seed in 0..30 {
        let mut trial = ring(&both(), &both(), "").seed(seed);
        trial.clean();
        let next = |i: i32| {
            let (block, thread) = (i / 64, i % 64);
            (block / 4 * 4 + (block % 4 + 1) % 4) * 64 + thread
        };
        assert_eq!(trial.ints_at(0), (0..512).map(next).collect::<Vec<_>>());
    }
}

#[test]
fn what_stands_between_arrival_and_wait_is_done_meanwhile() {
    ring(&both(), ARRIVE, WAIT).clean();
    ring(&both(), &both(), &both()).clean();
}

/// The first finding, and with whatever seed there is one of that kind.
fn expect_first(make: impl Fn() -> Trial, expected: &Expect) {
    let mut plain = make();
    let outcome = plain.run();
    let told = plain.told(&outcome.findings[..1]);
    let first = told.lines().next().unwrap_or_default();
    expected.assert_eq(&first.replace("kernel.py:", ""));
    for seed in 1..20 {
        let found = make().seed(seed).run().findings;
        assert!(found.iter().any(|one| one.kind == outcome.findings[0].kind), "{seed}");
    }
}

#[test]
fn a_block_that_may_not_have_begun_is_found() {
    expect_first(
        || ring("", &both(), ""),
        &expect![
            "error[absent-block]: reads `own[0]` of block (1, 0, 0), which may not have begun: nothing orders that before, in thread (0, 0, 0) of block (0, 0, 0), at 5:1"
        ],
    );
    // A barrier of the block alone says nothing of others.
    expect_first(
        || ring("call barrier()", &both(), ""),
        &expect![
            "error[absent-block]: reads `own[0]` of block (1, 0, 0), which may not have begun: nothing orders that before, in thread (0, 0, 0) of block (0, 0, 0), at 5:1"
        ],
    );
}

#[test]
fn a_block_that_may_have_ended_is_found() {
    expect_first(
        || ring(&both(), "", ""),
        &expect![
            "error[absent-block]: reads `own[0]` of block (1, 0, 0), which may have ended: nothing keeps it from that, in thread (0, 0, 0) of block (0, 0, 0), at 5:1"
        ],
    );
    let relaxed = "call cluster.arrive(relaxed) call cluster.wait()";
    expect_first(
        || ring(&both(), relaxed, ""),
        &expect![
            "error[absent-block]: reads `own[0]` of block (0, 0, 0), which may have ended: nothing keeps it from that, in thread (0, 0, 0) of block (3, 0, 0), at 5:1"
        ],
    );
    // Blocks that do not wait for the arrivals of others may end before.
    expect_first(
        || ring(&both(), ARRIVE, ""),
        &expect![
            "error[absent-block]: reads `own[0]` of block (1, 0, 0), which may have ended: nothing keeps it from that, in thread (0, 0, 0) of block (0, 0, 0), at 5:1"
        ],
    );
}

#[test]
fn a_relaxed_arrival_says_nothing_of_what_was_written() {
    let relaxed = format!("call cluster.arrive(relaxed) {WAIT}");
    expect_first(
        || ring(&relaxed, &both(), ""),
        &expect![
            "error[shared-race]: race: `own[0]` is read, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (0, 0, 0), at 5:1; thread (0, 0, 0) of block (1, 0, 0) writes it, at 2:1"
        ],
    );
}

#[test]
fn a_write_that_others_may_still_read_is_a_race() {
    let again = "v30: int32 = const 5 store v12, v30 align 4 @6:1";
    let [late, early] = [format!("{}{again}", both()), format!("{again} {}", both())];
    ring(&both(), &late, "").clean();
    expect_first(
        || ring(&both(), &early, ""),
        &expect![
            "error[shared-race]: race: `own[0]` is written, and nothing orders that with another thread's read, in thread (0, 0, 0) of block (1, 0, 0), at 6:1; thread (0, 0, 0) of block (0, 0, 0) reads it, at 5:1"
        ],
    );
}

#[test]
fn arrivals_and_waits_take_turns() {
    let twice = format!("{ARRIVE}call cluster.arrive(release) @7:1 {WAIT}");
    expect_first(
        || ring(&twice, &both(), ""),
        &expect![
            "error[misused-barrier]: arrives at the cluster's barrier again before it has waited there, in thread (0, 0, 0) of block (0, 0, 0), at 7:1"
        ],
    );
    let again = format!("{}call cluster.wait() @8:1", both());
    expect_first(
        || ring(&again, &both(), ""),
        &expect![
            "error[misused-barrier]: waits at the cluster's barrier, where it has not arrived, in thread (0, 0, 0) of block (0, 0, 0), at 8:1"
        ],
    );
}

#[test]
fn one_that_has_ended_is_not_waited_for() {
    let text = "kernel k() block [32, 1, 1] {
        v1: int64 = call block_idx_in_cluster()
        v2: int64 = const 0
        v3: bool = eq v1, v2
        if v3 {
            call cluster.arrive(release) @2:1
            call cluster.wait() @3:1
        } else {
            call cluster.arrive(release) @4:1
            call cluster.wait() @5:1
            call cluster.arrive(release) @6:1
            call cluster.wait() @7:1
            call cluster.arrive(release) @8:1
            call cluster.wait() @9:1
        }
        call cluster.arrive(release) @10:1
        call cluster.wait() @11:1
    }";
    trial(text, 4, 32).cluster([2, 1, 1]).clean();
}

#[test]
fn a_warp_that_never_arrives_is_told() {
    let text = "kernel k() block [64, 1, 1] {
        v1: int64 = call warp_idx()
        v2: int64 = const 0
        v3: bool = eq v1, v2
        if v3 { call cluster.arrive(release) @2:1 call cluster.wait() @3:1 }
        call barrier() @4:1
    }";
    let mut trial = trial(text, 2, 64).cluster([2, 1, 1]);
    let outcome = trial.run();
    expect![[r#"
        error[deadlock]: deadlock: waits at its cluster's barrier for thread (32, 0, 0) of block (0, 0, 0), in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1
        found 2 times
        error[deadlock]: deadlock: waits at its block's barrier for thread (0, 0, 0) of block (0, 0, 0), in thread (32, 0, 0) of block (0, 0, 0), at kernel.py:4:1
        found 2 times
    "#]].assert_eq(&trial.told(&outcome.findings));
}

#[test]
fn atomic_operations_reach_as_far_as_they_say() {
    let text = |scope: &str| {
        format!(
            "kernel k(v0 out: pointer.global int32 align 4 written) block [32, 1, 1] {{
            shared0 sum: int32 bytes 4 align 4
            v1: int64 = call thread_idx.x()
            v2: int64 = const 0
            v3: bool = eq v1, v2
            v4: int32 = const 0
            v5: int32 = const 1
            v6: pointer.shared = shared0
            if v3 {{ store v6, v4 align 4 @2:1 }}
            call cluster.arrive(release)
            call cluster.wait()
            v7: pointer.cluster = call shared.map(v6, v4)
            v8: int32 = call atomic.add(v7, v5, relaxed, {scope}) @3:1
            call cluster.arrive(release)
            call cluster.wait()
            v9: int64 = call block_idx.x()
            v10: int64 = const 4
            v11: int64 = mul v9, v10
            v12: pointer.global = offset v0, v11
            v13: int32 = load v6 align 4
            if v3 {{ store v12, v13 align 4 }}
        }}"
        )
    };
    let made = |scope| trial(&text(scope), 4, 32).cluster([2, 1, 1]).fresh(Scalar::I32, 4);
    for scope in ["cluster", "gpu"] {
        let mut trial = made(scope);
        trial.clean();
        assert_eq!(trial.ints_at(0), [64, 0, 64, 0]);
    }
    expect_first(
        || made("block"),
        &expect![
            "error[shared-race]: race: `sum[0]` is updated, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (1, 0, 0), at 3:1; thread (0, 0, 0) of block (0, 0, 0) updates it in one step, at 3:1"
        ],
    );
}

#[test]
fn a_release_to_the_cluster_is_acquired_there_and_nowhere_else() {
    // The first block of the grid writes, says so with a flag, and the one with that number waits
    // for the flag.
    let text = |scope: &str, reader: u32| {
        format!(
            "kernel k(v0 data: pointer.global int32 align 4 written,
                v1 flag: pointer.global int32 align 4 written) block [1, 1, 1] {{
            v2: int64 = call block_idx.x()
            v3: int64 = const 0
            v4: int64 = const {reader}
            v5: bool = eq v2, v3
            v6: bool = eq v2, v4
            v7: int32 = const 1
            if v5 {{ store v0, v7 align 4 @2:1 call atomic.store(v1, v7, release, {scope}) @3:1 }}
            if v6 {{
                while {{
                    v8: int32 = call atomic.load.int32(v1, acquire, {scope}) @4:1
                    v9: bool = ne v8, v7
                }} v9 {{ }}
                v10: int32 = load v0 align 4 @5:1
            }}
        }}"
        )
    };
    let made =
        |scope, reader| trial(&text(scope, reader), 4, 1).cluster([2, 1, 1]).ints(&[0]).ints(&[0]);
    made("cluster", 1).clean();
    made("gpu", 3).clean();
    expect_first(
        || made("cluster", 3),
        &expect![
            "error[global-race]: race: `flag[0]` is read, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (3, 0, 0), at 4:1; thread (0, 0, 0) of block (0, 0, 0) updates it in one step, at 3:1"
        ],
    );
}

#[test]
fn a_fence_orders_for_its_scope() {
    let text = |scope: &str| {
        format!(
            "kernel k(v0 data: pointer.global int32 align 4 written,
                v1 flag: pointer.global int32 align 4 written) block [1, 1, 1] {{
            v2: int64 = call block_idx.x()
            v3: int64 = const 0
            v5: bool = eq v2, v3
            v7: int32 = const 1
            if v5 {{
                store v0, v7 align 4 @2:1
                call fence({scope})
                call atomic.store(v1, v7, relaxed, cluster) @3:1
            }} else {{
                while {{
                    v8: int32 = call atomic.load.int32(v1, relaxed, cluster) @4:1
                    v9: bool = ne v8, v7
                }} v9 {{ }}
                call fence({scope})
                v10: int32 = load v0 align 4 @5:1
            }}
        }}"
        )
    };
    let made = |scope| trial(&text(scope), 2, 1).cluster([2, 1, 1]).ints(&[0]).ints(&[0]);
    made("cluster").clean();
    made("gpu").clean();
    expect_first(
        || made("block"),
        &expect![
            "error[global-race]: race: `data[0]` is read, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (1, 0, 0), at 5:1; thread (0, 0, 0) of block (0, 0, 0) writes it, at 2:1"
        ],
    );
}

#[test]
fn a_block_that_the_cluster_has_not_is_found() {
    let trial = || {
        let text = "kernel k(v0 rank: int32) block [32, 1, 1] {
            shared0 own: int32 bytes 4 align 4
            v1: pointer.shared = shared0
            v2: pointer.cluster = call shared.map(v1, v0) @2:1
        }";
        super::trial(text, 2, 32).cluster([2, 1, 1])
    };
    trial().number(crate::Const::int(Scalar::I32, 1)).clean();
    for (rank, told) in
        [(2, "block 2 of the cluster is out of bounds: it has 2"), (-1, "block -1 of")]
    {
        let mut trial = trial().number(crate::Const::int(Scalar::I32, rank));
        let found = trial.run().findings;
        assert_eq!(found[0].kind.code(), "index-out-of-bounds");
        assert!(found[0].message.starts_with(told), "{}", found[0].message);
    }
}

#[test]
fn blocks_know_where_they_are() {
    let names = [
        "block_in_cluster_idx.x",
        "block_in_cluster_idx.y",
        "block_in_cluster_dim.x",
        "block_in_cluster_dim.y",
        "cluster_idx.x",
        "cluster_idx.y",
        "cluster_dim.x",
        "cluster_dim.y",
        "block_idx_in_cluster",
        "cluster_size",
    ];
    let mut calls = String::new();
    for (i, name) in names.iter().enumerate() {
        let at = i * 8;
        calls += &format!(
            "v{a}: int64 = call {name}()
            v{b}: int64 = const {at}
            v{c}: pointer.global = offset v9, v{b}
            store v{c}, v{a} align 8\n",
            a = 10 + 3 * i,
            b = 11 + 3 * i,
            c = 12 + 3 * i
        );
    }
    let text = format!(
        "kernel k(v0 out: pointer.global int64 align 8 written) block [1, 1, 1] {{
            v1: int64 = call block_idx.x()
            v2: int64 = call block_idx.y()
            v3: int64 = call grid_dim.x()
            v4: int64 = mul v2, v3
            v5: int64 = add v4, v1
            v6: int64 = const {}
            v7: int64 = mul v5, v6
            v9: pointer.global = offset v0, v7
            {calls}
        }}",
        names.len() * 8
    );
    let (grid, cluster) = ([6, 4, 1], [3, 2, 1]);
    let trial = Trial::of_text(&text).grid(grid).cluster(cluster);
    let mut trial = trial.fresh(Scalar::I64, 24 * names.len());
    trial.clean();
    let found: Vec<_> = trial.left(0).elements().iter().map(|one| one.as_int().unwrap()).collect();
    for (block, found) in found.chunks(names.len()).enumerate() {
        let (x, y) = (block as i64 % 6, block as i64 / 6);
        let (i, j) = (x % 3, y % 2);
        assert_eq!(found, [i, j, 3, 2, x / 3, y / 2, 2, 2, j * 3 + i, 6]);
    }
}

#[test]
fn a_grid_is_whole_clusters() {
    let text = "kernel k() { }";
    let found = |grid, cluster| {
        let mut trial = trial(text, grid, 1).cluster(cluster);
        let outcome = trial.run();
        trial.told(&outcome.findings)
    };
    expect![[r#"
        error[bad-launch]: a grid of [6, 1, 1] blocks is not whole clusters of [4, 1, 1]
    "#]]
    .assert_eq(&found(6, [4, 1, 1]));
    expect![[r#"
        error[bad-launch]: a cluster of [32, 1, 1] blocks: there are 1 to 16
    "#]]
    .assert_eq(&found(32, [32, 1, 1]));
    expect![[r#"
        error[bad-launch]: a cluster of [0, 1, 1] blocks: there are 1 to 16
    "#]]
    .assert_eq(&found(32, [0, 1, 1]));
    assert_eq!(found(0, [4, 1, 1]), "");
}

#[test]
fn clusters_run_on_several_cores_alike() {
    let run = |n_cores| {
        let mut trial = ring(&both(), &both(), "");
        (trial.options.n_cores, trial.options.least_warps) = (n_cores, 1);
        let outcome = trial.clean();
        assert_eq!(outcome.n_cores, n_cores);
        trial.ints_at(0)
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn a_part_of_a_warp_that_arrives_or_waits_is_found() {
    let text = |before: &str, within: &str, behind: &str| {
        format!(
            "kernel k() block [32, 1, 1] {{
                v1: int64 = call thread_idx.x()
                v2: int64 = const 5
                v3: bool = lt v1, v2
                {before}
                if v3 {{ {within} }}
                {behind}
            }}"
        )
    };
    let found = |text: &str| trial(text, 1, 32);
    found(&text("", ARRIVE, WAIT)).expect_findings(expect![[r#"
        error[divergent-barrier]: the cluster's barrier that not all threads come to: thread (5, 0, 0) of block (0, 0, 0) does not, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1
    "#]]);
    found(&text(ARRIVE, WAIT, "")).expect_findings(expect![[r#"
        error[divergent-barrier]: the cluster's barrier that not all threads come to: thread (5, 0, 0) of block (0, 0, 0) does not, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:4:1
        found 2 times
    "#]]);
}

/// Two blocks, of which that one reads the other's memory as its last deed.
fn one_reads(reader: u32) -> Trial {
    let text = format!(
        "kernel k() block [1, 1, 1] {{
            shared0 own: int32 bytes 4 align 4
            v1: int64 = call block_idx_in_cluster()
            v2: int64 = const {reader}
            v3: bool = eq v1, v2
            v4: int32 = const {other}
            v5: pointer.shared = shared0
            store v5, v4 align 4 @1:1
            {}
            if v3 {{
                v6: pointer.cluster = call shared.map(v5, v4)
                v7: int32 = load v6 align 4 @5:1
            }}
        }}",
        both(),
        other = 1 - reader,
    );
    trial(&text, 2, 1).cluster([2, 1, 1])
}

#[test]
fn the_memory_of_one_that_has_ended_is_read_too_late() {
    // The first block ends, and then the second one reads; or it reads before that one ends.
    for reader in [1, 0] {
        let mut trial = one_reads(reader);
        let outcome = trial.run();
        assert_eq!(outcome.findings.len(), 1);
        assert_eq!(
            (outcome.findings[0].kind.code(), outcome.findings[0].count),
            ("absent-block", 1)
        );
        assert!(outcome.is_complete);
        trial.options.most_findings = 1;
        assert!(!trial.run().is_complete);
    }
}

#[test]
fn what_one_cluster_has_written_the_next_one_has_not() {
    let text = "kernel k() block [1, 1, 1] {
        shared0 own: int32 bytes 4 align 4
        v1: int64 = call block_idx.x()
        v2: int64 = const 2
        v3: bool = lt v1, v2
        v4: int32 = const 0
        v5: pointer.shared = shared0
        if v3 { store v5, v4 align 4 @1:1 } else { v6: int32 = load v5 align 4 @2:1 }
    }";
    let mut trial = trial(text, 4, 1).cluster([2, 1, 1]);
    trial.options.n_cores = 1;
    trial.expect_findings(expect![[r#"
        error[uninitialised-read]: reads `own[0]`, which was never written, in thread (0, 0, 0) of block (2, 0, 0), at kernel.py:2:1
        found 2 times
    "#]]);
}

/// A copy goes to a block that has ended, and is never done. The next cluster has memory of its
/// own.
#[test]
fn what_is_in_flight_in_one_cluster_is_not_in_the_next() {
    let text = format!(
        "kernel k(v0 x: pointer.global int32 align 16) block [1, 1, 1] {{
            shared0 tile: int32 bytes 16 align 16
            shared1 bar: uint64 bytes 8 align 8
            v1: int64 = call block_idx.x()
            v2: int64 = const 0
            v3: int64 = const 1
            v4: bool = eq v1, v2
            v5: bool = eq v1, v3
            v6: bool = gt v1, v3
            v7: int32 = const 0
            v8: int32 = const 1
            v9: int32 = const 16
            v10: pointer.shared = shared0
            v11: pointer.shared = shared1
            if v4 {{ call mbarrier.init(v11, v8) @1:1 }}
            {}
            if v5 {{
                v12: pointer.cluster = call shared.map(v10, v7)
                v13: pointer.cluster = call shared.map(v11, v7)
                call copy.bulk(v12, v0, v9, v13) @2:1
            }}
            if v6 {{ store v10, v8 align 4 @3:1 }}
        }}",
        both(),
    );
    let mut clusters = trial(&text, 4, 1).cluster([2, 1, 1]).ints(&[1, 2, 3, 4]);
    clusters.options.n_cores = 1;
    clusters.expect_findings(expect![[r#"
        error[absent-block]: writes `tile[0]` of block (0, 0, 0), which may have ended: nothing keeps it from that, in thread (0, 0, 0) of block (1, 0, 0), at kernel.py:2:1
        found 2 times
    "#]]);
}
