// SPDX-License-Identifier: Apache-2.0
//! Eviction, where there is too much.

use super::bench::{Bench, CHECKS, Count};
use crate::settings::Settings;
use crate::store::USED;
use crate::{Cache, Got};
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The text of a package that differs from the others.
fn text(number: usize) -> String {
    CHECKS.replace("% 8", &format!("% {}", number + 2))
}

fn get(bench: &Bench, number: usize, limit: u64) -> Got {
    let cache = Cache::of(Settings { limit, ..bench.settings() });
    cache.get(&bench.request(&text(number)), &Count::default()).unwrap()
}

fn set_used(folder: &Path, time: SystemTime) {
    let file = fs::File::options().write(true).open(folder.join(USED)).unwrap();
    file.set_modified(time).unwrap();
}

/// Makes as many entries, and returns the bytes that one takes; each was used an hour before the
/// next.
fn fill(bench: &Bench, n_entries: usize) -> (u64, Vec<std::path::PathBuf>) {
    let now = SystemTime::now();
    let folders: Vec<_> = (0..n_entries)
        .map(|number| {
            let got = get(bench, number, u64::MAX);
            let folder = got.entry.folder().unwrap().to_path_buf();
            let hours = (n_entries - number) as u64;
            set_used(&folder, now - Duration::from_secs(3600 * hours));
            folder
        })
        .collect();
    let bytes = bench.cache().show().iter().map(|shown| shown.bytes).max().unwrap();
    (bytes, folders)
}

#[test]
fn what_was_not_used_for_the_longest_time_goes_first() {
    let bench = Bench::new();
    let (bytes, folders) = fill(&bench, 4);
    assert!(get(&bench, 0, u64::MAX).is_hit, "using it keeps it");
    let newest = get(&bench, 9, 3 * bytes + bytes / 2);
    let there: Vec<_> = folders.iter().map(|folder| folder.exists()).collect();
    assert_eq!(there, [true, false, false, true]);
    assert!(newest.entry.folder().unwrap().exists());
    assert!(bench.files("tmp").is_empty());
}

#[test]
fn what_is_in_use_and_what_was_just_made_stay_whatever_the_bound() {
    let bench = Bench::new();
    fill(&bench, 3);
    let used = get(&bench, 1, u64::MAX);
    let newest = get(&bench, 9, 1);
    for got in [&used, &newest] {
        super::bench::expect_loadable(got);
    }
    assert_eq!(bench.cache().show().len(), 2);
    let cleared = bench.cache().clear();
    assert_eq!((cleared.n_removed, cleared.kept.len()), (0, 2));
    drop((used, newest));
    assert_eq!(bench.cache().clear().n_removed, 2);
    assert!(!get(&bench, 9, u64::MAX).is_hit);
}

#[test]
fn a_clock_that_jumps_does_not_put_out_what_is_new() {
    let bench = Bench::new();
    let (bytes, folders) = fill(&bench, 3);
    // Two of the future, where the clock was once.
    for folder in &folders[..2] {
        set_used(folder, SystemTime::now() + Duration::from_secs(86400 * 365));
    }
    let limit = 2 * bytes + bytes / 2;
    let newest = get(&bench, 9, limit).entry.folder().unwrap().to_path_buf();
    assert!(newest.exists() && !folders[2].exists());
    // And the other way: all that is there is of before 1970.
    set_used(&newest, SystemTime::UNIX_EPOCH);
    let got = get(&bench, 10, 1);
    assert!(got.entry.folder().unwrap().exists());
    assert_eq!(bench.cache().show().len(), 1);
}

#[test]
fn a_use_is_noted_at_most_once_a_minute() {
    let bench = Bench::new();
    let folder = get(&bench, 0, u64::MAX).entry.folder().unwrap().to_path_buf();
    let used = || folder.join(USED).metadata().unwrap().modified().unwrap();
    let recent = SystemTime::now() - Duration::from_secs(30);
    set_used(&folder, recent);
    assert!(get(&bench, 0, u64::MAX).is_hit);
    assert_eq!(used(), recent);
    set_used(&folder, SystemTime::now() - Duration::from_secs(90));
    assert!(get(&bench, 0, u64::MAX).is_hit);
    assert!(used() > recent);
}

#[test]
fn what_a_process_left_that_was_killed_is_swept_up() {
    let bench = Bench::new();
    bench.write("cache/v1/tmp/1-2-3/package.so", "half");
    let long_ago = SystemTime::now() - Duration::from_secs(7200);
    bench.write("cache/v1/tmp/1-2-4", "half");
    for name in ["1-2-3", "1-2-4"] {
        let file = fs::File::open(bench.path("cache/v1/tmp").join(name)).unwrap();
        file.set_modified(long_ago).unwrap();
    }
    bench.write("cache/v1/tmp/1-2-5", "being written");
    get(&bench, 0, u64::MAX);
    let left = bench.files("tmp");
    assert!(left.len() == 1 && left[0].ends_with("1-2-5"), "{left:?}");
}
