// SPDX-License-Identifier: Apache-2.0
//! The files of typed functions in users' crates: no lint that a user may have turned on says
//! anything of them, in a library or a program, of either edition that there is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const OWN: &str = env!("CARGO_MANIFEST_DIR");
const KERNPACK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/kernpack");

/// Lints of rustc that are off where nobody turns them on, and lints and groups of Clippy's.
const MANIFEST: &str = r#"[workspace]
resolver = "3"
members = ["edition-2021", "edition-2024"]

[workspace.lints.rust]
warnings = "deny"
elided_lifetimes_in_paths = "deny"
let_underscore_drop = "deny"
macro_use_extern_crate = "deny"
missing_copy_implementations = "deny"
missing_debug_implementations = "deny"
missing_docs = "deny"
single_use_lifetimes = "deny"
trivial_casts = "deny"
trivial_numeric_casts = "deny"
unit_bindings = "deny"
unnameable_types = "deny"
unreachable_pub = "deny"
unsafe_code = "deny"
unused_import_braces = "deny"
unused_lifetimes = "deny"
unused_qualifications = "deny"
unused_results = "deny"
variant_size_differences = "deny"

[workspace.lints.clippy]
pedantic = "deny"
nursery = "deny"
undocumented_unsafe_blocks = "deny"
multiple_unsafe_ops_per_block = "deny"
allow_attributes = "deny"
allow_attributes_without_reason = "deny"
unwrap_used = "deny"
as_conversions = "deny"
arithmetic_side_effects = "deny"

[workspace.lints.rustdoc]
all = "deny"
"#;

const BUILD: &str = r#"fn main() {
    let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    for name in ["everything", "rows", "streams", "table"] {
        let from = format!("FOLDER/{name}.rs.txt");
        println!("cargo::rerun-if-changed={from}");
        let written = std::fs::copy(&from, out.join(format!("{name}.rs")));
        assert!(written.is_ok(), "{written:?}");
    }
}
"#;

const LIB: &str = "//! A library.

/// A package.
pub mod table {
    include!(concat!(env!(\"OUT_DIR\"), \"/table.rs\"));
}

/// A package.
pub mod everything {
    include!(concat!(env!(\"OUT_DIR\"), \"/everything.rs\"));
}

/// A package.
pub mod rows {
    include!(concat!(env!(\"OUT_DIR\"), \"/rows.rs\"));
}

/// A package.
pub mod streams {
    include!(concat!(env!(\"OUT_DIR\"), \"/streams.rs\"));
}
";

const MAIN: &str = "//! A program.\n
kernpack::include!(table);\nkernpack::include!(everything);
kernpack::include!(streams);\n\nfn main() {}\n";

/// The crates of a user with the packages, in a folder that stays between runs.
fn users_crates() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("users-crates");
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it can be made");
        if fs::read_to_string(&path).ok().as_deref() != Some(text) {
            fs::write(path, text).expect("it can be written");
        }
    };
    write("Cargo.toml", MANIFEST);
    let lock = fs::read_to_string(Path::new(OWN).join("../../Cargo.lock"));
    if !folder.join("Cargo.lock").exists() {
        write("Cargo.lock", &lock.expect("the workspace has one"));
    }
    for edition in ["2021", "2024"] {
        let manifest = format!(
            "[package]\nname = \"edition-{edition}\"\nversion = \"0.1.0\"\nedition = \"{edition}\"
\n[dependencies]\nkernpack = {{ path = {KERNPACK:?} }}\n\n[lints]\nworkspace = true\n"
        );
        write(&format!("edition-{edition}/Cargo.toml"), &manifest);
        let build = BUILD.replace("FOLDER", &format!("{OWN}/../typed/packages"));
        let build = format!("//! Puts packages where they are looked for.\n\n{build}");
        write(&format!("edition-{edition}/build.rs"), &build);
        write(&format!("edition-{edition}/src/lib.rs"), LIB);
        write(&format!("edition-{edition}/src/main.rs"), MAIN);
    }
    folder
}

#[track_caller]
fn expect_silence(arguments: &[&str]) {
    let folder = users_crates();
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).args(["--workspace", "--offline", "--quiet"]);
    command.env("CARGO_TARGET_DIR", folder.join("target")).env("RUSTDOCFLAGS", "-D warnings");
    let output = command.current_dir(folder).output().expect("cargo runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
}

#[test]
fn no_lint_says_anything_of_a_package() {
    expect_silence(&["clippy"]);
    expect_silence(&["doc", "--no-deps", "--lib", "--document-private-items"]);
}
