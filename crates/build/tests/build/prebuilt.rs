// SPDX-License-Identifier: Apache-2.0
//! Packages that were built before.

use crate::crate_folder::CrateFolder;
use crate::object_file::{object_with, record};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

/// A crate with such a package, and no program.
fn with_prebuilt(path: &str, record: &Value) -> CrateFolder {
    let mut folder = CrateFolder::new();
    folder.set("PATH", "/nowhere");
    folder.write(&format!("crate/{path}.o"), object_with(std::slice::from_ref(record)));
    folder.write(&format!("crate/{path}.rs"), "pub fn before() {}\n");
    folder
}

/// Holds what is said of an object with that key in its record.
#[track_caller]
fn expect_misfit(key: &str, value: Value, expected: &Expect) {
    let mut record = record("norm");
    record[key] = value;
    let folder = with_prebuilt("norm", &record);
    folder.expect_problem(folder.prebuilt("norm.o").try_compile(), expected);
}

#[test]
fn neither_program_nor_package_file_is_needed() {
    let folder = with_prebuilt("kernels/norm", &record("norm"));
    let outcome = folder.prebuilt("kernels/norm.o").try_compile();
    folder.expect_built(
        outcome,
        &expect![[r#"
            cargo::rustc-link-search=native=ROOT/out
            cargo::rustc-link-lib=static=kernpack_norm
            cargo::rerun-if-changed=kernels/norm.o
            cargo::rerun-if-changed=kernels/norm.rs"#]],
    );
    assert_eq!(folder.made(), ["libkernpack_norm.a", "norm.rs"]);
    assert_eq!(folder.read("out/norm.rs"), "pub fn before() {}\n");
}

#[test]
fn a_path_may_name_the_target_and_the_package_keeps_its_name() {
    let folder = with_prebuilt("kernels/norm-x86_64-linux-gnu", &record("norm"));
    folder.prebuilt("kernels/norm-{target}.o").try_compile().unwrap();
    assert_eq!(folder.made(), ["libkernpack_norm.a", "norm.rs"]);
}

#[test]
fn a_file_that_is_missing_is_named_with_how_to_make_it() {
    let mut folder = with_prebuilt("norm-x86_64-linux-gnu", &record("norm"));
    folder.set("TARGET", "aarch64-unknown-linux-gnu");
    folder.expect_problem(
        folder.prebuilt("norm-{target}.o").try_compile(),
        &expect![[r#"
            there is no file `norm-aarch64-linux-gnu.o`
            help: make it in the folder `ROOT/crate` by `kernpack build FILE --target aarch64-linux-gnu -o norm-aarch64-linux-gnu.o -o norm-aarch64-linux-gnu.rs`, where FILE is the package file or kernel file"#]],
    );
}

#[test]
fn an_object_without_functions_beside_it_is_not_enough() {
    let folder = CrateFolder::new();
    folder.write("crate/norm.o", object_with(&[record("norm")]));
    let error = folder.prebuilt("norm.o").try_compile().unwrap_err().to_string();
    assert!(error.starts_with("there is no file `norm.rs`\n"), "{error}");
}

#[test]
fn an_object_has_to_fit() {
    expect_misfit(
        "targets",
        json!(["aarch64-linux-gnu"]),
        &expect![[r#"
            `norm.o` is for aarch64-linux-gnu, and not for x86_64-linux-gnu
            help: make it by `kernpack build` of kernpack VERSION, with `--target x86_64-linux-gnu`"#]],
    );
    expect_misfit(
        "compiler",
        json!("99.0.0"),
        &expect![[r#"
            `norm.o` was made by kernpack 99.0.0, but the crate kernpack-build is VERSION
            help: make it by `kernpack build` of kernpack VERSION, with `--target x86_64-linux-gnu`"#]],
    );
    expect_misfit(
        "format",
        json!("2.0"),
        &expect![[r#"
            `norm.o` has a record of format 2.0, which is too new for this crate
            help: make it by `kernpack build` of kernpack VERSION, with `--target x86_64-linux-gnu`"#]],
    );
    expect_misfit(
        "package",
        json!("../norm"),
        &expect![[r#"
            `norm.o` has a package with the name `../norm`, which is none
            help: make it by `kernpack build` of kernpack VERSION, with `--target x86_64-linux-gnu`"#]],
    );
    expect_misfit(
        "libraries",
        json!(null),
        &expect![[r#"
            `norm.o` has a damaged record of its package: invalid type: null, expected a sequence
            help: make it by `kernpack build` of kernpack VERSION, with `--target x86_64-linux-gnu`"#]],
    );
}

#[test]
fn an_object_has_one_package() {
    let folder = with_prebuilt("norm", &record("norm"));
    for (records, reason) in [
        (&[][..], "is no object of a package"),
        (&[record("a"), record("b")][..], "has several packages in it, which is one too many"),
    ] {
        folder.write("crate/norm.o", object_with(records));
        let error = folder.prebuilt("norm.o").try_compile().unwrap_err().to_string();
        assert!(error.starts_with(&format!("`norm.o` {reason}\n")), "{error}");
    }
    folder.write("crate/norm.o", "not an object");
    let error = folder.prebuilt("norm.o").try_compile().unwrap_err().to_string();
    assert!(error.starts_with("`norm.o` is no object of a package\n"), "{error}");
}
