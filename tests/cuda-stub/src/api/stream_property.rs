// SPDX-License-Identifier: Apache-2.0
//! What a stream has besides its context: a priority, an id, attributes. The streams that are
//! always there have these once for each context, and the per-thread one for each thread.

use crate::argument::{In, Out};
use crate::c_types::{
    CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue, CUstream, StreamId,
};
use crate::call::Call;
use crate::driver::Stream;
use crate::status::Status;

/// The priorities that streams have, from the first to the last in turn.
const PRIORITIES: [i32; 2] = [-5, 0];

impl Call<'_> {
    /// A new stream of the current context, under flags of `cuStreamCreate`.
    pub fn add_stream(&mut self, flags: u32, priority: i32) -> Result<CUstream, Status> {
        let context = self.driver.current(self.thread)?;
        if flags > 1 {
            return Err(Status::INVALID_VALUE);
        }
        let id = StreamId(self.driver.new_id());
        let priority = priority.clamp(PRIORITIES[0], PRIORITIES[1]);
        let window = CUlaunchAttributeValue::default();
        let new = Stream { context, is_blocking: flags == 0, priority, id, window };
        let streams = &mut self.driver.streams;
        let is_again = self.driver.config.reuses_stream_handles;
        Ok(CUstream(if is_again { streams.add_again(new) } else { streams.add(new) }))
    }

    /// A stream that lives, be it one that is always there.
    fn stream(&mut self, stream: CUstream) -> Result<&mut Stream, Status> {
        let context = self.driver.context_of(stream, self.thread)?;
        if stream.0 > 2 {
            return self.driver.streams.get_mut(stream.0).ok_or(Status::INVALID_HANDLE);
        }
        // NULL and legacy are the same.
        let (stream, thread) = self.capture_key(CUstream(stream.0.max(1)));
        let id = StreamId(self.driver.new_id());
        let window = CUlaunchAttributeValue::default();
        let new = Stream { context, is_blocking: true, priority: 0, id, window };
        Ok(self.driver.default_streams.entry((context, stream, thread)).or_insert(new))
    }
}

/// A value that begins with these numbers.
fn value(number: i32) -> CUlaunchAttributeValue {
    CUlaunchAttribute::new(0, [number.cast_unsigned(), 0, 0]).value
}

api! {
    /// The last and the first priority that streams can have.
    fn cuCtxGetStreamPriorityRange(call, least: Out<i32>, greatest: Out<i32>) {
        call.driver.current(call.thread)?;
        greatest.offer(PRIORITIES[0]);
        least.offer(PRIORITIES[1]);
        Ok(())
    }

    /// Makes a stream as `cuStreamCreate` does, with a priority, or the nearest that there is.
    fn cuStreamCreateWithPriority(call, stream: Out<CUstream>, flags: u32, priority: i32) {
        stream.put(call.add_stream(flags, priority)?)
    }

    /// A stream's priority.
    fn cuStreamGetPriority(call, stream: CUstream, priority: Out<i32>) {
        priority.put(call.stream(stream)?.priority)
    }

    /// What tells a stream from others under the same handle. Asking spoils the capture of the
    /// stream, and those that the NULL stream would wait for.
    fn cuStreamGetId(call, stream: CUstream, id: Out<StreamId>) {
        let own = call.stream(stream)?.id;
        call.ask_captured(stream)?;
        id.put(own)
    }

    /// One of the attributes of a stream: its part of memory to keep, or its priority.
    fn cuStreamGetAttribute(
        call,
        stream: CUstream,
        attribute: CUlaunchAttributeID,
        place: Out<CUlaunchAttributeValue>,
    ) {
        let found = call.stream(stream)?;
        match attribute.0 {
            CUlaunchAttribute::ACCESS_POLICY_WINDOW => place.put(found.window),
            CUlaunchAttribute::PRIORITY => place.put(value(found.priority)),
            _ => Err(Status::NOT_SUPPORTED),
        }
    }

    /// Sets the part of memory that a stream's kernels are to keep in the second-level cache.
    fn cuStreamSetAttribute(
        call,
        stream: CUstream,
        attribute: CUlaunchAttributeID,
        given: In<CUlaunchAttributeValue>,
    ) {
        let given = given.get()?;
        let found = call.stream(stream)?;
        match attribute.0 {
            CUlaunchAttribute::ACCESS_POLICY_WINDOW => found.window = given,
            _ => return Err(Status::NOT_SUPPORTED),
        }
        Ok(())
    }
}
