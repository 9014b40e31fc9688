// SPDX-License-Identifier: Apache-2.0
//! Names that are kept for what is to come, so that no kernel uses them for something else.

/// Each with what to do until then.
pub(super) const NAMES: &[(&str, &str)] = &[
    ("float8_e4m3fn", "store uint8, and convert"),
    ("float8_e5m2", "store uint8, and convert"),
    ("float8_e8m0fnu", "store uint8, and convert"),
    ("float4_e2m1fn", "store uint8, and convert"),
    ("tcgen05", "write `kp.mma`, and `kp.gemm`"),
    ("tma_load", "write `kp.copy`"),
];

/// The help for a name that is kept.
pub(crate) fn reserved(name: &str) -> Option<&'static str> {
    NAMES.iter().find(|(reserved, _)| *reserved == name).map(|(_, instead)| *instead)
}
