// SPDX-License-Identifier: Apache-2.0
//! Streams and their capture. Streams 0, 1 and 2 (NULL, legacy, per-thread) are always there, and
//! belong to whatever context is current.

use crate::argument::{InOut, Out};
use crate::c_types::{
    CUcontext, CUgraph, CUgreenCtx, CUstream, CUstreamCaptureMode, CUstreamCaptureStatus,
};
use crate::capture::mode;
use crate::driver::Capture;
use crate::graph::Graph;
use crate::status::Status;

api! {
    /// Makes a stream in the current context. Flag 1: it and the NULL stream do not wait for one
    /// another.
    fn cuStreamCreate(call, stream: Out<CUstream>, flags: u32) {
        stream.put(call.add_stream(flags, 0)?)
    }

    /// Ends a stream.
    fn cuStreamDestroy_v2(call, stream: CUstream) {
        if stream.0 <= 2 {
            return Err(Status::INVALID_HANDLE);
        }
        call.driver.context_of(stream, call.thread)?;
        call.driver.streams.remove(stream.0);
        let key = call.capture_key(stream);
        call.driver.end_capture(key);
        Ok(())
    }

    /// The context that a stream's work goes to. Asking it of the NULL stream spoils captures that
    /// this would wait for.
    fn cuStreamGetCtx(call, stream: CUstream, context: Out<CUcontext>) {
        context.put(call.answering(stream)?)
    }

    /// The same; no stream is one of a green context.
    fn cuStreamGetCtx_v2(
        call,
        stream: CUstream,
        context: Out<CUcontext>,
        green: Out<CUgreenCtx>,
    ) {
        context.put(call.answering(stream)?)?;
        green.offer(CUgreenCtx(0));
        Ok(())
    }

    /// Waits for a stream's work.
    fn cuStreamSynchronize(call, stream: CUstream) {
        call.wait_for(stream)
    }

    /// Whether a stream's work is done, which it always is.
    fn cuStreamQuery(call, stream: CUstream) {
        call.wait_for(stream)
    }

    /// Whether a stream is captured: 0 no, 1 yes, 2 it was, and something spoilt it. The NULL
    /// stream is refused an answer while one is captured that it would wait for, which spoils
    /// nothing.
    fn cuStreamIsCapturing(call, stream: CUstream, status: Out<CUstreamCaptureStatus>) {
        let context = call.driver.context_of(stream, call.thread)?;
        let mut captures = call.driver.captures.values();
        let waits = |capture: &Capture| capture.is_blocking && capture.context == context;
        if stream.0 <= 1 && captures.any(waits) {
            return Err(Status::STREAM_CAPTURE_IMPLICIT);
        }
        let capture = call.capture(stream).map_or(0, |capture| 1 + u32::from(capture.is_invalid));
        status.put(CUstreamCaptureStatus(capture))
    }

    /// Captures what follows on a stream.
    fn cuStreamBeginCapture_v2(call, stream: CUstream, capture_mode: CUstreamCaptureMode) {
        call.driver.context_of(stream, call.thread)?;
        if capture_mode.0 > mode::RELAXED {
            return Err(Status::INVALID_VALUE);
        }
        if stream.0 <= 1 {
            return Err(Status::STREAM_CAPTURE_UNSUPPORTED);
        }
        if call.capture(stream).is_some() {
            return Err(Status::ILLEGAL_STATE);
        }
        let thread = call.thread.number;
        let context = call.driver.context_of(stream, call.thread)?;
        let is_blocking = call.driver.streams.get(stream.0).is_none_or(|own| own.is_blocking);
        let key = call.capture_key(stream);
        let mode = capture_mode.0;
        let capture = Capture { mode, thread, context, is_blocking, is_invalid: false };
        call.driver.captures.insert(key, capture);
        Ok(())
    }

    /// Ends a capture, which became a graph, or nothing if it was spoilt or is another thread's:
    /// then, too, it has ended.
    fn cuStreamEndCapture(call, stream: CUstream, graph: Out<CUgraph>) {
        call.driver.context_of(stream, call.thread)?;
        let capture = *call.capture(stream).ok_or(Status::ILLEGAL_STATE)?;
        let key = call.capture_key(stream);
        call.driver.end_capture(key);
        if capture.is_invalid {
            graph.put(CUgraph(0))?;
            return Err(Status::STREAM_CAPTURE_INVALIDATED);
        }
        if capture.thread != call.thread.number && capture.mode != mode::RELAXED {
            return Err(Status::STREAM_CAPTURE_WRONG_THREAD);
        }
        graph.put(CUgraph(call.driver.graphs.add(Graph::captured())))
    }

    /// Sets which captures the thread's potentially unsafe calls respect, and gives back what was
    /// set.
    fn cuThreadExchangeStreamCaptureMode(call, capture_mode: InOut<CUstreamCaptureMode>) {
        let new = capture_mode.get()?;
        if new.0 > mode::RELAXED {
            return Err(Status::INVALID_VALUE);
        }
        capture_mode.put(CUstreamCaptureMode(call.thread.capture_mode))?;
        call.thread.capture_mode = new.0;
        Ok(())
    }
}
