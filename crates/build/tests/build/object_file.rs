// SPDX-License-Identifier: Apache-2.0
//! Objects with records, as the program makes them, and nothing else in them that counts.

use object::write::{Object, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolScope};
use serde_json::{Value, json};

/// The record of a package for x86-64.
pub fn record(package: &str) -> Value {
    json!({
        "format": "1.3",
        "package": package,
        "compiler": env!("CARGO_PKG_VERSION"),
        "targets": ["x86_64-linux-gnu"],
        "libraries": [],
        "functions": [],
    })
}

/// An object with those records, which defines a function of the name of each package.
pub fn object_with(records: &[Value]) -> Vec<u8> {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    for record in records {
        define(&mut object, record["package"].as_str().unwrap_or("norm"));
    }
    let notes: Vec<u8> = records.iter().flat_map(|record| note(&record.to_string())).collect();
    if !notes.is_empty() {
        let section = object.add_section(vec![], b".note.kernpack".to_vec(), SectionKind::Note);
        object.append_section_data(section, &notes, 4);
    }
    object.write().unwrap()
}

fn define(object: &mut Object<'_>, name: &str) {
    let section = object.section_id(object::write::StandardSection::Text);
    let value = object.append_section_data(section, &[0xc3], 16);
    object.add_symbol(Symbol {
        name: format!("__tvm_ffi_{name}").into_bytes(),
        value,
        size: 1,
        kind: object::SymbolKind::Text,
        scope: SymbolScope::Dynamic,
        weak: false,
        section: SymbolSection::Section(section),
        flags: SymbolFlags::None,
    });
}

/// A note, whose digest nobody here reads.
fn note(json: &str) -> Vec<u8> {
    let length = u32::try_from(json.len()).unwrap();
    let body = (32 + 4 + json.len()).next_multiple_of(12);
    let mut note = Vec::new();
    for word in [9, u32::try_from(body).unwrap(), 1] {
        note.extend(word.to_le_bytes());
    }
    note.extend(b"kernpack\0\0\0\0");
    note.extend([0; 32]);
    note.extend(length.to_le_bytes());
    note.extend(json.as_bytes());
    note.resize(24 + body, 0);
    note
}
