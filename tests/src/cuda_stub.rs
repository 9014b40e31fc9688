// SPDX-License-Identifier: Apache-2.0
//! The CUDA driver that needs no GPU, for tests of packages that launch kernels. `tests/cuda-stub`
//! is the driver itself; here it is found and spoken to.
//!
//! The library has `libcuda.so.1` as its name inside: once a process has [loaded](Stub::load) it,
//! packages there find it under that name. Other processes get the [`folder`] in `LD_LIBRARY_PATH`,
//! and a configuration in the file that `KERNPACK_CUDA_STUB` names.

#![expect(unsafe_code, reason = "the stub is a C library")]

use libloading::Library;
use serde_json::Value;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// The driver is one for the process.
static LOADED: LazyLock<(Mutex<()>, Library)> = LazyLock::new(|| {
    // SAFETY: Loading the stub runs nothing of its own.
    let library = unsafe { Library::new(library()) };
    (
        Mutex::new(()),
        library.unwrap_or_else(|error| panic!("{}: {error}", library_path().display())),
    )
});

/// Where cargo puts the library that it builds along with this crate: among the dependencies of the
/// program that runs.
fn library_path() -> PathBuf {
    let program = std::env::current_exe().expect("a program has a path");
    let folder = program.parent().unwrap_or(Path::new("."));
    let folder = if folder.ends_with("deps") { folder.to_path_buf() } else { folder.join("deps") };
    folder.join("libkernpack_cuda_stub.so")
}

/// A folder with nothing but the stub in it, as `libcuda.so.1`.
pub fn folder() -> PathBuf {
    let built = library_path();
    assert!(built.is_file(), "{} is missing: cargo build -p kernpack-tests", built.display());
    let folder = built.with_file_name("cuda-stub");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let link = folder.join("libcuda.so.1");
    // Other programs may make the same link at the same time; it is never another.
    if let Err(error) = std::os::unix::fs::symlink("../libkernpack_cuda_stub.so", &link) {
        assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists, "{}", link.display());
    }
    folder
}

/// The stub under the driver's name.
pub fn library() -> PathBuf {
    folder().join("libcuda.so.1")
}

/// The loaded stub, for one user at a time.
pub struct Stub {
    _turn: MutexGuard<'static, ()>,
}

impl Stub {
    /// Loads the stub, waits until nobody else in the process has it, and begins a new life of the
    /// driver that is told this.
    pub fn load(config: &str) -> Stub {
        let stub = Stub { _turn: LOADED.0.lock().unwrap_or_else(PoisonError::into_inner) };
        stub.reset(config);
        stub
    }

    /// Begins a new life of the driver.
    pub fn reset(&self, config: &str) {
        let text = CString::new(config).expect("a configuration has no NUL");
        // SAFETY: This is the function's type.
        let reset =
            unsafe { LOADED.1.get::<extern "C" fn(*const i8) -> i32>(b"kernpack_cuda_stub_reset") };
        let result = reset.expect("the stub has it")(text.as_ptr().cast());
        assert_eq!(result, 0, "the stub cannot read this:\n{config}");
    }

    /// Lets the nth next call of a function fail with a code, or all of them with 0 for nth.
    pub fn fail(&self, function: &str, nth: u64, code: u32) {
        let text = CString::new(function).expect("a name has no NUL");
        // SAFETY: This is the function's type.
        let fail = unsafe {
            LOADED.1.get::<extern "C" fn(*const i8, u64, u32) -> i32>(b"kernpack_cuda_stub_fail")
        };
        let result = fail.expect("the stub has it")(text.as_ptr().cast(), nth, code);
        assert_eq!(result, 0, "the stub has no function `{function}`");
    }

    /// How much there is of each kind of object.
    pub fn counts(&self) -> Value {
        serde_json::from_str(&text(b"kernpack_cuda_stub_counts")).expect("counts are JSON")
    }

    /// The calls since the log was last taken.
    pub fn take_log(&self) -> Vec<Value> {
        let log = text(b"kernpack_cuda_stub_take_log");
        log.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
    }
}

/// Every kernel that the calls of a log launched, in order, whether in a launch of its own or in
/// that of a graph: what calls that succeeded have under `launch` and `launches`.
pub fn launched(log: &[Value]) -> Vec<&Value> {
    let mut launched = Vec::new();
    for line in log.iter().filter(|line| line["result"] == "CUDA_SUCCESS") {
        launched.extend(line.get("launch"));
        launched.extend(line["launches"].as_array().into_iter().flatten());
    }
    launched
}

/// What a function writes into a buffer that is long enough.
fn text(function: &[u8]) -> String {
    // SAFETY: Both functions have this type.
    let function = unsafe { LOADED.1.get::<extern "C" fn(*mut u8, usize) -> usize>(function) };
    let function = function.expect("the stub has it");
    let mut buffer = Vec::new();
    loop {
        let length = function(buffer.as_mut_ptr(), buffer.len());
        if length < buffer.len() {
            buffer.truncate(length);
            return String::from_utf8(buffer).expect("the stub writes text");
        }
        // Another thread may make calls in between: then the next length is another.
        buffer = vec![0; length + 1];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn init() -> u32 {
        // SAFETY: Loading a driver runs nothing of its own.
        let driver = unsafe { Library::new("libcuda.so.1") }.expect("it is loaded");
        // SAFETY: This is the function's type.
        let init = unsafe { driver.get::<extern "C" fn(u32) -> u32>(b"cuInit") };
        init.expect("the driver has it")(0)
    }

    #[test]
    fn the_stub_is_found_under_the_drivers_name() {
        let stub = Stub::load("devices 1");
        assert_eq!(init(), 0);
        let log = stub.take_log();
        assert_eq!((log.len(), &log[0]["call"]), (1, &Value::from("cuInit")));
        assert!(stub.take_log().is_empty());
        assert_eq!(stub.counts()["libraries"], 0);
        stub.fail("cuInit", 1, 100);
        assert_eq!([init(), init()], [100, 0]);
        stub.reset("fail cuInit with 803");
        assert_eq!(init(), 803);
    }

    #[test]
    fn launches_are_alone_or_of_graphs() {
        let log = [
            json!({"result": "CUDA_SUCCESS", "launch": 1}),
            json!({"result": "CUDA_SUCCESS", "out": {}}),
            json!({"result": "CUDA_ERROR_INVALID_VALUE", "launch": 2}),
            json!({"result": "CUDA_SUCCESS", "launches": [3, 4]}),
        ];
        assert_eq!(launched(&log), [1, 3, 4]);
    }

    #[test]
    fn the_link_is_made_once_and_leads_to_the_library() {
        assert_eq!(library(), library());
        let target = std::fs::canonicalize(library()).expect("it leads somewhere");
        assert_eq!(target, std::fs::canonicalize(library_path()).expect("it was built"));
    }
}
