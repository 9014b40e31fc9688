// SPDX-License-Identifier: Apache-2.0
//! Launches of kernels with what the interpreter makes of them, for a machine with a GPU, where
//! `tests/gpu/replay_kernels.py` makes them again. Nothing is needed there but the driver.
//!
//! ```text
//! FOLDER/kernels.json       the modules; of each the images, and the launches of its kernels
//! FOLDER/before.bin         what tensors hold before a launch
//! FOLDER/0.sm_90a.cubin     an image of the first module, with many kernels
//! FOLDER/0.compute_80.ptx
//! ```
//!
//! ```json
//! {"modules": [{"images": {"sm_90a": "0.sm_90a.cubin"}, "launches": [
//!     {"kernel": "generated_7", "grid": [2, 1, 1], "block": [64, 1, 1], "params": [
//!         {"number": "2a00000000000000"},
//!         {"element": "float32", "bytes": 512, "before": 128, "after": "9f86…"}]}]}]}
//! ```
//!
//! A number has its bytes in hexadecimal. A tensor has as many bytes, which begin in `before.bin`
//! at that place, or are 0 where there is none, and behind the launch have that digest: SHA-256 of
//! the bytes, in which every NaN is the usual one.

pub mod table;

use kernpack_compiler::image::Arch;
use kernpack_compiler::source::KernelSource;
use kernpack_kernel_ir::constant::Const;
use kernpack_kernel_ir::generate::{self, Generated, Tensor};
use kernpack_kernel_ir::interp::{self, Argument, Launch, Memories, Memory, MemoryId, Options};
use kernpack_kernel_ir::{Kernel, expand};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What is recorded so far.
pub struct Record<'f> {
    folder: &'f Path,
    archs: Vec<Arch>,
    modules: Vec<Value>,
    before: Vec<u8>,
}

impl<'f> Record<'f> {
    /// Nothing yet, for these architectures.
    pub fn new(folder: &'f Path, archs: Vec<Arch>) -> Record<'f> {
        Record { folder, archs, modules: vec![], before: vec![] }
    }

    /// Compiles kernels to one module, and runs each.
    ///
    /// # Errors
    /// Where a kernel is refused, the interpreter finds something, or a file cannot be written.
    pub fn add(&mut self, launches: &[Generated]) -> Result<(), String> {
        let source = KernelSource {
            path: std::path::PathBuf::from("generated.py").into(),
            instances: launches.iter().map(|launch| Arc::new(launch.kernel.clone())).collect(),
            line_info: false,
        };
        let archs: Vec<_> = self.archs.iter().copied().map(Into::into).collect();
        let artifact = source.build(&archs, &[]).map_err(|errors| {
            errors.iter().fold(String::new(), |all, error| {
                let told = error.diagnostic.as_ref().map(ToString::to_string);
                all + &told.unwrap_or_else(|| error.to_string()) + "\n"
            })
        })?;
        let number = self.modules.len();
        let mut images = serde_json::Map::new();
        for image in artifact.images {
            let arch = image.archs()[0];
            let name = format!("{number}.{arch}.{}", image.kind.word());
            self.write(&name, &image.bytes).map_err(|error| format!("{name}: {error}"))?;
            images.insert(arch.to_string(), name.into());
        }
        let launches: Result<Vec<_>, _> =
            launches.iter().map(|launch| self.launch(launch)).collect();
        self.modules.push(json!({ "images": images, "launches": launches? }));
        Ok(())
    }

    /// Writes what describes the images.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub fn finish(self) -> io::Result<()> {
        let described = json!({ "modules": self.modules }).to_string();
        self.write("kernels.json", described.as_bytes())?;
        self.write("before.bin", &self.before)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        std::fs::write(self.folder.join(name), bytes)
    }

    fn launch(&mut self, launch: &Generated) -> Result<Value, String> {
        let after = run(launch)?;
        let params = launch.arguments.iter().zip(&after).map(|(argument, after)| match argument {
            generate::Argument::Scalar(number) => json!({ "number": hex(&bytes_of(*number)) }),
            generate::Argument::Tensor(tensor) => self.tensor(tensor, after),
        });
        let params: Vec<_> = params.collect();
        let Generated { kernel, grid, block, .. } = launch;
        Ok(json!({ "kernel": kernel.name, "grid": grid, "block": block, "params": params }))
    }

    fn tensor(&mut self, tensor: &Tensor, after: &[u8]) -> Value {
        let mut described = json!({
            "element": tensor.element.name(),
            "bytes": tensor.bytes.len(),
            "after": hex(&Sha256::digest(quiet(tensor, after))),
        });
        if tensor.bytes.iter().any(|byte| *byte != 0) {
            described["before"] = self.before.len().into();
            self.before.extend(&tensor.bytes);
        }
        described
    }
}

/// What each tensor of a launch holds behind it; nothing of numbers.
///
/// # Errors
/// Where the interpreter finds something, or a GPU need not give the same bits.
pub fn run(launch: &Generated) -> Result<Vec<Vec<u8>>, String> {
    let Generated { grid, block, .. } = *launch;
    let mut kernel = Kernel::clone(&launch.kernel);
    expand(&mut kernel);
    let mut memories = Memories::default();
    let mut add = |argument: &generate::Argument| match argument {
        generate::Argument::Scalar(number) => (Argument::Scalar(*number), None),
        generate::Argument::Tensor(Tensor { element, bytes, .. }) => {
            let memory = memories.add(Memory::new("x", *element, bytes.clone()));
            (Argument::Tensor { memory, offset: 0 }, Some(memory))
        }
    };
    let (arguments, tensors): (Vec<_>, Vec<Option<MemoryId>>) =
        launch.arguments.iter().map(&mut add).unzip();
    let outcome = interp::run(
        &Launch { kernel: &kernel, grid, block, arguments },
        &mut memories,
        &Options::default(),
    );
    if let Some(finding) = outcome.findings.first() {
        return Err(format!("{}: {finding:?}\n{}", kernel.name, launch.kernel));
    }
    if !outcome.is_exact || !outcome.is_complete {
        return Err(format!("`{}` does not give the same bits everywhere", kernel.name));
    }
    let holds = |memory: Option<MemoryId>| memory.map(|memory| memories.get(memory).bytes.clone());
    Ok(tensors.into_iter().map(|tensor| holds(tensor).unwrap_or_default()).collect())
}

/// A tensor's bytes, in which every NaN is the usual one.
pub fn quiet(tensor: &Tensor, bytes: &[u8]) -> Vec<u8> {
    if !tensor.element.is_float() {
        return bytes.to_vec();
    }
    let size = tensor.element.bytes() as usize;
    let numbers = bytes.chunks(size).map(|chunk| {
        let bits = chunk.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        kernpack_kernel_ir::eval::quiet(Const::from_bits(tensor.element, bits))
    });
    numbers.flat_map(bytes_of).collect()
}

fn bytes_of(number: Const) -> Vec<u8> {
    number.bits().to_le_bytes()[..number.scalar().bytes() as usize].to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
