// SPDX-License-Identifier: Apache-2.0
//! Initialisation, devices and contexts.

use crate::stub::{DEVICE_0, DEVICE_1, NULL_STREAM, Stub, address, got, handle, text};
use kernpack_cuda_stub::argument::{Address, Characters, ContextParameters, Out, Text};
use kernpack_cuda_stub::c_types::{
    CUcontext, CUdevice, CUdeviceptr, CUdriverProcAddressQueryResult, CUstream, ContextId,
};
use kernpack_cuda_stub::status::Status;
use std::ffi::CStr;
use std::ptr::null_mut;

fn current(stub: &Stub) -> CUcontext {
    handle(CUcontext, |out| stub.cuCtxGetCurrent(out)).expect("it is initialised")
}

fn attribute(stub: &Stub, attribute: u32, device: CUdevice) -> Result<i32, Status> {
    got(|out| stub.cuDeviceGetAttribute(out, attribute, device))
}

fn own(stub: &Stub, device: CUdevice) -> CUcontext {
    let none = ContextParameters(null_mut());
    handle(CUcontext, |out| stub.cuCtxCreate_v4(out, none, 0, device)).expect("a device")
}

#[test]
fn nothing_works_before_init() {
    let stub = Stub::fresh("");
    let before = Status::NOT_INITIALIZED;
    assert_eq!(got(|out| stub.cuDeviceGetCount(out)), Err(before));
    assert_eq!(handle(CUcontext, |out| stub.cuCtxGetCurrent(out)), Err(before));
    assert_eq!(stub.cuStreamSynchronize(NULL_STREAM), before);
    assert_eq!(stub.load("KPSTUB sm_90"), Err(before));
    assert_eq!(got(|out| stub.cuDriverGetVersion(out)), Ok(13000));
    assert_eq!(stub.cuInit(1), Status::INVALID_VALUE);
    assert_eq!(stub.cuInit(0), Status::SUCCESS);
    assert_eq!(got(|out| stub.cuDeviceGetCount(out)), Ok(2));
    assert_eq!(Stub::drop_and_fresh(stub, "devices 0").cuInit(0), Status::NO_DEVICE);
}

impl Stub {
    fn drop_and_fresh(stub: Stub, config: &str) -> Stub {
        drop(stub);
        Stub::fresh(config)
    }
}

#[test]
fn the_child_of_a_fork_has_no_driver() {
    unsafe extern "C" {
        fn fork() -> i32;
        fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
        fn _exit(status: i32) -> !;
    }
    let (stub, _) = Stub::ready("");
    // SAFETY: The child only calls the stub, which takes no lock there, and ends at once.
    let child = unsafe { fork() };
    if child == 0 {
        let is_gone = [stub.cuInit(0), stub.cuCtxSynchronize(), stub.cuCtxSetCurrent(CUcontext(0))];
        let is_right = is_gone == [Status::NOT_INITIALIZED; 3]
            && got(|out| stub.cuDriverGetVersion(out)) == Ok(13000);
        // SAFETY: Nothing of the parent's is to be cleaned up.
        unsafe { _exit(i32::from(!is_right)) };
    }
    let mut status = -1;
    // SAFETY: The child is ours, and the status is an int.
    assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    assert_eq!(stub.cuCtxSynchronize(), Status::SUCCESS);
}

#[test]
fn devices_are_what_the_configuration_says() {
    let config = "devices 3\ndevice 1 compute 10.3\ndevice 1 name A GPU\ndevice 2 attribute 16 7";
    let (stub, _) = Stub::ready(config);
    assert_eq!(attribute(&stub, 75, DEVICE_0), Ok(9));
    assert_eq!(attribute(&stub, 97, DEVICE_0), Ok(232_448));
    assert_eq!(attribute(&stub, 16, DEVICE_0), Ok(132));
    assert_eq!(attribute(&stub, 75, DEVICE_1), Ok(10));
    assert_eq!(attribute(&stub, 76, DEVICE_1), Ok(3));
    assert_eq!(attribute(&stub, 16, CUdevice(2)), Ok(7));
    assert_eq!(attribute(&stub, 0, DEVICE_0), Err(Status::INVALID_VALUE));
    assert_eq!(attribute(&stub, 9999, DEVICE_0), Err(Status::INVALID_VALUE));
    assert_eq!(attribute(&stub, 16, CUdevice(3)), Err(Status::INVALID_DEVICE));
    let device = |ordinal| {
        let mut device = CUdevice(7);
        (stub.cuDeviceGet(Out(&mut device), ordinal), device.0)
    };
    assert_eq!(device(2), (Status::SUCCESS, 2));
    assert_eq!(device(-1), (Status::INVALID_DEVICE, 7));
    let mut name = [1u8; 4];
    let place = Characters(name.as_mut_ptr().cast());
    assert_eq!(stub.cuDeviceGetName(place, 4, DEVICE_1), Status::SUCCESS);
    assert_eq!(&name, b"A G\0");
}

#[test]
fn codes_have_names_and_texts() {
    let stub = Stub::fresh("");
    let say = |status, function: fn(&Stub, Status, Out<Text>) -> Status| {
        let mut text = Text(std::ptr::dangling());
        let result = function(&stub, status, Out(&mut text));
        // SAFETY: The stub writes NULL or a constant text.
        let words = (!text.0.is_null()).then(|| unsafe { CStr::from_ptr(text.0) });
        (result, words)
    };
    let launch_failed = Status::LAUNCH_FAILED;
    let name = (Status::SUCCESS, Some(c"CUDA_ERROR_LAUNCH_FAILED"));
    assert_eq!(say(launch_failed, Stub::cuGetErrorName), name);
    let words = (Status::SUCCESS, Some(c"unspecified launch failure"));
    assert_eq!(say(launch_failed, Stub::cuGetErrorString), words);
    assert_eq!(say(Status(12345), Stub::cuGetErrorName), (Status::INVALID_VALUE, None));
}

#[test]
fn functions_are_found_by_plain_name_and_version() {
    let stub = Stub::fresh("");
    let find = |name, version| {
        let (mut function, mut found) = (Address(null_mut()), CUdriverProcAddressQueryResult(9));
        let place = (Out(&mut function), Out(&mut found));
        let status = stub.cuGetProcAddress_v2(text(name), place.0, version, 0, place.1);
        (status, function.0 as usize, found.0)
    };
    let missing = |answer| (Status::NOT_FOUND, 0, answer);
    assert_eq!(find("cuNothing", 13000), missing(1));
    assert_eq!(find("cuCtxCreate", 12000), missing(2));
    // Callers that say 12.5 or later get another function than those before: this is so in the real
    // driver.
    assert_ne!(find("cuStreamGetCtx", 12000), find("cuStreamGetCtx", 13000));
    assert_eq!(find("cuMemAlloc", 12000), find("cuMemAlloc_v2", 13000));
    assert_eq!(find("cuGraphInstantiate", 12000), find("cuGraphInstantiateWithFlags", 11040));
    for name in ["cuGraphInstantiate", "cuGraphAddKernelNode", "cuGraphExecKernelNodeSetParams"] {
        assert_eq!((find(name, 12000).0, find(name, 11080)), (Status::SUCCESS, missing(2)));
    }
    for name in ["cuCtxGetId", "cuStreamGetId", "cuGraphLaunch", "cuDevicePrimaryCtxReset"] {
        assert_eq!(find(name, 12000).0, Status::SUCCESS, "{name}");
    }
    let (status, address, found) = find("cuInit", 13000);
    assert_eq!((status, found), (Status::SUCCESS, 0));
    // SAFETY: This is cuInit, which takes a number.
    let init: extern "C" fn(u32) -> Status = unsafe { std::mem::transmute(address) };
    assert_eq!(init(0), Status::SUCCESS);
    assert_eq!(got(|out| stub.cuDeviceGetCount(out)), Ok(2));
}

#[test]
fn each_thread_has_a_stack_of_contexts() {
    let (stub, context) = Stub::ready("");
    let other = stub.primary(DEVICE_1);
    assert_ne!(context, other);
    assert_eq!(stub.cuCtxPushCurrent_v2(other), Status::SUCCESS);
    let device = || {
        let mut device = CUdevice(-1);
        (stub.cuCtxGetDevice(Out(&mut device)), device.0)
    };
    assert_eq!(device(), (Status::SUCCESS, 1));
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(current(&stub), CUcontext(0)));
    });
    let pop = || handle(CUcontext, |out| stub.cuCtxPopCurrent_v2(out));
    assert_eq!(pop(), Ok(other));
    assert_eq!((current(&stub), device()), (context, (Status::SUCCESS, 0)));
    assert_eq!(stub.cuCtxSetCurrent(other), Status::SUCCESS);
    assert_eq!(pop(), Ok(other));
    assert_eq!(pop(), Err(Status::INVALID_CONTEXT));
    assert_eq!(stub.cuCtxSetCurrent(CUcontext(0)), Status::SUCCESS);
    assert_eq!(device(), (Status::INVALID_CONTEXT, -1));
    assert_eq!(stub.cuCtxSynchronize(), Status::INVALID_CONTEXT);
    assert_eq!(stub.cuCtxPushCurrent_v2(CUcontext(0)), Status::INVALID_VALUE);
    // The real driver follows such a handle.
    assert_eq!(stub.cuCtxSetCurrent(CUcontext(0x1230)), Status::INVALID_CONTEXT);
}

#[test]
fn a_primary_context_lives_as_long_as_it_is_held() {
    let (stub, context) = Stub::ready("");
    assert_eq!(stub.primary(DEVICE_0), context);
    let release = || stub.cuDevicePrimaryCtxRelease_v2(DEVICE_0);
    let is_active = || got(|active| stub.cuDevicePrimaryCtxGetState(DEVICE_0, Out(&mut 0), active));
    let stream = stub.stream(1);
    assert_eq!((release(), is_active()), (Status::SUCCESS, Ok(1)));
    assert_eq!((release(), is_active()), (Status::SUCCESS, Ok(0)));
    assert_eq!(release(), Status::INVALID_CONTEXT);
    assert_eq!(stub.cuDevicePrimaryCtxRelease_v2(CUdevice(9)), Status::INVALID_DEVICE);
    assert_eq!(current(&stub), context);
    assert_eq!(stub.cuCtxSynchronize(), Status::CONTEXT_IS_DESTROYED);
    assert_eq!(stub.cuCtxSetCurrent(context), Status::SUCCESS);
    assert_eq!(stub.cuCtxPushCurrent_v2(context), Status::SUCCESS);
    assert_eq!(stub.cuCtxDestroy_v2(CUcontext(0)), Status::INVALID_VALUE);
    let allocated = stub.cuMemAlloc_v2(Out(&mut CUdeviceptr(0)), 16);
    assert_eq!(allocated, Status::CONTEXT_IS_DESTROYED);
    assert_eq!(stub.counts()["streams"], 0);
    stub.primary(DEVICE_0);
    assert_eq!(stub.cuCtxSynchronize(), Status::SUCCESS);
    assert_eq!(stub.cuStreamSynchronize(stream), Status::INVALID_CONTEXT);
}

#[test]
fn a_context_of_ones_own_is_current_until_it_is_destroyed() {
    let (stub, primary) = Stub::ready("");
    let context = own(&stub, DEVICE_1);
    assert_eq!(current(&stub), context);
    assert_eq!(stub.counts()["contexts"], 1);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(stub.cuCtxSetCurrent(context), Status::SUCCESS);
            assert_eq!(stub.cuCtxDestroy_v2(context), Status::SUCCESS);
            assert_eq!(current(&stub), CUcontext(0));
        });
    });
    assert_eq!(stub.cuCtxSynchronize(), Status::CONTEXT_IS_DESTROYED);
    assert_eq!(stub.cuCtxDestroy_v2(context), Status::INVALID_CONTEXT);
    assert_eq!(stub.cuCtxDestroy_v2(primary), Status::INVALID_CONTEXT);
    let parameters = ContextParameters(address(&0u64));
    let refused = handle(CUcontext, |out| stub.cuCtxCreate_v4(out, parameters, 0, DEVICE_0));
    assert_eq!(refused, Err(Status::NOT_SUPPORTED));
    let handles = [CUstream(primary.0), CUstream(context.0)].map(|s| stub.cuStreamSynchronize(s));
    assert_eq!(handles, [Status::INVALID_HANDLE; 2]);
}

#[test]
fn a_reset_ends_what_is_there_and_the_handle_stays() {
    let (stub, context) = Stub::ready("");
    let id = |context| handle(ContextId, |out| stub.cuCtxGetId(context, out));
    let is_active = || got(|active| stub.cuDevicePrimaryCtxGetState(DEVICE_0, Out(&mut 0), active));
    let before = id(context).unwrap();
    assert_eq!(
        (id(CUcontext(0)), id(CUcontext(0x1230))),
        (Ok(before), Err(Status::INVALID_CONTEXT))
    );
    let stream = stub.stream(1);
    assert_eq!(stub.cuDevicePrimaryCtxReset_v2(DEVICE_0), Status::SUCCESS);
    assert_eq!((current(&stub), is_active()), (context, Ok(0)));
    assert_eq!([id(context), id(CUcontext(0))], [Err(Status::CONTEXT_IS_DESTROYED); 2]);
    assert_eq!(stub.cuCtxSynchronize(), Status::CONTEXT_IS_DESTROYED);
    assert_eq!((&stub.counts()["streams"], &stub.counts()["retained"]), (&0.into(), &1.into()));
    assert_eq!(stub.primary(DEVICE_0), context);
    assert_eq!((stub.cuCtxSynchronize(), is_active()), (Status::SUCCESS, Ok(1)));
    assert_eq!(stub.cuStreamSynchronize(stream), Status::INVALID_CONTEXT);
    assert!(id(context).is_ok_and(|after| after != before));
    // Who held it before still does.
    assert_eq!(stub.cuDevicePrimaryCtxRelease_v2(DEVICE_0), Status::SUCCESS);
    assert_eq!(is_active(), Ok(1));
    assert_eq!(stub.cuDevicePrimaryCtxRelease_v2(DEVICE_0), Status::SUCCESS);
    assert_eq!(is_active(), Ok(0));
    assert_eq!(stub.cuDevicePrimaryCtxReset_v2(DEVICE_1), Status::SUCCESS);
    assert_eq!(stub.cuDevicePrimaryCtxReset_v2(CUdevice(9)), Status::INVALID_DEVICE);
}

#[test]
fn every_life_of_a_context_has_an_id_of_its_own() {
    let (stub, _) = Stub::ready("");
    let id = |context| handle(ContextId, |out| stub.cuCtxGetId(context, out)).unwrap().0;
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..3 {
        let context = stub.primary(DEVICE_1);
        assert!(seen.insert(id(context)) && seen.insert(id(own(&stub, DEVICE_1))));
        assert_eq!(stub.cuDevicePrimaryCtxRelease_v2(DEVICE_1), Status::SUCCESS);
    }
    assert_eq!(stub.cuCtxSetCurrent(CUcontext(0)), Status::SUCCESS);
    let none = Stub::drop_and_fresh(stub, "");
    assert_eq!(none.cuInit(0), Status::SUCCESS);
    let refused = handle(ContextId, |out| none.cuCtxGetId(CUcontext(0), out));
    assert_eq!(refused, Err(Status::INVALID_CONTEXT));
    let context = none.primary(DEVICE_1);
    let id = handle(ContextId, |out| none.cuCtxGetId(context, out)).unwrap().0;
    assert!(!seen.contains(&id), "not in the next life of the driver either");
}
