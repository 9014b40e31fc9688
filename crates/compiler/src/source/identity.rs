// SPDX-License-Identifier: Apache-2.0
//! Compilers told from one another without being run: by path, by what their files say of
//! themselves, and by what else they go by.
//!
//! A file's mark is its GNU build id, which names its bytes wherever it lies. Without one it is the
//! digest of the file, as of a script, or of its ends where it is large. Not here: which compiler
//! is used, which each source knows of its own.

use kernpack_package::file::{open_unrecorded, read_unrecorded};
use object::LittleEndian;
use object::elf;
use object::read::elf::{FileHeader, ProgramHeader};
use object::read::{ReadCache, ReadRef};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt;
use std::fs::Metadata;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

/// A compiler as it is told from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The compiler's file.
    pub path: PathBuf,
    /// All else by which it is told: each with what it is of.
    pub marks: Vec<String>,
}

/// On one line.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        self.marks.iter().try_for_each(|mark| write!(f, "; {mark}"))
    }
}

impl Identity {
    /// A compiler of which that is the file, if there is one.
    pub(super) fn of(path: &Path) -> Option<Identity> {
        Some(Identity { path: path.to_path_buf(), marks: vec![mark(path)?] })
    }

    /// Adds a file that belongs to it, if that is there.
    pub(super) fn and_file(&mut self, path: &Path) {
        if let Some(mark) = mark(path) {
            self.marks.push(format!("{} {mark}", path.display()));
        }
    }

    /// Adds a variable that it heeds, if that is set.
    pub(super) fn and_variable(&mut self, name: &str) {
        if let Some(value) = std::env::var_os(name) {
            self.marks.push(format!("{name}={}", value.to_string_lossy()));
        }
    }

    /// Adds a variable that it may heed, if that is set, without its value: that may be nobody's
    /// business.
    pub(super) fn and_hidden_variable(&mut self, name: &str) {
        if let Some(value) = std::env::var_os(name) {
            let digest = Sha256::digest(value.as_encoded_bytes());
            self.marks.push(format!("{name} of digest {digest:x}"));
        }
    }
}

/// The version of a file, which tells it from others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Version {
    path: PathBuf,
    numbers: [u64; 4],
    times: [i64; 4],
}

/// The marks of files that were read, as that takes longer than to see that they are unchanged.
static KNOWN: Mutex<Option<HashMap<Version, String>>> = Mutex::new(None);

impl Version {
    /// Whether the file may be another one soon, with the same times: clocks of file systems are
    /// coarse.
    fn is_recent(&self) -> bool {
        const SECONDS: i64 = 2;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
        self.times[0].max(self.times[2]) + SECONDS >= now
    }
}

/// The mark of a file, if it is one.
fn mark(path: &Path) -> Option<String> {
    let metadata = path.metadata().ok().filter(Metadata::is_file)?;
    let version = Version {
        path: path.to_path_buf(),
        numbers: [metadata.dev(), metadata.ino(), metadata.size(), metadata.mode().into()],
        times: [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()],
    };
    // A forked child may find the lock held by a thread that it has not.
    let known = KNOWN.try_lock().ok();
    if let Some(mark) = known.as_ref().and_then(|known| known.as_ref()?.get(&version)) {
        return Some(mark.clone());
    }
    let mark = match build_id(path) {
        Some(id) => format!("build id {id}"),
        None => format!("{} bytes of digest {}", metadata.size(), ends_digest(path)?),
    };
    if let Some(mut known) = known.filter(|_| !version.is_recent()) {
        known.get_or_insert_default().insert(version, mark.clone());
    }
    Some(mark)
}

/// How much of a file's start, and of its end, is looked at. Scripts are smaller.
const END_BYTES: u64 = 1 << 20;

/// The digest of a file, or of its start and its end where it is large.
fn ends_digest(path: &Path) -> Option<String> {
    let mut file = open_unrecorded(path).ok()?;
    let (mut start, mut end) = (Vec::new(), Vec::new());
    file.by_ref().take(END_BYTES).read_to_end(&mut start).ok()?;
    let n_bytes = file.seek(SeekFrom::End(0)).ok()?;
    let rest_at = n_bytes.saturating_sub(END_BYTES).max(start.len() as u64);
    file.seek(SeekFrom::Start(rest_at)).ok()?;
    file.take(END_BYTES).read_to_end(&mut end).ok()?;
    let digest = Sha256::new().chain_update(start).chain_update(end).finalize();
    Some(format!("{digest:x}"))
}

/// The build id that linkers put into 64-bit ELF files, in hexadecimal.
fn build_id(path: &Path) -> Option<String> {
    let file = open_unrecorded(path).ok()?;
    let cache = ReadCache::new(file);
    let id = note(&cache)?;
    Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn note<'f>(file: impl ReadRef<'f>) -> Option<Vec<u8>> {
    let header = elf::FileHeader64::<LittleEndian>::parse(file).ok()?;
    let endian = header.endian().ok()?;
    for segment in header.program_headers(endian, file).ok()? {
        let Ok(Some(mut notes)) = segment.notes(endian, file) else { continue };
        while let Ok(Some(note)) = notes.next() {
            if note.name() == elf::ELF_NOTE_GNU && note.n_type(endian) == elf::NT_GNU_BUILD_ID {
                return Some(note.desc().to_vec());
            }
        }
    }
    None
}

/// The processor of this machine, as far as compilers make code for it where they are asked
/// for `native`.
pub fn processor() -> String {
    let text = read_unrecorded(Path::new("/proc/cpuinfo")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let told = ["vendor_id", "cpu family", "model", "flags", "Features", "CPU part"];
    let first = text.split("\n\n").next().unwrap_or_default();
    let lines = first
        .lines()
        .filter(|line| line.split(':').next().is_some_and(|key| told.contains(&key.trim())));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_told_by_their_build_id_and_other_files_by_what_is_in_them() {
        let folder = tempfile::tempdir().unwrap();
        let (script, program) = (folder.path().join("cc"), std::env::current_exe().unwrap());
        assert_eq!(Identity::of(&script), None);
        std::fs::write(&script, "#!/bin/sh\n").unwrap();
        let of_script = Identity::of(&script).unwrap();
        assert!(of_script.marks[0].starts_with("10 bytes of digest "), "{of_script}");
        // As long as before, within the same second.
        std::fs::write(&script, "#!/bin/ash").unwrap();
        assert_ne!(Identity::of(&script), Some(of_script));
        let large = vec![7; 5 << 20];
        std::fs::write(&script, &large).unwrap();
        let of_large = Identity::of(&script).unwrap();
        for at in [0, large.len() - 1] {
            let mut other = large.clone();
            other[at] = 8;
            std::fs::write(&script, other).unwrap();
            assert_ne!(Identity::of(&script), Some(of_large.clone()), "{at}");
        }
        let of_program = Identity::of(&program).unwrap();
        assert!(of_program.marks[0].starts_with("build id "), "{of_program}");
        let copy = folder.path().join("copy");
        std::fs::copy(&program, &copy).unwrap();
        assert_eq!(Identity::of(&copy).unwrap().marks, of_program.marks);
    }

    #[test]
    fn a_processor_says_what_it_has() {
        assert!(processor().contains(':'), "{}", processor());
    }
}
