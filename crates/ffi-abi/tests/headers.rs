// SPDX-License-Identifier: Apache-2.0
//! The tables against the real headers of the installed apache-tvm-ffi: written out as C static
//! assertions, and compiled.

mod python;

use kernpack_ffi_abi::layout::{
    BIG_INT_WORDS_OFFSET, ERROR_KIND_OFFSET, ERROR_MESSAGE_OFFSET, OBJECT_HEADER_BYTES, STRUCTS,
    TENSOR_VIEW_OFFSET,
};
use kernpack_ffi_abi::{DType, DeviceType, ManagedTensor, TypeIndex, imports, libtvm_ffi};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::mem::offset_of;
use std::process::Command;

/// The folder of `tvm/ffi/c_api.h` and `dlpack/dlpack.h`.
fn include_folder() -> String {
    python::printed("import tvm_ffi.libinfo as i; print(i.find_include_path())", &[])
}

fn assert_c(code: &mut String, condition: &str) {
    writeln!(code, "_Static_assert({condition}, \"{}\");", condition.replace('"', "'")).unwrap();
}

fn assertions() -> String {
    let mut code =
        "#include <stddef.h>\n#include <stdint.h>\n#include <tvm/ffi/c_api.h>\n".to_string();
    code.push_str("#include <tvm/ffi/extra/c_env_api.h>\n#include <dlpack/dlpack.h>\n");
    for row in STRUCTS {
        assert_c(&mut code, &format!("sizeof({}) == {}", row.c_name, row.size));
        for field in row.fields {
            let (name, path) = (row.c_name, field.c_path);
            let offset = field.offset - row.base;
            assert_c(&mut code, &format!("offsetof({name}, {path}) == {offset}"));
            // A dtype is three fields in C and one load here.
            if path != "dtype" {
                let bytes = field.width.bytes();
                assert_c(&mut code, &format!("sizeof((({name}*)0)->{path}) == {bytes}"));
            }
        }
    }
    assert_c(&mut code, &format!("sizeof(TVMFFIObject) == {OBJECT_HEADER_BYTES}"));
    for (field, offset) in [("kind", ERROR_KIND_OFFSET), ("message", ERROR_MESSAGE_OFFSET)] {
        let offset = offset - OBJECT_HEADER_BYTES;
        assert_c(&mut code, &format!("offsetof(TVMFFIErrorCell, {field}) == {offset}"));
        assert_c(&mut code, &format!("sizeof(((TVMFFIErrorCell*)0)->{field}) == 16"));
    }
    assert_c(&mut code, &format!("sizeof(DLDataType) == {}", size_of::<DType>()));
    assert_c(&mut code, "offsetof(DLDataType, bits) == 1 && offsetof(DLDataType, lanes) == 2");
    for (index, c_name, _) in TypeIndex::TABLE {
        assert_c(&mut code, &format!("{c_name} == {}", index.0));
    }
    for (device, c_name, _) in DeviceType::TABLE {
        assert_c(&mut code, &format!("{c_name} == {}", device.0));
    }
    for (dtype, c_name, _) in DType::TABLE {
        assert_c(&mut code, &format!("{c_name} == {}", dtype.code));
    }
    let managed = "DLManagedTensorVersioned";
    assert_c(&mut code, &format!("sizeof({managed}) == {}", size_of::<ManagedTensor>()));
    for (path, offset) in [
        ("version.major", offset_of!(ManagedTensor, major)),
        ("version.minor", offset_of!(ManagedTensor, minor)),
        ("manager_ctx", offset_of!(ManagedTensor, context)),
        ("deleter", offset_of!(ManagedTensor, deleter)),
        ("flags", offset_of!(ManagedTensor, flags)),
        ("dl_tensor", offset_of!(ManagedTensor, tensor)),
    ] {
        assert_c(&mut code, &format!("offsetof({managed}, {path}) == {offset}"));
    }
    let imports: BTreeSet<&str> = imports::LIBTVM_FFI.iter().map(|import| import.symbol).collect();
    for function in imports.union(&libtvm_ffi::DECLARED.iter().copied().collect()) {
        writeln!(code, "void* use_{function} = (void*)&{function};").unwrap();
    }
    code
}

#[test]
fn the_tables_match_the_headers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("layout.c");
    std::fs::write(&file, assertions()).unwrap();
    let mut command = Command::new("cc");
    command.args(["-std=c11", "-fsyntax-only", "-I"]).arg(include_folder()).arg(&file);
    let output = command.output().expect("a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_wrong_table_would_be_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("layout.c");
    let wrong =
        assertions().replace("offsetof(DLTensor, shape) == 24", "offsetof(DLTensor, shape) == 25");
    std::fs::write(&file, wrong).unwrap();
    let mut command = Command::new("cc");
    command.args(["-std=c11", "-fsyntax-only", "-I"]).arg(include_folder()).arg(&file);
    assert!(!command.output().expect("a C compiler").status.success());
}

#[test]
fn objects_hold_what_the_table_says() {
    assert_eq!(TENSOR_VIEW_OFFSET, OBJECT_HEADER_BYTES);
    assert_eq!(BIG_INT_WORDS_OFFSET, 32);
}
