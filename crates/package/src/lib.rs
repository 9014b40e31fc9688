// SPDX-License-Identifier: Apache-2.0
//! PACKAGE

pub mod export;
pub mod file;
pub mod image;
pub mod inspect;
pub mod interpret;
pub mod kernel_file;
mod kernel_launch;
mod kernel_package;
mod language;
pub mod package;
pub mod package_file;
pub mod plans;
pub mod problem;
pub mod settle;
pub mod source;
pub mod target;
mod triton_launch;

pub use file::{Held, InputFile};
pub use kernel_file::KernelFile;
pub use language::{Language, PackageText};
pub use package::{
    Function, KernelLaunch, Launch, Package, PackedLaunches, Returns, Site, Submit, TritonLaunch,
    WrittenLaunch, WrittenPackage,
};
pub use source::{GpuSource, HostSource, SourceError, SourceErrorKind};
pub use target::Target;
