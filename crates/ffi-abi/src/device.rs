// SPDX-License-Identifier: Apache-2.0
//! Device types, as DLPack numbers them. An open set.

use core::fmt;

/// A `DLDeviceType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceType(pub i32);

macro_rules! device_types {
    ($( $konst:ident = $value:literal, $c_name:literal, $name:literal; )*) => {
        impl DeviceType {
            $( #[doc = concat!("`", $c_name, "`, written `", $name, "`.")] pub const $konst: DeviceType = DeviceType($value); )*

            /// Every device type with a name: value, C enumerator, name.
            pub const TABLE: &[(DeviceType, &str, &str)] = &[ $( (DeviceType($value), $c_name, $name), )* ];
        }
    };
}

device_types! {
    CPU = 1, "kDLCPU", "cpu";
    CUDA = 2, "kDLCUDA", "cuda";
    CUDA_HOST = 3, "kDLCUDAHost", "cuda_host";
    OPENCL = 4, "kDLOpenCL", "opencl";
    VULKAN = 7, "kDLVulkan", "vulkan";
    METAL = 8, "kDLMetal", "metal";
    VPI = 9, "kDLVPI", "vpi";
    ROCM = 10, "kDLROCM", "rocm";
    ROCM_HOST = 11, "kDLROCMHost", "rocm_host";
    EXT_DEV = 12, "kDLExtDev", "ext_dev";
    CUDA_MANAGED = 13, "kDLCUDAManaged", "cuda_managed";
    ONE_API = 14, "kDLOneAPI", "oneapi";
    WEBGPU = 15, "kDLWebGPU", "webgpu";
    HEXAGON = 16, "kDLHexagon", "hexagon";
    MAIA = 17, "kDLMAIA", "maia";
    TRAINIUM = 18, "kDLTrn", "trn";
}

impl DeviceType {
    /// The words before the number of a device type without a name.
    pub const FALLBACK: &str = "device type ";

    /// The device types that a signature may name.
    pub const SUPPORTED: &[DeviceType] =
        &[DeviceType::CPU, DeviceType::CUDA, DeviceType::CUDA_HOST, DeviceType::CUDA_MANAGED];

    /// The device type of that name, among those that a signature may name.
    pub fn parse(name: &str) -> Option<DeviceType> {
        Self::SUPPORTED.iter().copied().find(|device| device.to_string() == name)
    }

    /// Whether the processor of the host reads and writes tensors there.
    pub fn is_host(self) -> bool {
        matches!(self, DeviceType::CPU | DeviceType::CUDA_HOST | DeviceType::CUDA_MANAGED)
    }

    /// Whether tensors there live in the memory of one particular GPU, and so take part in the
    /// device index check.
    pub fn has_index(self) -> bool {
        self == DeviceType::CUDA || self == DeviceType::CUDA_MANAGED
    }
}

impl fmt::Display for DeviceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::TABLE.iter().find(|row| row.0 == *self) {
            Some((_, _, name)) => f.write_str(name),
            None => write!(f, "{}{}", Self::FALLBACK, self.0),
        }
    }
}
