// SPDX-License-Identifier: Apache-2.0
//! Dependency files: a Makefile rule that says what the outputs were made from, as `make` and `ninja` read it.

use std::path::Path;

/// The rule: every output depends on every input.
pub fn rule<'p>(
    outputs: impl IntoIterator<Item = &'p Path>,
    inputs: impl IntoIterator<Item = &'p Path>,
) -> String {
    let outputs: Vec<_> = outputs.into_iter().map(escape).collect();
    let mut seen = Vec::new();
    for input in inputs.into_iter().map(escape) {
        if !seen.contains(&input) {
            seen.push(input);
        }
    }
    format!("{}: \\\n  {}\n", outputs.join(" "), seen.join(" \\\n  "))
}

fn escape(path: &Path) -> String {
    let mut escaped = String::new();
    for c in path.to_string_lossy().chars() {
        match c {
            ' ' | '#' => escaped.push('\\'),
            '$' => escaped.push('$'),
            _ => {}
        }
        escaped.push(c);
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
        assert_eq!(rule(outputs, inputs), "a\\ b.so c.h: \\\n  p.toml \\\n  $$x\\#.c\n");
    }
}
