// SPDX-License-Identifier: Apache-2.0
//! The calls into `native/link.cpp`: the only unsafe code of the link layer.

#![expect(unsafe_code, reason = "LLVM's linker and ObjCopy are C++")]

use std::ffi::{CString, NulError, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::sync::{Mutex, Once, PoisonError};
use std::{io, ptr, slice, thread};

/// Why a native call made nothing.
#[derive(Debug)]
pub(super) enum Failure {
    /// LLVM said no, in these words.
    Refused(String),
    /// lld crashed, now or earlier.
    Crashed,
}

#[repr(C)]
struct Sink {
    context: *mut c_void,
    write: unsafe extern "C" fn(*mut c_void, *const c_char, usize),
}

#[repr(C)]
struct Names {
    names: *const *const c_char,
    count: usize,
}

/// `struct kernpack_changes` of `native/link.h`.
#[repr(C)]
struct NativeChanges {
    local: Names,
    renamed: Names,
    names: Names,
    removed: Names,
}

unsafe extern "C" {
    fn kernpack_initialize_llvm();
    fn kernpack_lld(arguments: Names, text: Sink) -> c_int;
    fn kernpack_objcopy(
        file: *const c_char,
        length: usize,
        changes: NativeChanges,
        output: Sink,
        text: Sink,
    ) -> c_int;
}

// `enum kernpack_outcome` of `native/link.h`.
const DONE: c_int = 0;
const REFUSED: c_int = 1;
const GAVE_UP: c_int = 2;
const CRASHED: c_int = 3;
/// Not run, after a crash.
const UNFIT: c_int = 4;

/// The stack that lld has when it is a program.
const LLD_STACK_BYTES: usize = 8 << 20;

/// Registers LLVM's targets, once per process.
///
/// LLVM's registry takes no lock and lld registers every target at each of its runs, so code that
/// uses LLVM's targets calls this first: afterwards all later registrations change nothing.
pub fn initialize_llvm() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the function has no preconditions besides running alone, which `Once` sees to.
        unsafe { kernpack_initialize_llvm() }
    });
}

/// Starts lld with these arguments on a thread of its own, where `done` is called in the end. Its
/// result is in the file that the arguments name.
///
/// lld allocates from memory of the thread it runs on and frees that when the thread ends. Where it
/// gave up half-way, freeing would crash; such a thread never ends.
pub(super) fn lld(
    arguments: Vec<CString>,
    done: impl FnOnce(Result<(), Failure>) + Send + 'static,
) -> io::Result<()> {
    let run = move || {
        let (outcome, text) = run_lld(&arguments);
        done(result(outcome, &text));
        if matches!(outcome, GAVE_UP | CRASHED) {
            loop {
                thread::park();
            }
        }
    };
    thread::Builder::new().name("kernpack-link".into()).stack_size(LLD_STACK_BYTES).spawn(run)?;
    Ok(())
}

fn run_lld(arguments: &[CString]) -> (c_int, Vec<u8>) {
    /// Whether lld has not crashed so far.
    static FIT: Mutex<bool> = Mutex::new(true);

    initialize_llvm();
    let arguments = NameList::new(arguments);
    let mut text = Vec::new();
    let mut fit = FIT.lock().unwrap_or_else(PoisonError::into_inner);
    if !*fit {
        return (UNFIT, text);
    }
    // SAFETY: the names and the buffer outlive the call, the lock makes it the only one, and lld is
    // fit to run.
    let outcome = unsafe { kernpack_lld(arguments.as_names(), sink(&mut text)) };
    *fit = outcome != CRASHED;
    (outcome, text)
}

/// Changes of an ELF file. Every list has the names from before.
#[derive(Debug, Default)]
pub(super) struct Changes<'a> {
    /// Symbols that become local if the file defines them.
    pub(super) local: Vec<&'a str>,
    /// Symbols that get other names.
    pub(super) renamed: Vec<(&'a str, &'a str)>,
    /// Sections that are left out.
    pub(super) removed: Vec<&'a str>,
}

/// Copies an ELF file with these changes.
pub(super) fn objcopy(file: &[u8], changes: &Changes<'_>) -> Result<Vec<u8>, Failure> {
    let (renamed, names): (Vec<_>, Vec<_>) = changes.renamed.iter().copied().unzip();
    let (local, removed) = (c_strings(&changes.local)?, c_strings(&changes.removed)?);
    let (renamed, names) = (c_strings(&renamed)?, c_strings(&names)?);
    let [local, removed, renamed, names] =
        [&local, &removed, &renamed, &names].map(|strings| NameList::new(strings));
    let changes = NativeChanges {
        local: local.as_names(),
        renamed: renamed.as_names(),
        names: names.as_names(),
        removed: removed.as_names(),
    };
    let (mut output, mut text) = (Vec::new(), Vec::new());
    // SAFETY: the file, the names and the two buffers outlive the call, and the function keeps no
    // state.
    let outcome = unsafe {
        kernpack_objcopy(
            file.as_ptr().cast(),
            file.len(),
            changes,
            sink(&mut output),
            sink(&mut text),
        )
    };
    result(outcome, &text).map(|()| output)
}

fn result(outcome: c_int, text: &[u8]) -> Result<(), Failure> {
    match outcome {
        DONE => Ok(()),
        REFUSED | GAVE_UP => Err(Failure::Refused(String::from_utf8_lossy(text).trim().to_owned())),
        _ => Err(Failure::Crashed),
    }
}

fn c_strings(names: &[&str]) -> Result<Vec<CString>, Failure> {
    let c_string = |name: &&str| CString::new(*name);
    let refused = |error: NulError| Failure::Refused(error.to_string());
    names.iter().map(c_string).collect::<Result<_, _>>().map_err(refused)
}

/// Pointers to strings, for as long as the strings live.
struct NameList<'a> {
    pointers: Vec<*const c_char>,
    strings: PhantomData<&'a [CString]>,
}

impl<'a> NameList<'a> {
    fn new(strings: &'a [CString]) -> NameList<'a> {
        let pointers = strings.iter().map(|string| string.as_ptr()).collect();
        NameList { pointers, strings: PhantomData }
    }

    fn as_names(&self) -> Names {
        Names { names: self.pointers.as_ptr(), count: self.pointers.len() }
    }
}

/// A sink that appends to `buffer`, good for as long as the borrow.
fn sink(buffer: &mut Vec<u8>) -> Sink {
    Sink { context: ptr::from_mut(buffer).cast(), write: append }
}

unsafe extern "C" fn append(context: *mut c_void, bytes: *const c_char, length: usize) {
    // SAFETY: `context` comes from `sink`, whose buffer outlives the native call that runs this and
    // is used by nothing else.
    let buffer = unsafe { &mut *context.cast::<Vec<u8>>() };
    // SAFETY: `native/link.cpp` passes a pointer to `length` bytes, never a null one.
    let bytes = unsafe { slice::from_raw_parts(bytes.cast(), length) };
    buffer.extend_from_slice(bytes);
}
