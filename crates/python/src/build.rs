// SPDX-License-Identifier: Apache-2.0
//! Packages for Python: from the cache or compiled, while the interpreter goes on.
//!
//! `kernpack_get(request, observer, name, bytes, name, bytes, …)` takes a request as JSON: `name`,
//! `text` and `base` as of [`Request`], and perhaps `archs` or `devices`; `places`, where the text
//! is a program. It answers JSON: the number of the `package`, by which `kernpack_read` knows it;
//! the path `so` that can be loaded, and its `digest`; whether it was a `hit`; the drawn `notes`
//! and `warnings`; or else an `error`.
//!
//! The work is done on a thread of its own. The one that asked looks for signals meanwhile, so that
//! Ctrl-C ends the wait at once; what was begun is finished, for the next who asks.

use crate::ffi::{Args, Error, Object, Value, check_signals};
use kernpack_cache::{Artifact, Cache, Entry, Failure, Got, Observer, Request, Wanted};
use kernpack_machine::Arch;
use kernpack_package::Language;
use kernpack_package::program::Place;
use kernpack_process::{fork, leftover};
use kernpack_render::told;
use kernpack_syntax::{Diagnostic, Diagnostics, Severity, Told};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a signal may wait.
const PATIENCE: Duration = Duration::from_millis(50);

/// A request as Python writes it.
#[derive(Deserialize)]
struct Asked {
    name: String,
    text: String,
    base: String,
    archs: Option<Vec<String>>,
    devices: Option<Vec<String>>,
    places: Option<Vec<Place>>,
    asserts: Option<bool>,
    checked: Option<bool>,
    timed: Option<bool>,
}

/// The messages of the working thread.
enum Event {
    Waiting(u32),
    Compiling,
    Done(Result<Got, Failure>),
}

/// `kernpack_get`
pub fn get(args: Args<'_>) -> Result<Value, Error> {
    let mut request = request(args.text(0)?)?;
    let observer = args.function(1)?;
    for at in (2..args.len()).step_by(2) {
        request.held.insert(args.text(at)?, args.bytes(at + 1)?.to_vec());
    }
    let answer = wait(request, observer.as_ref())?;
    Ok(Value::Text(answer.to_string()))
}

/// `kernpack_read(package, suffix) -> bytes`
pub fn read(args: Args<'_>) -> Result<Value, Error> {
    let (number, suffix) = (args.int(0)?, args.text(1)?);
    let artifact =
        Artifact::ALL.into_iter().find(|a| suffix.strip_prefix('.') == Some(a.extension()));
    let artifact = artifact.ok_or_else(|| Error::value(format!("no file ends in {suffix}")))?;
    fork::section(|| {
        let entries = entries();
        let entry = usize::try_from(number).ok().and_then(|number| entries.get(number));
        let entry = entry.ok_or_else(|| Error::value(format!("there is no package {number}")))?;
        entry.read(artifact).map(Value::Bytes).map_err(|error| Error::runtime(error.to_string()))
    })
}

/// `kernpack_cache_folder() -> JSON`: where the cache is written to, or null.
pub fn cache_folder(_: Args<'_>) -> Result<Value, Error> {
    Value::json(&Cache::from_env().own_folder())
}

/// `kernpack_end()`: ends compilers that run and removes what they have written so far. The process
/// ends too: nothing can be compiled afterwards.
pub fn end(_: Args<'_>) -> Result<Value, Error> {
    IS_ENDING.store(true, Ordering::Relaxed);
    // What Python calls later, as it ends, is told so.
    drop(leftover::clear(TERMINATE));
    Ok(Value::None)
}

/// Whether Python has begun to end. It ends whatever other thread comes back to it, through code
/// that no thread can be ended in.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Whether this is the process's first thread, which is the one that Python has signals handled on.
fn is_first_thread() -> bool {
    let here = std::fs::read_link("/proc/thread-self");
    let last = here.ok().and_then(|path| path.file_name()?.to_str()?.parse().ok());
    last.is_none_or(|thread: u32| thread == std::process::id())
}

/// Keeps a thread from Python for the rest of the process, once that ends.
fn stay_away(is_first: bool) {
    while !is_first && IS_ENDING.load(Ordering::Relaxed) {
        std::thread::park();
    }
}

/// `SIGTERM`
const TERMINATE: i32 = 15;

/// The packages that were answered, by number. They stay, as what was loaded of them does.
///
/// They are locked in sections only, so that no child finds them locked by a thread that it lacks.
fn entries() -> MutexGuard<'static, Vec<Entry>> {
    static ENTRIES: Mutex<Vec<Entry>> = Mutex::new(Vec::new());
    ENTRIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The request of this JSON, so far without files in memory.
pub fn request(text: &str) -> Result<Request, Error> {
    let asked: Asked = serde_json::from_str(text)
        .map_err(|error| Error::value(format!("not a request: {error}")))?;
    let mut request = Request::new(asked.name, asked.text, Path::new(&asked.base));
    request.language = match asked.places {
        Some(_) => Language::Program,
        None => Language::of(Path::new(&request.name)),
    };
    request.places = asked.places.unwrap_or_default();
    request.archs = match (asked.archs, asked.devices) {
        (Some(archs), _) => Wanted::Archs(parse_archs(&archs)?),
        (None, Some(devices)) => Wanted::Devices(parse_archs(&devices)?),
        (None, None) => Wanted::Written,
    };
    request.asserts = asked.asserts.unwrap_or(true);
    request.checked = asked.checked.unwrap_or(false);
    request.timed = asked.timed.unwrap_or(false);
    Ok(request)
}

fn parse_archs(names: &[String]) -> Result<Vec<Arch>, Error> {
    let parse =
        |name: &String| name.parse::<Arch>().map_err(|error| Error::value(error.to_string()));
    names.iter().map(parse).collect()
}

/// A thread that waits for another one's messages, and looks for signals meanwhile.
pub struct Wait {
    /// Whether signals are handled on this thread.
    is_first: bool,
}

impl Wait {
    /// Of this thread.
    pub fn new() -> Wait {
        Wait { is_first: is_first_thread() }
    }

    /// The next message, or nothing where none has come for a while.
    ///
    /// # Errors
    /// A signal wants attention, or the other thread has failed.
    pub fn next<T>(&self, receiver: &Receiver<T>) -> Result<Option<T>, Error> {
        let event = receiver.recv_timeout(PATIENCE);
        stay_away(self.is_first);
        match event {
            Ok(event) => Ok(Some(event)),
            Err(RecvTimeoutError::Timeout) if !self.is_first => Ok(None),
            Err(RecvTimeoutError::Timeout) => check_signals().map(|()| None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(Error::runtime("the compiler failed; see above"))
            }
        }
    }
}

/// Has a thread do the work, and waits for it.
fn wait(request: Request, observer: Option<&Object>) -> Result<Json, Error> {
    let (sender, receiver) = channel();
    let is_cancelled = Arc::new(AtomicBool::new(false));
    let listener = Listener { sender: sender.clone(), is_cancelled: is_cancelled.clone() };
    let work = move || {
        let cache = Cache::from_env();
        let _ = sender.send(Event::Done(cache.get(&request, &listener)));
        drop((cache, request, listener));
    };
    let work = || fork::section(work);
    let thread = std::thread::Builder::new().name("kernpack".to_string()).spawn(work);
    thread.map_err(|error| Error::runtime(format!("cannot start a thread: {error}")))?;
    let tell = |event: &str, pid: u32| observer.map_or(Ok(()), |told| told.tell(event, pid.into()));
    let waiting = Wait::new();
    loop {
        let told = match waiting.next(&receiver) {
            Ok(Some(Event::Done(got))) => return fork::section(|| answer(got)),
            Ok(Some(Event::Waiting(pid))) => tell("waiting", pid),
            Ok(Some(Event::Compiling)) => tell("compiling", 0),
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if told.is_err() {
            is_cancelled.store(true, Ordering::Relaxed);
        }
        told?;
    }
}

/// A listener that hands what the cache tells to the thread that asked.
struct Listener {
    sender: Sender<Event>,
    is_cancelled: Arc<AtomicBool>,
}

impl Observer for Listener {
    fn waiting(&self, pid: u32) {
        let _ = self.sender.send(Event::Waiting(pid));
    }

    fn compiling(&self) {
        let _ = self.sender.send(Event::Compiling);
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

fn answer(got: Result<Got, Failure>) -> Result<Json, Error> {
    let Got { entry, is_hit, told } = match got {
        Ok(got) => got,
        Err(failure) => return Ok(failed(failure)),
    };
    let mut entries = entries();
    let known = entries.iter().position(|known| known.digest() == entry.digest());
    let number = known.unwrap_or_else(|| {
        entries.push(entry);
        entries.len() - 1
    });
    let entry = &entries[number];
    let path = entry.path(Artifact::SharedObject);
    let (notes, warnings) = of_notes(&told);
    Ok(json!({
        "package": number,
        "so": path.display().to_string(),
        "digest": entry.digest(),
        "hit": is_hit,
        "notes": drawn(&notes),
        "warnings": drawn(&warnings),
    }))
}

fn failed(failure: Failure) -> Json {
    let is_forbidden = matches!(failure, Failure::Forbidden(_));
    let (text, diagnostics) = match &failure {
        Failure::Told(told) => (drawn(told), told::json(told)),
        other => (other.to_string(), json!([])),
    };
    let error = json!({ "text": text, "diagnostics": diagnostics, "is_forbidden": is_forbidden });
    json!({ "error": error, "notes": "", "warnings": "" })
}

/// Notes, and what is none.
fn of_notes(told: &Told) -> (Told, Told) {
    let is_note = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Note;
    let (notes, warnings) = told.diagnostics.0.iter().cloned().partition(is_note);
    let only = |diagnostics| Told { diagnostics: Diagnostics(diagnostics), ..told.clone() };
    (only(notes), only(warnings))
}

fn drawn(told: &Told) -> String {
    told::text(told, false)
}
