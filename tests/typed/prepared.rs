// SPDX-License-Identifier: Apache-2.0
//! Prepared calls, on a driver that needs no GPU: what they launch, what they hold, what they lend,
//! and what they refuse.

use crate::cuda_stub::launched;
use crate::gpu::{Gpu, view, view_mut};
use expect_test::expect;
use kernpack::{Error, RawStream};
use serde_json::Value;

/// The addresses 0x10000 and 0x20000, as a launch has them.
const A: &str = "0000010000000000";
const B: &str = "0000020000000000";

#[test]
fn a_prepared_call_launches_what_a_call_launches() {
    let (gpu, stream) = (Gpu::new(), RawStream::null(0));
    let (a, b) = (view(0x1_0000, &[300]), view_mut(0x2_0000, &[300]));
    gpu.package.add_one(&stream, a, b).call().unwrap();
    let of_call = gpu.arguments();
    let [arguments] = &of_call[..] else { panic!("one launch: {of_call:?}") };
    assert_eq!((&arguments[0]["bytes"], &arguments[1]["bytes"]), (&A.into(), &B.into()));
    let (a, b) = (view(0x1_0000, &[300]), view_mut(0x2_0000, &[300]));
    let mut prepared = gpu.package.add_one(&stream, a, b).prepare().unwrap();
    assert_eq!(gpu.arguments(), [Value::Null; 0], "nothing is launched yet");
    for _ in 0..3 {
        prepared.call().unwrap();
        assert_eq!(gpu.arguments(), of_call);
    }
}

#[test]
fn it_runs_on_the_stream_of_the_call() {
    let gpu = Gpu::new();
    let stream = gpu.stream();
    let (a, b) = (view(0x1_0000, &[4]), view_mut(0x2_0000, &[4]));
    let mut prepared = gpu.package.add_one(&stream, a, b).prepare().unwrap();
    gpu.stub.take_log();
    prepared.call().unwrap();
    let log = gpu.stub.take_log();
    assert_eq!(launched(&log)[0]["config"]["stream"], "stream1");
}

#[test]
fn what_it_holds_is_lent_between_calls() {
    let (gpu, stream) = (Gpu::new(), RawStream::null(0));
    let (a, b) = (view(0x1_0000, &[4]), view_mut(0x2_0000, &[4]));
    let mut prepared = gpu.package.add_one(&stream, a, b).prepare().unwrap();
    prepared.call().unwrap();
    // What it has written is what another function reads, and its argument what that writes.
    gpu.stub.take_log();
    gpu.package.add_one(&stream, prepared.b(), view_mut(0x3_0000, &[4])).call().unwrap();
    gpu.package.add_one(&stream, view(0x4_0000, &[4]), prepared.b_mut()).call().unwrap();
    let arguments = gpu.arguments();
    assert_eq!((&arguments[0][0]["bytes"], &arguments[1][1]["bytes"]), (&B.into(), &B.into()));
    prepared.call().unwrap();
    assert_eq!(gpu.arguments()[0][0]["bytes"], A);
}

#[test]
fn it_may_hold_what_a_function_returned() {
    let (gpu, stream) = (Gpu::new(), RawStream::null(0));
    let made = gpu.package.results(&stream, view(0x1_0000, &[4])).call().unwrap();
    let address = made.address();
    let mut prepared = gpu.package.preload(&stream, view(0x2_0000, &[4]), made).prepare().unwrap();
    assert_eq!(prepared.b().address(), address);
    gpu.package.add_one(&stream, view(0x3_0000, &[4]), prepared.b_mut()).call().unwrap();
    gpu.stub.take_log();
    prepared.call().unwrap();
    let written = gpu.arguments()[0][1]["bytes"].to_string();
    assert_eq!(written, format!("\"{:016x}\"", address.swap_bytes()));
}

#[test]
fn what_a_call_refuses_is_refused_when_it_is_prepared() {
    let (gpu, stream) = (Gpu::new(), RawStream::null(0));
    let (a, b) = (view(0x1_0000, &[4]), view_mut(0x2_0000, &[5]));
    let refused = gpu.package.add_one(&stream, a, b).prepare().err().expect("it is refused");
    expect!["ValueError: Mismatched b.shape[0] on argument #1 when calling: `add_one(a: Tensor([n], float32), b: Tensor([n], float32))`, expected to match a.shape[0], got 5 (a.shape[0] is 4)"].assert_eq(&refused.to_string());
}

#[test]
fn a_launch_that_fails_is_told() {
    let (gpu, stream) = (Gpu::new(), RawStream::null(0));
    let (a, b) = (view(0x1_0000, &[4]), view_mut(0x2_0000, &[4]));
    let mut prepared = gpu.package.add_one(&stream, a, b).prepare().unwrap();
    for function in ["cuLaunchKernelEx", "cuLaunchKernel", "cuGraphLaunch"] {
        gpu.stub.fail(function, 0, 700);
    }
    let failed = prepared.call().unwrap_err();
    assert!(matches!(&failed, Error::Runtime(_)), "{failed}");
    assert!(failed.message().contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{failed}");
}
