// SPDX-License-Identifier: Apache-2.0
//! The Rust file of a package: for each function a typed one, over the symbol that is linked, or of
//! a package that is loaded.
//!
//! It needs the crate `kernpack`, of the same version, and its feature `host` alone. Functions take
//! what is required by position, and return a call, which has a method for everything that may be
//! left out. What belongs to a function is in a module of its name: the call, traits for its dtype
//! variables, structs for its tuples and results.
//!
//! The file is put together here. `rust/function.rs` is the text of one function, of which
//! `prepared.rs` has calls that are prepared, `argument.rs` parameters, `results.rs` results,
//! `types.rs` types, `value.rs` expressions, and `names.rs` names.

mod argument;
mod function;
mod names;
mod prepared;
mod results;
mod types;
mod value;

use super::COMPILER;
use crate::package::Package;
use function::RustFunction;
use names::{Names, VALUES};
use value::CALL;

/// The text of the package's file for Rust.
pub fn rust(package: &Package) -> String {
    let entry_points = package.entry_points();
    let mut names = Names::without(VALUES.iter().chain(&["Call", "Results"]));
    let functions: Vec<_> = entry_points
        .iter()
        .filter_map(|entry_point| RustFunction::new(entry_point, &mut names))
        .collect();
    let (load, module) = (names.add("load"), names.add("Module"));
    let symbols: String = functions.iter().map(RustFunction::declaration).collect();
    let uses: String = functions.iter().map(RustFunction::reexport).collect();
    let fields = functions.iter().flat_map(RustFunction::fields_of_module);
    let fields = fields.map(|name| format!("        {name}: {CALL}::SafeCall,\n"));
    let fields: String = fields.collect();
    let entries: String = functions.iter().map(RustFunction::lookup).collect();
    let modules: String = functions.iter().map(|each| each.module(&module)).collect();
    format!(
        "// The functions of `{name}`, packaged by kernpack {COMPILER}.

#[allow(unreachable_pub, unused_imports, clippy::restriction, reason = \"a program may use none\")]
pub use kernpack_functions::*;

#[allow(
    missing_debug_implementations, nonstandard_style, single_use_lifetimes, trivial_casts,
    trivial_numeric_casts, unnameable_types, unreachable_pub, unsafe_code, unused,
    unused_qualifications, unused_results, clippy::all, clippy::nursery, clippy::pedantic,
    clippy::restriction, rustdoc::all, reason = \"nobody reads it\"
)]
mod kernpack_functions {{
    /// The version of kernpack that wrote this is the one that reads it.
    const _: () = ::kernpack::call::expect_version(\"{COMPILER}\");

    mod kernpack_symbols {{
        unsafe extern \"C\" {{
{symbols}        }}
    }}

{uses}
    /// The functions of a shared object of the package.
    #[derive(Debug)]
    pub struct {module} {{
{fields}        kernpack_library: ::kernpack::Library,
    }}

    /// Loads a shared object of the package.
    ///
    /// # Errors
    /// Where it cannot be loaded, or its functions have other signatures.
    pub fn {load}(path: impl ::core::convert::AsRef<::std::path::Path>) -> ::kernpack::Result<{module}> {{
        let library = ::kernpack::Library::open(path)?;
        ::core::result::Result::Ok({module} {{
{entries}            kernpack_library: library,
        }})
    }}
{modules}}}
",
        name = package.name,
    )
}
