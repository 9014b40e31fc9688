// SPDX-License-Identifier: Apache-2.0
//! Makes recorded calls again and compares how they end: `replay calls.jsonl`, or from standard
//! input. With `--interpreter`, nothing is compiled. What can be said of a call without its data is
//! described too, and must end as the call does.
//!
//! Lines are as [`json`](kernpack_tests::value::json) reads them. The signatures of a batch become
//! one module, so that compiling costs little.
#![expect(clippy::print_stdout, reason = "a program reports to its reader")]

use kernpack_ffi_abi::DeviceType;
use kernpack_tests::callee::{Callee, Interpreter, Outcome};
use kernpack_tests::memory::Arguments;
use kernpack_tests::module::Module;
use kernpack_tests::subject::Subject;
use kernpack_tests::value::Arrival;
use kernpack_tests::value::described::described;
use kernpack_tests::value::json::{RecordedCall, Recording, parse_recording};
use kernpack_validators::described::check_call;
use kernpack_validators::plan;
use std::io::{self, Read};
use std::sync::Mutex;

/// How many signatures become one module.
const BATCH: usize = 50;
/// How many differences are shown.
const SHOWN: usize = 10;

/// What has been found so far.
#[derive(Default)]
struct Tally {
    passed: usize,
    failures: Vec<String>,
}

fn main() -> io::Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let compiled = !arguments.iter().any(|argument| argument == "--interpreter");
    let path = arguments.iter().find(|argument| !argument.starts_with("--"));
    let text = match path {
        Some(path) => std::fs::read_to_string(path)?,
        None => {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text)?;
            text
        }
    };
    let lines: Vec<_> = text.lines().enumerate().filter(|(_, line)| !line.is_empty()).collect();
    let (batches, tally) = (Mutex::new(lines.chunks(BATCH)), Mutex::new(Tally::default()));
    let take = || batches.lock().expect("no worker panics").next();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(batch) = take() {
                    let mut own = Tally::default();
                    own.batch(batch, compiled);
                    let mut all = tally.lock().expect("no worker panics");
                    all.passed += own.passed;
                    all.failures.extend(own.failures);
                }
            });
        }
    });
    let tally = tally.into_inner().expect("no worker panics");
    tally.failures.iter().take(SHOWN).for_each(|failure| println!("{failure}\n"));
    println!("{} passed, {} failed", tally.passed, tally.failures.len());
    let is_right = tally.failures.is_empty() && tally.passed > 0;
    std::process::exit(i32::from(!is_right));
}

impl Tally {
    fn batch(&mut self, lines: &[(usize, &str)], compiled: bool) {
        let mut recordings = Vec::new();
        for (number, line) in lines {
            match parse_recording(line) {
                Ok(recording) => recordings.push((number + 1, recording)),
                Err(problem) => self.failures.push(format!("line {}: {problem}", number + 1)),
            }
        }
        let subjects: Vec<_> = recordings.iter().map(|(_, r)| Subject::new(&r.signature)).collect();
        let all: Vec<_> = subjects.iter().collect();
        let module = if compiled { Module::build(&all).map(Some) } else { Ok(None) };
        for (number, (subject, (line, recording))) in subjects.iter().zip(&recordings).enumerate() {
            match &module {
                Ok(module) => {
                    let module = module.as_ref().map(|module| (module, number));
                    self.recording(*line, recording, subject, module);
                }
                Err(_) => self.alone(*line, recording, subject),
            }
        }
    }

    /// A function of a batch that does not compile: whether it is the one that does not.
    fn alone(&mut self, line: usize, recording: &Recording, subject: &Subject) {
        match Module::build(&[subject]) {
            Ok(module) => self.recording(line, recording, subject, Some((&module, 0))),
            Err(error) => {
                let text = &recording.signature;
                self.failures.push(format!("line {line}: `{text}` does not compile: {error}"));
            }
        }
    }

    fn recording(
        &mut self,
        line: usize,
        recording: &Recording,
        subject: &Subject,
        module: Option<(&Module<'_>, usize)>,
    ) {
        let mut interpreter = match (&subject.plan, Interpreter::new(subject)) {
            (Ok(_), Some(interpreter)) => interpreter,
            (problems, _) => {
                let (text, problems) = (&recording.signature, problems.as_ref().err());
                return self.failures.push(format!("line {line}: `{text}`: {problems:?}"));
            }
        };
        if !subject.reads_back() {
            let text = &recording.signature;
            self.failures.push(format!("line {line}: `{text}` does not read back"));
        }
        let mut compiled = module.map(|(module, number)| module.callee(number));
        for (i, call) in recording.calls.iter().enumerate() {
            let place = format!("line {line}, call {i}: {}", recording.signature);
            self.call(&place, call, &mut interpreter);
            self.description(&place, call, subject);
            if let Some(compiled) = &mut compiled {
                self.call(&place, call, compiled);
            }
        }
    }

    /// Compares what is said of a call that is only described. Whatever is refused because of its
    /// data may be accepted here.
    fn description(&mut self, place: &str, call: &RecordedCall, subject: &Subject) {
        let asks_data = ["alias(", "aligned("].iter().any(|word| place.contains(word));
        let args: Option<Vec<_>> = call.args.iter().map(described).collect();
        let (Some(args), Ok(plan), false) = (args, &subject.plan, asks_data) else { return };
        let is_of_data =
            |message: &str| message.starts_with("Misaligned") || message.contains("NULL");
        if call.expect.as_ref().is_some_and(|(_, message)| is_of_data(message)) {
            return;
        }
        let actual = match check_call(plan, &args, DeviceType::CPU) {
            plan::Outcome::Accepted(_) => None,
            plan::Outcome::Refused(refused) => Some((refused.kind.to_string(), refused.message)),
            other => Some(("broken".to_string(), format!("{other:?}"))),
        };
        match actual == call.expect {
            true => self.passed += 1,
            false => self.failures.push(format!(
                "{place}\n  {args:?}\n  expected: {:?}\n  described: {actual:?}",
                call.expect
            )),
        }
    }

    fn call(&mut self, place: &str, call: &RecordedCall, callee: &mut dyn Callee) {
        let outcome = callee.call(&Arguments::new(&call.args, Arrival::Tensor));
        let actual = match &outcome {
            Outcome::Accepted(_) => None,
            Outcome::Refused(refused) => Some((refused.kind.clone(), refused.message.clone())),
            Outcome::Broken(what) => Some(("broken".to_string(), what.clone())),
        };
        if actual == call.expect {
            self.passed += 1;
            return;
        }
        let text = |outcome: &Option<(String, String)>| match outcome {
            None => "accepted".to_string(),
            Some((kind, message)) => format!("{kind}: {message}"),
        };
        let (expected, actual, name) = (text(&call.expect), text(&actual), callee.name());
        let args = &call.args;
        self.failures
            .push(format!("{place}\n  {args:?}\n  expected: {expected}\n  {name}: {actual}"));
    }
}
