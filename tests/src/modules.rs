// SPDX-License-Identifier: Apache-2.0
//! Modules of a crate, and which of them use which: found in the text, so that a rule holds for
//! code that does not compile yet. What stands only in tests or comments does not count.

use crate::tidy::{Source, sources};
use std::collections::{BTreeMap, BTreeSet};

/// The modules that each module directly below the root uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// Which modules of a crate use which. `folder` is the crate's `src/`.
fn uses(sources: &[Source], folder: &str) -> Uses {
    let mut uses = Uses::new();
    for source in sources.iter().filter(|source| source.is_rust() && !source.is_test()) {
        let Some(path) = source.path.strip_prefix(folder) else { continue };
        let module = path.split(['/', '.']).next().unwrap_or_default();
        if ["lib", "main"].contains(&module) {
            continue;
        }
        let named = source.code().flat_map(|line| named_modules(line).collect::<Vec<_>>());
        let used = uses.entry(module.to_string()).or_default();
        used.extend(named.filter(|name| *name != module).map(str::to_string));
    }
    uses
}

/// The modules that `crate::…` names in a line of code.
fn named_modules(line: &str) -> impl Iterator<Item = &str> {
    line.split("crate::").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let name = &rest[..end.unwrap_or(rest.len())];
        name.starts_with(|c: char| c.is_ascii_lowercase()).then_some(name)
    })
}

/// Modules that use each other, in a circle, if there are such.
fn circle(uses: &Uses) -> Option<Vec<&str>> {
    uses.keys().find_map(|start| path_back(uses, &mut vec![start]))
}

/// The path that leads from its end to its start.
fn path_back<'u>(uses: &'u Uses, path: &mut Vec<&'u str>) -> Option<Vec<&'u str>> {
    for next in uses.get(*path.last()?).into_iter().flatten() {
        if next == path[0] {
            return Some(path.clone());
        }
        if !path.contains(&&next[..]) {
            path.push(next);
            if let Some(found) = path_back(uses, path) {
                return Some(found);
            }
            path.pop();
        }
    }
    None
}

#[test]
fn modules_from_package_to_files_have_no_circle() {
    let sources = sources();
    let expect_none = |folder: &str, (module, used): (&str, &str)| {
        let uses = uses(&sources, folder);
        assert!(uses[module].contains(used), "{uses:?}");
        assert_eq!(circle(&uses), None, "{folder}");
    };
    expect_none("crates/package/src/", ("export", "package"));
    expect_none("crates/codegen/src/", ("kernel", "llvm"));
    expect_none("crates/compiler/src/", ("package_object", "lower"));
}

#[test]
fn a_circle_is_found() {
    let source = |path: &str, text: &str| Source { path: path.to_string(), text: text.to_string() };
    let uses = uses(
        &[
            source("src/lib.rs", "use crate::a::A;"),
            source("src/a.rs", "use crate::b::B;\nuse crate::Package;\n// crate::c is not used"),
            source("src/b/mod.rs", "fn f(x: crate::c::C, y: crate::b::D) {}"),
            source("src/c.rs", "#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}"),
            source("src/b/tests.rs", "use crate::a::A;"),
        ],
        "src/",
    );
    assert_eq!(circle(&uses), None);
    let mut closed = uses;
    closed.get_mut("c").unwrap().insert("a".to_string());
    assert_eq!(circle(&closed), Some(vec!["a", "b", "c"]));
}

#[test]
fn files_of_users_are_read_through_one_door() {
    let reads = ["fs::read(", "fs::read_to_string(", "File::open(", "OpenOptions"];
    let crates = ["package", "codegen", "process", "compiler"];
    let folders = crates.map(|name| format!("crates/{name}/src/"));
    let is_compiler = |source: &&Source| {
        let is_inside = folders.iter().any(|folder| source.path.starts_with(&folder[..]));
        is_inside && source.is_rust() && !source.is_test()
    };
    let sources = sources();
    let readers = sources
        .iter()
        .filter(is_compiler)
        .filter(|source| source.code().any(|line| reads.iter().any(|read| line.contains(read))));
    let paths: Vec<_> = readers.map(|source| &source.path[..]).collect();
    // The second reads what the system says of itself.
    assert_eq!(paths, ["crates/package/src/file.rs", "crates/process/src/memory.rs"]);
}
