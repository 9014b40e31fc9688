// SPDX-License-Identifier: Apache-2.0
//! The answer where there is none yet: the package file is read and compiled.

use crate::failure::Failure;
use crate::manifest::{Files, Manifest};
use crate::record::{Compilers, Done, Record};
use crate::request::{Request, Wanted, digest};
use crate::warning::{Stored, name_held};
use kernpack_compiler::{CompileError, Compiled, Options, check_rest, compile};
use kernpack_package::package_file::Reading;
use kernpack_package::{GpuSource, Launch, Site};
use kernpack_package::{InputFile, WrittenLaunch, WrittenPackage};
use kernpack_syntax::{Diagnostic, Placed, Texts, Told};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// The outcome of a compilation.
#[derive(Debug)]
pub(crate) struct Made {
    pub files: Files,
    pub manifest: Manifest,
    pub record: Record,
    /// Whether the next one will be the same: the files that were read are still those that were
    /// compiled, and nothing is told of this machine.
    pub is_settled: bool,
}

/// Reads and compiles what is asked for.
pub(crate) fn make(request: &Request, compilers: &Compilers) -> Result<Made, Failure> {
    let start = SystemTime::now();
    let mut texts = Texts::default();
    let held = request.held.below(&request.base);
    let options = Options { target: request.target, is_shared: true, held: &held };
    let read = tracing::info_span!("read").entered();
    let mut reading = request.package_text().read(&mut texts, &held);
    let kept = kept(&reading);
    request.settle_code(&mut reading);
    overrule(request, &mut reading, compilers)?;
    drop(read);
    let mut told = Told::of(&request.name, texts);
    if let Wanted::Archs(_) = request.archs {
        told = told.and(kept.clone());
    }
    if reading.problems.has_errors() {
        return Err(failure(request, told, check_rest(reading, &options).into()));
    }
    // The compilers as they are now, and not as they are once it is done.
    let _ = has_c(&reading.package).then(|| compilers.c());
    let _ = has_cuda(&reading.package).then(|| compilers.nvrtc());
    let _ = has_machine_code(&reading.package).then(|| (compilers.nvjitlink(), compilers.ptxas()));
    let compiled = match compile(&reading.package, &options) {
        Ok(compiled) => compiled,
        Err(error) => return Err(failure(request, told, error)),
    };
    let shared = match compiled.shared_object() {
        Ok(shared) => shared,
        Err(error) => return Err(failure(request, told.and(compiled.warnings.clone()), error)),
    };
    let warnings = compiled.warnings.iter().chain(&shared.warnings);
    let stored = |warning: &Diagnostic| Stored::of(warning, &told.texts, request);
    let warnings = warnings.map(stored).collect();
    let kept = kept.iter().map(stored).collect();
    // A library that a machine lacks may be there the next time, and no file says so.
    let is_settled = shared.warnings.iter().all(|warning| warning.code != "missing-library")
        && !compiled.is_partial
        && !compiled.inputs.iter().any(|file| changed_since(file, start));
    let package = &reading.package;
    let parts = Parts { package, compiled, shared: shared.bytes, warnings, kept };
    Ok(parts.made(request, compilers, is_settled))
}

/// The parts of an outcome.
struct Parts<'p> {
    package: &'p WrittenPackage,
    compiled: Compiled,
    shared: Vec<u8>,
    warnings: Vec<Stored>,
    kept: Vec<Stored>,
}

impl Parts<'_> {
    fn made(self, request: &Request, compilers: &Compilers, is_settled: bool) -> Made {
        let Parts { package, compiled, shared, warnings, kept } = self;
        let Compiled { object, header, stubs, rust, inputs, missed, is_local, cuda, .. } = compiled;
        let files = [shared, object, header.into_bytes(), stubs.into_bytes(), rust.into_bytes()];
        let mut archs: Vec<String> = Vec::new();
        for arch in cuda.iter().flat_map(|code| &code.archs).map(ToString::to_string) {
            if !archs.contains(&arch) {
                archs.push(arch);
            }
        }
        let manifest = Manifest::of(&package.name, functions(package), archs, &files);
        let done = Done {
            entry: digest(&manifest.encode()),
            package: &package.name,
            kind: request.archs.kind(),
            cuda: &cuda,
            inputs: &inputs,
            missed: &missed,
            is_local,
            compilers,
            has_c: has_c(package),
            warnings,
            kept,
        };
        let record = Record::of(done, &request.base);
        Made { files, manifest, record, is_settled }
    }
}

/// The names of the functions that a package describes.
pub(crate) fn functions(package: &WrittenPackage) -> Vec<String> {
    package.functions.iter().map(|function| function.signature.name.clone()).collect()
}

/// Has CUDA C++ and kernels compiled for what is wanted. Without their assembler, kernels for
/// devices stay what they are: PTX, which drivers compile.
fn overrule(
    request: &Request,
    reading: &mut Reading,
    compilers: &Compilers,
) -> Result<(), Failure> {
    match &request.archs {
        Wanted::Written => {}
        Wanted::Devices(devices) if devices.is_empty() => {}
        Wanted::Devices(devices) => {
            let has_assembler = !reading.has_kernels() || compilers.nvjitlink().is_some();
            reading.settle_archs(devices, has_assembler);
        }
        Wanted::Archs(archs) => {
            let overruled = reading.overrule_archs(archs);
            if overruled.compiled.is_empty() && !reading.problems.has_errors() {
                return Err(Failure::NoCuda { name: request.name.clone() });
            }
        }
    }
    Ok(())
}

/// The sources that stay as they are whatever architectures are asked for, with a warning each.
fn kept(reading: &Reading) -> Vec<Diagnostic> {
    let kept = reading.clone().overrule_archs(&[]).kept.into_iter().map(|source| {
        let message =
            format!("`{source}` stays as it is: only CUDA C++ and kernel files take `--arch`");
        Diagnostic::warning("kept-code", message).at(source.span)
    });
    kept.collect()
}

/// Whether a C file is among the sources.
fn has_c(package: &WrittenPackage) -> bool {
    let is_c = |path: &Placed<PathBuf>| path.extension().is_some_and(|extension| extension == "c");
    sites(package).any(|site| match site {
        Site::Host { source, .. } => source.paths.iter().any(is_c),
        Site::Gpu { .. } => false,
    })
}

/// Whether a CUDA C++ file is among the sources.
fn has_cuda(package: &WrittenPackage) -> bool {
    sites(package).any(|site| matches!(site, Site::Gpu { source: GpuSource::Cuda(..), .. }))
}

/// Whether kernels that are written here become machine code.
fn has_machine_code(package: &WrittenPackage) -> bool {
    let launches = package.functions.iter().flat_map(|function| &function.launches);
    launches.into_iter().any(WrittenLaunch::needs_assembler)
}

/// Where the kernels are of launches that are whole as they are written.
fn sites(package: &WrittenPackage) -> impl Iterator<Item = &Site> {
    let launches = package.functions.iter().flat_map(|function| &function.launches);
    launches.filter_map(|launch| match launch {
        WrittenLaunch::Whole(Launch { site, .. }) => Some(site),
        WrittenLaunch::Triton(_) | WrittenLaunch::Kernel(_) | WrittenLaunch::Packed(_) => None,
    })
}

/// Why there is no package, with all that is told besides.
fn failure(request: &Request, told: Told, error: CompileError) -> Failure {
    match error {
        CompileError::Problems(problems) => {
            let mut told = told.and(problems);
            told.diagnostics.sort();
            told.diagnostics.0.iter_mut().for_each(|found| name_held(found, request));
            Failure::Told(told)
        }
        error => Failure::Compile(error),
    }
}

/// Whether a file was changed since: a compiler may have read what it was before, and we what it is
/// now.
fn changed_since(file: &InputFile, start: SystemTime) -> bool {
    let Ok(metadata) = file.path.metadata() else { return true };
    let since = start.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    let start = (seconds, i64::from(since.subsec_nanos()));
    (metadata.ctime(), metadata.ctime_nsec()) > start && !file.is_compilers
}
