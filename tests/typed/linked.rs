// SPDX-License-Identifier: Apache-2.0
//! Build scripts with the compiler in them: they need no program.

use crate::packages::ROWS;
use kernpack_build::{Environment, package};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// The environment of a build script of a crate with the package `rows`, which finds no program.
fn environment(folder: &TempDir, more: &[(&str, &str)]) -> Environment {
    let (out, manifest) = (folder.path().join("out"), folder.path().join("crate"));
    for folder in [&out, &manifest.join("src")] {
        fs::create_dir_all(folder).unwrap();
    }
    let text = fs::read(ROWS).unwrap();
    fs::write(manifest.join("src/rows.py"), text).unwrap();
    let paths = [("OUT_DIR", out), ("CARGO_MANIFEST_DIR", manifest)];
    let paths = paths.map(|(name, path)| (name, path.display().to_string()));
    let others = [("TARGET", "x86_64-unknown-linux-gnu"), ("KERNPACK", "/nowhere/kernpack")];
    let others = others.iter().chain(more).map(|(name, value)| (*name, value.to_string()));
    paths.into_iter().chain(others).collect()
}

#[test]
fn the_linked_compiler_makes_what_the_program_makes() {
    let folder = tempfile::tempdir().unwrap();
    let built = package("src/rows.py").linked().environment(environment(&folder, &[]));
    let built = built.try_compile().unwrap();
    assert_eq!(built.name, "rows");
    let functions = fs::read_to_string(&built.functions).unwrap();
    assert_eq!(functions, include_str!("packages/rows.rs.txt"));
    assert!(fs::read(&built.archive).unwrap().starts_with(b"!<arch>\n"));
    let said = built.lines.join("\n");
    let source = folder.path().join("crate/src/rows.py");
    assert!(said.contains(&format!("cargo::rerun-if-changed={}", source.display())), "{said}");
    assert!(said.contains("cargo::rustc-link-lib=static=kernpack_rows"), "{said}");
    assert!(!said.contains("/nowhere"), "{said}");
}

#[test]
fn what_is_wrong_is_said_as_the_program_says_it() {
    let folder = tempfile::tempdir().unwrap();
    let of_crate = environment(&folder, &[]);
    let file = folder.path().join("crate/src/rows.py");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("kp.floor", "kp.flour")).unwrap();
    let error = package("src/rows.py").linked().environment(of_crate).try_compile().unwrap_err();
    assert!(error.to_string().contains("src/rows.py:28:"), "{error}");
    assert!(error.lines().iter().all(|line| line.starts_with("cargo::error=")), "{error}");
    assert!(made(folder.path()).is_empty());

    let of_crate = environment(&folder, &[("KERNPACK_ARCH", "sm_7")]);
    let error = package("src/rows.py").linked().environment(of_crate).try_compile().unwrap_err();
    let error = error.to_string();
    assert!(error.contains("`sm_7` is no GPU architecture"), "{error}");
    assert!(error.ends_with("note: `--arch` is the variable KERNPACK_ARCH"), "{error}");
}

/// What is in the folder for what the script makes.
fn made(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder.join("out")).unwrap();
    names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}
