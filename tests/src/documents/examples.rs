// SPDX-License-Identifier: Apache-2.0
//! Examples in documents: package files and signatures, read as the program reads them.

use super::{all, blocks, expect_none, leading_name, quoted};
use crate::document::{Document, Piece};
use kernpack_ffi_abi::DeviceType;
use kernpack_package::package_file;
use kernpack_syntax::Diagnostics;
use kernpack_validators::{Signature, param};
use std::path::Path;

/// A package with what an example leaves out: the package's head, a signature, a kernel.
fn whole(example: &str) -> String {
    if example.contains("[package]") {
        return example.to_string();
    }
    let has = |key: &str| example.lines().any(|line| line.starts_with(&format!("{key} = ")));
    let mut text = "[package]\nname = \"example\"\n".to_string();
    if !example.contains("[[function]]") {
        text.push_str("[[function]]\n");
    }
    if !has("signature") {
        text.push_str("signature = \"f(x: Tensor([n], float32, mut), m: int64)\"\n");
    }
    text.push_str(example);
    text.push('\n');
    let is_launch = has("source") || has("args");
    let on_gpu = !example.contains("host =");
    for (key, line) in
        [("source", "source = { cuda = \"k.cu\" }\n"), ("kernel", "kernel = \"k\"\n")]
    {
        if is_launch && !has(key) && !(key == "kernel" && example.contains("triton =")) {
            text.push_str(line);
        }
    }
    if is_launch && on_gpu && !has("launch") && !has("grid") {
        text.push_str("launch = { grid = [1], block = [32] }\n");
    }
    text
}

#[test]
fn package_files_are_packages() {
    let documents = all();
    let examples: Vec<_> = blocks(&documents, "toml").collect();
    assert!(examples.len() > 14, "{} were found", examples.len());
    let problems = examples.iter().filter_map(|(place, block)| {
        let problems = package_file::parse(&whole(&block.text), Path::new("")).err()?;
        Some(format!("{place}: {problems}"))
    });
    expect_none(&problems.collect::<Vec<_>>());
}

/// A whole signature has a name, and a parameter with its type.
fn is_signature(text: &str) -> bool {
    let Some((name, rest)) = text.split_once('(') else { return false };
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let param = rest.split(':').next().unwrap_or_default();
    let is_typed =
        rest.contains(": ") && param.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name && is_typed && !text.contains('…') && !["Tuple", "struct"].contains(&name)
}

/// A signature, or one around a parameter, a type or a result.
fn whole_signature(text: &str) -> Option<String> {
    if is_signature(text) {
        return Some(text.to_string());
    }
    let (before, declared) = match text.strip_prefix("-> ") {
        Some(result) => ("m: int64, n: int64) -> ", result),
        None => ("dtype: Tensor([], T), ", text),
    };
    let (name, kind) = declared.split_once(": ").unwrap_or(("x", declared));
    let is_kind = param::NAMES.contains(&leading_name(kind));
    let is_type = is_kind && kind.contains('(');
    let is_whole = kind.ends_with([')', ']']) && !kind.contains("..") && !kind.contains('…');
    let end = if declared == text { ") where T in {float16, float32}" } else { "" };
    let is_name = leading_name(name) == name;
    (is_type && is_whole && is_name).then(|| format!("f({before}{name}: {kind}{end}"))
}

#[test]
fn signatures_are_signatures() {
    let documents = all();
    let mut problems = Vec::new();
    let mut n_signatures = 0;
    for (name, document) in &documents {
        for text in shown(document).iter().filter_map(|text| whole_signature(text)) {
            n_signatures += 1;
            if let Err(found) = plan(&text) {
                problems.push(format!("{name}: `{text}`: {found}"));
            }
        }
    }
    assert!(n_signatures > 7, "{n_signatures} were found");
    expect_none(&problems);
}

/// What a document quotes, in its lines and in blocks that only show text.
fn shown(document: &Document) -> Vec<String> {
    let lines = |piece: &Piece| -> Vec<String> {
        match piece {
            Piece::Prose(line) => quoted(&line.replace("``", "`")).map(str::to_string).collect(),
            Piece::Block(block) if block.info == "text" => {
                block.text.lines().map(str::to_string).collect()
            }
            Piece::Heading(_) | Piece::Block(_) => vec![],
        }
    };
    document.pieces.iter().flat_map(lines).collect()
}

fn plan(text: &str) -> Result<(), Diagnostics> {
    let signature: Signature = text.parse()?;
    signature.plan(DeviceType::CPU).map(drop)
}

/// The samples are types, which print as they are written.
#[test]
fn samples_of_kinds_are_read_and_print() {
    for sample in param::samples() {
        let rule = match sample {
            "DataType" => " where x in {float16, float32}",
            _ if sample.contains(" T,") => " where T in {float16, float32}",
            _ => "",
        };
        let text = format!("f(x: {sample}){rule}");
        let signature: Signature = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(signature.to_string(), text);
    }
}
