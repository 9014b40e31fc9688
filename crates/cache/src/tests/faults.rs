// SPDX-License-Identifier: Apache-2.0
//! Every operation on files made to fail in turn: the answer is right, and what is on the disk is
//! not damaged.

use super::bench::{Bench, CHECKS, expect_loadable};
use crate::disk::fault;
use crate::request::digest;
use crate::store::Store;
use rustix::io::Errno;
use std::fs;

const ERRORS: [Errno; 4] = [Errno::IO, Errno::NOSPC, Errno::ROFS, Errno::ACCESS];

/// Every entry and record under its last name is whole.
fn expect_sound(bench: &Bench) {
    for path in bench.files("requests") {
        let bytes = fs::read(&path).unwrap();
        assert_eq!(digest(&bytes), path.file_name().unwrap().to_str().unwrap());
    }
    let verified = bench.cache().verify();
    assert_eq!(verified.damaged, [""; 0]);
}

/// Asks with the n-th operation failing, until there are no more; `prepare` comes before each.
fn fail_each(forever: bool, error: Errno, prepare: impl Fn(&Bench)) -> usize {
    for n in 0.. {
        let bench = Bench::new();
        prepare(&bench);
        let asked = || bench.get(CHECKS).unwrap();
        let (got, n_failed) = fault::during(n, error.raw_os_error(), forever, asked);
        expect_loadable(&got);
        drop(got);
        expect_sound(&bench);
        let again = bench.get(CHECKS).unwrap();
        expect_loadable(&again);
        if n_failed == 0 {
            return n;
        }
    }
    unreachable!("operations come to an end")
}

#[test]
fn a_cache_that_must_not_be_looked_into_is_told() {
    let bench = Bench::new();
    bench.get(CHECKS).unwrap();
    let requests = bench.files("requests");
    let folder = requests[0].parent().unwrap();
    let store = Store::own(&bench.path("cache")).unwrap();
    assert_eq!(store.verify_records(folder).0, 1);
    let list = || store.verify_records(folder);
    let ((n_records, remarks), _) = fault::during(0, Errno::ACCESS.raw_os_error(), false, list);
    assert_eq!((n_records, remarks.len()), (0, 1));
    let told = remarks[0].diagnostic.to_string();
    assert!(told.contains("is not used: Permission denied"), "{told}");
}

#[test]
fn a_first_request_survives_any_failure() {
    for error in ERRORS {
        let n = fail_each(false, error, |_| {});
        assert!(n > 20, "{n}");
    }
    fail_each(true, Errno::NOSPC, |_| {});
}

#[test]
fn a_hit_survives_any_failure() {
    for error in ERRORS {
        let n = fail_each(false, error, |bench| drop(bench.get(CHECKS).unwrap()));
        assert!(n > 8, "{n}");
    }
    fail_each(true, Errno::ROFS, |bench| drop(bench.get(CHECKS).unwrap()));
}

#[test]
fn a_damaged_entry_is_replaced_whatever_fails() {
    let damage = |bench: &Bench| {
        let got = bench.get(CHECKS).unwrap();
        fs::write(got.entry.folder().unwrap().join("package.so"), "no ELF").unwrap();
    };
    for n in 0.. {
        let bench = Bench::new();
        damage(&bench);
        let asked = || bench.get(CHECKS).unwrap();
        let (got, n_failed) = fault::during(n, Errno::IO.raw_os_error(), false, asked);
        expect_loadable(&got);
        drop(got);
        expect_loadable(&bench.get(CHECKS).unwrap());
        expect_sound(&bench);
        if n_failed == 0 {
            break;
        }
    }
}

#[test]
fn a_full_disk_is_told_once() {
    let bench = Bench::new();
    bench.get(CHECKS).unwrap();
    let n_entries = bench.files("entries").len();
    let other = CHECKS.replace("% 8", "% 4");
    // From the draft of the entry on, nothing can be written.
    let mut told = Vec::new();
    for n in 0..30 {
        let full = Errno::NOSPC.raw_os_error();
        let (got, _) = fault::during(n, full, true, || bench.get(&other).unwrap());
        expect_loadable(&got);
        told.extend(super::bench::told(&got));
        if got.entry.folder().is_some() {
            break;
        }
    }
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("No space left on device"), "{told:?}");
    assert!(bench.files("entries").len() >= n_entries);
}
