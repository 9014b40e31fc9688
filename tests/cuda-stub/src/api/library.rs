// SPDX-License-Identifier: Apache-2.0
//! Libraries: images that were loaded, and the kernels in them. A library belongs to no context.

use crate::argument::{Code, LibraryOptions, Options, Out, Pointers, Text};
use crate::c_types::{CUkernel, CUlibrary, CUmodule};
use crate::driver::{Kernel, Library};
use crate::image::{self, Image};
use crate::json;
use crate::status::Status;
use std::collections::BTreeMap;

/// A number that tells images apart, in the log: FNV-1a.
fn digest(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

api! {
    /// Loads an image. Whether it is any good shows when a kernel is asked for.
    fn cuLibraryLoadData(
        call,
        library: Out<CUlibrary>,
        code: Code,
        _jit_options: Options,
        _jit_option_values: Pointers,
        _num_jit_options: u32,
        _library_options: LibraryOptions,
        _library_option_values: Pointers,
        _num_library_options: u32,
    ) {
        let bytes = image::bytes(code)?;
        let digest = format!("{:016x}", digest(&bytes));
        if let Some(folder) = &call.driver.config.images {
            // As with the log: that a file cannot be written must not change what the program under
            // test does.
            let _result = std::fs::write(folder.join(&digest), &bytes);
        }
        let fields = [("bytes", bytes.len().to_string()), ("digest", json::string(&digest))];
        call.note("image", json::object(fields));
        if !call.driver.config.loads_in_capture {
            call.potentially_unsafe()?;
        }
        let image = Image::parse(&bytes);
        let new = Library { image, kernels: BTreeMap::new(), modules: BTreeMap::new() };
        library.put(CUlibrary(call.driver.libraries.add(new)))
    }

    /// Ends a library.
    fn cuLibraryUnload(call, library: CUlibrary) {
        call.driver.libraries.get(library.0).ok_or(Status::INVALID_HANDLE)?;
        call.potentially_unsafe()?;
        call.driver.end_library(library)
    }

    /// A kernel of a library, by name.
    fn cuLibraryGetKernel(call, kernel: Out<CUkernel>, library: CUlibrary, name: Text) {
        let driver = &mut *call.driver;
        let found = driver.libraries.get(library.0).ok_or(Status::INVALID_HANDLE)?;
        let name = name.get()?;
        if let Some(known) = found.kernels.get(&name) {
            return kernel.put(*known);
        }
        let image = found.image.as_ref().map_err(|status| *status)?;
        if !driver.config.devices.iter().any(|device| image.runs_on(device.compute())) {
            return Err(image.refusal());
        }
        let mut kernels = image.kernels.iter();
        let image = kernels.find(|kernel| kernel.name.to_string_lossy() == name);
        let image = image.ok_or(Status::NOT_FOUND)?.clone();
        let (attributes, functions) = (BTreeMap::new(), BTreeMap::new());
        let new = CUkernel(driver.kernels.add(Kernel { library, image, attributes, functions }));
        if let Some(found) = driver.libraries.get_mut(library.0) {
            found.kernels.insert(name, new);
        }
        kernel.put(new)
    }

    /// A library as a module of the current context.
    fn cuLibraryGetModule(call, module: Out<CUmodule>, library: CUlibrary) {
        let driver = &mut *call.driver;
        driver.libraries.get(library.0).ok_or(Status::INVALID_HANDLE)?;
        let context = driver.current(call.thread)?;
        driver.runs_on(library, driver.device_of(context)?.0)?;
        let found = driver.libraries.get_mut(library.0).ok_or(Status::INVALID_HANDLE)?;
        let modules = &mut driver.modules;
        let new = || CUmodule(modules.add((library, context)));
        module.put(*found.modules.entry(context).or_insert_with(new))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn images_are_told_apart() {
        assert_eq!(super::digest(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(super::digest(b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}
