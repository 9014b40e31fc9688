// SPDX-License-Identifier: Apache-2.0
//! Which check a message is of.
//!
//! Messages have one layout ([`kernpack_validators::fault`]): a subject, a place, the call, what
//! was expected. Which check one is of is decided by its fixed words, those that the example of a
//! check in the catalogue has too once the call's own names and values are left out: nothing here
//! knows any check.

use kernpack_validators::check::{CATALOGUE, Info};

/// The checks that a text may be a message of, whatever stands around it: a traceback, and the
/// words of those through whom the error came.
pub(super) fn find(text: &str) -> Vec<&'static Info> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let starts =
        [0].into_iter().chain(line.match_indices(": ").map(|(at, colon)| at + colon.len()));
    let found = starts.map(|start| find_message(&line[start..]));
    found.into_iter().find(|checks| !checks.is_empty()).unwrap_or_default()
}

/// The checks that a message may be of, from its first word on.
fn find_message(message: &str) -> Vec<&'static Info> {
    let message = Words::of(message);
    let examples: Vec<_> = CATALOGUE.iter().map(|info| (info, Words::of(info.example))).collect();
    let of_subject = |subject: &[String]| {
        let alike = examples.iter().filter(|(_, example)| example.subject == subject);
        alike.collect::<Vec<_>>()
    };
    let mut alike = of_subject(&message.subject);
    if alike.is_empty() {
        alike = of_subject(&message.subject_with_path());
    }
    if alike.is_empty() {
        alike = of_subject(&message.subject_with_symbol());
    }
    // One check may have several wordings of what it expects, so its subject alone can decide.
    let same_field = alike.iter().filter(|(_, example)| example.field == message.field);
    if let [(info, _)] = same_field.collect::<Vec<_>>()[..] {
        return vec![info];
    }
    let said = |example: &Words| {
        let mut said = message.expected.iter();
        example.fixed_words().all(|word| said.any(|other| other == word))
    };
    let rank = |example: &Words| (example.fixed_words().count(), example.field == message.field);
    match alike.iter().filter(|(_, example)| said(example)).max_by_key(|(_, e)| rank(e)) {
        Some((info, _)) => vec![info],
        None => alike.into_iter().map(|(info, _)| *info).collect(),
    }
}

/// A message in pieces.
#[derive(Debug)]
struct Words<'m> {
    /// The subject, with the verb: `Mismatched …`, with one word for any path.
    subject: Vec<String>,
    /// The field of a tensor that the subject is a path to, if it is.
    field: Option<&'static str>,
    /// The words of what is expected; of `key=value` and `call(…)`, what is in front.
    expected: Vec<&'m str>,
    /// The names in the signature of the call.
    names: Vec<&'m str>,
}

/// The mark that stands for a path to an argument or a part of one.
const PATH: &str = "…";

impl<'m> Words<'m> {
    fn of(message: &'m str) -> Words<'m> {
        let (what, rest) = message.split_once(" when calling: ").unwrap_or((message, ""));
        let signature = rest.split('`').nth(1).unwrap_or_default();
        let subject = what.split_once(" on ").map_or(what, |(subject, _)| subject);
        let expected = rest.split_once("`, expected ").map_or("", |(_, expected)| expected);
        let expected = expected.split_once(", got ").map_or(expected, |(expected, _)| expected);
        // Words in quotes are the call's own.
        let unquoted: String = subject.split('`').step_by(2).collect();
        let word_or_path = |word: &str| if word.contains(['.', '[']) { PATH } else { word }.into();
        Words {
            subject: unquoted.split_whitespace().map(word_or_path).collect(),
            field: ["strides", "dtype"].into_iter().find(|field| has_field(subject, field)),
            expected: expected.split_whitespace().map(front).collect(),
            names: signature.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect(),
        }
    }

    /// The subject, taking a parameter's name for a path.
    fn subject_with_path(&self) -> Vec<String> {
        let word_or_path = |word: &String| {
            if self.names.contains(&word.as_str()) { PATH.into() } else { word.clone() }
        };
        self.subject.iter().map(word_or_path).collect()
    }

    /// The subject, taking its last word for a path: it may be a symbol that the signature of the
    /// call does not show.
    fn subject_with_symbol(&self) -> Vec<String> {
        let others = self.subject.split_last().map_or(&[][..], |(_, others)| others);
        others.iter().cloned().chain([PATH.to_string()]).collect()
    }

    /// The words of what is expected that no call chooses: no numbers, paths or names of the
    /// signature.
    fn fixed_words(&self) -> impl Iterator<Item = &&'m str> {
        self.expected.iter().filter(|word| {
            let is_word = word.starts_with(|c: char| c.is_ascii_alphabetic());
            is_word && !word.contains(['.', '[', '*', '+']) && !self.names.contains(word)
        })
    }
}

fn has_field(subject: &str, field: &str) -> bool {
    subject.split('.').skip(1).any(|part| part.starts_with(field))
}

fn front(word: &str) -> &str {
    match word.find(['=', '(']) {
        Some(end) if end > 0 => &word[..=end],
        _ => word.trim_end_matches([',', ')', '}']),
    }
}
