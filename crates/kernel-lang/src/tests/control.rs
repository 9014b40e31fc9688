// SPDX-License-Identifier: Apache-2.0
//! What statements become.

use super::{elaborate_k, int, operations, read, written};
use expect_test::{Expect, expect};
use kernpack_kernel_ir::Scalar::F32;

fn check(source: &str, arguments: &[crate::argument::Argument], expected: Expect) {
    let shown = match elaborate_k(source, arguments, 256) {
        Ok(instance) => {
            let verified = kernpack_kernel_ir::verify::verify(&instance.kernel);
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
          v43: int64 = const 0
          v44: bool = eq v42, v43
          if v44 {
            v45: int64 = call lane_idx()
            v46: int64 = const 8
            v47: bool = lt v45, v46
            if v47 {
              v48: int64 = call lane_idx()
              v49: int64 = const 8
              inbounds v48, v49
              v50: int64 = const 4
              v51: int64 = mul v48, v50
              v52: pointer.shared = offset v4, v51
              v53: float32 = load v52 align 4
              set s1, v53
            } else {
              v54: float32 = const 0.0
              set s1, v54
            }
            v55: float32 = get s1
            set s0, v55
            v56: float32 = get s0
            v57: int32 = const 16
            v58: float32 = call shuffle.xor(v56, v57)
            v59: float32 = add v56, v58
            v60: int32 = const 8
            v61: float32 = call shuffle.xor(v59, v60)
            v62: float32 = add v59, v61
            v63: int32 = const 4
            v64: float32 = call shuffle.xor(v62, v63)
            v65: float32 = add v62, v64
            v66: int32 = const 2
            v67: float32 = call shuffle.xor(v65, v66)
            v68: float32 = add v65, v67
            v69: int32 = const 1
            v70: float32 = call shuffle.xor(v68, v69)
            v71: float32 = add v68, v70
            set s0, v71
            v72: int64 = call lane_idx()
            v73: int64 = const 0
            v74: bool = eq v72, v73
            if v74 {
              v75: float32 = get s0
              inbounds v5, v2
              v76: int64 = const 4
              v77: int64 = mul v5, v76
              v78: pointer.global = offset v3, v77
              store v78, v75 align 4
            }
          }
        }
    "#]],
    );
}
