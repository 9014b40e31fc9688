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
//! kernels show --seed 7              the kernel of a seed
//! ```
//!
//! Kernel by kernel the seed is one more. With `--of schedules`, all of these take random schedules
//! of products of matrices in place of random kernels.
#![expect(clippy::print_stdout, reason = "a program reports to its reader")]

use clap::{Parser, Subcommand, ValueEnum};
use kernpack_tests::gpu_proof::image::arch;
use kernpack_tests::gpu_proof::record::record;
use kernpack_tests::gpu_proof::schedules::{self, Schedule};
use kernpack_tests::gpu_proof::{Case, arrays, generated, operations, rows, soak};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// After how many failures it ends.
const SHOWN: usize = 5;

/// What the command line says.
#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    task: Task,
    /// The first seed; one is drawn.
    #[arg(long, global = true)]
    seed: Option<u64>,
    /// What is drawn.
    #[arg(long, global = true, value_enum, default_value_t = Of::Kernels)]
    of: Of,
}

#[derive(Clone, Copy, ValueEnum)]
enum Of {
    /// Random kernels.
    Kernels,
    /// Products of matrices, whose roles, stages and waits are random.
    Schedules,
}

impl Of {
    /// The text of a seed.
    fn text(self, seed: u64) -> Result<String, String> {
        match self {
            Of::Kernels => Ok(generated::case(seed)?.kernel.to_string()),
            Of::Schedules => Ok(Schedule::draw(seed).text()),
        }
    }

    fn read(self, seed: u64) -> Result<(), String> {
        match self {
            Of::Kernels => soak::read(seed),
            Of::Schedules => schedules::read(seed),
        }
    }

    fn case(self, seed: u64) -> Result<Case, String> {
        match self {
            Of::Kernels => generated::case(seed),
            Of::Schedules => schedules::case(seed),
        }
    }

    /// What is recorded beside those of seeds.
    fn others(self) -> Vec<Case> {
        match self {
            Of::Kernels => [operations::all(), rows::all(), arrays::all()].concat(),
            Of::Schedules => vec![],
        }
    }
}

#[derive(Subcommand)]
enum Task {
    /// Everything here that reads kernels.
    Soak {
        /// The most kernels.
        #[arg(long, default_value_t = u64::MAX)]
        count: u64,
        /// The most minutes.
        #[arg(long, default_value_t = 60 * 24)]
        minutes: u64,
    },
    /// For a GPU.
    Record {
        /// Where they are put.
        folder: PathBuf,
        /// How many random kernels.
        #[arg(long, default_value_t = 2000)]
        count: u64,
        /// What they are compiled for.
        #[arg(long, default_value = "sm_90")]
        arch: String,
    },
    /// The kernel of the first seed.
    Show,
}

fn main() {
    let Options { task, seed, of } = Options::parse();
    let seed = seed.unwrap_or_else(|| RandomState::new().hash_one(0) >> 16);
    let is_right = match task {
        Task::Soak { count, minutes } => soak_kernels(of, seed, count, minutes),
        Task::Record { folder, count, arch } => record_kernels(of, seed, count, &arch, &folder),
        Task::Show => show_kernel(of, seed),
    };
    std::process::exit(i32::from(!is_right));
}

fn show_kernel(of: Of, seed: u64) -> bool {
    let text = of.text(seed);
    match &text {
        Ok(text) | Err(text) => println!("{text}"),
    }
    text.is_ok()
}

fn soak_kernels(of: Of, seed: u64, count: u64, minutes: u64) -> bool {
    let end = Instant::now() + Duration::from_secs(60 * minutes);
    println!("kernels of the seeds from {seed}");
    let (mut n_read, mut n_wrong) = (0, 0);
    while n_read < count && Instant::now() < end && n_wrong < SHOWN {
        if let Err(failure) = of.read(seed.wrapping_add(n_read)) {
            println!("{failure}\n");
            n_wrong += 1;
        }
        n_read += 1;
    }
    println!("{n_read} kernels, {n_wrong} of them wrong");
    n_wrong == 0
}

fn record_kernels(of: Of, seed: u64, count: u64, arch_name: &str, folder: &Path) -> bool {
    let arch = arch(arch_name);
    let mut cases = of.others();
    let n_operations = cases.len();
    for seed in seed..seed + count {
        match of.case(seed) {
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
