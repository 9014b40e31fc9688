// SPDX-License-Identifier: Apache-2.0
//! The structs that generated code and the runtime hand each other, each listed once: the Rust type
//! and the offsets that code generation writes to come from the one table below.
//!
//! Those of the driver are as `cuda.h` has them, those of libtvm_ffi as `tvm/ffi/c_api.h` does;
//! tests compare them with the tables that are held against these headers.

use core::ffi::{c_char, c_uint, c_void};

use super::MAX_PARTS;
use super::functions::{Check, Launch};
use crate::arch::ArchCode;
use crate::tensor_map::MOST_RANK;
use crate::text::Text;

/// Expands rows into `repr(C)` structs, and a module for each with the offsets of its fields and
/// its size, in bytes.
///
/// ```text
/// /// doc
/// struct Name in module {
///     /// doc
///     field: Type as OFFSET,
/// }
/// ```
macro_rules! structs {
    ($( $(#[$doc:meta])* struct $name:ident in $module:ident {
        $( $(#[$fdoc:meta])* $field:ident: $ty:ty as $konst:ident, )*
    } )*) => { $(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub struct $name { $( $(#[$fdoc])* pub $field: $ty, )* }

        $(#[$doc])*
        pub mod $module {
            $( $(#[$fdoc])* pub const $konst: u32 =
                core::mem::offset_of!(super::$name, $field) as u32; )*
            /// The size in bytes.
            pub const BYTES: u32 = size_of::<super::$name>() as u32;
        }
    )* };
}

structs! {
    /// An error before it is raised, on the stack of the entry point: which one that is, and what
    /// the runtime has worded, the kind and the parts of the message.
    struct ErrorParts in error_parts {
        /// The error's type, such as `ValueError`.
        kind: *const c_char as KIND,
        /// ` when calling: ` and the short form of the signature, for messages that do not know it.
        /// Generated code writes it before the runtime words any of these.
        call: *const c_char as CALL,
        /// The backtrace, as libtvm_ffi words one: a line that names the entry point; or nothing,
        /// for a prepared call. It is written before a piece of a function is called, or else
        /// before the error is raised.
        backtrace: *const c_char as BACKTRACE,
        /// A string and the digits behind it, each NULL where a part has none.
        parts: [[*const c_char; 2]; MAX_PARTS] as PARTS,
        /// The digits of a part, to which its second string points.
        digits: [Text; MAX_PARTS] as DIGITS,
    }
    /// `TVMFFIAny`
    struct Any in any {
        /// The type of the payload.
        type_index: i32 as TYPE_INDEX,
        /// Zero, or the length of a small string.
        padding: u32 as PADDING,
        /// The value or the pointer.
        payload: *mut c_void as PAYLOAD,
    }
    /// `TVMFFISeqCell`, with the header that every object has.
    struct Sequence in sequence {
        /// The object's header.
        header: [u64; 3] as HEADER,
        /// The elements.
        elements: *const Any as ELEMENTS,
        /// How many.
        size: i64 as SIZE,
    }
    /// `TVMFFIByteArray`, as a string object has it: with the header that every object has.
    struct StringObject in string_object {
        /// The object's header.
        header: [u64; 3] as HEADER,
        /// The bytes.
        data: *const u8 as DATA,
        /// How many.
        size: usize as SIZE,
    }
    /// `TVMFFIByteArray`
    struct ByteArray in byte_array {
        /// The bytes.
        data: *const u8 as DATA,
        /// How many.
        size: usize as SIZE,
    }
    /// `TVMFFIErrorCell`, with the header that every object has; versions have more behind it.
    struct ErrorObject in error_object {
        /// The object's header.
        header: [u64; 3] as HEADER,
        /// The error's type.
        kind: ByteArray as KIND,
        /// Its message.
        message: ByteArray as MESSAGE,
    }
    /// A function that calls can be prepared of.
    struct Preparable in preparable {
        /// The name by which callers prepare it.
        name: *const c_char as NAME,
        /// Its checks.
        check: Check as CHECK,
        /// Its launches, behind the checks.
        launch: Launch as LAUNCH,
        /// How many bytes the state between both has.
        state_bytes: u64 as STATE_BYTES,
        /// Whether all that a prepared call does is to launch, in one batch, on the environment's
        /// stream, the same each time: 1 then.
        is_same: u64 as IS_SAME,
    }
    /// The attributes of a device that launches may ask for.
    struct DeviceFacts in device_facts {
        /// How many multiprocessors it has.
        sm_count: i64 as SM_COUNT,
        /// How many bytes of shared memory a block may have, static and dynamic.
        smem_optin: i64 as SMEM_OPTIN,
        /// Its compute capability: 90 for 9.0.
        cc: i64 as CC,
    }
    /// `CUlaunchConfig`: how large a launch is, where it goes, and its attributes.
    struct LaunchConfig in launch_config {
        /// Blocks in the grid, x first.
        grid: [c_uint; 3] as GRID,
        /// Threads in a block, x first.
        block: [c_uint; 3] as BLOCK,
        /// Bytes of dynamic shared memory.
        shared_bytes: c_uint as SHARED_BYTES,
        /// The stream.
        stream: *mut c_void as STREAM,
        /// The attributes.
        attributes: *const LaunchAttribute as ATTRIBUTES,
        /// How many.
        n_attributes: c_uint as N_ATTRIBUTES,
    }
    /// A launch of a kernel of the package.
    struct KernelLaunch in kernel_launch {
        /// How large it is and where it goes. Its grid has blocks.
        config: LaunchConfig as CONFIG,
        /// The addresses of the arguments.
        args: *mut *mut c_void as ARGS,
        /// How many arguments there are, how many bytes they have together, and then each. Equal
        /// lists of a package are at one address.
        sizes: *const u32 as SIZES,
        /// The number of the kernel.
        kernel: u32 as KERNEL,
    }
    /// Launches of a call that follow one another on one stream, with nothing between them. They
    /// lie behind it.
    struct Batch in batch {
        /// The prepared call that makes them; NULL where none does.
        owner: *mut c_void as OWNER,
        /// The stream of all of them.
        stream: *mut c_void as STREAM,
        /// The device.
        device: i32 as DEVICE,
        /// The number of the function.
        function: u32 as FUNCTION,
        /// How the function wants it submitted.
        submit: Submit as SUBMIT,
        /// How many launches there are.
        n_launches: u32 as N_LAUNCHES,
    }
    /// `CUlaunchAttribute`
    struct LaunchAttribute in launch_attribute {
        /// Which it is: an `AttributeId`.
        id: AttributeId as ID,
        /// Its value: numbers of 32 bits, or an address.
        value: [u64; 8] as VALUE,
    }
    /// The part of a tensor map that a call decides, the innermost dim first.
    struct TensorMapValues in tensor_map_values {
        /// Where the first element is.
        address: *mut c_void as ADDRESS,
        /// The extents.
        dims: [u64; MOST_RANK] as DIMS,
        /// Of all dims but the innermost, in bytes.
        strides: [u64; MOST_RANK - 1] as STRIDES,
        /// The `CUtensorMapDataType`.
        data_type: u64 as DATA_TYPE,
        /// The part that is the same in every call.
        constants: *const TensorMapConstants as CONSTANTS,
    }
    /// The part of a tensor map that is the same in every call.
    struct TensorMapConstants in tensor_map_constants {
        /// The elements of a box along each dim.
        box_dims: [u32; MOST_RANK] as BOX_DIMS,
        /// How far apart they are.
        steps: [u32; MOST_RANK] as STEPS,
        /// How many dims there are.
        rank: u32 as RANK,
        /// The `CUtensorMapInterleave`.
        interleave: u32 as INTERLEAVE,
        /// The `CUtensorMapSwizzle`.
        swizzle: u32 as SWIZZLE,
        /// The `CUtensorMapL2promotion`.
        promotion: u32 as PROMOTION,
        /// The `CUtensorMapFloatOOBfill`.
        fill: u32 as FILL,
        /// The tensor's name, which begins here and ends with NUL.
        name: [c_char; 0] as NAME,
    }
    /// A package's GPU code.
    struct Package in package {
        /// Its name.
        name: *const c_char as NAME,
        /// Its modules.
        modules: *const Module as MODULES,
        /// How many.
        n_modules: u64 as N_MODULES,
        /// Its kernels.
        kernels: *const Kernel as KERNELS,
        /// How many.
        n_kernels: u64 as N_KERNELS,
        /// How many of its functions launch some: they are numbered from 0.
        n_functions: u64 as N_FUNCTIONS,
    }
    /// The same kernels for several devices.
    struct Module in module {
        /// The images.
        images: *const Image as IMAGES,
        /// How many.
        n_images: u64 as N_IMAGES,
        /// The architectures that they are for, for messages: `sm_90a, compute_80`.
        archs: *const c_char as ARCHS,
    }
    /// Code for one kind of device.
    struct Image in image {
        /// The image.
        data: *const c_void as DATA,
        /// The architecture that it is for.
        arch: ArchCode as ARCH,
    }
    /// A kernel.
    struct Kernel in kernel {
        /// Its name in the module.
        name: *const c_char as NAME,
        /// The number of its module.
        module: u64 as MODULE,
    }
}

/// How launches reach the driver: the `submit` of a [`Batch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Submit(pub u32);

impl Submit {
    /// By whichever way is cheaper.
    pub const AUTO: Self = Self(0);
    /// One by one.
    pub const PLAIN: Self = Self(1);
    /// As an executable graph, where that can be.
    pub const GRAPH: Self = Self(2);
    /// One by one, whatever anybody wants: only launches can do what these do.
    pub const LAUNCHES: Self = Self(3);
}

/// The `id` of a [`LaunchAttribute`]: those that the compiler writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct AttributeId(pub u32);

impl AttributeId {
    /// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`
    pub const COOPERATIVE: Self = Self(2);
    /// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`
    pub const CLUSTER_DIMENSION: Self = Self(4);
    /// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`
    pub const DEPENDENT: Self = Self(6);
    /// `CU_LAUNCH_ATTRIBUTE_PRIORITY`
    pub const PRIORITY: Self = Self(8);
}

/// `CU_TENSOR_MAP_INTERLEAVE_32B`
pub const INTERLEAVE_32: u32 = 2;

/// The type indices of libtvm_ffi that the runtime tells apart.
pub mod type_index {
    /// Nothing.
    pub const NONE: i32 = 0;
    /// A `DLTensor*`.
    pub const DL_TENSOR: i32 = 7;
    /// A `const char*`.
    pub const RAW_STR: i32 = 8;
    /// A string in the payload itself.
    pub const SMALL_STR: i32 = 11;
    /// Objects have this or more.
    pub const OBJECT: i32 = 64;
    /// A string.
    pub const STR: i32 = 65;
    /// A function.
    pub const FUNCTION: i32 = 68;
    /// An array.
    pub const ARRAY: i32 = 71;
    /// A list.
    pub const LIST: i32 = 75;
}
