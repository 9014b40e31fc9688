// SPDX-License-Identifier: Apache-2.0
//! Captures: what may not be done while a stream is captured. A call that is refused for this
//! spoils the captures that forbid it.

use crate::c_types::{CUcontext, CUstream};
use crate::call::Call;
use crate::driver::Capture;
use crate::status::Status;

/// Capture modes, of captures and of threads.
pub mod mode {
    /// Forbids potentially unsafe calls to every thread.
    pub const GLOBAL: u32 = 0;
    /// Forbids them to the thread that captures.
    pub const THREAD_LOCAL: u32 = 1;
    /// Forbids nothing.
    pub const RELAXED: u32 = 2;
}

impl Call<'_> {
    /// Where the capture of a stream is noted: the per-thread stream is another one in each thread.
    pub fn capture_key(&self, stream: CUstream) -> (CUstream, u64) {
        (stream, if stream.0 == 2 { self.thread.number } else { 0 })
    }

    /// The capture of a stream.
    pub fn capture(&mut self, stream: CUstream) -> Option<&mut Capture> {
        let key = self.capture_key(stream);
        self.driver.captures.get_mut(&key)
    }

    /// Refuses a call that some capture forbids: to a thread in global mode its own captures that
    /// are not relaxed and everybody's global ones do, to one in thread-local mode only its own, to
    /// one in relaxed mode none.
    pub fn potentially_unsafe(&mut self) -> Result<(), Status> {
        let (number, own_mode) = (self.thread.number, self.thread.capture_mode);
        let forbids = |capture: &Capture| {
            let is_own = capture.thread == number && capture.mode != mode::RELAXED;
            let is_global = own_mode == mode::GLOBAL && capture.mode == mode::GLOBAL;
            own_mode != mode::RELAXED && (is_own || is_global)
        };
        let mut result = Ok(());
        for capture in self.driver.captures.values_mut().filter(|capture| forbids(capture)) {
            capture.is_invalid = true;
            result = Err(Status::STREAM_CAPTURE_UNSUPPORTED);
        }
        result
    }

    /// Spoils the capture of a stream, if there is one.
    pub fn spoil(&mut self, stream: CUstream) {
        if let Some(capture) = self.capture(stream) {
            capture.is_invalid = true;
        }
    }

    /// Spoils the captures of which something holds, and says whether there are any.
    fn spoil_all(&mut self, of: impl Fn(&Capture) -> bool) -> bool {
        let mut captures =
            self.driver.captures.values_mut().filter(|capture| of(capture)).peekable();
        let are_any = captures.peek().is_some();
        captures.for_each(|capture| capture.is_invalid = true);
        are_any
    }

    /// Refuses to wait for a stream that is captured, or that would have to wait for one.
    pub fn wait_for(&mut self, stream: CUstream) -> Result<(), Status> {
        self.ask_captured(stream)?;
        if stream.0 > 1 { Ok(()) } else { self.potentially_unsafe() }
    }

    /// Refuses what is asked of a stream that is captured, or that would have to wait for one.
    pub fn ask_captured(&mut self, stream: CUstream) -> Result<(), Status> {
        if self.capture(stream).is_some() {
            self.spoil(stream);
            return Err(Status::STREAM_CAPTURE_UNSUPPORTED);
        }
        self.answering(stream).map(|_context| ())
    }

    /// The context of a stream, unless that would have to wait for one that is captured.
    pub fn answering(&mut self, stream: CUstream) -> Result<CUcontext, Status> {
        let context = self.driver.context_of(stream, self.thread)?;
        if stream.0 <= 1 {
            self.join_blocking(context)?;
        }
        Ok(context)
    }

    /// Refuses to wait for a context of which something is captured.
    pub fn wait_for_context(&mut self, context: CUcontext) -> Result<(), Status> {
        let are_any = self.spoil_all(|capture| capture.context == context);
        if are_any { Err(Status::STREAM_CAPTURE_UNSUPPORTED) } else { Ok(()) }
    }

    /// What the NULL stream does waits for the streams that block it; none of them may be captured.
    fn join_blocking(&mut self, context: CUcontext) -> Result<(), Status> {
        let are_any = self.spoil_all(|capture| capture.is_blocking && capture.context == context);
        if are_any { Err(Status::STREAM_CAPTURE_IMPLICIT) } else { Ok(()) }
    }

    /// Refuses a graph for a stream that is captured, and spoils the capture. Otherwise a graph is
    /// work like any other.
    pub fn enqueue_graph(&mut self, stream: CUstream) -> Result<(), Status> {
        if self.enqueue(stream)? {
            self.spoil(stream);
            return Err(Status::STREAM_CAPTURE_UNSUPPORTED);
        }
        Ok(())
    }

    /// Work on a stream goes into its capture, if there is one that was not spoilt; says whether it
    /// does. Work on the NULL stream would wait for captured streams that block it.
    pub fn enqueue(&mut self, stream: CUstream) -> Result<bool, Status> {
        let context = self.driver.context_of(stream, self.thread)?;
        if let Some(capture) = self.capture(stream) {
            let is_invalid = capture.is_invalid;
            return if is_invalid { Err(Status::STREAM_CAPTURE_INVALIDATED) } else { Ok(true) };
        }
        if stream.0 > 1 {
            return Ok(false);
        }
        self.join_blocking(context).map(|()| false)
    }
}
