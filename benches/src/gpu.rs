// SPDX-License-Identifier: Apache-2.0
//! Packages with a GPU kernel, as far as no GPU is needed: how long a build takes beside NVRTC
//! itself, how large the file is, and how long loading it takes. What calls cost is measured where
//! there is a GPU, by `scripts/gpu-test`.

use crate::ffi::time_load;
use crate::figure::{Figure, Target};
use crate::nvrtc::Bare;
use crate::series::{MIN_ROUNDS, Medians, interleave};
use crate::subject::build;
use crate::toolchain::output;
use anyhow::{Context, Result};
use kernpack_package::{WrittenPackage, package_file};
use std::ffi::CString;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// The most that a build of CUDA C++ may take beside NVRTC.
const NVRTC_RATIO: f64 = 1.3;
/// The most that a build of a cubin may take, in milliseconds.
const CUBIN_LIMIT: f64 = 8.0;
/// The most that the file may have beside its images, in units of 1,024 bytes.
const SIZE_LIMIT: f64 = 43.0;
/// The most that loading may take beside a library with nothing in it.
const LOAD_RATIO: f64 = 1.5;

const KERNEL: &str = r#"extern "C" __global__ void add_one(const float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = a[i] + 1;
}
"#;

/// All figures of packages for GPUs.
///
/// # Errors
/// Where there is no NVRTC or gcc, or a package is refused.
pub fn measure(folder: &Path) -> Result<Vec<Figure>> {
    fs::write(folder.join("add_one.cu"), KERNEL)?;
    let nvrtc = Bare::load()?;
    let text = CString::new(KERNEL)?;
    let compile = || nvrtc.compile(&text, c"--gpu-architecture=sm_90");
    let cubin = compile()?;
    fs::write(folder.join("add_one.cubin"), &cubin)?;
    let from_text = package(folder, "{ cuda = \"add_one.cu\", arch = [\"sm_90\"] }")?;
    let from_cubin = package(folder, "{ cubin = \"add_one.cubin\" }")?;
    let shared = build(&from_cubin)?;
    build(&from_text)?;
    let of_build = |package| move || milliseconds(|| build(package).map(drop));
    let of_nvrtc = || milliseconds(|| compile().map(drop));
    let builds = [
        Figure::measure("build, CUDA C++", "ms", Target::Ratio(NVRTC_RATIO), || {
            anyhow::Ok(interleave(MIN_ROUNDS, of_build(&from_text), of_nvrtc))
        })?,
        Figure::measure("build, a cubin (elapsed time)", "ms", Target::Most(CUBIN_LIMIT), || {
            anyhow::Ok(interleave(MIN_ROUNDS, of_build(&from_cubin), of_build(&from_cubin)))
        })?,
    ];
    let size = (shared.len() - cubin.len()) as f64 / 1024.0;
    let size = Figure {
        name: "size of the shared object beside its image, GPU".to_string(),
        unit: "KiB",
        medians: Medians { ours: size, reference: size, control: size },
        target: Target::Most(SIZE_LIMIT),
    };
    let load = measure_load(folder, &shared)?;
    Ok(builds.into_iter().chain([size, load]).collect())
}

/// A package of one function, with the kernel from that source.
fn package(folder: &Path, source: &str) -> Result<WrittenPackage> {
    let text = format!(
        "[package]\nname = \"add_one\"\n[[function]]\n\
         signature = \"add_one(a: Tensor([n], float32), b: Tensor([n], float32, mut))\"\n\
         source = {source}\nkernel = \"add_one\"\nargs = [\"a\", \"b\", \"n: int32\"]\n\
         launch = {{ grid = [\"ceildiv(n, 256)\"], block = [256] }}\n"
    );
    package_file::parse(&text, folder).map_err(|problems| anyhow::anyhow!("{problems}"))
}

/// Loading and unloading, against a library with one function that does nothing.
fn measure_load(folder: &Path, shared: &[u8]) -> Result<Figure> {
    let (ours, empty) = (folder.join("add_one.so"), folder.join("empty.so"));
    fs::write(&ours, shared).with_context(|| ours.display().to_string())?;
    let source = folder.join("empty.c");
    fs::write(&source, "int nothing(void) { return 0; }\n")?;
    let mut gcc = Command::new("gcc");
    output(gcc.args(["-O2", "-fPIC", "-shared", "-o"]).arg(&empty).arg(&source))?;
    Figure::measure("load and unload, GPU", "us", Target::Ratio(LOAD_RATIO), || {
        time_load(&ours)?;
        let load = |path: &Path| time_load(path).expect("it was loaded before");
        anyhow::Ok(interleave(MIN_ROUNDS, || load(&ours), || load(&empty)))
    })
}

fn milliseconds(run: impl Fn() -> Result<()>) -> f64 {
    let start = Instant::now();
    run().expect("it ran before");
    start.elapsed().as_secs_f64() * 1e3
}
