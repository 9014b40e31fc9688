// SPDX-License-Identifier: Apache-2.0
//! CUDA C++ to images, what images of NVRTC's say about themselves, and packages of what Triton
//! compiled.
//!
//! NVRTC needs no GPU. It comes from the Python environment of the tests, like everything else of
//! theirs.

mod cubin;
mod files;
mod names;
mod source;
mod triton;

use kernpack_compiler::source::cuda::{self, CudaArtifact};
use kernpack_compiler::source::nvrtc::Nvrtc;
use kernpack_machine::Arch;
use kernpack_package::image::{Image, Kernel};
use kernpack_package::source::CudaSource;
use kernpack_package::{Held, SourceError};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tempfile::TempDir;

/// NVRTC of the environment that `KERNPACK_PYTHON` names, else of `.venv` in the repository.
fn nvrtc() -> &'static Nvrtc {
    static NVRTC: LazyLock<Nvrtc> = LazyLock::new(|| {
        Nvrtc::find().unwrap_or_else(|error| {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            let packages = fs::read_dir(root.join(".venv/lib")).into_iter().flatten().flatten();
            let libraries = packages
                .map(|python| python.path().join("site-packages/nvidia/cu13/lib/libnvrtc.so.13"));
            let mut opened = libraries.filter_map(|library| Nvrtc::open(&library).ok());
            opened.next().unwrap_or_else(|| panic!("{error}\nrun `scripts/setup python`"))
        })
    });
    &NVRTC
}

fn arch(text: &str) -> Arch {
    text.parse().expect(text)
}

/// A folder with one CUDA file.
struct Project {
    folder: TempDir,
    source: CudaSource,
}

impl Project {
    fn new(text: &str) -> Project {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("kernels.cu");
        fs::write(&path, text).unwrap();
        Project { folder, source: CudaSource::new(path) }
    }

    /// Writes a further file, and returns where.
    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn build(&self, archs: &[&str], kernels: &[&str]) -> Result<CudaArtifact, SourceError> {
        let archs: Vec<_> = archs.iter().map(|name| arch(name).into()).collect();
        let kernels: Vec<_> = kernels.iter().map(|name| name.to_string()).collect();
        cuda::build(&self.source, nvrtc(), &archs, &kernels, Held::nothing())
    }

    /// The message of the error, with the folder taken out.
    fn expect_error(&self, archs: &[&str], kernels: &[&str]) -> String {
        let error = self.build(archs, kernels).expect_err("no error").to_string();
        error.replace(&self.folder.path().display().to_string(), "DIR")
    }
}

/// The image of a text for one architecture.
fn image(text: &str, arch: &str) -> Image {
    Project::new(text).build(&[arch], &[]).unwrap().images.remove(0)
}

fn kernel<'i>(image: &'i Image, name: &str) -> &'i Kernel {
    image.kernel(name).expect("a readable image")
}

/// Offset and size of each parameter.
fn layout(kernel: &Kernel) -> Vec<(u32, u32)> {
    kernel.params.iter().map(|param| (param.offset, param.size)).collect()
}
