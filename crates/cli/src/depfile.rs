// SPDX-License-Identifier: Apache-2.0
//! Dependency files: a Makefile rule that says what the outputs were made from, as `make` and
//! `ninja` read it.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The rule: every output depends on every input. Names are the bytes that they are, also where
/// these are no text.
pub fn rule<'p>(
    outputs: impl IntoIterator<Item = &'p Path>,
    inputs: impl IntoIterator<Item = &'p Path>,
) -> Vec<u8> {
    let outputs: Vec<_> = outputs.into_iter().map(escape).collect();
    let mut seen = Vec::new();
    for input in inputs.into_iter().map(escape) {
        if !seen.contains(&input) {
            seen.push(input);
        }
    }
    let (outputs, inputs) = (outputs.join(&b' '), seen.join(&b" \\\n  "[..]));
    [&outputs, &b": \\\n  "[..], &inputs, b"\n"].concat()
}

fn escape(path: &Path) -> Vec<u8> {
    let mut escaped = Vec::new();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b' ' | b'#' => escaped.push(b'\\'),
            b'$' => escaped.push(b'$'),
            _ => {}
        }
        escaped.push(*byte);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::rule;
    use std::path::Path;

    #[test]
    fn names_are_escaped_and_inputs_stand_there_once() {
        let outputs = ["a b.so", "c.h"].map(Path::new);
        let inputs = ["p.toml", "$x#.c", "p.toml"].map(Path::new);
        assert_eq!(rule(outputs, inputs), b"a\\ b.so c.h: \\\n  p.toml \\\n  $$x\\#.c\n");
    }
}
