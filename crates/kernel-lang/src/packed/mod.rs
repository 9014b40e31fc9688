// SPDX-License-Identifier: Apache-2.0
//! Packed functions: `@kp.jit("signature")`, and how the kernels that they launch are compiled.

pub mod facts;
