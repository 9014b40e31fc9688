// SPDX-License-Identifier: Apache-2.0
//! Hits, and near misses.

use super::bench::{Bench, CHECKS, Count, SCALE, expect_loadable, told};
use super::{compiler, with_compilers};
use crate::{Artifact, Cache, Failure, Request, Wanted};
use kernpack_package::Language;
use kernpack_package::program::Place;
use std::fs;
use std::path::Path;

#[test]
fn the_second_time_it_is_there() {
    let bench = Bench::new();
    let first = bench.get(SCALE).unwrap();
    let second = bench.get(SCALE).unwrap();
    assert_eq!((first.is_hit, second.is_hit), (false, true));
    assert_eq!(first.entry.digest(), second.entry.digest());
    for artifact in Artifact::ALL {
        assert_eq!(first.entry.read(artifact).unwrap(), second.entry.read(artifact).unwrap());
    }
    assert_eq!(second.entry.record().package(), "demo");
    assert_eq!(second.entry.functions(), ["scale"]);
    let base = bench.path("pkg");
    let inputs = second.entry.record().inputs(&base);
    let own = inputs.iter().filter_map(|path| path.strip_prefix(&base).ok());
    let own: Vec<_> = own.map(|path| path.to_str().unwrap()).collect();
    assert_eq!(own, ["scale.c", "second/factor.h"]);
    assert!(inputs.iter().any(|path| path.ends_with("stdint.h")));
}

#[test]
fn without_a_cache_it_lies_in_memory_under_paths_of_its_own() {
    let bench = Bench::new();
    let got = || Cache::off().get(&bench.request(CHECKS), &Count::default()).unwrap();
    let first = got();
    expect_loadable(&first);
    let path = first.entry.path(Artifact::SharedObject);
    assert!(path.starts_with("/proc/self/fd"), "{}", path.display());
    drop(first);
    let second = got();
    expect_loadable(&second);
    // The number of the file may be the same, and a loader compares the text.
    assert_ne!(path.as_os_str(), second.entry.path(Artifact::SharedObject).as_os_str());
    assert!(!second.is_hit && second.entry.folder().is_none());
}

#[test]
fn a_changed_source_or_header_is_another_entry_and_the_first_comes_back() {
    let bench = Bench::new();
    assert!(!bench.is_hit());
    bench.write("pkg/second/factor.h", "#define FACTOR 3\n");
    assert!(!bench.is_hit());
    assert!(bench.is_hit());
    let source = fs::read_to_string(bench.path("pkg/scale.c")).unwrap();
    bench.write("pkg/scale.c", source.replace("*=", "/="));
    assert!(!bench.is_hit());
    bench.write("pkg/scale.c", source);
    assert!(bench.is_hit());
    bench.write("pkg/second/factor.h", "#define FACTOR 2\n");
    assert!(bench.is_hit());
    assert_eq!(bench.files("requests").len(), 3, "one request has three records");
}

#[test]
fn a_header_that_appears_earlier_on_the_search_path_counts() {
    for place in ["pkg/factor.h", "pkg/first/factor.h", "pkg/first/stdint.h"] {
        let bench = Bench::new();
        assert!(!bench.is_hit());
        assert!(bench.is_hit());
        bench.write(place, "#include_next <stdint.h>\n#define FACTOR 4\n");
        assert!(!bench.is_hit(), "{place}");
        fs::remove_file(bench.path(place)).unwrap();
        assert!(bench.is_hit(), "{place}");
    }
}

#[test]
fn another_text_another_target_and_other_held_files_are_other_requests() {
    let bench = Bench::new();
    assert!(!bench.get(CHECKS).unwrap().is_hit);
    let defined = SCALE.replace("include =", "define = { W = \"1\" }, include =");
    assert!(!bench.is_hit());
    assert!(!bench.get(&defined).unwrap().is_hit);
    assert!(!bench.get(&defined.replace("\"1\"", "\"2\"")).unwrap().is_hit);
    let request = bench.request(CHECKS);
    let keys = kernpack_package::target::TARGETS
        .iter()
        .map(|target| Request { target, ..request.clone() }.key());
    assert_eq!(keys.collect::<std::collections::HashSet<_>>().len(), 2);
    let mut holding = request.clone();
    holding.held.insert("a.h", &b"1"[..]);
    assert_ne!(holding.key(), request.key());
}

/// The code of a kernel that asserts tells the line, which is of no matter to others.
#[test]
fn where_a_program_stands_counts_where_its_kernels_assert() {
    let key_of = |role: &str, said: &str, path: &str, line: u32, checked: bool| {
        let text = serde_json::json!({"package": "p", "sources": [
            {"role": role, "text": format!("def k(n):\n    {said}"), "names": {}}
        ]});
        let request = Request::new("p", text.to_string(), Path::new("/"));
        let places = vec![Place(path.into(), line)];
        Request { language: Language::Program, places, checked, ..request }.key()
    };
    let key = |role: &str, said: &str, path: &str, line: u32| key_of(role, said, path, line, false);
    for (role, said, counts) in [
        ("kernel", "assert n > 0", true),
        ("device", "assert n > 0", true),
        ("packed", "assert n > 0", false),
        ("kernel", "pass", false),
    ] {
        let here = key(role, said, "/a/k.py", 3);
        assert_eq!(here != key(role, said, "/a/k.py", 4), counts, "{role} {said}");
        assert_eq!(here != key(role, said, "/a/l.py", 3), counts, "{role} {said}");
        assert_eq!(here, key(role, said, "/b/k.py", 3), "{role} {said}");
        // What is checked tells its line, too.
        let [here, below] = [3, 4].map(|line| key_of(role, said, "/a/k.py", line, true));
        assert_eq!(here != below, role != "packed", "{role} {said}");
    }
}

#[test]
fn a_package_without_assertions_is_another() {
    let request = Bench::new().request(SCALE);
    assert_ne!(Request { asserts: false, ..request.clone() }.key(), request.key());
}

#[test]
fn a_timed_package_is_another() {
    let request = Bench::new().request(SCALE);
    assert_ne!(Request { timed: true, ..request.clone() }.key(), request.key());
    assert_ne!(
        Request { checked: true, ..request.clone() }.key(),
        Request { timed: true, ..request }.key()
    );
}

#[test]
fn a_checked_package_is_another() {
    let request = Bench::new().request(SCALE);
    let checked = Request { checked: true, ..request.clone() };
    assert_ne!(checked.key(), request.key());
    let bare = Request { asserts: false, ..checked.clone() };
    assert_ne!(bare.key(), checked.key());
    assert_ne!(bare.key(), Request { asserts: false, ..request }.key());
}

#[test]
fn what_is_moved_is_still_found() {
    let bench = Bench::new();
    assert!(!bench.is_hit());
    fs::rename(bench.path("pkg"), bench.path("moved")).unwrap();
    fs::rename(bench.path("cache"), bench.path("warm")).unwrap();
    let settings =
        crate::settings::Settings { folder: Some(bench.path("warm")), ..bench.settings() };
    let request = Request::new("demo.toml", SCALE, &bench.path("moved"));
    let got = Cache::of(settings).get(&request, &Count::default()).unwrap();
    assert!(got.is_hit);
    let inputs = got.entry.record().inputs(&bench.path("moved"));
    assert_eq!(inputs[0], bench.path("moved/scale.c"));
}

#[test]
fn another_compiler_is_another_record_and_without_one_the_entry_stands() {
    let bench = Bench::new();
    with_compilers((compiler("/bin/one"), None), || {
        assert!(!bench.is_hit());
        assert!(bench.is_hit());
    });
    with_compilers((None, None), || assert!(bench.is_hit()));
    with_compilers((compiler("/bin/two"), compiler("/lib/nvrtc")), || {
        assert!(!bench.is_hit());
        assert!(bench.is_hit());
    });
    with_compilers((compiler("/bin/one"), None), || assert!(bench.is_hit()));
    assert_eq!(bench.files("entries").len(), 7, "both compilers make the same");
}

#[test]
fn a_compiler_does_not_count_where_nothing_is_compiled_by_it() {
    let bench = Bench::new();
    let is_hit = || bench.get(CHECKS).unwrap().is_hit;
    with_compilers((compiler("/bin/one"), compiler("/lib/one")), || assert!(!is_hit()));
    with_compilers((compiler("/bin/two"), compiler("/lib/two")), || assert!(is_hit()));
}

#[test]
fn headers_of_the_compiler_may_go_with_it() {
    let bench = Bench::new();
    bench.write("system/factor.h", "#define FACTOR 5\n");
    fs::remove_file(bench.path("pkg/second/factor.h")).unwrap();
    let system = bench.path("system");
    let text = SCALE.replace("\"first\", \"second\"", "\"first\"");
    // Headers that the compiler finds without being told are its own.
    let options = format!("options = [\"-idirafter{}\"], include =", system.display());
    let named = text.replace("include =", &options);
    assert!(!bench.get(&named).unwrap().is_hit);
    fs::remove_dir_all(&system).unwrap();
    let got = with_compilers((None, None), || bench.get(&named));
    assert!(got.is_err(), "what an option names is the user's");
}

#[test]
fn warnings_are_told_again_at_their_place() {
    let bench = Bench::new();
    let source = fs::read_to_string(bench.path("pkg/scale.c")).unwrap();
    bench.write("pkg/scale.c", format!("{source}#warning \"look here\"\n"));
    let (first, second) = (bench.get(SCALE).unwrap(), bench.get(SCALE).unwrap());
    assert!(!first.is_hit && second.is_hit);
    assert_eq!(first.told, second.told);
    assert_eq!(told(&second).len(), 1);
    // Behind a comment, the same shared object comes with warnings that have other places.
    let later = format!("# one more line\n{SCALE}");
    let third = bench.get(&later).unwrap();
    assert_eq!(third.entry.digest(), first.entry.digest());
    let place = |got: &crate::Got| got.told.diagnostics.0[0].labels[0].span.start;
    assert_eq!(place(&third), place(&first) + "# one more line\n".len());
}

#[test]
fn what_is_wrong_is_told_and_nothing_is_kept() {
    let bench = Bench::new();
    let error = bench.get(&SCALE.replace("\"x\", \"n\"", "\"y\"")).unwrap_err();
    let Failure::Told(told) = error else { panic!("{error}") };
    assert!(told.diagnostics.has_errors());
    let request =
        Request { archs: Wanted::Archs(vec!["sm_90".parse().unwrap()]), ..bench.request(SCALE) };
    let error = bench.cache().get(&request, &Count::default()).unwrap_err();
    assert!(matches!(error, Failure::NoCuda { .. }), "{error}");
    assert!(bench.files("entries").is_empty() && bench.files("requests").is_empty());
}

#[test]
fn a_request_has_a_bounded_number_of_records() {
    let bench = Bench::new();
    for factor in 0..20 {
        bench.write("pkg/second/factor.h", format!("#define FACTOR {factor}\n"));
        assert!(!bench.is_hit());
        assert!(bench.is_hit());
    }
    assert_eq!(bench.files("requests").len(), 16);
}
