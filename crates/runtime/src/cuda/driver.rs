// SPDX-License-Identifier: Apache-2.0
//! The functions of the CUDA driver that are called, and how they are found.

use core::ffi::{c_char, c_int, c_uint, c_void};
use core::ptr;

use super::system;
use crate::interface::layout::{AttributeId, LaunchConfig};

/// The result of a function of the driver: 0, or the number of an error.
pub(super) type Status = c_int;

pub(super) const INVALID_VALUE: Status = 1;
pub(super) const OUT_OF_MEMORY: Status = 2;
pub(super) const NOT_INITIALIZED: Status = 3;
pub(super) const NO_DEVICE: Status = 100;
pub(super) const INVALID_DEVICE: Status = 101;
pub(super) const INVALID_CONTEXT: Status = 201;
pub(super) const NO_BINARY_FOR_GPU: Status = 209;
pub(super) const SHARED_OBJECT_INIT_FAILED: Status = 303;
pub(super) const INVALID_HANDLE: Status = 400;
pub(super) const NOT_FOUND: Status = 500;
pub(super) const LAUNCH_OUT_OF_RESOURCES: Status = 701;
pub(super) const PEER_ACCESS_ALREADY_ENABLED: Status = 704;
pub(super) const NOT_REGISTERED: Status = 713;
pub(super) const COOPERATIVE_LAUNCH_TOO_LARGE: Status = 720;
pub(super) const INVALID_CLUSTER_SIZE: Status = 912;

/// `CUcontext`
pub(super) type Context = *mut c_void;
/// `CUlibrary`
pub(super) type Library = *mut c_void;
/// `CUkernel`
pub(super) type Kernel = *mut c_void;
/// `CUfunction`, which may be a `CUkernel` where the driver launches one
pub(super) type Function = *mut c_void;
/// `CUstream`
pub(super) type Stream = *mut c_void;
/// `CUgraph`
pub(super) type Graph = *mut c_void;
/// `CUgraphNode`
pub(super) type Node = *mut c_void;
/// `CUgraphExec`
pub(super) type Exec = *mut c_void;
/// `CUlaunchAttributeValue`
pub(super) type AttributeValue = [u64; 8];

/// `CUDA_KERNEL_NODE_PARAMS`, of version 2.
#[repr(C)]
pub(super) struct NodeParams {
    pub(super) function: Function,
    /// The grid and the block, x first, and the bytes of dynamic shared memory.
    pub(super) size: [c_uint; 7],
    pub(super) args: *mut *mut c_void,
    /// Another way of passing the arguments: none.
    pub(super) extra: *mut *mut c_void,
    /// Another way of naming the function, with its context: none.
    pub(super) kernel: Kernel,
    pub(super) context: Context,
}

/// `CUgraphEdgeData`
#[repr(C)]
pub(super) struct EdgeData {
    from_port: u8,
    to_port: u8,
    kind: u8,
    reserved: [u8; 5],
}

impl EdgeData {
    /// The later node begins when the earlier one has ended.
    pub(super) const FULL: EdgeData = EdgeData::of(0, 0);
    /// It begins when the earlier one has said so in all its blocks, or has ended:
    /// `CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC`, `CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC`.
    pub(super) const PROGRAMMATIC: EdgeData = EdgeData::of(1, 1);

    const fn of(from_port: u8, kind: u8) -> EdgeData {
        EdgeData { from_port, to_port: 0, kind, reserved: [0; 5] }
    }
}

/// `CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW`, of a stream
pub(super) const ACCESS_POLICY_WINDOW: c_int = 1;

/// `CU_DEVICE_ATTRIBUTE_*`
pub(super) mod device {
    use super::c_int;
    pub(in super::super) const MAX_THREADS_PER_BLOCK: c_int = 1;
    /// Of x; those of y and z follow.
    pub(in super::super) const MAX_BLOCK_DIM: c_int = 2;
    /// Of x; those of y and z follow.
    pub(in super::super) const MAX_GRID_DIM: c_int = 5;
    pub(in super::super) const MULTIPROCESSORS: c_int = 16;
    pub(in super::super) const COMPUTE_CAPABILITY_MAJOR: c_int = 75;
    pub(in super::super) const COMPUTE_CAPABILITY_MINOR: c_int = 76;
    pub(in super::super) const MAX_SHARED_BYTES_OPTIN: c_int = 97;
}

/// `CU_FUNC_ATTRIBUTE_*`
pub(super) mod kernel {
    use super::c_int;
    pub(in super::super) const MAX_THREADS_PER_BLOCK: c_int = 0;
    pub(in super::super) const SHARED_BYTES: c_int = 1;
    pub(in super::super) const REGISTERS: c_int = 4;
    pub(in super::super) const MAX_DYNAMIC_SHARED_BYTES: c_int = 8;
    pub(in super::super) const ANY_CLUSTER_ALLOWED: c_int = 14;
}

/// `CU_STREAM_CAPTURE_MODE_RELAXED`
pub(super) const CAPTURE_MODE_RELAXED: c_int = 2;

macro_rules! functions {
    ($(#[$doc:meta])* $table:ident named $symbols:ident {
        $($field:ident = $symbol:ident($($arg:ty),*);)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub(super) struct $table {
            $(pub(super) $field: unsafe extern "C" fn($($arg),*) -> Status,)*
        }

        /// Their symbols, in the order of the fields, each with the NUL that ends it.
        const $symbols: &[u8] = concat!($(stringify!($symbol), "\0"),*).as_bytes();

        impl $table {
            /// Finds each function and writes it there, or says which one there is not.
            ///
            /// # Safety
            ///
            /// The place may be written.
            unsafe fn find(library: *mut c_void, place: *mut $table) -> Result<(), *const c_char> {
                // CUDA's header gives these functions these types.
                // SAFETY: there are as many symbols as fields, and the place is the caller's.
                unsafe { find_all(library, $symbols, place.cast()) }
            }
        }
    };
}

// The functions that every launch calls come first, and so lie beside what else it reads.
functions! {
    /// The driver's functions.
    Driver named SYMBOLS {
        launch = cuLaunchKernelEx(
            *const LaunchConfig, Function, *mut *mut c_void, *mut *mut c_void
        );
        current_context = cuCtxGetCurrent(*mut Context);
        init = cuInit(c_uint);
        error_name = cuGetErrorName(Status, *mut *const c_char);
        error_string = cuGetErrorString(Status, *mut *const c_char);
        device_count = cuDeviceGetCount(*mut c_int);
        device_attribute = cuDeviceGetAttribute(*mut c_int, c_int, c_int);
        primary_retain = cuDevicePrimaryCtxRetain(*mut Context, c_int);
        primary_state = cuDevicePrimaryCtxGetState(c_int, *mut c_uint, *mut c_int);
        primary_release = cuDevicePrimaryCtxRelease_v2(c_int);
        set_context = cuCtxSetCurrent(Context);
        enable_peer = cuCtxEnablePeerAccess(Context, c_uint);
        current_device = cuCtxGetDevice(*mut c_int);
        stream_context = cuStreamGetCtx(Stream, *mut Context);
        exchange_capture_mode = cuThreadExchangeStreamCaptureMode(*mut c_int);
        load = cuLibraryLoadData(
            *mut Library, *const c_void, *mut c_int, *mut *mut c_void, c_uint, *mut c_int,
            *mut *mut c_void, c_uint
        );
        unload = cuLibraryUnload(Library);
        get_kernel = cuLibraryGetKernel(*mut Kernel, Library, *const c_char);
        get_function = cuKernelGetFunction(*mut Function, Kernel);
        kernel_attribute = cuKernelGetAttribute(*mut c_int, c_int, Kernel, c_int);
        set_kernel_attribute = cuKernelSetAttribute(c_int, c_int, Kernel, c_int);
        blocks_of_each = cuOccupancyMaxActiveBlocksPerMultiprocessor(
            *mut c_int, Function, c_int, usize
        );
        synchronize = cuCtxSynchronize();
        host_register = cuMemHostRegister_v2(*mut c_void, usize, c_uint);
        host_unregister = cuMemHostUnregister(*mut c_void);
        host_pointer = cuMemHostGetDevicePointer_v2(*mut *mut c_void, *mut c_void, c_uint);
    }
}

functions! {
    /// The one for edges between nodes that say how the later one depends on the earlier one, which
    /// a driver older than CUDA 12.3 lacks.
    EdgeCalls named EDGE_SYMBOLS {
        add = cuGraphAddDependencies_v2(Graph, *const Node, *const Node, *const EdgeData, usize);
    }
}

functions! {
    /// Those for launching executable graphs, which an older driver may lack.
    GraphCalls named GRAPH_SYMBOLS {
        launch = cuGraphLaunch(Exec, Stream);
        set_params = cuGraphExecKernelNodeSetParams_v2(Exec, Node, *const NodeParams);
        capture_status = cuStreamIsCapturing(Stream, *mut c_int);
        stream_id = cuStreamGetId(Stream, *mut u64);
        context_id = cuCtxGetId(Context, *mut u64);
        stream_attribute = cuStreamGetAttribute(Stream, c_int, *mut AttributeValue);
        create = cuGraphCreate(*mut Graph, c_uint);
        add_kernel = cuGraphAddKernelNode_v2(
            *mut Node, Graph, *const Node, usize, *const NodeParams
        );
        set_attribute =
            cuGraphKernelNodeSetAttribute(Node, AttributeId, *const AttributeValue);
        instantiate = cuGraphInstantiateWithFlags(*mut Exec, Graph, u64);
        destroy_exec = cuGraphExecDestroy(Exec);
        destroy = cuGraphDestroy(Graph);
    }
}

impl GraphCalls {
    /// The number of a context. One that was reset has another.
    #[inline(always)]
    pub(super) fn id_of(&self, context: Context) -> Option<u64> {
        let mut id = 0;
        // SAFETY: the driver writes one number.
        let status = unsafe { (self.context_id)(context, &raw mut id) };
        (status == 0).then_some(id)
    }

    /// The number of a stream that is one of the program's own. Another under the same handle has
    /// another. One that is captured must not be asked, which would spoil that.
    #[inline(always)]
    pub(super) fn id_of_stream(&self, stream: Stream) -> Option<u64> {
        let mut id = 0;
        // SAFETY: the driver writes one number.
        let status = unsafe { (self.stream_id)(stream, &raw mut id) };
        (status == 0).then_some(id)
    }

    /// Whether what a stream is given runs, and is not captured.
    #[inline(always)]
    pub(super) fn runs(&self, stream: Stream) -> bool {
        let mut capture = 0;
        // SAFETY: the driver writes one int.
        unsafe { (self.capture_status)(stream, &raw mut capture) == 0 && capture == 0 }
    }

    /// Whether the kernels of a stream have a window of memory that stays in the cache. Those of
    /// graphs have none.
    pub(super) fn has_window(&self, stream: Stream) -> bool {
        let mut window: AttributeValue = [0; 8];
        // SAFETY: the driver writes one value.
        let status =
            unsafe { (self.stream_attribute)(stream, ACCESS_POLICY_WINDOW, &raw mut window) };
        // Behind the address comes the size.
        status != 0 || window[1] != 0
    }
}

/// Finds a function for each of these symbols, and writes them, or says which one there is not.
///
/// # Safety
///
/// There is room for as many.
unsafe fn find_all(
    library: *mut c_void,
    symbols: &[u8],
    mut field: *mut *mut c_void,
) -> Result<(), *const c_char> {
    let mut rest = symbols;
    while let Some(end) = rest.iter().position(|byte| *byte == 0) {
        let name = rest.as_ptr().cast();
        // SAFETY: the name ends with NUL.
        let found = unsafe { system::symbol(library, name) };
        if found.is_null() {
            return Err(name);
        }
        // SAFETY: as the caller says.
        unsafe { field.write(found) };
        field = field.wrapping_add(1);
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    Ok(())
}

/// Whether a driver has functions that not every launch takes.
pub(super) struct Has {
    /// Those for graphs.
    pub(super) graphs: bool,
    /// The one for programmatic edges in them.
    pub(super) edges: bool,
}

/// Why there is no driver to call.
#[derive(Clone, Copy)]
pub(super) enum NoDriver {
    /// No library, with the loader's words.
    Library(*const c_char),
    /// A library without that function: it is too old.
    Function(*const c_char),
    /// `KERNPACK_LAUNCH` has a value that means nothing.
    Setting(*const c_char),
    /// It does not start.
    Init(&'static Driver, Status),
}

impl Driver {
    /// Finds the driver and what it has for graphs, and writes that there.
    ///
    /// # Safety
    ///
    /// All places may be written.
    #[inline(never)]
    pub(super) unsafe fn load(
        driver: *mut Driver,
        graph_calls: *mut GraphCalls,
        edge_calls: *mut EdgeCalls,
    ) -> Result<Has, NoDriver> {
        let library = system::open_driver().map_err(NoDriver::Library)?;
        // SAFETY: as the caller says.
        unsafe { Driver::find(library, driver) }.map_err(NoDriver::Function)?;
        // SAFETY: as the caller says.
        let graphs = unsafe { GraphCalls::find(library, graph_calls) }.is_ok();
        // SAFETY: as the caller says.
        let edges = unsafe { EdgeCalls::find(library, edge_calls) }.is_ok();
        Ok(Has { graphs, edges })
    }

    /// Starts it.
    pub(super) fn start(&self) -> Result<(), Status> {
        // SAFETY: 0 is the only flag there is.
        match unsafe { (self.init)(0) } {
            0 => Ok(()),
            status => Err(status),
        }
    }

    /// The driver's name of an error, such as `CUDA_ERROR_INVALID_VALUE`; NULL where it does not
    /// know it.
    pub(super) fn name_of(&self, status: Status) -> *const c_char {
        let mut text = ptr::null();
        // SAFETY: the driver writes a string that stays, or fails.
        match unsafe { (self.error_name)(status, &raw mut text) } {
            0 => text,
            _ => ptr::null(),
        }
    }

    /// The driver's words about an error.
    pub(super) fn text_of(&self, status: Status) -> *const c_char {
        let mut text = ptr::null();
        // SAFETY: the driver writes a string that stays, or fails.
        match unsafe { (self.error_string)(status, &raw mut text) } {
            0 => text,
            _ => ptr::null(),
        }
    }

    /// Whether a stream's work goes to that context.
    pub(super) fn is_of_context(&self, stream: Stream, context: Context) -> bool {
        let mut of = ptr::null_mut();
        // SAFETY: the driver writes one handle.
        unsafe { (self.stream_context)(stream, &raw mut of) == 0 && of == context }
    }

    /// Whether a device has a primary context, made by whoever.
    pub(super) fn has_primary(&self, device: c_int) -> bool {
        let (mut flags, mut is_active) = (0, 0);
        // SAFETY: the driver writes two ints.
        let status = unsafe { (self.primary_state)(device, &raw mut flags, &raw mut is_active) };
        status == 0 && is_active != 0
    }

    /// An attribute of a device.
    pub(super) fn device_attribute(&self, attribute: c_int, device: c_int) -> Result<i32, Status> {
        let mut value = 0;
        // SAFETY: the driver writes one int.
        match unsafe { (self.device_attribute)(&raw mut value, attribute, device) } {
            0 => Ok(value),
            status => Err(status),
        }
    }

    /// The compute capability of a device.
    pub(super) fn capability(&self, device: c_int) -> Result<(u32, u32), Status> {
        let major = self.device_attribute(device::COMPUTE_CAPABILITY_MAJOR, device)?;
        let minor = self.device_attribute(device::COMPUTE_CAPABILITY_MINOR, device)?;
        Ok((major as u32, minor as u32))
    }

    /// An attribute of a kernel on a device, where it has that.
    pub(super) fn kernel_attribute(
        &self,
        attribute: c_int,
        kernel: Kernel,
        device: c_int,
    ) -> Option<i32> {
        let mut value = 0;
        // SAFETY: the driver writes one int, and checks the handle.
        let status = unsafe { (self.kernel_attribute)(&raw mut value, attribute, kernel, device) };
        (status == 0).then_some(value)
    }
}
