// SPDX-License-Identifier: Apache-2.0
//! Packages that are built.

use crate::crate_folder::CrateFolder;
use crate::object_file::{object_with, record};
use expect_test::expect;
use object::read::archive::ArchiveFile;
use serde_json::json;
use std::fs;

#[test]
fn a_package_is_linked_and_its_files_are_watched() {
    let folder = CrateFolder::new();
    let outcome = folder.package("norm.toml").try_compile();
    folder.expect_built(
        outcome,
        &expect![[r#"
            cargo::rustc-link-search=native=ROOT/out
            cargo::rustc-link-lib=static=kernpack_norm
            cargo::rerun-if-changed=norm.toml
            cargo::rerun-if-changed=/usr/include/math.h
            cargo::rerun-if-changed=ROOT/bin/kernpack
            cargo::rerun-if-env-changed=KERNPACK
            cargo::rerun-if-env-changed=KERNPACK_ARCH
            cargo::rerun-if-env-changed=PATH"#]],
    );
    assert_eq!(folder.made(), ["libkernpack_norm.a", "norm.rs"]);
    assert_eq!(folder.read("out/norm.rs"), "pub fn norm() {}\n");
}

#[test]
fn the_files_are_told_to_the_caller_too() {
    let folder = CrateFolder::new();
    let built = folder.package("norm.toml").try_compile().unwrap();
    assert_eq!(built.name, "norm");
    assert_eq!(built.functions.display().to_string(), folder.path("out/norm.rs"));
    assert_eq!(built.archive.display().to_string(), folder.path("out/libkernpack_norm.a"));
}

#[test]
fn the_archive_has_the_object_and_a_table_of_its_symbols() {
    let folder = CrateFolder::new();
    let built = folder.package("norm.toml").try_compile().unwrap();
    let bytes = fs::read(built.archive).unwrap();
    let archive = ArchiveFile::parse(&bytes[..]).unwrap();
    let members: Vec<_> = archive.members().map(|member| member.unwrap()).collect();
    let [member] = &members[..] else { panic!("one member") };
    assert_eq!(member.name(), b"norm.o");
    assert_eq!(member.data(&bytes[..]).unwrap(), object_with(&[record("norm")]));
    let symbols = archive.symbols().unwrap().expect("a table of symbols");
    let symbols: Vec<_> = symbols.map(|symbol| symbol.unwrap().name().to_vec()).collect();
    assert_eq!(symbols, [b"__tvm_ffi_norm"]);
}

#[test]
fn the_program_is_run_where_the_users_paths_begin() {
    let folder = CrateFolder::new();
    let package = folder.package("norm.toml").arch("sm_90a,compute_80");
    package.specs("f(x: int32)").specs("g(y: int32)").try_compile().unwrap();
    assert_eq!(folder.read("bin/folder").trim(), folder.path("crate"));
    expect![[r#"
        --json
        build
        --target=x86_64-linux-gnu
        --arch=sm_90a,compute_80
        --specs=f(x: int32)
        --specs=g(y: int32)
        -o
        OUT/package.o
        -o
        OUT/package.rs
        --
        norm.toml
    "#]]
    .assert_eq(&without_scratch(&folder.read("bin/called")));
}

/// The arguments of a call, without the folder that outputs are made in.
fn without_scratch(called: &str) -> String {
    let word = |word: &str| match word.rsplit_once("/package.") {
        Some((_, ending)) => format!("OUT/package.{ending}\n"),
        None => format!("{word}\n"),
    };
    called.lines().map(word).collect()
}

#[test]
fn the_target_is_cargos() {
    let mut folder = CrateFolder::new();
    folder.set("TARGET", "aarch64-unknown-linux-gnu");
    let mut record = record("norm");
    record["targets"] = json!(["aarch64-linux-gnu"]);
    folder.write("bin/object", object_with(&[record]));
    folder.package("norm.toml").try_compile().unwrap();
    assert!(folder.read("bin/called").contains("--target=aarch64-linux-gnu\n"));
}

#[test]
fn the_variable_overrules_what_gpu_code_is_made_for() {
    let mut folder = CrateFolder::new();
    folder.set("KERNPACK_ARCH", "sm_100a");
    folder.package("norm.toml").arch("sm_90a").try_compile().unwrap();
    let called = folder.read("bin/called");
    assert!(called.contains("--arch=sm_100a\n") && !called.contains("sm_90a"), "{called}");
}

#[test]
fn the_variable_is_for_packages_that_have_gpu_code() {
    let mut folder = CrateFolder::new();
    let refusal = json!({ "error": { "message": "leave `--arch` out", "code": "no-gpu-code" } });
    folder.write("bin/answer-to-arch", refusal.to_string());
    let refused = folder.package("norm.toml").arch("sm_90a").try_compile().unwrap_err();
    assert!(refused.to_string().contains("leave `--arch` out"), "{refused}");
    assert!(refused.to_string().ends_with("note: `--arch` is `.arch(…)`"), "{refused}");

    folder.set("KERNPACK_ARCH", "sm_100a");
    let built = folder.package("norm.toml").try_compile().unwrap();
    assert!(built.lines.contains(&"cargo::rerun-if-env-changed=KERNPACK_ARCH".to_string()));
    assert!(!folder.read("bin/called").contains("--arch"));

    let other = json!({ "error": { "message": "no space left", "code": null } });
    folder.write("bin/answer-to-arch", other.to_string());
    let refused = folder.package("norm.toml").try_compile().unwrap_err().to_string();
    assert!(refused.contains("no space left"), "{refused}");
}

#[test]
fn a_variable_that_is_empty_counts_as_not_set() {
    let mut folder = CrateFolder::new();
    folder.set("KERNPACK_ARCH", "");
    folder.set("KERNPACK", "");
    folder.package("norm.toml").try_compile().unwrap();
    assert!(!folder.read("bin/called").contains("--arch"));
}

#[test]
fn a_program_that_is_named_is_used_and_the_path_is_not_watched() {
    let mut folder = CrateFolder::new();
    folder.write("crate/tools/.keep", "");
    folder.add_program("crate/tools");
    folder.set("KERNPACK", "tools/kernpack");
    let outcome = folder.package("norm.toml").try_compile();
    folder.expect_built(
        outcome,
        &expect![[r#"
            cargo::rustc-link-search=native=ROOT/out
            cargo::rustc-link-lib=static=kernpack_norm
            cargo::rerun-if-changed=norm.toml
            cargo::rerun-if-changed=/usr/include/math.h
            cargo::rerun-if-changed=ROOT/crate/tools/kernpack
            cargo::rerun-if-env-changed=KERNPACK
            cargo::rerun-if-env-changed=KERNPACK_ARCH"#]],
    );
}

#[test]
fn the_build_scripts_program_comes_before_the_variables() {
    let mut folder = CrateFolder::new();
    folder.set("KERNPACK", "/nowhere/kernpack");
    let program = folder.path("bin/kernpack");
    folder.package("norm.toml").program(program).try_compile().unwrap();
    assert!(folder.read("bin/called").contains("norm.toml"));
}

#[test]
fn libraries_of_the_package_are_linked_behind_it() {
    let folder = CrateFolder::new();
    let mut record = record("norm");
    record["libraries"] = json!(["libdl.so.2", "libm.so.6", "libblas.so.3"]);
    folder.write("bin/object", object_with(&[record]));
    let lines = folder.package("norm.toml").try_compile().unwrap().lines;
    let linked: Vec<_> = lines.iter().filter(|line| line.contains("rustc-link-lib")).collect();
    expect![[r#"
        [
            "cargo::rustc-link-lib=static=kernpack_norm",
            "cargo::rustc-link-lib=dylib=dl",
            "cargo::rustc-link-lib=dylib=m",
            "cargo::rustc-link-lib=dylib:+verbatim=libblas.so.3",
        ]
    "#]]
    .assert_debug_eq(&linked);
}

#[test]
fn warnings_are_cargos() {
    let folder = CrateFolder::new();
    let drawn = "warning[kept-code]: `a.ptx` stays\n --> norm.toml:6:18\n  |\n6 | a\n  | ^\n";
    let warning = json!({
        "code": "kept-code", "severity": "warning", "message": "`a.ptx` stays", "labels": [],
        "help": null, "detail": null, "rendered": drawn,
    });
    folder.answer(&json!({ "inputs": [], "warnings": [warning] }), "0");
    let lines = folder.package("norm.toml").try_compile().unwrap().lines;
    let warnings: Vec<_> = lines.iter().filter(|line| line.contains("cargo::warning")).collect();
    expect![[r#"
        [
            "cargo::warning=warning[kept-code]: `a.ptx` stays",
            "cargo::warning= --> norm.toml:6:18",
            "cargo::warning=  |",
            "cargo::warning=6 | a",
            "cargo::warning=  | ^",
        ]
    "#]]
    .assert_debug_eq(&warnings);
}

#[test]
fn what_an_ended_build_left_is_in_nobodys_way() {
    let folder = CrateFolder::new();
    for number in 0..100 {
        folder.write(&format!("out/.kernpack-{number}/package.o"), "half");
    }
    folder.package("norm.toml").try_compile().unwrap();
    assert_eq!(folder.read("out/norm.rs"), "pub fn norm() {}\n");
}
