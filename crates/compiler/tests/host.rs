// SPDX-License-Identifier: Apache-2.0
//! Host functions as the kernels of launches.

use kernpack_compiler::{Function, HostSource, Launch, Options, Package, compile};
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
    let package = Package { name: "p".to_string(), functions: vec![function], link: vec![] };
    compile(&package, &Options::default()).unwrap();
}
