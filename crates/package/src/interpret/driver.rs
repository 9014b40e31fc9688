// SPDX-License-Identifier: Apache-2.0
//! As much of the CUDA driver as one launch after another needs: a GPU, memory on it, images,
//! launches, and events that tell how long they take.
//!
//! The driver is found at run time, and stays loaded. The GPU is the first that it shows, which
//! `CUDA_VISIBLE_DEVICES` chooses. Its primary context is current in the thread while a [`Gpu`]
//! lives, and all is done on its default stream. What a call is refused for is told by the driver's
//! own words. Not here: what is launched.

#![expect(unsafe_code, reason = "the driver is a C library")]

use kernpack_runtime::interface::layout::{AttributeId, LaunchAttribute, LaunchConfig};
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::marker::PhantomData;
use std::ptr;
use thiserror::Error;

/// An object of the driver's.
type Handle = *mut c_void;

/// The name under which the loader finds the driver.
const LIBRARY: &str = "libcuda.so.1";
/// Attributes of a device, as `CUdevice_attribute` numbers them.
const MULTIPROCESSORS: c_int = 16;
const MAX_SHARED_BYTES_OPTIN: c_int = 97;
const L2_BYTES: c_int = 38;
const PCI_BUS: c_int = 33;
const PCI_DEVICE: c_int = 34;
const PCI_DOMAIN: c_int = 50;
const MAJOR: c_int = 75;
const MINOR: c_int = 76;
/// Attributes of a kernel, as `CUfunction_attribute` numbers them.
const MAX_DYNAMIC_SHARED_BYTES: c_int = 8;
const NON_PORTABLE_CLUSTER_ALLOWED: c_int = 14;

/// Why there is no answer of a GPU.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum DriverError {
    /// There is no driver.
    #[error("found no {LIBRARY}, the CUDA driver, where the loader looks: {0}")]
    NoLibrary(String),
    /// It is too old.
    #[error("{LIBRARY} has no {0}: it is no driver of CUDA 12.0 or later")]
    NoFunction(&'static str),
    /// It refuses a call.
    #[error("{call} answers {name}: {text}")]
    Refused {
        /// The function.
        call: &'static str,
        /// The name of its answer.
        name: String,
        /// Its meaning.
        text: String,
    },
}

/// Declares functions of the driver, with the types of `cuda.h`, and loads them.
macro_rules! functions {
    ($($field:ident: $name:literal ($($ty:ty),*);)*) => {
        struct Functions { $($field: unsafe extern "C" fn($($ty),*) -> c_int,)* }

        impl Functions {
            fn load(library: &Library) -> Result<Functions, DriverError> {
                Ok(Functions { $($field: {
                    // SAFETY: the type is that of `cuda.h`.
                    let found = unsafe { library.get(concat!($name, "\0").as_bytes()) };
                    *found.map_err(|_| DriverError::NoFunction($name))?
                },)* })
            }
        }
    };
}

functions! {
    init: "cuInit" (c_uint);
    error_name: "cuGetErrorName" (c_int, *mut *const c_char);
    error_text: "cuGetErrorString" (c_int, *mut *const c_char);
    device: "cuDeviceGet" (*mut c_int, c_int);
    device_name: "cuDeviceGetName" (*mut c_char, c_int, c_int);
    device_attribute: "cuDeviceGetAttribute" (*mut c_int, c_int, c_int);
    retain: "cuDevicePrimaryCtxRetain" (*mut Handle, c_int);
    release: "cuDevicePrimaryCtxRelease_v2" (c_int);
    push: "cuCtxPushCurrent_v2" (Handle);
    pop: "cuCtxPopCurrent_v2" (*mut Handle);
    synchronize: "cuCtxSynchronize" ();
    allocate: "cuMemAlloc_v2" (*mut u64, usize);
    free: "cuMemFree_v2" (u64);
    to_gpu: "cuMemcpyHtoD_v2" (u64, *const c_void, usize);
    from_gpu: "cuMemcpyDtoH_v2" (*mut c_void, u64, usize);
    load: "cuLibraryLoadData" (*mut Handle, *const c_void, *const c_void, *const c_void, c_uint, *const c_void, *const c_void, c_uint);
    unload: "cuLibraryUnload" (Handle);
    kernel: "cuLibraryGetKernel" (*mut Handle, Handle, *const c_char);
    set_attribute: "cuKernelSetAttribute" (c_int, c_int, Handle, c_int);
    launch: "cuLaunchKernelEx" (*const LaunchConfig, Handle, *mut *mut c_void, *mut *mut c_void);
    encode: "cuTensorMapEncodeTiled" (*mut EncodedMap, c_uint, c_uint, u64, *const u64, *const u64, *const u32, *const u32, c_uint, c_uint, c_uint, c_uint);
    set_bytes: "cuMemsetD8Async" (u64, u8, usize, Handle);
    copy: "cuMemcpyDtoDAsync_v2" (u64, u64, usize, Handle);
    event: "cuEventCreate" (*mut Handle, c_uint);
    record: "cuEventRecord" (Handle, Handle);
    elapsed: "cuEventElapsedTime" (*mut f32, Handle, Handle);
    end_event: "cuEventDestroy_v2" (Handle);
}

/// A GPU, whose primary context is current in the thread.
pub(super) struct Gpu {
    functions: Functions,
    device: c_int,
    /// Its name.
    pub name: String,
    /// Its compute capability, major and minor.
    pub capability: (u32, u32),
    /// How many multiprocessors it has.
    pub sm_count: i64,
    /// How many bytes of shared memory a block may have.
    pub smem_optin: i64,
    /// Contexts are current in threads.
    _thread: PhantomData<Handle>,
}

/// Memory of a GPU, freed in the end.
pub(super) struct Buffer<'g> {
    gpu: &'g Gpu,
    /// The address of its first byte.
    pub address: u64,
    size: usize,
}

/// A loaded image, unloaded in the end.
pub(super) struct Loaded<'g> {
    gpu: &'g Gpu,
    library: Handle,
}

/// A point in the work of a GPU, of which it tells the time.
pub(super) struct Event<'g> {
    gpu: &'g Gpu,
    event: Handle,
}

/// A tensor map as kernels take it.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct EncodedMap([u64; 16]);

/// A tensor as a map has it, the innermost dim first.
pub(super) struct MapLayout<'a> {
    /// The `CUtensorMapDataType`.
    pub data_type: u32,
    /// Where its first element lies.
    pub address: u64,
    /// Its extents, as many as it has dims.
    pub extents: &'a [u64],
    /// The strides of all dims but the innermost, in bytes.
    pub strides: &'a [u64],
    /// The elements of a box along each dim, and how far apart they are.
    pub box_dims: &'a [u32],
    pub steps: &'a [u32],
    /// Interleave, swizzle, promotion and fill, as the driver numbers them.
    pub choices: [u32; 4],
}

/// An argument of a kernel.
#[derive(Clone, Debug)]
pub(super) enum GpuArgument {
    /// A number or an address, little endian.
    Word(u64),
    Map(Box<EncodedMap>),
}

/// A launch.
pub(super) struct GpuLaunch<'a> {
    /// The symbol of the kernel.
    pub symbol: &'a str,
    /// Blocks in the grid, x first.
    pub grid: [u32; 3],
    /// Threads in a block, x first.
    pub block: [u32; 3],
    /// Blocks in a cluster, where there are clusters.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
    /// Whether all blocks run at once.
    pub cooperative: bool,
    /// Whether it may begin before the one in front of it has ended.
    pub early: bool,
    /// The arguments, as many as the kernel has parameters.
    pub arguments: Vec<GpuArgument>,
}

/// A launch that only has to be submitted.
pub(super) struct Submittable<'g> {
    /// The image of its kernel.
    image: Loaded<'g>,
    kernel: Handle,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    attributes: Vec<LaunchAttribute>,
    arguments: Vec<GpuArgument>,
}

impl Functions {
    fn open() -> Result<Functions, DriverError> {
        // SAFETY: the driver is made for being loaded, and runs nothing but its own initialisation.
        let library = unsafe { Library::new(LIBRARY) };
        let library = library.map_err(|error| DriverError::NoLibrary(error.to_string()))?;
        let functions = Functions::load(&library)?;
        // From here on the functions may be called at any time.
        std::mem::forget(library);
        Ok(functions)
    }

    /// The error that a status is, if it is one.
    fn require(&self, call: &'static str, status: c_int) -> Result<(), DriverError> {
        if status == 0 {
            return Ok(());
        }
        let unknown = || format!("error {status}");
        let name = said(status, self.error_name).unwrap_or_else(unknown);
        let text = said(status, self.error_text).unwrap_or_else(unknown);
        Err(DriverError::Refused { call, name, text })
    }

    fn attribute(&self, device: c_int, number: c_int) -> Result<c_int, DriverError> {
        let mut value = 0;
        // SAFETY: the place is a variable.
        let status = unsafe { (self.device_attribute)(&mut value, number, device) };
        self.require("cuDeviceGetAttribute", status).map(|()| value)
    }

    fn name(&self, device: c_int) -> Result<String, DriverError> {
        let mut bytes = [0_u8; 128];
        let (place, size) = (bytes.as_mut_ptr().cast(), bytes.len() as c_int);
        // SAFETY: there is room for as many bytes as it is told.
        let status = unsafe { (self.device_name)(place, size, device) };
        self.require("cuDeviceGetName", status)?;
        let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(name).into_owned())
    }
}

/// A constant text of the driver's about an answer.
fn said(
    status: c_int,
    ask: unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int,
) -> Option<String> {
    let mut text = ptr::null();
    // SAFETY: the place is a variable.
    let known = unsafe { ask(status, &mut text) } == 0 && !text.is_null();
    // SAFETY: the driver's texts are constants that end in a NUL.
    known.then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

impl Gpu {
    /// The first GPU.
    ///
    /// # Errors
    /// Where there is no driver, or no GPU, or it cannot be used.
    pub fn first() -> Result<Gpu, DriverError> {
        let functions = Functions::open()?;
        // SAFETY: there are no flags.
        let status = unsafe { (functions.init)(0) };
        functions.require("cuInit", status)?;
        let mut device = 0;
        // SAFETY: the place is a variable.
        let status = unsafe { (functions.device)(&mut device, 0) };
        functions.require("cuDeviceGet", status)?;
        let attribute = |number| functions.attribute(device, number);
        let (major, minor) = (attribute(MAJOR)?, attribute(MINOR)?);
        let sm_count = attribute(MULTIPROCESSORS)?.into();
        let smem_optin = attribute(MAX_SHARED_BYTES_OPTIN)?.into();
        let name = functions.name(device)?;
        let mut context = ptr::null_mut();
        // SAFETY: the place is a variable.
        let status = unsafe { (functions.retain)(&mut context, device) };
        functions.require("cuDevicePrimaryCtxRetain", status)?;
        // SAFETY: the context is retained until the GPU is dropped, which takes it away first.
        let status = unsafe { (functions.push)(context) };
        functions.require("cuCtxPushCurrent", status)?;
        let capability = (major.unsigned_abs(), minor.unsigned_abs());
        let _thread = PhantomData;
        Ok(Gpu { functions, device, name, capability, sm_count, smem_optin, _thread })
    }

    /// Its place on the bus, as in `00000000:01:00.0`.
    ///
    /// # Errors
    /// Where the driver does not tell it.
    pub fn bus(&self) -> Result<String, DriverError> {
        let attribute = |number| self.functions.attribute(self.device, number);
        let [domain, bus] = [attribute(PCI_DOMAIN)?, attribute(PCI_BUS)?];
        Ok(format!("{domain:08x}:{bus:02x}:{:02x}.0", attribute(PCI_DEVICE)?))
    }

    /// How many bytes its L2 cache has; 0 where it is not known.
    ///
    /// # Errors
    /// Where the driver does not tell it.
    pub fn l2_bytes(&self) -> Result<usize, DriverError> {
        let bytes = self.functions.attribute(self.device, L2_BYTES)?;
        Ok(usize::try_from(bytes).unwrap_or_default())
    }

    /// Memory of so many bytes, which are more than none.
    ///
    /// # Errors
    /// Where the driver has none.
    pub fn buffer(&self, size: usize) -> Result<Buffer<'_>, DriverError> {
        let mut address = 0;
        // SAFETY: the place is a variable.
        let status = unsafe { (self.functions.allocate)(&mut address, size) };
        self.functions.require("cuMemAlloc", status)?;
        Ok(Buffer { gpu: self, address, size })
    }

    /// Loads an image: a cubin, or PTX that ends in a NUL.
    ///
    /// # Errors
    /// Where the driver does not take it.
    pub fn load(&self, image: &[u8]) -> Result<Loaded<'_>, DriverError> {
        let (mut library, none) = (ptr::null_mut(), ptr::null());
        let load = self.functions.load;
        // SAFETY: the image says itself how long it is, and there are no options.
        let status =
            unsafe { load(&mut library, image.as_ptr().cast(), none, none, 0, none, none, 0) };
        self.functions.require("cuLibraryLoadData", status)?;
        Ok(Loaded { gpu: self, library })
    }

    /// A tensor map.
    ///
    /// # Errors
    /// Where the driver does not take it.
    pub fn encode(&self, layout: &MapLayout<'_>) -> Result<Box<EncodedMap>, DriverError> {
        let mut map = Box::new(EncodedMap([0; 16]));
        let [interleave, swizzle, promotion, fill] = layout.choices;
        // SAFETY: there are as many numbers of each as the rank says, and one stride fewer; the map
        // has the size and the alignment of a `CUtensorMap`.
        let status = unsafe {
            (self.functions.encode)(
                &mut *map,
                layout.data_type,
                layout.extents.len() as c_uint,
                layout.address,
                layout.extents.as_ptr(),
                layout.strides.as_ptr(),
                layout.box_dims.as_ptr(),
                layout.steps.as_ptr(),
                interleave,
                swizzle,
                promotion,
                fill,
            )
        };
        self.functions.require("cuTensorMapEncodeTiled", status)?;
        Ok(map)
    }

    /// An event that has not been recorded.
    ///
    /// # Errors
    /// Where the driver has none.
    pub fn event(&self) -> Result<Event<'_>, DriverError> {
        let mut event = ptr::null_mut();
        // SAFETY: the place is a variable.
        let status = unsafe { (self.functions.event)(&mut event, 0) };
        self.functions.require("cuEventCreate", status)?;
        Ok(Event { gpu: self, event })
    }

    /// Waits until all work is done.
    ///
    /// # Errors
    /// Where some of it has failed.
    pub fn wait(&self) -> Result<(), DriverError> {
        // SAFETY: the context is current.
        let status = unsafe { (self.functions.synchronize)() };
        self.functions.require("cuCtxSynchronize", status)
    }
}

impl Event<'_> {
    /// Records it behind the work that was submitted so far.
    ///
    /// # Errors
    /// Where the driver refuses.
    pub fn record(&self) -> Result<(), DriverError> {
        // SAFETY: the event lives.
        let status = unsafe { (self.gpu.functions.record)(self.event, ptr::null_mut()) };
        self.gpu.functions.require("cuEventRecord", status)
    }

    /// How many seconds lie between this one and a later one. Both were recorded, and that is done.
    ///
    /// # Errors
    /// Where the driver refuses.
    pub fn until(&self, later: &Event<'_>) -> Result<f64, DriverError> {
        let mut milliseconds = 0.0;
        // SAFETY: the place is a variable, and both events live.
        let status =
            unsafe { (self.gpu.functions.elapsed)(&mut milliseconds, self.event, later.event) };
        self.gpu.functions.require("cuEventElapsedTime", status)?;
        Ok(f64::from(milliseconds) / 1000.0)
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: it was made once, and is ended once.
        unsafe { (self.gpu.functions.end_event)(self.event) };
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        let mut context = ptr::null_mut();
        // SAFETY: the context that was pushed is on top: whoever pushed others has popped them.
        unsafe { (self.functions.pop)(&mut context) };
        // SAFETY: it was retained once, and nothing of it is left.
        unsafe { (self.functions.release)(self.device) };
    }
}

impl Buffer<'_> {
    /// Overwrites it, with as many bytes as it has.
    ///
    /// # Errors
    /// Where the driver refuses to copy.
    pub fn fill(&self, bytes: &[u8]) -> Result<(), DriverError> {
        let functions = &self.gpu.functions;
        let size = bytes.len().min(self.size);
        // SAFETY: there are as many bytes on either side.
        let status = unsafe { (functions.to_gpu)(self.address, bytes.as_ptr().cast(), size) };
        functions.require("cuMemcpyHtoD", status)
    }

    /// The contents.
    ///
    /// # Errors
    /// Where the driver refuses to copy.
    pub fn bytes(&self) -> Result<Vec<u8>, DriverError> {
        let mut bytes = vec![0_u8; self.size];
        let functions = &self.gpu.functions;
        // SAFETY: there are as many bytes on either side.
        let status =
            unsafe { (functions.from_gpu)(bytes.as_mut_ptr().cast(), self.address, bytes.len()) };
        functions.require("cuMemcpyDtoH", status).map(|()| bytes)
    }

    /// Has the GPU overwrite it with zeros.
    ///
    /// # Errors
    /// Where the driver refuses.
    pub fn clear(&self) -> Result<(), DriverError> {
        let functions = &self.gpu.functions;
        // SAFETY: it has as many bytes.
        let status = unsafe { (functions.set_bytes)(self.address, 0, self.size, ptr::null_mut()) };
        functions.require("cuMemsetD8Async", status)
    }

    /// Has the GPU overwrite it with another one, as far as both go.
    ///
    /// # Errors
    /// Where the driver refuses.
    pub fn take(&self, other: &Buffer<'_>) -> Result<(), DriverError> {
        let (functions, size) = (&self.gpu.functions, self.size.min(other.size));
        // SAFETY: both have as many bytes.
        let status =
            unsafe { (functions.copy)(self.address, other.address, size, ptr::null_mut()) };
        functions.require("cuMemcpyDtoDAsync", status)
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: it was allocated in the context that is current, and is freed once.
        unsafe { (self.gpu.functions.free)(self.address) };
    }
}

impl<'g> Loaded<'g> {
    /// Makes a launch of a kernel of the image ready. As many arguments are passed as the kernel
    /// has parameters.
    ///
    /// # Errors
    /// Where the driver refuses it.
    pub fn ready(self, launch: GpuLaunch<'_>) -> Result<Submittable<'g>, DriverError> {
        let kernel = self.kernel(&launch)?;
        let (image, attributes) = (self, launch.attributes());
        let GpuLaunch { grid, block, shared_bytes, arguments, .. } = launch;
        Ok(Submittable { image, kernel, grid, block, shared_bytes, attributes, arguments })
    }

    /// The kernel, ready for the launch.
    fn kernel(&self, launch: &GpuLaunch<'_>) -> Result<Handle, DriverError> {
        let functions = &self.gpu.functions;
        let mut kernel = ptr::null_mut();
        // A symbol of C has no NUL.
        let symbol = CString::new(launch.symbol).unwrap_or_default();
        // SAFETY: the place is a variable, the image is loaded, and the name ends in a NUL.
        let status = unsafe { (functions.kernel)(&mut kernel, self.library, symbol.as_ptr()) };
        functions.require("cuLibraryGetKernel", status)?;
        let set = |attribute, value| {
            // SAFETY: the kernel is of an image that is loaded.
            let status =
                unsafe { (functions.set_attribute)(attribute, value, kernel, self.gpu.device) };
            functions.require("cuKernelSetAttribute", status)
        };
        if launch.shared_bytes > 0 {
            set(MAX_DYNAMIC_SHARED_BYTES, launch.shared_bytes as c_int)?;
        }
        if launch.cluster.is_some() {
            set(NON_PORTABLE_CLUSTER_ALLOWED, 1)?;
        }
        Ok(kernel)
    }
}

impl Submittable<'_> {
    /// Submits it, behind what was submitted so far.
    ///
    /// # Errors
    /// Where the driver refuses it.
    pub fn submit(&self) -> Result<(), DriverError> {
        let functions = &self.image.gpu.functions;
        let config = LaunchConfig {
            grid: self.grid,
            block: self.block,
            shared_bytes: self.shared_bytes,
            stream: ptr::null_mut(),
            attributes: self.attributes.as_ptr(),
            n_attributes: self.attributes.len() as c_uint,
        };
        let mut arguments: Vec<*mut c_void> =
            self.arguments.iter().map(GpuArgument::address).collect();
        let arguments = arguments.as_mut_ptr();
        // SAFETY: the image is loaded, and there is an argument for each parameter, which is only
        // read; all of it lives until the call returns.
        let status =
            unsafe { (functions.launch)(&config, self.kernel, arguments, ptr::null_mut()) };
        functions.require("cuLaunchKernelEx", status)
    }
}

impl GpuArgument {
    /// Where it lies.
    fn address(&self) -> *mut c_void {
        match self {
            GpuArgument::Word(word) => ptr::from_ref(word).cast_mut().cast(),
            GpuArgument::Map(map) => ptr::from_ref(&**map).cast_mut().cast(),
        }
    }
}

impl Drop for Loaded<'_> {
    fn drop(&mut self) {
        // SAFETY: it was loaded, nothing of it runs any more, and it is unloaded once.
        unsafe { (self.gpu.functions.unload)(self.library) };
    }
}

impl GpuLaunch<'_> {
    fn attributes(&self) -> Vec<LaunchAttribute> {
        // A value is numbers of 32 bits, two in each of the field's.
        let attribute = |id, [x, y, z]: [c_uint; 3]| {
            let value = [u64::from(x) | u64::from(y) << 32, z.into(), 0, 0, 0, 0, 0, 0];
            LaunchAttribute { id, value }
        };
        let cluster =
            self.cluster.map(|cluster| attribute(AttributeId::CLUSTER_DIMENSION, cluster));
        let cooperative = self.cooperative.then(|| attribute(AttributeId::COOPERATIVE, [1, 0, 0]));
        let early = self.early.then(|| attribute(AttributeId::DEPENDENT, [1, 0, 0]));
        cluster.into_iter().chain(cooperative).chain(early).collect()
    }
}
