// SPDX-License-Identifier: Apache-2.0
//! Long runs of the compile cache: `cache kill 500` kills that many of the processes that want the
//! same, at random; `cache flip 200000` flips that many bits of what is kept; `cache time` tells
//! how long a hit takes. What the folder holds is never loaded if it is damaged, no lock outlives
//! its process, and the work gets done.
#![expect(clippy::print_stdout, reason = "a program reports to its reader")]

use clap::{Parser, Subcommand};
use kernpack_cache::{Artifact, Cache, Failure, Request, Silent};
use sha2::{Digest, Sha256};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, exit};
use std::time::{Duration, Instant};

/// How many processes want the same at once.
const N_AT_ONCE: usize = 8;
/// The longest that a process may live before it is killed, in microseconds.
const LIFE: u64 = 60_000;
/// How long the work may take where nobody is killed.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the command line says.
#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Kills that many processes.
    Kill { count: u64 },
    /// Flips that many bits.
    Flip { count: u64 },
    /// Tells how long a hit takes.
    Time,
    #[command(hide = true)]
    FlipHere { count: u64 },
    #[command(hide = true)]
    TimeHere,
    #[command(hide = true)]
    Work { number: u64 },
}

fn main() {
    match Options::parse().task {
        Task::Kill { count } => kill(count),
        Task::Flip { count } => in_new_cache(&["flip-here", &count.to_string()]),
        Task::Time => in_new_cache(&["time-here"]),
        Task::FlipHere { count } => flip(count),
        Task::TimeHere => time(),
        Task::Work { number } => work(number),
    }
}

/// A package of that number: a function that only checks, in many copies.
fn text(number: u64) -> String {
    let function = |at: u64| {
        format!(
            "[[function]]\nsignature = \"f{at}(x: Tensor([n], float32)) where n % {number} == 0\"\n"
        )
    };
    format!("[package]\nname = \"p\"\n{}", (0..8).map(function).collect::<String>())
}

fn request(number: u64) -> Request {
    Request::new("p.toml", text(number + 2), Path::new(""))
}

/// Takes the package of that number from the cache, and looks whether it is whole.
fn work(number: u64) {
    let got = Cache::from_env().get(&request(number), &Silent).expect("a good package");
    let bytes = fs::read(got.entry.path(Artifact::SharedObject)).expect("a file in use");
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, got.entry.digest(), "a damaged entry was handed out");
    assert!(got.entry.folder().is_some(), "the cache is used");
}

/// This program again, with these arguments and that cache.
fn start(arguments: &[&str], cache: &Path) -> Child {
    let own = std::env::current_exe().expect("this program");
    let mut command = Command::new(own);
    command.args(arguments).env("KERNPACK_CACHE_DIR", cache).env_remove("KERNPACK_CACHE");
    command.spawn().expect("this program runs")
}

/// A folder in memory, where there is one: a disk takes most of the time otherwise.
fn folder_in_memory() -> tempfile::TempDir {
    let in_memory = tempfile::tempdir_in("/dev/shm");
    in_memory.or_else(|_| tempfile::tempdir()).expect("a temporary folder")
}

fn in_new_cache(arguments: &[&str]) {
    let folder = folder_in_memory();
    let status = start(arguments, &folder.path().join("cache")).wait().expect("it was started");
    exit(status.code().unwrap_or(1));
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound.max(1)
    }
}

/// Kills so many processes, in rounds: in each, some want the same package, and all of them are
/// killed sooner or later; then one is left alone.
fn kill(n_wanted: u64) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let seed = RandomState::new().hash_one(0);
    println!("killing {n_wanted} processes, with seed {seed}");
    let (mut random, mut n_killed, mut n_rounds) = (Random(seed), 0, 0);
    while n_killed < n_wanted {
        let number = n_rounds.to_string();
        let mut children: Vec<_> =
            (0..N_AT_ONCE).map(|_| start(&["work", &number], folder.path())).collect();
        while let Some(mut child) = children.pop() {
            std::thread::sleep(Duration::from_micros(random.below(LIFE / N_AT_ONCE as u64)));
            child.kill().expect("it was started");
            let status = child.wait().expect("it was started");
            match status.code() {
                None => n_killed += 1,
                Some(0) => {}
                Some(code) => fail(&format!("a process ended with {code}")),
            }
        }
        expect_work(&number, folder.path());
        n_rounds += 1;
    }
    let mut verified = start(&["time-here"], folder.path());
    let status = verified.wait().expect("it was started");
    let left = count(&folder.path().join("v1/tmp"));
    println!("{n_killed} killed in {n_rounds} rounds, {left} drafts left to be swept up");
    exit(i32::from(!status.success()));
}

/// A process that is left alone does the work, soon.
fn expect_work(number: &str, cache: &Path) {
    let (start_time, mut child) = (Instant::now(), start(&["work", number], cache));
    loop {
        match child.try_wait().expect("it was started") {
            Some(status) if status.success() => return,
            Some(status) => fail(&format!("the last process ended with {status}")),
            None if start_time.elapsed() > PATIENCE => fail("a lock has outlived its process"),
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn fail(message: &str) -> ! {
    println!("{message}");
    exit(1);
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// Flips so many bits, one at a time, of all that is read before a package is loaded. Each is
/// found: what would be loaded is compiled again, or is whole.
fn flip(n_flips: u64) {
    let cache = Cache::from_env();
    let right = cache.get(&request(0), &Silent).expect("a good package");
    let (digest, root) = (right.entry.digest().to_string(), cache.folders()[0].join("v1"));
    drop(right);
    let keeps = |path: &PathBuf| {
        let is_read = ["package.so", "manifest.json"].iter().any(|name| path.ends_with(name));
        is_read || path.starts_with(root.join("requests"))
    };
    let paths: Vec<_> = files(&root).into_iter().filter(keeps).collect();
    let good: Vec<_> = paths.iter().map(|path| fs::read(path).expect("readable")).collect();
    let seed = RandomState::new().hash_one(0);
    println!("flipping {n_flips} bits of {} files, with seed {seed}", paths.len());
    let mut random = Random(seed);
    for n in 0..n_flips {
        let at = random.below(paths.len() as u64) as usize;
        let mut bytes = good[at].clone();
        let bit = random.below(8 * bytes.len() as u64) as usize;
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&paths[at], bytes).expect("writable");
        let got = cache.get(&request(0), &Cancelled);
        match got {
            Err(Failure::Cancelled) => {}
            Ok(got) => fail(&format!("flip {n}: {} was handed out", got.entry.digest())),
            Err(error) => fail(&format!("flip {n}: {error}")),
        }
        // What was set aside goes, and what was there comes back.
        let _ = fs::remove_dir_all(root.join("damaged"));
        for (path, bytes) in paths.iter().zip(&good) {
            fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
            fs::write(path, bytes).expect("writable");
        }
    }
    let got = cache.get(&request(0), &Silent).expect("a good package");
    println!("{n_flips} flipped bits were found, and {} is a hit: {}", digest, got.is_hit);
    exit(i32::from(!(got.is_hit && got.entry.digest() == digest)));
}

/// Gives up where something would have to be compiled.
struct Cancelled;

impl kernpack_cache::Observer for Cancelled {
    fn is_cancelled(&self) -> bool {
        true
    }
}

/// Tells how long a hit takes, and verifies the cache.
fn time() {
    let cache = Cache::from_env();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let include: String = (0..50).map(|n| format!("#include \"h{n}.h\"\n")).collect();
    fs::write(folder.path().join("f.c"), format!("{include}void f(float *x) {{ *x = 1; }}\n"))
        .expect("writable");
    for n in 0..50 {
        fs::write(folder.path().join(format!("h{n}.h")), "\n").expect("writable");
    }
    let text = "[package]\nname = \"p\"\n[[function]]\nsignature = \"f(x: Tensor([n], float32, mut))\"\nsource = { host = \"f.c\", include = [\"a\", \"b\"] }\nkernel = \"f\"\nargs = [\"x\"]\n";
    let request = Request::new("p.toml", text, folder.path());
    let got = cache.get(&request, &Silent).expect("a good package");
    assert!(!got.is_hit);
    // What was changed a moment ago is read again.
    std::thread::sleep(Duration::from_secs(4));
    let mut times = Vec::new();
    for _ in 0..1000 {
        let start = Instant::now();
        let got = cache.get(&request, &Silent).expect("a good package");
        times.push(start.elapsed());
        assert!(got.is_hit, "it is there");
    }
    times.sort();
    println!("a hit of a C file with 50 headers takes {:?}, at most {:?}", times[500], times[999]);
    let verified = cache.verify();
    println!("{} entries and records are whole", verified.n_good);
    if !verified.damaged.is_empty() {
        fail(&verified.damaged.join("\n"));
    }
}
