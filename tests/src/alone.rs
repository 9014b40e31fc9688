// SPDX-License-Identifier: Apache-2.0
//! Tests that need a process of their own: because they look at all of it, fork it, or need other libraries. Such a test runs itself again.
#![expect(unsafe_code, reason = "processes are forked by C functions")]

use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

/// The variable that tells a test that it is alone.
const VARIABLE: &str = "KERNPACK_TEST_ALONE";

/// Whether this process runs nothing but the test of this name. Where it does not, another one that does is run, with these variables, and has
/// to succeed.
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
}

/// Does the work in a forked child, and returns what that gives. To be called where a test is [alone]: other threads may hold locks that the
/// child waits for.
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
