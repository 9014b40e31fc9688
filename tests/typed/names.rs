// SPDX-License-Identifier: Apache-2.0
//! Names that are words of Rust's, of its prelude or of the file of typed functions.

use crate::everything as package;
use crate::packages::everything;
use ndarray::{Array1, arr1};

#[test]
fn words_of_rust_are_raw_or_end_in_another_character() {
    let mut out = Array1::zeros(1);
    everything().words(1, 2, 3, 4, 5, 6, 7, 8, &mut out).call().unwrap();
    assert_eq!(out[0], 37);
    let r#fn = arr1(&[0i64]);
    let call = everything().words(1, 2, 3, 4, 5, 6, 7, 8, &mut out);
    call.r#dyn(100).r#fn(&r#fn).call().unwrap();
    assert_eq!(out[0], 136);
}

#[test]
fn parameters_may_have_the_names_that_the_file_uses() {
    let mut out = Array1::zeros(1);
    let tuple = package::own::Object1 { _0: 16, current: 32 };
    let call = everything().own(
        1,
        2,
        "",
        "",
        4,
        8,
        &mut out,
        tuple,
        64,
        128,
        Some(256),
        512,
        1024,
        2048,
        4096,
    );
    call.load(8192).Call(&arr1(&[0])).object_2("").call().unwrap();
    assert_eq!(out[0], 16383);
}

#[test]
fn variables_may_have_the_names_of_types() {
    let (floats, bytes) = (arr1(&[0.0f32]), arr1(&[0i8]));
    let doubles = arr1(&[0.0f64]);
    let mut out = Array1::zeros(1);
    let tuple = package::variables::Call__ { p: &floats, q: 0 };
    let [t, u, v, w] = [&floats; 4];
    let call = everything();
    let call = call.variables(t, u, v, w, &doubles, &bytes, &bytes, 0.5, 2, "", &mut out, tuple);
    call.call().unwrap();
    assert_eq!(out[0], 2.5);
    let text = arr1(&[0.0f32]);
    let (f64, i8) = (kernpack::DType::FLOAT64, kernpack::DType::INT8);
    let call = everything().primitives(2, 0.5, f64, i8, [2], &text, kernpack::DType::FLOAT32, "");
    let results = call.call::<f64, i8>().unwrap();
    assert_eq!(results.y.as_slice().unwrap(), [0.5, 0.5]);
    assert_eq!(results.z.as_slice().unwrap(), [0, 1]);
}

#[test]
fn parameters_may_be_called_like_each_other() {
    let (mut out, x) = (Array1::<f32>::zeros(1), arr1(&[1.0f32, 0.0]));
    everything().given(&mut out).call().unwrap();
    assert_eq!(out[0], 0.0);
    everything().given(&mut out).x(&x).x_given(&x).i64(&x).call().unwrap();
    assert_eq!(out[0], 4.0);
}

#[test]
fn functions_may_have_any_name() {
    let (module, x) = (everything(), arr1(&[2.0f32]));
    assert_eq!(module.r#type(&x).call().unwrap().as_slice().unwrap(), [2.0]);
    let results = module.Results_(&x).call().unwrap();
    let slices = (results.y.as_slice().unwrap(), results.z.as_slice().unwrap());
    assert_eq!(slices, (&[2.0][..], &[-2.0][..]));
    module.call().call().unwrap();
    module.Call_().call().unwrap();
    module.load().call().unwrap();
    module.Module().call().unwrap();
    module.r#match().call().unwrap();
    module.self_().call().unwrap();
    module.Self_().call().unwrap();
    module.Ok_().call().unwrap();
    module.new().call().unwrap();
    module.drop().call().unwrap();
    module.package().call().unwrap();
    module.symbols().call().unwrap();
    module.fmt().call().unwrap();
    module.kernpack().call().unwrap();
}

#[test]
fn what_is_loaded_can_be_shown() {
    let shown = format!("{:?}", everything());
    assert!(shown.starts_with("Module_ { scalars: "), "{shown}");
}
