// SPDX-License-Identifier: Apache-2.0
//! Calls on the interpreter: what they compute, what they refuse, and what they find, without a
//! GPU.

use crate::packages::{FOLDER, ROWS, rows, streams};
use expect_test::{Expect, expect};
use kernpack::{Error, Interpreter, Package, View, ViewMut};
use ndarray::{Array1, Array2, array, s};

fn interpreter() -> Interpreter {
    Interpreter::open(ROWS).expect("the kernels are right")
}

#[test]
fn kernels_run_on_arrays() {
    let x = Array2::from_shape_fn((40, 3), |(row, column)| (row * 10 + column) as f32);
    let expected: Vec<_> = (0..40).map(|row| (row * 30 + 3) as f32).collect();
    let out = rows().row_sums(&interpreter(), &x).call().unwrap();
    assert_eq!(out.as_slice().unwrap(), expected);
    let halved: Vec<_> = expected.iter().map(|sum| sum / 2.0).collect();
    let out = rows().row_sums(&interpreter(), &x).scale(0.5).call().unwrap();
    assert_eq!(out.as_slice().unwrap(), halved);
}

#[test]
fn results_of_a_call_go_into_the_next() {
    let kernels = interpreter();
    let parts = rows().parts(&kernels, &array![1.25f32, 2.5]).call().unwrap();
    assert_eq!(parts.whole.as_slice().unwrap(), [1.0, 2.0]);
    let again = rows().parts(&kernels, &parts.rest).call().unwrap();
    assert_eq!(again.whole.as_slice().unwrap(), [0.0, 0.0]);
    assert_eq!(again.rest.as_slice().unwrap(), [0.25, 0.5]);
}

#[test]
fn a_result_may_have_no_elements() {
    let out = rows().row_sums(&interpreter(), &Array2::zeros((0, 3))).call().unwrap();
    assert_eq!((out.shape(), out.as_slice().unwrap()), (&[0][..], &[][..]));
}

#[test]
fn what_a_function_writes_is_written_and_nothing_between() {
    let kernels = interpreter();
    let mut x = Array1::from_iter(0..7);
    rows().double_all(&kernels, x.slice_mut(s![1..;2])).call().unwrap();
    assert_eq!(x, array![0, 2, 2, 6, 4, 10, 6]);
    // Columns of one array, each by its own thread.
    let mut both = Array2::<f32>::ones((50, 2));
    let (left, right) = both.view_mut().split_at(ndarray::Axis(1), 1);
    std::thread::scope(|scope| {
        for mut half in [left, right] {
            let kernels = &kernels;
            scope.spawn(move || {
                for _ in 0..10 {
                    let column = half.column_mut(0);
                    rows().double_all(kernels, column).call().unwrap();
                }
            });
        }
    });
    assert!(both.iter().all(|x| *x == 1024.0));
}

#[test]
fn slices_and_tensors_are_passed_likewise() {
    let (mut data, shape) = ([1.0f32, 2.0, 3.0, 4.0], [4]);
    let mut x = ViewMut::new(&mut data, &shape).unwrap();
    rows().double_all(&interpreter(), &mut x).call().unwrap();
    assert_eq!(data, [2.0, 4.0, 6.0, 8.0]);
    let x = View::new(&data, &[2, 2]).unwrap();
    let mut out = rows().row_sums(&interpreter(), x).call().unwrap();
    rows().double_all(&interpreter(), &mut out).call().unwrap();
    assert_eq!(out.as_slice().unwrap(), [12.0, 28.0]);
}

#[track_caller]
fn expect_error(outcome: kernpack::Result<impl Sized>, expected: &Expect) {
    let Err(error) = outcome else { panic!("it was accepted") };
    expected.assert_eq(&error.to_string().replace(FOLDER, ""));
}

#[test]
fn arguments_are_refused_as_a_call_refuses_them() {
    expect_error(
        rows().shifted(&interpreter(), &mut Array1::zeros(2000)).call(),
        &expect![
            "ValueError: Invalid x.shape[0] on argument #0 when calling: `shifted(x: Tensor([n], float32))`, expected n <= 1024, got 2000"
        ],
    );
}

#[test]
fn mistakes_of_kernels_are_errors_with_their_lines() {
    let kernels = interpreter();
    expect_error(
        rows().shifted(&kernels, &mut Array1::zeros(3)).call(),
        &expect![[r#"
        CheckError: error[global-race]: race: `x[1]` is written, and nothing orders that with another thread's read, in thread (1, 0, 0) of block (0, 0, 0)
          --> rows.py:53:9
           |
        53 |         x[i] = x[i + 1]
           |         ^^^^^^^--------
           |         |      |
           |         |      thread (0, 0, 0) of block (0, 0, 0) reads it
           |         thread (1, 0, 0) of block (0, 0, 0)"#]],
    );
    expect_error(
        rows().overrunning(&kernels, &mut Array1::zeros(32)).call(),
        &expect![[r#"
        CheckError: error[index-out-of-bounds]: index 32 is out of bounds: the extent is 32, in thread (31, 0, 0) of block (0, 0, 0)
          --> rows.py:63:5
           |
        63 |     x[kp.thread_idx()[0] + 1] = kp.float32(1)
           |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ thread (31, 0, 0) of block (0, 0, 0)"#]],
    );
    expect_error(
        rows().half_written(&kernels, 2).call(),
        &expect![[r#"
        CheckError: error[unwritten-result]: no kernel has written `out[1]`
          --> rows.py:77:36
           |
        77 | @kp.jit("half_written(n: int32) -> out: Tensor([n], float32)")
           |                                    ^^^ a result, of which callers see every element"#]],
    );
    let error = rows().half_written(&kernels, 2).call().unwrap_err();
    assert!(matches!(error, Error::Check(_)));
}

#[test]
fn another_order_finds_the_same_and_computes_the_same() {
    for seed in [1, 2, 3] {
        let kernels = interpreter().seed(seed);
        let error = rows().shifted(&kernels, &mut Array1::zeros(3)).call().unwrap_err();
        assert!(error.message().contains("error[global-race]"), "{error}");
        let x = Array2::from_elem((70, 2), 0.5f32);
        assert_eq!(rows().row_sums(&kernels, &x).call().unwrap().as_slice().unwrap(), [1.0; 70]);
    }
}

#[test]
fn another_signature_is_refused() {
    let text =
        std::fs::read_to_string(ROWS).unwrap().replace("scale: float32 = 1.0", "scale: int32 = 1");
    let kernels = Package::text("rows.py", text).interpreter().unwrap();
    expect_error(
        rows().row_sums(&kernels, &Array2::zeros((1, 1))).call(),
        &expect![
            "TypeError: `row_sums` of `rows.py` has another signature than this program was made for: expected `row_sums(x: Tensor([m, n], float32), scale: float32 = 1.0) -> out: Tensor([m], float32)`, got `row_sums(x: Tensor([m, n], float32), scale: int32 = 1) -> out: Tensor([m], float32)`"
        ],
    );
}

#[test]
fn a_function_that_is_not_there_is_told() {
    let kernels = Package::text("rows.py", "import kernpack as kp\n").interpreter();
    expect_error(
        kernels.map(drop),
        &expect![[r#"
        CompileError: error[empty-package]: `rows.py` has no packed functions
         --> rows.py:1:1
          |
        1 | import kernpack as kp
          | ^
          |
          = help: write `@kp.jit("name(x: Tensor([n], float32))")` in front of a function, or give the signature of one by `--specs`"#]],
    );
    let text = std::fs::read_to_string(ROWS).unwrap().replace("shifted(", "moved(");
    let text = text.replace("def shifted", "def moved");
    let kernels = Package::text("rows.py", text).interpreter().unwrap();
    expect_error(
        rows().shifted(&kernels, &mut Array1::zeros(3)).call(),
        &expect![
            "RuntimeError: there is no function `shifted`; there is `row_sums`, `parts`, `double_all`, `moved`, `overrunning`, `half_written`"
        ],
    );
}

#[test]
fn kernels_that_were_not_written_here_are_told() {
    let kernels = Interpreter::open(format!("{FOLDER}streams.toml")).unwrap();
    expect_error(
        streams().add_one(&kernels, &Array1::zeros(3), &mut Array1::zeros(3)).call(),
        &expect![[r#"
            CompileError: error[not-interpreted]: `add_one` is no kernel that is written here, and is not interpreted
              --> streams.toml:10:10
               |
            10 | kernel = "add_one"
               |          ^^^^^^^^^"#]],
    );
}

#[test]
fn what_is_wrong_with_a_text_is_told_with_its_place() {
    expect_error(
        Interpreter::open("/nowhere/norm.py").map(drop),
        &expect![
            "RuntimeError: cannot read `/nowhere/norm.py`: No such file or directory (os error 2)"
        ],
    );
    expect_error(
        Package::text("norm.toml", "[package\n").interpreter().map(drop),
        &expect![[r#"
        CompileError: error[toml]: unclosed table
         --> norm.toml:1:9
          |
        1 | [package
          |         ^ expected `]`"#]],
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("latin.py");
    std::fs::write(&path, b"# caf\xe9\n").unwrap();
    let error = Interpreter::open(&path).unwrap_err().to_string();
    expect![[r#"
        CompileError: error[encoding]: the text is not UTF-8
         --> PATH:1:6
          |
        1 | # caf�
          |      ^ byte 5 is 0xe9
          |
          = help: save the file as UTF-8"#]]
    .assert_eq(&error.replace(&path.display().to_string(), "PATH"));
}

#[test]
fn kernels_may_be_a_text_with_files_in_memory() {
    let text = r#"
        [package]
        name = "rows"
        [[function]]
        signature = "double_all(x: Tensor([n], T, mut, strides=[_])) where T in {float32, int32}"
        source = { kernel = "own.py" }
        kernel = "double"
        args = ["x"]
        launch = { grid = ["ceildiv(n, 32)"], block = [32] }
    "#;
    let package = Package::text("rows.toml", text).file("own.py", std::fs::read(ROWS).unwrap());
    let mut x = array![1.5f32];
    rows().double_all(&package.interpreter().unwrap(), &mut x).call().unwrap();
    assert_eq!(x, array![3.0]);
}
