// SPDX-License-Identifier: Apache-2.0
//! What every function of the driver does around its own work: it finds out whether it may work at
//! all, fails if it was told to, and writes itself into the log.

use crate::argument::Argument;
use crate::config::Config;
use crate::driver::Driver;
use crate::exclusive::Use;
use crate::json;
use crate::status::Status;
use crate::thread::{self, Thread};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The variable that names the file with the configuration.
pub const VARIABLE: &str = "KERNPACK_CUDA_STUB";

/// Functions that work before cuInit and in the child of a fork.
const ALWAYS: &[&str] =
    &["cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString", "cuGetProcAddress_v2"];

static DRIVER: LazyLock<Mutex<Driver>> = LazyLock::new(|| Mutex::new(Driver::new(configured(), 1)));

/// The process that initialised the driver; 0 before.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// What the variable's file says. A file that cannot be read ends the process: a test would go on
/// with another driver than it believes.
fn configured() -> Config {
    let Some(path) = std::env::var_os(VARIABLE) else { return Config::default() };
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!("{VARIABLE}: cannot read {}: {error}", path.display());
    });
    Config::parse(&text).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
}

/// The driver, for as long as nobody else has it.
pub fn lock() -> MutexGuard<'static, Driver> {
    DRIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins a new life of the driver.
pub fn restart(config: Config) {
    let mut driver = lock();
    let life = driver.life.wrapping_add(1);
    *driver = Driver::new(config, life);
    PROCESS.store(0, Ordering::Release);
}

/// Notes that this process has initialised the driver.
pub fn initialised() {
    PROCESS.store(std::process::id(), Ordering::Release);
}

/// A call at work.
pub struct Call<'a> {
    /// The driver.
    pub driver: &'a mut Driver,
    /// The calling thread's state.
    pub thread: &'a mut Thread,
    notes: Vec<(&'static str, String)>,
}

impl Call<'_> {
    /// Adds something to the call's line in the log.
    pub fn note(&mut self, name: &'static str, json: String) {
        self.notes.push((name, json));
    }
}

/// Makes a call.
pub fn call(
    name: &str,
    arguments: &[(&str, &dyn Argument)],
    work: impl FnOnce(&mut Call) -> Result<(), Status>,
) -> Status {
    let process = PROCESS.load(Ordering::Acquire);
    if process != 0 && process != std::process::id() {
        return in_child(name, work);
    }
    let used = Use::begin(arguments);
    delay(name);
    let mut driver = lock();
    let work = |call: &mut Call| {
        if used.overlaps {
            call.note("overlaps", "true".to_string());
        }
        work(call)
    };
    thread::with(driver.life, |thread| logged(&mut driver, thread, name, arguments, work))
}

/// The child of a process that has initialised the driver can do next to nothing. The lock may be
/// held for ever here, by a thread that the child does not have.
fn in_child(name: &str, work: impl FnOnce(&mut Call) -> Result<(), Status>) -> Status {
    if !ALWAYS.contains(&name) {
        return Status::NOT_INITIALIZED;
    }
    let mut driver = Driver::new(Config::default(), 0);
    let mut thread = Thread::default();
    let mut call = Call { driver: &mut driver, thread: &mut thread, notes: Vec::new() };
    work(&mut call).err().unwrap_or(Status::SUCCESS)
}

/// Takes as long as the call is to take, without the lock.
fn delay(name: &str) {
    let wanted = lock().config.delays.iter().find(|delay| delay.0 == name).map(|delay| delay.1);
    if let Some(milliseconds) = wanted {
        std::thread::sleep(Duration::from_millis(milliseconds));
    }
}

fn logged(
    driver: &mut Driver,
    thread: &mut Thread,
    name: &str,
    arguments: &[(&str, &dyn Argument)],
    work: impl FnOnce(&mut Call) -> Result<(), Status>,
) -> Status {
    let device = thread.current().and_then(|context| driver.device_of(context).ok());
    let device = device.map(|(index, _)| index);
    let given = arguments.iter().map(|(name, argument)| (*name, argument.given(&driver.memory)));
    let given = json::object(given);
    let number = thread.number;
    let is_ready = driver.is_initialised || name == "cuInit" || ALWAYS.contains(&name);
    let wanted = driver.wanted_failure(name, device);
    let mut call = Call { driver, thread, notes: Vec::new() };
    let result = match wanted {
        Some(status) => Err(status),
        None if !is_ready => Err(Status::NOT_INITIALIZED),
        None => work(&mut call),
    };
    let Call { driver, notes, .. } = call;
    let status = result.err().unwrap_or(Status::SUCCESS);
    let result = crate::argument::Value::json(status, &driver.memory);
    let mut line = vec![
        ("call", json::string(name)),
        ("thread", number.to_string()),
        ("device", device.map_or("null".to_string(), |device| device.to_string())),
        ("args", given),
        ("result", result),
    ];
    if status == Status::SUCCESS {
        let written = arguments.iter();
        let written = written.filter_map(|(name, a)| Some((*name, a.written(&driver.memory)?)));
        line.push(("out", json::object(written)));
    }
    if wanted.is_some() {
        line.push(("told", "true".to_string()));
    }
    if driver.config.tells_stacks {
        line.push(("stack", crate::stack::files()));
    }
    line.extend(notes);
    driver.log.write(&json::object(line));
    status
}
