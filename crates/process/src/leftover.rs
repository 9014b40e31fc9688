// SPDX-License-Identifier: Apache-2.0
//! Leftovers, if the process ended now: temporary files and folders, and compilers
//! that run.
//!
//! All of it is entered in one list as it comes to be, and leaves the list as it goes. Whoever
//! learns that the process is to end calls [`clear`]. From then on nothing new can be entered, so
//! that nothing is left over at all: who tries waits while the list is locked, and is refused when
//! it is not. Not here: how the process learns of it.

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// How long compilers have to tidy up, all of them together.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long to wait for compilers before looking again.
const STEP: Duration = Duration::from_millis(10);

static LIST: Mutex<List> =
    Mutex::new(List { paths: Vec::new(), programs: Vec::new(), is_final: false });

#[derive(Debug)]
struct List {
    /// Files, and folders with all that is in them.
    paths: Vec<PathBuf>,
    /// Programs that run, each the leader of a process group of its own.
    programs: Vec<Pid>,
    /// Whether the process is to end.
    is_final: bool,
}

impl List {
    fn require_open(&self) -> io::Result<()> {
        if self.is_final {
            return Err(io::Error::other("the process is ending, and makes nothing new"));
        }
        Ok(())
    }
}

/// The list. A thread that panicked has not left it half changed.
fn list() -> MutexGuard<'static, List> {
    LIST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The list, which nobody else changes meanwhile.
#[derive(Debug)]
#[must_use = "it says for how long the list is locked"]
pub struct Locked(MutexGuard<'static, List>);

/// How long to wait for the list: a program is entered as it is started.
const SOON: Duration = Duration::from_secs(1);

/// Locks the list, unless that takes long: it may stay locked once the process is to end.
pub(crate) fn lock_soon() -> Option<Locked> {
    let start = Instant::now();
    loop {
        match LIST.try_lock() {
            Ok(list) => return Some(Locked(list)),
            Err(TryLockError::Poisoned(poisoned)) => return Some(Locked(poisoned.into_inner())),
            Err(TryLockError::WouldBlock) if start.elapsed() >= SOON => return None,
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

impl Locked {
    /// Empties the list: all of it is another process's.
    pub(crate) fn forget(&mut self) {
        self.0.paths.clear();
        self.0.programs.clear();
        self.0.is_final = false;
    }
}

/// How many files and folders are temporary now.
#[cfg(test)]
pub(crate) fn n_paths() -> usize {
    list().paths.len()
}

/// A temporary file or folder, on the list until it is dropped.
#[derive(Debug)]
pub struct Temporary<T> {
    /// There until this value is dropped or settled.
    made: Option<T>,
    path: PathBuf,
}

impl<T: AsRef<Path>> Temporary<T> {
    /// Makes a file or folder that removes itself when it is dropped.
    ///
    /// # Errors
    /// Those of `make`, and one where the process is to end.
    pub fn new(make: impl FnOnce() -> io::Result<T>) -> io::Result<Temporary<T>> {
        let mut list = list();
        list.require_open()?;
        let made = make()?;
        let path = made.as_ref().to_path_buf();
        list.paths.push(path.clone());
        Ok(Temporary { made: Some(made), path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The thing that was made.
    pub fn made_mut(&mut self) -> &mut T {
        self.made.as_mut().expect("it leaves with this value")
    }
}

impl<T> Drop for Temporary<T> {
    fn drop(&mut self) {
        if let Some(made) = self.made.take() {
            drop(made);
            list().paths.retain(|path| *path != self.path);
        }
    }
}

/// Takes files off the list and has `settle` give them their final names. [`clear`] comes before
/// that or after it, not in between.
pub fn settle<T, R>(temporaries: Vec<Temporary<T>>, settle: impl FnOnce(Vec<T>) -> R) -> R {
    let mut list = list();
    let mut released = Vec::new();
    for mut temporary in temporaries {
        list.paths.retain(|path| *path != temporary.path);
        released.extend(temporary.made.take());
    }
    settle(released)
}

/// Runs a program to its end, on the list meanwhile. It reads nothing, and its output is collected.
///
/// # Errors
/// Where it cannot be run, and where the process is to end.
pub fn run(command: &mut Command) -> io::Result<Output> {
    prepare(command);
    let (child, program) = start(command)?;
    let output = child.wait_with_output();
    forget(program);
    output
}

/// The same, and ends the program, and all that it started, where it takes longer than that.
///
/// # Errors
/// As [`run`]; of the kind [`TimedOut`](io::ErrorKind::TimedOut) where it was ended.
pub fn run_within(limit: Duration, command: &mut Command) -> io::Result<Output> {
    prepare(command);
    let (child, program) = start(command)?;
    let (ended, has_ended) = channel::<()>();
    let watch = move || {
        let is_late = has_ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
        if is_late {
            let _ = kill_process_group(program, Signal::KILL);
        }
        is_late
    };
    let (output, is_late) = thread::scope(|scope| {
        let watching = scope.spawn(watch);
        let output = child.wait_with_output();
        drop(ended);
        (output, watching.join().unwrap_or(false))
    });
    forget(program);
    if is_late { Err(io::ErrorKind::TimedOut.into()) } else { output }
}

/// Has a program read nothing, and its output collected.
fn prepare(command: &mut Command) {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // What it starts in turn belongs to its group, and is ended with it.
    command.process_group(0);
}

/// Starts a program, on the list.
fn start(command: &mut Command) -> io::Result<(Child, Pid)> {
    let mut list = list();
    list.require_open()?;
    let child = command.spawn()?;
    let program = Pid::from_child(&child);
    list.programs.push(program);
    Ok((child, program))
}

/// Takes a program that has ended off the list.
fn forget(program: Pid) {
    list().programs.retain(|other| *other != program);
}

/// Passes the signal on to programs that run, waits for them, and removes all that is temporary.
/// Nothing new can be made afterwards: the process has to end. Threads that were about something
/// wait as long as the answer is kept, and then find it gone.
pub fn clear(signal: i32) -> Locked {
    let mut list = list();
    list.is_final = true;
    let signal = Signal::from_named_raw(signal).unwrap_or(Signal::TERM);
    end(list.programs.clone(), signal);
    for path in &list.paths {
        // One of the two fails, or both where it has just removed itself.
        let _ = std::fs::remove_file(path);
        let _ = std::fs::remove_dir_all(path);
    }
    Locked(list)
}

/// Ends programs and all that they started. Compilers remove their own temporary files if they are
/// asked to end.
fn end(mut programs: Vec<Pid>, signal: Signal) {
    let pass_on = |programs: &[Pid], signal| {
        programs.iter().for_each(|program| _ = kill_process_group(*program, signal));
    };
    pass_on(&programs, signal);
    let start = Instant::now();
    loop {
        programs.retain(|program| test_kill_process_group(*program).is_ok());
        if programs.is_empty() || start.elapsed() >= PATIENCE {
            break;
        }
        std::thread::sleep(STEP);
    }
    pass_on(&programs, Signal::KILL);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;

    /// A program that is asked in vain to end; it has begun.
    fn deaf() -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' TERM; echo; sleep 100"]).process_group(0);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("there is a shell");
        let output = child.stdout.as_mut().expect("it is piped");
        BufReader::new(output).read_line(&mut String::new()).expect("it writes a line");
        child
    }

    #[test]
    fn a_program_that_takes_too_long_is_ended_with_all_that_it_started() {
        let shell =
            |script: &str, limit| run_within(limit, Command::new("sh").args(["-c", script]));
        let start = Instant::now();
        let late = shell("sleep 100 & sleep 100", Duration::from_millis(200));
        assert_eq!(late.expect_err("it sleeps").kind(), io::ErrorKind::TimedOut);
        assert!(start.elapsed() < Duration::from_secs(50), "its child holds the pipe");
        let output = shell("echo out; echo err >&2; exit 3", Duration::from_secs(50));
        let output = output.expect("it runs");
        assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"out\n"[..], &b"err\n"[..]));
        assert_eq!(output.status.code(), Some(3));
        let none = run_within(Duration::from_secs(50), &mut Command::new("/no/program"));
        assert_eq!(none.expect_err("it is not there").kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn programs_that_do_not_end_are_waited_for_together() {
        let mut programs: Vec<_> = (0..3).map(|_| deaf()).collect();
        let start = Instant::now();
        end(programs.iter().map(Pid::from_child).collect(), Signal::TERM);
        let elapsed = start.elapsed();
        for program in &mut programs {
            let status = program.wait().expect("it was started");
            assert_eq!(status.signal(), Some(Signal::KILL.as_raw()), "{status}");
        }
        assert!((PATIENCE..2 * PATIENCE).contains(&elapsed), "{elapsed:?}");
    }
}
