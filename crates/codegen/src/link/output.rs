// SPDX-License-Identifier: Apache-2.0
//! Where lld leaves its result: a pipe.
//!
//! For an ordinary file, LLVM makes a temporary one beside it and, so that an interrupted linker
//! leaves none, takes over the process's signals for good: a host's own handling of Ctrl-C would be
//! lost. Into a pipe it writes from memory.

use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::mpsc::{Sender, channel};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, ioctl_fionbio};

/// A pipe that is emptied while another thread has something write to it.
pub(super) struct Output {
    reader: PipeReader,
    writer: PipeWriter,
}

/// Tells the thread that empties the pipe that nothing more will be written, and what came of the
/// writing.
///
/// The pipe's own end is no sign of that: a child that a third thread forks meanwhile holds the
/// pipe open for as long as it lives.
pub(super) struct Done<T> {
    outcome: Sender<T>,
    end: PipeWriter,
}

impl AsFd for Output {
    /// The end to write to.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.writer.as_fd()
    }
}

impl Output {
    pub(super) fn new() -> io::Result<Output> {
        let (reader, writer) = io::pipe()?;
        // The other end is an open file of its own, and stays as it is.
        ioctl_fionbio(&reader, true)?;
        Ok(Output { reader, writer })
    }

    /// Returns what is written to the pipe from the call of `start` until [`Done::tell`], and what
    /// was told.
    pub(super) fn collect<T>(
        mut self,
        start: impl FnOnce(Done<T>) -> io::Result<()>,
    ) -> io::Result<(T, Vec<u8>)> {
        let (sender, outcome) = channel();
        let (until, end) = io::pipe()?;
        start(Done { outcome: sender, end })?;
        let bytes = read_until(&mut self.reader, &until)?;
        Ok((outcome.recv().expect("the writing thread does not panic"), bytes))
    }
}

impl<T> Done<T> {
    pub(super) fn tell(mut self, outcome: T) {
        self.outcome.send(outcome).expect("the reading thread waits");
        self.end.write_all(&[0]).expect("a pipe has room for a byte");
    }
}

/// Reads until `end` has something to read and `pipe` has not.
fn read_until(pipe: &mut PipeReader, end: &PipeReader) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let is_last = wait(pipe, end)?;
        match pipe.read_to_end(&mut bytes) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
            _ if is_last => return Ok(bytes),
            _ => {}
        }
    }
}

/// Waits for something to read, and returns whether it is the end.
fn wait(pipe: &PipeReader, end: &PipeReader) -> io::Result<bool> {
    let mut ends = [PollFd::new(pipe, PollFlags::IN), PollFd::new(end, PollFlags::IN)];
    loop {
        match poll(&mut ends, None) {
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(_) => return Ok(!ends[1].revents().is_empty()),
        }
    }
}
