// SPDX-License-Identifier: Apache-2.0
//! Entries and records that are not what was written.

use super::bench::{Bench, CHECKS, SCALE, expect_loadable, told};
use crate::{Artifact, Got};
use std::fs;
use std::path::Path;

/// How many bits of each file are flipped: `KERNPACK_FLIPS` says it for long runs.
fn n_flips() -> usize {
    let set = std::env::var("KERNPACK_FLIPS").ok();
    set.and_then(|text| text.parse().ok()).unwrap_or(300)
}

/// Numbers that look random, the same in each run.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    *state >> 33
}

fn flip(path: &Path, bit: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[bit / 8] ^= 1 << (bit % 8);
    fs::write(path, bytes).unwrap();
}

fn expect_right(got: &Got, right: &Got) {
    expect_loadable(got);
    assert_eq!(got.entry.digest(), right.entry.digest());
}

#[test]
fn a_flipped_bit_is_found_before_a_path_is_handed_out() {
    let bench = Bench::new();
    let right = bench.get(CHECKS).unwrap();
    let paths = ["entries", "requests"].iter().flat_map(|folder| bench.files(folder));
    let read = paths.filter(|path| {
        ["package.so", "manifest.json"].iter().any(|name| path.ends_with(name))
            || path.to_str().unwrap().contains("requests")
    });
    let mut state = 1;
    for path in read.collect::<Vec<_>>() {
        let good = fs::read(&path).unwrap();
        for _ in 0..n_flips() / 3 {
            flip(&path, random(&mut state) as usize % (8 * good.len()));
            let got = bench.get(CHECKS).unwrap();
            assert!(!got.is_hit, "{}", path.display());
            expect_right(&got, &right);
            assert_eq!(fs::read(&path).unwrap(), good, "it was made again");
        }
    }
}

#[test]
fn a_file_that_is_not_loaded_is_verified_when_it_is_read() {
    let bench = Bench::new();
    bench.get(CHECKS).unwrap();
    for artifact in [Artifact::Object, Artifact::Header, Artifact::Stubs, Artifact::Rust] {
        let got = bench.get(CHECKS).unwrap();
        assert!(got.is_hit);
        flip(&got.entry.path(artifact), 100);
        assert!(got.entry.read(artifact).unwrap_err().to_string().contains("is damaged"));
        assert!(bench.get(CHECKS).unwrap().is_hit, "the shared object is as it was");
    }
    let verified = bench.cache().verify();
    assert_eq!((verified.n_good, verified.damaged.len()), (1, 1), "{verified:?}");
    assert_eq!(bench.cache().verify().damaged.len(), 0, "it was set aside");
    assert!(!bench.get(CHECKS).unwrap().is_hit);
}

#[test]
fn what_is_missing_or_cut_short_is_made_again_with_one_warning() {
    for (name, cut) in [("package.so", None), ("manifest.json", None), ("package.so", Some(100))] {
        let bench = Bench::new();
        let right = bench.get(CHECKS).unwrap();
        let path = right.entry.folder().unwrap().join(name);
        match cut {
            None => fs::remove_file(&path).unwrap(),
            Some(length) => fs::write(&path, &fs::read(&path).unwrap()[..length]).unwrap(),
        }
        let got = bench.get(CHECKS).unwrap();
        expect_right(&got, &right);
        assert!(!got.is_hit);
        let told = told(&got);
        assert!(told.len() == 1 && told[0].contains("is damaged"), "{told:?}");
        assert!(!bench.files("damaged").is_empty());
        assert!(bench.get(CHECKS).unwrap().is_hit);
    }
}

#[test]
fn what_was_left_half_written_is_no_entry() {
    let bench = Bench::new();
    let right = bench.get(CHECKS).unwrap();
    let folder = right.entry.folder().unwrap().to_path_buf();
    let name = folder.file_name().unwrap().to_owned();
    drop(right);
    // As if a process had been killed while it wrote under the last name, which none does.
    fs::remove_file(folder.join("package.so")).unwrap();
    fs::remove_file(folder.join("manifest.json")).unwrap();
    let got = bench.get(CHECKS).unwrap();
    assert!(!got.is_hit && got.entry.folder().unwrap().ends_with(name));
    expect_loadable(&got);
}

/// Puts a FIFO or a folder in the place of a file or folder.
fn replace(path: &std::path::Path, is_fifo: bool) {
    if path.is_dir() {
        fs::remove_dir_all(path).unwrap();
    } else {
        fs::remove_file(path).unwrap();
    }
    match is_fifo {
        true => {
            let status = std::process::Command::new("mkfifo").arg(path).status().unwrap();
            assert!(status.success());
        }
        false => fs::create_dir(path).unwrap(),
    }
}

#[test]
fn a_fifo_or_a_folder_in_the_place_of_something_is_damage_and_nobody_waits() {
    for is_fifo in [true, false] {
        for name in ["package.so", "manifest.json", "used", "entry", "record"] {
            let bench = Bench::new();
            assert!(!bench.is_hit());
            let [record] = &bench.files("requests")[..] else { panic!("one record") };
            let entry = bench.files("entries")[0].parent().unwrap().to_path_buf();
            let path = match name {
                "entry" => entry,
                "record" => record.clone(),
                name => entry.join(name),
            };
            replace(&path, is_fifo);
            let first = bench.get(SCALE).unwrap();
            expect_loadable(&first);
            assert!(bench.is_hit(), "{name}, {is_fifo}: it is made again");
        }
        let bench = Bench::new();
        assert!(!bench.is_hit());
        fs::write(bench.path("pkg/scale.c"), "void scale(float *x, long n) { x[0] = n; }").unwrap();
        bench.files("locks").iter().for_each(|path| replace(path, is_fifo));
        assert!(!bench.is_hit());
        assert!(bench.is_hit());
    }
}
