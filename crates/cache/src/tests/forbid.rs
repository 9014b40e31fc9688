// SPDX-License-Identifier: Apache-2.0
//! Where nothing may be compiled.

use super::bench::{Bench, Count, SCALE};
use crate::settings::Settings;
use crate::{Cache, Failure};
use std::fs;

fn refusal(bench: &Bench) -> String {
    let cache = Cache::of(Settings { is_forbidden: true, ..bench.settings() });
    let count = Count::default();
    let error = cache.get(&bench.request(SCALE), &count).unwrap_err();
    assert!(matches!(error, Failure::Forbidden(_)), "{error}");
    assert_eq!(count.n_compiled(), 0);
    error.to_string()
}

#[test]
fn what_is_there_is_used() {
    let bench = Bench::new();
    assert!(!bench.is_hit());
    let cache = Cache::of(Settings { is_forbidden: true, ..bench.settings() });
    assert!(cache.get(&bench.request(SCALE), &Count::default()).unwrap().is_hit);
}

#[test]
fn what_is_missing_is_named() {
    let bench = Bench::new();
    let message = refusal(&bench);
    let cache = bench.path("cache");
    for part in [
        "package `demo` (`scale`) is not in the cache, and KERNPACK_JIT=forbid forbids",
        "nothing is known of this text",
        &format!("looked into `{}`", cache.display()),
        "kernpack.precompile",
    ] {
        assert!(message.contains(part), "{message}");
    }
    assert!(!bench.is_hit());
    bench.write("pkg/second/factor.h", "#define FACTOR 6\n");
    let message = refusal(&bench);
    let header = bench.path("pkg/second/factor.h");
    assert!(message.contains(&format!("`{}` has changed", header.display())), "{message}");
    fs::remove_file(&header).unwrap();
    let message = refusal(&bench);
    assert!(message.contains(&format!("`{}` cannot be read", header.display())), "{message}");
    bench.write("pkg/second/factor.h", "#define FACTOR 2\n");
    bench.write("pkg/factor.h", "");
    assert!(refusal(&bench).contains("factor.h` has appeared"), "{}", refusal(&bench));
}

#[test]
fn whoever_compiles_ahead_may() {
    let bench = Bench::new();
    let cache = Cache::of(Settings { is_forbidden: true, ..bench.settings() }).and_compile();
    assert!(!cache.get(&bench.request(SCALE), &Count::default()).unwrap().is_hit);
    let off = Settings { is_forbidden: true, folder: None, ..bench.settings() };
    let error = Cache::of(off).get(&bench.request(SCALE), &Count::default()).unwrap_err();
    assert!(error.to_string().contains("no cache is in use"), "{error}");
}
