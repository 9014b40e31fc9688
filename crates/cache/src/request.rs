// SPDX-License-Identifier: Apache-2.0
//! Requests to the cache, and the keys that name them.
//!
//! The key is of what is known without opening a file: the text of the package file, signatures
//! that are given beside it, the files that are held in memory, the target, whether kernels assert
//! as they run, and which kernpack asks. Not in it: the folder that paths start at, so that what
//! was moved is still found; what CUDA C++ is compiled for, as an entry serves all whose
//! architectures it has code for; and compilers with the variables that they heed, which records
//! have, as there may be none where a package is only used.

use kernpack_compiler::llvm_version;
use kernpack_compiler::source::identity::processor;
use kernpack_machine::Arch;
use kernpack_package::package_file::Reading;
use kernpack_package::program::{Place, Program};
use kernpack_package::{Held, Language, PackageText, Target};
use kernpack_syntax::Text;
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::{Path, PathBuf};

/// A package that is wanted.
#[derive(Clone, Debug)]
pub struct Request {
    /// The name of the text in messages.
    pub name: String,
    /// The text of a package file, of a file of kernels, or of a program.
    pub text: String,
    /// Which of these it is.
    pub language: Language,
    /// The folder that paths in the text start at.
    pub base: PathBuf,
    /// Files in memory, by their paths as the text names them.
    pub held: Held,
    /// The architectures that CUDA C++ and kernels are compiled for.
    pub archs: Wanted,
    /// The host that the package is made for.
    pub target: &'static Target,
    /// Where the sources of a program stand: what makes it no other package.
    pub places: Vec<Place>,
    /// Signatures for functions of a file of kernels that have none.
    pub specs: Vec<String>,
    /// Whether kernels have the assertions that are made as they run.
    pub asserts: bool,
    /// Whether kernels check their indices as they run.
    pub checked: bool,
    /// Whether kernels write down what they wait for: functions take a buffer for that.
    pub timed: bool,
}

/// The architectures that the CUDA C++ of a package is compiled for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Those that the text names.
    Written,
    /// These architectures, whatever the text says.
    Archs(Vec<Arch>),
    /// The architectures of devices, where the text says nothing. Without any, it is as written.
    Devices(Vec<Arch>),
}

impl Wanted {
    /// The word that records have for it.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Wanted::Written => Kind::Written,
            Wanted::Archs(_) => Kind::Archs,
            Wanted::Devices(devices) if devices.is_empty() => Kind::Written,
            Wanted::Devices(_) => Kind::Devices,
        }
    }
}

/// Which of the [`Wanted`] it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Written,
    Archs,
    Devices,
}

impl Request {
    /// A request for what the text of a package file says, on this machine.
    pub fn new(name: impl Into<String>, text: impl Into<String>, base: &Path) -> Request {
        Request {
            name: name.into(),
            text: text.into(),
            language: Language::Package,
            base: base.to_path_buf(),
            held: Held::default(),
            archs: Wanted::Written,
            target: Target::host(),
            places: Vec::new(),
            specs: Vec::new(),
            asserts: true,
            checked: false,
            timed: false,
        }
    }

    /// The text, to be read.
    pub fn package_text(&self) -> PackageText<'_> {
        let Request { language, name, text, base, places, specs, .. } = self;
        PackageText { language: *language, name, text, base, places, specs }
    }

    /// Has the code of a package, as it was read, assert, check and write down what is asked for.
    pub fn settle_code(&self, reading: &mut Reading) {
        if !self.asserts {
            reading.leave_asserts_out();
        }
        if self.checked {
            reading.check_accesses();
        }
        if self.timed {
            reading.package.time_waits();
        }
    }

    /// The sources of a program, as texts of the files that they stand in; none of anything else.
    pub(crate) fn sources(&self) -> Vec<Text> {
        let program = match self.language {
            Language::Program => Program::parse(&self.text).ok(),
            Language::Package | Language::Kernels => None,
        };
        let texts = program.iter().flat_map(Program::texts).zip(&self.places);
        let text = |(text, Place(path, line)): (&str, &Place)| Text {
            name: path.display().to_string(),
            characters: text.to_string(),
            first_line: *line,
        };
        texts.map(text).collect()
    }

    /// Where the functions of a program stand that may assert, check or time something as kernels
    /// run: the code tells the line, and so is another for functions that stand elsewhere.
    fn told_places(&self) -> Vec<String> {
        let all_tell = self.checked || self.timed;
        let tells = |text: &str| all_tell || self.asserts && text.contains("assert");
        if self.language != Language::Program || !tells(&self.text) {
            return Vec::new();
        }
        let program = Program::parse(&self.text).ok();
        let parts = program.iter().flat_map(Program::run_by_kernels).zip(&self.places);
        let stand = parts.filter(|(text, _)| text.is_some_and(tells));
        let place = |(_, Place(path, line)): (_, &Place)| {
            format!("{}:{line}", path.file_name().unwrap_or_default().display())
        };
        stand.map(place).collect()
    }

    /// The name of all that could be the answer.
    pub(crate) fn key(&self) -> Key {
        let mut digest = Sha256::new();
        let mut add = |part: &[u8]| {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        };
        add(SOURCES.as_bytes());
        let (major, minor, patch) = llvm_version();
        add(format!("LLVM {major}.{minor}.{patch}").as_bytes());
        add(self.target.name.as_bytes());
        add(self.text.as_bytes());
        match self.language {
            Language::Package => {}
            // The file's name is the package's.
            Language::Kernels => {
                add(Path::new(&self.name).file_name().unwrap_or_default().as_encoded_bytes());
                add(&self.specs.len().to_le_bytes());
                self.specs.iter().for_each(|spec| add(spec.as_bytes()));
            }
            Language::Program => add(b"program"),
        }
        for (path, bytes) in self.held.iter() {
            add(path.as_os_str().as_encoded_bytes());
            add(bytes);
        }
        self.told_places().iter().for_each(|place| add(place.as_bytes()));
        if !self.asserts {
            add(b"without asserts");
        }
        if self.checked {
            add(b"checked");
        }
        if self.timed {
            add(b"timed");
        }
        // Options of compilers are somewhere in the text.
        if self.text.contains("native") {
            add(processor().as_bytes());
        }
        Key(digest.finalize().into())
    }
}

/// The sources of kernpack that this was built from.
const SOURCES: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("KERNPACK_SOURCES"));

/// The name of a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key([u8; 32]);

impl Key {
    /// One of as many numbers.
    pub fn shard(self, n_shards: usize) -> usize {
        usize::from(u16::from_le_bytes([self.0[0], self.0[1]])) % n_shards
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// The SHA-256 of bytes, in hexadecimal.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
