// SPDX-License-Identifier: Apache-2.0
//! `docs/kernel-examples.md`, held against the files that it is about.

use crate::{folder, text};
use kernpack_tests::document::{Document, Piece};
use std::path::Path;

/// The page's sections for examples: each name with its blocks of Python.
fn sections() -> Vec<(String, Vec<String>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/kernel-examples.md");
    let document = Document::read(&path).expect("the page is there");
    let mut sections: Vec<(String, Vec<String>)> = Vec::new();
    for piece in document.pieces {
        match (piece, sections.last_mut()) {
            (Piece::Heading(heading), _) => {
                sections.push((heading.trim_start_matches(['#', ' ']).to_string(), vec![]));
            }
            (Piece::Block(block), Some((_, blocks))) if block.info == "python" => {
                blocks.push(block.text);
            }
            (Piece::Block(_) | Piece::Prose(_), _) => {}
        }
    }
    sections
}

#[test]
fn the_page_has_every_example_and_what_stands_in_it() {
    let files = std::fs::read_dir(folder()).expect("the folder").map(|file| file.expect("a file"));
    let names = files.filter_map(|file| {
        let name = file.file_name().to_string_lossy().strip_suffix(".py")?.to_string();
        text(&name).contains("@kp.jit(").then_some(name)
    });
    let sections = sections();
    let mut n_blocks = 0;
    for name in names {
        let own = sections.iter().find(|(heading, _)| *heading == name);
        let (_, blocks) = own.unwrap_or_else(|| panic!("the page has a section `{name}`"));
        assert!(!blocks.is_empty(), "`{name}` shows nothing");
        for block in blocks {
            assert!(text(&name).contains(block.trim_end_matches('\n')), "{name}:\n{block}");
            n_blocks += 1;
        }
    }
    let all: usize = sections.iter().map(|(_, blocks)| blocks.len()).sum();
    assert_eq!(n_blocks, all, "every block is under an example's heading");
}
