// SPDX-License-Identifier: Apache-2.0
//! Tests that need a process of their own: because they look at all of it, fork it, or need other
//! libraries. Such a test runs itself again.
#![expect(unsafe_code, reason = "processes are forked by C functions")]

use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

/// The variable that tells a test that it is alone.
const VARIABLE: &str = "KERNPACK_TEST_ALONE";

/// Whether this process runs nothing but the test of this name. Where it does not, another one that
/// does is run, with these variables, and has to succeed.
pub fn alone(test: &str, variables: &[(&str, &str)]) -> bool {
    if std::env::var_os(VARIABLE).is_some_and(|name| name == test) {
        return true;
    }
    let program = std::env::current_exe().expect("a program has a path");
    let mut again = Command::new(program);
    again.args(["--exact", test, "--nocapture"]).env(VARIABLE, test);
    let output = again.envs(variables.iter().copied()).output().expect("a program can be run");
    let told = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{test}, alone: {}\n{told}{complaint}", output.status);
    assert!(told.contains("1 passed"), "{test}, alone, did not run:\n{told}");
    false
}

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(status: i32) -> !;
    fn getrlimit(resource: i32, limit: *mut [u64; 2]) -> i32;
    fn setrlimit(resource: i32, limit: *const [u64; 2]) -> i32;
}

/// `RLIMIT_AS`: how much address space a process may have.
const ADDRESS_SPACE: i32 = 9;

/// Does the work while the process gets no more memory from the kernel. To be called where a test
/// is [alone].
pub fn without_more_memory<T>(work: impl FnOnce() -> T) -> T {
    let mut limit = [0; 2];
    // SAFETY: a limit is two words: the present one, and the highest that may be set.
    assert_eq!(unsafe { getrlimit(ADDRESS_SPACE, &mut limit) }, 0);
    // SAFETY: as above. What the process has, it keeps.
    assert_eq!(unsafe { setrlimit(ADDRESS_SPACE, &[0, limit[1]]) }, 0);
    let result = work();
    // SAFETY: as above.
    assert_eq!(unsafe { setrlimit(ADDRESS_SPACE, &limit) }, 0);
    result
}

/// Does the work in a forked child, and returns what that gives. To be called where a test is
/// [alone]: other threads may hold locks that the child waits for.
pub fn in_child(work: impl FnOnce() -> String) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("told");
    // SAFETY: no other thread is at work.
    let child = unsafe { fork() };
    assert!(child >= 0, "no child");
    if child == 0 {
        let told = catch_unwind(AssertUnwindSafe(work));
        let written = std::fs::write(&file, told.unwrap_or_else(|_| "a panic".to_string()));
        // SAFETY: nothing of the parent's is to be cleaned up here.
        unsafe { _exit(i32::from(written.is_err())) };
    }
    let mut status = 0;
    // SAFETY: the child is this process's own.
    assert_eq!(unsafe { waitpid(child, &mut status, 0) }, child);
    let status = std::process::ExitStatus::from_raw(status);
    assert!(status.success(), "the child: {status}");
    std::fs::read_to_string(file).expect("the child has written")
}
