// SPDX-License-Identifier: Apache-2.0
//! Processes that exit while other threads are inside calls: what these read has to stay, as nobody
//! waits for them.

#![expect(unsafe_code, reason = "loads a C library")]

use super::*;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::Barrier;
use std::time::Duration;

const N_THREADS: usize = 4;
/// The variable that holds the stub's configuration for a process that exits.
const VARIABLE: &str = "KERNPACK_TEST_EXITS";

/// Runs a test in a process of its own, which exits from the midst of calls.
fn expect_exit(test: &str, config: &str) {
    let program = std::env::current_exe().unwrap();
    let mut again = Command::new(program);
    let output = again.args(["--exact", test]).env(VARIABLE, config).output().unwrap();
    let status = output.status;
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!((status.code(), status.signal()), (Some(EXITED), None), "{config}: {told}");
}

/// What such a process exits with: no other outcome of a test program is that.
const EXITED: i32 = 67;

/// A library that takes its time to go. What is loaded later goes before it.
const SLOW: &str = "
struct timespec { long seconds, nanoseconds; };
int nanosleep(const struct timespec *, struct timespec *);
__attribute__((destructor)) static void go(void) {
    struct timespec time = { 0, 200 * 1000 * 1000 };
    nanosleep(&time, 0);
}
";

fn load_slow_library() {
    let folder = tempfile::tempdir().unwrap();
    let library = build_c(folder.path(), "slow.so", SLOW);
    // SAFETY: loading it runs nothing.
    std::mem::forget(unsafe { libloading::Library::new(&library) }.unwrap());
}

/// Threads call a package while the process exits: after a while, and from then on.
fn call_and_exit(config: &str, after: Duration) -> ! {
    let stub = Stub::load(config);
    // One goes after the package, and one before.
    load_slow_library();
    let loaded: &'static Loaded = Box::leak(Box::new(package().load()));
    load_slow_library();
    let barrier: &'static Barrier = Box::leak(Box::new(Barrier::new(N_THREADS + 1)));
    for _ in 0..N_THREADS {
        std::thread::spawn(move || {
            default_stream();
            barrier.wait();
            std::thread::sleep(after);
            loop {
                // Whatever is said, once the process is about to go.
                _ = scale(loaded, 8, 0);
            }
        });
    }
    barrier.wait();
    std::thread::sleep(Duration::from_millis(50));
    std::mem::forget(stub);
    std::process::exit(EXITED)
}

#[test]
fn a_process_may_exit_while_threads_launch() {
    if let Ok(config) = std::env::var(VARIABLE) {
        call_and_exit(&config, Duration::ZERO);
    }
    for config in [
        "devices 1\ndelay cuLibraryLoadData 60",
        "devices 1\ndelay cuLaunchKernelEx 20",
        "devices 1\ndelay cuCtxSetCurrent 20",
        "devices 1",
    ] {
        expect_exit("exit::a_process_may_exit_while_threads_launch", config);
    }
}

/// Destructors run by then, and the package's have yet to.
#[test]
fn the_first_call_may_come_while_the_process_exits() {
    if let Ok(config) = std::env::var(VARIABLE) {
        call_and_exit(&config, Duration::from_millis(150));
    }
    for config in ["devices 1\ndelay cuLibraryLoadData 200", "devices 1\ndelay cuLaunchKernelEx 20"]
    {
        expect_exit("exit::the_first_call_may_come_while_the_process_exits", config);
    }
}

/// What was to be called at exit goes with the package.
#[test]
fn a_process_may_exit_after_a_package_is_gone() {
    if let Ok(config) = std::env::var(VARIABLE) {
        default_stream();
        let _stub = Stub::load(&config);
        for _ in 0..3 {
            let loaded = package().load();
            assert_eq!(scale(&loaded, 8, 0), Ok(()));
        }
        std::process::exit(EXITED)
    }
    expect_exit("exit::a_process_may_exit_after_a_package_is_gone", "devices 1");
}
