// SPDX-License-Identifier: Apache-2.0
//! Promises of the prebuilt objects: the symbols that they need and give, how large they are, and
//! that they work.
//!
//! `build.rs` links the object of this machine into this test.
#![expect(unsafe_code, reason = "the functions under test are C functions")]

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::fs;
use std::path::Path;
use std::process::Command;

use kernpack_runtime::interface::PACKAGE;
use kernpack_runtime::interface::functions;
use kernpack_runtime::interface::layout::error_parts;
use kernpack_runtime::{Format, HostArch, Part, TableWriter, cuda_object, object, render};
use object::{Architecture, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

mod make;
mod raised;

/// The symbols that every package has around it: the C library, and what raises errors of
/// libtvm_ffi.
const IMPORTS: [&str; 10] = [
    "TVMFFIErrorCreate",
    "TVMFFIErrorSetRaised",
    "TVMFFIErrorSetRaisedFromCStrParts",
    "TVMFFIObjectDecRef",
    "free",
    "malloc",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
];

/// The symbols that launches need: the C library, what makes functions of libtvm_ffi, the
/// description of the package's GPU code, and the other object.
const CUDA_IMPORTS: [&str; 18] = [
    "TVMFFIEnvGetStream",
    "TVMFFIFunctionCreate",
    "TVMFFIObjectDecRef",
    "TVMFFIObjectIncRef",
    "TVMFFIStringFromByteArray",
    "dlerror",
    "dlopen",
    "dlsym",
    "free",
    "getenv",
    PACKAGE,
    functions::RAISE.symbol,
    "malloc",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "syscall",
];

const MAX_TEXT_BYTES: u64 = 7 * 1024;
const MAX_CUDA_TEXT_BYTES: u64 = 25 * 1024;

/// The functions that generated code calls.
fn symbols_of(object: functions::Object) -> BTreeSet<&'static str> {
    let functions = functions::ALL.iter().filter(|function| function.object == object);
    functions.map(|function| function.symbol).collect()
}

fn parse(arch: HostArch) -> object::File<'static> {
    object::File::parse(object(arch)).unwrap()
}

#[test]
fn each_object_is_for_its_architecture() {
    let architectures = HostArch::ALL.map(|arch| parse(arch).architecture());
    assert_eq!(architectures, [Architecture::X86_64, Architecture::Aarch64]);
}

#[test]
fn nothing_is_needed_but_what_every_package_has() {
    for arch in HostArch::ALL {
        let file = parse(arch);
        let undefined = file.symbols().filter(|symbol| symbol.is_undefined());
        let names: Vec<_> = undefined.map(|symbol| symbol.name().unwrap()).collect();
        let unexpected: Vec<_> =
            names.iter().filter(|name| !name.is_empty() && !IMPORTS.contains(name)).collect();
        assert!(unexpected.is_empty(), "{arch:?}: {unexpected:?}");
    }
}

#[test]
fn what_launches_needs_little_too_and_its_functions_are_global() {
    for arch in HostArch::ALL {
        let file = object::File::parse(cuda_object(arch)).unwrap();
        let undefined = file.symbols().filter(|symbol| symbol.is_undefined());
        let names: Vec<_> = undefined.map(|symbol| symbol.name().unwrap()).collect();
        let unexpected: Vec<_> =
            names.iter().filter(|name| !name.is_empty() && !CUDA_IMPORTS.contains(name)).collect();
        assert!(unexpected.is_empty(), "{arch:?}: {unexpected:?}");
        let defined = file.symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
        let functions = defined.filter(|symbol| symbol.kind() == SymbolKind::Text);
        let names: BTreeSet<_> = functions.map(|symbol| symbol.name().unwrap()).collect();
        assert_eq!(names, symbols_of(functions::Object::Cuda), "{arch:?}");
        let text: u64 = file
            .sections()
            .filter(|section| section.kind() == SectionKind::Text)
            .map(|section| section.size())
            .sum();
        assert!(text <= MAX_CUDA_TEXT_BYTES, "{arch:?}: {text} bytes");
    }
}

#[test]
fn only_the_functions_of_the_runtime_are_global() {
    for arch in HostArch::ALL {
        let file = parse(arch);
        let defined = file.symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
        let names: BTreeSet<_> = defined.map(|symbol| symbol.name().unwrap()).collect();
        assert_eq!(names, symbols_of(functions::Object::Checks), "{arch:?}");
    }
}

#[test]
fn there_is_no_mutable_state_and_the_code_is_small() {
    for arch in HostArch::ALL {
        let file = parse(arch);
        let size_of = |kind| -> u64 {
            let sections = file.sections().filter(|section| section.kind() == kind);
            sections.map(|section| section.size()).sum()
        };
        let text = size_of(SectionKind::Text);
        assert!(text <= MAX_TEXT_BYTES, "{arch:?}: {text} bytes");
        assert_eq!(size_of(SectionKind::Data) + size_of(SectionKind::UninitializedData), 0);
    }
}

/// Another release of LLVM 22 may make others: then they are made again with it.
#[test]
fn the_objects_are_what_the_source_becomes() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pin = fs::read_to_string(own.join("../../rust-toolchain.toml")).unwrap();
    let pinned = pin.split('"').nth(1).expect("the channel is first");
    let version = Command::new(make::rustc()).arg("--version").current_dir(own).output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    if !version.starts_with(&format!("rustc {pinned} ")) {
        eprintln!("passed over: the objects are those of rustc {pinned}, and here is {version}");
        return;
    }
    for (name, bytes) in make::objects(own).unwrap() {
        let kept = fs::read(own.join("objects").join(&name)).unwrap_or_default();
        assert!(kept == bytes, "objects/{name} is of another source: run `make objects`");
    }
}

#[test]
fn the_bytes_do_not_say_where_they_were_built() {
    let places = [env!("CARGO_MANIFEST_DIR"), env!("CARGO_TARGET_TMPDIR")];
    for arch in HostArch::ALL {
        let bytes = String::from_utf8_lossy(object(arch));
        assert!(places.iter().all(|place| !bytes.contains(place)), "{arch:?}");
    }
}

unsafe extern "C" {
    fn kernpack_rt_fault(
        table: *const u8,
        fault_offset: u32,
        values: *const i64,
        push_float: unsafe extern "C" fn(*mut c_void, u64) -> i32,
        error: *mut u8,
    ) -> i32;
    fn kernpack_rt_push_float(text: *mut c_void, bits: u64) -> i32;
    safe fn kernpack_rt_f64_to_f16(bits: u64) -> u16;
    safe fn kernpack_rt_f64_to_bf16(bits: u64) -> u16;
    safe fn kernpack_rt_round_to_f16(bits: u64) -> u64;
    safe fn kernpack_rt_round_to_bf16(bits: u64) -> u64;
}

#[test]
fn the_object_words_what_render_says() {
    let mut table = TableWriter::default();
    let names = table.name_table("type #", &[(70, "Tensor")]).unwrap();
    let formats = [
        Format::Int,
        Format::Uint,
        Format::Hex,
        Format::Float,
        Format::Name(names),
        Format::Dtype(names),
    ];
    let spaced = |format| [Part::Text(" "), Part::Value { index: 1, format }];
    let fault = table.fault("ValueError", &formats.map(spaced).concat()).unwrap();
    let table = table.finish();
    for value in [0, 1, 70, -1, i64::MIN, 0.1_f64.to_bits() as i64, f64::MAX.to_bits() as i64] {
        let values = [0, value];
        let raised = raised::raised(|error| {
            // SAFETY: the table is finished, the fault is in it, and its parts name value 1.
            unsafe {
                kernpack_rt_fault(
                    table.as_ptr(),
                    fault,
                    values.as_ptr(),
                    kernpack_rt_push_float,
                    error,
                )
            }
        });
        let expected = render(&table, fault, &values);
        assert_eq!(raised, (expected.kind, expected.message));
    }
}

#[test]
fn the_object_narrows_as_the_source_says() {
    use kernpack_runtime as source;
    // From far below the smallest 16-bit floats to far above the largest, with all kinds of
    // fractions.
    for step in 0..1_u64 << 16 {
        let bits = (step << 47).wrapping_add(step * 0x1234_5678_9abc);
        assert_eq!(kernpack_rt_f64_to_f16(bits), source::kernpack_rt_f64_to_f16(bits));
        assert_eq!(kernpack_rt_f64_to_bf16(bits), source::kernpack_rt_f64_to_bf16(bits));
        assert_eq!(kernpack_rt_round_to_f16(bits), source::kernpack_rt_round_to_f16(bits));
        assert_eq!(kernpack_rt_round_to_bf16(bits), source::kernpack_rt_round_to_bf16(bits));
    }
}
