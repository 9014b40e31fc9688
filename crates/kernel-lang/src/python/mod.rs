// SPDX-License-Identifier: Apache-2.0
//! From characters to a [tree]: the one place that names ruff's parser, whose API is not stable.
//! Its tree is turned into ours at once, and ends here.
//!
//! Parsing deep nesting is safe, and dropping the tree of it is not: it would overflow the stack. A
//! source is bounded in size, its tree is measured before anything walks it, and one that is too
//! deep is never dropped.

pub mod assigner;
pub mod class;
mod convert;
mod depth;
pub mod free;
mod statement;
pub mod tree;
pub mod walk;

use kernpack_syntax::{Diagnostic, Diagnostics, Snippet};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::TextRange;
use tree::Block;

/// The most bytes of a file: more than a thousand times what kernels have.
const MOST_BYTES: usize = 4 << 20;

/// Reads a file of Python.
///
/// # Errors
/// Everything in it that is no Python.
pub fn parse(source: Snippet<'_>) -> Result<Block, Diagnostics> {
    if source.text.len() > MOST_BYTES {
        let message =
            format!("the file has {} bytes, and may have {MOST_BYTES}", source.text.len());
        return Err(Diagnostic::new("too-long", message).label(source.piece(0, 0).span, "").into());
    }
    let parsed = parse_unchecked(source.text, ParseOptions::from(Mode::Module));
    let mut problems = Diagnostics::default();
    for error in parsed.errors() {
        problems.push(syntax_error(&error.error.to_string(), error.location, source));
    }
    let too_deep = depth::too_deep(parsed.syntax());
    if let Some(range) = too_deep {
        let problem = Diagnostic::new("too-deep", "this is nested too deeply");
        let place = source.place(range.start().into(), range.start().into());
        let most = depth::MOST;
        let label = format!("more than {most} levels");
        problems.push(problem.label(place, label).help("name parts of it on lines of their own"));
    }
    let block = match problems.0.is_empty() {
        true => Ok(convert::module(parsed.syntax(), source)),
        false => Err(problems),
    };
    if too_deep.is_some() {
        std::mem::forget(parsed);
    }
    block
}

/// The parser's message, in our words.
fn syntax_error(message: &str, range: TextRange, source: Snippet<'_>) -> Diagnostic {
    let mut message = message.trim_end_matches('.').to_string();
    if let Some(first) = message.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    let place = source.place(range.start().into(), range.end().into());
    Diagnostic::new("python-syntax", message).label(place, "")
}
