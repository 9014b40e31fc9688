// SPDX-License-Identifier: Apache-2.0
//! Calls on the interpreter, for Python: a package is read as the cache would, a function of it is
//! called with what Python passes, and its kernels run on copies of the tensors.
//!
//! `kernpack_interpret(request, options, receiver, name, bytes, …, argument, …)` takes the request
//! of `kernpack_get`, and as JSON `function`, `held`, which is how many files in memory follow, and
//! perhaps `seed`, `ranks`, `write_back`, `devices`, `device`, `count` and `memory` as of
//! [`Asked`]. It answers JSON: the `launches`, the `findings` as `kernpack run --json` has them,
//! each with its `drawn` text, whether a GPU gives the same bits (`exact`), how many `results`
//! there are, and which of the `tensors` that were passed may have been written. `receiver` is
//! called with a number and a tensor for each result and, where nothing is written back, behind
//! them for each tensor that was passed and may have been written. The problems of a package are an
//! `error`, as of `kernpack_get`; a call that is refused raises what the call raises.
//!
//! The work is done on a thread of its own, while the one that asked looks for signals. Ctrl-C ends
//! the wait at once, and the interpretation soon after.

#![expect(unsafe_code, reason = "arguments and tensors are C's")]

use crate::build::{self, Wait};
use crate::ffi::{Args, Error, Object, Value};
use crate::given::Given;
use kernpack_cache::Request;
use kernpack_cli::launched;
use kernpack_compiler::source::kernel;
use kernpack_ffi_abi::{DeviceType, ErrorKind};
use kernpack_package::interpret::values::NotOnHost;
use kernpack_package::interpret::{
    Cancel, InterpretError, InterpretedPassed, Passed, PassedOptions, device_said,
    interpret_passed, values,
};
use kernpack_process::memory;
use kernpack_render::told;
use kernpack_syntax::{Diagnostics, Texts, Told};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc::channel;

/// A call as Python asks for it.
#[derive(Deserialize)]
struct Asked {
    function: String,
    /// How many files in memory the request has.
    held: usize,
    #[serde(default)]
    seed: u64,
    /// How many ranks make the call at the same time: their arguments follow one another.
    ranks: Option<NonZeroUsize>,
    /// Whether the caller's tensors get what the function writes.
    #[serde(default)]
    write_back: bool,
    /// Where tensors are of which a copy on the host is passed, in the order of all tensors: the
    /// number of the device's type and its own, or null.
    #[serde(default)]
    devices: Vec<Option<(i32, i32)>>,
    /// Attributes of the device, by names such as `sm_count`.
    #[serde(default)]
    device: BTreeMap<String, i64>,
    /// Whether what accesses ask of memory is counted.
    #[serde(default)]
    count: bool,
    /// The bytes of memory that the call may take: half of the machine's, where nothing is said.
    memory: Option<u64>,
}

/// The outcome of the working thread.
type Outcome = Result<(InterpretedPassed, Told), Failure>;

/// Why there was no call.
enum Failure {
    /// The problems of the package.
    Problems(Told),
    Error(Error),
}

/// `kernpack_interpret`
pub fn interpret(args: Args<'_>) -> Result<Value, Error> {
    let mut request = build::request(args.text(0)?)?;
    let asked: Asked = serde_json::from_str(args.text(1)?)
        .map_err(|error| Error::value(format!("not options of a call: {error}")))?;
    let receiver = args.function(2)?.ok_or_else(|| Error::value("there is no receiver"))?;
    let first = 3 + 2 * asked.held;
    for at in (3..first).step_by(2) {
        request.held.insert(args.text(at)?, args.bytes(at + 1)?.to_vec());
    }
    let devices = asked.devices.iter().map(|device| device.map(|(ty, at)| (DeviceType(ty), at)));
    let devices = devices.collect::<Vec<_>>();
    // SAFETY: arguments are what they say, for as long as the call.
    let arguments = unsafe { values::read(args.from(first), &devices) };
    let arguments = arguments.map_err(not_on_host)?;
    let most = asked.memory.or_else(memory::usual);
    // SAFETY: tensors have the bytes that they say.
    let mut copy = |address, bytes: &mut [u8]| unsafe { values::copy(address, bytes) };
    let passed = Passed::of(arguments, most, &mut copy).map_err(other)?;
    let said = device_said(asked.device.iter().map(|(name, value)| (&name[..], *value)));
    let device = Some(said.map_err(|problem| Error::value(problem.to_string()))?);
    let (seed, cancel) = (asked.seed, Cancel::default());
    let n_ranks = asked.ranks;
    let count = asked.count.then_some(&kernel::CodeGenerator as _);
    let options = PassedOptions { seed, most_memory: most, cancel, device, n_ranks, count };
    let function = asked.function.clone();
    match wait(request, function, passed, options)? {
        Ok((done, told)) => {
            let answer = answer(&done, told);
            hand_over(done, asked.write_back, &receiver)?;
            Ok(Value::Text(answer.to_string()))
        }
        Err(Failure::Problems(told)) => {
            let error =
                json!({ "text": told::text(&told, false), "diagnostics": told::json(&told) });
            Ok(Value::Text(json!({ "error": error }).to_string()))
        }
        Err(Failure::Error(error)) => Err(error),
    }
}

/// Has a thread make the call, and waits for it.
fn wait(
    request: Request,
    function: String,
    passed: Passed,
    options: PassedOptions,
) -> Result<Outcome, Error> {
    let (sender, receiver) = channel();
    let cancel = options.cancel.clone();
    let work = move || _ = sender.send(run(&request, &function, passed, &options));
    let thread = std::thread::Builder::new().name("kernpack".to_string()).spawn(work);
    thread.map_err(|error| Error::runtime(format!("cannot start a thread: {error}")))?;
    let waiting = Wait::new();
    loop {
        match waiting.next(&receiver) {
            Ok(Some(done)) => return Ok(done),
            Ok(None) => {}
            Err(error) => {
                cancel.cancel();
                return Err(error);
            }
        }
    }
}

fn run(request: &Request, function: &str, passed: Passed, options: &PassedOptions) -> Outcome {
    let mut texts = Texts::default();
    let held = request.held.below(&request.base);
    let mut reading = request.package_text().read(&mut texts, &held);
    if request.checked {
        reading.check_accesses();
    }
    let told = Told::of(request.name.clone(), texts);
    let problems = |problems: Diagnostics| Failure::Problems(told.clone().and(problems));
    if reading.problems.has_errors() {
        return Err(problems(reading.problems));
    }
    match interpret_passed(&reading.package, function, passed, options, &held) {
        Ok(done) => Ok((done, told)),
        Err(InterpretError::Problems(found)) => Err(problems(found)),
        Err(error) => Err(Failure::Error(other(error))),
    }
}

/// The error of a tensor that this process cannot read.
fn not_on_host(NotOnHost(device): NotOnHost) -> Error {
    let message = format!(
        "the interpreter runs on the CPU, and a tensor is on {device}: pass it as an array of \
         PyTorch or JAX, which are copied, or pass a copy of it on the CPU"
    );
    Error::new(ErrorKind::TypeError, message)
}

/// The error of a call that was not made.
fn other(error: InterpretError) -> Error {
    match error {
        InterpretError::Refused { kind, message } => Error::new(kind, message),
        InterpretError::Problems(problems) => Error::runtime(problems.to_string()),
        InterpretError::Other(message) => Error::runtime(message),
    }
}

fn answer(done: &InterpretedPassed, told: Told) -> Json {
    let findings = done.findings.0.iter().map(|finding| {
        let told = told.clone().and([finding.clone()]);
        let mut finding = told::json(&told)[0].take();
        finding["drawn"] = told::text(&told, false).into();
        finding
    });
    let launches: Vec<_> = done.launches.iter().map(launched::json).collect();
    json!({
        "launches": launches,
        "findings": findings.collect::<Vec<_>>(),
        "exact": done.is_exact,
        "results": done.results.len(),
        "tensors": done.tensors.iter().map(|tensor| tensor.is_written).collect::<Vec<_>>(),
    })
}

/// Hands the results to a function, and what was written to it or back.
fn hand_over(done: InterpretedPassed, write_back: bool, receiver: &Object) -> Result<(), Error> {
    let InterpretedPassed { results, tensors, memories, .. } = done;
    let n_results = results.len();
    for (number, result) in results.into_iter().enumerate() {
        let (bytes, shape) = (Arc::new(result.bytes), &result.shape[..]);
        let given = Given { bytes, offset: 0, dtype: result.dtype, shape, strides: None };
        given.give(receiver, number as i64)?;
    }
    if write_back {
        // SAFETY: the function writes the caller's tensors, which lie there.
        unsafe { values::put_back(&tensors, &memories) };
        return Ok(());
    }
    let memories: Vec<_> = memories.into_iter().map(|memory| Arc::new(memory.bytes)).collect();
    let nothing = Arc::new(vec![]);
    for (number, tensor) in tensors.iter().enumerate().filter(|(_, tensor)| tensor.is_written) {
        let (bytes, offset) = match tensor.place {
            Some((memory, offset)) => (memories[memory].clone(), offset),
            None => (nothing.clone(), 0),
        };
        let (shape, strides) = (&tensor.shape[..], Some(&tensor.strides[..]));
        let given = Given { bytes, offset, dtype: tensor.dtype, shape, strides };
        given.give(receiver, (n_results + number) as i64)?;
    }
    Ok(())
}
