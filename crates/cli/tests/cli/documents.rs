// SPDX-License-Identifier: Apache-2.0
//! Commands of `docs/`: they run, and print what stands there.

use crate::bench::{Bench, KERNPACK, Ran};
use std::path::{Path, PathBuf};

/// A document's text.
fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The blocks of a kind, in order.
fn blocks(document: &str, info: &str) -> Vec<String> {
    let open = format!("\n```{info}\n");
    let behind = document.split(&open).skip(1);
    behind.map(|text| text.split("\n```").next().unwrap_or_default().to_string() + "\n").collect()
}

/// The one block of a kind that has a text in it.
fn block(document: &str, info: &str, has: &str) -> String {
    let mut found = blocks(document, info);
    found.retain(|block| block.contains(has));
    assert_eq!(found.len(), 1, "blocks with `{has}`");
    found.remove(0)
}

/// The packages that the commands name, a program that writes one, and `kernpack` itself.
fn bench() -> Bench {
    let norm = block(&document("package-file.md"), "toml", "name = \"norm\"");
    let functions = "#include <stdint.h>\n#define RMS(T, N)                                        \\\n\
        void rms_##N(const T *x, T *y, float e, int64_t m, int64_t d) {}                          \\\n\
        int rms_wide_##N(const T *x, T *y, double *s, double e, int32_t m, int32_t d) { return 0; }\n\
        RMS(float, float32)\nRMS(double, float64)\n";
    let cuda = document("sources/cuda.md");
    let rms = block(&cuda, "toml", "name = \"scale\"").replace("scale.cu", "rms.cu");
    let bench = Bench::with("norm.toml", &norm).and("norm.c", functions);
    let bench = bench.and("rms.toml", rms).and("rms.cu", block(&cuda, "cpp", "__global__"));
    std::fs::create_dir(bench.path("kernels")).expect("a writable folder");
    let kernels = document("writing-a-kernel.md");
    let bench = bench.and("sum.py", block(&kernels, "python", "def row_sums"));
    let bench = bench.and("fill.py", block(&kernels, "python", "def fill_all"));
    let bench = bench.and("kernels/norm.c", functions);
    bench
        .and_program("write-package", "cat norm.toml")
        .and_program("kernpack", &format!("exec {KERNPACK} \"$@\""))
}

/// The Python whose environment has NVRTC.
fn python() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    std::env::var_os("KERNPACK_PYTHON").map_or(own, PathBuf::from)
}

/// Runs a line of a shell, for which `kernpack` is on the path.
fn run_line(bench: &Bench, line: &str) -> Ran {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = bench.command("sh");
    command.args(["-c", line]).env("KERNPACK_PYTHON", python());
    command.env("PATH", format!("{}:{path}", bench.path(".").display()));
    command.output().expect("a shell").into()
}

#[test]
fn the_commands_run() {
    let bench = bench();
    let mut n_commands = 0;
    for name in ["command-line.md", "deploying.md"] {
        let shown = blocks(&document(name), "sh");
        let lines = shown.iter().flat_map(|block| block.lines());
        for line in lines.filter(|line| line.contains("kernpack ") && !line.contains("cargo")) {
            n_commands += 1;
            let ran = run_line(&bench, line);
            assert_eq!(ran.code, Some(0), "{line}\n{ran}");
        }
    }
    assert!(n_commands > 8, "{n_commands} were found");
}

#[test]
fn what_is_printed_stands_there() {
    let document = document("command-line.md");
    let bench = bench();
    let norm = block(&document, "text", "--> norm.toml:5");
    let line = norm.lines().find_map(|line| line.strip_prefix("5 | ")).expect("the fifth line");
    let package = format!("[package]\nname = \"norm\"\n\n[[function]]\n{line}\n");
    let scale =
        blocks(&self::document("sources/ptx.md"), "toml").remove(0).replace("add_one", "scale");
    let bench = bench.and("norm.toml", package).and("scale.toml", scale);
    for (name, shown) in [("norm", norm), ("scale", block(&document, "text", "`scale.ptx`"))] {
        let ran = bench.run(["build", &format!("{name}.toml"), "-o", "a.so"]);
        assert_eq!(ran.stderr, shown);
    }
    let cuda = self::document("sources/cuda.md");
    let package = block(&cuda, "toml", "name = \"scale\"").replace("bfloat16}", "bfloat16, int4}");
    let bench = bench.and("scale.toml", package).and("scale.cu", "");
    let ran = run_line(&bench, "kernpack check scale.toml");
    assert_eq!(ran.stderr, block(&cuda, "text", "error[dtype-name]"));
    let shown = block(&document, "text", "$ kernpack plan");
    let (line, plan) = shown.split_once('\n').expect("a command and its answer");
    let ran = run_line(&bench, line.trim_start_matches("$ "));
    assert!(ran.stdout.starts_with(plan), "{ran}");
}

#[test]
fn what_inspect_shows_stands_there() {
    let bench = bench();
    assert_eq!(run_line(&bench, "kernpack build rms.toml -o rms.so").code, Some(0));
    let shown = bench.run(["inspect", "rms.so"]).stdout;
    let expected = block(&document("command-line.md"), "text", "    launches");
    assert!(shown.contains(&expected), "{shown}");
}

/// The rows of tables whose first cell is an operation on layouts, with what it results in.
fn operations(document: &str) -> Vec<(String, String)> {
    let rows = document.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split("` | `");
        let result = cells.next().zip(cells.next())?;
        let is_call = result.0.ends_with(')') && result.0.starts_with(char::is_alphabetic);
        is_call.then_some(result)
    });
    let text = |text: &str| text.split('`').next().unwrap_or_default().to_string();
    rows.map(|(call, result)| (call.to_string(), text(result))).collect()
}

#[test]
fn layouts_are_drawn_as_they_stand_there() {
    let (document, bench) = (document("layouts.md"), bench());
    let shown = blocks(&document, "text").into_iter().filter(|block| block.starts_with("$ "));
    let mut n_shown = 0;
    for block in shown {
        n_shown += 1;
        let (line, expected) = block.split_once('\n').expect("a command and its answer");
        let ran = run_line(&bench, line.trim_start_matches("$ "));
        assert_eq!(ran.stdout + &ran.stderr, expected, "{line}");
    }
    assert!(n_shown > 4, "{n_shown} were found");
}

#[test]
fn every_operation_on_layouts_is_shown_with_its_result() {
    let (document, bench) = (document("layouts.md"), bench());
    let shown = operations(&document);
    for (call, expected) in &shown {
        let ran = bench.run(["layout", "--json", call]);
        let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(json["text"], *expected, "{call}: {ran}");
    }
    let names = shown.iter().map(|(call, _)| call.split('(').next().unwrap_or_default());
    let names: Vec<_> = names.collect();
    for operation in kernpack_layout::evaluate::OPERATIONS {
        assert!(names.contains(&operation.name), "{} is not shown", operation.name);
    }
}

/// The options that a text names, sorted.
fn options(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let words = text.split(|c| !is_part(c));
    let mut options: Vec<_> =
        words.filter(|word| word.starts_with("--") && word.len() > 2).collect();
    options.sort();
    options.dedup();
    options
}

#[test]
fn every_option_is_in_the_table() {
    let document = document("command-line.md");
    let bench = Bench::new();
    let known = |command| {
        let help = bench.run([command, "--help"]).stdout;
        let (_, known) = help.split_once("Options:").expect("clap lists them");
        let mut known = options(known);
        // These go with every command.
        known.retain(|option| !["--help", "--json", "--output"].contains(option));
        known.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let of_build = known("build");
    for command in ["build", "run", "emit"] {
        let (_, section) =
            document.split_once(&format!("## `kernpack {command} ")).expect("its section");
        let section = section.split("\n## ").next().unwrap_or_default();
        let rows = section.lines().filter(|line| line.starts_with("| `-"));
        let first_cells: String = rows.filter_map(|row| row.split(" | ").next()).collect();
        let mut known = known(command);
        known.retain(|option| command == "build" || !of_build.contains(option));
        assert_eq!(options(&first_cells), known, "{command}");
    }
}

/// The words in backquotes between two texts of a document.
fn keys<'d>(document: &'d str, from: &str, to: &str) -> Vec<&'d str> {
    let (_, rest) = document.split_once(from).expect("the sentence");
    rest.split(to).next().unwrap_or_default().split('`').skip(1).step_by(2).collect()
}

#[test]
fn answers_for_programs_have_the_keys_that_stand_there() {
    let document = document("command-line.md").replace('\n', " ");
    let bench = bench().and("bad.toml", "[package]\n");
    let expect_keys = |args: &[&str], expected: &[&str]| {
        let ran = bench.run(args);
        let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let keys: Vec<_> = json.as_object().expect("an object").keys().collect();
        assert_eq!(keys, expected, "{args:?}");
        json
    };
    let built = keys(&document, "With `--json`, a build answers", ".");
    expect_keys(&["build", "norm.toml", "-o", "norm.o", "--json"], &built);
    expect_keys(&["build", "none.toml", "-o", "norm.o", "--json"], &["error"]);
    let refused = bench.run(["build", "bad.toml", "-o", "bad.o", "--json"]);
    let refused: serde_json::Value = serde_json::from_str(&refused.stdout).expect("JSON");
    let error = refused["error"].as_object().expect("an object").keys().collect::<Vec<_>>();
    assert_eq!(error, keys(&document, "answers `error`, with", ";"));
    let diagnostic = &refused["error"]["diagnostics"][0];
    let table = document.split("A diagnostic has ").nth(1).expect("the table");
    let rows: Vec<_> = table.split("## ").next().unwrap_or_default().split("| `").skip(1).collect();
    let keys_of = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    let first = rows.iter().map(|row| row.split('`').next().unwrap_or_default());
    assert_eq!(keys_of(diagnostic), first.collect::<Vec<_>>());
    let labels = rows.iter().find(|row| row.starts_with("labels`")).expect("the row");
    let of_labels: Vec<_> = labels.split('`').skip(2).step_by(2).collect();
    assert_eq!(keys_of(&diagnostic["labels"][0]), of_labels);
    let ran = keys(&document, "1 where something is wrong. With `--json`, the answer is", ". A");
    let answer = expect_keys(&["run", "sum.py", "row_sums", "m=1", "n=4", "--json"], &ran);
    let launch = answer["launches"][0].as_object().expect("an object").keys().collect::<Vec<_>>();
    assert_eq!(launch, keys(&document, "A launch has", ", how many"));
    let emitted = keys(&document, "`build`. With `--json`, the answer is", ". Of");
    let answer = expect_keys(&["emit", "sum.py", "--as", "ir", "--json"], &["kernels", "warnings"]);
    let kernel = answer["kernels"][0].as_object().expect("an object").keys();
    assert_eq!(
        emitted,
        ["kernels"]
            .into_iter()
            .chain(kernel.map(String::as_str))
            .chain(["warnings"])
            .collect::<Vec<_>>()
    );
    let taken = keys(&document, "has `resources` too, a list of", ", which is 1");
    let resources = ["emit", "sum.py", "--as", "resources", "--arch", "sm_90", "--json"];
    let answer = expect_keys(&resources, &["kernels", "warnings"]);
    let kernel = answer["kernels"][0]["resources"][0].as_object().expect("an object").keys();
    assert_eq!(taken, kernel.collect::<Vec<_>>());
    let told = keys(&document, "reads or writes there: a list of", ". `bytes` has");
    let accesses = ["emit", "sum.py", "--as", "accesses", "--json"];
    let answer = expect_keys(&accesses, &["kernels", "warnings"]);
    let line = answer["kernels"][0]["accesses"][0].as_object().expect("an object").keys();
    let told: Vec<_> = told.into_iter().filter(|key| !["global", "shared"].contains(key)).collect();
    assert_eq!(told, line.collect::<Vec<_>>());
    let answer = expect_keys(&["explain", "tensor-rank", "--json"], &["pages"]);
    let page = answer["pages"][0].as_object().expect("an object").keys().collect::<Vec<_>>();
    assert_eq!(page, keys(&document, "the answer is `pages`: a list of", "##"));
}

/// A page on kernels is run from top to bottom: its files are those whose names stand in front of
/// them, and what its commands print stands behind them. `UPDATE_EXPECT=1` writes that.
#[test]
fn pages_on_kernels_show_what_happens() {
    for name in ["writing-a-kernel.md", "debugging.md", "matrix-units.md"] {
        let text = document(name);
        let shown = walked(&text);
        if std::env::var_os("UPDATE_EXPECT").is_some() && shown != text {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
            std::fs::write(path, &shown).expect("a writable folder");
            continue;
        }
        assert_eq!(shown, text, "{name}");
    }
}

/// A page with what its commands print.
fn walked(page: &str) -> String {
    let bench = Bench::new().and_program("kernpack", &format!("exec {KERNPACK} \"$@\""));
    let mut shown = String::new();
    let (mut file, mut printed): (Option<&str>, Option<String>) = (None, None);
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        shown += &format!("{line}\n");
        let named = line.strip_prefix('`').and_then(|rest| rest.split('`').next());
        file = named.filter(|name| name.contains('.')).or(file);
        let Some(info) = line.strip_prefix("```") else { continue };
        let block: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
        match (info, file.take()) {
            ("python" | "toml", Some(name)) => {
                std::fs::write(bench.path(name), block.join("\n") + "\n").expect("a file");
            }
            ("sh", _) => printed = Some(block.iter().map(|line| said(&bench, line)).collect()),
            _ => {}
        }
        match printed.take_if(|_| info == "text") {
            Some(text) => shown += &text,
            None => block.iter().for_each(|line| shown += &format!("{line}\n")),
        }
        shown += "```\n";
    }
    shown
}

/// The output of a command; of `inspect`, the part about the functions.
fn said(bench: &Bench, line: &str) -> String {
    let ran = run_line(bench, line);
    let inspected = line.contains(" inspect ").then(|| ran.stdout.rsplit_once("\n\n")).flatten();
    inspected.map_or_else(|| ran.stdout.clone(), |(_, functions)| functions.into()) + &ran.stderr
}
