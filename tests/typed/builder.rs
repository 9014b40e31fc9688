// SPDX-License-Identifier: Apache-2.0
//! Packages that are put together in Rust: the text that comes of them, and that it compiles.

#![expect(unsafe_code, reason = "a function that has no typed one is called by its symbol")]

use crate::packages::FOLDER;
use expect_test::{expect, expect_file};
use kernpack::{
    Cpu, Function, Launch, Lend, LendMut, Library, Package, Source, View, ViewMut, call, inspect,
};

#[test]
fn every_key_of_a_package_file_can_be_said() {
    let on_cpu = Launch::new(Source::host_files(["a.c", "b.o"]).include("h").option("-O1"), "f")
        .args(["x", "n: int32"])
        .when("n > 0")
        .returns("int");
    let cuda = Source::cuda("k.cu").archs(["sm_90a", "compute_80"]).define("W", "4");
    let on_gpu = Launch::new(cuda.line_info(true), "k<{T}>")
        .grid(["ceildiv(n, 256)"])
        .block([256, 2])
        .smem(1024)
        .cluster([2])
        .cooperative()
        .pdl()
        .priority("p")
        .stream("s");
    let images = Launch::new(Source::cubin("k.cubin").arch("sm_90a"), "k").or(Source::ptx("k.ptx"));
    let others = Launch::of(Source::triton("t.cubin").json("t.json")).grid(["n"]);
    let function = Function::new("f(x: Tensor([n], T)) where T in {float32}").doc("what it does");
    let package = Package::builder("all")
        .link("libblas.so.3")
        .submit("plain")
        .function(function.workspace("ws", "Tensor([n], T)").launch(on_cpu).submit("graph"))
        .function(Function::new("g()").launch(on_gpu).launch(images).launch(others))
        .function(Function::new("h()").launch(Launch::new(Source::fatbin("k.fatbin"), "k")))
        .function(Function::new("i()").launch(Launch::new(Source::kernel("k.py"), "k")))
        .build();
    expect_file!["packages/parts.toml.txt"].assert_eq(package.as_text());
}

const AXPY: &str = "axpy(x: Tensor([n], float32), y: Tensor([n], float32, mut), by: float32)";

#[test]
fn what_is_put_together_compiles_and_is_called() {
    let launch = Launch::new(Source::host("axpy.c").define("PLUS", "+="), "axpy");
    let source = "void axpy(const float* x, float* y, int n, float by) {\n  \
                  for (int i = 0; i < n; ++i) y[i] PLUS by * x[i];\n}\n";
    let package = Package::builder("axpy")
        .function(Function::new(AXPY).launch(launch.args(["x", "y", "n: int32", "by"])))
        .file("axpy.c", source)
        .build();
    let built = package.build().unwrap();
    assert_eq!((built.name(), built.functions()), ("axpy", &["axpy".to_string()][..]));
    let library = Library::open(built.shared_object()).unwrap();
    let function = library.entry("axpy", AXPY).unwrap();
    let (x, mut y) = ([1.0f32, 2.0], [3.0f32, 4.0]);
    let (view, mut view_mut) = (View::new(&x, &[2]).unwrap(), ViewMut::new(&mut y, &[2]).unwrap());
    let (lent, lent_mut) = (view.lend(&Cpu).unwrap(), view_mut.lend_mut(&Cpu).unwrap());
    let args = [call::tensor(&lent.0), call::tensor(&lent_mut.0), call::float(10.0)];
    // SAFETY: the library is there.
    let entry = unsafe { call::Entry::new(function, AXPY) };
    // SAFETY: the arguments are those of the signature.
    unsafe { entry.call(&args) }.unwrap();
    assert_eq!(y, [13.0, 24.0]);
}

#[test]
fn a_kernel_for_a_gpu_has_its_layout() {
    let launch = Launch::new(Source::ptx("add_one.ptx"), "add_one").args(["a", "b", "n: int32"]);
    let function = "add_one(a: Tensor([n], float32), b: Tensor([n], float32, mut))";
    let package = Package::builder("added")
        .function(Function::new(function).launch(launch.grid(["ceildiv(n, 256)"]).block([256])))
        .folder(FOLDER)
        .build();
    let found = inspect(package.build().unwrap().shared_object()).unwrap();
    let launch = &found["packages"][0]["functions"][0]["launches"][0];
    expect![[r#"{"grid":["ceildiv(n, 256)"],"block":["256"]}"#]]
        .assert_eq(&launch["layout"].to_string());
}

#[test]
fn what_is_wrong_is_told_in_its_text() {
    let function =
        Function::new("f(x: Tensor([n], float33))").launch(Launch::new(Source::cuda("k.cu"), "k"));
    let error = Package::builder("wrong").function(function).build().build().unwrap_err();
    expect![[r#"
        CompileError: error[unknown-dtype]: `float33` is no dtype
         --> wrong.toml:5:31
          |
        5 | signature = "f(x: Tensor([n], float33))"
          |                               ^^^^^^^ expected a dtype or a dtype variable
          |
          = help: did you mean `float32`?

        error[missing-key]: a launch on a GPU needs `grid`
         --> wrong.toml:7:1
          |
        7 | [[function.launch]]
          | ^^^^^^^^^^^^^^^^^^^ expected `grid`
          |
          = help: one to three numbers or expressions, x first

        error[missing-key]: a launch on a GPU needs `block`
         --> wrong.toml:7:1
          |
        7 | [[function.launch]]
          | ^^^^^^^^^^^^^^^^^^^ expected `block`
          |
          = help: one to three numbers or expressions, x first"#]]
    .assert_eq(&error.to_string());
}
