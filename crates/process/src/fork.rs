// SPDX-License-Identifier: Apache-2.0
//! Forks of the process that compiles: a child has one thread, and what others were about stays as
//! it was for ever. A lock that one held is never given back, and LLVM and lld have such locks,
//! and things that are made once.
//!
//! So work is done inside of sections ([`section`]), and a fork waits until no other thread is in
//! one. Sections are left where work waits for others ([`paused`]): for threads, for locks among
//! processes, and for compilers of other makers, which may take long and have to be prepared for
//! forks themselves. What is left of them in a child, places and temporary files, is forgotten
//! there.
//!
//! A thread that waits inside of a section must only wait for what goes on without new sections.

#![expect(unsafe_code, reason = "who is told of a fork is a C function")]

use crate::{leftover, parallel};
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a fork waits. Kernels of thousands of lines take some seconds.
const PATIENCE: Duration = Duration::from_secs(60);

struct State {
    /// How many threads are in a section.
    n_inside: usize,
    /// Whether a fork waits: nobody enters meanwhile.
    is_forking: bool,
    /// Whether the system tells us of forks.
    is_told: bool,
}

static STATE: Mutex<State> = Mutex::new(State { n_inside: 0, is_forking: false, is_told: false });
static CHANGED: Condvar = Condvar::new();

/// The locks that a thread that forks holds meanwhile, so that nobody else does.
struct Held {
    state: MutexGuard<'static, State>,
    permits: MutexGuard<'static, usize>,
    leftover: Option<leftover::Locked>,
}

thread_local! {
    /// How many sections this thread is in, one inside of the other.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

/// A section, until it is dropped.
#[derive(Debug)]
pub struct Inside(());

impl Inside {
    /// Enters a section, where no other thread forks.
    pub fn enter() -> Inside {
        if DEPTH.get() == 0 {
            enter();
        }
        DEPTH.set(DEPTH.get() + 1);
        Inside(())
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        if DEPTH.get() == 0 {
            leave();
        }
    }
}

/// Does work in a section.
pub fn section<R>(work: impl FnOnce() -> R) -> R {
    let _inside = Inside::enter();
    work()
}

/// Out of all sections that this thread is in, until it is dropped.
#[derive(Debug)]
pub(crate) struct Paused {
    depth: usize,
}

impl Paused {
    pub(crate) fn begin() -> Paused {
        let depth = DEPTH.replace(0);
        if depth > 0 {
            leave();
        }
        Paused { depth }
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        if self.depth > 0 {
            enter();
        }
        DEPTH.set(self.depth);
    }
}

/// Does work outside of the sections that this thread is in.
pub fn paused<R>(work: impl FnOnce() -> R) -> R {
    let _paused = Paused::begin();
    work()
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn enter() {
    let mut state = state();
    ask(&mut state);
    let state = CHANGED.wait_while(state, |state| state.is_forking);
    state.unwrap_or_else(PoisonError::into_inner).n_inside += 1;
}

/// Has the system tell us of forks.
fn ask(state: &mut State) {
    if !state.is_told {
        // SAFETY: the three functions take nothing, live as long as the code that calls them, and
        // let no panic out: locks that were poisoned are taken all the same.
        unsafe { pthread_atfork(Some(before), Some(after), Some(in_child)) };
        state.is_told = true;
    }
}

extern "C" fn ask_at_start() {
    ask(&mut state());
}

/// The asking comes as this code is loaded: a fork that has begun already tells nobody, and would
/// not wait for the first section.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = ask_at_start;

fn leave() {
    state().n_inside -= 1;
    CHANGED.notify_all();
}

unsafe extern "C" {
    fn pthread_atfork(
        before: Option<extern "C" fn()>,
        after: Option<extern "C" fn()>,
        in_child: Option<extern "C" fn()>,
    ) -> c_int;
}

/// Waits until all others are out of sections, and keeps them out.
extern "C" fn before() {
    let mut state = state();
    // Whoever forks goes on, and is not waited for by another that does.
    state.n_inside -= own();
    CHANGED.notify_all();
    let start = Instant::now();
    state = waited(state, PATIENCE, |state| state.is_forking);
    state.is_forking = true;
    let rest = PATIENCE.saturating_sub(start.elapsed());
    state = waited(state, rest, |state| state.n_inside > 0);
    let held = Held { state, permits: parallel::lock_permits(), leftover: leftover::lock_soon() };
    HELD.set(Some(held));
}

/// The sections that this thread counts as.
fn own() -> usize {
    usize::from(DEPTH.get() > 0)
}

/// Waits, at most for so long, while the state is so.
fn waited(
    state: MutexGuard<'static, State>,
    rest: Duration,
    is_so: impl Fn(&State) -> bool,
) -> MutexGuard<'static, State> {
    let waited = CHANGED.wait_timeout_while(state, rest, |state| is_so(state));
    waited.unwrap_or_else(PoisonError::into_inner).0
}

extern "C" fn after() {
    let Some(mut held) = HELD.take() else { return };
    held.state.is_forking = false;
    held.state.n_inside += own();
    drop(held);
    CHANGED.notify_all();
}

/// The child has the thread that forked, and nothing that others were about.
extern "C" fn in_child() {
    let Some(mut held) = HELD.take() else { return };
    held.state.is_forking = false;
    held.state.n_inside = own();
    *held.permits = 0;
    if let Some(leftover) = &mut held.leftover {
        leftover.forget();
    }
    drop(held);
    CHANGED.notify_all();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leftover::Temporary;
    use crate::parallel::Permit;
    use rustix::process::{Pid, WaitOptions, waitpid};
    use std::sync::mpsc::channel;
    use std::thread;

    unsafe extern "C" {
        fn fork() -> c_int;
        fn _exit(code: c_int) -> !;
        fn alarm(seconds: u32) -> u32;
    }

    /// The exit code of a forked child that does this; nothing where it did not end by itself.
    fn forked(work: impl FnOnce() -> bool) -> Option<i32> {
        // SAFETY: the child does what the module is about, and then ends at once.
        let pid = unsafe { fork() };
        if pid == 0 {
            // SAFETY: a function that takes a number.
            unsafe { alarm(20) };
            let code = if work() { 0 } else { 1 };
            // SAFETY: it ends the process.
            unsafe { _exit(code) }
        }
        let (_, status) = waitpid(Pid::from_raw(pid), WaitOptions::empty()).unwrap().unwrap();
        status.exit_status()
    }

    #[test]
    fn a_fork_waits_for_sections_and_a_child_finds_none() {
        let (entered, is_entered) = channel();
        let thread = thread::spawn(move || {
            section(|| {
                section(|| entered.send(()).unwrap());
                thread::sleep(Duration::from_millis(300));
                Instant::now()
            })
        });
        is_entered.recv().unwrap();
        let left = thread::spawn(move || thread.join().unwrap());
        let code = forked(|| section(|| state().n_inside == 1));
        let forked_by = Instant::now();
        assert_eq!(code, Some(0));
        assert!(left.join().unwrap() < forked_by);
        // As before in this process.
        assert_eq!(section(|| 5), 5);
    }

    #[test]
    fn what_waits_is_outside_and_a_child_has_all_places() {
        let (waiting, is_waiting) = channel();
        let (go_on, may_go_on) = channel::<()>();
        let thread = thread::spawn(move || {
            section(|| {
                let temporary = Temporary::new(tempfile::tempdir).unwrap();
                let permit = Permit::wait();
                waiting.send(()).unwrap();
                let _ = may_go_on.recv();
                drop(permit);
                temporary.path().exists()
            })
        });
        is_waiting.recv().unwrap();
        let code = forked(|| {
            let permits: Vec<_> = (0..parallel::n_at_once()).map(|_| Permit::wait()).collect();
            leftover::n_paths() == 0 && !permits.is_empty()
        });
        assert_eq!(code, Some(0));
        drop(go_on);
        assert!(thread.join().unwrap(), "a child removes nothing of its parent's");
    }

    #[test]
    fn a_thread_may_fork_inside_of_a_section() {
        assert_eq!(section(|| forked(|| section(|| state().n_inside == 1))), Some(0));
    }
}
