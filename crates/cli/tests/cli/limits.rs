// SPDX-License-Identifier: Apache-2.0
//! The memory and the time that the program takes for a product of matrices on the interpreter. The
//! time is generous, as this is no optimised build: one of those takes less than a second.

use crate::bench::{Bench, KERNPACK};
use std::path::Path;
use std::time::{Duration, Instant};

/// The most of memory, in KiB, of whatever kind.
const MOST_KIB: u64 = 1_000_000_000 / 1024;
const MOST_TIME: Duration = Duration::from_mins(1);

#[test]
fn a_product_by_warpgroups_takes_a_gigabyte_and_seconds() {
    let bench = Bench::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kernels/gemm.py");
    let mut shell = bench.command("sh");
    shell.args(["-c", &format!("ulimit -v {MOST_KIB}; exec \"$0\" \"$@\""), KERNPACK, "run"]);
    shell.arg(file).args(["gemm", "m=256", "n=512", "k=256", "--check", "--fill", "ones"]);
    let start = Instant::now();
    let ran = shell.output().expect("a shell");
    let took = start.elapsed();
    let printed = String::from_utf8_lossy(&ran.stdout);
    let problems = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{problems}");
    assert!(printed.contains("c: float16 [256, 512] = 256.0 256.0 "), "{printed}");
    assert!(took < MOST_TIME, "it took {took:?}");
}
