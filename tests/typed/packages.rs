// SPDX-License-Identifier: Apache-2.0
//! The packages: compiled, compared with the snapshots, and loaded, once for all tests.
//!
//! A snapshot is written by `UPDATE_EXPECT=1`, or where it does not compile, so that this program
//! does not either, by `kernpack build packages/NAME.toml -o NAME.rs`.

use crate::{everything, rows, streams, table};
use expect_test::expect_file;
use kernpack::{Artifact, Package};
use kernpack_compiler::{Compiled, Options, compile};
use kernpack_package::package_file;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The package of that text, compiled; its sources are those of `packages/`.
pub fn compiled(text: &str) -> Compiled {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("typed/packages");
    let package = package_file::parse(text, &folder).expect("the package is right");
    compile(&package, &Options { is_shared: true, ..Options::default() }).expect("it compiles")
}

/// A shared object in a folder of its own.
pub struct SharedObject {
    pub path: PathBuf,
    _folder: TempDir,
}

impl SharedObject {
    /// The file of a compiled package.
    pub fn of(compiled: &Compiled) -> SharedObject {
        SharedObject::with(&compiled.shared_object().expect("it links").bytes)
    }

    /// A file with these bytes.
    pub fn with(bytes: &[u8]) -> SharedObject {
        let folder = tempfile::tempdir().expect("there is a place for temporary files");
        let path = folder.path().join("package.so");
        std::fs::write(&path, bytes).expect("it can be written");
        SharedObject { path, _folder: folder }
    }
}

pub const TABLE: &str = include_str!("packages/table.toml");
pub const STREAMS: &str = include_str!("packages/streams.toml");
const EVERYTHING: &str = include_str!("packages/everything.toml");

/// The folder of the packages.
pub const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/typed/packages/");

/// The file of the package `rows`.
pub const ROWS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/typed/packages/rows.py");

/// The package `rows`.
pub fn rows() -> &'static rows::Module {
    static MODULE: OnceLock<rows::Module> = OnceLock::new();
    MODULE.get_or_init(|| {
        let built = Package::open(ROWS).expect("it can be read").build().expect("it compiles");
        rows::load(built.shared_object()).expect("it loads")
    })
}

/// The package `streams`.
pub fn streams() -> &'static streams::Module {
    static MODULE: OnceLock<streams::Module> = OnceLock::new();
    MODULE.get_or_init(|| {
        let object = SharedObject::of(&compiled(STREAMS));
        streams::load(&object.path).expect("it loads")
    })
}

/// The shared object of `table`.
pub fn table_object() -> &'static SharedObject {
    static OBJECT: OnceLock<SharedObject> = OnceLock::new();
    OBJECT.get_or_init(|| SharedObject::of(&compiled(TABLE)))
}

/// The package `table`.
pub fn table() -> &'static table::Module {
    static MODULE: OnceLock<table::Module> = OnceLock::new();
    MODULE.get_or_init(|| table::load(&table_object().path).expect("it loads"))
}

/// The package `everything`. As it has functions of these names, what loads it has others.
pub fn everything() -> &'static everything::Module_ {
    static MODULE: OnceLock<everything::Module_> = OnceLock::new();
    MODULE.get_or_init(|| {
        let object = SharedObject::of(&compiled(EVERYTHING));
        everything::load_(&object.path).expect("it loads")
    })
}

#[test]
fn the_functions_of_table_are_those_of_the_snapshot() {
    expect_file!["packages/table.rs.txt"].assert_eq(&compiled(TABLE).rust);
}

#[test]
fn the_functions_of_everything_are_those_of_the_snapshot() {
    expect_file!["packages/everything.rs.txt"].assert_eq(&compiled(EVERYTHING).rust);
}

#[test]
fn the_functions_of_streams_are_those_of_the_snapshot() {
    expect_file!["packages/streams.rs.txt"].assert_eq(&compiled(STREAMS).rust);
}

#[test]
fn the_functions_of_rows_are_those_of_the_snapshot() {
    let built = Package::open(ROWS).expect("it can be read").build().expect("it compiles");
    let functions = built.read(Artifact::Rust).expect("it can be read");
    let functions = String::from_utf8(functions).expect("it is a text");
    expect_file!["packages/rows.rs.txt"].assert_eq(&functions);
}
