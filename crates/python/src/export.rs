// SPDX-License-Identifier: Apache-2.0
//! The symbols of this library: entry points, a line each. What they do stands elsewhere.

#![expect(unsafe_code, reason = "symbols are exported, and callers are trusted")]

use crate::ffi::{Args, Error, Value};
use crate::{
    build, command, dispatch, emitted, inspect, interpret, layout, package_text, prepared, program,
    signature, spans, toml,
};

/// Defines entry points: for each, its doc, its symbol, and what it does.
macro_rules! entry_points {
    ($( $(#[$doc:meta])* $symbol:ident = $body:path; )*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        /// The caller is one of entry points.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $symbol(
            _handle: *mut core::ffi::c_void,
            args: *const kernpack_ffi_abi::layout::Any,
            n_args: i32,
            result: *mut kernpack_ffi_abi::layout::Any,
        ) -> i32 {
            // SAFETY: as the caller says.
            unsafe { $crate::ffi::run(args, n_args, result, $body) }
        }
    )* };
}

entry_points! {
    /// `(request, observer, name, bytes, …) -> JSON`: a package, from the cache or compiled.
    __tvm_ffi_kernpack_get = build::get;
    /// `(package, suffix) -> bytes`: a file of a package.
    __tvm_ffi_kernpack_read = build::read;
    /// `(request, options, receiver, name, bytes, …, argument, …) -> JSON`: a call on the
    /// interpreter.
    __tvm_ffi_kernpack_interpret = interpret::interpret;
    /// `(request, form, function, name, bytes, …) -> JSON`: kernels in a form that people read.
    __tvm_ffi_kernpack_emit = emitted::emit;
    /// `() -> JSON`: where the cache is written to, or null.
    __tvm_ffi_kernpack_cache_folder = build::cache_folder;
    /// Ends what still compiles, as the process ends.
    __tvm_ffi_kernpack_end = build::end;
    /// `(word, …) -> JSON`: what the command line tool answers.
    __tvm_ffi_kernpack_command = command::command;
    /// `(path) -> JSON`: the GPU images of a file.
    __tvm_ffi_kernpack_images = inspect::images;
    /// `(signature, workspace, …) -> JSON`: a signature as data, with the workspaces of its
    /// function.
    __tvm_ffi_kernpack_describe = signature::describe;
    /// `(signature) -> str`: the name with which a text begins, or None.
    __tvm_ffi_kernpack_function_name = signature::function_name;
    /// `() -> JSON`: the bits of an element of each dtype.
    __tvm_ffi_kernpack_dtypes = signature::dtypes;
    /// `(package) -> str`: the text of a package file, of JSON.
    __tvm_ffi_kernpack_write = package_text::write;
    /// `(text) -> bool as JSON`: whether a package file has sources for the GPUs that a caller
    /// names.
    __tvm_ffi_kernpack_takes_archs = inspect::takes_archs;
    /// `(signature, call) -> JSON`: what the checks say of a call that is described.
    __tvm_ffi_kernpack_check = signature::check;
    /// `(text, is_method) -> JSON`: the names that the functions of a text use and do not bind.
    __tvm_ffi_kernpack_names = program::names;
    __tvm_ffi_kernpack_foreign_help = program::foreign_help;
    /// `(miss, constants, picks) -> Function`: the control of a new dispatcher.
    __tvm_ffi_kernpack_dispatcher = dispatch::dispatcher;
    /// `(constants, arg, …) -> JSON`: the classes of arguments.
    __tvm_ffi_kernpack_classes = dispatch::classes;
    /// `(arg, …) -> JSON`: where tensors have their elements.
    __tvm_ffi_kernpack_spans = spans::spans;
    /// `(text) -> JSON`: what a text in TOML says.
    __tvm_ffi_kernpack_read_toml = toml::read;
    /// `(expression) -> JSON`: what an expression of the layout algebra results in.
    __tvm_ffi_kernpack_layout = layout::layout;
    /// `(expression, element_bytes, threads) -> str`: a layout as SVG, with banks of shared memory
    /// where an element has bytes.
    __tvm_ffi_kernpack_layout_svg = layout::svg;
    /// Has results and workspaces allocated where a call brings no allocator.
    __tvm_ffi_kernpack_install_allocator = install_allocator;
    /// `(prepared, device_index, exchange_api) -> Function`: the prepared call, on the current
    /// stream of a framework.
    __tvm_ffi_kernpack_on_stream = prepared::on_stream;
}

fn install_allocator(_: Args<'_>) -> Result<Value, Error> {
    kernpack_allocator::install().map(|()| Value::None).map_err(Error::runtime)
}
