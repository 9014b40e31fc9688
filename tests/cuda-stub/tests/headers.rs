// SPDX-License-Identifier: Apache-2.0
//! Types, values and prototypes against the `cuda.h` of the installed nvidia-cuda-runtime: written
//! out as C, and compiled.

use kernpack_cuda_stub::api;
use kernpack_cuda_stub::c_types::{
    CUDA_KERNEL_NODE_PARAMS as CUkernelNode, CUgraphEdgeData, CUlaunchAttribute, CUlaunchConfig,
    CUtensorMap,
};
use kernpack_cuda_stub::capture::mode;
use kernpack_cuda_stub::h200;
use kernpack_cuda_stub::status::Status;
use std::fmt::Write;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the environment's Python prints.
fn printed(script: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = std::env::var_os("KERNPACK_PYTHON").map(PathBuf::from);
    let python = python.unwrap_or_else(|| root.join(".venv/bin/python"));
    let output = Command::new(&python).args(["-c", script]).output();
    let output = output.unwrap_or_else(|error| {
        panic!("cannot run {}: {error}; run `scripts/setup python` first", python.display())
    });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim().to_string()
}

/// The folder of `cuda.h`.
fn include_folder() -> PathBuf {
    let folder = "import nvidia.cu13 as n; print(list(n.__path__)[0])";
    Path::new(&printed(folder)).join("include")
}

fn assert_c(code: &mut String, left: impl std::fmt::Display, right: impl std::fmt::Display) {
    writeln!(code, "_Static_assert({left} == {right}, \"{left} is not {right}\");").unwrap();
}

fn assert_offsets(code: &mut String, name: &str, fields: &[(&str, usize)]) {
    for (field, offset) in fields {
        assert_c(code, format!("offsetof({name}, {field})"), offset);
    }
}

fn layouts(code: &mut String) {
    let config = [
        ("gridDimX", offset_of!(CUlaunchConfig, grid)),
        ("gridDimZ", offset_of!(CUlaunchConfig, grid) + 8),
        ("blockDimX", offset_of!(CUlaunchConfig, block)),
        ("blockDimZ", offset_of!(CUlaunchConfig, block) + 8),
        ("sharedMemBytes", offset_of!(CUlaunchConfig, shared_mem_bytes)),
        ("hStream", offset_of!(CUlaunchConfig, stream)),
        ("attrs", offset_of!(CUlaunchConfig, attrs)),
        ("numAttrs", offset_of!(CUlaunchConfig, num_attrs)),
    ];
    assert_offsets(code, "CUlaunchConfig", &config);
    let node = [
        ("func", offset_of!(CUkernelNode, function)),
        ("gridDimX", offset_of!(CUkernelNode, grid)),
        ("gridDimZ", offset_of!(CUkernelNode, grid) + 8),
        ("blockDimX", offset_of!(CUkernelNode, block)),
        ("blockDimZ", offset_of!(CUkernelNode, block) + 8),
        ("sharedMemBytes", offset_of!(CUkernelNode, shared_mem_bytes)),
        ("kernelParams", offset_of!(CUkernelNode, params)),
        ("extra", offset_of!(CUkernelNode, extra)),
        ("kern", offset_of!(CUkernelNode, kernel)),
        ("ctx", offset_of!(CUkernelNode, context)),
    ];
    assert_offsets(code, "CUDA_KERNEL_NODE_PARAMS", &node);
    assert_c(code, "sizeof(CUDA_KERNEL_NODE_PARAMS)", size_of::<CUkernelNode>());
    let edge = [
        ("from_port", offset_of!(CUgraphEdgeData, from_port)),
        ("to_port", offset_of!(CUgraphEdgeData, to_port)),
        ("type", offset_of!(CUgraphEdgeData, kind)),
    ];
    assert_offsets(code, "CUgraphEdgeData", &edge);
    assert_c(code, "sizeof(CUgraphEdgeData)", size_of::<CUgraphEdgeData>());
    let value = offset_of!(CUlaunchAttribute, value);
    assert_c(code, "offsetof(CUlaunchAttribute, id)", offset_of!(CUlaunchAttribute, id));
    assert_c(code, "offsetof(CUlaunchAttribute, value.clusterDim.x)", value);
    assert_c(code, "offsetof(CUlaunchAttribute, value.clusterDim.z)", value + 8);
    assert_c(code, "offsetof(CUlaunchAttribute, value.cooperative)", value);
    assert_c(code, "offsetof(CUlaunchAttribute, value.priority)", value);
    assert_c(code, "sizeof(CUlaunchAttribute)", size_of::<CUlaunchAttribute>());
    assert_c(code, "sizeof(CUlaunchConfig)", size_of::<CUlaunchConfig>());
    assert_c(code, "sizeof(CUtensorMap)", size_of::<CUtensorMap>());
    // The type in C is aligned to twice what the driver demands.
    assert_c(code, "_Alignof(CUtensorMap)", 2 * align_of::<CUtensorMap>());
}

fn values(code: &mut String) {
    use kernpack_cuda_stub::api::kernel::attribute;
    let rows = [
        ("CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW", CUlaunchAttribute::ACCESS_POLICY_WINDOW),
        ("CU_LAUNCH_ATTRIBUTE_COOPERATIVE", CUlaunchAttribute::COOPERATIVE),
        ("CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION", CUlaunchAttribute::CLUSTER_DIMENSION),
        (
            "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION",
            CUlaunchAttribute::PROGRAMMATIC_STREAM_SERIALIZATION,
        ),
        ("CU_LAUNCH_ATTRIBUTE_PRIORITY", CUlaunchAttribute::PRIORITY),
        ("CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH", 1),
        ("CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY", 8),
        ("CU_STREAM_CAPTURE_MODE_GLOBAL", mode::GLOBAL),
        ("CU_STREAM_CAPTURE_MODE_THREAD_LOCAL", mode::THREAD_LOCAL),
        ("CU_STREAM_CAPTURE_MODE_RELAXED", mode::RELAXED),
        ("CU_STREAM_CAPTURE_STATUS_ACTIVE", 1),
        ("CU_STREAM_CAPTURE_STATUS_INVALIDATED", 2),
        ("CU_STREAM_NON_BLOCKING", 1),
        ("CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK", attribute::MAX_THREADS),
        ("CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES", attribute::STATIC_SHARED),
        ("CU_FUNC_ATTRIBUTE_NUM_REGS", attribute::REGISTERS),
        ("CU_FUNC_ATTRIBUTE_PTX_VERSION", attribute::PTX_VERSION),
        ("CU_FUNC_ATTRIBUTE_BINARY_VERSION", attribute::BINARY_VERSION),
        ("CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES", attribute::MAX_DYNAMIC_SHARED),
        ("CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT", attribute::CARVEOUT),
        ("CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED", attribute::NON_PORTABLE_CLUSTER),
        ("CU_FUNC_ATTRIBUTE_MAX", attribute::LAST + 1),
        ("CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK", 1),
        ("CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X", 2),
        ("CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X", 5),
        ("CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK", 8),
        ("CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT", 16),
        ("CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR", 39),
        ("CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR", 75),
        ("CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR", 76),
        ("CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR", 81),
        ("CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR", 82),
        ("CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", 97),
        ("CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR", 106),
        ("CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK", 111),
        ("CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH", 120),
        ("CU_POINTER_ATTRIBUTE_CONTEXT", 1),
        ("CU_POINTER_ATTRIBUTE_MEMORY_TYPE", 2),
        ("CU_MEMORYTYPE_DEVICE", 2),
        ("CU_POINTER_ATTRIBUTE_IS_MANAGED", 8),
        ("CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL", 9),
        ("CU_POINTER_ATTRIBUTE_RANGE_START_ADDR", 11),
        ("CU_POINTER_ATTRIBUTE_RANGE_SIZE", 12),
        ("CU_POINTER_ATTRIBUTE_MAPPED", 13),
        ("CU_TENSOR_MAP_DATA_TYPE_FLOAT32", 7),
        ("CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B", 15),
        ("CU_TENSOR_MAP_INTERLEAVE_32B", 2),
        ("CU_TENSOR_MAP_SWIZZLE_128B", 3),
        ("CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B", 6),
        ("CU_TENSOR_MAP_L2_PROMOTION_L2_256B", 3),
        ("CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA", 1),
        ("CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC", CUgraphEdgeData::PROGRAMMATIC.into()),
        ("CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER", CUgraphEdgeData::LAUNCH_ORDER.into()),
        ("CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC", CUgraphEdgeData::PROGRAMMATIC_TYPE.into()),
        ("CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT", 2),
        ("CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM", 2),
        ("CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT", 1),
        ("CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT", 2),
    ];
    for (name, value) in rows {
        assert_c(code, name, value);
    }
    // The real driver answers for one number more than the header has.
    assert_eq!(h200::ATTRIBUTES.len(), 150);
    assert_c(code, "CU_DEVICE_ATTRIBUTE_MAX", 148);
}

/// Everything that must compile.
fn assertions() -> String {
    let mut code = "#include <stddef.h>\n#include <cuda.h>\n".to_string();
    for (status, name, _) in Status::TABLE {
        assert_c(&mut code, name.to_str().unwrap(), status.0);
    }
    layouts(&mut code);
    values(&mut code);
    for export in api::exports() {
        // A second declaration must agree with the header's.
        let arguments = (export.arguments)();
        let arguments =
            if arguments.is_empty() { "void".to_string() } else { arguments.join(", ") };
        writeln!(code, "CUresult CUDAAPI {}({arguments});", export.name).unwrap();
        writeln!(code, "void* use_{0} = (void*)&{0};", export.name).unwrap();
    }
    code
}

fn compiles(code: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cuda.c");
    std::fs::write(&file, code).unwrap();
    let mut command = Command::new("cc");
    // Declared by the header, or else an error.
    command.args(["-std=c11", "-fsyntax-only", "-I"]).arg(include_folder()).arg(&file);
    let output = command.output().expect("a C compiler");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(errors) }
}

#[test]
fn the_stub_matches_the_header() {
    compiles(&assertions()).unwrap_or_else(|errors| panic!("{errors}"));
}

#[test]
fn a_wrong_prototype_or_value_would_be_noticed() {
    let code = assertions();
    let wrong = [
        ("cuStreamCreate(CUstream *, unsigned int)", "cuStreamCreate(CUstream *, int)"),
        ("cuCtxGetCurrent(CUcontext *)", "cuCtxGetCurrent(CUstream *)"),
        ("CUDA_ERROR_INVALID_VALUE == 1,", "CUDA_ERROR_INVALID_VALUE == 2,"),
        ("offsetof(CUlaunchConfig, hStream) == 32,", "offsetof(CUlaunchConfig, hStream) == 28,"),
    ];
    for (right, wrong) in wrong {
        assert!(code.contains(right), "{right}");
        assert!(compiles(&code.replace(right, wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn every_function_and_code_of_the_header_that_is_claimed_is_there() {
    let header = std::fs::read_to_string(include_folder().join("cuda.h")).unwrap();
    let codes = header.split_once("typedef enum cudaError_enum {").unwrap().1;
    let codes = codes.split_once("} CUresult;").unwrap().0;
    let names = codes.lines().filter_map(|line| line.split_once('=').map(|(name, _)| name.trim()));
    let names: Vec<_> = names.filter(|name| name.starts_with("CUDA_")).collect();
    let table: Vec<_> = Status::TABLE.iter().map(|row| row.1.to_str().unwrap()).collect();
    assert_eq!(table, names);
    for export in api::exports() {
        assert!(header.contains(export.name.split("_v").next().unwrap()), "{}", export.name);
    }
}
