// SPDX-License-Identifier: Apache-2.0
//! The three ways to launch a kernel.

use crate::argument::{In, Pointers};
use crate::c_types::{CUfunction, CUlaunchAttribute, CUlaunchConfig, CUstream};
use crate::launch::{Launch, launch};

api! {
    /// Launches a kernel.
    fn cuLaunchKernel(
        call,
        function: CUfunction,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared_mem_bytes: u32,
        stream: CUstream,
        params: Pointers,
        extra: Pointers,
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let config = CUlaunchConfig::new(grid, block, shared_mem_bytes, stream, &[]);
        launch(call, &Launch { config, function, params, extra })
    }

    /// Launches a kernel with attributes.
    fn cuLaunchKernelEx(
        call,
        config: In<CUlaunchConfig>,
        function: CUfunction,
        params: Pointers,
        extra: Pointers,
    ) {
        launch(call, &Launch { config: config.get()?, function, params, extra })
    }

    /// Launches a kernel whose blocks wait for one another.
    fn cuLaunchCooperativeKernel(
        call,
        function: CUfunction,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared_mem_bytes: u32,
        stream: CUstream,
        params: Pointers,
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let cooperative = [CUlaunchAttribute::new(CUlaunchAttribute::COOPERATIVE, [1, 0, 0])];
        let config = CUlaunchConfig::new(grid, block, shared_mem_bytes, stream, &cooperative);
        let extra = Pointers(std::ptr::null_mut());
        launch(call, &Launch { config, function, params, extra })
    }
}
