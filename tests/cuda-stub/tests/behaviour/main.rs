// SPDX-License-Identifier: Apache-2.0
//! What the stub does, seen through the C functions of the loaded library. What is expected here,
//! the driver of CUDA 13.0 did on an H200, except where a test says otherwise.

#![expect(unsafe_code, reason = "the stub is reached as a C library")]

mod contexts;
mod control;
mod events;
mod graphs;
mod launches;
mod libraries;
mod memory;
mod streams;
mod stub;
