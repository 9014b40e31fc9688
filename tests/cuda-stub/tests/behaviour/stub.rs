// SPDX-License-Identifier: Apache-2.0
//! The library as its users have it: loaded under the driver's name, each function found by its C
//! name.

use kernpack_cuda_stub::api::stream_work::CUhostFn;
use kernpack_cuda_stub::argument::{
    Address, Characters, Code, ContextParameters, Destination, In, InOut, LibraryOptions, Options,
    Out, Pointers, Source, Text,
};
use kernpack_cuda_stub::c_types::*;
use kernpack_cuda_stub::status::Status;
use libloading::Library;
use serde_json::Value;
use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// The driver is one for the process, so tests take turns.
static LIBRARY: LazyLock<(Mutex<()>, Library)> = LazyLock::new(|| {
    // SAFETY: Loading the stub runs nothing of its own.
    (Mutex::new(()), unsafe { Library::new(path()) }.expect("the stub loads"))
});

/// The stub as cargo built it for these tests.
pub fn path() -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    test.parent().unwrap_or(Path::new(".")).join("libkernpack_cuda_stub.so")
}

/// The loaded stub, for one test at a time.
pub struct Stub {
    _turn: MutexGuard<'static, ()>,
}

/// The functions, as methods.
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        #[expect(non_snake_case, reason = "these are the driver's names")]
        #[expect(clippy::too_many_arguments, reason = "these are the driver's arguments")]
        impl Stub {
            $(pub fn $name(&self, $($argument: $type),*) -> $result {
                // SAFETY: The test `headers` holds these types to the header, and the stub is
                // written with the same.
                let function = unsafe {
                    LIBRARY.1.get::<extern "C" fn($($type),*) -> $result>(stringify!($name).as_bytes())
                };
                function.expect("the stub has it")($($argument),*)
            })*
        }
    };
}

functions! {
    kernpack_cuda_stub_reset(config: Text) -> i32;
    kernpack_cuda_stub_fail(function: Text, nth: u64, code: u32) -> i32;
    kernpack_cuda_stub_counts(buffer: *mut u8, size: usize) -> usize;
    kernpack_cuda_stub_take_log(buffer: *mut u8, size: usize) -> usize;
    cuInit(flags: u32) -> Status;
    cuDriverGetVersion(version: Out<i32>) -> Status;
    cuGetErrorName(error: Status, text: Out<Text>) -> Status;
    cuGetErrorString(error: Status, text: Out<Text>) -> Status;
    cuGetProcAddress_v2(name: Text, function: Out<Address>, version: i32, flags: u64,
        found: Out<CUdriverProcAddressQueryResult>) -> Status;
    cuDeviceGetCount(count: Out<i32>) -> Status;
    cuDeviceGet(device: Out<CUdevice>, ordinal: i32) -> Status;
    cuDeviceGetAttribute(value: Out<i32>, attribute: u32, device: CUdevice) -> Status;
    cuDeviceGetName(name: Characters, size: i32, device: CUdevice) -> Status;
    cuDevicePrimaryCtxRetain(context: Out<CUcontext>, device: CUdevice) -> Status;
    cuDevicePrimaryCtxRelease_v2(device: CUdevice) -> Status;
    cuDevicePrimaryCtxReset_v2(device: CUdevice) -> Status;
    cuDevicePrimaryCtxGetState(device: CUdevice, flags: Out<u32>, active: Out<i32>) -> Status;
    cuCtxCreate_v4(context: Out<CUcontext>, parameters: ContextParameters, flags: u32, device: CUdevice) -> Status;
    cuCtxDestroy_v2(context: CUcontext) -> Status;
    cuCtxGetId(context: CUcontext, id: Out<ContextId>) -> Status;
    cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) -> Status;
    cuCtxGetCurrent(context: Out<CUcontext>) -> Status;
    cuCtxSetCurrent(context: CUcontext) -> Status;
    cuCtxPushCurrent_v2(context: CUcontext) -> Status;
    cuCtxPopCurrent_v2(context: Out<CUcontext>) -> Status;
    cuCtxGetDevice(device: Out<CUdevice>) -> Status;
    cuCtxSynchronize() -> Status;
    cuStreamCreate(stream: Out<CUstream>, flags: u32) -> Status;
    cuStreamCreateWithPriority(stream: Out<CUstream>, flags: u32, priority: i32) -> Status;
    cuStreamGetPriority(stream: CUstream, priority: Out<i32>) -> Status;
    cuStreamGetId(stream: CUstream, id: Out<StreamId>) -> Status;
    cuStreamGetAttribute(stream: CUstream, attribute: u32, value: Out<CUlaunchAttributeValue>) -> Status;
    cuStreamSetAttribute(stream: CUstream, attribute: u32, value: In<CUlaunchAttributeValue>) -> Status;
    cuStreamDestroy_v2(stream: CUstream) -> Status;
    cuEventCreate(event: Out<CUevent>, flags: u32) -> Status;
    cuEventDestroy_v2(event: CUevent) -> Status;
    cuEventRecord(event: CUevent, stream: CUstream) -> Status;
    cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: u32) -> Status;
    cuEventElapsedTime(milliseconds: Out<f32>, start: CUevent, end: CUevent) -> Status;
    cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: Source, size: usize, stream: CUstream) -> Status;
    cuMemcpyDtoHAsync_v2(to: Destination, from: CUdeviceptr, size: usize, stream: CUstream) -> Status;
    cuMemcpyDtoDAsync_v2(to: CUdeviceptr, from: CUdeviceptr, size: usize, stream: CUstream) -> Status;
    cuMemsetD8Async(to: CUdeviceptr, byte: u8, size: usize, stream: CUstream) -> Status;
    cuLaunchHostFunc(stream: CUstream, function: CUhostFn, data: Address) -> Status;
    cuStreamGetCtx(stream: CUstream, context: Out<CUcontext>) -> Status;
    cuStreamGetCtx_v2(stream: CUstream, context: Out<CUcontext>, green: Out<CUgreenCtx>) -> Status;
    cuStreamSynchronize(stream: CUstream) -> Status;
    cuStreamQuery(stream: CUstream) -> Status;
    cuStreamIsCapturing(stream: CUstream, status: Out<CUstreamCaptureStatus>) -> Status;
    cuStreamBeginCapture_v2(stream: CUstream, mode: u32) -> Status;
    cuStreamEndCapture(stream: CUstream, graph: Out<CUgraph>) -> Status;
    cuGraphCreate(graph: Out<CUgraph>, flags: u32) -> Status;
    cuGraphAddKernelNode_v2(node: Out<CUgraphNode>, graph: CUgraph, after: In<CUgraphNode>, n: usize,
        params: In<CUDA_KERNEL_NODE_PARAMS>) -> Status;
    cuGraphAddDependencies_v2(graph: CUgraph, from: In<CUgraphNode>, to: In<CUgraphNode>,
        ways: In<CUgraphEdgeData>, n: usize) -> Status;
    cuGraphKernelNodeSetAttribute(node: CUgraphNode, attribute: u32, value: In<CUlaunchAttributeValue>) -> Status;
    cuGraphInstantiateWithFlags(executable: Out<CUgraphExec>, graph: CUgraph, flags: u64) -> Status;
    cuGraphExecKernelNodeSetParams_v2(executable: CUgraphExec, node: CUgraphNode,
        params: In<CUDA_KERNEL_NODE_PARAMS>) -> Status;
    cuGraphLaunch(executable: CUgraphExec, stream: CUstream) -> Status;
    cuGraphExecDestroy(executable: CUgraphExec) -> Status;
    cuGraphDestroy(graph: CUgraph) -> Status;
    cuThreadExchangeStreamCaptureMode(mode: InOut<u32>) -> Status;
    cuLibraryLoadData(library: Out<CUlibrary>, code: Code, options: Options, values: Pointers, n: u32,
        library_options: LibraryOptions, library_values: Pointers, m: u32) -> Status;
    cuLibraryUnload(library: CUlibrary) -> Status;
    cuLibraryGetKernel(kernel: Out<CUkernel>, library: CUlibrary, name: Text) -> Status;
    cuLibraryGetModule(module: Out<CUmodule>, library: CUlibrary) -> Status;
    cuKernelGetFunction(function: Out<CUfunction>, kernel: CUkernel) -> Status;
    cuKernelGetName(name: Out<Text>, kernel: CUkernel) -> Status;
    cuKernelGetParamInfo(kernel: CUkernel, index: usize, offset: Out<usize>, size: Out<usize>) -> Status;
    cuKernelGetAttribute(value: Out<i32>, attribute: u32, kernel: CUkernel, device: CUdevice) -> Status;
    cuKernelSetAttribute(attribute: u32, value: i32, kernel: CUkernel, device: CUdevice) -> Status;
    cuFuncGetAttribute(value: Out<i32>, attribute: u32, function: CUfunction) -> Status;
    cuFuncSetAttribute(function: CUfunction, attribute: u32, value: i32) -> Status;
    cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: Out<i32>, function: CUfunction, threads: i32, shared: usize) -> Status;
    cuOccupancyMaxActiveClusters(clusters: Out<i32>, function: CUfunction, config: In<CUlaunchConfig>) -> Status;
    cuOccupancyMaxPotentialClusterSize(size: Out<i32>, function: CUfunction, config: In<CUlaunchConfig>) -> Status;
    cuLaunchKernel(function: CUfunction, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32,
        shared: u32, stream: CUstream, params: Pointers, extra: Pointers) -> Status;
    cuLaunchKernelEx(config: In<CUlaunchConfig>, function: CUfunction, params: Pointers, extra: Pointers) -> Status;
    cuLaunchCooperativeKernel(function: CUfunction, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32,
        shared: u32, stream: CUstream, params: Pointers) -> Status;
    cuMemAlloc_v2(address: Out<CUdeviceptr>, size: usize) -> Status;
    cuMemFree_v2(address: CUdeviceptr) -> Status;
    cuMemAllocAsync(address: Out<CUdeviceptr>, size: usize, stream: CUstream) -> Status;
    cuMemFreeAsync(address: CUdeviceptr, stream: CUstream) -> Status;
    cuMemcpyHtoD_v2(to: CUdeviceptr, from: Source, size: usize) -> Status;
    cuMemcpyDtoH_v2(to: Destination, from: CUdeviceptr, size: usize) -> Status;
    cuMemcpyDtoD_v2(to: CUdeviceptr, from: CUdeviceptr, size: usize) -> Status;
    cuPointerGetAttribute(value: Destination, attribute: u32, address: CUdeviceptr) -> Status;
    cuTensorMapEncodeTiled(map: Out<CUtensorMap>, data_type: u32, rank: u32, address: Address, dims: In<u64>,
        strides: In<u64>, boxes: In<u32>, steps: In<u32>, interleave: u32, swizzle: u32, promotion: u32, fill: u32) -> Status;
}

/// Nothing where addresses of arguments would be.
pub const NONE: Pointers = Pointers(null_mut());
/// A device.
pub const DEVICE_0: CUdevice = CUdevice(0);
/// The other device.
pub const DEVICE_1: CUdevice = CUdevice(1);
/// The stream of whatever context is current.
pub const NULL_STREAM: CUstream = CUstream(0);

/// What a function of one result gives.
pub fn got<T: Copy + Default>(call: impl FnOnce(Out<T>) -> Status) -> Result<T, Status> {
    let mut value = T::default();
    let status = call(Out(&mut value));
    if status == Status::SUCCESS { Ok(value) } else { Err(status) }
}

/// The same for handles, which have no default.
pub fn handle<T, W: Default>(
    make: fn(W) -> T,
    call: impl FnOnce(Out<T>) -> Status,
) -> Result<T, Status> {
    let mut value = make(W::default());
    let status = call(Out(&mut value));
    if status == Status::SUCCESS { Ok(value) } else { Err(status) }
}

/// A text that lives as long as the program.
pub fn text(text: &str) -> Text {
    Text(Box::leak(CString::new(text).expect("no NUL").into_boxed_c_str()).as_ptr())
}

impl Stub {
    /// A new life of the driver, told this.
    pub fn fresh(config: &str) -> Stub {
        let stub = Stub { _turn: LIBRARY.0.lock().unwrap_or_else(PoisonError::into_inner) };
        assert_eq!(stub.kernpack_cuda_stub_reset(text(config)), 0, "{config}");
        stub
    }

    /// The same, initialised, with device 0's primary context current.
    pub fn ready(config: &str) -> (Stub, CUcontext) {
        let stub = Stub::fresh(config);
        assert_eq!(stub.cuInit(0), Status::SUCCESS);
        let context = stub.primary(DEVICE_0);
        assert_eq!(stub.cuCtxSetCurrent(context), Status::SUCCESS);
        (stub, context)
    }

    pub fn primary(&self, device: CUdevice) -> CUcontext {
        handle(CUcontext, |out| self.cuDevicePrimaryCtxRetain(out, device)).expect("a device")
    }

    pub fn stream(&self, flags: u32) -> CUstream {
        handle(CUstream, |out| self.cuStreamCreate(out, flags)).expect("a context")
    }

    /// How a stream's capture stands.
    pub fn capturing(&self, stream: CUstream) -> u32 {
        let mut status = CUstreamCaptureStatus(9);
        assert_eq!(self.cuStreamIsCapturing(stream, Out(&mut status)), Status::SUCCESS);
        status.0
    }

    pub fn end_capture(&self, stream: CUstream) -> Result<CUgraph, Status> {
        handle(CUgraph, |out| self.cuStreamEndCapture(stream, out))
    }

    pub fn load(&self, image: &str) -> Result<CUlibrary, Status> {
        self.load_bytes(CString::new(image).expect("no NUL").as_bytes_with_nul())
    }

    pub fn load_bytes(&self, image: &[u8]) -> Result<CUlibrary, Status> {
        let code = Code(image.as_ptr().cast());
        let none = (Options(null_mut()), LibraryOptions(null_mut()));
        handle(CUlibrary, |out| self.cuLibraryLoadData(out, code, none.0, NONE, 0, none.1, NONE, 0))
    }

    pub fn kernel(&self, library: CUlibrary, name: &str) -> Result<CUkernel, Status> {
        handle(CUkernel, |out| self.cuLibraryGetKernel(out, library, text(name)))
    }

    /// A kernel of an image of these lines.
    pub fn only_kernel(&self, line: &str) -> CUkernel {
        let library = self.load(&format!("KPSTUB sm_90a\nkernel k {line}")).expect("it loads");
        self.kernel(library, "k").expect("it is there")
    }

    /// Launches a kernel without arguments.
    pub fn launch(&self, kernel: CUkernel, stream: CUstream) -> Status {
        let config = CUlaunchConfig::new([1; 3], [32, 1, 1], 0, stream, &[]);
        self.launch_with(kernel, &config)
    }

    /// Launches a kernel without arguments.
    pub fn launch_with(&self, kernel: CUkernel, config: &CUlaunchConfig) -> Status {
        self.cuLaunchKernelEx(In(config), CUfunction(kernel.0), NONE, NONE)
    }

    fn taken(&self, take: impl Fn(*mut u8, usize) -> usize) -> String {
        let mut buffer = vec![0; take(null_mut(), 0) + 1];
        let length = take(buffer.as_mut_ptr(), buffer.len());
        buffer.truncate(length);
        String::from_utf8(buffer).expect("the log is text")
    }

    pub fn log(&self) -> Vec<Value> {
        let log = self.taken(|buffer, size| self.kernpack_cuda_stub_take_log(buffer, size));
        log.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
    }

    pub fn counts(&self) -> Value {
        let counts = self.taken(|buffer, size| self.kernpack_cuda_stub_counts(buffer, size));
        serde_json::from_str(&counts).expect("counts are JSON")
    }
}

/// The address of a value, as arguments are passed.
pub fn address<T>(value: &T) -> *mut c_void {
    std::ptr::from_ref(value).cast_mut().cast()
}
