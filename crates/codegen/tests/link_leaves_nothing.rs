// SPDX-License-Identifier: Apache-2.0
//! A thousand links leave nothing behind in the process. Alone in its file, because it counts
//! what the process holds.

mod toolchain;

use std::time::{Duration, Instant};
use std::{fs, thread};

use kernpack_codegen::link::{Input, SharedOptions, link_shared, localise, merge};
use kernpack_package::target::ElfTarget;

/// Counts that could pile up, and the signals that are caught.
#[derive(Debug, PartialEq)]
struct Held {
    descriptors: usize,
    threads: usize,
    signals_caught: String,
    temporary_files: usize,
}

impl Held {
    fn now() -> Held {
        let count = |folder: &str| fs::read_dir(folder).unwrap().count();
        let temporary = fs::read_dir(std::env::temp_dir()).unwrap();
        let ours = |name: String| name.contains("kernpack-link");
        Held {
            descriptors: count("/proc/self/fd"),
            threads: count("/proc/self/task"),
            signals_caught: status("SigCgt:"),
            temporary_files: temporary
                .filter(|entry| ours(entry.as_ref().unwrap().file_name().into_string().unwrap()))
                .count(),
        }
    }

    /// The counts as soon as they are `expected`, or after a second: the last link's thread may
    /// take a moment to end.
    fn once_as(expected: &Held) -> Held {
        let deadline = Instant::now() + Duration::from_secs(1);
        while Held::now() != *expected && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        Held::now()
    }
}

/// A line of the process's status.
fn status(key: &str) -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    status.lines().find_map(|line| line.strip_prefix(key)).unwrap().trim().to_owned()
}

fn resident_kilobytes() -> u64 {
    status("VmRSS:").trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_thousand_links_leave_nothing() {
    let object =
        toolchain::c("int helper(void) { return 1; } int entry(void) { return helper(); }");
    let options = SharedOptions { needed: vec!["libdl.so.2".into()], ..SharedOptions::default() };
    let link = || {
        let merged = merge(ElfTarget::X86_64, &[Input { name: "a.o", bytes: &object }]).unwrap();
        let local = localise(&merged, &|name| name == "entry", &[]).unwrap();
        link_shared(ElfTarget::X86_64, &local, &options).unwrap();
        merge(ElfTarget::X86_64, &[Input { name: "text", bytes: b"text" }]).unwrap_err();
    };
    let before = Held::now();
    (0..100).for_each(|_| link());
    let resident = resident_kilobytes();
    (0..900).for_each(|_| link());
    assert_eq!(Held::once_as(&before), before);
    let grown = resident_kilobytes().saturating_sub(resident);
    assert!(grown < 8 << 10, "{grown} kB more than after 100 links");
}
