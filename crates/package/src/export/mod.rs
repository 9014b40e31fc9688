// SPDX-License-Identifier: Apache-2.0
//! Files for hosts of a package: the C [`header`], the Python [`stubs`], the functions for
//! [`rust`], and the [`Record`] of what is inside, which lies in a [`note`] section for
//! [`inspect`](crate::inspect) and, function by function, in the metadata that `tvm_ffi` asks for.
//!
//! All of it is a function of the package, and text or bytes; a kind of parameter is met only as
//! its [`HostType`](kernpack_validators::HostType). Not here: code, and writing files.

mod c_name;
mod header;
mod launch;
mod metadata;
pub mod note;
mod rust;
mod stubs;

pub use header::header;
pub use launch::{ImageRecord, LaunchRecord, LayoutRecord, SourceRecord};
pub use metadata::{
    FORMAT, Format, FunctionRecord, Imports, Record, RecordContext, function_metadata, record,
};
pub use rust::rust;
pub use stubs::stubs;

/// The version of kernpack, as generated files name it.
const COMPILER: &str = env!("CARGO_PKG_VERSION");

/// The lines of a documentation text, without what would upset a reader of the generated file:
/// trailing space and control characters.
fn doc_lines(doc: &str) -> impl Iterator<Item = String> {
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    doc.trim_end().lines().map(move |line| {
        let line: String = line.chars().map(printable).collect();
        line.trim_end().to_string()
    })
}
