// SPDX-License-Identifier: Apache-2.0
//! Events, by which streams wait for one another, and which say when work was done. All work is
//! done at once, so that there is nothing to wait for; what is refused is.

use crate::argument::Out;
use crate::c_types::{CUevent, CUstream};
use crate::driver::{Event, Recorded};
use crate::status::Status;
use std::time::Instant;

/// An event that takes no time, as those must be that go to another process.
const DISABLE_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;
const ALL_FLAGS: u32 = 7;

api! {
    /// Makes an event in the current context.
    fn cuEventCreate(call, event: Out<CUevent>, flags: u32) {
        let context = call.driver.current(call.thread)?;
        let is_timed = flags & DISABLE_TIMING == 0;
        if flags > ALL_FLAGS || is_timed && flags & INTERPROCESS != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let new = Event { context, is_timed, recorded: Recorded::Never, at: Instant::now() };
        event.put(CUevent(call.driver.events.add(new)))
    }

    /// Ends an event.
    fn cuEventDestroy_v2(call, event: CUevent) {
        let ended = call.driver.events.remove(event.0);
        ended.map(|_| ()).ok_or(Status::INVALID_HANDLE)
    }

    /// Records an event in a stream of its context.
    fn cuEventRecord(call, event: CUevent, stream: CUstream) {
        let context = call.driver.context_of(stream, call.thread)?;
        if call.driver.event(event)?.context != context {
            return Err(Status::INVALID_HANDLE);
        }
        let is_captured = call.enqueue(stream)?;
        let key = call.capture_key(stream);
        let recorded = if is_captured { Recorded::In(key) } else { Recorded::Before };
        let event = call.driver.event(event)?;
        (event.recorded, event.at) = (recorded, Instant::now());
        Ok(())
    }

    /// The milliseconds between the recordings of two events that take time. Work is done as it is
    /// submitted, so that they are those of the host.
    fn cuEventElapsedTime(call, milliseconds: Out<f32>, start: CUevent, end: CUevent) {
        let [start, end] = [call.driver.when(start)?, call.driver.when(end)?];
        let seconds = match end.checked_duration_since(start) {
            Some(later) => later.as_secs_f32(),
            None => -start.duration_since(end).as_secs_f32(),
        };
        milliseconds.put(seconds * 1000.0)
    }

    /// Has a stream of any context wait for an event. In a capture that is only for what was
    /// recorded there. The flag 1 is for captures whose graph waits for others, and a stream that
    /// waits for an event of another one's capture becomes part of that: the stub has neither.
    fn cuStreamWaitEvent(call, stream: CUstream, event: CUevent, flags: u32) {
        let recorded = call.driver.event(event)?.recorded;
        match flags {
            0 => {}
            1 => return Err(Status::ILLEGAL_STATE),
            _ => return Err(Status::INVALID_VALUE),
        }
        let is_captured = call.enqueue(stream)?;
        match recorded {
            Recorded::Before if is_captured => {
                call.spoil(stream);
                Err(Status::STREAM_CAPTURE_ISOLATION)
            }
            Recorded::Never | Recorded::Before => Ok(()),
            Recorded::In(key) if key == call.capture_key(stream) => Ok(()),
            Recorded::In(_) => Err(Status::NOT_SUPPORTED),
            Recorded::Gone => Err(Status::INVALID_VALUE),
        }
    }
}
