// SPDX-License-Identifier: Apache-2.0
//! The user's options of NVRTC: those that name files are taken out, so that the files are found
//! here and not by NVRTC, which does not say what it read.

use super::super::include::Walk;
use kernpack_syntax::Placed;
use std::fmt;
use std::path::PathBuf;

/// The options of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UserOptions {
    /// Folders to look for headers in, in order.
    pub folders: Vec<PathBuf>,
    /// Files that are included before the source, in order.
    pub included: Vec<String>,
    /// All others.
    pub rest: Vec<String>,
}

/// Why an option cannot be given to NVRTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfit(&'static str);

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

const FOLDER: &[&str] = &["-I", "--include-path"];
const INCLUDED: &[&str] = &["-include", "--pre-include"];
const ARCH: &[&str] = &["-arch", "--gpu-architecture", "-gpu-architecture"];
/// Options by which NVRTC reads and writes headers that it has compiled before.
const PRECOMPILED: &[&str] = &[
    "-pch",
    "--pch",
    "-create-pch",
    "--create-pch",
    "-use-pch",
    "--use-pch",
    "-pch-dir",
    "--pch-dir",
];
const FILE_OF_OPTIONS: &[&str] = &["-optf", "--options-file", "-options-file"];
impl UserOptions {
    /// Sorts the options, or says which cannot be.
    pub fn read(options: &[Placed<String>]) -> Result<UserOptions, (&Placed<String>, Unfit)> {
        let mut read = UserOptions::default();
        let mut words = options.iter();
        while let Some(option) = words.next() {
            if let Some(unfit) = unfit(option) {
                return Err((option, unfit));
            }
            let mut value_of = |names: &[&str], is_joined: bool| {
                let names = names.iter();
                let found = names.filter_map(|name| Some((*name, option.strip_prefix(name)?)));
                let (_, rest) = found.max_by_key(|(name, _)| name.len())?;
                match rest.strip_prefix('=') {
                    Some(value) => Some(value.to_string()),
                    None if rest.is_empty() => words.next().map(|word| word.value.clone()),
                    None => is_joined.then(|| rest.trim_start().to_string()),
                }
            };
            if let Some(folder) = value_of(FOLDER, !option.starts_with("--")) {
                read.folders.push(folder.into());
            } else if let Some(file) = value_of(INCLUDED, false) {
                read.included.push(file);
            } else {
                read.rest.push(option.value.clone());
            }
        }
        Ok(read)
    }

    /// Has the files that are included first be among those that were found. CUDA's own, and what
    /// is nowhere, are left to NVRTC.
    pub fn find_included(&mut self, walk: &mut Walk<'_, '_>) {
        for file in &mut self.included {
            if let Some(found) = walk.include_first(file) {
                *file = found;
            }
        }
    }

    /// The options as NVRTC gets them.
    pub fn arguments(&self) -> impl Iterator<Item = String> {
        let included = self.included.iter().map(|file| format!("--pre-include={file}"));
        included.chain(self.rest.iter().cloned())
    }
}

/// The problem of an option that cannot be.
fn unfit(option: &str) -> Option<Unfit> {
    let begins = |names: &[&str]| names.iter().any(|name| option.starts_with(name));
    let holds = |names: &[&str]| names.iter().any(|name| option.contains(name));
    let is_precompiled = PRECOMPILED.contains(&option.split('=').next().unwrap_or(option));
    // The assembler's may stand in an option or be a word of their own.
    let is_handed_on = !begins(&["-D", "--define-macro", "-I", "--include-path"]);
    Some(Unfit(if begins(ARCH) {
        "names an architecture; name it under `arch` instead"
    } else if is_precompiled {
        "has NVRTC keep compiled headers in files of its own, which nothing sees change; remove it"
    } else if option.starts_with('@')
        || begins(FILE_OF_OPTIONS)
        || (is_handed_on && holds(FILE_OF_OPTIONS))
    {
        "names a file of options, which nothing sees change; write them here instead"
    } else {
        return None;
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(words: &[&str]) -> Vec<Placed<String>> {
        words.iter().map(|word| word.to_string().into()).collect()
    }

    #[test]
    fn options_that_name_files_are_taken_out_in_every_spelling() {
        let words = [
            "-Ia",
            "-I",
            "b",
            "-I=c",
            "-I d",
            "--include-path=e",
            "--include-path",
            "f",
            "-include",
            "1.h",
            "-include=2.h",
            "--pre-include=3.h",
            "--pre-include",
            "4.h",
            "-DI=-I",
            "--fmad=false",
        ];
        let words = options(&words);
        let read = UserOptions::read(&words).unwrap();
        assert_eq!(read.folders, ["a", "b", "c", "d", "e", "f"].map(PathBuf::from));
        assert_eq!(read.included, ["1.h", "2.h", "3.h", "4.h"]);
        assert_eq!(read.rest, ["-DI=-I", "--fmad=false"]);
        let arguments: Vec<_> = read.arguments().collect();
        assert_eq!(arguments[..2], ["--pre-include=1.h", "--pre-include=2.h"]);
        assert_eq!(arguments[4..], ["-DI=-I", "--fmad=false"]);
    }

    #[test]
    fn options_whose_files_nothing_sees_are_refused() {
        for (words, expected) in [
            (&["-arch=sm_90"][..], "name it under `arch`"),
            (&["-pch"], "remove it"),
            (&["--create-pch=a.pch"], "remove it"),
            (&["--use-pch", "a.pch"], "remove it"),
            (&["@opts"], "write them here"),
            (&["--options-file", "opts"], "write them here"),
            (&["--ptxas-options=--options-file=opts"], "write them here"),
            (&["-Xptxas", "-optf=opts"], "write them here"),
            (&["-Xptxas", "-v,--options-file,opts"], "write them here"),
        ] {
            let words = options(words);
            let (_, unfit) = UserOptions::read(&words).unwrap_err();
            assert!(unfit.to_string().contains(expected), "{words:?}: {unfit}");
        }
        assert!(UserOptions::read(&options(&["-Xptxas", "-v", "--pch-verbose=true"])).is_ok());
    }
}
