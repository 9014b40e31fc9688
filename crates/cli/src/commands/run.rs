// SPDX-License-Identifier: Apache-2.0
//! `kernpack run FILE FUNCTION m=8 n=100`

use crate::call::{Call, parse_value};
use crate::npy::Npy;
use crate::publish::publish;
use crate::{Failure, Report, launched};
use anyhow::anyhow;
use clap::Args;
use kernpack_compiler::Options;
use kernpack_compiler::source::kernel;
use kernpack_package::interpret::{
    Code, Compare, Comparison, ElementDifference, InterpretError, Interpreted, InterpretedTensor,
    Role, TensorDifference, Wanted, interpret,
};
use kernpack_render::told;
use kernpack_syntax::Told;
use serde_json::{Value, json};
use std::path::PathBuf;

/// How many elements of a tensor are shown to a person.
const SHOWN: usize = 8;
/// The bytes that an element takes in an answer to a program, and as its text.
const JSON_BYTES: u64 = 160;

/// The command's arguments.
#[derive(Args, Debug)]
pub struct Run {
    #[command(flatten)]
    call: Call,
    /// A rank that makes the call at the same time as the others, with the scalar that it has for
    /// itself, as in --rank rank=0 --rank rank=1. All are passed the same tensors, and only what is
    /// of system scope orders one behind another.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_value, conflicts_with = "compare")]
    rank: Vec<(String, String)>,
    /// Run on the interpreter, which finds what is wrong: accesses out of bounds, reads of what was
    /// never written, races, barriers that some threads do not come to. That is always done.
    #[arg(long)]
    check: bool,
    /// Count what the accesses of each line ask of memory: how wide they are, how many sectors of
    /// global memory they take, and how often warps wait for banks of shared memory.
    #[arg(long)]
    count: bool,
    /// Run on the first GPU too, and compare what tensors hold there with what the interpreter has,
    /// bit for bit. Kernels are compiled for that GPU, unless --arch says for what.
    #[arg(long)]
    compare: bool,
    /// How many units in the last place floats of the GPU may be away from the interpreter's. Where
    /// approximate functions or atomic sums of floats have run, that is any number, unless it
    /// stands here.
    #[arg(long, value_name = "N", requires = "compare")]
    ulps: Option<u64>,
    /// Writes a tensor as it is in the end into a file of NumPy's, as in out=out.npy. May be
    /// repeated; all are written, or none.
    #[arg(long, value_name = "NAME=FILE.npy", value_parser = parse_save)]
    save: Vec<(String, PathBuf)>,
    /// How many cores of the machine may run blocks: all, unless it stands here. What comes of it
    /// is the same with any number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
}

fn parse_save(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, path)) if !path.is_empty() => Ok((name.trim().to_string(), path.into())),
        _ => Err(format!("expected a name with a file, such as `out=out.npy`, found `{text}`")),
    }
}

impl Run {
    /// Runs the command.
    pub fn run(self, for_programs: bool) -> Result<Report, Failure> {
        let options = Options { target: self.call.package_file.target(), ..Options::default() };
        let (package, told) = self.call.package_file.read(&options)?;
        let wanted = Wanted {
            ranks: self.rank.iter().map(|value| vec![value.clone()]).collect(),
            compare: self.compare(),
            n_cores: self.jobs.map(usize::from),
            bytes_per_element: if for_programs { JSON_BYTES } else { 0 },
            count: self.count.then_some(&kernel::CodeGenerator),
            ..self.call.wanted()?
        };
        let done = match interpret(&package, &wanted, options.held) {
            Ok(done) => done,
            Err(InterpretError::Problems(problems)) => {
                return Err(Failure::Diagnostics(told.and(problems)));
            }
            Err(error) => return Err(error.into()),
        };
        let told = told.and(done.notes.clone());
        self.save(&done)?;
        let answer = match for_programs {
            true => json(&done, self.compare, &told),
            false => Value::Null,
        };
        Ok(report(&done, self.compare, told, answer))
    }

    /// Writes the tensors that are wanted into their files.
    fn save(&self, done: &Interpreted) -> anyhow::Result<()> {
        let files = self.save.iter().map(|(name, path)| {
            let tensor = done.tensors.iter().find(|tensor| tensor.name == *name);
            let tensor = tensor.ok_or_else(|| {
                let all: Vec<_> =
                    done.tensors.iter().map(|one| format!("`{}`", one.name)).collect();
                anyhow!("there is no tensor `{name}` to save; there is {}", all.join(", "))
            })?;
            let file = array_of(tensor).write();
            let file = file.map_err(|problem| anyhow!("cannot save `{name}`: {problem}"))?;
            Ok::<_, anyhow::Error>((path, file))
        });
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let files = files.iter().map(|(path, file)| (path.as_path(), &file[..]));
        publish(&files.collect::<Vec<_>>())
    }

    fn compare(&self) -> Option<Compare> {
        let archs = self.call.package_file.archs().to_vec();
        let code = Code { images: &kernel::CodeGenerator, archs };
        self.compare.then_some(Compare { code, ulps: self.ulps })
    }
}

/// A tensor as an array whose last mode is the fastest.
fn array_of(tensor: &InterpretedTensor) -> Npy {
    let size = tensor.element.bytes() as usize;
    let bytes = tensor.elements().flat_map(|one| one.bits().to_le_bytes().into_iter().take(size));
    Npy {
        dtype: tensor.element.dtype(),
        shape: tensor.shape.clone(),
        is_column_major: false,
        bytes: bytes.collect(),
    }
}

/// The run, for programs.
fn json(done: &Interpreted, wants_comparison: bool, told: &Told) -> Value {
    let warnings = told::json(told);
    let found = Told { diagnostics: done.findings.clone(), ..told.clone() };
    let findings = told::json(&found);
    let launches: Vec<_> = done.launches.iter().map(launched::json).collect();
    let tensors: Vec<_> = done.tensors.iter().map(tensor_json).collect();
    let mut answer = json!({
        "launches": launches, "tensors": tensors, "findings": findings, "exact": done.is_exact,
        "warnings": warnings,
    });
    if wants_comparison {
        answer["compared"] = done.compared.as_ref().map_or(Value::Null, comparison_json);
    }
    answer
}

/// The run, for people; a failure where something is wrong with it.
fn report(done: &Interpreted, wants_comparison: bool, told: Told, answer: Value) -> Report {
    let mut text = String::new();
    done.launches.iter().for_each(|launch| text += &launched::text(launch));
    let written = done.tensors.iter().filter(|tensor| tensor.role != Role::Read);
    written.filter(|tensor| tensor.role != Role::Workspace).for_each(|tensor| {
        text += &tensor_text(tensor);
    });
    match &done.compared {
        Some(comparison) => text += &comparison_text(comparison, done.is_exact),
        None if wants_comparison => text += "not compared with a GPU\n",
        None => {}
    }
    let code = if done.findings.has_errors() { crate::FAILURE } else { crate::SUCCESS };
    let told = told.and(done.findings.clone());
    Report { code, warnings: told, ..Report::new(text, answer) }
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
    let mut answer = launched::tensor_json(tensor);
    let values: Vec<Value> = tensor.elements().map(|one| element_json(&one.to_string())).collect();
    answer["values"] = values.into();
    answer
}

/// The comparison with a GPU, in a line.
fn comparison_text(comparison: &Comparison, is_exact: bool) -> String {
    let Comparison { gpu, arch, tensors } = comparison;
    let different: Vec<_> = tensors.iter().filter(|tensor| tensor.n_different > 0).collect();
    let mut text = format!("{gpu}, {arch}: ");
    if different.is_empty() {
        text += "the same bits\n";
        return text;
    }
    let parts = different.iter().map(|tensor| {
        let TensorDifference { name, n_elements, n_different, most_ulps, .. } = tensor;
        let apart = most_ulps.map_or(String::new(), |most| format!(", at most {most} ulp apart"));
        format!("{n_different} of {n_elements} elements of {name} differ{apart}")
    });
    text += &parts.collect::<Vec<_>>().join("; ");
    if !is_exact {
        text += " (approximate functions or atomic sums of floats have no exact results)";
    }
    text.push('\n');
    text
}

fn comparison_json(comparison: &Comparison) -> Value {
    let Comparison { gpu, arch, tensors } = comparison;
    let tensors: Vec<_> = tensors.iter().map(difference_json).collect();
    json!({ "gpu": gpu, "arch": arch.to_string(), "tensors": tensors })
}

fn difference_json(tensor: &TensorDifference) -> Value {
    let TensorDifference { name, n_elements, n_different, most_ulps, shown } = tensor;
    let shown = shown.iter().map(|ElementDifference { element, interpreted, on_gpu }| {
        let [interpreted, on_gpu] =
            [interpreted, on_gpu].map(|constant| element_json(&constant.to_string()));
        json!({ "element": element, "interpreted": interpreted, "gpu": on_gpu })
    });
    json!({
        "name": name, "elements": n_elements, "different": n_different, "most_ulps": most_ulps,
        "shown": shown.collect::<Vec<_>>(),
    })
}

/// A number as JSON has it: what is no finite number there is a text.
fn element_json(text: &str) -> Value {
    match serde_json::from_str::<Value>(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
        _ => Value::String(text.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::element_json;

    /// Every finite float is the same number in JSON, to the last bit, as the text that people see.
    #[test]
    fn floats_are_exact_in_json() {
        let known = [0.1, 1e-310, f64::MIN_POSITIVE, f64::MAX, 5e-324, -0.0, 1e22, 9.5e-323];
        // A step of an odd number through the bits of all floats.
        let others = (0..20_000_u64).map(|n| f64::from_bits(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        for float in known.into_iter().chain(others).filter(|float| float.is_finite()) {
            let json = element_json(&format!("{float:?}"));
            assert_eq!(json.as_f64().map(f64::to_bits), Some(float.to_bits()), "{json}");
            let read: f64 = json.to_string().parse().expect("a float");
            assert_eq!(read.to_bits(), float.to_bits(), "{json}");
        }
        assert_eq!(element_json("inf").to_string(), "\"inf\"");
        assert_eq!(element_json("18446744073709551615").to_string(), "18446744073709551615");
    }
}
