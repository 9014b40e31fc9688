// SPDX-License-Identifier: Apache-2.0
//! An entry's manifest: the files that it has, each with its digest, and for readers what
//! they are. The name of an entry is the digest of its manifest.

use crate::request::digest;
use serde::{Deserialize, Serialize};

/// A file of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Artifact {
    /// The `.so`, to be loaded.
    SharedObject,
    /// The `.o`, to be linked.
    Object,
    /// The C header.
    Header,
    /// The Python stub file.
    Stubs,
    /// The file for Rust.
    Rust,
}

impl Artifact {
    /// All of them, the one that is loaded first.
    pub const ALL: [Artifact; 5] = [
        Artifact::SharedObject,
        Artifact::Object,
        Artifact::Header,
        Artifact::Stubs,
        Artifact::Rust,
    ];

    /// How its name ends.
    pub fn extension(self) -> &'static str {
        match self {
            Artifact::SharedObject => "so",
            Artifact::Object => "o",
            Artifact::Header => "h",
            Artifact::Stubs => "pyi",
            Artifact::Rust => "rs",
        }
    }

    /// Its name in an entry.
    pub(crate) fn file_name(self) -> &'static str {
        match self {
            Artifact::SharedObject => "package.so",
            Artifact::Object => "package.o",
            Artifact::Header => "package.h",
            Artifact::Stubs => "package.pyi",
            Artifact::Rust => "package.rs",
        }
    }
}

/// The files of an entry, in the order of [`Artifact::ALL`].
pub(crate) type Files = [Vec<u8>; 5];

/// The file of an entry that has its manifest.
pub(crate) const MANIFEST: &str = "manifest.json";

/// The manifest of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// The name of the package.
    pub package: String,
    /// The functions that were described.
    pub functions: Vec<String>,
    /// The architectures that there is code for, of what was CUDA C++.
    pub archs: Vec<String>,
    /// The digest of each file, in the order of [`Artifact::ALL`].
    pub files: Vec<FileMark>,
}

/// A file as the manifest has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileMark {
    pub name: String,
    pub bytes: u64,
    pub sha256: String,
}

impl Manifest {
    /// The manifest of these files.
    pub fn of(
        package: &str,
        functions: Vec<String>,
        archs: Vec<String>,
        files: &Files,
    ) -> Manifest {
        let mark = |(artifact, bytes): (Artifact, &Vec<u8>)| FileMark {
            name: artifact.file_name().to_string(),
            bytes: bytes.len() as u64,
            sha256: digest(bytes),
        };
        let files = Artifact::ALL.into_iter().zip(files).map(mark).collect();
        Manifest { package: package.to_string(), functions, archs, files }
    }

    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let text = serde_json::to_string_pretty(self).expect("it has strings and numbers only");
        text.into_bytes()
    }

    /// Reads the bytes, if they are those of the entry of that name.
    pub fn decode(bytes: &[u8], name: &str) -> Option<Manifest> {
        let manifest = (digest(bytes) == name).then(|| serde_json::from_slice(bytes).ok())??;
        let Manifest { files, .. } = &manifest;
        let names = Artifact::ALL.iter().map(|artifact| artifact.file_name());
        names.eq(files.iter().map(|file| &file.name[..])).then_some(manifest)
    }

    /// The mark of a file.
    pub fn mark(&self, artifact: Artifact) -> &FileMark {
        let place = Artifact::ALL.iter().position(|known| *known == artifact);
        &self.files[place.expect("all are listed")]
    }
}
