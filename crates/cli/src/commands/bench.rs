// SPDX-License-Identifier: Apache-2.0
//! `kernpack bench FILE FUNCTION m=8 n=100`

use crate::call::Call;
use crate::launched;
use crate::{Failure, Report};
use clap::Args;
use kernpack_compiler::Options;
use kernpack_compiler::source::kernel;
use kernpack_package::interpret::{
    Caches, Clocks, Code, Figure, InterpretError, InterpretedTensor, Measure, Measured, Role,
    measure,
};
use serde_json::{Value, json};
use std::time::Duration;

/// The command's arguments.
#[derive(Args, Debug)]
pub struct Bench {
    #[command(flatten)]
    call: Call,
    /// What the GPU's L2 cache holds in front of each call: nothing of it, `cold`, or what the same
    /// call has left there, `warm`.
    #[arg(long, default_value = "cold", value_parser = str::parse::<Caches>)]
    caches: Caches,
    /// How many seconds are spent on it, about.
    #[arg(long, default_value = "0.5", value_parser = parse_seconds)]
    seconds: Duration,
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0);
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| format!("expected seconds, more than 0, found `{text}`"))
}

impl Bench {
    /// Runs the command.
    pub fn run(self) -> Result<Report, Failure> {
        let package_file = &self.call.package_file;
        let options = Options { target: package_file.target(), ..Options::default() };
        let (package, told) = package_file.read(&options)?;
        let code = Code { images: &kernel::CodeGenerator, archs: package_file.archs().to_vec() };
        let wanted = self.call.wanted()?;
        let how = Measure { code, caches: self.caches, time: self.seconds };
        match measure(&package, &wanted, &how, options.held) {
            Ok(measured) => {
                let answer = json(&wanted.function, &measured, self.caches);
                let text = text(&wanted.function, &measured, self.caches);
                Ok(Report::new(text, answer).with_warnings(told.and(measured.notes)))
            }
            Err(InterpretError::Problems(problems)) => {
                Err(Failure::Diagnostics(told.and(problems)))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// What was measured, for people.
fn text(function: &str, measured: &Measured, caches: Caches) -> String {
    let Measured { launches, gpu, arch, time, control, n_bytes, copy, .. } = measured;
    let mut text: String =
        launches.iter().map(|(kernel, layout)| launched::layout_text(kernel, layout)).collect();
    let passed = measured.tensors.iter().filter(|tensor| tensor.role != Role::Workspace);
    let passed: Vec<_> = passed.map(tensor_text).collect();
    let rate = *n_bytes as f64 / time.median;
    let clocks = measured.clocks.as_ref().map_or(String::new(), |clocks| format!("; {clocks}"));
    let beside = copy.map_or(String::new(), |copy| format!(", {:.3} of a copy", copy.median));
    text += &format!(
        "{function}({})\n  {} ± {:.1} %, {} GB/s of {} MB{beside}\n  by the clock of {gpu} ({arch}), {} \
         caches{clocks}; control {:.3}\n",
        passed.join(", "),
        seconds(time.median),
        50.0 * time.spread,
        digits(rate / 1e9),
        digits(*n_bytes as f64 / 1e6),
        caches.name(),
        control.median,
    );
    text
}

fn tensor_text(tensor: &InterpretedTensor) -> String {
    let InterpretedTensor { element, shape, .. } = tensor;
    format!("{element} {shape:?}")
}

/// What was measured, for programs.
fn json(function: &str, measured: &Measured, caches: Caches) -> Value {
    let Measured { launches, tensors, gpu, arch, time, control, n_bytes, copy, clocks, .. } =
        measured;
    let launches: Vec<_> =
        launches.iter().map(|(kernel, layout)| launched::layout_json(kernel, layout)).collect();
    let tensors: Vec<_> = tensors.iter().map(launched::tensor_json).collect();
    json!({
        "function": function, "launches": launches, "tensors": tensors, "gpu": gpu,
        "arch": arch.to_string(), "caches": caches.name(), "bytes": n_bytes,
        "time": figure_json(time), "control": figure_json(control),
        "copy": copy.as_ref().map(figure_json), "clocks": clocks.as_ref().map(clocks_json),
    })
}

fn clocks_json(Clocks { sm, memory, limits }: &Clocks) -> Value {
    json!({ "sm": sm, "memory": memory, "limits": limits })
}

fn figure_json(Figure { median, spread }: &Figure) -> Value {
    json!({ "median": median, "spread": spread })
}

/// A time with three digits: `12.3 µs`.
fn seconds(number: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
    let found = units.into_iter().find(|(scale, _)| number >= 0.9995 * scale);
    let (scale, unit) = found.unwrap_or((1e-9, "ns"));
    let value = number / scale;
    let places = if value >= 99.95 { 0 } else { 1 + usize::from(value < 9.995) };
    format!("{value:.places$} {unit}")
}

/// A number with four digits, as a person reads it.
fn digits(number: f64) -> String {
    let places = 3 - (number.max(1e-3).log10().floor() as i32).clamp(0, 3);
    format!("{number:.*}", places as usize)
}

#[cfg(test)]
mod tests {
    use super::{digits, seconds};

    #[test]
    fn times_have_three_digits() {
        let shown = [1.5, 0.9996, 99.96e-3, 9.996e-6, 5.123e-7, 1e-9, 2e-10].map(seconds);
        let expected = ["1.50 s", "1.00 s", "100 ms", "10.0 µs", "512 ns", "1.00 ns", "0.20 ns"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn numbers_have_four() {
        let shown = [4123.4, 412.34, 41.234, 4.1234, 0.41234, 0.0, 41234.5].map(digits);
        assert_eq!(shown, ["4123", "412.3", "41.23", "4.123", "0.412", "0.000", "41234"]);
    }
}
