// SPDX-License-Identifier: Apache-2.0
//! The rules that the tree itself keeps, checked by the tests at the end of this file: how files
//! begin, how long they and their functions are, which crates may use which, and that every check
//! and every kind of parameter has its file in the suite.
//!
//! Everything here is text and file names, so that a rule holds for code that does not compile yet.
//! Functions are found by indentation, which rustfmt makes reliable.

use std::path::{Path, PathBuf};

/// The most lines of a function.
const MAX_FUNCTION: usize = 70;
/// The most lines of a file.
const MAX_FILE: usize = 800;
/// The most columns of a line of code, which rustfmt keeps, and of a comment, which it does not.
const MAX_WIDTH: usize = 100;
/// Names that say nothing about what is in a file.
const FORBIDDEN_NAMES: &[&str] = &["utils", "util", "helpers", "common", "misc", "base"];
/// Files that have such a name for a reason.
const ALLOWED_NAMES: &[&str] = &[
    // Common symbols are a term of ELF.
    "crates/codegen/src/link/common.rs",
];
/// Words that belong to one place: the word, where it may stand, where it may not.
const PLACES: &[(&str, &str, &str)] = &[
    ("inkwell", "crates/codegen/src/llvm/", "crates/"),
    ("println!", "crates/cli/", "crates/"),
    // The compiler takes the runtime's functions from its table.
    ("kernpack_rt_", "crates/runtime/", "crates/"),
];

/// A source file.
pub(crate) struct Source {
    /// The path from the root of the repository.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    pub(crate) fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.stem() == "tests"
    }

    /// The lines of a Rust file that are code: no comments, and not the tests at its end.
    pub(crate) fn code(&self) -> impl Iterator<Item = &str> {
        let (code, _) =
            self.text.split_once("#[cfg(test)]\nmod tests {").unwrap_or((&self.text, ""));
        code.lines().filter(|line| !line.trim_start().starts_with("//"))
    }

    fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.split('.').next().unwrap_or_default()
    }

    /// The first line of text behind the licence, and in programs behind the `#!` line.
    fn opening(&self) -> Option<&str> {
        self.text.lines().find(|line| !line.starts_with("#!/") && !line.contains("SPDX-License"))
    }
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("the crate stands in the repository").to_path_buf()
}

/// Every file that git knows or would take in.
fn paths() -> Vec<String> {
    let arguments = ["ls-files", "--cached", "--others", "--exclude-standard"];
    let output = std::process::Command::new("git").current_dir(root()).args(arguments).output();
    let output = output.expect("git runs");
    assert!(
        output.status.success(),
        "git lists files: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let paths = String::from_utf8(output.stdout).expect("paths are text");
    paths.lines().map(str::to_string).collect()
}

/// Every source file among them.
pub(crate) fn sources() -> Vec<Source> {
    let is_source = |path: &String| {
        let extensions = [".rs", ".py", ".c", ".h", ".cpp", ".toml", ".sh", ".yml", ".yaml"];
        extensions.iter().any(|extension| path.ends_with(extension))
    };
    let read = |path: String| {
        let text = std::fs::read_to_string(root().join(&path)).ok()?;
        Some(Source { path, text })
    };
    paths().into_iter().filter(is_source).filter_map(read).collect()
}

/// Functions of a formatted Rust file: name, first line, number of lines.
fn functions(text: &str) -> Vec<(String, usize, usize)> {
    let lines: Vec<_> = text.lines().collect();
    let mut functions = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let Some(name) = function_name(code) else { continue };
        let indent = &line[..line.len() - code.len()];
        let end = format!("{indent}}}");
        // What is within the function is further in.
        let is_own =
            |line: &str| line.strip_prefix(indent).is_some_and(|own| !own.starts_with(' '));
        let is_empty = |line: &str| line.ends_with(" {}") && is_own(line);
        let rest = lines[start..].iter();
        if let Some(length) = rest.clone().position(|line| *line == end || is_empty(line)) {
            functions.push((name.to_string(), start + 1, length + 1));
        }
    }
    functions
}

/// The name in `pub(super) const unsafe extern "C" fn name(…`.
fn function_name(code: &str) -> Option<&str> {
    let (before, after) = code.split_once("fn ")?;
    let is_qualifier = |word: &str| {
        let words = ["pub", "const", "unsafe", "async", "extern", "\"C\""];
        words.contains(&word) || word.starts_with("pub(")
    };
    let name = after.split(['(', '<']).next()?;
    // In a text that becomes code, a name may be put in.
    let is_name = !name.contains('{');
    (is_name && before.split_whitespace().all(is_qualifier) && !code.ends_with(';')).then_some(name)
}

/// What is wrong with the length of a file and its functions. Tests may hold long texts that they
/// expect, and lists are as long as they are.
fn too_long(source: &Source) -> Vec<String> {
    let mut problems = Vec::new();
    let n_lines = source.text.lines().count();
    if n_lines > MAX_FILE {
        problems.push(format!("{}: {n_lines} lines, at most {MAX_FILE}", source.path));
    }
    for (name, line, length) in functions(&source.text) {
        if length > MAX_FUNCTION && !source.is_test() {
            let path = &source.path;
            problems.push(format!(
                "{path}:{line}: `{name}` has {length} lines, at most {MAX_FUNCTION}"
            ));
        }
    }
    problems
}

/// The lines of comments that are wider than code may be, by number. Blocks and tables are as wide
/// as they are.
fn wide_comments(text: &str) -> Vec<usize> {
    let mut is_block = false;
    let mut wide = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some(comment) = line.trim_start().strip_prefix("//") else { continue };
        let comment = comment.trim_start_matches(['/', '!']);
        is_block ^= comment.trim_start().starts_with("```");
        let is_preformatted = is_block || comment.starts_with("     ") || comment.starts_with(" |");
        if line.chars().count() > MAX_WIDTH && !is_preformatted {
            wide.push(number + 1);
        }
    }
    wide
}

/// What each crate of ours depends on, tests apart, as cargo has it.
fn dependencies() -> Vec<(String, Vec<String>)> {
    let arguments = ["metadata", "--no-deps", "--format-version", "1", "--offline"];
    let output =
        std::process::Command::new(env!("CARGO")).current_dir(root()).args(arguments).output();
    let output = output.expect("cargo runs");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo metadata");
    let packages = json["packages"].as_array().expect("packages").iter();
    let text = |json: &serde_json::Value| json.as_str().unwrap_or_default().to_string();
    let ours = packages.map(|package| {
        let all = package["dependencies"].as_array().expect("dependencies").iter();
        let normal = all.filter(|dependency| dependency["kind"] != "dev");
        let names = normal.map(|dependency| text(&dependency["name"]));
        (text(&package["name"]), names.collect())
    });
    ours.collect()
}

/// Which crates each crate may use besides itself, as ARCHITECTURE.md has it; `None` where it may
/// use any.
fn arrows() -> Vec<(String, Option<Vec<String>>)> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("it is there");
    let (_, section) = text.split_once("\n## Who may depend on whom\n").expect("the section");
    let table = section.split("```").nth(1).expect("a table").trim_start_matches("text");
    let row = |row: &str| {
        let (name, used) = row.split_once("->").expect("`name -> names`");
        let used = match used.trim() {
            "anything" => None,
            "nothing" => Some(vec![]),
            names => Some(names.split(", ").map(in_full).collect()),
        };
        (in_full(name.trim()), used)
    };
    table.lines().filter(|line| !line.is_empty()).map(row).collect()
}

/// The crate of that name. One is called as the project is.
fn in_full(name: &str) -> String {
    match name {
        "kernpack" => name.to_string(),
        part => format!("kernpack-{part}"),
    }
}

/// The files and folders of the crates that may have unsafe code, as ARCHITECTURE.md has them. What
/// stands beside the first of a line lies in its folder.
fn unsafe_places() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("it is there");
    let rows = text.lines().filter(|line| line.starts_with("| `crates/"));
    let places = |row: &str| {
        let (places, _) = row[1..].split_once('|').unwrap_or_default();
        let mut spans = places.split('`').skip(1).step_by(2);
        let first = spans.next().unwrap_or_default().to_string();
        let folder = first[..first.rfind('/').unwrap_or(0)].to_string();
        let others = spans.map(|span| format!("{folder}/{span}")).collect::<Vec<_>>();
        [vec![first], others].concat()
    };
    rows.flat_map(places).collect()
}

/// The names of the Markdown files in a folder of the suite.
fn cases(folder: &str) -> Vec<String> {
    let folder = root().join("tests/suite").join(folder);
    let stem = |path: PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    crate::suite::files(&folder).into_iter().filter_map(stem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernpack_validators::check::CATALOGUE;
    use std::collections::BTreeSet;

    fn expect_none(problems: Vec<String>) {
        assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
    }

    fn expect_same(mut names: Vec<String>, mut files: Vec<String>) {
        names.sort();
        files.sort();
        assert_eq!(names, files);
    }

    #[test]
    fn files_begin_with_their_licence() {
        let first = |source: &Source| {
            let mut lines = source.text.lines().skip_while(|line| line.starts_with("#!/"));
            lines.next().unwrap_or_default().contains("SPDX-License-Identifier: Apache-2.0")
        };
        let without = sources().into_iter().filter(|source| !first(source));
        expect_none(without.map(|source| format!("{}: no licence line", source.path)).collect());
    }

    /// Limits of blocks and grids stand in one file.
    #[test]
    fn limits_of_machines_have_one_home() {
        const HOME: &str = "crates/machine/src/block.rs";
        let constant = |line: &str| {
            let (before, after) = line.split_once("const ")?;
            let name = after.split_once(':')?.0.to_string();
            before.trim().chars().all(|c| "pub(crates)".contains(c)).then_some(name)
        };
        let constants = |source: &Source| source.text.lines().filter_map(constant).collect();
        let sources = sources();
        let home = sources.iter().find(|source| source.path == HOME).expect("it is there");
        let limits: BTreeSet<String> = constants(home);
        assert!(limits.contains("MOST_THREADS"));
        let others = sources.iter().filter(|source| source.path.starts_with("crates/"));
        let others = others.filter(|source| source.path.ends_with(".rs") && source.path != HOME);
        let spelled = others.flat_map(|source| {
            let names: BTreeSet<String> = constants(source);
            let again: Vec<_> = names.intersection(&limits).cloned().collect();
            again.into_iter().map(|name| format!("{}: `{name}` is one of {HOME}", source.path))
        });
        expect_none(spelled.collect());
    }

    /// The root has settings, pages and what is called as `LICENSE` is: all else has its folder.
    #[test]
    fn files_stand_in_their_folders() {
        let is_of_root = |path: &String| {
            let begins = |is: fn(char) -> bool| path.starts_with(is);
            begins(|c| c == '.') || begins(|c| c.is_ascii_uppercase()) || path.ends_with(".toml")
        };
        let stray = paths().into_iter().filter(|path| !path.contains('/') && !is_of_root(path));
        expect_none(stray.map(|path| format!("{path}: stands in the root")).collect());
    }

    #[test]
    fn rust_files_say_what_they_are_about() {
        let is_about =
            |source: &Source| source.opening().is_some_and(|line| line.starts_with("//!"));
        let rust = sources().into_iter().filter(Source::is_rust);
        let without = rust.filter(|source| !is_about(source));
        expect_none(without.map(|source| format!("{}: no `//!` first", source.path)).collect());
    }

    #[test]
    fn files_and_functions_are_short() {
        let rust = sources().into_iter().filter(|source| source.is_rust());
        expect_none(rust.flat_map(|source| too_long(&source)).collect());
    }

    #[test]
    fn comments_are_as_narrow_as_code() {
        let rust = sources().into_iter().filter(Source::is_rust);
        let places = rust.flat_map(|Source { path, text }| {
            let lines = wide_comments(&text).into_iter();
            lines.map(move |line| format!("{path}:{line}: over {MAX_WIDTH} columns"))
        });
        expect_none(places.collect());
    }

    /// A clause that begins with "What" names nothing: its noun comes first.
    #[test]
    fn documentation_of_crates_begins_with_nouns() {
        let crates = sources().into_iter().filter(Source::is_rust);
        let crates = crates.filter(|source| source.path.starts_with("crates/"));
        let riddles = crates.filter(|source| !source.path.starts_with("crates/cli/src/"));
        let places = riddles.flat_map(|Source { path, text }| {
            let lines: Vec<_> = text.lines().map(|line| line.trim_start().to_string()).collect();
            let is_doc = |line: &str| line.starts_with("///") || line.starts_with("//!");
            let begins = |at: &usize| *at == 0 || !is_doc(&lines[at - 1]);
            let is_riddle = |line: &str| {
                let words = line.get(3..).unwrap_or_default().trim_start();
                is_doc(line) && words.starts_with("What ") && !words.starts_with("What to ")
            };
            let found = (0..lines.len()).filter(|at| begins(at) && is_riddle(&lines[*at]));
            found.map(|at| format!("{path}:{}: begins with `What`", at + 1)).collect::<Vec<_>>()
        });
        expect_none(places.collect());
    }

    #[test]
    fn names_of_files_say_something() {
        let is_vague = |source: &Source| {
            FORBIDDEN_NAMES.contains(&source.stem()) && !ALLOWED_NAMES.contains(&&source.path[..])
        };
        let vague = sources().into_iter().filter(is_vague);
        expect_none(vague.map(|source| source.path).collect());
    }

    #[test]
    fn crates_use_only_those_below_them() {
        let arrows = arrows();
        let dependencies = dependencies();
        let names = dependencies.iter().map(|(name, _)| name.clone());
        expect_same(names.collect(), arrows.iter().map(|(name, _)| name.clone()).collect());
        let mut problems = Vec::new();
        for (name, used) in dependencies {
            let arrow = arrows.iter().find(|(known, _)| *known == name);
            let Some((_, Some(allowed))) = arrow else { continue };
            let ours = used.iter().filter(|other| other.starts_with("kernpack"));
            let others = ours.filter(|other| !allowed.contains(other));
            problems.extend(others.map(|other| format!("{name} may not use {other}")));
        }
        expect_none(problems);
    }

    /// Who reads, describes and interprets packages links no LLVM. The runtime's objects are in no
    /// library that does.
    #[test]
    fn llvm_is_linked_by_one_crate() {
        let dependencies = dependencies();
        let users = |of: &dyn Fn(&str) -> bool| {
            let users = dependencies.iter().filter(|(_, used)| used.iter().any(|name| of(name)));
            users.map(|(name, _)| name.clone()).collect::<Vec<_>>()
        };
        let is_llvm = |name: &str| ["inkwell", "llvm-sys"].contains(&name);
        assert_eq!(users(&is_llvm), ["kernpack-codegen"]);
        let mut above = vec!["kernpack-package".to_string()];
        while let Some(name) = above.pop() {
            assert_ne!(name, "kernpack-codegen");
            let (_, used) = dependencies.iter().find(|(known, _)| *known == name).expect("a crate");
            above.extend(used.iter().filter(|name| name.starts_with("kernpack-")).cloned());
        }
    }

    #[test]
    fn words_stand_where_they_belong() {
        let mut problems = Vec::new();
        for source in sources().iter().filter(|source| source.is_rust()) {
            for (word, at, among) in PLACES {
                let concerns = source.path.starts_with(among) && !source.path.starts_with(at);
                // Build scripts talk to cargo this way, and tests may name what they look for.
                let is_free = source.stem() == "build" || source.is_test();
                if concerns && !is_free && source.text.contains(word) {
                    problems.push(format!("{}: `{word}` belongs in {at}", source.path));
                }
            }
        }
        expect_none(problems);
    }

    #[test]
    fn unsafe_code_lives_where_the_architecture_says() {
        let places = unsafe_places();
        let mut unused = places.clone();
        // It names the lint in a text that it writes.
        const WRITER: &str = "crates/package/src/export/rust.rs";
        let opts_in =
            |source: &Source| source.text.contains("unsafe_code") && source.path != WRITER;
        let of_crates = |source: &Source| {
            source.path.starts_with("crates/") && source.path.contains("/src/") && source.is_rust()
        };
        let mut problems = Vec::new();
        for source in sources().iter().filter(|source| of_crates(source) && opts_in(source)) {
            let is_here = |place: &String| source.path.starts_with(place.as_str());
            unused.retain(|place| !is_here(place));
            if !places.iter().any(is_here) && !source.text.contains("forbid(unsafe_code)") {
                problems.push(format!("{} has unsafe code, and is not listed", source.path));
            }
        }
        problems.extend(unused.iter().map(|place| format!("{place} is listed, and has none")));
        expect_none(problems);
    }

    #[test]
    fn every_check_has_its_file() {
        expect_same(CATALOGUE.iter().map(|info| info.name.to_string()).collect(), cases("checks"));
    }

    #[test]
    fn every_kind_of_parameter_has_its_file() {
        let folder = "crates/validators/src/param/";
        let sources = sources();
        let files = sources.iter().filter_map(|source| source.path.strip_prefix(folder));
        // A kind of several files has a folder.
        let kinds = files.map(|file| file.split(['/', '.']).next().unwrap_or_default().to_string());
        let mut kinds: Vec<_> = kinds.filter(|kind| kind != "mod").collect();
        kinds.dedup();
        expect_same(kinds, cases("params"));
    }

    /// Users know these sentences from other compilers; each begins some message of the suite.
    #[test]
    fn well_known_sentences_stand_in_the_suite() {
        let sentences = [
            "TypeError type: Mismatched type on argument #1 when calling: `SIG`, expected Tensor",
            "ValueError dim: Mismatched b.shape[0] on argument #1 when calling: `SIG`, expected to match a.shape[0]",
            "ValueError divisibility: Invalid a.shape[0] on argument #0 when calling: `SIG`, expected to be divisible by 16",
            "ValueError alignment: Misaligned Tensor data on argument #0 when calling: `SIG`, expected data alignment=16 bytes",
        ];
        let files = crate::suite::files(&root().join("tests/suite"));
        let texts: Vec<_> = files.iter().flat_map(std::fs::read_to_string).collect();
        let stands = |sentence: &str| {
            texts.iter().any(|text| text.lines().any(|line| line.starts_with(sentence)))
        };
        let missing = sentences.iter().filter(|sentence| !stands(sentence));
        expect_none(missing.map(|sentence| sentence.to_string()).collect());
    }

    #[test]
    fn wide_comments_are_found() {
        let wide = "word ".repeat(30);
        let text = format!(
            "//! {wide}\n    // {wide}\n/// | {wide}\n/// ```\n/// {wide}\n/// ```\n/// {wide}\nlet x = 0;\n"
        );
        assert_eq!(wide_comments(&text), [1, 2, 7]);
    }

    #[test]
    fn functions_are_found() {
        let text = "fn a() {\n    b(|| {})\n    _ => {}\n}\nimpl T {\n    pub(super) fn c<'a>(\n        x: u8,\n    ) -> u8 {\n        x\n    }\n}\nfn d();\nfn e() {}\n";
        let expected = [("a", 1, 4), ("c", 6, 5), ("e", 13, 1)];
        let expected = expected.map(|(name, first, length)| (name.to_string(), first, length));
        assert_eq!(functions(text), expected);
    }
}
