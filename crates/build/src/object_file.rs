// SPDX-License-Identifier: Apache-2.0
//! The object of a package, and what it says of itself: the record in its section
//! `.note.kernpack`, which the program's `inspect` shows too.
//!
//! Of the record only those keys are read that say how to link it, and whether it fits. Its digest
//! is not looked at: a damaged object is nothing that a linker takes.

use crate::host::Host;
use crate::problem::{OWN_VERSION, Problem};
use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, SectionHeader};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// An object with a package in it that can be linked here.
#[derive(Debug)]
pub struct ObjectFile {
    /// The whole file.
    pub bytes: Vec<u8>,
    /// The record of its package.
    pub record: Record,
}

/// A package, as far as its linking goes.
#[derive(Debug, Deserialize)]
pub struct Record {
    /// Its name.
    pub package: String,
    /// The version of kernpack that made it.
    pub compiler: String,
    /// The hosts that it runs on.
    pub targets: Vec<String>,
    /// The sonames of the libraries that it needs.
    pub libraries: Vec<String>,
}

const SECTION: &[u8] = b".note.kernpack";
/// The size of a note's header, of the name that follows, and of the digest behind that.
const BEFORE_LENGTH: usize = 12 + 12 + 32;
/// The unit of notes, in bytes.
const GRAIN: usize = 12;
/// The records that can be read: newer minor versions have more keys only.
const MAJOR_FORMAT: &str = "1.";

impl ObjectFile {
    /// Reads an object, which has the name `shown` in messages.
    ///
    /// # Errors
    /// Where it has no package, several, or one that does not fit the host or this crate.
    pub fn read(path: &Path, shown: &Path, host: &Host) -> Result<ObjectFile, Problem> {
        let bytes = std::fs::read(path).map_err(Problem::file("read", path))?;
        let record = record(&bytes).and_then(|record| record.fits(host).map(|()| record));
        let record = record.map_err(|reason| Problem::Object {
            file: shown.display().to_string(),
            reason,
            target: host.name,
        })?;
        Ok(ObjectFile { bytes, record })
    }
}

impl Record {
    /// Whether it can be linked into what is built for the host; else why not.
    fn fits(&self, host: &Host) -> Result<(), String> {
        let Record { package, compiler, targets, .. } = self;
        if package.is_empty() || !package.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("has a package with the name `{package}`, which is none"));
        }
        if !targets.iter().any(|target| target == host.name) {
            let targets = targets.join(" and ");
            return Err(format!("is for {targets}, and not for {}", host.name));
        }
        if release(compiler) != release(OWN_VERSION) {
            let own = "the crate kernpack-build is";
            return Err(format!("was made by kernpack {compiler}, but {own} {OWN_VERSION}"));
        }
        Ok(())
    }
}

/// The part of a version that says what fits together, as cargo has it: up to the first number
/// that is not 0.
fn release(version: &str) -> Vec<&str> {
    let mut numbers = version.split('.');
    let n_zeros = numbers.by_ref().take_while(|number| *number == "0").count();
    version.split('.').take(n_zeros + 1).collect()
}

/// The only record of an object; else why there is none.
fn record(object: &[u8]) -> Result<Record, String> {
    let section = section(object).ok().flatten();
    let section = section.ok_or("is no object of a package")?;
    let (json, rest) = split_note(section).ok_or("has a damaged record of its package")?;
    if !rest.is_empty() {
        return Err("has several packages in it, which is one too many".to_string());
    }
    let damaged = |error| format!("has a damaged record of its package: {error}");
    let record: Value = serde_json::from_slice(json).map_err(damaged)?;
    match &record["format"] {
        Value::String(format) if !format.starts_with(MAJOR_FORMAT) => {
            Err(format!("has a record of format {format}, which is too new for this crate"))
        }
        _ => Record::deserialize(record).map_err(damaged),
    }
}

/// The section with the records, if there is one.
fn section(object: &[u8]) -> object::read::Result<Option<&[u8]>> {
    let header = FileHeader64::<LittleEndian>::parse(object)?;
    let sections = header.sections(LittleEndian, object)?;
    let found = sections.section_by_name(LittleEndian, SECTION);
    found.map(|(_, section)| section.data(LittleEndian, object)).transpose()
}

/// The JSON of the first note, and what follows the note.
fn split_note(section: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, body) = section.get(BEFORE_LENGTH..)?.split_first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let size = (section.len() - body.len() + length).next_multiple_of(GRAIN);
    Some((body.get(..length)?, section.get(size..)?))
}

#[cfg(test)]
mod tests {
    use super::{record, release, split_note};

    fn note(json: &[u8]) -> Vec<u8> {
        let mut note = vec![0; super::BEFORE_LENGTH];
        note.extend(u32::try_from(json.len()).unwrap().to_le_bytes());
        note.extend(json);
        note.resize(note.len().next_multiple_of(super::GRAIN), 0);
        note
    }

    #[test]
    fn notes_stand_one_behind_the_other() {
        let (first, second) = (note(b"{\"a\": 1}"), note(b"{}"));
        let both = [first.clone(), second.clone()].concat();
        assert_eq!(split_note(&both), Some((&b"{\"a\": 1}"[..], &second[..])));
        assert_eq!(split_note(&second), Some((&b"{}"[..], &[][..])));
    }

    #[test]
    fn a_note_that_ends_too_early_is_none() {
        let note = note(b"{\"a\": 1}");
        for length in 0..note.len() {
            assert_eq!(split_note(&note[..length]), None, "{length} bytes");
        }
    }

    #[test]
    fn what_is_no_object_has_no_record() {
        for bytes in [&b""[..], b"\x7fELF", b"fn norm() {}", &[0x7f; 4096]] {
            assert_eq!(record(bytes).unwrap_err(), "is no object of a package");
        }
    }

    #[test]
    fn versions_fit_together_as_cargo_has_it() {
        assert_eq!(release("0.1.0"), release("0.1.7"));
        assert_eq!(release("1.0.0"), release("1.4.2"));
        assert_ne!(release("0.1.0"), release("0.2.0"));
        assert_ne!(release("0.0.1"), release("0.0.2"));
        assert_ne!(release("0.1.0"), release("1.1.0"));
    }
}
