// SPDX-License-Identifier: Apache-2.0
//! `kernpack run FILE FUNCTION m=8 n=100`

use crate::package_file::PackageFile;
use crate::{Failure, Report, told};
use clap::Args;
use kernpack_compiler::Options;
use kernpack_compiler::interpret::{
    Fill, InterpretError, Interpreted, InterpretedLaunch, InterpretedTensor, Role, Wanted,
    interpret,
};
use kernpack_syntax::Told;
use serde_json::{Value, json};
use std::fmt::Write;

/// How many elements of a tensor are shown to a person.
const SHOWN: usize = 8;

/// The command's arguments.
#[derive(Args, Debug)]
pub struct Run {
    #[command(flatten)]
    package_file: PackageFile,
    /// The function.
    function: String,
    /// What its arguments are: dims, dtypes and scalars by their names, as in m=8 T=float16
    /// eps=0.1; w=None leaves an Optional out, and b=2,3 are the dims of a star.
    #[arg(value_name = "NAME=VALUE", value_parser = parse_value)]
    values: Vec<(String, String)>,
    /// Run on the interpreter, which finds what is wrong: accesses out of bounds, reads of what was
    /// never written, races, barriers that some threads do not come to. There is no other way here.
    #[arg(long)]
    check: bool,
    /// What tensors hold: random, count, zeros, ones or a number; with a name in front, as in
    /// x=ones, only that one. May be repeated.
    #[arg(long, value_name = "[NAME=]FILL", value_parser = parse_fill)]
    fill: Vec<(Option<String>, Fill)>,
    /// What random numbers begin with, and the order in which warps and blocks run.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

fn parse_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_string(), value.trim().to_string())),
        None => Err(format!("expected a name with a value, such as `n=100`, found `{text}`")),
    }
}

fn parse_fill(text: &str) -> Result<(Option<String>, Fill), String> {
    match text.split_once('=') {
        Some((name, fill)) => Ok((Some(name.to_string()), fill.parse()?)),
        None => Ok((None, text.parse()?)),
    }
}

impl Run {
    /// Runs the command.
    pub fn run(self) -> Result<Report, Failure> {
        let options = Options { target: self.package_file.target(), ..Options::default() };
        let (package, told) = self.package_file.read(&options)?;
        let wanted = Wanted {
            function: self.function.clone(),
            values: self.values.clone(),
            fill: self.fill.clone(),
            seed: self.seed,
        };
        let done = match interpret(&package, &wanted, options.held) {
            Ok(done) => done,
            Err(InterpretError::Problems(problems)) => {
                return Err(Failure::Diagnostics(told.and(problems)));
            }
            Err(error) => return Err(error.into()),
        };
        Ok(report(&done, told))
    }
}

/// What was done; a failure where something is wrong with it.
fn report(done: &Interpreted, told: Told) -> Report {
    let warnings = told::json(&told);
    let found = Told { diagnostics: done.findings.clone(), ..told.clone() };
    let findings = told::json(&found);
    let launches: Vec<_> = done.launches.iter().map(launch_json).collect();
    let tensors: Vec<_> = done.tensors.iter().map(tensor_json).collect();
    let answer = json!({
        "launches": launches, "tensors": tensors, "findings": findings, "exact": done.is_exact,
        "warnings": warnings,
    });
    let mut text = String::new();
    done.launches.iter().for_each(|launch| text += &launch_text(launch));
    let written = done.tensors.iter().filter(|tensor| tensor.role != Role::Read);
    written.filter(|tensor| tensor.role != Role::Workspace).for_each(|tensor| {
        text += &tensor_text(tensor);
    });
    let code = if done.findings.has_errors() { crate::FAILURE } else { crate::SUCCESS };
    let told = told.and(done.findings.clone());
    Report { code, warnings: told, ..Report::new(text, answer) }
}

fn launch_text(launch: &InterpretedLaunch) -> String {
    let InterpretedLaunch { kernel, layout, printed, .. } = launch;
    let list = |extents: [i64; 3]| match extents {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x}, {y}"),
        [x, y, z] => format!("{x}, {y}, {z}"),
    };
    let mut text =
        format!("{kernel}: grid [{}], block [{}]", list(layout.grid), list(layout.block));
    if layout.shared > 0 {
        let _ = write!(text, ", {} bytes of shared memory", layout.shared);
    }
    text.push('\n');
    printed.iter().for_each(|line| text += &format!("  {line}\n"));
    text
}

fn launch_json(launch: &InterpretedLaunch) -> Value {
    let InterpretedLaunch { kernel, layout, printed, thread_ops } = launch;
    json!({
        "kernel": kernel, "grid": layout.grid, "block": layout.block, "smem": layout.shared,
        "printed": printed, "thread_ops": thread_ops,
    })
}

fn tensor_text(tensor: &InterpretedTensor) -> String {
    let InterpretedTensor { name, element, shape, .. } = tensor;
    let mut elements = tensor.elements();
    let mut shown: Vec<_> = elements.by_ref().take(SHOWN).map(|one| one.to_string()).collect();
    if elements.next().is_some() {
        shown.push("...".to_string());
    }
    format!("{name}: {element} {shape:?} = {}\n", shown.join(" "))
}

fn tensor_json(tensor: &InterpretedTensor) -> Value {
    let InterpretedTensor { name, element, shape, strides, role, .. } = tensor;
    let values: Vec<Value> = tensor.elements().map(|one| element_json(&one.to_string())).collect();
    json!({
        "name": name, "dtype": element.name(), "shape": shape, "strides": strides,
        "role": role.name(), "values": values,
    })
}

/// A number as JSON has it: what is no finite number there is a text.
fn element_json(text: &str) -> Value {
    match serde_json::from_str::<Value>(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
        _ => Value::String(text.to_string()),
    }
}
