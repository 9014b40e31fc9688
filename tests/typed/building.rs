// SPDX-License-Identifier: Apache-2.0
//! Packages that are compiled when the program runs, and what is in compiled ones.

use crate::packages::{FOLDER, ROWS, TABLE};
use crate::table;
use expect_test::{Expect, expect};
use kernpack::{Artifact, Error, Package, inspect};
use ndarray::array;

#[test]
fn a_package_file_is_compiled_and_loaded() {
    let built = Package::open(format!("{FOLDER}table.toml")).unwrap().build().unwrap();
    assert_eq!((built.name(), built.warnings()), ("table", ""));
    assert!(built.functions().contains(&"add".to_string()));
    let table = table::load(built.shared_object()).unwrap();
    let y = table.add(&array![1.0f32, 2.0]).bias(0.5).call().unwrap();
    assert_eq!(y.as_slice().unwrap(), [1.5, 2.5]);
    let again = Package::open(format!("{FOLDER}table.toml")).unwrap().build().unwrap();
    assert_eq!(again.shared_object(), built.shared_object());
}

#[test]
fn its_files_can_be_read() {
    let built = Package::open(ROWS).unwrap().build().unwrap();
    assert!(built.read(Artifact::Object).unwrap().starts_with(b"\x7fELF"));
    assert!(built.read(Artifact::Header).unwrap().starts_with(b"/*"));
}

#[test]
fn a_compiled_package_says_what_it_is() {
    let built = Package::open(ROWS).unwrap().arch("compute_90").build().unwrap();
    let found = inspect(built.shared_object()).unwrap();
    assert_eq!(found["kind"], "shared_object");
    let package = &found["packages"][0];
    assert_eq!(package["package"], "rows");
    let names = package["functions"].as_array().unwrap().iter();
    let names: Vec<_> = names.map(|function| function["name"].as_str().unwrap()).collect();
    assert!(built.functions().iter().all(|name| names.contains(&name.as_str())), "{names:?}");
    let images = package["functions"][0]["launches"][0]["source"].to_string();
    assert!(images.contains("compute_90"), "{images}");
}

#[track_caller]
fn expect_error(outcome: kernpack::Result<impl Sized>, expected: &Expect) {
    let Err(error) = outcome else { panic!("it was accepted") };
    expected.assert_eq(&error.to_string());
}

#[test]
fn what_is_wrong_is_told() {
    let text = TABLE.replace("Tensor([n], float32)", "Tensor([n], float33)");
    let error = Package::text("table.toml", text).build().unwrap_err();
    assert!(matches!(&error, Error::Compile(_)), "{error}");
    assert!(error.message().contains("--> table.toml:"), "{error}");
    expect_error(
        Package::open(ROWS).unwrap().arch("sm_7").build(),
        &expect![
            "ValueError: `sm_7` is no GPU architecture: expected `sm_` or `compute_`, two or three digits, and perhaps `a` or `f`, as in `sm_90a`"
        ],
    );
    let text = "[package]\nname = \"none\"\n";
    expect_error(
        Package::text("none.toml", text).arch("sm_90").build(),
        &expect![[r#"
        CompileError: error[empty-package]: the package has no functions
         --> none.toml:1:2
          |
        1 | [package]
          |  ^^^^^^^ nothing to build
          |
          = help: add a `[[function]]` with a `signature`"#]],
    );
    expect_error(
        inspect("/nowhere/rows.so"),
        &expect![
            "RuntimeError: cannot read `/nowhere/rows.so`: No such file or directory (os error 2)"
        ],
    );
    expect_error(
        inspect(ROWS).map_err(|error| hide(&error)),
        &expect!["ValueError: `rows.py`: not an ELF file that kernpack can read"],
    );
}

/// The error, without the folder.
fn hide(error: &Error) -> Error {
    Error::Value(error.message().replace(FOLDER, ""))
}

#[test]
fn functions_without_a_signature_are_given_one() {
    let text = "\
import kernpack as kp


@kp.kernel
def fill(x):
    x[kp.thread_idx()[0]] = 1


@kp.jit
def filled(x):
    fill(x).launch(grid=1, block=x.shape[0])
";
    let package = Package::text("filled.py", text).specs("filled(x: Tensor([8], int32))");
    assert_eq!(package.build().unwrap().functions(), ["filled"]);
}
