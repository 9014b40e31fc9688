// SPDX-License-Identifier: Apache-2.0
//! Functions that have a plan and cannot be built all the same: what their launches do not fit
//! together with.

use expect_test::{Expect, expect};
use kernpack_package::source::CudaSource;
use kernpack_package::{Function, GpuSource, HostSource, Launch};
use kernpack_validators::{
    Expr, Geometry, KernelArg, When, parse_kernel_arg, parse_kernel_name, parse_when,
};

fn function(signature: &str, launches: Vec<Launch>) -> Function {
    Function { launches, ..Function::new(signature.parse().unwrap()) }
}

fn args(args: &[&str]) -> Vec<KernelArg> {
    args.iter().map(|arg| parse_kernel_arg(arg).unwrap()).collect()
}

fn on_host(kernel: &str, written: &[&str]) -> Launch {
    let kernel = parse_kernel_name(kernel).unwrap();
    Launch::on_host(HostSource::new("k.c"), kernel, args(written))
}

fn on_gpu(source: GpuSource, kernel: &str, written: &[&str]) -> Launch {
    let geometry = Geometry::new(vec![Expr::Int(1)], vec![Expr::Int(32)]);
    Launch::on_gpu(source, parse_kernel_name(kernel).unwrap(), args(written), geometry)
}

fn in_cuda(kernel: &str, args: &[&str]) -> Launch {
    on_gpu(GpuSource::Cuda(CudaSource::new("k.cu"), vec![]), kernel, args)
}

fn in_files(kernel: &str, args: &[&str]) -> Launch {
    on_gpu(GpuSource::Files(vec![]), kernel, args)
}

/// The kernels of a function's only launch.
fn symbols(signature: &str, launch: Launch) -> Vec<String> {
    kernels(signature, vec![launch]).remove(0)
}

/// The kernels of each launch of a function.
fn kernels(signature: &str, launches: Vec<Launch>) -> Vec<Vec<String>> {
    let function = function(signature, launches);
    let plan = function.plan().unwrap();
    let launches = function.launches.iter().zip(&plan.launches);
    launches.map(|(launch, planned)| launch.symbols(&plan, planned)).collect()
}

fn expect_error(function: &Function, expected: Expect) {
    expected.assert_eq(&function.plan().expect_err("no error").to_string());
}

#[test]
fn results_that_nothing_writes() {
    let text = "f(x: Tensor([n], float32)) -> y: Tensor([n], float32), z: Tensor([], float32)";
    expect_error(
        &function(text, vec![]),
        expect![[r#"
        error[unwritten-result]: nothing writes the result `y`: no launch is passed it
          help: name `y` among the `args` of a kernel, or remove it
        error[unwritten-result]: nothing writes the result `z`: no launch is passed it
          help: name `z` among the `args` of a kernel, or remove it"#]],
    );
    let only_y = || on_host("k", &["x", "y", "z.numel"]);
    expect_error(
        &function(text, vec![only_y()]),
        expect![[r#"
        error[unwritten-result]: nothing writes the result `z`: no launch is passed it
          help: name `z` among the `args` of a kernel, or remove it"#]],
    );
    function(text, vec![only_y(), on_host("l", &["z"])]).plan().unwrap();
    function("f(x: Tensor([n], float32))", vec![]).plan().unwrap();
}

#[test]
fn variables_of_names_that_are_none_of_the_signatures() {
    let text = "f(x: Tensor([n], T)) where T in {int8, float32}";
    for launch in [on_host("k_{U}_{T}", &["x"]), in_cuda("k<{U}, {T}>", &["x"])] {
        expect_error(
            &function(text, vec![launch]),
            expect![[r#"
            error[kernel-template]: `U` in the kernel's name is no dtype variable
              at 3..4: stands for no dtype
              help: the dtype variables are T"#]],
        );
    }
}

#[test]
fn dtypes_that_have_no_name_in_cuda() {
    let text = "f(x: Tensor([n], T), y: Tensor([n], U)) where T in {int4, float32, float6_e2m3fn}, U in {int4}";
    let args = ["x", "y", "n"];
    expect_error(
        &function(text, vec![in_cuda("k<{T}>", &args)]),
        expect![[r#"
        error[dtype-name]: `{T}` in the kernel's name `k<{T}>` has no meaning for int4: CUDA C++ has no type that holds an element of it
          help: leave int4 out of what `T` may be, or write a launch for each dtype, with `when = "T in {int4}"` and its kernel's name in full
        error[dtype-name]: `{T}` in the kernel's name `k<{T}>` has no meaning for float6_e2m3fn: CUDA C++ has no type that holds an element of it
          help: leave float6_e2m3fn out of what `T` may be, or write a launch for each dtype, with `when = "T in {float6_e2m3fn}"` and its kernel's name in full"#]],
    );
    expect_error(
        &function(text, vec![in_cuda("k<{U}>", &args)]),
        expect![[r#"
        error[dtype-name]: `{U}` in the kernel's name `k<{U}>` has no meaning for int4: CUDA C++ has no type that holds an element of it
          help: leave int4 out of what `U` may be, or write a launch for each dtype, with `when = "U in {int4}"` and its kernel's name in full"#]],
    );
    for launch in [in_cuda("k<float>", &args), on_host("k_{T}_{U}", &args)] {
        function(text, vec![launch]).plan().unwrap();
    }
    let named = "f(x: Tensor([n], T), y: Tensor([n], U)) where T in {int8, float32}, U in {int4}";
    let launch = in_cuda("k<{T}>", &args);
    assert_eq!(symbols(named, launch), ["k<signed char>", "k<float>"]);
}

/// In what others compiled, templates take the type, and the rest of a name has the dtype.
#[test]
fn dtypes_in_the_names_of_compiled_kernels() {
    let text = "f(x: Tensor([n], T)) where T in {int8, float16}";
    let named = |kernel: &str| symbols(text, in_files(kernel, &["x"]));
    assert_eq!(named("k_{T}"), ["k_int8", "k_float16"]);
    assert_eq!(named("ns::k<A<1>, {T}>"), ["ns::k<A<1>, signed char>", "ns::k<A<1>, __half>"]);
    assert_eq!(named("k_{T}<{T}>"), ["k_int8<signed char>", "k_float16<__half>"]);
    assert_eq!(named("k<1>_{T}"), ["k<1>_int8", "k<1>_float16"]);
    let text = "f(x: Tensor([n], T)) where T in {int4, float32}";
    expect_error(
        &function(text, vec![in_files("k<{T}>", &["x"])]),
        expect![[r#"
            error[dtype-name]: `{T}` in the kernel's name `k<{T}>` has no meaning for int4: CUDA C++ has no type that holds an element of it
              help: leave int4 out of what `T` may be, or write a launch for each dtype, with `when = "T in {int4}"` and its kernel's name in full"#]],
    );
    function(text, vec![in_files("k_{T}", &["x"])]).plan().unwrap();
}

/// A kernel is asked for only where some call can run it.
#[test]
fn launches_have_kernels_for_the_dtypes_under_which_they_run() {
    let text = "f(x: Tensor([n], T), y: Tensor([n], U)) where T in {int4, float16, float32}, U in {int8, int16}";
    let launch = |when: &str, kernel: &str| {
        let when = if when.is_empty() { When::Always } else { parse_when(when).unwrap() };
        Launch { when, ..in_files(kernel, &["x", "y"]) }
    };
    let launches = vec![
        launch("T == float16", "a_{T}"),
        launch("n > 4, T != int4 and U == int8 or n == 1 and T == float32", "b_{T}_{U}"),
        launch("T == float32 or n > 4", "c<{T}>"),
        launch("n > 4", "d_{U}"),
    ];
    let expect_diagnosed = function(text, launches.clone());
    expect_error(
        &expect_diagnosed,
        expect![[r#"
            error[dtype-name]: `{T}` in the kernel's name `c<{T}>` has no meaning for int4: CUDA C++ has no type that holds an element of it
              help: leave int4 out of what `T` may be, or write a launch for each dtype, with `when = "T in {int4}"` and its kernel's name in full"#]],
    );
    let launches = vec![
        launches[0].clone(),
        launches[1].clone(),
        launch("T != int4", "c<{T}>"),
        launch("otherwise", "e_{T}"),
        launch("", "f_{U}"),
        launch("T == int4 and n > 1", "g"),
        launch("T in {float16, float32}", "h_{T}"),
        launch("otherwise", "i_{T}"),
    ];
    let expected: [&[&str]; 8] = [
        &["a_float16", "a_float16"],
        &["b_float16_int8", "b_float32_int8", "b_float32_int16"],
        &["c<__half>", "c<__half>", "c<float>", "c<float>"],
        &["e_int4", "e_int4"],
        &["f_int8", "f_int16", "f_int8", "f_int16", "f_int8", "f_int16"],
        &["g"],
        &["h_float16", "h_float16", "h_float32", "h_float32"],
        &["i_int4", "i_int4"],
    ];
    assert_eq!(kernels(text, launches), expected);
}
