// SPDX-License-Identifier: Apache-2.0
//! Headers of CUDA C++: however a source comes to one, it is seen to change, to appear and to go.

use super::bench::{Bench, Count, expect_loadable};
use crate::{Failure, Request};
use kernpack_compiler::source::nvrtc;
use std::fs;

/// A package whose source is `fill.cu`, with these keys beside `cuda`.
fn text(keys: &str) -> String {
    format!(
        r#"
[package]
name = "demo"
[[function]]
signature = "fill(x: Tensor([n], float32, mut))"
source = {{ cuda = "fill.cu"{keys} }}
kernel = "fill"
args = ["x", "n: int32"]
launch = {{ grid = ["ceildiv(n, 128)"], block = [128] }}
"#
    )
}

/// A source that begins with these lines and needs `FACTOR`.
fn source(lines: &str) -> String {
    format!(
        "{lines}\nextern \"C\" __global__ void fill(float *x, int n) {{ if (threadIdx.x < n) x[threadIdx.x] = FACTOR; }}\n"
    )
}

const KEYS: &str = ", include = [\"first\", \"second\"]";

/// A bench with that source, and `factor.h` in the second folder.
fn bench(lines: &str) -> Bench {
    nvrtc::identity().expect("NVRTC: set KERNPACK_PYTHON to the Python of the tests");
    let bench = Bench::new();
    bench.write("pkg/fill.cu", source(lines));
    bench
}

fn is_hit(bench: &Bench, keys: &str) -> bool {
    let got = bench.get(&text(keys)).unwrap_or_else(|failure| panic!("{}", shown(&failure)));
    expect_loadable(&got);
    got.is_hit
}

fn shown(failure: &Failure) -> String {
    match failure {
        Failure::Told(told) => format!("{:?}", told.diagnostics),
        failure => failure.to_string(),
    }
}

/// The header counts where it changes, and where one of that name appears before it.
fn expect_seen(lines: &str, keys: &str) {
    let bench = bench(lines);
    assert!(!is_hit(&bench, keys), "{lines}");
    assert!(is_hit(&bench, keys), "{lines}");
    bench.write("pkg/second/factor.h", "#define FACTOR 3\n");
    assert!(!is_hit(&bench, keys), "changed: {lines}");
    assert!(is_hit(&bench, keys), "{lines}");
    bench.write("pkg/first/factor.h", "#define FACTOR 4\n");
    assert!(!is_hit(&bench, keys), "appeared: {lines}");
    fs::remove_file(bench.path("pkg/first/factor.h")).unwrap();
    assert!(is_hit(&bench, keys), "gone again: {lines}");
}

#[test]
fn an_include_is_seen_however_it_is_written() {
    for lines in [
        "%:include <factor.h>",
        "/* one */ # /* two */ include /* three */ <factor.h>",
        "/* begun\n */ #include <factor.h>",
        "#inc\\\nlude <fac\\\ntor.h>",
        "#include <factor.h> // \u{e9}",
        "#define HEADER <factor.h>\n#include HEADER",
        "#define HEADER \"factor.h\"\n#include HEADER",
        "#define TEXT(x) #x\n#define OF(x) TEXT(x)\n#include OF(factor.h)",
    ] {
        expect_seen(lines, KEYS);
    }
}

#[test]
fn a_macro_of_the_options_may_spell_the_header() {
    expect_seen("#include HEADER", &format!("{KEYS}, define = {{ HEADER = \"<factor.h>\" }}"));
    expect_seen("#include HEADER", &format!("{KEYS}, options = [\"-DHEADER=<factor.h>\"]"));
}

#[test]
fn headers_that_options_name_are_seen() {
    let bench = bench("");
    let folder = |name: &str| bench.path("pkg").join(name).display().to_string();
    let (first, second) = (folder("first"), folder("second"));
    for keys in [
        format!("\"-I{first}\", \"-I{second}\""),
        format!("\"-I\", \"{first}\", \"-I\", \"{second}\""),
        format!("\"--include-path={first}\", \"-I={second}\""),
        format!("\"--include-path\", \"{first}\", \"-I {second}\""),
    ] {
        let bench_lines = "#include <factor.h>";
        bench.write("pkg/fill.cu", source(bench_lines));
        let keys = format!(", options = [{keys}]");
        bench.write("pkg/second/factor.h", "#define FACTOR 2\n");
        assert!(!is_hit(&bench, &keys), "{keys}");
        assert!(is_hit(&bench, &keys), "{keys}");
        bench.write("pkg/second/factor.h", "#define FACTOR 3\n");
        assert!(!is_hit(&bench, &keys), "{keys}");
        bench.write("pkg/first/factor.h", "#define FACTOR 4\n");
        assert!(!is_hit(&bench, &keys), "{keys}");
        fs::remove_file(bench.path("pkg/first/factor.h")).unwrap();
    }
}

#[test]
fn a_header_that_an_option_includes_is_seen() {
    for option in [
        "\"-include\", \"factor.h\"",
        "\"-include=factor.h\"",
        "\"--pre-include=factor.h\"",
        "\"--pre-include\", \"factor.h\"",
    ] {
        expect_seen("", &format!("{KEYS}, options = [{option}]"));
    }
}

#[test]
fn files_of_options_and_compiled_headers_are_refused() {
    let bench = bench("#define FACTOR 1");
    for (option, expected) in [
        ("\"--ptxas-options=--options-file=o\"", "write them here instead"),
        ("\"-pch\"", "remove it"),
    ] {
        let failure = bench.get(&text(&format!(", options = [{option}]"))).unwrap_err();
        assert!(shown(&failure).contains(expected), "{option}: {}", shown(&failure));
    }
}

#[test]
fn what_a_condition_asks_for_counts_once_it_is_there() {
    for asked in [
        "__has_include(<new.h>)",
        "__has_include ( \"new.h\" )",
        "defined(X) || __has_include /* here */ (<new.h>)",
    ] {
        let lines = format!("#if {asked}\n#define FACTOR 1\n#else\n#define FACTOR 2\n#endif");
        let bench = bench(&lines);
        assert!(!is_hit(&bench, KEYS), "{asked}");
        let without = bench.get(&text(KEYS)).unwrap().entry.digest().to_string();
        bench.write("pkg/second/new.h", "");
        assert!(!is_hit(&bench, KEYS), "{asked}");
        let with = bench.get(&text(KEYS)).unwrap().entry.digest().to_string();
        assert_ne!(without, with, "{asked}");
        fs::remove_file(bench.path("pkg/second/new.h")).unwrap();
        assert_eq!(bench.get(&text(KEYS)).unwrap().entry.digest(), without, "{asked}");
    }
}

#[test]
fn a_condition_on_what_a_macro_spells_is_seen() {
    let lines = "#define NEW <new.h>\n#if __has_include(NEW)\n#define FACTOR 1\n#else\n#define FACTOR 2\n#endif";
    let bench = bench(lines);
    let digest = || bench.get(&text(KEYS)).unwrap().entry.digest().to_string();
    let without = digest();
    bench.write("pkg/first/new.h", "");
    assert!(!is_hit(&bench, KEYS));
    assert_ne!(digest(), without);
}

#[test]
fn the_next_header_of_a_name_is_seen() {
    let bench = bench("#include <factor.h>");
    bench.write("pkg/first/factor.h", "#include_next <factor.h>\n");
    assert!(!is_hit(&bench, KEYS));
    assert!(is_hit(&bench, KEYS));
    bench.write("pkg/second/factor.h", "#define FACTOR 3\n");
    assert!(!is_hit(&bench, KEYS), "changed behind `#include_next`");
    assert!(is_hit(&bench, KEYS));
    bench.write("pkg/first/cuda_fp16.h", "#include_next <cuda_fp16.h>\n");
    bench.write(
        "pkg/fill.cu",
        source("#include <cuda_fp16.h>\n#define FACTOR __half2float(__float2half(1))"),
    );
    assert!(!is_hit(&bench, KEYS), "CUDA's own stand behind all others");
}

#[test]
fn a_file_of_any_folder_is_read_through_our_door_alone() {
    let bench = bench("#include <beside.h>");
    bench.write("pkg/beside.h", "#include \"deep/one.h\"\n");
    bench.write("pkg/second/deep/one.h", "#include \"two.h\"\n");
    bench.write("pkg/second/deep/two.h", "#define FACTOR 1\n");
    let got = bench.get(&text(KEYS)).unwrap();
    let base = bench.path("pkg");
    let inputs = got.entry.record().inputs(&base);
    let own: Vec<_> =
        inputs.iter().map(|path| path.strip_prefix(&base).unwrap().to_str().unwrap()).collect();
    assert_eq!(own, ["fill.cu", "beside.h", "second/deep/one.h", "second/deep/two.h"]);
    bench.write("pkg/beside.h", "#define FACTOR 2\n");
    assert!(!is_hit(&bench, KEYS));
}

#[test]
fn a_missing_header_is_named_as_it_was_written() {
    let bench = bench("#define TEXT(x) #x\n#include TEXT(nowhere.h)\n#define FACTOR 1");
    let request: Request = bench.request(&text(KEYS));
    let failure = bench.cache().get(&request, &Count::default()).unwrap_err();
    assert!(
        shown(&failure).contains("open source file \\\"nowhere.h\\\"")
            || shown(&failure).contains("open source file \"nowhere.h\""),
        "{}",
        shown(&failure)
    );
}
