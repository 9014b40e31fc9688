// SPDX-License-Identifier: Apache-2.0
//! `kernpack explain NAME|MESSAGE`
//!
//! Messages have one layout ([`kernpack_validators::fault`]): a subject, a place, the call, what was expected. Which check a pasted message is
//! of is decided by its fixed words, those that the example of a check in the catalogue has too once the call's own names and values
//! are left out: nothing here knows any check.

use crate::{Failure, Report};
use anyhow::anyhow;
use clap::Args;
use kernpack_validators::check::{CATALOGUE, Info};
use serde_json::{Value, json};

/// The command's arguments.
#[derive(Args, Debug)]
pub struct Explain {
    /// A check's name, such as tensor-rank, or a message; quote a message with '…', as it has backquotes.
    #[arg(required = true, value_name = "NAME|MESSAGE")]
    words: Vec<String>,
}

impl Explain {
    /// Runs the command.
    pub fn run(self) -> Result<Report, Failure> {
        let asked = self.words.join(" ");
        let checks = find(asked.trim());
        if checks.is_empty() {
            return Err(unknown(asked.trim()).into());
        }
        let text = checks.iter().map(|info| page(info)).collect::<Vec<_>>().join("\n");
        let checks: Vec<_> = checks.into_iter().map(page_json).collect();
        Ok(Report::new(text, json!({ "checks": checks })))
    }
}

fn page(info: &Info) -> String {
    let Info { name, kind, doc, example } = info;
    format!("{name} ({kind})\n\n{doc}\n\nexample: {example}\n")
}

fn page_json(info: &Info) -> Value {
    let Info { name, kind, doc, example } = info;
    json!({ "name": name, "kind": kind.to_string(), "doc": doc, "example": example })
}

fn unknown(asked: &str) -> anyhow::Error {
    let names: Vec<_> = CATALOGUE.iter().map(|info| info.name).collect();
    let similarity = |name: &&&str| (1e6 * strsim::jaro_winkler(name, asked)) as i64;
    match names.iter().max_by_key(similarity) {
        Some(name) if strsim::jaro_winkler(name, asked) > 0.9 => {
            anyhow!("no check is called `{asked}`; did you mean `{name}`?")
        }
        _ => anyhow!(
            "no check is called `{asked}` or raises such a message; the checks are {}",
            names.join(", ")
        ),
    }
}

/// The check of that name, or those that a message may be of.
fn find(asked: &str) -> Vec<&'static Info> {
    if let Some(info) = CATALOGUE.iter().find(|info| info.name == asked) {
        return vec![info];
    }
    let message = Words::of(asked);
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
    /// What is wrong with what: `Mismatched …`, with one word for any path.
    subject: Vec<String>,
    /// The field of a tensor that the subject is a path to, if it is.
    field: Option<&'static str>,
    /// The words of what is expected; of `key=value` and `call(…)`, what is in front.
    expected: Vec<&'m str>,
    /// The names in the signature of the call.
    names: Vec<&'m str>,
}

/// What stands for a path to an argument or a part of one.
const PATH: &str = "…";

impl<'m> Words<'m> {
    fn of(message: &'m str) -> Words<'m> {
        // A traceback has the kind of the error in front.
        let message = message.rsplit_once("Error: ").map_or(message, |(_, message)| message);
        let (what, rest) = message.split_once(" when calling: ").unwrap_or((message, ""));
        let signature = rest.split('`').nth(1).unwrap_or_default();
        let subject = what.split_once(" on ").map_or(what, |(subject, _)| subject);
        let expected = rest.rsplit_once("`, expected ").map_or("", |(_, expected)| expected);
        let expected = expected.rsplit_once(", got ").map_or(expected, |(expected, _)| expected);
        // What is quoted in a subject is the call's own.
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

    /// The subject, taking its last word for a path: it may be a symbol that the signature of the call does not show.
    fn subject_with_symbol(&self) -> Vec<String> {
        let others = self.subject.split_last().map_or(&[][..], |(_, others)| others);
        others.iter().cloned().chain([PATH.to_string()]).collect()
    }

    /// The words of what is expected that no call chooses: no numbers, paths or names of the signature.
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
        _ => word.trim_end_matches(','),
    }
}

#[cfg(test)]
mod tests {
    use super::{CATALOGUE, find};

    fn names(message: &str) -> Vec<&'static str> {
        find(message).into_iter().map(|info| info.name).collect()
    }

    #[test]
    fn every_check_is_found_by_its_name_and_by_its_example() {
        for info in CATALOGUE {
            assert_eq!(names(info.name), [info.name]);
            assert_eq!(names(info.example), [info.name], "{}", info.example);
            let raised = format!("Traceback:\n  x\n{}: {}", info.kind, info.example);
            assert_eq!(names(&raised), [info.name], "{raised}");
        }
    }

    /// The table of messages says of each check every form that its message has.
    #[test]
    fn every_documented_message_is_found() {
        let document = include_str!("../../../../docs/faults.md");
        let mut n_messages = 0;
        for row in document.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<_> = row.split(" | ").collect();
            let name = cells[0].trim_matches(['|', ' ', '`']);
            let quoted = cells[2].split("``").skip(1).step_by(2);
            let mut whole = String::new();
            for message in quoted {
                let message = match message.find("expected ") {
                    // A further form of the text behind `expected`.
                    Some(at) if !message.contains("when calling") => {
                        let start = whole.find("expected ").expect("the first form is whole");
                        format!("{}{}", &whole[..start], &message[at..])
                    }
                    _ if message.contains("when calling") => {
                        whole = message.replace("SIG", "f(a: Tensor([n], T), m: int32, k: int32)");
                        whole = whole.replace("LOC", "on argument #0");
                        whole.clone()
                    }
                    _ => continue,
                };
                assert_eq!(names(&message), [name], "{message}");
                n_messages += 1;
            }
        }
        assert!(n_messages >= CATALOGUE.len(), "{n_messages} messages were found");
    }

    #[test]
    fn other_texts_are_of_no_check() {
        for text in
            ["", "x", "Mismatched", "tensor-rnk", " when calling: ", "`", " on , expected , got "]
        {
            assert!(find(text).is_empty(), "{text:?}");
        }
    }
}
