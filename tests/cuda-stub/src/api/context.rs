// SPDX-License-Identifier: Apache-2.0
//! Contexts: each device's primary one, those of callers' own, and which is current in the calling
//! thread.

use crate::argument::{ContextParameters, Out};
use crate::c_types::{CUcontext, CUdevice, ContextId};
use crate::call::Call;
use crate::driver::Context;
use crate::status::Status;

fn device(index: usize) -> CUdevice {
    CUdevice(i32::try_from(index).unwrap_or(i32::MAX))
}

/// A primary context may be ended and made current again, but not used until it is retained.
fn can_be_current(call: &Call, context: CUcontext) -> Result<(), Status> {
    let found = call.driver.contexts.get(context.0).ok_or(Status::INVALID_CONTEXT)?;
    if found.is_primary { Ok(()) } else { call.driver.live_context(context).map(|_| ()) }
}

api! {
    /// Holds the device's primary context, which begins with its first holder.
    fn cuDevicePrimaryCtxRetain(call, context: Out<CUcontext>, device: CUdevice) {
        let driver = &mut *call.driver;
        let device = driver.device_index(device)?;
        let id = ContextId(driver.new_id());
        let primary = driver.primary(device).unwrap_or_else(|| {
            let new = Context { device, is_primary: true, n_held: 0, is_alive: false, id, peers: vec![] };
            CUcontext(driver.contexts.add(new))
        });
        context.put(primary)?;
        if let Some(found) = driver.contexts.get_mut(primary.0) {
            found.n_held += 1;
            if !found.is_alive {
                (found.is_alive, found.id) = (true, id);
            }
        }
        Ok(())
    }

    /// Lets go of the device's primary context, which ends with its last holder.
    fn cuDevicePrimaryCtxRelease_v2(call, device: CUdevice) {
        let device = call.driver.device_index(device)?;
        let primary = call.driver.primary(device).ok_or(Status::INVALID_CONTEXT)?;
        let found = call.driver.contexts.get_mut(primary.0).ok_or(Status::INVALID_CONTEXT)?;
        found.n_held = found.n_held.checked_sub(1).ok_or(Status::INVALID_CONTEXT)?;
        if found.n_held == 0 {
            call.driver.end_context(primary);
        }
        Ok(())
    }

    /// Ends everything of the device's primary context, which stays held, and begins again under
    /// the same handle when it is next retained.
    fn cuDevicePrimaryCtxReset_v2(call, device: CUdevice) {
        let device = call.driver.device_index(device)?;
        if let Some(primary) = call.driver.primary(device) {
            call.driver.end_context(primary);
        }
        Ok(())
    }

    /// Whether the device's primary context is alive.
    fn cuDevicePrimaryCtxGetState(call, device: CUdevice, flags: Out<u32>, active: Out<i32>) {
        let device = call.driver.device_index(device)?;
        let primary = call.driver.primary(device);
        let is_active = primary.is_some_and(|primary| call.driver.live_context(primary).is_ok());
        flags.put(0)?;
        active.put(i32::from(is_active))
    }

    /// Makes a context of the caller's own, and makes it current.
    fn cuCtxCreate_v4(
        call,
        context: Out<CUcontext>,
        parameters: ContextParameters,
        _flags: u32,
        device: CUdevice,
    ) {
        let device = call.driver.device_index(device)?;
        if !parameters.0.is_null() {
            return Err(Status::NOT_SUPPORTED);
        }
        let id = ContextId(call.driver.new_id());
        let new = Context { device, is_primary: false, n_held: 1, is_alive: true, id, peers: vec![] };
        let new = CUcontext(call.driver.contexts.add(new));
        call.thread.stack.push(new);
        context.put(new)
    }

    /// Ends a context of the caller's own; if it is current, it no longer is.
    fn cuCtxDestroy_v2(call, context: CUcontext) {
        if context.0 == 0 {
            return Err(Status::INVALID_VALUE);
        }
        let found = call.driver.contexts.get_mut(context.0).filter(|found| !found.is_primary);
        let found = found.filter(|found| found.n_held > 0).ok_or(Status::INVALID_CONTEXT)?;
        found.n_held = 0;
        call.driver.end_context(context);
        if call.thread.current() == Some(context) {
            call.thread.stack.pop();
        }
        Ok(())
    }

    /// What tells a context, or the current one for NULL, from others under the same handle.
    fn cuCtxGetId(call, context: CUcontext, id: Out<ContextId>) {
        let is_given = context.0 != 0;
        let context = if is_given { context } else { call.driver.current(call.thread)? };
        id.put(call.driver.live_context(context)?.id)
    }

    /// The current context, or NULL.
    fn cuCtxGetCurrent(call, context: Out<CUcontext>) {
        context.put(call.thread.current().unwrap_or(CUcontext(0)))
    }

    /// Puts a context in the place of the current one. NULL only takes that away.
    fn cuCtxSetCurrent(call, context: CUcontext) {
        if context.0 == 0 {
            call.thread.stack.pop();
            return Ok(());
        }
        can_be_current(call, context)?;
        call.thread.stack.pop();
        call.thread.stack.push(context);
        Ok(())
    }

    /// Makes a context current, on top of the others.
    fn cuCtxPushCurrent_v2(call, context: CUcontext) {
        if context.0 == 0 {
            return Err(Status::INVALID_VALUE);
        }
        can_be_current(call, context)?;
        call.thread.stack.push(context);
        Ok(())
    }

    /// Takes the current context away, so that the one below is current.
    fn cuCtxPopCurrent_v2(call, context: Out<CUcontext>) {
        let top = call.thread.stack.pop().ok_or(Status::INVALID_CONTEXT)?;
        context.offer(top);
        Ok(())
    }

    /// The device of the current context.
    fn cuCtxGetDevice(call, place: Out<CUdevice>) {
        let context = call.thread.current().ok_or(Status::INVALID_CONTEXT)?;
        place.put(device(call.driver.device_of(context)?.0))
    }

    /// Has kernels in the current context reach the memory of another one.
    fn cuCtxEnablePeerAccess(call, peer: CUcontext, flags: u32) {
        let current = call.driver.current(call.thread)?;
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let of_peer = call.driver.live_context(peer)?.device;
        let found = call.driver.contexts.get_mut(current.0).ok_or(Status::INVALID_CONTEXT)?;
        if current == peer {
            return Err(Status::INVALID_CONTEXT);
        }
        if found.device == of_peer {
            return Err(Status::PEER_ACCESS_UNSUPPORTED);
        }
        if found.peers.contains(&peer) {
            return Err(Status::PEER_ACCESS_ALREADY_ENABLED);
        }
        found.peers.push(peer);
        Ok(())
    }

    /// Waits for the current context's work, which is refused while any of it is captured, in
    /// whatever mode.
    fn cuCtxSynchronize(call) {
        let context = call.driver.current(call.thread)?;
        call.wait_for_context(context)?;
        call.potentially_unsafe()
    }
}
