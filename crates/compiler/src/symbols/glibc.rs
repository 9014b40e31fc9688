// SPDX-License-Identifier: Apache-2.0
//! The symbols of a target's C library: a list, so that it is the same on every machine, and for
//! every target.

use kernpack_package::target::Target;

/// The list. Its first lines say what is in it.
const LIST: &str = include_str!("glibc.txt");

/// The oldest version that packages load under. What is older is as old in the list.
pub const OLDEST: &str = "2.17";

/// A library of glibc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// The C library itself, or one that is part of it by now, as libpthread is.
    Libc,
    /// The mathematical functions.
    Libm,
}

/// A symbol of the C library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known<'l> {
    /// The library that has it.
    pub library: Library,
    /// The version of glibc that first had it: 2.17 where it is older.
    pub since: &'l str,
}

/// The sonames of glibc's libraries whose symbols are listed.
const LIBRARIES: &[&str] =
    &["libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1"];

/// Whether what the library of that name has is listed.
pub fn has_library(soname: &str) -> bool {
    LIBRARIES.contains(&soname)
}

/// A symbol of the C library, if it is one.
pub fn find(symbol: &str, target: &Target) -> Option<Known<'static>> {
    let mut known = None;
    for line in LIST.lines().filter(|line| !line.starts_with('#')) {
        if let Some(section) = line.strip_prefix('[') {
            known = section_of(section.trim_end_matches(']'), target);
        } else if known.is_some() && line.split(' ').any(|name| name == symbol) {
            return known;
        }
    }
    None
}

/// The section of a heading, unless it is of another target.
fn section_of<'l>(heading: &'l str, target: &Target) -> Option<Known<'l>> {
    let mut words = heading.split(' ');
    let library = match words.next()? {
        "libm" => Library::Libm,
        _ => Library::Libc,
    };
    let since = words.next()?;
    words.all(|name| name == target.name).then_some(Known { library, since })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernpack_package::target::TARGETS;
    use object::read::elf::ElfFile64;
    use object::{LittleEndian, Object, ObjectSymbol};
    use std::path::Path;

    fn expect_known(symbol: &str, target: &str, expected: Option<(Library, &str)>) {
        let found = find(symbol, Target::find(target).unwrap());
        assert_eq!(found.map(|known| (known.library, known.since)), expected, "{symbol}");
    }

    #[test]
    fn symbols_have_a_library_and_a_version() {
        for target in ["x86_64-linux-gnu", "aarch64-linux-gnu"] {
            expect_known("malloc", target, Some((Library::Libc, "2.17")));
            expect_known("pthread_create", target, Some((Library::Libc, "2.17")));
            expect_known("expf", target, Some((Library::Libm, "2.17")));
            expect_known("getrandom", target, Some((Library::Libc, "2.25")));
            expect_known("roundeven", target, Some((Library::Libm, "2.25")));
            for symbol in ["", "mallo", "[libc", "cblas_sgemm", "atexit"] {
                expect_known(symbol, target, None);
            }
        }
        expect_known("__stack_chk_guard", "aarch64-linux-gnu", Some((Library::Libc, "2.17")));
        expect_known("__stack_chk_guard", "x86_64-linux-gnu", None);
        expect_known("arch_prctl", "x86_64-linux-gnu", Some((Library::Libc, "2.17")));
        expect_known("arch_prctl", "aarch64-linux-gnu", None);
    }

    /// The libraries of this machine and of cross compilers, where there are some: all that they
    /// have is listed, under the right name.
    #[test]
    fn the_list_agrees_with_the_libraries_that_are_here() {
        let mut n_libraries = 0;
        for target in TARGETS {
            for folder in [format!("/lib/{}", target.name), format!("/usr/{}/lib", target.name)] {
                for (file, library) in [("libc.so.6", Library::Libc), ("libm.so.6", Library::Libm)]
                {
                    let path = Path::new(&folder).join(file);
                    let Ok(bytes) = std::fs::read(path) else { continue };
                    expect_listed(&bytes, target, library);
                    n_libraries += 1;
                }
            }
        }
        assert!(n_libraries > 0, "no glibc on this machine");
    }

    fn expect_listed(bytes: &[u8], target: &Target, library: Library) {
        let file = ElfFile64::<LittleEndian>::parse(bytes).unwrap();
        let versions = file.elf_section_table().versions(LittleEndian, bytes).unwrap().unwrap();
        let mut n_symbols = 0;
        for symbol in file.dynamic_symbols().filter(|symbol| symbol.is_definition()) {
            let version = versions.version_index(LittleEndian, symbol.index()).index();
            let version = versions.version(version).unwrap().map(|version| version.name());
            // The name of a version is a symbol, too.
            let (Some(version), Ok(name)) = (version, symbol.name()) else { continue };
            if version == b"GLIBC_PRIVATE" || name.as_bytes() == version {
                continue;
            }
            let known = find(name, target).unwrap_or_else(|| panic!("{name} is not listed"));
            assert!([library, Library::Libc].contains(&known.library), "{name}");
            n_symbols += 1;
        }
        assert!(n_symbols > 500, "{n_symbols}");
    }
}
