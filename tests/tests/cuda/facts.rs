// SPDX-License-Identifier: Apache-2.0
//! What launches ask of the device, `device.sm_count` and the like: for the right one, once, and
//! with an error where it does not tell. The plan's interpreter is asked the same, of a memory that
//! asks the driver itself.

use super::*;
use kernpack_ffi_abi::{Memory, Width};
use kernpack_package::{Function, WrittenLaunch, package_file};
use kernpack_tests::cuda_host::Host;
use kernpack_tests::cuda_stub;
use kernpack_tests::gpu_package::outcome;
use kernpack_tests::memory::Arguments;
use kernpack_tests::value::Arrival;
use kernpack_validators::Plan;
use kernpack_validators::plan::{Outcome, interpret};
use std::cell::RefCell;

const FUNCTION: &str = r#"
[package]
name = "facts"
[[function]]
signature = "f(n: int64, x: Optional[Tensor([m], float32)] = None)"
[[function.launch]]
when = "device.cc >= 90"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["device.cc: int32"]
grid = ["min(n, 4*device.sm_count)"]
block = [32]
smem = "device.smem_optin - 1024"
[[function.launch]]
when = "device.cc < 90"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
grid = [1]
block = ["device.cc"]
"#;

fn load() -> Loaded {
    static BUILT: LazyLock<GpuPackage> = LazyLock::new(|| build(FUNCTION, PTX));
    default_stream();
    BUILT.load()
}

/// Grid, block, shared memory and the bytes of the first argument of each launch.
fn launches(stub: &Stub) -> Vec<String> {
    let log = stub.take_log();
    calls(&log, "cuLaunchKernelEx").iter().map(|call| call["launch"].to_string()).collect()
}

const TWO: &str = "devices 2\ndevice 1 compute 8.6\ndevice 1 attribute 16 84";

#[test]
fn the_facts_are_those_of_the_calls_device() {
    let stub = Stub::load(TWO);
    let loaded = load();
    for (n, device, parts) in [
        (1000, 0, ["\"grid\":[528,1,1]", "\"block\":[32,1,1]", "\"shared\":231424"]),
        (7, 0, ["\"grid\":[7,1,1]", "\"block\":[32,1,1]", "\"shared\":231424"]),
        (7, 1, ["\"grid\":[1,1,1]", "\"block\":[86,1,1]", "\"shared\":0"]),
    ] {
        loaded.call("f", &[Value::Int(n), tensor(4, device)]).unwrap();
        let launched = launches(&stub);
        assert_eq!(launched.len(), 1);
        for part in parts {
            assert!(launched[0].contains(part), "{part} in {}", launched[0]);
        }
    }
}

#[test]
fn a_device_is_asked_once() {
    let stub = Stub::load(TWO);
    let loaded = load();
    let asked = |stub: &Stub| calls(&stub.take_log(), "cuDeviceGetAttribute").len();
    loaded.call("f", &[Value::Int(1), tensor(4, 0)]).unwrap();
    assert!(asked(&stub) > 0);
    loaded.call("f", &[Value::Int(2), tensor(4, 0)]).unwrap();
    assert_eq!(asked(&stub), 0);
}

#[test]
fn without_a_tensor_the_current_device_is_asked() {
    let stub = Stub::load(TWO);
    let loaded = load();
    let error = loaded.call("f", &[Value::Int(1)]).unwrap_err();
    assert_eq!(
        error,
        "RuntimeError: CUDA Error: cudaErrorDeviceUninitialized (201, CUDA_ERROR_INVALID_CONTEXT) asking for the current device \
         when calling: `f(n: int64, x: Optional[Tensor([m], float32)])`: no tensor tells the device, and no CUDA context is current"
    );
    let host = Host::new();
    host.set_current(host.primary(1));
    loaded.call("f", &[Value::Int(1)]).unwrap();
    assert!(launches(&stub)[0].contains("\"block\":[86,1,1]"));
}

/// No argument can tell a device. The facts, the launch and the numbers beside them are those of
/// the current one all the same.
#[test]
fn a_function_without_tensors_runs_on_the_current_device() {
    let text = r#"
[package]
name = "bare"
[[function]]
signature = "f(n: int64)"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["max(n, -1): int32"]
launch = { grid = ["min(max(n, -1), device.sm_count)"], block = [32] }
"#;
    let stub = Stub::load(TWO);
    let loaded = build(text, PTX).load();
    default_stream();
    let host = Host::new();
    host.set_current(host.primary(1));
    loaded.call("f", &[Value::Int(1000)]).unwrap();
    let launch = &calls(&stub.take_log(), "cuLaunchKernelEx")[0]["launch"];
    assert_eq!((&launch["device"], &launch["config"]["grid"][0]), (&1.into(), &84.into()));
    let error = loaded.call("f", &[Value::Int(-5)]).unwrap_err();
    assert!(error.ends_with("expected to be in range [0, 2147483647], got -1"), "{error}");
}

#[test]
fn a_check_that_a_fact_fails_prints_it() {
    let stub = Stub::load("devices 1\ndevice 0 attribute 97 512");
    let loaded = load();
    let error = loaded.call("f", &[Value::Int(1), tensor(4, 0)]).unwrap_err();
    assert_eq!(
        error,
        "ValueError: Out of bound launch smem `device.smem_optin - 1024` when calling: \
         `f(n: int64, x: Optional[Tensor([m], float32)])`, expected to be in range [0, 2147483647], got -512"
    );
    drop(stub);
}

#[test]
fn a_device_that_does_not_tell_is_an_error_and_asked_again() {
    let stub = Stub::load("devices 1");
    let loaded = load();
    for nth in 1..=4 {
        stub.fail("cuDeviceGetAttribute", nth, 3);
        let error = loaded.call("f", &[Value::Int(1), tensor(4, 0)]).unwrap_err();
        assert!(error.contains("cudaErrorInitializationError (3, "), "{error}");
        assert!(error.contains(" using device 0"), "{error}");
    }
    loaded.call("f", &[Value::Int(1), tensor(4, 0)]).unwrap();
    let error = loaded.call("f", &[Value::Int(1), tensor(4, 70)]).unwrap_err();
    assert!(error.contains("using device 70 when calling: `f("), "{error}");
    assert!(error.ends_with(": there are 1 devices, numbered from 0"), "{error}");
}

/// Packages know of 64 devices: another is refused before it is asked anything.
#[test]
fn devices_are_numbered_below_64() {
    let stub = Stub::load("devices 65");
    let loaded = load();
    loaded.call("f", &[Value::Int(1), tensor(4, 63)]).unwrap();
    stub.take_log();
    let error = loaded.call("f", &[Value::Int(1), tensor(4, 64)]).unwrap_err();
    assert!(error.contains("(101, CUDA_ERROR_INVALID_DEVICE) using device 64"), "{error}");
    assert!(calls(&stub.take_log(), "cuDeviceGetAttribute").is_empty());
}

/// A call's arguments, and what the driver tells of its devices.
struct Asking<'a> {
    arguments: Arguments,
    host: &'a Host,
    told: RefCell<Vec<[i64; 3]>>,
}

/// Where that lies: at addresses that no argument has.
const TOLD: u64 = 1 << 60;

impl Memory for Asking<'_> {
    fn load(&self, address: u64, width: Width) -> Option<i64> {
        let Some(offset) = address.checked_sub(TOLD) else {
            return self.arguments.load(address, width);
        };
        assert_eq!((width, offset % 8), (Width::I64, 0), "a fact is an integer");
        self.told.borrow().as_flattened().get(offset as usize / 8).copied()
    }

    fn device(&self, number: Option<i64>) -> Option<u64> {
        let device = match number {
            None => self.host.current_device()?,
            Some(number) => i32::try_from(number).ok()?,
        };
        let ask = |attribute| self.host.attribute(attribute, device).map(i64::from);
        let facts = [ask(16)?, ask(97)?, 10 * ask(75)? + ask(76)?];
        let mut told = self.told.borrow_mut();
        told.push(facts);
        Some(TOLD + 24 * (told.len() as u64 - 1))
    }
}

fn facts_plan() -> Plan {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.ptx"), PTX).unwrap();
    let package = package_file::parse(FUNCTION, folder.path()).unwrap();
    let written = &package.functions[0];
    let launches = written.launches.iter().map(|launch| match launch {
        WrittenLaunch::Whole(launch) => launch.clone(),
        launch => panic!("{launch:?}"),
    });
    let launches = launches.collect();
    Function { launches, ..Function::new(written.signature.clone()) }.plan().unwrap()
}

/// Number and argument of each launch: the first has blocks of 32 threads.
fn launched(stub: &Stub) -> Vec<(usize, Vec<Option<i64>>)> {
    let number = |launch: &Json| usize::from(launch["config"]["block"][0] != 32);
    let value = |launch: &Json| {
        let digits = launch["arguments"][0]["bytes"].as_str().unwrap();
        i64::from(u32::from_str_radix(digits, 16).unwrap().swap_bytes() as i32)
    };
    let log = stub.take_log();
    let launches = cuda_stub::launched(&log).into_iter();
    launches.map(|launch| (number(launch), vec![Some(value(launch))])).collect()
}

/// What a call came to, of the interpreter and of compiled code: what was launched, or the error;
/// nothing where a device does not tell.
type Came = Option<Result<Vec<(usize, Vec<Option<i64>>)>, String>>;

fn interpreted(plan: &Plan, host: &Host, values: &[Value]) -> Came {
    let arguments = Arguments::new(values, Arrival::DLTensor);
    let (address, count) = (arguments.address(), arguments.count());
    let memory = Asking { arguments, host, told: RefCell::default() };
    match interpret(plan, &memory, address, count) {
        Outcome::Accepted(accepted) => Some(Ok(accepted.launches)),
        Outcome::Refused(refused) => Some(Err(format!("{}: {}", refused.kind, refused.message))),
        Outcome::NoDevice => None,
        Outcome::Unreadable(address) => panic!("{address:#x} cannot be read"),
    }
}

#[test]
fn interpreted_and_compiled_calls_ask_alike() {
    let stub = Stub::load(
        "devices 4\ndevice 1 compute 8.6\ndevice 1 attribute 16 84\ndevice 2 attribute 97 512",
    );
    let (loaded, plan, host) = (load(), facts_plan(), Host::new());
    let expect_alike = |values: &[Value]| {
        let came = interpreted(&plan, &host, values);
        stub.take_log();
        let compiled = match loaded.call("f", values) {
            Ok(()) => Some(Ok(launched(&stub))),
            Err(error) if error.starts_with("RuntimeError: CUDA Error: ") => None,
            Err(error) => Some(Err(error)),
        };
        assert_eq!(compiled, came, "{values:?}");
        came
    };
    assert_eq!(expect_alike(&[Value::Int(1)]), None, "no context is current");
    host.set_current(host.primary(1));
    let (mut n_launched, mut n_refused) = (0, 0);
    for n in [1000, 7, 1, 0, -1, 1 << 31, i64::MIN] {
        for device in [None, Some(0), Some(1), Some(2), Some(4)] {
            let tensor = device.map_or(Value::None, |device| tensor(4, device));
            match expect_alike(&[Value::Int(n), tensor]) {
                Some(Ok(launches)) => n_launched += launches.len(),
                Some(Err(_)) => n_refused += 1,
                None => assert_eq!(device, Some(4), "there are 4"),
            }
        }
    }
    // Device 0 launches 1000, 7, 1 and 2^31, device 1, which is the current one too, all that fit
    // 32 bits; device 2 has too little memory.
    assert_eq!((n_launched, n_refused), (4 + 2 * 5, 2 + 2 * 2 + 7));
    for values in [vec![], vec![Value::Float(0.5), tensor(4, 4)]] {
        assert!(matches!(expect_alike(&values), Some(Err(_))), "refused before anything is asked");
    }
    stub.fail("cuDeviceGetAttribute", 0, 3);
    assert_eq!(expect_alike(&[Value::Int(1), tensor(4, 3)]), None, "it does not tell");
}

#[test]
fn a_plan_asks_once_and_behind_the_arguments() {
    let text = facts_plan().to_string();
    let (before, behind) = text.split_once("\n  ask device select(").unwrap();
    for fact in ["device.cc", "device.sm_count", "device.smem_optin"] {
        assert!(!before.contains(fact), "{text}");
        assert!(behind.contains(&format!("{{{fact}}}")), "{text}");
    }
    assert!(!behind.contains("ask device"), "{text}");
    assert!(!behind.contains("on argument"), "{text}");
    let launches: Vec<_> = behind.lines().filter(|line| line.starts_with("  launch ")).collect();
    let n_blocks = "select(n < (4 * device.sm_count), n, 4 * device.sm_count)";
    let first = format!(
        "  launch 0(device.cc) on [{n_blocks}, 1, 1] of [32, 1, 1], shared memory device.smem_optin - 1024 when 90 <= device.cc"
    );
    let second = "  launch 1(n) on [1, 1, 1] of [device.cc, 1, 1] when device.cc < 90";
    assert_eq!(launches, [&first[..], second]);
}

/// What was asked of a device is true of that one: without a tensor, it is the one that was current
/// when the call was prepared.
#[test]
fn a_prepared_call_keeps_to_the_device_that_was_asked() {
    let stub = Stub::load(TWO);
    let loaded = load();
    let host = Host::new();
    host.set_current(host.primary(0));
    let arguments = Arguments::new(&[Value::Int(1000), Value::None], Arrival::Tensor);
    let (status, prepared) = loaded.invoke("kernpack_prepare_f", &arguments);
    outcome(status).0.unwrap();
    stub.take_log();
    let one = host.primary(1);
    host.set_current(one);
    outcome(fake_ffi::call_result(&prepared, &[])).0.unwrap();
    assert_eq!(host.current(), one);
    let log = stub.take_log();
    let launch = &calls(&log, "cuLaunchKernelEx")[0]["launch"];
    assert_eq!(
        (&launch["device"], &launch["config"]["grid"][0]),
        (&0.into(), &528.into()),
        "{launch}"
    );
    fake_ffi::drop_result(&prepared);
}
