// SPDX-License-Identifier: Apache-2.0
//! Which line of source a line of PTX comes from, by its `.file` and `.loc`.
//!
//! ```text
//! .visible .entry scale(...)
//! {
//!     .loc    1 30 5              file 1, line 30, column 5: for what follows, up to the next
//!     mul.rn.f32 ...
//!     .loc    1 0 5               no line in particular
//! }
//!     .file   1 "norm.py"         may come behind what uses it
//! ```
//!
//! Lines that are no such thing are not looked at. Not here: whether the text is right.

use std::collections::HashMap;

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The file, as the PTX names it.
    pub file: String,
    /// The line from 1.
    pub line: u32,
    /// The column from 1, or 0 for none.
    pub column: u32,
}

/// The places of one PTX text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineTable {
    files: HashMap<u32, String>,
    functions: Vec<Function>,
}

/// A function and the places in it, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Function {
    name: String,
    /// The line of PTX that begins it, from 1.
    start: u32,
    locations: Vec<Location>,
}

/// From a line of PTX on: a line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Location {
    /// Of PTX, from 1.
    from: u32,
    file: u32,
    line: u32,
    column: u32,
}

impl LineTable {
    /// Reads what PTX says of lines. Any text has a table.
    pub fn read(ptx: &str) -> LineTable {
        let mut table = LineTable::default();
        for (from, line) in (1..).zip(ptx.lines()) {
            if let Some(rest) = line.trim_start().strip_prefix(".file") {
                table.files.extend(file(rest));
                continue;
            }
            let line = line.split("//").next().unwrap_or_default().trim_start();
            if let Some(rest) = line.strip_prefix(".loc") {
                let locations = table.functions.last_mut().map(|function| &mut function.locations);
                if let (Some(locations), Some(location)) = (locations, location(from, rest)) {
                    locations.push(location);
                }
            } else if let Some(name) = function(line) {
                let (name, locations) = (name.to_string(), vec![]);
                table.functions.push(Function { name, start: from, locations });
            }
        }
        table
    }

    /// Where a line of PTX, counted from 1, comes from. A line that comes from none in particular
    /// counts to the last before it of the same function, or else to the first.
    pub fn place(&self, ptx_line: u32) -> Option<SourcePlace> {
        let function = self.functions.iter().rev().find(|function| function.start <= ptx_line)?;
        let with_line = || function.locations.iter().filter(|location| location.line > 0);
        let before = with_line().take_while(|location| location.from <= ptx_line).last();
        self.named(before.or_else(|| with_line().next())?)
    }

    /// Where the first statement of a function comes from.
    pub fn start(&self, function: &str) -> Option<SourcePlace> {
        let function = self.functions.iter().rev().find(|known| known.name == function)?;
        self.named(function.locations.iter().find(|location| location.line > 0)?)
    }

    fn named(&self, location: &Location) -> Option<SourcePlace> {
        let file = self.files.get(&location.file)?.clone();
        Some(SourcePlace { file, line: location.line, column: location.column })
    }
}

/// ` 1 "norm.py"`, perhaps with time and size behind.
fn file(rest: &str) -> Option<(u32, String)> {
    let (number, rest) = rest.trim_start().split_once(char::is_whitespace)?;
    Some((number.parse().ok()?, quoted(rest.trim_start())?))
}

/// ` 1 30 5`, perhaps with more behind.
fn location(from: u32, rest: &str) -> Option<Location> {
    let mut numbers = rest.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    let mut number = || numbers.next()?.parse().ok();
    Some(Location { from, file: number()?, line: number()?, column: number()? })
}

/// The name of the function that a line begins. A result may stand before the name.
fn function(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(".entry").or_else(|| line.split_once(".func"))?;
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(result) => result.split_once(')')?.1.trim_start(),
        None => rest,
    };
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_$%".contains(c);
    let name = rest.split(|c| !is_of_name(c)).next()?;
    (!name.is_empty()).then_some(name)
}

/// A text in quotes, in which a backslash stands before a sign, or before the number of a byte in
/// octal.
fn quoted(text: &str) -> Option<String> {
    let mut rest = text.strip_prefix('"')?.bytes().peekable();
    let mut bytes = Vec::new();
    loop {
        match rest.next()? {
            b'"' => return Some(String::from_utf8_lossy(&bytes).into_owned()),
            b'\\' if rest.peek().is_some_and(|byte| (b'0'..=b'7').contains(byte)) => {
                let mut number = 0u8;
                for _ in 0..3 {
                    let Some(digit) = rest.next_if(|byte| (b'0'..=b'7').contains(byte)) else {
                        break;
                    };
                    number = number.wrapping_mul(8).wrapping_add(digit - b'0');
                }
                bytes.push(number);
            }
            b'\\' => bytes.push(rest.next()?),
            byte => bytes.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = concat!(
        ".version 8.0\n",
        ".visible .entry scale(\n",
        "\t.param .u64 scale_param_0\n",
        ")\n",
        "{\n",
        "\t.loc\t1 0 0                           // norm.py:0:0\n",
        "\tmov.u32 %r1, %tid.x;\n",
        "\t.loc\t1 30 5                          // norm.py:30:5\n",
        "\tadd.s32 %r2, %r1, 1;\n",
        "\t.loc 2 7 0, function_name $L__info_string0, inlined_at 1 31 5\n",
        "\tadd.s32 %r3, %r2, 1;\n",
        "\t.loc\t1 0 5\n",
        "\tret;\n",
        "}\n",
        ".func (.param .b32 r) add(.param .b32 x)\n",
        "{\n",
        "\tret;\n",
        "}\n",
        "\t.file\t1 \"dir/a \\\"b\\\".py\"\n",
        "\t.file\t2 \"\\303\\244//b.py\", 1, 2\n",
    );

    fn expect_place(line: u32, expected: Option<&str>) {
        let place = LineTable::read(PTX).place(line);
        let place = place.map(|place| format!("{}:{}:{}", place.file, place.line, place.column));
        assert_eq!(place.as_deref(), expected, "line {line}");
    }

    #[test]
    fn a_line_comes_from_the_last_place_before_it() {
        expect_place(8, Some("dir/a \"b\".py:30:5"));
        expect_place(9, Some("dir/a \"b\".py:30:5"));
        expect_place(11, Some("ä//b.py:7:0"));
    }

    #[test]
    fn a_line_without_a_place_counts_to_another_of_its_function() {
        // At the beginning to the first, at the end to the last.
        expect_place(3, Some("dir/a \"b\".py:30:5"));
        expect_place(7, Some("dir/a \"b\".py:30:5"));
        expect_place(13, Some("ä//b.py:7:0"));
        expect_place(1, None);
        expect_place(17, None);
    }

    #[test]
    fn a_function_begins_at_its_first_place() {
        let table = LineTable::read(PTX);
        assert_eq!(table.start("scale").map(|place| place.line), Some(30));
        assert_eq!(table.start("add"), None);
        assert_eq!(table.start("other"), None);
    }

    #[test]
    fn any_text_has_a_table() {
        let odd = ".file\n.file x \"y\n.loc 1\n.entry\n.entry (\n.loc 1 2 3\n.file 1 \"\\\n\u{e4}";
        for cut in (0..=odd.len()).filter(|cut| odd.is_char_boundary(*cut)) {
            assert_eq!(LineTable::read(&odd[..cut]).place(9), None);
        }
    }
}
