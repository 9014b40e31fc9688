// SPDX-License-Identifier: Apache-2.0
//! Builds: which files come out of which.

use crate::bench::{Bench, CHECKS};
use expect_test::expect;

const ADD_ONE: &str = r#"
[package]
name = "add_one"
[[function]]
signature = "add_one(a: Tensor([n], float32), b: Tensor([n], float32, mut))"
source = { host = "src/add_one.c", include = ["inc dir"] }
kernel = "add_one"
args = ["a", "b", "n"]
"#;

fn add_one() -> Bench {
    let bench = Bench::with("add_one.toml", ADD_ONE);
    for folder in ["src", "inc dir"] {
        std::fs::create_dir(bench.path(folder)).expect("a writable folder");
    }
    let code = "#include \"one.h\"\nvoid add_one(const float *a, float *b, long long n) {\n  \
                while (n--) *b++ = *a++ + ONE;\n}\n";
    bench.and("inc dir/one.h", "#define ONE 1.0f\n").and("src/add_one.c", code)
}

#[test]
fn every_kind_of_file_is_written_by_its_ending() {
    let bench = add_one();
    let args = ["-o", "a.o", "-o", "b.so", "-o", "c.h", "-o", "d.pyi", "-o", "e.rs"];
    let ran = bench.run(["build", "add_one.toml"].into_iter().chain(args));
    assert_eq!(ran.to_string(), "exit 0\n");
    assert_eq!(
        bench.names("."),
        ["a.o", "add_one.toml", "b.so", "c.h", "d.pyi", "e.rs", "inc dir", "src"]
    );

    let ran = bench.run(["build", "add_one.toml", "--out-dir", "new/out"]);
    assert_eq!(ran.to_string(), "exit 0\n");
    let names = ["add_one.h", "add_one.o", "add_one.pyi", "add_one.rs", "add_one.so"];
    assert_eq!(bench.names("new/out"), names);
    for (name, other) in names.iter().zip(["c.h", "a.o", "d.pyi", "e.rs", "b.so"]) {
        let read = |path| std::fs::read(bench.path(path)).expect("it was written");
        assert!(read(&format!("new/out/{name}")) == read(other), "{name} and {other} differ");
    }
}

#[test]
fn a_dependency_file_names_what_was_read() {
    let bench = add_one();
    let ran = bench.run(["build", "add_one.toml", "-o", "a.so", "-o", "a.h", "--depfile", "a.d"]);
    assert_eq!(ran.to_string(), "exit 0\n");
    let rule = std::fs::read_to_string(bench.path("a.d")).expect("it was written");
    let own = rule.lines().filter(|line| !line.contains("/usr/"));
    let own: String = own.map(|line| format!("{line}\n")).collect();
    expect![[r#"
        a.so a.h: \
          add_one.toml \
          src/add_one.c \
          inc\ dir/one.h
    "#]]
    .assert_eq(&own);
}

#[test]
fn the_digest_changes_with_all_that_the_object_is_made_of() {
    let digest = |bench: &Bench| {
        let ran = bench.run(["build", "add_one.toml", "-o", "a.so"]);
        assert_eq!(ran.to_string(), "exit 0\n");
        let shown = bench.run(["inspect", "a.so"]).stdout;
        let line = shown.lines().find_map(|line| line.trim_start().strip_prefix("sources "));
        line.expect("the digest is shown").trim().to_string()
    };
    let with = |line: &str| add_one().and("add_one.toml", ADD_ONE.replace("include", line));
    let before = digest(&add_one());
    assert_eq!(before, digest(&add_one()), "the folder counts");
    let changed = [
        add_one().and("inc dir/one.h", "#define ONE 2.0f\n"),
        add_one().and("src/add_one.c", "void add_one(void) {}\n"),
        with("define = { while = \"if\" }, include"),
        with("options = [\"-O0\"], include"),
    ];
    for bench in changed {
        assert_ne!(before, digest(&bench));
    }
    let debug = || digest(&with("options = [\"-g\"], include"));
    assert_eq!(debug(), debug(), "the folder counts, in debug information");
}

#[test]
fn a_build_as_json() {
    let bench = Bench::with("checks.toml", CHECKS);
    let args = ["build", "--json", "checks.toml", "-o", "a.o", "--target", "aarch64-linux-gnu"];
    bench.expect(
        &args,
        expect![[r#"
            exit 0
            out: {
            out:   "version": "0.1.0",
            out:   "package": "checks",
            out:   "target": "aarch64-linux-gnu",
            out:   "outputs": [
            out:     "a.o"
            out:   ],
            out:   "inputs": [
            out:     "checks.toml"
            out:   ],
            out:   "warnings": []
            out: }
        "#]],
    );
}

#[test]
fn the_phases_of_a_build_are_timed() {
    let bench = add_one();
    let ran = bench.run(["build", "add_one.toml", "-o", "a.so", "--verbose"]);
    let phases: Vec<_> =
        ran.stderr.lines().filter_map(|line| line.split_whitespace().next()).collect();
    for phase in ["build", "read", "compile", "plan", "source", "write"] {
        assert!(phases.contains(&phase), "{ran}");
    }
    assert!(ran.stderr.lines().all(|line| line.ends_with(" ms")), "{ran}");
}

#[test]
fn a_source_that_does_not_compile() {
    let bench = add_one().and("src/add_one.c", "void add_one(void) { return 1 }\n");
    let ran = bench.run(["build", "add_one.toml", "-o", "a.so"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.starts_with("error[c-compiler]: "), "{ran}");
    assert!(ran.stderr.contains("src/add_one.c"), "{ran}");
    assert!(!bench.names(".").contains(&"a.so".to_string()));
}

/// Whatever is wrong with one source hides nothing of another.
#[test]
fn the_problems_of_all_sources_are_told() {
    let text = r#"
        [package]
        name = "many"
        [[function]]
        signature = "f(x: Tensor([n], float32)) -> y: Tensor([n], float32)"
        launch = [
            { source = { host = "one.c" }, kernel = "one", args = ["x", "y"] },
            { source = { host = "two.c" }, kernel = "two", args = ["x", "y"] },
            { source = { host = "one.c" }, kernel = "uno", args = ["x", "y"] },
        ]
        [[function]]
        signature = "g(x: Tensor([n], float32))"
        source = [{ ptx = "g.ptx" }, { ptx = "h.ptx" }]
        kernel = "g"
        args = ["x"]
        launch = { grid = [1], block = [1] }
    "#;
    let bench = Bench::with("many.toml", text).and("one.c", "void one(void) {}\n");
    bench.expect(
        &["build", "many.toml", "-o", "a.so"],
        expect![[r#"
            exit 1
            err: error[source-file]: cannot read `two.c`: No such file or directory (os error 2)
            err:  --> many.toml:8:33
            err:   |
            err: 8 |             { source = { host = "two.c" }, kernel = "two", args = ["x", "y"] },
            err:   |                                 ^^^^^^^
            err: 
            err: error[missing-kernel]: `one.c` has no function `uno`; it has one
            err:  --> many.toml:9:53
            err:   |
            err: 9 |             { source = { host = "one.c" }, kernel = "uno", args = ["x", "y"] },
            err:   |                                                     ^^^^^
            err: 
            err: error[source-file]: cannot read `g.ptx`: No such file or directory (os error 2)
            err:   --> many.toml:13:27
            err:    |
            err: 13 |         source = [{ ptx = "g.ptx" }, { ptx = "h.ptx" }]
            err:    |                           ^^^^^^^
            err: 
            err: error[source-file]: cannot read `h.ptx`: No such file or directory (os error 2)
            err:   --> many.toml:13:46
            err:    |
            err: 13 |         source = [{ ptx = "g.ptx" }, { ptx = "h.ptx" }]
            err:    |                                              ^^^^^^^
        "#]],
    );
    bench.expect(
        &["build", "--json", "many.toml", "-o", "a.so"],
        expect![[r#"
            exit 1
            out: {
            out:   "error": {
            out:     "source": "many.toml",
            out:     "diagnostics": [
            out:       {
            out:         "code": "source-file",
            out:         "severity": "error",
            out:         "message": "cannot read `two.c`: No such file or directory (os error 2)",
            out:         "labels": [
            out:           {
            out:             "file": "many.toml",
            out:             "start": 269,
            out:             "end": 276,
            out:             "line": 8,
            out:             "column": 33,
            out:             "text": ""
            out:           }
            out:         ],
            out:         "help": null,
            out:         "detail": null,
            out:         "rendered": "error[source-file]: cannot read `two.c`: No such file or directory (os error 2)\n --> many.toml:8:33\n  |\n8 |             { source = { host = \"two.c\" }, kernel = \"two\", args = [\"x\", \"y\"] },\n  |                                 ^^^^^^^"
            out:       },
            out:       {
            out:         "code": "missing-kernel",
            out:         "severity": "error",
            out:         "message": "`one.c` has no function `uno`; it has one",
            out:         "labels": [
            out:           {
            out:             "file": "many.toml",
            out:             "start": 369,
            out:             "end": 374,
            out:             "line": 9,
            out:             "column": 53,
            out:             "text": ""
            out:           }
            out:         ],
            out:         "help": null,
            out:         "detail": null,
            out:         "rendered": "error[missing-kernel]: `one.c` has no function `uno`; it has one\n --> many.toml:9:53\n  |\n9 |             { source = { host = \"one.c\" }, kernel = \"uno\", args = [\"x\", \"y\"] },\n  |                                                     ^^^^^"
            out:       },
            out:       {
            out:         "code": "source-file",
            out:         "severity": "error",
            out:         "message": "cannot read `g.ptx`: No such file or directory (os error 2)",
            out:         "labels": [
            out:           {
            out:             "file": "many.toml",
            out:             "start": 503,
            out:             "end": 510,
            out:             "line": 13,
            out:             "column": 27,
            out:             "text": ""
            out:           }
            out:         ],
            out:         "help": null,
            out:         "detail": null,
            out:         "rendered": "error[source-file]: cannot read `g.ptx`: No such file or directory (os error 2)\n  --> many.toml:13:27\n   |\n13 |         source = [{ ptx = \"g.ptx\" }, { ptx = \"h.ptx\" }]\n   |                           ^^^^^^^"
            out:       },
            out:       {
            out:         "code": "source-file",
            out:         "severity": "error",
            out:         "message": "cannot read `h.ptx`: No such file or directory (os error 2)",
            out:         "labels": [
            out:           {
            out:             "file": "many.toml",
            out:             "start": 522,
            out:             "end": 529,
            out:             "line": 13,
            out:             "column": 46,
            out:             "text": ""
            out:           }
            out:         ],
            out:         "help": null,
            out:         "detail": null,
            out:         "rendered": "error[source-file]: cannot read `h.ptx`: No such file or directory (os error 2)\n  --> many.toml:13:46\n   |\n13 |         source = [{ ptx = \"g.ptx\" }, { ptx = \"h.ptx\" }]\n   |                                              ^^^^^^^"
            out:       }
            out:     ]
            out:   }
            out: }
        "#]],
    );
}

/// A text that is wrong hides no source, not even one of its own function, and what is warned of
/// stands among the errors.
#[test]
fn the_problems_of_texts_and_of_sources_are_told_together() {
    let text = r#"
[package]
name = "many"
[[function]]
signature = "f(x: Tensor([n], float32, mut))"
source = { host = ["one.c", "two.c"] }
kernel = "one"
args = ["x"]
[[function]]
signature = "g(x: Tensor([n], flot32))"
source = { host = "three.c" }
kernel = "three"
args = ["x"]
"#;
    let bench = Bench::with("many.toml", text)
        .and("one.c", "#warning old\nvoid one(float *x) { *x = 1; }\n");
    let bench = bench.and("two.c", "void two(void) {}\n");
    let ran = bench.run(["build", "many.toml", "-o", "a.so"]).to_string();
    let heads = ran.lines().filter(|line| line.contains("]: ") || line.contains("--> "));
    expect![[r#"
        err: warning[compiler-warning]: the C compiler warns of `one.c`
        err:  --> many.toml:6:20
        err: error[unknown-dtype]: `flot32` is no dtype
        err:   --> many.toml:10:31
        err: error[source-file]: cannot read `three.c`: No such file or directory (os error 2)
        err:   --> many.toml:11:19
    "#]]
    .assert_eq(&heads.map(|line| format!("{line}\n")).collect::<String>());
}

/// Nor is a warning lost where the objects do not go together, of whichever source it is.
#[test]
fn what_is_warned_of_stands_beside_symbols_that_nobody_may_call() {
    let text = r#"
[package]
name = "own"
[[function]]
signature = "f(x: Tensor([n], float32, mut))"
source = { host = "one.c" }
kernel = "one"
args = ["x"]
[[function]]
signature = "g(x: Tensor([n], float32, mut))"
source = { host = "two.c" }
kernel = "two"
args = ["x"]
"#;
    let own = "#warning new\nvoid kernpack_rt_refuse(void);\n\
        void two(float *x) { kernpack_rt_refuse(); }\n";
    let bench = Bench::with("own.toml", text)
        .and("one.c", "#warning old\nvoid one(float *x) { *x = 1; }\n")
        .and("two.c", own);
    let ran = bench.run(["build", "own.toml", "-o", "own.so"]).to_string();
    let heads = ran.lines().filter(|line| line.contains("]: ") || line.contains("--> "));
    expect![[r#"
        err: warning[compiler-warning]: the C compiler warns of `one.c`
        err:  --> own.toml:6:19
        err: error[undefined-symbol]: `two.c` needs the symbol `kernpack_rt_refuse`, which is kernpack's own; define it in the source, or call it otherwise
        err:   --> own.toml:11:19
        err: warning[compiler-warning]: the C compiler warns of `two.c`
        err:   --> own.toml:11:19
    "#]]
    .assert_eq(&heads.map(|line| format!("{line}\n")).collect::<String>());

    for args in [&["build", "-o", "own.o"][..], &["build", "-o", "own.so"], &["check"]] {
        let ran = bench.run([args, &["--json", "own.toml"]].concat());
        let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let told = json["error"]["diagnostics"].as_array().expect("a list");
        let codes: Vec<_> = told.iter().map(|told| told["code"].as_str().expect("text")).collect();
        assert_eq!(codes, ["compiler-warning", "undefined-symbol", "compiler-warning"], "{ran}");
    }
}

/// An object is linked by somebody who may have the symbol.
#[test]
fn symbols_are_missed_where_a_shared_object_is_asked_for() {
    let other = "[[function]]\nsignature = \"g(n: int33)\"\n";
    let code = "void lost(void); void add_one(float *x) { lost(); *x = 1; }\n";
    let bench = add_one().and("src/add_one.c", code);
    let bench = bench.and("add_one.toml", format!("{ADD_ONE}{other}"));
    for (args, is_missed) in [
        (&["-o", "a.o", "-o", "a.h"][..], false),
        (&["-o", "a.o", "-o", "a.so"], true),
        (&["--out-dir", "out"], true),
    ] {
        let ran = bench.run([&["build", "add_one.toml"], args].concat());
        assert!(ran.stderr.contains("error[syntax]"), "{ran}");
        assert_eq!(ran.stderr.contains("error[undefined-symbol]"), is_missed, "{ran}");
    }
}

#[test]
fn sources_that_are_not_there_or_lack_the_kernel() {
    let bench = Bench::with("add_one.toml", ADD_ONE);
    bench.expect(
        &["build", "add_one.toml", "-o", "a.so"],
        expect![[r#"
            exit 1
            err: error[source-file]: cannot read `src/add_one.c`: No such file or directory (os error 2)
            err:  --> add_one.toml:6:19
            err:   |
            err: 6 | source = { host = "src/add_one.c", include = ["inc dir"] }
            err:   |                   ^^^^^^^^^^^^^^^
        "#]],
    );
    bench.expect(
        &["build", "--json", "add_one.toml", "-o", "a.so"],
        expect![[r#"
            exit 1
            out: {
            out:   "error": {
            out:     "source": "add_one.toml",
            out:     "diagnostics": [
            out:       {
            out:         "code": "source-file",
            out:         "severity": "error",
            out:         "message": "cannot read `src/add_one.c`: No such file or directory (os error 2)",
            out:         "labels": [
            out:           {
            out:             "file": "add_one.toml",
            out:             "start": 136,
            out:             "end": 151,
            out:             "line": 6,
            out:             "column": 19,
            out:             "text": ""
            out:           }
            out:         ],
            out:         "help": null,
            out:         "detail": null,
            out:         "rendered": "error[source-file]: cannot read `src/add_one.c`: No such file or directory (os error 2)\n --> add_one.toml:6:19\n  |\n6 | source = { host = \"src/add_one.c\", include = [\"inc dir\"] }\n  |                   ^^^^^^^^^^^^^^^"
            out:       }
            out:     ]
            out:   }
            out: }
        "#]],
    );
    let bench = add_one().and("src/add_one.c", "void add_two(void) {}\n");
    bench.expect(
        &["build", "add_one.toml", "-o", "a.so"],
        expect![[r#"
            exit 1
            err: error[missing-kernel]: `src/add_one.c` has no function `add_one`; it has add_two
            err:  --> add_one.toml:7:10
            err:   |
            err: 7 | kernel = "add_one"
            err:   |          ^^^^^^^^^
        "#]],
    );
}
