// SPDX-License-Identifier: Apache-2.0
//! The ELF note that carries a package's [`Record`], in the allocated section `.note.kernpack` with
//! an alignment of 4 bytes. Linking several packages into one file concatenates their notes.
//!
//! ```text
//! 9, size of the rest after the name, type    u32 each: the header of every ELF note
//! "kernpack\0", 3 zeros                       the name
//! SHA-256 of the JSON                         32 bytes
//! length of the JSON                          u32
//! the JSON, zeros up to a multiple of 12      [`Record`]
//! ```
//!
//! Whoever reads a note gets what was written, or an error: every byte has one value that is right,
//! is covered by the digest, or is a zero at the end that nobody reads. Nor can one wrong bit in
//! the section's place or size hide a note: it moves either by a power of two, and notes, being
//! multiples of 12 bytes, never add up to one.

use super::metadata::{FORMAT, Format, Record};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use thiserror::Error;

/// The section that holds the notes.
pub const SECTION: &str = ".note.kernpack";

/// The alignment of the section, in bytes.
pub const ALIGN: u32 = 4;

const NAME: &[u8; 12] = b"kernpack\0\0\0\0";
const NAME_SIZE: u32 = 9;
/// The type of a note that holds a record.
const RECORD: u32 = 1;
const DIGEST_BYTES: usize = 32;
/// The unit of every note, in bytes.
const GRAIN: usize = 12;

/// Why a section cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoteError {
    /// The section ends in the middle of a note.
    #[error("ends inside the note at byte {0}")]
    Truncated(usize),
    /// A note is not kernpack's, of an unknown type, or not padded as it must be.
    #[error("has something else than a kernpack record at byte {0}")]
    Foreign(usize),
    /// The record is not what was written.
    #[error("has a damaged record at byte {0}: its SHA-256 differs")]
    Damaged(usize),
    /// The record is of a format that this kernpack cannot read.
    #[error("has a record of format {found}; this kernpack reads formats up to {}.x", FORMAT.major)]
    NewerFormat {
        /// The record's format.
        found: Format,
    },
    /// The record is intact, but not what a kernpack writes.
    #[error("has a malformed record at byte {at}: {reason}")]
    Malformed {
        /// Where its note starts.
        at: usize,
        /// The reason.
        reason: String,
    },
}

/// The note of a record.
///
/// # Panics
/// Where the record is larger than 4 GiB.
pub fn encode(record: &Record) -> Vec<u8> {
    let json = serde_json::to_vec(record).expect("a record has text keys only");
    let length = u32::try_from(json.len()).expect("a record is smaller than 4 GiB");
    let body = body_size(json.len());
    let mut note = Vec::with_capacity(3 * size_of::<u32>() + NAME.len() + body);
    for word in [NAME_SIZE, u32::try_from(body).expect("likewise"), RECORD] {
        note.extend(word.to_le_bytes());
    }
    note.extend(NAME);
    note.extend(Sha256::digest(&json));
    note.extend(length.to_le_bytes());
    note.extend(json);
    note.resize(note.len().next_multiple_of(GRAIN), 0);
    note
}

/// The size of what follows the name, for that many bytes of JSON.
fn body_size(json: usize) -> usize {
    (DIGEST_BYTES + size_of::<u32>() + json).next_multiple_of(GRAIN)
}

/// The records of a whole section.
///
/// # Errors
/// Where anything in it is not a record as [`encode`] writes it.
pub fn decode(section: &[u8]) -> Result<Vec<Record>, NoteError> {
    let mut records = Vec::new();
    let mut rest = Reader { section, at: 0 };
    while rest.at < section.len() {
        records.push(rest.record()?);
    }
    Ok(records)
}

/// Reads a section from front to back, never beyond its end.
struct Reader<'s> {
    section: &'s [u8],
    at: usize,
}

impl<'s> Reader<'s> {
    fn record(&mut self) -> Result<Record, NoteError> {
        let start = self.at;
        let truncated = NoteError::Truncated(start);
        let header = [self.word(), self.word(), self.word()];
        let [Some(name_size), Some(body), Some(kind)] = header else { return Err(truncated) };
        let name = self.take(NAME.len()).ok_or(truncated.clone())?;
        if (name_size, name, kind) != (NAME_SIZE, NAME, RECORD) {
            return Err(NoteError::Foreign(start));
        }
        let body_start = self.at;
        let digest = self.take(DIGEST_BYTES).ok_or(truncated.clone())?;
        let length = self.word().ok_or(truncated.clone())? as usize;
        let json = self.take(length).ok_or(truncated.clone())?;
        if Sha256::digest(json)[..] != *digest {
            return Err(NoteError::Damaged(start));
        }
        if body as usize != body_size(length) {
            return Err(NoteError::Foreign(start));
        }
        self.take(body_start + body as usize - self.at).ok_or(truncated)?;
        parse(start, json)
    }

    fn word(&mut self) -> Option<u32> {
        let bytes = self.take(size_of::<u32>())?;
        Some(u32::from_le_bytes(bytes.try_into().expect("four bytes were taken")))
    }

    fn take(&mut self, count: usize) -> Option<&'s [u8]> {
        let taken = self.section.get(self.at..)?.get(..count)?;
        self.at += count;
        Some(taken)
    }
}

/// Reads a record that is known to be intact; its format first, as that says what the other keys
/// mean.
fn parse(at: usize, json: &[u8]) -> Result<Record, NoteError> {
    #[derive(Deserialize)]
    struct Head {
        format: Format,
    }
    let malformed =
        |error: serde_json::Error| NoteError::Malformed { at, reason: error.to_string() };
    let head: Head = serde_json::from_slice(json).map_err(malformed)?;
    if head.format.major > FORMAT.major {
        return Err(NoteError::NewerFormat { found: head.format });
    }
    serde_json::from_slice(json).map_err(malformed)
}
