// SPDX-License-Identifier: Apache-2.0
//! `kernpack run` with tensors of NumPy's files, and what it writes into such files.

use crate::bench::Bench;
use expect_test::expect;

const KERNELS: &str = r#"
import kernpack as kp


@kp.kernel
def add(x, y, out):
    i, j = kp.block_idx()[0], kp.thread_idx()[0]
    out[i, j] = x[i, j] + y[j]


@kp.jit("adds(x: Tensor([m, n], T), y: Tensor([n], T)) -> out: Tensor([m, n], T) where T in {int16, float32}")
def adds(x, y, out):
    add(x, y, out).launch(grid=x.shape[0], block=x.shape[1])
"#;

fn bench() -> Bench {
    Bench::with("k.py", KERNELS)
}

/// A file of NumPy's.
fn npy(descr: &str, fortran_order: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let header =
        format!("{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\0", &length[..], header.as_bytes(), bytes].concat()
}

fn ints(numbers: &[i16]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[test]
fn dims_and_dtypes_are_those_of_the_file() {
    let x = npy("<i2", "False", "(2, 3)", &ints(&[1, 2, 3, 4, 5, 6]));
    let bench = bench().and("x.npy", x).and("y.npy", npy("<i2", "False", "(3,)", &ints(&[1; 3])));
    let expected = expect![[r#"
        exit 0
        out: add_int16: grid [2], block [3]
        out: out: int16 [2, 3] = 2 3 4 5 6 7
    "#]];
    bench.expect(&["run", "k.py", "adds", "x=@x.npy", "y=@y.npy"], expected);
    let expected = expect![[r#"
        exit 0
        out: add_int16: grid [2], block [3]
        out: out: int16 [2, 3] = 1 3 5 4 6 8
    "#]];
    let args = ["run", "k.py", "adds", "x=@x.npy", "--fill", "count", "--save", "out=out.npy"];
    bench.expect(&args, expected);
    let saved = std::fs::read(bench.path("out.npy")).unwrap();
    let expected = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }";
    assert!(String::from_utf8_lossy(&saved[..128]).contains(expected));
    assert_eq!(&saved[128..], ints(&[1, 3, 5, 4, 6, 8]));
    // Of several for one tensor the last counts, dims and all.
    let flat = npy("<i2", "False", "(3,)", &ints(&[1; 3]));
    std::fs::write(bench.path("flat.npy"), flat).unwrap();
    let args = ["run", "k.py", "adds", "x=@flat.npy", "x=@x.npy", "--fill", "ones"];
    let last = bench.run(args);
    assert!(last.stdout.ends_with("out: int16 [2, 3] = 2 3 4 5 6 7\n"), "{}", last.stderr);
    // What was saved can be read.
    let again = bench.run(["run", "k.py", "adds", "x=@out.npy", "--fill", "zeros"]);
    assert!(again.stdout.ends_with("out: int16 [2, 3] = 1 3 5 4 6 8\n"), "{}", again.stdout);
}

#[test]
fn what_does_not_fit_is_refused_with_what_arrived() {
    let bench = bench()
        .and("flat.npy", npy("<i2", "False", "(3,)", &ints(&[1; 3])))
        .and("turned.npy", npy("<i2", "True", "(2, 3)", &ints(&[1; 6])))
        .and("other.npy", npy("<i4", "False", "(2, 3)", &[0; 24]))
        .and("complex.npy", npy("<c8", "False", "(2, 3)", &[0; 48]))
        .and("short.npy", npy("<i2", "False", "(2, 3)", &[0; 11]))
        .and("text.npy", "1 2 3");
    let says = |x: &str, expected: &str| {
        let ran = bench.run(["run", "k.py", "adds", x]);
        assert!(ran.stderr.contains(expected), "{x}: {}", ran.stderr);
        assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    };
    says("x=@flat.npy", "`x` has 2 dims, and `flat.npy` is of [3]");
    says("x=@turned.npy", "expected to be 3 for row-major order, got 1");
    says("x=@other.npy", "`T` is one of int16, float32, found `int32`");
    says("x=@complex.npy", "`complex.npy` has elements of `<c8`, which no kernel takes");
    says("x=@short.npy", "`short.npy` ends too early: it has 11 bytes of [2, 3]");
    says("x=@text.npy", "`text.npy` is no file of NumPy's (.npy)");
    says("x=@missing.npy", "cannot read `missing.npy`");
    says("z=@flat.npy", "`adds` has nothing that is called `z`");
}

#[test]
fn all_is_saved_or_nothing() {
    let bench = bench();
    let call = ["run", "k.py", "adds", "m=2", "n=3", "T=float32", "--fill", "ones"];
    let saved = |saves: &[&str]| {
        let ran = bench.run(call.iter().chain(saves));
        (ran.stderr, bench.names(".").into_iter().filter(|one| one.ends_with(".npy")).count())
    };
    let (problem, n_files) = saved(&["--save", "out=a.npy", "--save", "z=b.npy"]);
    assert!(problem.contains("there is no tensor `z` to save; there is `x`, `y`, `out`"));
    assert_eq!(n_files, 0);
    let (problem, n_files) = saved(&["--save", "out=a.npy", "--save", "x=no/b.npy"]);
    assert!(problem.contains("cannot write `no/b.npy`"), "{problem}");
    assert_eq!(n_files, 0);
    assert_eq!(saved(&["--save", "out=a.npy", "--save", "x=b.npy"]), (String::new(), 2));
    let (problem, _) = saved(&["--save", "out"]);
    assert!(problem.contains("such as `out=out.npy`"), "{problem}");
}

#[test]
fn any_number_of_jobs_gives_the_same() {
    let bench = bench();
    let run = |jobs: &str| {
        let args = ["--json", "run", "k.py", "adds", "m=64", "n=33", "T=float32", "--jobs", jobs];
        bench.run(args)
    };
    let alone = run("1");
    assert_eq!((run("2").stdout, run("5").stdout), (alone.stdout.clone(), alone.stdout));
    assert!(run("0").stdout.contains("0 is not in 1.."));
}
