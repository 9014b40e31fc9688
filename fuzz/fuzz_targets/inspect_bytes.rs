// SPDX-License-Identifier: Apache-2.0
//! Any bytes as a file to inspect: an answer or an error, and both print.
#![no_main]

use kernpack_package::inspect::inspect;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match inspect(bytes) {
        Ok(inspection) => assert!(!inspection.to_string().is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
