// SPDX-License-Identifier: Apache-2.0
//! `kernpack plan "SIGNATURE"`

use crate::{Failure, Report};
use clap::{Args, ValueEnum};
use kernpack_ffi_abi::DeviceType;
use kernpack_syntax::{Diagnostics, Snippet, Texts, Told};
use kernpack_validators::fault::{Fault, Format, Part, calling};
use kernpack_validators::{self as validators, Description, Signature};
use serde_json::{Value, json};

/// The command's arguments.
#[derive(Args, Debug)]
pub struct Plan {
    /// The signature, such as "scale(n: int32, a: float32 = 1.0)".
    signature: String,
    /// The device of tensors that name none.
    #[arg(long, value_enum, default_value_t = Device::Cpu)]
    device: Device,
}

/// A device that functions are made for.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Device {
    /// Host functions.
    Cpu,
    /// GPU kernels.
    Cuda,
}

impl Plan {
    /// Runs the command.
    pub fn run(self) -> Result<Report, Failure> {
        let device = match self.device {
            Device::Cpu => DeviceType::CPU,
            Device::Cuda => DeviceType::CUDA,
        };
        const NAME: &str = "signature";
        let mut texts = Texts::default();
        let id = texts.add(NAME, self.signature);
        let (signature, description, plan) = parse_and_plan(texts.snippet(id), device)
            .map_err(|problems| Failure::Diagnostics(Told::of(NAME, texts).and(problems)))?;
        let text = plan.to_string();
        let faults: Vec<_> =
            plan.faults().into_iter().map(|fault| fault_json(fault, &plan.signature)).collect();
        let json = json!({
            "signature": signature.to_string(),
            "short": signature.short(),
            "plan": text,
            "faults": faults,
            "description": description,
        });
        Ok(Report::new(text, json))
    }
}

fn parse_and_plan(
    text: Snippet<'_>,
    device: DeviceType,
) -> Result<(Signature, Description, validators::Plan), Diagnostics> {
    let signature = Signature::parse(text)?;
    let description = signature.describe()?;
    let plan = signature.plan(device)?;
    Ok((signature, description, plan))
}

/// The mark that stands for a value of the call.
fn placeholder(format: Format) -> &'static str {
    match format {
        Format::Int | Format::Uint => "{int}",
        Format::Float => "{float}",
        Format::TypeIndex => "{type}",
        Format::DType => "{dtype}",
        Format::DeviceType => "{device}",
        Format::Text => "{text}",
    }
}

/// A fault of a function with that short signature, with what its message holds of the call as
/// `{int}` and the like.
fn fault_json(fault: &Fault, signature: &str) -> Value {
    let calling = calling(signature);
    let parts = fault.parts.iter().map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::Calling => &calling,
        Part::Value(_, format) | Part::Optional(_, _, format) => placeholder(*format),
    });
    let (name, kind) = (fault.name, fault.kind.to_string());
    json!({ "name": name, "kind": kind, "message": parts.collect::<String>() })
}
