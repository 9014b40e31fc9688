// SPDX-License-Identifier: Apache-2.0
//! Assertions of kernels: calls pass the record of their device, and what a kernel has written
//! there is raised once, by the next call on that device or by who waits for it. The driver of
//! these tests runs no kernel, so that they write what one would.

#![expect(unsafe_code, reason = "a record is memory that kernels write")]

use super::*;
use kernpack_kernel_ir::assert_record::AssertRecord;
use kernpack_tests::alone::alone;
use kernpack_tests::cuda_host::{GLOBAL, Host};
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::Ordering;

const FILE: &str = r#"
import kernpack as kp

@kp.kernel
def check(x):
    i = kp.thread_idx()[0]
    assert x[i] > 0, f"x[{i}] is {x[i]}"

@kp.kernel
def fill(x):
    x[kp.thread_idx()[0]] = 1.0

@kp.jit("checked(x: Tensor([n], float32), again: bool)")
def checked(x, again):
    check(x).launch(grid=1, block=32)
    if again:
        check(x).launch(grid=2, block=32)

@kp.jit("filled(x: Tensor([n], float32, mut))")
def filled(x):
    fill(x).launch(grid=1, block=32)
"#;

/// The texts that a kernel writes.
const TEXT: &[u8] = b"check\0a.py:7\0sf\0x[\0] is \0\0";
const TOLD: &str = "RuntimeError: assertion failed in kernel `check`, a.py:7, block (1, 2, 3), thread (4, 5, 6): \
     x[-7] is 0.25";
const BY_CALL: &str = "; an earlier call launched the kernel, and this one launches nothing";

fn told_by_call() -> Result<(), String> {
    Err(format!("{TOLD}{BY_CALL}"))
}

fn package() -> &'static GpuPackage {
    static BUILT: LazyLock<GpuPackage> =
        LazyLock::new(|| GpuPackage::of_kernels(Path::new(""), "a.py", FILE));
    &BUILT
}

fn scene() -> (Stub, Loaded) {
    default_stream();
    let stub = Stub::load("devices 2");
    let host = Host::new();
    host.set_current(host.primary(0));
    (stub, package().load())
}

fn checked(loaded: &Loaded, device: i32) -> Result<(), String> {
    loaded.call("checked", &[tensor(4, device), Value::Bool(0)])
}

fn synchronize(loaded: &Loaded) -> Result<(), String> {
    loaded.call("kernpack_synchronize_a", &[])
}

/// The records that the launches of a log passed: their last arguments.
fn records(log: &[Json]) -> Vec<usize> {
    let launches = kernpack_tests::cuda_stub::launched(log);
    let passed = launches.into_iter().map(|launch| {
        let arguments = launch["arguments"].as_array().expect("a list");
        let bytes = arguments.last().expect("a record")["bytes"].as_str().expect("bytes");
        let digits = bytes.as_bytes().chunks(2).rev().map(|pair| str::from_utf8(pair).unwrap());
        usize::from_str_radix(&digits.collect::<String>(), 16).unwrap()
    });
    passed.collect()
}

/// Calls, and finds the record that is passed.
fn record_of(stub: &Stub, loaded: &Loaded, device: i32) -> usize {
    stub.take_log();
    assert_eq!(checked(loaded, device), Ok(()));
    records(&stub.take_log())[0]
}

/// Fails as a thread of the kernel would.
fn fail(record: usize) {
    fail_with(record, TEXT, &[-7_i64 as u64, 0.25_f64.to_bits()]);
}

/// The same with texts and values of its own.
fn fail_with(record: usize, text: &[u8], values: &[u64]) {
    let record: *mut AssertRecord = std::ptr::with_exposed_provenance_mut(record);
    // SAFETY: it is a record, and nobody else writes to it now.
    let record = unsafe { &mut *record };
    let number = record.told.0.load(Ordering::Acquire);
    assert_eq!(record.written.load(Ordering::Acquire), number);
    (record.block, record.thread) = ([1, 2, 3], [4, 5, 6]);
    record.values[..values.len()].copy_from_slice(values);
    record.text[..text.len()].copy_from_slice(text);
    record.written.store(number + 1, Ordering::Release);
}

#[test]
fn the_next_call_raises_a_failure_once_and_launches_nothing() {
    let (stub, loaded) = scene();
    let record = record_of(&stub, &loaded, 0);
    for _ in 0..2 {
        fail(record);
        stub.take_log();
        assert_eq!(checked(&loaded, 0), told_by_call());
        assert!(records(&stub.take_log()).is_empty());
        assert_eq!(checked(&loaded, 0), Ok(()));
        assert_eq!(records(&stub.take_log()), [record], "the same is passed each time");
    }
}

/// Each as its class has it, between the pieces of the message.
#[test]
fn values_are_told_by_their_classes() {
    let (stub, loaded) = scene();
    let record = record_of(&stub, &loaded, 0);
    let told = |text: &[u8], values: &[u64]| {
        fail_with(record, text, values);
        let message = synchronize(&loaded).unwrap_err();
        assert_eq!(synchronize(&loaded), Ok(()));
        let (head, told) = message.split_once(": assertion failed in kernel `k`").unwrap();
        assert_eq!(head, "RuntimeError");
        told.replace(", block (1, 2, 3), thread (4, 5, 6)", "~")
    };
    let text = b"k\0k.py:1\0subb\0a\0b\0c\0d\0e\0";
    let values = [i64::MIN as u64, u64::MAX, 0, 1];
    let all = ", k.py:1~: a-9223372036854775808b18446744073709551615cfalsedtruee";
    assert_eq!(told(text, &values), all);
    assert_eq!(told(text, &[7, 7, 2, 0]), ", k.py:1~: a7b7ctruedfalsee");
    let floats = [0.1, -0.0, f64::INFINITY, f64::NAN].map(f64::to_bits);
    assert_eq!(told(b"k\0k.py:1\0ffff\0\0 \0 \0 \0\0", &floats), ", k.py:1~: 0.1 -0.0 inf nan");
    // Of code without lines there is no place.
    assert_eq!(told(b"k\0\0\0no values\0", &[]), "~: no values");
}

/// Texts that end nowhere are told as far as they are whole.
#[test]
fn a_text_without_an_end_is_empty() {
    let (stub, loaded) = scene();
    let record = record_of(&stub, &loaded, 0);
    let mut text = [b'x'; kernpack_kernel_ir::assert_record::TEXT_BYTES];
    let head = b"k\0k.py:1\0ss\0said\0";
    text[..head.len()].copy_from_slice(head);
    fail_with(record, &text, &[1, 2]);
    let place =
        "RuntimeError: assertion failed in kernel `k`, k.py:1, block (1, 2, 3), thread (4, 5, 6)";
    assert_eq!(synchronize(&loaded), Err(format!("{place}: said12")));
}

#[test]
fn any_function_of_the_package_raises_it() {
    let (stub, loaded) = scene();
    let record = record_of(&stub, &loaded, 0);
    fail(record);
    assert_eq!(loaded.call("filled", &[tensor(4, 0)]), told_by_call());
    assert_eq!(loaded.call("filled", &[tensor(4, 0)]), Ok(()));
}

#[test]
fn a_refused_call_raises_what_it_is_refused_for() {
    let (stub, loaded) = scene();
    fail(record_of(&stub, &loaded, 0));
    let refused = loaded.call("checked", &[Value::Int(1), Value::Bool(0)]).unwrap_err();
    assert!(refused.starts_with("TypeError: Mismatched type on argument #0"), "{refused}");
    assert_eq!(checked(&loaded, 0), told_by_call());
}

#[test]
fn each_device_has_a_record_of_its_own() {
    let (stub, loaded) = scene();
    let records = [0, 1].map(|device| record_of(&stub, &loaded, device));
    assert_ne!(records[0], records[1]);
    fail(records[1]);
    assert_eq!(checked(&loaded, 0), Ok(()));
    assert_eq!(checked(&loaded, 1), told_by_call());
}

#[test]
fn all_launches_of_a_call_and_those_by_graphs_have_it() {
    let (stub, loaded) = scene();
    let record = record_of(&stub, &loaded, 0);
    for _ in 0..12 {
        stub.take_log();
        loaded.call("checked", &[tensor(4, 0), Value::Bool(1)]).unwrap();
        assert_eq!(records(&stub.take_log()), [record; 2]);
    }
}

#[test]
fn synchronizing_waits_and_raises() {
    let (stub, loaded) = scene();
    assert_eq!(synchronize(&loaded), Ok(()));
    assert!(calls(&stub.take_log(), "cuCtxSynchronize").is_empty(), "there is nothing to wait for");
    let records = [0, 1].map(|device| record_of(&stub, &loaded, device));
    assert_eq!(synchronize(&loaded), Ok(()));
    assert_eq!(calls(&stub.take_log(), "cuCtxSynchronize").len(), 2);
    fail(records[1]);
    assert_eq!(synchronize(&loaded), Err(TOLD.to_string()));
    assert_eq!(synchronize(&loaded), Ok(()));
    let host = Host::new();
    assert_eq!(host.current(), host.primary(0), "the caller's context is current again");
}

#[test]
fn prepared_calls_raise_it_too() {
    let (stub, loaded) = scene();
    let prepared = prepare(&loaded, "checked", &[tensor(4, 0), Value::Bool(0)]);
    for n in 0..40 {
        stub.take_log();
        assert_eq!(launch(&prepared), Ok(()), "{n}");
        let record = records(&stub.take_log())[0];
        if n % 3 == 0 {
            fail(record);
            assert_eq!(launch(&prepared), told_by_call(), "{n}");
            assert!(records(&stub.take_log()).is_empty(), "{n}");
        }
    }
}

#[test]
fn of_several_threads_one_is_told() {
    let (stub, loaded) = scene();
    let record = record_of(&stub, &loaded, 0);
    const N_THREADS: usize = 4;
    for _ in 0..20 {
        fail(record);
        let barrier = Barrier::new(N_THREADS);
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let call = || {
                default_stream();
                barrier.wait();
                checked(&loaded, 0)
            };
            let threads: Vec<_> = (0..N_THREADS).map(|_| scope.spawn(call)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let told: Vec<_> = outcomes.into_iter().filter(Result::is_err).collect();
        assert_eq!(told, [told_by_call()]);
    }
}

/// Each makes one while the other ones do: one stays.
#[test]
fn of_several_threads_that_make_the_record_one_does() {
    const N_THREADS: usize = 4;
    default_stream();
    let stub = Stub::load("devices 1\ndelay cuMemHostRegister_v2 20");
    let loaded = package().load();
    let barrier = Barrier::new(N_THREADS);
    std::thread::scope(|scope| {
        for _ in 0..N_THREADS {
            scope.spawn(|| {
                default_stream();
                barrier.wait();
                assert_eq!(checked(&loaded, 0), Ok(()));
            });
        }
    });
    let log = stub.take_log();
    let [made, given_back] =
        ["cuMemHostRegister_v2", "cuMemHostUnregister"].map(|name| calls(&log, name).len());
    assert_eq!(made - given_back, 1, "{made} were made");
    let passed = records(&log);
    assert_eq!(passed, vec![passed[0]; N_THREADS]);
}

/// Kernels of every context see it: `CU_MEMHOSTREGISTER_PORTABLE` and `_DEVICEMAP`.
#[test]
fn the_record_is_seen_by_all() {
    let (stub, loaded) = scene();
    assert_eq!(checked(&loaded, 0), Ok(()));
    let log = stub.take_log();
    let [registered] = &calls(&log, "cuMemHostRegister_v2")[..] else { panic!("{log:?}") };
    assert_eq!(registered["args"]["flags"], 3, "{registered}");
    assert!(registered["args"]["size"].as_u64().unwrap() as usize >= size_of::<AssertRecord>());
    let [asked] = &calls(&log, "cuMemHostGetDevicePointer_v2")[..] else { panic!("{log:?}") };
    assert_eq!(asked["args"]["flags"], 0, "{asked}");
    let [record] = records(&log)[..] else { panic!("{log:?}") };
    // The stub's device has the host's addresses.
    fail(record);
    assert_eq!(checked(&loaded, 0), told_by_call());
}

/// The record is made in the first call, which may be captured.
#[test]
fn a_captured_call_passes_the_record() {
    let (stub, loaded) = scene();
    let host = Host::new();
    let stream = host.stream();
    fake_ffi::set_stream(stream);
    host.begin_capture(stream, GLOBAL);
    let record = record_of(&stub, &loaded, 0);
    assert_eq!(host.capturing(stream), 1, "nothing spoils the capture");
    assert_eq!(host.end_capture(stream), 0);
    fail(record);
    assert_eq!(checked(&loaded, 0), told_by_call());
}

#[test]
fn loading_ahead_makes_the_record() {
    let (stub, loaded) = scene();
    loaded.call("kernpack_preload_a", &[Value::Int(0)]).unwrap();
    stub.take_log();
    assert_eq!(checked(&loaded, 0), Ok(()));
    assert!(calls(&stub.take_log(), "cuMemHostRegister_v2").is_empty());
}

/// What was seen by kernels stays where it is behind a reset.
#[test]
fn a_reset_leaves_the_record_readable() {
    let (stub, loaded) = scene();
    fail(record_of(&stub, &loaded, 0));
    Host::new().reset(0);
    assert!(checked(&loaded, 0).unwrap_err().starts_with(TOLD));
}

/// Whether the process has memory there.
fn is_mapped(address: usize) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().any(|line| {
        let (range, _) = line.split_once(' ').unwrap();
        let (start, end) = range.split_once('-').unwrap();
        let [start, end] = [start, end].map(|at| usize::from_str_radix(at, 16).unwrap());
        (start..end).contains(&address)
    })
}

/// It goes behind a reset, too, when the driver no longer knows of it, and not while the driver may
/// still write there.
#[test]
fn the_record_goes_with_the_package() {
    if !alone("asserts::the_record_goes_with_the_package", &[]) {
        return;
    }
    for (ends, stays) in [
        ((|_| {}) as fn(&Stub), false),
        (|_| Host::new().reset(0), false),
        (|stub| stub.fail("cuMemHostUnregister", 1, 700), true),
    ] {
        let (stub, loaded) = scene();
        let record = record_of(&stub, &loaded, 0);
        ends(&stub);
        assert!(is_mapped(record));
        drop(loaded);
        assert_eq!(calls(&stub.take_log(), "cuMemHostUnregister").len(), 1);
        assert_eq!(is_mapped(record), stays);
    }
}

#[test]
fn what_the_driver_refuses_is_raised_and_tried_again() {
    let refused = "RuntimeError: CUDA Error: cudaErrorMemoryAllocation (2, CUDA_ERROR_OUT_OF_MEMORY) \
                   making memory for failed assertions seen by device 0 when calling: \
                   `checked(x: Tensor([n], float32), again: bool)`: out of memory; free memory on the device";
    for function in ["cuMemHostRegister_v2", "cuMemHostGetDevicePointer_v2"] {
        let (stub, loaded) = scene();
        stub.fail(function, 1, 2);
        stub.take_log();
        assert_eq!(checked(&loaded, 0), Err(refused.to_string()), "{function}");
        let log = stub.take_log();
        assert_eq!(
            calls(&log, "cuMemHostUnregister").len(),
            1,
            "nothing is left of it: {function}"
        );
        assert_eq!(checked(&loaded, 0), Ok(()), "{function}");
        drop(loaded);
        let released = calls(&stub.take_log(), "cuMemHostUnregister");
        assert_eq!(released.len(), 1, "{function}");
    }
    let (stub, loaded) = scene();
    record_of(&stub, &loaded, 0);
    stub.fail("cuCtxSynchronize", 1, 700);
    let failed = synchronize(&loaded).unwrap_err();
    assert!(
        failed.contains(
            "cudaErrorIllegalAddress (700, CUDA_ERROR_ILLEGAL_ADDRESS) waiting for device 0"
        ),
        "{failed}"
    );
}

#[test]
fn a_package_without_assertions_has_none_of_it() {
    let file = FILE.replace("    assert ", "    #");
    let package = GpuPackage::of_kernels(Path::new(""), "b.py", &file);
    default_stream();
    let stub = Stub::load("devices 1");
    let loaded = package.load();
    assert_eq!(checked(&loaded, 0), Ok(()));
    let log = stub.take_log();
    let launch = &kernpack_tests::cuda_stub::launched(&log)[0]["arguments"];
    assert_eq!(launch.as_array().unwrap().len(), 0);
    assert!(calls(&log, "cuMemHostRegister_v2").is_empty());
}
