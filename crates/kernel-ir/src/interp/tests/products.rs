// SPDX-License-Identifier: Apache-2.0
//! Products of warpgroups that the language refuses, and operations do not. Others have their cases
//! in the suite: `tests/suite/kernels/warpgroups.md` and `findings.md`.

use super::trial;
use expect_test::expect;

/// Shared memory at `v0` that the threads of a warpgroup fill with a number, 32 bytes each, in
/// vectors of 16.
fn filled(vector: &str, element: &str, number: &str) -> String {
    format!(
        "  v0: pointer.shared = shared0
  v1: int32 = call thread_idx.x()
  v2: int64 = convert v1
  v3: int64 = const 32
  v4: int64 = mul v2, v3
  v5: pointer.shared = offset v0, v4
  v6: {element} = const {number}
  v7: {vector} = splat v6
  v8: int64 = const 16
  v9: pointer.shared = offset v5, v8
  store v5, v7 align 16
  store v9, v7 align 16"
    )
}

/// Each warp finds it, of either factor.
#[test]
fn an_array_is_aligned_as_swizzles_ask_for() {
    let text = format!(
        "kernel k() block [128, 1, 1] {{
  shared0 a: bfloat16 bytes 4096 align 128
  local0 acc: float32 count 4
{}
  v10: bool = const false
  call fence.proxy_async()
  call barrier()
  call wgmma.fence()
  call wgmma.shared(local0, 0, v0, v0, v10, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)
  call wgmma.commit()
  call wgmma.wait(0)
}}",
        filled("bfloat16x8", "bfloat16", "0.0")
    );
    trial(&text, 1, 128).expect_findings(expect![[r#"
        error[misaligned-access]: `a` is aligned to 128 bytes, and a swizzle of 32 asks for 256, in thread (0, 0, 0) of block (0, 0, 0)
        found 8 times
    "#]]);
}

/// Whether a GPU gives the same bits: of products that add to sums, of factors in shared memory and
/// in registers.
fn is_exact(sums: &str, in_shared: &str, in_registers: &str) -> bool {
    let text = format!(
        "kernel k() block [128, 1, 1] {{
  shared0 a: float32 bytes 4096 align 256
  local0 acc: float32 count 4
  local1 part: float32 count 4
{}
  v10: bool = const true
  v11: pointer.local = local0
  v12: float32 = const {sums}
  v13: float32x4 = splat v12
  store v11, v13 align 4
  v14: pointer.local = local1
  v15: float32 = const {in_registers}
  v16: float32x4 = splat v15
  store v14, v16 align 4
  call fence.proxy_async()
  call barrier()
  call wgmma.fence()
  call wgmma.shared(local0, 0, v0, v0, v10, float32, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)
  call wgmma.registers(local0, 0, local1, 0, v0, v10, float32, 8, k, swizzle32, 16, 256)
  call wgmma.commit()
  call wgmma.wait(0)
}}",
        filled("float32x4", "float32", in_shared)
    );
    trial(&text, 1, 128).clean().is_exact
}

#[test]
fn products_whose_bits_nobody_promises_mark_a_run() {
    assert!(is_exact("0.0", "1.0", "1.0"));
    assert!(!is_exact("33554432.0", "1.0", "1.0"));
    // Of a factor the last 13 bits are dropped, or they are not.
    assert!(!is_exact("0.0", "1.0000001", "1.0"));
    assert!(!is_exact("0.0", "1.0", "1.0000001"));
}

#[test]
fn a_block_whose_threads_are_not_known_is_whole_warpgroups() {
    let text = "kernel k() {
  shared0 a: bfloat16 bytes 2048 align 256
  local0 acc: float32 count 4
  v0: pointer.shared = shared0
  v1: bool = const false
  call wgmma.fence()
  call wgmma.shared(local0, 0, v0, v0, v1, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256) @1:1
  call wgmma.commit()
  call wgmma.wait(0)
}";
    let told = |n_threads| {
        let mut trial = trial(text, 1, n_threads);
        let findings = trial.run().findings;
        let of_threads = findings.iter().filter(|one| one.kind.code() == "divergent-exchange");
        of_threads.map(|one| format!("{}\n", one.diagnostic(&trial.kernel))).collect::<String>()
    };
    assert_eq!(told(256), "");
    expect![[r#"
        error[divergent-exchange]: `wgmma.shared` takes a whole warpgroup, and a block of 144 threads ends in this one, in thread (128, 0, 0) of block (0, 0, 0), at kernel.py:1:1
    "#]].assert_eq(&told(144));
}
