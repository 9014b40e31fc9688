// SPDX-License-Identifier: Apache-2.0
//! Source `cuda`: kernels in CUDA C++, as a user describes them.
//!
//! A kernel is named as C++ names it, `scale` or `rms<float, 128>`, which also instantiates a
//! template. Not here: NVRTC, which compiles them.

use super::gpu::Described;
use kernpack_ffi_abi::DType;
use kernpack_syntax::Placed;
use std::path::PathBuf;

/// A CUDA C++ file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaSource {
    /// The file.
    pub path: Placed<PathBuf>,
    /// Folders to look for headers in, behind the file's own and before CUDA's.
    pub include: Vec<PathBuf>,
    /// Macros, `NAME` and value.
    pub define: Vec<(String, String)>,
    /// Further options of NVRTC. The architecture is not among them.
    pub options: Vec<Placed<String>>,
    /// Whether the image tells debuggers and profilers which line each instruction comes from.
    pub line_info: bool,
}

impl CudaSource {
    /// That file, without options.
    pub fn new(path: impl Into<PathBuf>) -> CudaSource {
        let path = Placed::from(path.into());
        CudaSource { path, include: vec![], define: vec![], options: vec![], line_info: false }
    }
}

impl Described for CudaSource {
    fn word(&self) -> &'static str {
        "cuda"
    }

    fn name(&self) -> Placed<String> {
        Placed::new(self.path.display().to_string(), self.path.span)
    }

    fn dtype_name(&self, dtype: DType, _: &str) -> Option<String> {
        type_name(dtype).map(str::to_string)
    }
}

/// The type of CUDA C++ that holds an element of a dtype, as its headers name it. Not every dtype
/// has one, and its own name would not do: CUDA's `int4` is a vector of four `int`.
pub fn type_name(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::BOOL => "bool",
        DType::INT8 => "signed char",
        DType::INT16 => "short",
        DType::INT32 => "int",
        DType::INT64 => "long long",
        DType::UINT8 => "unsigned char",
        DType::UINT16 => "unsigned short",
        DType::UINT32 => "unsigned int",
        DType::UINT64 => "unsigned long long",
        DType::FLOAT16 => "__half",
        DType::BFLOAT16 => "__nv_bfloat16",
        DType::FLOAT32 => "float",
        DType::FLOAT64 => "double",
        DType::FLOAT8_E4M3FN => "__nv_fp8_e4m3",
        DType::FLOAT8_E5M2 => "__nv_fp8_e5m2",
        DType::FLOAT8_E8M0FNU => "__nv_fp8_e8m0",
        DType::FLOAT4_E2M1FNX2 => "__nv_fp4x2_e2m1",
        DType::COMPLEX64 => "float2",
        DType::COMPLEX128 => "double2",
        _ => return None,
    })
}
