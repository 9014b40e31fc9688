// SPDX-License-Identifier: Apache-2.0
//! The driver's structs as the runtime has them, against those of the stub, which a C compiler
//! holds against `cuda.h`.

use core::mem::offset_of;

use kernpack_cuda_stub::c_types::{CUlaunchAttribute, CUlaunchConfig};
use kernpack_runtime::interface::layout::{AttributeId, launch_attribute, launch_config};

#[test]
fn the_drivers_structs_are_laid_out_as_its_header_says() {
    let runtimes = [
        launch_config::GRID,
        launch_config::BLOCK,
        launch_config::SHARED_BYTES,
        launch_config::STREAM,
        launch_config::ATTRIBUTES,
        launch_config::N_ATTRIBUTES,
        launch_config::BYTES,
        launch_attribute::ID,
        launch_attribute::VALUE,
        launch_attribute::BYTES,
    ];
    let stubs = [
        offset_of!(CUlaunchConfig, grid),
        offset_of!(CUlaunchConfig, block),
        offset_of!(CUlaunchConfig, shared_mem_bytes),
        offset_of!(CUlaunchConfig, stream),
        offset_of!(CUlaunchConfig, attrs),
        offset_of!(CUlaunchConfig, num_attrs),
        size_of::<CUlaunchConfig>(),
        offset_of!(CUlaunchAttribute, id),
        offset_of!(CUlaunchAttribute, value),
        size_of::<CUlaunchAttribute>(),
    ];
    assert_eq!(runtimes.map(|bytes| bytes as usize), stubs);
}

#[test]
fn attributes_have_the_numbers_of_the_drivers_header() {
    let runtimes = [
        AttributeId::COOPERATIVE,
        AttributeId::CLUSTER_DIMENSION,
        AttributeId::DEPENDENT,
        AttributeId::PRIORITY,
    ];
    let stubs = [
        CUlaunchAttribute::COOPERATIVE,
        CUlaunchAttribute::CLUSTER_DIMENSION,
        CUlaunchAttribute::PROGRAMMATIC_STREAM_SERIALIZATION,
        CUlaunchAttribute::PRIORITY,
    ];
    assert_eq!(runtimes.map(|id| id.0), stubs);
}
