// SPDX-License-Identifier: Apache-2.0
//! Host functions as the kernels of launches.

use kernpack_compiler::{CompileError, Options, compile};
use kernpack_package::{Function, HostSource, Launch, Package};
use kernpack_validators::{parse_kernel_arg, parse_kernel_name};

/// C lets callers differ in what they pass, as those of a function without a prototype do.
#[test]
fn launches_of_one_function_may_pass_different_things() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.c");
    std::fs::write(&file, "int k() { return 0; }\n").unwrap();
    let launch = |args: &[&str]| {
        let args = args.iter().map(|arg| parse_kernel_arg(arg).unwrap()).collect();
        Launch::on_host(HostSource::new(&file), parse_kernel_name("k").unwrap(), args)
    };
    let launches = vec![
        launch(&["a"]),
        launch(&["b", "c"]),
        launch(&["c"]),
        launch(&["struct(a, b, b, b)"]),
        launch(&[]),
    ];
    let signature = "f(a: int32, b: float64, c: int8)".parse().unwrap();
    let function = Function { launches, ..Function::new(signature) };
    let package = Package::new("p", vec![function]);
    compile(&package, &Options::default()).unwrap();
}

/// Nobody wrote it as text, so words say what it is about.
#[test]
fn problems_of_a_package_without_a_text_name_the_function_and_the_source() {
    let launch =
        Launch::on_host(HostSource::new("missing.c"), parse_kernel_name("k").unwrap(), vec![]);
    let function = Function { launches: vec![launch], ..Function::new("f()".parse().unwrap()) };
    let package = Package::new("p", vec![function]);
    let error = compile(&package, &Options::default()).unwrap_err();
    let CompileError::Problems(problems) = error else { panic!("{error}") };
    let [problem] = &problems.0[..] else { panic!("{problems}") };
    assert!(problem.labels.is_empty(), "{problem}");
    assert_eq!(problem.code, "source-file");
    let expected = "in function `f`: cannot read `missing.c`: No such file or directory";
    assert!(problem.message.starts_with(expected), "{problem}");
}
