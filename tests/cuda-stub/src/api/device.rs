// SPDX-License-Identifier: Apache-2.0
//! The driver itself, and its devices.

use crate::api::by_plain_name;
use crate::argument::{Address, Characters, Out, Text};
use crate::c_types::{CUdevice, CUdevice_attribute, CUdriverProcAddressQueryResult};
use crate::call;
use crate::json;
use crate::status::Status;
use std::ffi::{CStr, c_void};

/// Writes one of the constant texts of an error.
fn text(place: Out<Text>, text: Option<&'static CStr>) -> Result<(), Status> {
    place.put(Text(text.map_or(std::ptr::null(), CStr::as_ptr)))?;
    text.map(|_| ()).ok_or(Status::INVALID_VALUE)
}

api! {
    /// Makes everything else work.
    fn cuInit(call, flags: u32) {
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        if call.driver.config.devices.is_empty() {
            return Err(Status::NO_DEVICE);
        }
        call.driver.is_initialised = true;
        call::initialised();
        Ok(())
    }

    /// The version of CUDA that the driver is for.
    fn cuDriverGetVersion(call, driver_version: Out<i32>) {
        driver_version.put(call.driver.config.driver)
    }

    /// A code's name.
    fn cuGetErrorName(_call, error: Status, text_of: Out<Text>) {
        text(text_of, error.name())
    }

    /// What a code means.
    fn cuGetErrorString(_call, error: Status, text_of: Out<Text>) {
        text(text_of, error.text())
    }

    /// A function's address, by its name without `_v2`.
    fn cuGetProcAddress_v2(
        _call,
        symbol: Text,
        function: Out<Address>,
        cuda_version: i32,
        flags: u64,
        symbol_status: Out<CUdriverProcAddressQueryResult>,
    ) {
        let name = symbol.get()?;
        if flags > 2 {
            return Err(Status::INVALID_VALUE);
        }
        let found = by_plain_name(&name, cuda_version);
        let address = found.as_ref().map_or(std::ptr::null(), |export| (export.address)());
        function.put(Address(address.cast_mut().cast::<c_void>()))?;
        let is_later = found.is_err() && by_plain_name(&name, i32::MAX).is_ok();
        let answer = if is_later { 2 } else { u32::from(found.is_err()) };
        symbol_status.offer(CUdriverProcAddressQueryResult(answer));
        found.map(|_| ())
    }

    /// How many devices there are.
    fn cuDeviceGetCount(call, count: Out<i32>) {
        count.put(i32::try_from(call.driver.config.devices.len()).unwrap_or(i32::MAX))
    }

    /// A device, which is its number.
    fn cuDeviceGet(call, device: Out<CUdevice>, ordinal: i32) {
        call.driver.device_index(CUdevice(ordinal))?;
        device.put(CUdevice(ordinal))
    }

    /// One property of a device.
    fn cuDeviceGetAttribute(call, value: Out<i32>, attribute: CUdevice_attribute, device: CUdevice) {
        let index = call.driver.device_index(device)?;
        let found = call.driver.config.devices[index].attribute(attribute.0);
        value.put(found.ok_or(Status::INVALID_VALUE)?)
    }

    /// A device's name, as much of it as there is place for.
    fn cuDeviceGetName(call, name: Characters, size: i32, device: CUdevice) {
        let index = call.driver.device_index(device)?;
        let text = call.driver.config.devices[index].name.clone();
        call.note("name", json::string(&text));
        let room = usize::try_from(size).unwrap_or(0).checked_sub(1).ok_or(Status::INVALID_VALUE)?;
        let bytes = text.bytes().take(room).chain([0]).enumerate();
        for (index, byte) in bytes {
            Out(name.0.wrapping_add(index)).put(byte.cast_signed())?;
        }
        Ok(())
    }
}
