// SPDX-License-Identifier: Apache-2.0
//! Instructions of PTX, and what is said of kernels in text.

use super::*;

#[test]
fn instructions_say_how_many_bytes_they_access() {
    let cases = [
        ("ld.global.nc.v4.b32 \t{%r4, %r5, %r6, %r7}, [%rd17+-8];", (false, Space::Global, 16)),
        ("\tst.global.v2.b64 \t[%rd10], {%rd1, %rd2};", (true, Space::Global, 16)),
        ("@%p1 ld.global.b16 %rs1, [%rd1];", (false, Space::Global, 2)),
        ("@!%p1 st.shared.b8 [%r1], %rs1;", (true, Space::Shared, 1)),
        ("ld.shared.v2.f32 {%f1, %f2}, [%r1];", (false, Space::Shared, 8)),
        ("ld.volatile.global.u32 %r1, [%rd1];", (false, Space::Global, 4)),
    ];
    for (line, expected) in cases {
        assert_eq!(access(line), Some(expected), "{line}");
    }
    for line in ["ld.param.b64 %rd1, [k_param_0];", "add.s32 %r1, %r2, %r3;", "", "}", ".loc 1 2 3"]
    {
        assert_eq!(access(line), None, "{line}");
    }
}
