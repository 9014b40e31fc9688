// SPDX-License-Identifier: Apache-2.0
//! One run of lld: its command line, and files in memory in place of the files that it wants.
//!
//! lld reads and writes files by path. Inputs are anonymous files, named by their descriptors under
//! `/proc/self/fd`, and the result comes through a pipe (see [`Output`]): nothing touches a disk,
//! nothing is left behind by a process that dies, and no path can reach a result. In messages the
//! inputs' own names stand in place of the paths.

use std::cmp::Reverse;
use std::ffi::CString;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;

use rustix::fs::{MemfdFlags, memfd_create};

use super::error::LinkError;
use super::input::Input;
use super::native::{self, Failure};
use super::output::Output;
use super::stub;
use kernpack_package::target::ElfTarget;

/// A link that is being put together.
pub(super) struct Link<'a> {
    target: ElfTarget,
    arguments: Vec<CString>,
    /// The inputs' names, with the paths that stand for them on the command line.
    inputs: Vec<(String, &'a str)>,
    /// The files that the paths lead to, kept open.
    files: Vec<File>,
}

impl<'a> Link<'a> {
    pub(super) fn new(target: ElfTarget) -> Link<'a> {
        let (arguments, inputs, files) = (Vec::new(), Vec::new(), Vec::new());
        let mut link = Link { target, arguments, inputs, files };
        // One thread: lld ends the process if it meets damage on a thread of its own.
        link.flags(&["-m", target.emulation(), "--threads=1", "--no-warnings"]);
        link
    }

    pub(super) fn flags(&mut self, flags: &[&str]) {
        let c_string = |flag: &&str| CString::new(*flag).expect("flags have no NUL");
        self.arguments.extend(flags.iter().map(c_string));
    }

    pub(super) fn input(&mut self, input: Input<'a>) -> Result<(), LinkError> {
        let path = self.file(input.bytes)?;
        self.inputs.push((path, input.name));
        Ok(())
    }

    /// Adds an object of our own, which messages do not name.
    pub(super) fn object(&mut self, bytes: &[u8]) -> Result<(), LinkError> {
        self.file(bytes).map(drop)
    }

    pub(super) fn soname(&mut self, name: &str) -> Result<(), LinkError> {
        verify_library_name(name)?;
        self.flags(&["-soname", name]);
        Ok(())
    }

    /// Makes the result need another library, by linking it with an empty one of that name.
    pub(super) fn needed(&mut self, name: &str) -> Result<(), LinkError> {
        verify_library_name(name)?;
        self.flags(&["--no-as-needed"]);
        self.file(&stub::library(self.target, name)?).map(drop)
    }

    pub(super) fn run(mut self) -> Result<Vec<u8>, LinkError> {
        let output = Output::new()?;
        self.flags(&["-o", &path(&output)]);
        let arguments = std::mem::take(&mut self.arguments);
        let (outcome, bytes) =
            output.collect(|done| native::lld(arguments, |outcome| done.tell(outcome)))?;
        outcome.map(|()| bytes).map_err(|failure| self.explain(failure))
    }

    /// Puts a file on the command line.
    fn file(&mut self, bytes: &[u8]) -> Result<String, LinkError> {
        let mut file = File::from(memfd_create("kernpack-link", MemfdFlags::CLOEXEC)?);
        file.write_all(bytes)?;
        let path = path(&file);
        if !Path::new(&path).exists() {
            return Err(LinkError::NoProc);
        }
        self.flags(&[&path]);
        self.files.push(file);
        Ok(path)
    }

    fn explain(&self, failure: Failure) -> LinkError {
        let failure = match failure {
            Failure::Refused(text) => Failure::Refused(self.in_callers_words(&text)),
            Failure::Crashed => Failure::Crashed,
        };
        LinkError::new(failure, self.inputs.iter().map(|(_, name)| *name))
    }

    /// The linker's text without its own name, and with the inputs' names in place of paths.
    fn in_callers_words(&self, text: &str) -> String {
        let text = text.replace("ld.lld: error: ", "");
        let mut inputs = self.inputs.iter().collect::<Vec<_>>();
        // Longer paths first: `/proc/self/fd/1` begins `/proc/self/fd/10`.
        inputs.sort_by_key(|(path, _)| Reverse(path.len()));
        inputs.iter().fold(text, |text, (path, name)| text.replace(path, name))
    }
}

/// A path that leads to an open file, in this process.
fn path(file: &impl AsFd) -> String {
    format!("/proc/self/fd/{}", file.as_fd().as_raw_fd())
}

fn verify_library_name(name: &str) -> Result<(), LinkError> {
    if kernpack_package::target::is_library_name(name) {
        Ok(())
    } else {
        Err(LinkError::LibraryName(name.to_owned()))
    }
}
