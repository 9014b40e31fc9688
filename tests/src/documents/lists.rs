// SPDX-License-Identifier: Apache-2.0
//! Lists in documents, and the tables that the program has.

use super::{leading_name, quoted, rows, section, text};
use crate::document::Document;
use crate::tidy::{Source, root, sources};
use kernpack_ffi_abi::imports::{LIBC, LIBTVM_FFI};
use kernpack_ffi_abi::{DType, DeviceType, TypeIndex};
use kernpack_kernel_lang::builtin::{Entry, reference};
use kernpack_kernel_lang::packed;
use kernpack_package::package_file;
use kernpack_package::target::TARGETS;
use kernpack_validators::check::CATALOGUE;
use kernpack_validators::param;
use std::path::Path;

/// Lists of names that should be one, in any order.
fn expect_same(
    document: impl IntoIterator<Item = String>,
    program: impl IntoIterator<Item = String>,
) {
    let (mut document, mut program) =
        (document.into_iter().collect::<Vec<_>>(), program.into_iter().collect::<Vec<_>>());
    document.sort();
    program.sort();
    assert_eq!(document, program, "the document has the names on the left");
}

#[test]
fn every_kind_has_its_row() {
    let document = text("signature.md");
    let kinds: Vec<_> = rows(section(&document, "Kinds")).map(|row| row[0].to_string()).collect();
    let words = kinds.iter().flat_map(|kind| quoted(kind)).map(leading_name);
    let keywords = words.filter(|word| DType::parse(word).is_none());
    let known = param::NAMES.iter().copied().filter(|name| param::is_keyword(name));
    expect_same(keywords.map(str::to_string), known.map(str::to_string));
    assert!(kinds.contains(&"literal".to_string()));
}

/// The grammars name the words in quotation marks, or as the values of an option.
#[test]
fn every_keyword_stands_in_a_grammar() {
    let grammars: String = ["signature.md", "package-file.md", "launches.md"]
        .map(|name| grammar(&text(name)))
        .concat();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words: Vec<_> = grammars.split(|c| !is_part(c)).collect();
    let missing: Vec<_> = param::keywords().filter(|word| !words.contains(word)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    // What stands in quotation marks there is a keyword, or a word of tensor maps.
    let marked = grammars.split('"').skip(1).step_by(2).map(leading_name);
    let words = marked.filter(|word| !word.is_empty());
    let maps = ["box", "steps", "dims", "as", "interleave", "swizzle", "l2", "fill"];
    let others: Vec<_> =
        words.filter(|word| !param::is_keyword(word) && !maps.contains(word)).collect();
    assert!(others.is_empty(), "{others:?}");
}

/// The blocks that define what is written how: they begin with a name and `=`.
fn grammar(document: &str) -> String {
    let blocks = document.split("```").skip(1).step_by(2);
    let is_grammar = |block: &&str| {
        let text = block.strip_prefix("text\n").unwrap_or_default();
        let defined = text.split_once(" = ").map_or("", |(name, _)| name.trim_end());
        !defined.is_empty() && leading_name(defined) == defined
    };
    blocks.filter(is_grammar).collect()
}

#[test]
fn every_check_has_its_row() {
    let document = text("faults.md");
    let rows = rows(&document).map(|row| format!("{} {}", row[0].replace('`', ""), row[1]));
    let known = CATALOGUE.iter().map(|info| format!("{} {}", info.name, info.kind));
    expect_same(rows, known);
}

#[test]
fn words_of_types_and_devices_are_those_of_messages() {
    let document = text("faults.md");
    let types = TypeIndex::TABLE.iter().map(|(index, _, word)| (index.0, *word));
    let devices = DeviceType::TABLE.iter().map(|(device, _, word)| (device.0, *word));
    let (_, received) = document.split_once("Received words: ").expect("the list");
    let is_told = |part: &str, first: &str| {
        let part = part.replace(['`', '\n'], " ").replace("  ", " ");
        part.contains(first)
    };
    let (numbered, _) = received.split_once("; any other index").expect("the end of the list");
    let (_, numbered) = numbered.split_once('(').expect("the numbers");
    let is_number = |word: &&str| word.trim_start_matches('(').parse::<u32>().is_ok();
    let n_types = numbered.split_whitespace().filter(is_number).count();
    assert_eq!(n_types, types.clone().count(), "{numbered}");
    for (index, word) in types {
        assert!(
            is_told(received, &format!(" {index} {word}"))
                || is_told(received, &format!("({index} {word}")),
            "{index} {word}"
        );
    }
    let (_, printed) = document.split_once("Device types print as").expect("the list");
    let (printed, _) = printed.split_once("others as").expect("the end of the list");
    assert_eq!(quoted(printed).count(), devices.clone().count(), "{printed}");
    for (device, word) in devices {
        assert!(is_told(printed, &format!(" {word} {device},")), "{word} {device}");
    }
}

#[test]
fn every_dtype_is_listed() {
    let document = text("signature.md");
    let (_, list) = document.split_once("\ndtypes: `").expect("the list");
    let list = list.split('`').next().unwrap_or_default();
    expect_same(list.split_whitespace().map(str::to_string), DType::names());
}

/// What a diagnostic's code stands behind.
pub(super) const CODE_MAKERS: [&str; 5] =
    ["Diagnostic::new(", "Diagnostic::warning(", "Diagnostic::note(", ".mistake(", "Words::code("];

/// The text constants that follow a call in the program's code, as far as it is asked for.
pub(super) fn constants_of(call: &str, is_asked: &dyn Fn(&Source) -> bool) -> Vec<String> {
    let is_code = |source: &Source| source.path.starts_with("crates/") && !source.is_test();
    let is_program = |source: &Source| is_code(source) && is_asked(source);
    let sources = sources().into_iter().filter(|source| source.is_rust() && is_program(source));
    let texts: Vec<_> = sources.map(|source| source.text).collect();
    let behind = texts.iter().flat_map(|text| text.split(call).skip(1));
    let constants =
        behind.filter_map(|text| text.trim_start().strip_prefix('"')?.split('"').next());
    constants.map(str::to_string).collect()
}

/// The codes of the diagnostics that the suite expects.
fn codes_of_the_suite() -> Vec<String> {
    let mut codes = Vec::new();
    for path in crate::suite::files(&root().join("tests/suite")) {
        let document = Document::read(&path).expect("the suite is text");
        for block in document.blocks().filter(|block| block.info == "diagnostic") {
            let heads = block.text.lines().filter_map(|line| line.strip_prefix("error["));
            codes.extend(heads.filter_map(|head| Some(head.split_once(']')?.0.to_string())));
        }
    }
    codes
}

/// Codes are constants in the program, but for a few, which the suite has.
#[test]
fn every_code_of_a_diagnostic_has_its_row() {
    let codes = CODE_MAKERS.map(|call| constants_of(call, &|_| true)).concat();
    let arms = sources().into_iter().filter(|source| source.path.ends_with("source/error.rs"));
    let arms: String = arms.map(|source| source.text).collect();
    let of_sources = arms.split("=> \"").skip(1).filter_map(|text| text.split('"').next());
    let expected = codes_of_the_suite();
    let of_sources = of_sources.map(str::to_string);
    let mut known: Vec<_> = codes.into_iter().chain(of_sources).chain(expected).collect();
    known.sort();
    known.dedup();
    let document = text("diagnostics.md");
    let rows = document.lines().filter(|line| line.starts_with("| `"));
    let names = rows.flat_map(|row| quoted(row.split(" | ").next().unwrap_or_default()));
    expect_same(names.map(str::to_string), known);
}

/// `BLESS=1` rewrites the tables of the page.
#[test]
fn every_function_of_the_language_is_listed() {
    expect_tables("functions", &reference());
    expect_tables("packed functions", &packed::reference());
}

/// Tables of the page, between two comments.
fn expect_tables(which: &str, families: &[(&str, Vec<Entry>)]) {
    let begin = format!("<!-- {which} -->\n");
    let end = format!("\n<!-- end of {which} -->");
    let document = text("language.md");
    let (before, rest) = document.split_once(&begin).expect("the beginning of the tables");
    let (tables, after) = rest.split_once(&end).expect("the end of the tables");
    let actual: String = families.iter().map(|(family, rows)| table(family, rows)).collect();
    if std::env::var_os("BLESS").is_some() && actual != tables {
        let page = format!("{before}{begin}{actual}{end}{after}");
        return std::fs::write(root().join("docs/language.md"), page).expect("a page for writing");
    }
    assert_eq!(tables, actual, "`BLESS=1` rewrites the tables of docs/language.md");
}

/// A family of functions, as the page has it.
fn table(family: &str, rows: &[Entry]) -> String {
    let row = |row: &Entry| format!("| `{}` | {} |\n", row.call, row.doc);
    let rows: String = rows.iter().map(row).collect();
    format!("\n### {family}\n\n| function | what it does |\n|---|---|\n{rows}")
}

/// What a package may need of libtvm_ffi and of the C library.
#[test]
fn every_import_is_listed() {
    let document = text("deploying.md");
    let row = |head: &str| {
        let line = document.lines().find(|line| line.starts_with(&format!("| {head} |")));
        line.unwrap_or_else(|| panic!("no row `{head}`")).to_string()
    };
    let named = row("TVM-FFI symbols");
    let known = LIBTVM_FFI.iter().map(|import| import.symbol.to_string());
    expect_same(quoted(&named).map(str::to_string), known);
    let named = row("C library");
    let named = quoted(&named).next().expect("a list").split_whitespace();
    expect_same(named.map(str::to_string), LIBC.iter().map(|symbol| symbol.to_string()));
}

#[test]
fn every_target_is_named_where_building_for_others_is_explained() {
    let document = text("deploying.md");
    for target in TARGETS {
        let variable = format!("CC_{}", target.name.replace('-', "_"));
        assert!(document.contains(&variable), "{variable}");
    }
}

/// The program lists the keys of sources where none is given.
#[test]
fn every_source_is_in_both_tables() {
    let package = "[package]\nname = \"p\"\n[[function]]\nsignature = \"f(n: int32)\"\n\
                   source = {}\nkernel = \"k\"\nargs = []\n";
    let problems = package_file::parse(package, Path::new("")).unwrap_err();
    let told = problems.to_string();
    let (_, list) = told.split_once("expected one of ").expect("the list");
    let known: Vec<_> = quoted(list.lines().next().unwrap_or_default()).collect();
    assert!(known.len() > 5, "{told}");
    let tables =
        [section(&text("package-file.md"), "Sources").to_string(), text("bring-your-kernel.md")];
    for table in tables {
        for key in &known {
            let is_told =
                table.contains(&format!("`{key}`")) || table.contains(&format!("{{ {key} ="));
            assert!(is_told, "{key}");
        }
    }
}
