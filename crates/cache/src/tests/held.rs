// SPDX-License-Identifier: Apache-2.0
//! Packages whose files are held in memory.

use super::bench::{Bench, Count, SCALE, expect_loadable};
use crate::{Artifact, Got, Request};
use std::fs;

/// The request with these files of the bench in memory, and not on the disk.
fn holding(bench: &Bench, names: &[&str]) -> Request {
    let mut request = bench.request(SCALE);
    for name in names {
        let path = bench.path("pkg").join(name);
        request.held.insert(name, fs::read(&path).unwrap());
        fs::remove_file(path).unwrap();
    }
    request
}

fn get(bench: &Bench, request: &Request) -> Got {
    let got = bench.cache().get(request, &Count::default()).unwrap();
    expect_loadable(&got);
    got
}

#[test]
fn held_files_give_the_same_bytes_as_files_on_a_disk() {
    for names in [&["scale.c"][..], &["second/factor.h"], &["scale.c", "second/factor.h"]] {
        let bench = Bench::new();
        let text = SCALE.replace("include =", "options = [\"-g\"], include =");
        let on_disk = bench.get(&text).unwrap();
        let request = Request { text, ..holding(&bench, names) };
        let held = get(&bench, &request);
        assert!(!held.is_hit, "{names:?}");
        for artifact in Artifact::ALL {
            let [one, other] = [&on_disk, &held].map(|got| got.entry.read(artifact).unwrap());
            assert!(one == other, "{names:?}: {artifact:?}");
        }
        assert!(get(&bench, &request).is_hit);
        let own = held.entry.record().inputs(&bench.path("pkg"));
        assert!(!own.iter().any(|path| names.iter().any(|name| path.ends_with(name))), "{own:?}");
    }
}

#[test]
fn a_file_on_the_disk_counts_beside_those_that_are_held() {
    let bench = Bench::new();
    let request = holding(&bench, &["scale.c"]);
    assert!(!get(&bench, &request).is_hit);
    bench.write("pkg/second/factor.h", "#define FACTOR 7\n");
    assert!(!get(&bench, &request).is_hit);
    bench.write("pkg/factor.h", "#define FACTOR 8\n");
    assert!(!get(&bench, &request).is_hit);
    assert!(get(&bench, &request).is_hit);
}

#[test]
fn a_held_file_goes_before_one_on_the_disk() {
    let bench = Bench::new();
    let plain = bench.get(SCALE).unwrap();
    let mut request = bench.request(SCALE);
    request.held.insert("second/factor.h", &b"#define FACTOR 9\n"[..]);
    let held = get(&bench, &request);
    assert_ne!(held.entry.digest(), plain.entry.digest());
    // The base is no part of the request.
    let moved = tempfile::tempdir().unwrap();
    fs::copy(bench.path("pkg/scale.c"), moved.path().join("scale.c")).unwrap();
    let request = Request { base: moved.path().to_path_buf(), ..request };
    assert!(get(&bench, &request).is_hit);
}

#[test]
fn messages_name_held_files_as_the_text_does() {
    let bench = Bench::new();
    let mut request = bench.request(SCALE);
    request.held.insert("scale.c", &b"#warning look\nvoid scale(float *x, long n) {}\n"[..]);
    let got = get(&bench, &request);
    let detail = got.told.diagnostics.0[0].detail.clone().unwrap();
    assert!(detail.starts_with("scale.c:1:"), "{detail}");
}
