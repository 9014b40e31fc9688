// SPDX-License-Identifier: Apache-2.0
//! Inspecting files, whole and damaged.

use crate::{function, norm, package, record_of, run};
use expect_test::expect;
use kernpack_package::export::{Imports, Record, note};
use kernpack_package::inspect::{FileKind, InspectError, Inspection, inspect};
use object::write::{Object, StandardSection, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, SectionFlags, SectionKind, elf};
use object::{SymbolFlags, SymbolKind, SymbolScope};
use tempfile::TempDir;

/// An object with that section of notes, and a function.
fn object_with(notes: &[u8]) -> Vec<u8> {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let section = object.add_section(vec![], note::SECTION.into(), SectionKind::Note);
    object.append_section_data(section, notes, note::ALIGN.into());
    object.section_mut(section).flags =
        SectionFlags::Elf { sh_type: elf::SHT_NOTE, sh_flags: elf::SHF_ALLOC };
    let text = object.section_id(StandardSection::Text);
    let value = object.append_section_data(text, &[0xc3], 16);
    object.add_symbol(Symbol {
        name: b"__tvm_ffi_f".to_vec(),
        value,
        size: 1,
        kind: SymbolKind::Text,
        scope: SymbolScope::Dynamic,
        weak: false,
        section: SymbolSection::Section(text),
        flags: SymbolFlags::None,
    });
    object.write().unwrap()
}

fn notes(records: &[&Record]) -> Vec<u8> {
    records.iter().flat_map(|record| note::encode(record)).collect()
}

fn shared(object: &[u8]) -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (from, to) = (path("package.o"), path("package.so"));
    std::fs::write(&from, object).unwrap();
    run("gcc", &["-shared", "-nostdlib", "-Wl,--build-id=none", &from, "-o", &to]);
    std::fs::read(to).unwrap()
}

/// Two packages in one section.
fn two_packages() -> Vec<u8> {
    let small = record_of(&package(vec![function("f(n: int32)")]));
    object_with(&notes(&[&small, &Record { package: "other".to_string(), ..small.clone() }]))
}

#[test]
fn a_shared_object_says_what_is_inside() {
    let inspection = inspect(&shared(&object_with(&notes(&[&record_of(&norm())])))).unwrap();
    expect![[r#"
        shared object for x86_64

        package norm
          made by    kernpack 0.1.0, format 1.3
          sources    sha256 4eb41b28fbea1cf1868ae798c7f93b3dc49b7b25cd9529983bdf718333e71092
          targets    x86_64-linux-gnu
          libraries  libm.so.6
                     libblas.so.3
          undefined  others: expf
          exports    __tvm_ffi_scale
                     __tvm_ffi__metadata_scale
                     __tvm_ffi__doc_scale
                     __tvm_ffi_rows
                     __tvm_ffi__metadata_rows
                     __tvm_ffi_rows_out
                     __tvm_ffi__metadata_rows_out

          scale(x: Tensor([m, n], T, align=16, mut), alpha: float32 = 1.0, mask: Optional[Pointer] = None) where T in {float16, float32}, n % 8 == 0
            Multiplies by alpha.

            A comment ends with */, a string with """.
            allocates ws: Tensor([4*m], uint8, align=128)
            launches scale_short(x, ws, m*n: int32) when n <= 64
              host function, returns int
            launches scale_{T}(x, ws, m*n: int32) when n > 64
              host function

          rows(x: Tensor([m, n], float32)) -> y: Tensor([m], float32)

          rows_out(x: Tensor([m, n], float32), y: Tensor([m], float32, mut))
    "#]].assert_eq(&inspection.to_string());
    let json = serde_json::to_value(&inspection).unwrap();
    assert_eq!(json["kind"], "shared_object");
    assert_eq!(json["architecture"], "x86_64");
    assert_eq!(json["packages"][0]["functions"][0]["args"][1], "alpha");
}

#[test]
fn packages_of_one_link_are_all_shown() {
    let object = inspect(&two_packages()).unwrap();
    assert_eq!(object.kind, FileKind::RelocatableObject);
    let library = inspect(&shared(&two_packages())).unwrap();
    assert_eq!(library.kind, FileKind::SharedObject);
    assert_eq!(library.packages, object.packages);
    let names: Vec<_> = object.packages.iter().map(|record| &record.package[..]).collect();
    assert_eq!(names, ["norm", "other"]);
}

/// A record's note with its JSON changed, digest and sizes to match.
fn edited(edit: impl Fn(&mut serde_json::Value)) -> Vec<u8> {
    use sha2::{Digest, Sha256};
    let mut json = serde_json::to_value(record_of(&norm())).unwrap();
    edit(&mut json);
    let json = serde_json::to_vec(&json).unwrap();
    let body = (36 + json.len()).next_multiple_of(12);
    let mut note = [9, body as u32, 1].map(u32::to_le_bytes).concat();
    note.extend(b"kernpack\0\0\0\0");
    note.extend(Sha256::digest(&json));
    note.extend((json.len() as u32).to_le_bytes());
    note.extend(json);
    note.resize(24 + body, 0);
    note
}

#[test]
fn a_newer_minor_is_read_and_a_newer_major_refused() {
    let newer = edited(|json| {
        json["format"] = "1.7".into();
        json["colour"] = "green".into();
        json["functions"][0]["colour"] = "green".into();
    });
    let inspection = inspect(&object_with(&newer)).unwrap();
    assert_eq!(inspection.packages[0].functions, record_of(&norm()).functions);

    let newer = edited(|json| *json = serde_json::json!({ "format": "2.0" }));
    expect!["its section .note.kernpack has a record of format 2.0; this kernpack reads formats up to 1.x"]
        .assert_eq(&inspect(&object_with(&newer)).unwrap_err().to_string());
}

#[test]
fn what_a_package_needs_is_shown_by_where_it_comes_from() {
    let imports = Imports {
        libtvm_ffi: vec!["TVMFFIEnvTensorAlloc".into(), "TVMFFIObjectDecRef".into()],
        libc: vec!["free".into(), "malloc".into()],
    };
    let record = Record { imports, ..record_of(&norm()) };
    let shown = inspect(&object_with(&notes(&[&record]))).unwrap().to_string();
    let lines = shown.lines().skip_while(|line| !line.starts_with("  undefined")).take(3);
    let undefined: Vec<_> = lines.map(|line| line.strip_prefix("  ").unwrap()).collect();
    expect![[r#"
          undefined  from libtvm_ffi: TVMFFIEnvTensorAlloc, TVMFFIObjectDecRef
                     from libc: free, malloc
                     others: expf"#]]
    .assert_eq(&undefined.join("\n"));
}

/// Format 1.0 says of a launch its kernel, conditions and arguments.
#[test]
fn a_record_of_an_older_minor_is_read() {
    let older = edited(|json| {
        json["format"] = "1.0".into();
        for launch in json["functions"][0]["launches"].as_array_mut().unwrap() {
            let keys = launch.as_object_mut().unwrap();
            keys.retain(|key, _| ["kernel", "when", "args"].contains(&&key[..]));
        }
    });
    let shown = inspect(&object_with(&older)).unwrap().to_string();
    let launches: Vec<_> = shown.lines().skip_while(|line| !line.contains("launches")).collect();
    let expected = [
        "    launches scale_short(x, ws, m*n: int32) when n <= 64",
        "    launches scale_{T}(x, ws, m*n: int32) when n > 64",
        "",
    ];
    assert_eq!(launches[..3], expected);
}

/// Records of a later minor version, with more than is known here, are shown in their own words.
#[test]
fn kinds_of_a_newer_minor_are_shown() {
    let newer = edited(|json| {
        let image = serde_json::json!({ "kind": "tilebin", "archs": ["sm_200"], "colour": 1 });
        let source = serde_json::json!({ "kind": "tile", "images": [image] });
        json["functions"][0]["launches"][0]["source"] = source;
    });
    let shown = inspect(&object_with(&newer)).unwrap().to_string();
    assert!(shown.contains("      tile: machine code for sm_200, returns int\n"), "{shown}");
}

#[test]
fn a_record_without_imports_is_read() {
    let older = edited(|json| {
        json.as_object_mut().unwrap().remove("imports").unwrap();
    });
    let inspection = inspect(&object_with(&older)).unwrap();
    assert_eq!(inspection.packages, [record_of(&norm())]);
}

/// No error says what its cause says: whoever prints both would say it twice.
#[test]
fn an_error_and_its_causes_do_not_repeat_each_other() {
    let files: [&[u8]; 4] = [b"#!/bin/sh\n", &object_with(&[0; 5]), &object_with(&[1; 64]), &[]];
    for file in files {
        let error = inspect(file).unwrap_err();
        let first: &dyn std::error::Error = &error;
        let chain: Vec<_> = std::iter::successors(Some(first), |error| error.source())
            .map(ToString::to_string)
            .collect();
        for (outer, cause) in chain.iter().zip(&chain[1..]) {
            assert!(!outer.contains(cause.as_str()), "{chain:?}");
        }
    }
}

#[test]
fn what_cannot_be_read_is_one_error() {
    let text = |file: &[u8]| inspect(file).unwrap_err().to_string();
    let mut executable = object_with(&[]);
    executable[16] = 2;
    let mut riscv = object_with(&[]);
    riscv[18] = 243;
    let cases = [
        (text(b""), expect!["not an ELF file that kernpack can read"]),
        (text(b"#!/bin/sh\n"), expect!["not an ELF file that kernpack can read"]),
        (text(&executable), expect!["neither a relocatable nor a shared object"]),
        (text(&riscv), expect!["for the ELF machine 243, which kernpack does not know"]),
        (
            text(&object_with(&[0; 5])),
            expect!["its section .note.kernpack ends inside the note at byte 0"],
        ),
        (
            text(&object_with(&[1; 64])),
            expect![
                "its section .note.kernpack has something else than a kernpack record at byte 0"
            ],
        ),
        (
            text(&object_with(&edited(|json| json["exports"] = 3.into()))),
            expect![
                "its section .note.kernpack has a malformed record at byte 0: invalid type: integer `3`, expected a sequence at line 1 column 171"
            ],
        ),
        (
            text(&object_with(&edited(|json| json["format"] = "one".into()))),
            expect![
                "its section .note.kernpack has a malformed record at byte 0: `one` is no format, expected one such as `1.3` at line 1 column 15"
            ],
        ),
    ];
    for (text, expected) in cases {
        expected.assert_eq(&text);
    }
}

#[test]
fn a_file_without_a_package_says_so() {
    let object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let error = inspect(&object.write().unwrap()).unwrap_err();
    assert_eq!(error, InspectError::NoRecord);
}

#[test]
fn a_file_may_lie_anywhere_in_memory() {
    let file = two_packages();
    let whole = inspect(&file);
    for shift in 1..8 {
        let shifted = [&vec![0; shift][..], &file].concat();
        assert_eq!(inspect(&shifted[shift..]), whole);
    }
}

/// A damaged file gives the answer that the whole one does, or an error of one line.
fn expect_same_or_error(damaged: &[u8], whole: &Inspection, what: &str) {
    match inspect(damaged) {
        Ok(answer) => assert_eq!(&answer, whole, "{what}"),
        Err(error) => assert!(!error.to_string().contains('\n'), "{what}: {error}"),
    }
}

#[test]
fn a_truncated_file_gives_the_same_answer_or_an_error() {
    for file in [two_packages(), shared(&two_packages())] {
        let whole = inspect(&file).unwrap();
        for length in 0..file.len() {
            expect_same_or_error(&file[..length], &whole, &format!("cut to {length} bytes"));
        }
    }
}

#[test]
fn a_flipped_bit_gives_the_same_answer_or_an_error() {
    for mut file in [two_packages(), shared(&two_packages())] {
        let whole = inspect(&file).unwrap();
        for bit in 0..file.len() * 8 {
            file[bit / 8] ^= 1 << (bit % 8);
            expect_same_or_error(&file, &whole, &format!("bit {bit} flipped"));
            file[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
