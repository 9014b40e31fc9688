// SPDX-License-Identifier: Apache-2.0
//! Kernels in text, run: what they compute, and what is found.

mod bookkeeping;
mod boxes;
mod bulk;
mod clusters;
mod control;
mod cores;
mod findings;
mod flights;
mod grid;
mod mbarriers;
mod named;
mod order;
mod products;
mod races;
mod ranks;
mod ring;
mod sequences;
mod speed;
mod timeline;
mod traffic;
mod values;

use super::{Memory, Trial};
use crate::constant::Const;
use crate::types::Scalar;
use expect_test::Expect;

/// A launch of the one kernel of a text.
fn trial(text: &str, grid: u32, block: u32) -> Trial {
    Trial::of_text(text).grid([grid, 1, 1]).block([block, 1, 1])
}

impl Trial {
    /// A tensor of these numbers.
    fn floats(self, numbers: &[f32]) -> Trial {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let memory = Memory::new(self.next_name(), Scalar::F32, bytes);
        self.tensor(memory)
    }

    /// A tensor of these numbers.
    fn ints(self, numbers: &[i32]) -> Trial {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let memory = Memory::new(self.next_name(), Scalar::I32, bytes);
        self.tensor(memory)
    }

    /// A tensor of so many elements, never written.
    fn fresh(self, element: Scalar, count: usize) -> Trial {
        let memory = Memory::fresh(self.next_name(), element, count * element.bytes() as usize);
        self.tensor(memory)
    }

    fn int(self, number: i64) -> Trial {
        self.number(Const::int(Scalar::I64, number))
    }

    /// Runs, and holds that this is found.
    fn expect_findings(&mut self, expected: Expect) {
        let outcome = self.run();
        expected.assert_eq(&self.told(&outcome.findings));
    }

    fn bytes(&self, argument: usize) -> &[u8] {
        &self.left(argument).bytes
    }

    fn floats_at(&self, argument: usize) -> Vec<f32> {
        let (numbers, _) = self.bytes(argument).as_chunks();
        numbers.iter().map(|number| f32::from_le_bytes(*number)).collect()
    }

    fn ints_at(&self, argument: usize) -> Vec<i32> {
        let (numbers, _) = self.bytes(argument).as_chunks();
        numbers.iter().map(|number| i32::from_le_bytes(*number)).collect()
    }
}

/// Sums the rows of a matrix, the usual way: a warp adds up by shuffles, and the first warp adds up
/// what the warps have left in shared memory. `{barrier}` is where the block waits.
fn reduce_sum(barrier: &str) -> String {
    let shuffles = |first: &str, id: u32, slot: &str| {
        let mut text = String::new();
        for (i, distance) in [16, 8, 4, 2, 1].into_iter().enumerate() {
            let at = id + 4 * i as u32;
            text += &format!(
                "v{at}: float32 = get {slot}
                 v{}: int32 = const {distance}
                 v{}: float32 = call shuffle.xor(v{at}, v{})
                 v{}: float32 = add v{at}, v{}
                 set {slot}, v{}\n",
                at + 1,
                at + 2,
                at + 1,
                at + 3,
                at + 2,
                at + 3,
            );
        }
        format!("{first}{text}")
    };
    format!(
        "kernel reduce_sum(v0 x: pointer.global float32 align 16,
            v1 out: pointer.global float32 align 4 written, v2 n: int64 0..65536) block [_, 1, 1] {{
          shared0 partial: float32 bytes 128 align 16
          s0 acc: float32
          s1 rest: float32
          v3: int64 = call block_idx.x()
          v4: int64 = call thread_idx.x()
          v5: int64 = call block_dim.x()
          v6: int64 = mul v3, v2
          v7: int64 = const 4
          v8: float32 = const 0.0
          v9: int64 = const 0
          set s0, v8
          for v10: int64 = v4 to v2 step v5 {{
            v11: int64 = add v6, v10
            v12: int64 = mul v11, v7
            v13: pointer.global = offset v0, v12
            v14: float32 = load v13 align 4 @3:5
            v15: float32 = get s0
            v16: float32 = add v15, v14
            set s0, v16
          }}
          {}
          v40: int64 = call lane_idx()
          v41: int64 = call warp_idx()
          v42: float32 = get s0
          v43: pointer.shared = shared0
          v44: bool = eq v40, v9
          if v44 {{
            v45: int64 = mul v41, v7
            v46: pointer.shared = offset v43, v45
            store v46, v42 align 4 @7:1
          }}
          {barrier}
          v47: bool = eq v41, v9
          if v47 {{
            v48: int64 = const 31
            v49: int64 = add v5, v48
            v50: int64 = const 32
            v51: int64 = floordiv v49, v50
            v52: bool = lt v40, v51
            v53: int64 = mul v40, v7
            v54: pointer.shared = offset v43, v53
            v55: float32 = load v54 align 4 when v52 else v8 @9:1
            set s1, v55
            {}
            if v44 {{
              v80: float32 = get s1
              v81: int64 = mul v3, v7
              v82: pointer.global = offset v1, v81
              store v82, v80 align 4 @11:1
            }}
          }}
        }}",
        shuffles("", 17, "s0"),
        shuffles("", 57, "s1"),
    )
}

/// The sum that [`reduce_sum`] gives for a row, addition by addition.
fn sum_as_kernel(row: &[f32], n_threads: usize) -> f32 {
    let butterfly = |mut lanes: [f32; 32]| {
        for distance in [16, 8, 4, 2, 1] {
            lanes = std::array::from_fn(|lane| lanes[lane] + lanes[lane ^ distance]);
        }
        lanes[0]
    };
    let mut threads = vec![0.0; n_threads];
    for (i, number) in row.iter().enumerate() {
        threads[i % n_threads] += number;
    }
    let (warps, _) = threads.as_chunks::<32>();
    let mut partial = [0.0; 32];
    for (sum, warp) in partial.iter_mut().zip(warps) {
        *sum = butterfly(*warp);
    }
    butterfly(partial)
}
