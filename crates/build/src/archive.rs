// SPDX-License-Identifier: Apache-2.0
//! A static archive of one object, as linkers of Linux take it: GNU's format, with a table of the
//! symbols. Nothing of the machine or the time gets into it.

use ar_archive_writer::{
    ArchiveKind, DEFAULT_OBJECT_READER, NewArchiveMember, write_archive_to_stream,
};
use std::io::{self, Cursor};

/// The archive of an object of that name.
///
/// # Errors
/// Where the object is damaged, so that its symbols cannot be read.
pub fn archive(name: &str, object: &[u8]) -> io::Result<Vec<u8>> {
    let member = NewArchiveMember::new(object, &DEFAULT_OBJECT_READER, name.to_string());
    let mut written = Cursor::new(Vec::new());
    let is_thin = false;
    write_archive_to_stream(&mut written, &[member], ArchiveKind::Gnu, is_thin, None)?;
    Ok(written.into_inner())
}
