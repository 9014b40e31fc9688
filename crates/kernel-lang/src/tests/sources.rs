// SPDX-License-Identifier: Apache-2.0
//! Sources that a program hands over: parts of files, what they capture, and which are the same.

use super::written;
use crate::elaborate::{Instance, Request, elaborate};
use crate::file::{Captured, KernelFiles, Source, SourceId, Sources};
use crate::packed;
use expect_test::{Expect, expect};
use kernpack_ffi_abi::DType;
use kernpack_kernel_ir::Scalar;
use kernpack_syntax::Texts;
use std::io;
use std::path::Path;

const KERNEL: &str = "@kp.kernel\ndef k(out):\n    out[0] = dtype(N) + scale\n";

/// A kernel, cut out of a file, as the program has it.
fn kernel(n: Captured) -> Source {
    part(Source::new("notebook.py", KERNEL).at_line(41), n)
}

fn part(of: Source, n: Captured) -> Source {
    of.capturing("kp", Captured::Kernpack)
        .capturing("dtype", Captured::DType(DType::parse("float32").expect("a dtype")))
        .capturing("scale", Captured::Float(0.5))
        .capturing("N", n)
}

fn read(sources: &Sources, root: SourceId, texts: &mut Texts) -> KernelFiles {
    let mut door = |_: &Path| Err(io::ErrorKind::NotFound.into());
    let read = KernelFiles::read_source(sources, root, &mut door, texts);
    read.unwrap_or_else(|problems| panic!("{}", problems.in_texts(texts)))
}

fn elaborate_k(source: Source) -> Result<Instance, String> {
    let (mut sources, mut texts) = (Sources::default(), Texts::default());
    let root = sources.add(source);
    let files = read(&sources, root, &mut texts);
    let arguments = [written("out", Scalar::F32, &["n"])];
    let kernel = files.function("k").expect("it is there");
    let (block, symbol) = ([None; 3], "k");
    let surroundings = None;
    let request = Request {
        kernel,
        arguments: &arguments,
        dtypes: &[],
        block,
        archs: &[],
        symbol,
        surroundings,
        is_checked: false,
    };
    elaborate(&files, &request).map_err(|problems| {
        let place = |span: kernpack_syntax::Span| {
            let text = texts.get(span.text.expect("it has a place"));
            format!("{}:{}", text.name, text.position(span.start).0)
        };
        let problem = |one: &kernpack_syntax::Diagnostic| {
            format!("{} [{}] {}", place(one.labels[0].span), one.code, one.message)
        };
        problems.0.iter().map(problem).collect::<Vec<_>>().join("\n")
    })
}

fn check_problems(source: Source, expected: Expect) {
    expected.assert_eq(&elaborate_k(source).err().unwrap_or_default());
}

#[test]
fn captured_values_are_constants() {
    let instance = elaborate_k(kernel(Captured::Int(4.into()))).expect("it is right");
    assert!(instance.kernel.to_string().contains("const 4.5"), "{}", instance.kernel);
    let lines: Vec<_> = instance.kernel.places.iter().map(|place| place.line).collect();
    assert!(lines.iter().all(|line| *line == 0 || (41..=43).contains(line)), "{lines:?}");
    assert!(lines.contains(&43), "{lines:?}");
    assert_eq!(instance.kernel.files, ["notebook.py"]);
}

#[test]
fn mistakes_show_the_lines_of_the_file() {
    check_problems(
        kernel(Captured::tuple([Captured::Int(4.into()), Captured::None])),
        expect!["notebook.py:43 [type] expected a number, found a tuple"],
    );
    let part = Source::new("notebook.py", KERNEL).at_line(41);
    check_problems(
        part.capturing("kp", Captured::Kernpack),
        expect![[r#"
            notebook.py:43 [unknown-name] `dtype` is not defined
            notebook.py:43 [unknown-name] `N` is not defined
            notebook.py:43 [unknown-name] `scale` is not defined"#]],
    );
    let eight_bits = Captured::DType(DType::parse("float8_e4m3fn").expect("a dtype"));
    check_problems(
        kernel(Captured::Int(4.into())).capturing("dtype", eight_bits),
        expect!["notebook.py:43 [type] kernels have no float8_e4m3fn yet"],
    );
}

#[test]
fn a_text_says_more_than_what_it_captures() {
    let text = format!("N = 7\n{KERNEL}");
    let own = part(Source::new("k.py", text), Captured::Int(4.into()));
    let instance = elaborate_k(own).expect("it is right");
    assert!(instance.kernel.to_string().contains("const 7.5"), "{}", instance.kernel);
}

#[test]
fn sources_of_one_content_are_one() {
    let mut sources = Sources::default();
    let first = sources.add(kernel(Captured::Int(4.into())));
    let moved = part(Source::new("other.py", KERNEL).at_line(7), Captured::Int(4.into()));
    assert_eq!(sources.add(moved), first);
    // Values of different types are different, and so are floats of different bits.
    let values = [
        Captured::Int(1.into()),
        Captured::Bool(true),
        Captured::Float(1.0),
        Captured::Float(0.0),
        Captured::Float(-0.0),
        Captured::Text("1".into()),
        Captured::None,
        Captured::Kernpack,
        Captured::Member("exp".into()),
        Captured::tuple([]),
        Captured::tuple([Captured::None]),
        Captured::Tuple(vec![(Some("a".into()), Captured::None)]),
        Captured::Function(first, "k".into()),
        Captured::Function(first, "l".into()),
    ];
    let mut ids: Vec<_> = values.into_iter().map(|value| sources.add(kernel(value))).collect();
    ids.push(first);
    ids.sort_unstable();
    let n_ids = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), n_ids);
}

#[test]
fn what_functions_capture_is_launched() {
    let (mut sources, mut texts) = (Sources::default(), Texts::default());
    let kernel = sources.add(kernel(Captured::Int(4.into())));
    let text = "@kp.jit(\"f(x: Tensor([n], float32, mut))\")\ndef f(x):\n    \
                k_of(x).launch(grid=SIZES[1], block=len(SIZES))\n";
    let sizes = Captured::tuple([Captured::Int(3.into()), Captured::Int(5.into())]);
    let root = sources.add(
        Source::new("jit.py", text)
            .capturing("kp", Captured::Kernpack)
            .capturing("SIZES", sizes)
            .capturing("k_of", Captured::Function(kernel, "k".into())),
    );
    let files = read(&sources, root, &mut texts);
    let (functions, problems) = packed::functions(&files);
    assert!(problems.0.is_empty(), "{}", problems.in_texts(&texts));
    let launch = &functions[0].rows[0].launches[0];
    assert_eq!(&**launch.kernel.name(), "k");
    let numbers = |dims: &[kernpack_syntax::Placed<kernpack_validators::Expr>]| {
        dims.iter().map(|dim| dim.to_string()).collect::<Vec<_>>()
    };
    let geometry = &launch.geometry;
    assert_eq!([numbers(&geometry.grid), numbers(&geometry.block)], [["5"], ["2"]]);
}

/// The identity of a file, and how many files there are of its set.
fn identity(root: &str, files: &[(&str, &str)]) -> (crate::file::Identity, usize) {
    let mut door = |path: &Path| match files.iter().find(|(name, _)| Path::new(name) == path) {
        Some((_, text)) => Ok(text.as_bytes().to_vec()),
        None => Err(io::ErrorKind::NotFound.into()),
    };
    let read = KernelFiles::read(Path::new(root), &mut door, &mut Texts::default());
    let read = read.expect("they are right");
    (read.identity().clone(), read.modules().len())
}

#[test]
fn files_are_what_they_say() {
    let rows = "import kernpack as kp\nROWS = 1\n";
    let own = identity("k.py", &[("k.py", "import rows\n"), ("rows.py", rows)]);
    let moved = identity("a/l.py", &[("a/l.py", "import rows\n"), ("a/rows.py", rows)]);
    assert_eq!(own, moved);
    assert_eq!(own.1, 2);
    for others in [
        &[("k.py", "import rows\n"), ("rows.py", "import kernpack as kp\nROWS = 2\n")][..],
        &[("k.py", "import rows\n")],
        &[("k.py", "import rows \n"), ("rows.py", rows)],
    ] {
        assert_ne!(own.0, identity("k.py", others).0);
    }
    // Two paths that lead to the same are one file, and so is what both import.
    let twice = identity(
        "k.py",
        &[
            ("k.py", "import a.rows as a\nimport b.rows as b\n"),
            ("a/rows.py", "from .cols import COLS\n"),
            ("a/cols.py", "COLS = 1\n"),
            ("b/rows.py", "from .cols import COLS\n"),
            ("b/cols.py", "COLS = 1\n"),
        ],
    );
    assert_eq!(twice.1, 3);
    let other = identity(
        "k.py",
        &[
            ("k.py", "import a.rows as a\nimport b.rows as b\n"),
            ("a/rows.py", "from .cols import COLS\n"),
            ("a/cols.py", "COLS = 1\n"),
            ("b/rows.py", "from .cols import COLS\n"),
            ("b/cols.py", "COLS = 2\n"),
        ],
    );
    assert_eq!(other.1, 5);
}

#[test]
fn what_is_wrong_with_a_content_is_told_once() {
    let text = "import kernpack as kp\nprint(1)\n";
    let files = [("k.py", "import a\nimport b\n"), ("a.py", text), ("b.py", text)];
    let mut door = |path: &Path| match files.iter().find(|(name, _)| Path::new(name) == path) {
        Some((_, text)) => Ok(text.as_bytes().to_vec()),
        None => Err(io::ErrorKind::NotFound.into()),
    };
    let mut texts = Texts::default();
    let read = KernelFiles::read_with_problems(Path::new("k.py"), &[], &mut door, &mut texts);
    assert_eq!(read.expect("they are read").problems().0.len(), 1);
}
