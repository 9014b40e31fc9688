// SPDX-License-Identifier: Apache-2.0
//! Work that does not depend on other work, several pieces of it at once. Results come in the order
//! of the items, whichever is done first.
//!
//! Compilers take nearly all of the time of a build. As many run at once as the machine runs
//! threads, whoever asked for them: each waits for a [`Permit`].

use crate::fork::{self, Paused};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

/// The stack of a program's first thread by default: compilers that are libraries count on it.
const STACK_BYTES: usize = 8 << 20;

/// Does the work for every item; returns the results in the order of the items.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let results: Vec<_> = items.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let take = || {
        while let Some(at) =
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < items.len())
        {
            let result = work(&items[at]);
            *results[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    };
    let take_there = inside(traced(take));
    let waiting = thread::scope(|scope| {
        for _ in 1..items.len().min(n_at_once()) {
            // Where there can be no more threads, fewer do the same.
            let _ = worker().spawn_scoped(scope, &take_there);
        }
        take();
        Paused::begin()
    });
    drop(waiting);
    drop(take_there);
    let result = |slot: Mutex<Option<R>>| slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().map(|slot| result(slot).expect("every item was taken")).collect()
}

/// Does one thing on this thread while another does the other. Where there can be no other thread,
/// this one does both.
pub fn join<A, B: Send>(here: impl FnOnce() -> A, there: impl FnOnce() -> B + Send) -> (A, B) {
    let there = Mutex::new(Some(there));
    let take = || there.lock().unwrap_or_else(PoisonError::into_inner).take();
    let run = inside(traced(|| take().map(|there| there())));
    thread::scope(|scope| {
        let started = worker().spawn_scoped(scope, &run);
        let here = here();
        let joined = started.ok().and_then(|thread| match fork::paused(|| thread.join()) {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        (here, joined.or_else(&run).expect("one of them took it"))
    })
}

fn worker() -> thread::Builder {
    thread::Builder::new().name("kernpack-work".into()).stack_size(STACK_BYTES)
}

/// The work as any thread does it for this one: what it says is told where this one's is.
fn traced<R>(work: impl Fn() -> R + Sync) -> impl Fn() -> R + Sync {
    let dispatcher = tracing::dispatcher::get_default(Clone::clone);
    let span = tracing::Span::current();
    move || tracing::dispatcher::with_default(&dispatcher, || span.in_scope(&work))
}

/// The work as a thread of its own does it: a fork waits for it.
fn inside<R>(work: impl Fn() -> R + Sync) -> impl Fn() -> R + Sync {
    move || fork::section(&work)
}

/// Leave to run a compiler, until it is dropped. No fork waits for the compiler.
#[derive(Debug)]
pub struct Permit {
    _waiting: Paused,
}

static N_PERMITS: Mutex<usize> = Mutex::new(0);
static RETURNED: Condvar = Condvar::new();

impl Permit {
    /// Waits for one. Who holds one must not ask for another.
    pub fn wait() -> Permit {
        let waiting = Paused::begin();
        let taken = N_PERMITS.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |taken: &mut usize| *taken >= n_at_once();
        let taken = RETURNED.wait_while(taken, is_full);
        *taken.unwrap_or_else(PoisonError::into_inner) += 1;
        Permit { _waiting: waiting }
    }
}

/// The number of those that are taken, which nobody can change meanwhile.
pub(crate) fn lock_permits() -> MutexGuard<'static, usize> {
    N_PERMITS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Permit {
    fn drop(&mut self) {
        *N_PERMITS.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        RETURNED.notify_one();
    }
}

/// How many threads the machine runs at once. To find out takes longer than some compiles do.
pub(crate) fn n_at_once() -> usize {
    static N_AT_ONCE: OnceLock<usize> = OnceLock::new();
    *N_AT_ONCE.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..20).collect();
        let slow_first = |item: &u64| {
            thread::sleep(Duration::from_millis(20 - item));
            item * item
        };
        let squares: Vec<_> = items.iter().map(|item| item * item).collect();
        assert_eq!(map(&items, slow_first), squares);
        assert!(map(&[], slow_first).is_empty());
    }

    #[test]
    fn both_are_done_at_once() {
        if n_at_once() < 2 {
            return;
        }
        let (here, there) = (mpsc::channel(), mpsc::channel());
        let patience = Duration::from_secs(60);
        let meet = |to: mpsc::Sender<u32>, own, from: mpsc::Receiver<u32>| {
            to.send(own).unwrap();
            from.recv_timeout(patience)
        };
        let met = join(|| meet(here.0, 1, there.1), || meet(there.0, 2, here.1));
        assert_eq!(met, (Ok(2), Ok(1)));
    }

    /// Each of two pieces of work waits for the other to begin.
    #[test]
    fn work_is_done_at_once() {
        if n_at_once() < 2 {
            return;
        }
        let (begun, both) = (Mutex::new(0), Condvar::new());
        let wait = |_: &()| {
            let mut begun = begun.lock().unwrap();
            *begun += 1;
            both.notify_all();
            let patience = Duration::from_secs(60);
            let waited = both.wait_timeout_while(begun, patience, |begun| *begun < 2);
            !waited.unwrap().1.timed_out()
        };
        assert_eq!(map(&[(), ()], wait), [true, true]);
    }

    #[test]
    fn no_more_compilers_run_than_the_machine_runs_threads() {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let items = vec![(); 4 * n_at_once()];
        let inner = |_: &()| {
            let _permit = Permit::wait();
            most.fetch_max(1 + running.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
            thread::sleep(Duration::from_millis(2));
            running.fetch_sub(1, Ordering::SeqCst);
        };
        map(&items, |_| map(&items, inner).len());
        assert!((1..=n_at_once()).contains(&most.into_inner()));
    }
}
