// SPDX-License-Identifier: Apache-2.0
//! Writes cases to a folder, for `tests/gpu/replay_kernels.py`:
//!
//! ```text
//! kernels00.cubin ...   images of some hundred kernels
//! outcomes.bin          what the buffers that kernels write hold behind the launches
//! manifest.json         "inputs": rules, as `input.rs` has them
//!                       "images": "file", "digest" (SHA-256 of what all its buffers hold before),
//!                         "cases": "symbol", "origin", "grid", "block", "cluster", "cooperative", "shared"
//!                           (bytes that the launch brings), "names" of parameters, "arguments": {"scalar": its bytes}
//!                           or {"element", "count", "input": which rule, "outcome": where in
//!                           outcomes.bin, if it is written, "map": "extents", "strides" (bytes),
//!                           "box" and "swizzle", if the kernel is passed a map of the tensor}
//! ```
//!
//! Bytes are hexadecimal, and numbers in them little endian.

use super::image::{image, is_written, launched_bytes};
use super::input::Input;
use super::{Argument, Buffer, Case, Mapped, interpreted};
use kernpack_kernel_ir::kernel::ParamKind;
use kernpack_kernel_ir::{Const, Scalar};
use kernpack_machine::{Arch, ArchKind};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

/// How many kernels an image has.
const N_OF_AN_IMAGE: usize = 100;

/// A recording in the making.
struct Recording {
    arch: Arch,
    /// The rules so far, with the types that they are read with.
    inputs: Vec<(Input, Scalar)>,
    outcomes: Vec<u8>,
}

/// Writes those of the cases that an architecture has what they need for, with code for it.
///
/// # Errors
/// Where one does not compile, or its outcome is not what every machine has; where the folder
/// cannot be written.
pub fn record(cases: &[Case], arch: Arch, folder: &Path) -> Result<(), String> {
    let write = |name: &str, bytes: &[u8]| {
        fs::write(folder.join(name), bytes).map_err(|error: io::Error| format!("{name}: {error}"))
    };
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut recording = Recording { arch, inputs: vec![], outcomes: vec![] };
    let mut images = Vec::new();
    let cases: Vec<_> = cases.iter().filter(|case| case.is_for(arch)).collect();
    for (number, cases) in cases.chunks(N_OF_AN_IMAGE).enumerate() {
        let ending = if arch.kind == ArchKind::Compute { "ptx" } else { "cubin" };
        let file = format!("kernels{number:02}.{ending}");
        let (described, code) = recording.image(&file, cases)?;
        write(&file, &code)?;
        images.push(described);
    }
    let inputs: Vec<_> = recording.inputs.iter().map(|(input, of)| input.json(*of)).collect();
    write("outcomes.bin", &recording.outcomes)?;
    let manifest = json!({"arch": arch.to_string(), "inputs": inputs, "images": images});
    write("manifest.json", manifest.to_string().as_bytes())
}

impl Recording {
    fn image(&mut self, file: &str, cases: &[&Case]) -> Result<(Json, Vec<u8>), String> {
        let mut digest = Sha256::new();
        let mut described = Vec::new();
        for case in cases {
            let found = self.case(case, &mut digest);
            described.push(found.map_err(|problem| format!("{}: {problem}", case.origin))?);
        }
        let kernels: Vec<_> = cases.iter().map(|case| &case.kernel).collect();
        let code = image(&kernels, self.arch).map_err(|problem| format!("{file}: {problem}"))?;
        let digest = hex(&digest.finalize());
        Ok((json!({"file": file, "digest": digest, "cases": described}), code))
    }

    fn case(&mut self, case: &Case, digest: &mut Sha256) -> Result<Json, String> {
        let mut outcomes = interpreted::outcome(case)?.into_iter();
        let mut arguments = Vec::new();
        for (argument, param) in case.arguments.iter().zip(&case.kernel.params) {
            arguments.push(match argument {
                Argument::Scalar(number) => json!({"scalar": hex(&in_memory(*number))}),
                Argument::Buffer(buffer) => {
                    digest.update(buffer.bytes());
                    let outcome = outcomes.next().filter(|_| is_written(&param.kind));
                    self.buffer(buffer, outcome)
                }
                Argument::Map(tensor) => {
                    digest.update(tensor.buffer.bytes());
                    let outcome = outcomes.next().filter(|_| is_written(&param.kind));
                    let mut described = self.buffer(&tensor.buffer, outcome);
                    described["map"] = map(tensor, &param.kind);
                    described
                }
            });
        }
        let number = |param: kernpack_kernel_ir::kernel::Value| match &case.arguments[param.index()]
        {
            Argument::Scalar(number) => number.as_int().unwrap_or_default(),
            Argument::Buffer(_) | Argument::Map(_) => 0,
        };
        let mut names: Vec<_> =
            case.kernel.params.iter().map(|param| param.name.as_str()).collect();
        if case.kernel.asserts() {
            // Nobody looks at what they write down: what they compute is compared.
            names.push("asserts");
            arguments.push(json!({"scalar": hex(&0_u64.to_le_bytes())}));
        }
        Ok(json!({
            "symbol": case.kernel.name,
            "origin": case.origin,
            "grid": case.grid,
            "block": case.block,
            "cluster": case.cluster,
            "cooperative": case.kernel.waits_for_grid(),
            "shared": launched_bytes(&case.kernel, number),
            "names": names,
            "arguments": arguments,
        }))
    }

    fn buffer(&mut self, buffer: &Buffer, outcome: Option<Vec<u8>>) -> Json {
        let known = self.inputs.iter().position(|(input, of)| {
            *input == buffer.input
                && (matches!(input, Input::Drawn { .. }) || *of == buffer.element)
        });
        let input = known.unwrap_or_else(|| {
            self.inputs.push((buffer.input.clone(), buffer.element));
            self.inputs.len() - 1
        });
        let element = buffer.element.name();
        let mut described = json!({"element": element, "count": buffer.count, "input": input});
        if let Some(outcome) = outcome {
            described["outcome"] = json!(self.outcomes.len());
            self.outcomes.extend(outcome);
        }
        described
    }
}

/// A map as the driver is asked for it.
fn map(tensor: &Mapped, kind: &ParamKind) -> Json {
    let ParamKind::Map(map) = kind else { unreachable!("a map is passed where one is taken") };
    json!({
        "extents": tensor.extents[..map.rank],
        "strides": tensor.strides[..map.rank - 1],
        "box": map.box_extents(),
        "swizzle": map.swizzle,
    })
}

/// A number as it is passed.
fn in_memory(number: Const) -> Vec<u8> {
    number.bits().to_le_bytes()[..number.scalar().bytes() as usize].to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
