// SPDX-License-Identifier: Apache-2.0
//! The tables against the header of the installed jax: written out as C static assertions, and
//! compiled.

use kernpack_xla::dtype::TABLE;
use kernpack_xla::layout::{ENUMERATORS, STRUCTS};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The interpreter that has jax.
fn python() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let named = std::env::var_os("KERNPACK_PYTHON").map(PathBuf::from);
    named.unwrap_or_else(|| root.join(".venv/bin/python"))
}

/// The folder of `xla/ffi/api/c_api.h`.
fn include_folder() -> String {
    let script = "import jax; print(jax.ffi.include_dir())";
    let output = Command::new(python()).args(["-c", script]).output();
    let output = output.expect("an interpreter: run `scripts/setup python` first");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim().to_string()
}

fn assert_c(code: &mut String, condition: &str) {
    writeln!(code, "_Static_assert({condition}, \"{condition}\");").unwrap();
}

fn assertions() -> String {
    let mut code = "#include <stddef.h>\n#include <xla/ffi/api/c_api.h>\n".to_string();
    for row in STRUCTS {
        let name = format!("XLA_FFI_{}", row.c_name);
        // A version may have more behind what we know.
        assert_c(&mut code, &format!("sizeof({name}) >= {}", row.size));
        for (field, offset, size) in row.fields.iter().filter(|(field, ..)| !field.is_empty()) {
            assert_c(&mut code, &format!("offsetof({name}, {field}) == {offset}"));
            assert_c(&mut code, &format!("sizeof((({name}*)0)->{field}) >= {size}"));
        }
    }
    assert_c(&mut code, "sizeof(XLA_FFI_Rets) == sizeof(XLA_FFI_Args)");
    assert_c(&mut code, "offsetof(XLA_FFI_Rets, rets) == offsetof(XLA_FFI_Args, args)");
    for (name, value) in ENUMERATORS {
        assert_c(&mut code, &format!("XLA_FFI_{name} == {value}"));
    }
    for (value, name, _) in TABLE {
        assert_c(&mut code, &format!("XLA_FFI_DataType_{name} == {value}"));
    }
    code
}

/// A C compiler's answer to some code.
fn compile(code: &str, include: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("assertions.c");
    std::fs::write(&path, code).expect("the file");
    let output = Command::new("cc").arg("-fsyntax-only").arg("-I").arg(include).arg(&path).output();
    let output = output.expect("a C compiler");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(errors) }
}

/// The code for a header, whose name for a question may be the later one.
fn assertions_for(include: &str) -> String {
    let header = Path::new(include).join("xla/ffi/api/c_api.h");
    let header = std::fs::read_to_string(header).expect("the header");
    let code = assertions();
    if header.contains("XLA_FFI_InternalExtension") {
        return code.replace("XLA_FFI_Extension_Base", "XLA_FFI_InternalExtension");
    }
    code
}

#[test]
fn the_tables_are_those_of_the_header() {
    let include = include_folder();
    if let Err(errors) = compile(&assertions_for(&include), &include) {
        panic!("{errors}");
    }
}

#[test]
fn a_wrong_offset_is_found() {
    let include = include_folder();
    let code = assertions_for(&include);
    let right = "offsetof(XLA_FFI_Buffer, dims) == 40";
    assert!(code.contains(right));
    assert!(
        compile(&code.replace(right, "offsetof(XLA_FFI_Buffer, dims) == 48"), &include).is_err()
    );
}
