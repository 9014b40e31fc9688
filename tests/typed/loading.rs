// SPDX-License-Identifier: Apache-2.0
//! Shared objects: what is no package, what is another than the functions were made for, and how
//! long a package is there. And lenders of a user's, who may do anything.

#![expect(unsafe_code, reason = "to lend a tensor is a promise")]

use crate::packages::{SharedObject, TABLE, compiled, table_object};
use crate::{everything, table};
use expect_test::{Expect, expect};
use kernpack::{Cpu, DLTensor, Error, Lend, Library};
use ndarray::{Array1, Array2, array};
use std::cell::Cell;
use std::path::Path;
use std::sync::Barrier;

/// The message of loading a file, in which the file is `PATH`.
#[track_caller]
fn expect_refusal(path: &Path, expected: &Expect) {
    let refused = table::load(path).unwrap_err().to_string();
    expected.assert_eq(&refused.replace(&path.display().to_string(), "PATH"));
}

#[test]
fn another_signature_is_refused() {
    let text = TABLE.replace("bias: float32 = 0.0", "bias: float32 = 1.0");
    let object = SharedObject::of(&compiled(&text));
    expect_refusal(
        &object.path,
        &expect![
            "TypeError: `add` of `PATH` has another signature than this program was made for: expected `add(a: Tensor([n], float32), b: Optional[Tensor([n], float32)] = None, bias: float32 = 0.0) -> y: Tensor([n], float32)`, got `add(a: Tensor([n], float32), b: Optional[Tensor([n], float32)] = None, bias: float32 = 1.0) -> y: Tensor([n], float32)`"
        ],
    );
}

#[test]
fn a_function_that_is_not_there_is_told() {
    let text = TABLE.replace("\"sums(", "\"sum(");
    let object = SharedObject::of(&compiled(&text));
    expect_refusal(
        &object.path,
        &expect!["RuntimeError: `PATH` has no function `sums` of kernpack's"],
    );
    let refused = everything::load_(&table_object().path).unwrap_err();
    assert!(matches!(refused, Error::Runtime(_)), "{refused}");
}

#[test]
fn what_is_no_shared_object_is_refused() {
    expect_refusal(
        Path::new("/nowhere/table.so"),
        &expect![
            "RuntimeError: cannot load `PATH`: PATH: cannot open shared object file: No such file or directory"
        ],
    );
    expect_refusal(
        &SharedObject::with(b"no package").path,
        &expect!["RuntimeError: cannot load `PATH`: PATH: file too short"],
    );
    let refused = Library::open("table.so").unwrap_err().to_string();
    let absolute = std::env::current_dir().unwrap().join("table.so").display().to_string();
    assert!(refused.starts_with(&format!("RuntimeError: cannot load `{absolute}`: ")), "{refused}");
}

/// A shared object of a function that only calls itself one of ours.
fn foreign(metadata: &str) -> SharedObject {
    let folder = tempfile::tempdir().unwrap();
    let (source, object) = (folder.path().join("foreign.c"), folder.path().join("foreign.so"));
    let text = format!(
        "#include <string.h>
struct any {{ int type_index; unsigned size; char text[8]; }};
int __tvm_ffi_scale(void* f, const void* args, int n, struct any* out) {{ return 0; }}
#define METADATA __tvm_ffi__metadata_scale
{metadata}"
    );
    std::fs::write(&source, text).unwrap();
    let mut command = std::process::Command::new("cc");
    let made = command.args(["-shared", "-fPIC", "-o"]).args([&object, &source]).status().unwrap();
    assert!(made.success());
    SharedObject::with(&std::fs::read(object).unwrap())
}

#[test]
fn functions_of_others_are_refused() {
    let returning = |text: &str| {
        format!(
            "int METADATA(void* f, const void* args, int n, struct any* out) {{
  out->type_index = 11, out->size = {}, memcpy(out->text, {text:?}, {0});\n  return 0;\n}}\n",
            text.len()
        )
    };
    expect_refusal(
        &foreign("").path,
        &expect!["RuntimeError: `PATH` has no function `scale` of kernpack's"],
    );
    expect_refusal(
        &foreign(&returning("{}")).path,
        &expect!["RuntimeError: the metadata of `scale` in `PATH` is none of kernpack's"],
    );
    expect_refusal(
        &foreign(&returning("no text")).path,
        &expect!["RuntimeError: the metadata of `scale` in `PATH` is none of kernpack's"],
    );
    let number = "int METADATA(void* f, const void* args, int n, struct any* out) {
  out->type_index = 1;\n  return 0;\n}\n";
    expect_refusal(
        &foreign(number).path,
        &expect!["RuntimeError: the metadata of `scale` in `PATH` is none of kernpack's"],
    );
    let failing = "int METADATA(void* f, const void* args, int n, struct any* out) { return -1; }";
    expect_refusal(
        &foreign(failing).path,
        &expect!["RuntimeError: the call failed without an error"],
    );
}

#[test]
fn results_outlive_their_package() {
    let results = {
        let package = table::load(&table_object().path).unwrap();
        package.sums(&array![[1.0f32, 2.0]]).call().unwrap()
    };
    assert_eq!(results.rows.as_slice().unwrap(), [3.0]);
    assert_eq!(results.columns.as_slice().unwrap(), [1.0, 2.0]);
}

#[test]
fn errors_outlive_their_package() {
    let object = SharedObject::of(&compiled(TABLE));
    let refused = {
        let package = table::load(&object.path).unwrap();
        package.add(&array![[1.0f32]]).call().unwrap_err()
    };
    drop(object);
    assert!(refused.message().ends_with("expected ndim=1, got 2"), "{refused}");
}

#[test]
fn a_package_may_be_dropped_by_another_thread() {
    let package = table::load(&table_object().path).unwrap();
    let y = package.add(&array![1.0f32]).call().unwrap();
    let y = std::thread::spawn(move || {
        drop(package);
        y
    });
    assert_eq!(y.join().unwrap().as_slice().unwrap(), [1.0]);
}

#[test]
fn a_call_that_is_never_made_does_nothing() {
    let package = table::load(&table_object().path).unwrap();
    let (x, mut y) = (Array2::from_elem((1, 4), 1.0f32), Array2::from_elem((1, 4), 0.0f32));
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _call = package.scale(&x, &mut y).alpha(7.0);
        std::panic::resume_unwind(Box::new(()))
    }));
    assert!(panicked.is_err());
    assert_eq!(y, Array2::from_elem((1, 4), 0.0f32));
    package.scale(&x, &mut y).call().unwrap();
    assert_eq!(y, Array2::from_elem((1, 4), 2.0f32));
}

#[test]
fn two_packages_of_one_name_are_two() {
    let other = SharedObject::of(&compiled(&TABLE.replace("m*n", "m*n - 4")));
    let (one, two) =
        (table::load(&table_object().path).unwrap(), table::load(&other.path).unwrap());
    let (x, mut y) = (Array2::from_elem((2, 4), 1.0f32), Array2::from_elem((2, 4), 0.0f32));
    one.scale(&x, &mut y).alpha(3.0).call().unwrap();
    two.scale(&x, &mut y).alpha(5.0).call().unwrap();
    assert_eq!(
        (y.row(0), y.row(1)),
        (Array1::from_elem(4, 5.0).view(), Array1::from_elem(4, 3.0).view())
    );
}

/// A lender of a user's, who panics.
struct Panics;

// SAFETY: nothing is lent.
unsafe impl Lend for Panics {
    type Element = f32;
    type Guard<'a> = ();

    fn lend<'a>(&'a self, _: &'a Cpu) -> kernpack::Result<(DLTensor, ())> {
        std::panic::resume_unwind(Box::new("a lender's own"))
    }
}

/// A lender of a user's, who counts the guards that there are.
struct Guarded<'n>(&'n Array1<f32>, Cell<usize>);

struct Guard<'a>(&'a Cell<usize>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

// SAFETY: it is the array that is lent.
unsafe impl Lend for Guarded<'_> {
    type Element = f32;
    type Guard<'a>
        = Guard<'a>
    where
        Self: 'a;

    fn lend<'a>(&'a self, cpu: &'a Cpu) -> kernpack::Result<(DLTensor, Guard<'a>)> {
        self.1.set(self.1.get() + 1);
        Ok((self.0.lend(cpu)?.0, Guard(&self.1)))
    }
}

#[test]
fn a_lender_that_panics_leaves_nothing_behind() {
    let package = table::load(&table_object().path).unwrap();
    let x = array![1.0f32, 2.0];
    let guarded = Guarded(&x, Cell::new(0));
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        package.add(&guarded).b(&Panics).call()
    }));
    assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"a lender's own"));
    assert_eq!(guarded.1.get(), 0, "the guard of the other argument is dropped");
    let y = package.add(&guarded).call().unwrap();
    assert_eq!((y.as_slice().unwrap(), guarded.1.get()), (&[1.0, 2.0][..], 0));
}

#[test]
fn threads_call_at_once() {
    const N_THREADS: usize = 8;
    let package = table::load(&table_object().path).unwrap();
    let (package, start) = (&package, Barrier::new(N_THREADS));
    std::thread::scope(|scope| {
        for thread in 0..N_THREADS {
            let start = &start;
            scope.spawn(move || {
                let (x, mut y) =
                    (Array2::from_elem((1, 4), thread as f32), Array2::from_elem((1, 4), 0.0f32));
                start.wait();
                for round in 0..500 {
                    package.scale(&x, &mut y).alpha(round as f32).call().unwrap();
                    assert_eq!(y[(0, 3)], (thread * round) as f32);
                    let sums = package.sums(&x).call().unwrap();
                    assert_eq!(sums.rows.as_slice().unwrap(), [(4 * thread) as f32]);
                    // Each thread is told its own.
                    let refused = package
                        .scale(&x, &mut Array2::from_elem((1, 8), 0.0f32))
                        .call()
                        .unwrap_err();
                    assert!(refused.message().contains("got 8"), "{refused}");
                }
            });
        }
    });
}
