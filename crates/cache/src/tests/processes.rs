// SPDX-License-Identifier: Apache-2.0
//! Threads and processes that want the same at once.

use super::bench::{Bench, Count, SCALE, expect_loadable};
use crate::{Cache, Observer, Request};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn of_sixteen_threads_one_compiles() {
    let bench = Bench::new();
    let (count, barrier) = (Count::default(), Barrier::new(16));
    let cache = bench.cache();
    let ask = || {
        barrier.wait();
        let got = cache.get(&bench.request(SCALE), &count).unwrap();
        expect_loadable(&got);
        usize::from(got.is_hit)
    };
    let n_hits: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!((count.n_compiled(), n_hits), (1, 15));
}

/// A line of its own, whatever the test's runner has written before.
pub fn say(word: &str) {
    let mut output = std::io::stdout();
    write!(output, "\n{word}\n").unwrap();
    output.flush().unwrap();
}

/// A process of the tests below: says `compiled` or `found`, and perhaps stays while it compiles.
#[test]
#[ignore = "a part of other tests"]
fn worker() {
    struct Slow;
    impl Observer for Slow {
        fn compiling(&self) {
            say("compiling");
            let text = std::env::var("KERNPACK_TEST_SLEEP").unwrap_or_default();
            thread::sleep(Duration::from_millis(text.parse().unwrap_or(0)));
        }
    }
    let Some(folder) = std::env::var_os("KERNPACK_TEST_FOLDER") else { return };
    let request = Request::new("demo.toml", SCALE, Path::new(&folder));
    let got = Cache::from_env().get(&request, &Slow).unwrap();
    expect_loadable(&got);
    say(if got.is_hit { "found" } else { "compiled" });
}

fn start(bench: &Bench, sleep: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tests::processes::worker", "--ignored", "--nocapture"])
        .env("KERNPACK_TEST_FOLDER", bench.path("pkg"))
        .env("KERNPACK_TEST_SLEEP", sleep.to_string())
        .env("KERNPACK_CACHE_DIR", bench.path("cache"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until a process compiles.
fn wait_for_compile(child: &mut Child) {
    use std::io::{BufRead, BufReader};
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "compiling"));
}

#[test]
fn of_eight_processes_one_compiles() {
    let bench = Bench::new();
    let children: Vec<_> = (0..8).map(|_| start(&bench, 200)).collect();
    let said: Vec<_> = children
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success());
            String::from_utf8(output.stdout).unwrap()
        })
        .collect();
    let count = |word: &str| said.iter().filter(|text| text.lines().any(|l| l == word)).count();
    assert_eq!((count("compiled"), count("found")), (1, 7), "{said:?}");
}

#[derive(Debug, Default)]
struct Waiting {
    pid: AtomicU32,
    gives_up: bool,
}

impl Observer for Waiting {
    fn waiting(&self, pid: u32) {
        self.pid.store(pid, Ordering::Relaxed);
    }
    fn is_cancelled(&self) -> bool {
        self.gives_up
    }
}

#[test]
fn who_waits_is_told_for_whom_and_a_killed_process_holds_nothing() {
    let bench = Bench::new();
    let mut child = start(&bench, 60_000);
    wait_for_compile(&mut child);
    let cancelled = Waiting { gives_up: true, ..Waiting::default() };
    let refused = bench.cache().get(&bench.request(SCALE), &cancelled);
    assert!(matches!(refused, Err(crate::Failure::Cancelled)));
    assert_eq!(cancelled.pid.load(Ordering::Relaxed), child.id());
    let waiting = Waiting::default();
    let start = Instant::now();
    thread::scope(|scope| {
        let asked = scope.spawn(|| bench.cache().get(&bench.request(SCALE), &waiting).unwrap());
        while waiting.pid.load(Ordering::Relaxed) != child.id() {
            assert!(start.elapsed() < Duration::from_secs(50), "it does not wait");
            thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let got = asked.join().unwrap();
        assert!(!got.is_hit);
        expect_loadable(&got);
    });
    assert!(start.elapsed() < Duration::from_secs(50), "the lock went with its process");
}
