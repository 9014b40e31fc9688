// SPDX-License-Identifier: Apache-2.0
//! Random kernels, and kernels of single operations, held against one another.
//!
//! ```text
//! kernels soak --minutes 10          everything here that reads kernels, from a seed that is drawn
//! kernels soak --seed 7 --count 1    again
//! kernels record FOLDER              for tests/gpu/replay_kernels.py, which needs a GPU
//!     [--count 2000]                   that many random kernels, beside those of single operations
//!     [--seed 7]                       from that seed on; else one is drawn
//!     [--arch sm_90]                   what they are compiled for
//! ```
//!
//! Kernel by kernel the seed is one more.
#![expect(clippy::print_stdout, reason = "a program reports to its reader")]

use kernpack_tests::gpu_proof::image::arch;
use kernpack_tests::gpu_proof::record::record;
use kernpack_tests::gpu_proof::{generated, operations, rows, soak};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::time::{Duration, Instant};

/// How many failures are shown.
const SHOWN: usize = 5;
/// How many random kernels are recorded where nobody says.
const N_RECORDED: u64 = 2000;
const USAGE: &str =
    "usage: kernels soak|record FOLDER [--count N] [--seed S] [--minutes M] [--arch A]";

/// What the command line says.
struct Arguments {
    words: Vec<String>,
    options: Vec<(String, String)>,
}

impl Arguments {
    fn read() -> Arguments {
        let (mut words, mut options) = (vec![], vec![]);
        let mut given = std::env::args().skip(1);
        while let Some(word) = given.next() {
            match word.strip_prefix("--") {
                Some(name) => options.push((name.to_string(), given.next().expect(USAGE))),
                None => words.push(word),
            }
        }
        Arguments { words, options }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(option, _)| option == name).map(|(_, text)| text.as_str())
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.text(name).map(|text| text.parse().expect("an option has a number"))
    }

    /// The seed: the one that is given, or one that is drawn.
    fn seed(&self) -> u64 {
        self.number("seed").unwrap_or_else(|| RandomState::new().hash_one(0) >> 16)
    }
}

fn main() {
    let arguments = Arguments::read();
    let words: Vec<_> = arguments.words.iter().map(String::as_str).collect();
    let is_right = match words[..] {
        ["soak"] => soak_kernels(&arguments),
        ["record", folder] => record_kernels(&arguments, Path::new(folder)),
        _ => panic!("{USAGE}"),
    };
    std::process::exit(i32::from(!is_right));
}

fn soak_kernels(arguments: &Arguments) -> bool {
    let seed = arguments.seed();
    let count = arguments.number("count").unwrap_or(u64::MAX);
    let minutes = arguments.number("minutes").unwrap_or(60 * 24);
    let end = Instant::now() + Duration::from_secs(60 * minutes);
    println!("kernels of the seeds from {seed}");
    let (mut n_read, mut failures) = (0, vec![]);
    while n_read < count && Instant::now() < end && failures.len() < SHOWN {
        failures.extend(soak::read(seed.wrapping_add(n_read)).err());
        n_read += 1;
    }
    failures.iter().for_each(|failure| println!("{failure}\n"));
    println!("{n_read} kernels, {} of them wrong", failures.len());
    failures.is_empty()
}

fn record_kernels(arguments: &Arguments, folder: &Path) -> bool {
    let seed = arguments.seed();
    let count = arguments.number("count").unwrap_or(N_RECORDED);
    let arch = arch(arguments.text("arch").unwrap_or("sm_90"));
    let mut cases = operations::all();
    cases.extend(rows::all());
    let n_operations = cases.len();
    for seed in seed..seed + count {
        match generated::case(seed) {
            Ok(case) => cases.push(case),
            Err(problem) => {
                println!("seed {seed}: {problem}");
                return false;
            }
        }
    }
    println!("{n_operations} kernels of operations, {count} of the seeds from {seed}, for {arch}");
    match record(&cases, arch, folder) {
        Ok(()) => true,
        Err(problem) => {
            println!("{problem}");
            false
        }
    }
}
