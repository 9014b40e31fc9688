// SPDX-License-Identifier: Apache-2.0
//! Builds in process, from signature to shared object, with a kernel that is compiled already: how
//! long, how large, and how they grow.

use crate::figure::{Figure, Target};
use crate::series::{MIN_ROUNDS, Medians, interleave, median};
use crate::subject::{Subject, build};
use crate::toolchain;
use anyhow::Result;
use kernpack_package::Package;
use rustix::time::{ClockId, clock_gettime};
use std::path::Path;
use std::time::Instant;

/// The most that a build of one function may take, in milliseconds.
fn limit(subject: Subject) -> f64 {
    match subject {
        Subject::AddOne => 8.0,
        Subject::Blend => 30.0,
    }
}

/// The most that a build may take of gcc's time for the same functions in C.
const GCC_RATIO: f64 = 0.1;
/// A compilation by gcc takes most of a second.
const N_GCC_ROUNDS: usize = 11;

/// The most that the shared object of `add_one` may have, in units of 1,024 bytes.
const SIZE_LIMIT: f64 = 24.0;

/// Functions in the packages whose growth is measured; the first is the reference.
const PACKAGE_SIZES: [usize; 4] = [125, 250, 500, 1000];
/// A function of a large package may cost that many times what one of the smallest does: more is no
/// longer linear.
const GROWTH_LIMIT: f64 = 1.25;
/// These builds take seconds each, so few rounds are as long as many elsewhere.
const N_GROWTH_ROUNDS: usize = 5;

/// All figures of builds.
///
/// # Errors
/// Where a package is refused.
pub fn measure(kernels: &Path) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for subject in Subject::ALL {
        let package = subject.package(kernels);
        build(&package)?;
        for (clock, name) in [(Clock::Wall, "elapsed"), (Clock::Thread, "processor")] {
            let name = format!("build, {} ({name} time)", subject.title());
            figures.push(Figure::measure(name, "ms", Target::Most(limit(subject)), || {
                let sample = || clock.time(&package);
                anyhow::Ok(interleave(MIN_ROUNDS, sample, sample))
            })?);
        }
    }
    figures.push(measure_gcc(kernels)?);
    let size = build(&Subject::AddOne.package(kernels))?.len() as f64 / 1024.0;
    figures.push(Figure {
        name: "size of the shared object, 2 tensors".to_string(),
        unit: "KiB",
        medians: Medians { ours: size, reference: size, control: size },
        target: Target::Most(SIZE_LIMIT),
    });
    figures.extend(measure_growth(kernels));
    Ok(figures)
}

/// A build of all functions, and of `reference.c`, which has them in C: whatever the machine does
/// at the time, it does to both.
fn measure_gcc(kernels: &Path) -> Result<Figure> {
    let (tvm_ffi, package) = (toolchain::tvm_ffi()?, Subject::package_of_all(kernels));
    let shared = kernels.with_file_name("reference-again.so");
    toolchain::compile_reference(&tvm_ffi, kernels, &shared)?;
    let by_gcc = || {
        let start = Instant::now();
        toolchain::compile_reference(&tvm_ffi, kernels, &shared).expect("it was built before");
        start.elapsed().as_secs_f64() * 1e3
    };
    let name = "build, both, beside gcc's of the same in C (elapsed time)";
    Figure::measure(name, "ms", Target::Ratio(GCC_RATIO), || {
        Ok(interleave(N_GCC_ROUNDS, || Clock::Wall.time(&package), by_gcc))
    })
}

/// The cost of a function in packages of several sizes, all measured in the same rounds.
fn measure_growth(kernels: &Path) -> Vec<Figure> {
    let packages = PACKAGE_SIZES.map(|n_functions| large_package(n_functions, kernels));
    let mut samples = [const { Vec::new() }; PACKAGE_SIZES.len()];
    let mut control = Vec::new();
    let sample = |package: &Package| Clock::Thread.time(package) / package.functions.len() as f64;
    for _ in 0..N_GROWTH_ROUNDS {
        for (package, samples) in packages.iter().zip(&mut samples) {
            samples.push(sample(package));
        }
        control.push(sample(&packages[0]));
    }
    let control = median(control);
    let [reference, larger @ ..] = samples.map(median);
    let figure = |(ours, n_functions): (f64, usize)| Figure {
        name: format!(
            "build, a function of {n_functions} against one of {} (processor time)",
            PACKAGE_SIZES[0]
        ),
        unit: "ms",
        medians: Medians { ours, reference, control },
        target: Target::Ratio(GROWTH_LIMIT),
    };
    larger.into_iter().zip(PACKAGE_SIZES.into_iter().skip(1)).map(figure).collect()
}

fn large_package(n_functions: usize, kernels: &Path) -> Package {
    let function = |i| Subject::AddOne.function(&format!("add_one_{i}"), kernels);
    let functions = (0..n_functions).map(function).collect();
    Package::new("large", functions)
}

/// How long packages around an object take, one after the other, in milliseconds.
///
/// # Errors
/// Where the object is refused.
pub fn around(object: &Path) -> Result<Vec<f64>> {
    const N_BUILDS: usize = 12;
    let package = Package::new("add_one", vec![Subject::AddOne.function("add_one", object)]);
    let timed = |_| {
        let start = Instant::now();
        build(&package).map(|_| start.elapsed().as_secs_f64() * 1e3)
    };
    (0..N_BUILDS).map(timed).collect()
}

/// The clock that time is taken from.
#[derive(Clone, Copy)]
enum Clock {
    /// The clock on the wall, as users have it.
    Wall,
    /// The time that this thread had of a processor: what the wall clock shows on a machine with
    /// nothing else to do.
    Thread,
}

impl Clock {
    /// Milliseconds of a build.
    fn time(self, package: &Package) -> f64 {
        let (start, busy) = (Instant::now(), thread_milliseconds());
        build(package).expect("it was built before");
        match self {
            Clock::Wall => start.elapsed().as_secs_f64() * 1e3,
            Clock::Thread => thread_milliseconds() - busy,
        }
    }
}

/// The time that this thread has had of a processor.
pub(crate) fn thread_milliseconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}
