// SPDX-License-Identifier: Apache-2.0
//! Diagnostics as records have them, to be told again; and those of the cache itself.
//!
//! Places are bytes of the request's text, or of a kernel file that is read again. Names of files
//! in messages begin with the folder that paths start at, which may be another one the next time: a
//! mark stands for it.

use crate::record::StoredPath;
use crate::request::Request;
use kernpack_syntax::{Diagnostic, Label, Severity, Span, TextId, Texts};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;

/// Stands for the folder that paths start at.
const BASE: &str = "\u{1}base/";

/// A diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stored {
    code: String,
    severity: StoredSeverity,
    message: String,
    labels: Vec<StoredLabel>,
    help: Option<String>,
    detail: Option<String>,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum StoredSeverity {
    Note,
    Warning,
    Error,
}

impl From<Severity> for StoredSeverity {
    fn from(severity: Severity) -> StoredSeverity {
        match severity {
            Severity::Note => StoredSeverity::Note,
            Severity::Warning => StoredSeverity::Warning,
            Severity::Error => StoredSeverity::Error,
        }
    }
}

impl From<StoredSeverity> for Severity {
    fn from(severity: StoredSeverity) -> Severity {
        match severity {
            StoredSeverity::Note => Severity::Note,
            StoredSeverity::Warning => Severity::Warning,
            StoredSeverity::Error => Severity::Error,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StoredLabel {
    start: usize,
    end: usize,
    /// The text that it is in.
    place: StoredPlace,
    text: String,
}

/// The text that a label is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum StoredPlace {
    /// None.
    Nowhere,
    /// The request's.
    Request,
    /// That of a file.
    File(StoredPath),
    /// That of a program's source, by its number.
    Source(usize),
}

impl Stored {
    /// A diagnostic of a request. The request's text is the first of the table.
    pub fn of(diagnostic: &Diagnostic, texts: &Texts, request: &Request) -> Stored {
        let base = &request.base;
        let place = |text: Option<TextId>| match text {
            None => StoredPlace::Nowhere,
            Some(id) if texts.first() == Some(id) => StoredPlace::Request,
            Some(id) => {
                let text = texts.get(id);
                match request.sources().iter().position(|source| source == text) {
                    Some(number) => StoredPlace::Source(number),
                    None => StoredPlace::File(StoredPath::of(Path::new(&text.name), base)),
                }
            }
        };
        let label = |label: &Label| StoredLabel {
            start: label.span.start,
            end: label.span.end,
            place: place(label.span.text),
            text: label.text.clone(),
        };
        Stored {
            code: diagnostic.code.to_string(),
            severity: diagnostic.severity.into(),
            message: without_base(&diagnostic.message, base),
            labels: diagnostic.labels.iter().map(label).collect(),
            help: diagnostic.help.clone(),
            detail: diagnostic.detail.as_ref().map(|detail| without_base(detail, base)),
        }
    }

    /// The diagnostic of a request with that text. Files that it is about are read again: they are
    /// as they were, or their labels are of no text.
    pub fn diagnostic(&self, texts: &mut Texts, text: TextId, request: &Request) -> Diagnostic {
        let base = &request.base;
        let mut label = |label: &StoredLabel| {
            let text_id = match &label.place {
                StoredPlace::Nowhere => None,
                StoredPlace::Request => Some(text),
                StoredPlace::File(path) => reread(&path.at(base), texts, request),
                StoredPlace::Source(number) => request.sources().get(*number).map(|text| {
                    texts.add_part(&text.name[..], &text.characters[..], text.first_line)
                }),
            };
            let span = Span { text: text_id, start: label.start, end: label.end };
            Label { span, text: label.text.clone() }
        };
        Diagnostic {
            code: code(&self.code),
            severity: self.severity.into(),
            message: with_base(&self.message, base),
            labels: self.labels.iter().map(&mut label).collect(),
            help: self.help.clone(),
            detail: self.detail.as_ref().map(|detail| with_base(detail, base)),
        }
    }
}

/// A file that a diagnostic is about, in the table.
fn reread(path: &Path, texts: &mut Texts, request: &Request) -> Option<TextId> {
    let name = path.to_string_lossy();
    if let Some(known) = texts.find(&name) {
        return Some(known);
    }
    let held = request.held.below(&request.base);
    let bytes = match held.get(path) {
        Some(bytes) => bytes.to_vec(),
        None => std::fs::read(path).ok()?,
    };
    Some(texts.add(name, String::from_utf8(bytes).ok()?))
}

/// The code as diagnostics have it, each once for the life of the process.
fn code(name: &str) -> &'static str {
    static CODES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    // A forked child may find the lock held by a thread that it has not.
    let Ok(mut codes) = CODES.try_lock() else { return Box::leak(name.into()) };
    if let Some(known) = codes.get(name) {
        return known;
    }
    let code: &'static str = Box::leak(name.into());
    codes.insert(code);
    code
}

/// Has a diagnostic name files in memory as the request does. Below the base, where their paths
/// lead, is no such file.
pub(crate) fn name_held(diagnostic: &mut Diagnostic, request: &Request) {
    let Diagnostic { message, help, detail, .. } = diagnostic;
    for text in [message].into_iter().chain(help).chain(detail) {
        for (name, _) in request.held.iter() {
            let (path, name) = (request.base.join(name), name.to_string_lossy());
            let is_whole =
                |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || "/_-".contains(c));
            *text = replaced(text, &path.to_string_lossy(), &name, is_whole);
        }
    }
}

/// A text with the mark in the place of the base wherever a path begins so.
fn without_base(text: &str, base: &Path) -> String {
    let base = base.join("").to_string_lossy().into_owned();
    replaced(text, &base, BASE, |_| true)
}

/// A text in which a path has another name wherever it stands, unless it is the end of a longer
/// path. `is_end` says of what follows whether the path ends there.
fn replaced(text: &str, path: &str, other: &str, is_end: impl Fn(&str) -> bool) -> String {
    let (mut made, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(path).filter(|_| !path.is_empty()) {
        made += &rest[..at];
        rest = &rest[at + path.len()..];
        let is_inside = made.ends_with(|c: char| c.is_alphanumeric() || "/._-".contains(c));
        made += if is_inside || !is_end(rest) { path } else { other };
    }
    made + rest
}

fn with_base(text: &str, base: &Path) -> String {
    text.replace(BASE, &base.join("").to_string_lossy())
}

/// A remark of the cache on itself. Each is made once a process.
#[derive(Clone, Debug)]
pub(crate) struct Remark {
    /// Its subject, so that it is not made again.
    pub about: String,
    pub diagnostic: Box<Diagnostic>,
}

impl Remark {
    /// The cache, or a part of it, cannot be used.
    pub fn unused(folder: &Path, reason: &str, help: &str) -> Remark {
        let folder = folder.display();
        let message = format!("the cache in `{folder}` is not used: {reason}");
        let diagnostic = Diagnostic::warning("cache-unused", message).help(help);
        Remark { about: folder.to_string(), diagnostic: diagnostic.into() }
    }

    /// A variable's value means nothing, or leaves the cache without a place.
    pub fn setting(name: &str, message: &str, help: &str) -> Remark {
        let diagnostic = Diagnostic::warning("cache-unused", message).help(help);
        Remark { about: name.to_string(), diagnostic: diagnostic.into() }
    }

    /// Something in the cache is not what was written.
    pub fn damaged(path: &Path, what: &str) -> Remark {
        let path = path.display();
        let message = format!("`{path}` in the cache is damaged: {what}; it is not used");
        let help = "it is made again where that is needed; `kernpack cache verify` looks at all that is there";
        let diagnostic = Diagnostic::warning("cache-damaged", message).help(help);
        Remark { about: path.to_string(), diagnostic: diagnostic.into() }
    }

    /// The diagnostic, unless this process has said it.
    pub fn once(self) -> Option<Diagnostic> {
        static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
        // A forked child may find the lock held by a thread that it has not.
        let is_new = SAID.try_lock().is_ok_and(|mut said| said.insert(self.about));
        is_new.then_some(*self.diagnostic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernpack_syntax::Texts;

    #[test]
    fn diagnostics_come_back_with_another_base() {
        let mut texts = Texts::default();
        let id = texts.add("p.toml", "x = 1");
        let span = Span { text: Some(id), start: 0, end: 1 };
        let diagnostic = Diagnostic::warning("compiler-warning", "the C compiler warns of `a/k.c`")
            .label(span, "here")
            .label(Span::new(0, 0), "");
        let detail = Some("a/k.c:1: data/k.c\n(a/k.h)".to_string());
        let diagnostic = Diagnostic { detail, ..diagnostic };
        let base = |base: &str| Request::new("p.toml", "x = 1", Path::new(base));
        let stored = Stored::of(&diagnostic, &texts, &base("a"));
        let mut again = |base: &str| {
            let request = Request::new("p.toml", "x = 1", Path::new(base));
            stored.diagnostic(&mut texts, id, &request)
        };
        assert_eq!(again("a"), diagnostic);
        let moved = again("/b");
        assert_eq!(moved.message, "the C compiler warns of `/b/k.c`");
        assert_eq!(moved.detail.as_deref(), Some("/b/k.c:1: data/k.c\n(/b/k.h)"));
        let text = serde_json::to_string(&stored).unwrap();
        assert_eq!(serde_json::from_str::<Stored>(&text).unwrap(), stored);
    }

    #[test]
    fn kernel_files_are_read_again() {
        let mut texts = Texts::default();
        texts.add("p.toml", "x = 1");
        let id = texts.add("a/k.py", "y = 2");
        let span = Span { text: Some(id), start: 4, end: 5 };
        let diagnostic = Diagnostic::warning("local-memory", "slow").label(span, "here");
        let base = |base: &str| Request::new("p.toml", "x = 1", Path::new(base));
        let stored = Stored::of(&diagnostic, &texts, &base("a"));
        let mut request = Request::new("p.toml", "x = 1", Path::new("/b"));
        let mut again = Texts::default();
        let id = again.add("p.toml", "x = 1");
        let missing = stored.diagnostic(&mut again, id, &request);
        assert_eq!(missing.labels[0].span.text, None);
        // One of that name in the working directory is another file.
        assert!(Path::new("Cargo.toml").exists());
        let id = texts.add("Cargo.toml", "y = 2");
        let here = Span { text: Some(id), start: 4, end: 5 };
        let diagnostic = Diagnostic::warning("local-memory", "slow").label(here, "here");
        let stored_here = Stored::of(&diagnostic, &texts, &base(""));
        let elsewhere = stored_here.diagnostic(&mut again, id, &request);
        assert_eq!(elsewhere.labels[0].span.text, None);
        request.held.insert("k.py", *b"y = 2");
        let found = stored.diagnostic(&mut again, id, &request);
        let text = again.get(found.labels[0].span.text.unwrap());
        assert_eq!((&text.name[..], &text.characters[..]), ("/b/k.py", "y = 2"));
    }

    #[test]
    fn files_in_memory_are_named_as_the_request_does() {
        let mut request = Request::new("p.toml", "", Path::new("/a"));
        request.held.insert("k.c", *b"");
        let mut diagnostic = Diagnostic::warning("compiler-warning", "warns of `/a/k.c`");
        diagnostic.detail =
            Some("/a/k.c:1: /a/k.cu, /a/k.c/b, /b/a/k.c\nin \"/a/k.c\".".to_string());
        name_held(&mut diagnostic, &request);
        assert_eq!(diagnostic.message, "warns of `k.c`");
        let expected = "k.c:1: /a/k.cu, /a/k.c/b, /b/a/k.c\nin \"k.c\".";
        assert_eq!(diagnostic.detail.as_deref(), Some(expected));
    }
}
