// SPDX-License-Identifier: Apache-2.0
//! Any text as a package file: it is a package, or is refused with diagnostics that have places in
//! the text. Nothing is read from disk.
#![no_main]

use kernpack_package::package_file;
use kernpack_syntax::Texts;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    let mut texts = Texts::default();
    let id = texts.add("fuzzed", text);
    if let Err(diagnostics) = package_file::parse(texts.snippet(id), Path::new("folder")) {
        assert!(!diagnostics.0.is_empty(), "refused without a reason");
        for diagnostic in &diagnostics.0 {
            assert!(!diagnostic.labels.is_empty(), "without a place: {diagnostic}");
            for label in &diagnostic.labels {
                let span = label.span;
                assert_eq!(span.text, Some(id), "of another text: {diagnostic}");
                assert!(text.get(span.start..span.end).is_some(), "outside: {diagnostic}");
            }
        }
    }
});
