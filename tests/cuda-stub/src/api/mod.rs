// SPDX-License-Identifier: Apache-2.0
//! The functions that the library exports, by what they are about. Each is written once, in `api!`:
//! name, arguments with the driver's own types, and what it does; prototype, log and the table for
//! `cuGetProcAddress` come from there.

#![expect(unsafe_code, reason = "the driver's functions have C names")]

use crate::status::Status;

/// One exported function.
pub struct Export {
    /// The name.
    pub name: &'static str,
    /// Where it is.
    pub address: fn() -> *const (),
    /// Its arguments in C.
    pub arguments: fn() -> Vec<String>,
}

/// Functions of the driver, and `EXPORTS`, the table of them.
macro_rules! api {
    ($($(#[$doc:meta])* fn $name:ident($call:pat_param $(, $argument:ident: $type:ty)* $(,)?) $body:block)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($($argument: $type),*) -> $crate::status::Status {
                let arguments: &[(&str, &dyn $crate::argument::Argument)] =
                    &[$((stringify!($argument), &$argument)),*];
                $crate::call::call(stringify!($name), arguments, |$call| $body)
            }
        )*

        /// The functions of this file.
        pub const EXPORTS: &[$crate::api::Export] = &[$($crate::api::Export {
            name: stringify!($name),
            address: || $name as *const (),
            arguments: || vec![$(<$type as $crate::argument::CType>::c()),*],
        }),*];
    };
}

pub mod context;
pub mod device;
pub mod event;
pub mod graph;
pub mod kernel;
pub mod launch;
pub mod library;
pub mod memory;
pub mod stream;
pub mod stream_property;
pub mod stream_work;
pub mod tensor_map;

/// Every function, by file.
pub const EXPORTS: &[&[Export]] = &[
    device::EXPORTS,
    context::EXPORTS,
    stream::EXPORTS,
    stream_property::EXPORTS,
    stream_work::EXPORTS,
    event::EXPORTS,
    library::EXPORTS,
    kernel::EXPORTS,
    launch::EXPORTS,
    graph::EXPORTS,
    memory::EXPORTS,
    tensor_map::EXPORTS,
];

/// Every function.
pub fn exports() -> impl Iterator<Item = &'static Export> {
    EXPORTS.iter().copied().flatten()
}

/// The function of a name.
pub fn find(name: &str) -> Option<&'static Export> {
    exports().find(|export| export.name == name)
}

/// Which version of CUDA brought a function, where callers may name an older one.
const SINCE: &[(&str, i32)] = &[
    ("cuGraphInstantiateWithFlags", 11040),
    ("cuCtxGetId", 12000),
    ("cuStreamGetId", 12000),
    ("cuGraphAddKernelNode_v2", 12000),
    ("cuGraphExecKernelNodeSetParams_v2", 12000),
    ("cuGraphAddDependencies_v2", 12030),
    ("cuStreamGetCtx_v2", 12050),
    ("cuCtxCreate_v4", 13000),
];

/// The newest form of a function that `cuGetProcAddress` finds under its plain name, for the
/// version of CUDA that the caller names; older forms are for callers that name an older one.
pub fn by_plain_name(name: &str, version: i32) -> Result<&'static Export, Status> {
    // A form of this name that returns what was wrong is for callers before 12.0.
    if name == "cuGraphInstantiate" && version >= 12000 {
        return by_plain_name("cuGraphInstantiateWithFlags", version);
    }
    let suffixed = |suffix: &&str| {
        let export = find(&format!("{name}{suffix}"))?;
        let since = SINCE.iter().find(|row| row.0 == export.name).map_or(0, |row| row.1);
        (version >= since).then_some(export)
    };
    ["_v4", "_v2", ""].iter().find_map(suffixed).ok_or(Status::NOT_FOUND)
}
