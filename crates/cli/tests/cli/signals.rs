// SPDX-License-Identifier: Apache-2.0
//! Builds that are told to end leave nothing: no files, no folders, no compiler that runs on.

use crate::bench::{Bench, CHECKS, KERNPACK, ONE};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A compiler that never ends: it says which process is waiting, and leaves a file where it is to
/// write.
const ENDLESS: &str = "while [ \"$1\" != -o ]; do shift; done
: > \"$2.part\"
sleep 100 &
echo $! > waiting.new && mv waiting.new waiting
wait
";

/// A package whose C file is never compiled, and a folder for temporary files.
fn endless() -> Bench {
    let bench = Bench::with("one.toml", ONE).and("one.c", "").and_program("cc", ENDLESS);
    std::fs::create_dir(bench.path("tmp")).expect("a writable folder");
    bench
}

/// Starts its build, by a program that goes before. The tests themselves may run where a shell has
/// signals ignored, as it does for what it starts in the background.
fn start(bench: &Bench, program: &str, args: &[&str]) -> Child {
    let mut command = bench.command("env");
    command.args(["--default-signal=INT,TERM,HUP", program]);
    command.args(args).env("CC", "./cc").env("TMPDIR", bench.path("tmp"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs")
}

/// Waits until something is so.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn pid(file: &Path) -> Pid {
    let text = std::fs::read_to_string(file).expect("the compiler wrote it");
    Pid::from_raw(text.trim().parse().expect("a number")).expect("a process")
}

#[test]
fn a_build_that_waits_for_the_compiler() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let bench = endless();
        let mut build = start(&bench, KERNPACK, &["build", "one.toml", "-o", "one.so"]);
        wait_until("the compiler starts", || bench.path("waiting").exists());
        assert_eq!(bench.names("tmp").len(), 1, "it writes into a temporary folder");
        kill_process(Pid::from_child(&build), signal).expect("it runs");
        let status = build.wait().expect("it was started");
        assert_eq!(status.signal(), Some(signal.as_raw()), "{status}");
        assert!(bench.names("tmp").is_empty(), "{:?}", bench.names("tmp"));
        let waiting = pid(&bench.path("waiting"));
        wait_until("what the compiler started ends", || test_kill_process(waiting).is_err());
    }
}

/// Nobody reads the dependency file, so that the build stops while its other files wait for their
/// names.
#[test]
fn a_build_that_writes() {
    let bench = Bench::with("checks.toml", CHECKS).and("a.h", "the old header");
    assert!(bench.command("mkfifo").arg("a.d").status().expect("it runs").success());
    let args = ["build", "checks.toml", "-o", "a.h", "-o", "a.so", "--depfile", "a.d"];
    let mut build = start(&bench, KERNPACK, &args);
    let is_staged = |name: &String| name.starts_with(".kernpack-");
    let n_staged = || bench.names(".").iter().filter(|name| is_staged(name)).count();
    wait_until("both files are there", || n_staged() == 2);
    kill_process(Pid::from_child(&build), Signal::TERM).expect("it runs");
    let status = build.wait().expect("it was started");
    assert_eq!(status.signal(), Some(Signal::TERM.as_raw()), "{status}");
    assert_eq!(bench.names("."), ["a.d", "a.h", "checks.toml"]);
    assert_eq!(std::fs::read(bench.path("a.h")).expect("it is still there"), b"the old header");
}

#[test]
fn a_signal_that_is_ignored_stays_so() {
    let bench = endless();
    let line = format!("trap '' HUP; exec {KERNPACK} build one.toml -o one.so");
    let mut build = start(&bench, "sh", &["-c", &line]);
    wait_until("the compiler starts", || bench.path("waiting").exists());
    kill_process(Pid::from_child(&build), Signal::HUP).expect("it runs");
    std::thread::sleep(Duration::from_millis(200));
    assert!(build.try_wait().expect("it was started").is_none(), "it ended");
    // The compiler ends without an object.
    kill_process(pid(&bench.path("waiting")), Signal::TERM).expect("it runs");
    assert_eq!(build.wait().expect("it was started").code(), Some(1));
}
