// SPDX-License-Identifier: Apache-2.0
//! Files of the suite: Markdown, of which only `##` headings and fenced blocks with an info string
//! matter.

use std::fmt;
use std::path::Path;

/// A part of a file, in order; together they are its text.
#[derive(Debug)]
pub enum Piece {
    /// A line of prose, or an empty one.
    Prose(String),
    /// The heading of a case.
    Heading(String),
    /// A fenced block.
    Block(Block),
}

/// A fenced block.
#[derive(Debug)]
pub struct Block {
    /// What stands behind the fence.
    pub info: String,
    /// The number of its first line of text.
    pub line: usize,
    /// The lines between the fences, without a final newline.
    pub text: String,
}

/// A file of the suite.
#[derive(Debug)]
pub struct Document {
    /// Its parts.
    pub pieces: Vec<Piece>,
}

impl Document {
    /// Reads a file.
    pub fn read(path: &Path) -> std::io::Result<Document> {
        Ok(Document::parse(&std::fs::read_to_string(path)?))
    }

    /// Splits a text. A block without an end takes the rest.
    pub fn parse(text: &str) -> Document {
        let mut lines = text.lines().enumerate();
        let mut pieces = Vec::new();
        while let Some((number, line)) = lines.next() {
            pieces.push(if let Some(info) = line.strip_prefix("```") {
                let inside = lines.by_ref().map(|(_, line)| line);
                let text: Vec<_> = inside.take_while(|line| *line != "```").collect();
                Piece::Block(Block { info: info.into(), line: number + 2, text: text.join("\n") })
            } else if let Some(heading) = line.strip_prefix("## ") {
                Piece::Heading(heading.to_string())
            } else {
                Piece::Prose(line.to_string())
            });
        }
        Document { pieces }
    }

    /// The blocks, in order.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Block(block) => Some(block),
            _ => None,
        })
    }
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.pieces {
            match piece {
                Piece::Prose(line) => writeln!(f, "{line}")?,
                Piece::Heading(heading) => writeln!(f, "## {heading}")?,
                Piece::Block(Block { info, text, .. }) if text.is_empty() => {
                    writeln!(f, "```{info}\n```")?;
                }
                Piece::Block(Block { info, text, .. }) => writeln!(f, "```{info}\n{text}\n```")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_prints_as_it_was_read() {
        let text = "# Title\n\n## Case\nprose\n```signature\nf()\n```\n```fault\n```\n";
        let document = Document::parse(text);
        assert_eq!(document.to_string(), text);
        let blocks: Vec<_> =
            document.blocks().map(|b| (b.line, &b.info[..], &b.text[..])).collect();
        assert_eq!(blocks, [(6, "signature", "f()"), (9, "fault", "")]);
    }
}
