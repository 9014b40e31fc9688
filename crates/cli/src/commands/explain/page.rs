// SPDX-License-Identifier: Apache-2.0
//! Pages that stand in documents: a row of a table each, with names, what they mean, and messages.
//!
//! Errors of builds and findings of runs are known by the codes in them. Errors of the CUDA driver
//! are known by their names, other messages by their fixed words.

/// The tables, and what they are about.
const TABLES: [(&str, &str); 3] = [
    ("error of a build", include_str!("diagnostics.md")),
    ("finding of a run", include_str!("debugging.md")),
    ("RuntimeError", include_str!("errors.md")),
];

/// A row of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// The names that it is about; the first one is the page's own.
    pub names: Vec<&'static str>,
    /// The kind of error.
    pub kind: &'static str,
    /// Its meaning, and the cure.
    pub doc: String,
    /// Messages.
    pub examples: Vec<&'static str>,
}

/// Every page, in the order of the documents.
pub(super) fn pages() -> Vec<Page> {
    let pages = |(kind, text): (&'static str, &'static str)| {
        text.lines().filter_map(move |row| page(kind, row))
    };
    TABLES.into_iter().flat_map(pages).collect()
}

fn page(kind: &'static str, row: &'static str) -> Option<Page> {
    let cells: Vec<_> = row.strip_prefix("| `")?.split(" | ").collect();
    let [names, doc, examples] = cells[..] else { return None };
    // Rows of warnings begin so.
    let kind = if doc.starts_with("A warning") { "warning of a build" } else { kind };
    let names = names.split('`').step_by(2).filter(|name| !name.starts_with(',')).collect();
    Some(Page { names, kind, doc: without_links(doc), examples: code_spans(examples) })
}

/// The texts between equally many backquotes.
fn code_spans(cell: &'static str) -> Vec<&'static str> {
    let mut spans = Vec::new();
    let mut rest = cell;
    while let Some(start) = rest.find('`') {
        rest = &rest[start..];
        let quote = &rest[..rest.len() - rest.trim_start_matches('`').len()];
        let Some((span, behind)) = rest[quote.len()..].split_once(quote) else { break };
        spans.push(span.trim());
        rest = behind;
    }
    spans
}

/// Markdown's `[text](address)` as `text`.
fn without_links(text: &str) -> String {
    let mut parts = text.split("](");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        if let Some(open) = out.rfind('[') {
            out.remove(open);
        }
        out.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    out
}

/// The pages that a text names, or is a message of.
pub(super) fn find(text: &str) -> Vec<Page> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let pages = pages();
    let has = |test: &dyn Fn(&Page) -> bool| -> Vec<Page> {
        pages.iter().filter(|page| test(page)).cloned().collect()
    };
    let named = has(&|page| {
        page.names.iter().any(|name| is_named(&line, name)) || has_drivers_name(&line, page)
    });
    if !named.is_empty() {
        return named;
    }
    if line.contains("CUDA Error: ") {
        return has(&|page| page.names == ["cuda-error"]);
    }
    has(&|page| page.examples.iter().any(|example| is_like(&line, example)))
}

/// Whether a text is a name or has it as the code of an error. The names of the CUDA runtime's and
/// of the driver's errors may stand anywhere.
fn is_named(line: &str, name: &str) -> bool {
    let mut words = line.split(|c: char| !(c.is_ascii_alphanumeric() || "-_".contains(c)));
    let is_cuda = name.starts_with("cudaError");
    line == name
        || ["error", "warning"].iter().any(|what| line.contains(&format!("{what}[{name}]")))
        || is_cuda && words.any(|word| word == name)
}

/// Whether a text has the driver's own name of an error, as the messages of its page have it.
fn has_drivers_name(line: &str, page: &Page) -> bool {
    let mut words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let is_in = |word: &str| page.examples.iter().any(|text| text.contains(&format!(", {word})")));
    page.kind == "RuntimeError" && words.any(|word| word.starts_with("CUDA_ERROR_") && is_in(word))
}

/// Whether a text has the fixed words of a message: those that it does not quote, up to a number.
fn is_like(line: &str, example: &str) -> bool {
    let parts =
        example.split('`').step_by(2).flat_map(|part| part.split(|c: char| c.is_ascii_digit()));
    let parts: Vec<_> = parts.map(str::trim).filter(|part| part.contains(' ')).collect();
    !parts.is_empty() && parts.iter().all(|part| line.contains(part))
}
