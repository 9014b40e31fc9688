// SPDX-License-Identifier: Apache-2.0
//! Any text as a package file: it is a package, or is refused with diagnostics whose spans lie in the text. Nothing is read from disk.
#![no_main]

use kernpack_compiler::package_file;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    if let Err(diagnostics) = package_file::parse(text, Path::new("folder")) {
        assert!(!diagnostics.0.is_empty(), "refused without a reason");
        for diagnostic in &diagnostics.0 {
            for label in &diagnostic.labels {
                let span = label.span;
                assert!(
                    text.get(span.start as usize..span.end as usize).is_some(),
                    "outside of the text: {diagnostic}"
                );
            }
        }
    }
});
