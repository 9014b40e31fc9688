// SPDX-License-Identifier: Apache-2.0
//! Lowers launches on a GPU: fills in what the driver wants to know, and leaves the rest to the
//! runtime.

use super::SafeCall;
use super::asserts::find_record;
use super::faults::Faults;
use super::function::FunctionBuilder;
use super::import::{call_runtime, record};
use super::launch::Call;
use super::struct_args::store;
use crate::gpu_code::{GpuCode, GpuModule};
use kernpack_codegen::llvm::{Emitter, Ty, V, Word};
use kernpack_ffi_abi::FUNCTION_PREFIX;
use kernpack_ffi_abi::layout::any;
use kernpack_machine::Arch;
use kernpack_package::image::section::{ALIGNMENT, SECTION};
use kernpack_package::target::struct_abi::Layout;
use kernpack_runtime::interface::PACKAGE;
use kernpack_runtime::interface::functions::CUDA_PRELOAD;
use kernpack_runtime::interface::layout::{
    AttributeId, image, kernel, kernel_launch, launch_attribute, launch_config, module, package,
};
use kernpack_validators::LaunchFlag;
use kernpack_validators::plan::{self, Grid, LaunchArg, Plan};

/// Writes the description of the package's GPU code, and of how many functions launch it.
pub fn define(e: &Emitter<'_>, name: &str, code: &GpuCode, n_functions: u32) {
    let text = |text: &str| e.bytes("", format!("{text}\0").as_bytes(), 1);
    let mut modules = Vec::new();
    for GpuModule { artifact, .. } in &code.modules {
        let (mut images, mut n_images) = (Vec::new(), 0);
        for source in &artifact.images {
            let data = e.section_bytes(SECTION, &source.bytes, ALIGNMENT as u32);
            for arch in source.archs() {
                let arch = Word::Int(arch.code().bits().into());
                let fields = [(image::DATA, Word::Pointer(data)), (image::ARCH, arch)];
                images.extend(record(image::BYTES, fields));
                n_images += 1;
            }
        }
        let archs: Vec<_> = artifact.archs().iter().map(Arch::to_string).collect();
        let fields = [
            (module::IMAGES, Word::Pointer(e.words("", &images))),
            (module::N_IMAGES, Word::Int(n_images)),
            (module::ARCHS, Word::Pointer(text(&archs.join(", ")))),
        ];
        modules.extend(record(module::BYTES, fields));
    }
    let mut kernels = Vec::new();
    for (module, name) in code.kernels.numbered() {
        let name = Word::Pointer(text(name));
        let fields = [(kernel::NAME, name), (kernel::MODULE, Word::Int(*module as i64))];
        kernels.extend(record(kernel::BYTES, fields));
    }
    let fields = [
        (package::NAME, Word::Pointer(text(name))),
        (package::MODULES, Word::Pointer(e.words("", &modules))),
        (package::N_MODULES, Word::Int(code.modules.len() as i64)),
        (package::KERNELS, Word::Pointer(e.words("", &kernels))),
        (package::N_KERNELS, Word::Int(code.kernels.numbered().len() as i64)),
        (package::N_FUNCTIONS, Word::Int(n_functions.into())),
    ];
    e.export_words(PACKAGE, &record(package::BYTES, fields));
}

/// Lowers the function that loads the package's GPU code on a device, and, where kernels assert
/// something, makes the record of that.
pub fn lower_preload(e: &Emitter<'_>, plan: &Plan, faults: &mut Faults, asserts: bool) {
    let function = SafeCall::define(e, &format!("{FUNCTION_PREFIX}{}", plan.name));
    let (args, n_args, _) = SafeCall::params(e, function);
    let mut builder = FunctionBuilder::new(e, plan, function, args, n_args);
    builder.plan();
    let device = e.load(Ty::I64, e.offset_by(args, any::PAYLOAD.offset));
    let error = builder.driver_error();
    let n_strings = call_runtime(e, CUDA_PRELOAD, &[device, error]);
    builder.leave_if_written(n_strings);
    if asserts {
        find_record(&mut builder, device);
    }
    e.ret(e.int(Ty::I32, 0));
    builder.finish(faults);
}

/// The attribute whose value is 1 for launches that have the flag.
fn flag_attribute(flag: LaunchFlag) -> AttributeId {
    match flag {
        LaunchFlag::Cooperative => AttributeId::COOPERATIVE,
        LaunchFlag::Dependent => AttributeId::DEPENDENT,
    }
}

impl<'f, 'c> Call<'_, 'f, 'c> {
    /// Adds a launch of a kernel of the package to the batch.
    pub fn run_on_gpu(&mut self, kernel: usize, grid: &Grid, launch: &plan::Launch) {
        let e = self.e();
        let (args, sizes) = self.store_args(&launch.args);
        let space = self.next_launch();
        self.store_config(space, grid);
        e.store_at(space, kernel_launch::ARGS, args);
        e.store_at(space, kernel_launch::SIZES, e.bytes("", &sizes, 4));
        e.store_at(space, kernel_launch::KERNEL, e.int(Ty::I32, kernel as i64));
    }

    /// Where the runtime has written an error, submits what came before, frees everything and
    /// raises it.
    pub(super) fn leave_with_error(&mut self, n_strings: V<'c>) {
        let e = self.e();
        let ok = self.builder.at_failure(n_strings);
        let n_strings = self.submit_before(n_strings);
        self.free_all();
        self.builder.leave(n_strings);
        e.at(ok);
    }

    /// The arguments in memory: an array of their addresses. And how many there are, how many bytes
    /// they have together, and each.
    fn store_args(&mut self, args: &[LaunchArg]) -> (V<'c>, Vec<u8>) {
        let e = self.e();
        let addresses = e.stack(self.function(), 8 * args.len().max(1) as u32);
        let mut sizes = Vec::new();
        for (i, arg) in args.iter().enumerate() {
            let (space, size) = match arg {
                LaunchArg::TensorMap(map) => (self.encode(map), Layout::TENSOR_MAP.size),
                _ => {
                    let (space, layout) = store(self, arg);
                    (space, layout.size)
                }
            };
            e.store_at(addresses, 8 * i as u32, space);
            sizes.push(size);
        }
        let counts = [args.len() as u32, sizes.iter().sum()];
        (addresses, counts.into_iter().chain(sizes).flat_map(u32::to_le_bytes).collect())
    }

    /// Writes how a launch is laid out to the place of its configuration.
    fn store_config(&mut self, space: V<'c>, grid: &Grid) {
        let e = self.e();
        let config = e.offset_by(space, kernel_launch::CONFIG);
        let dims = grid.grid.iter().zip((launch_config::GRID..).step_by(4));
        let dims = dims.chain(grid.block.iter().zip((launch_config::BLOCK..).step_by(4)));
        for (value, offset) in dims.chain([(&grid.shared, launch_config::SHARED_BYTES)]) {
            self.store_u32(config, offset, *value);
        }
        let stream = self.stream_of(grid);
        e.store_at(config, launch_config::STREAM, stream);
        let (attributes, n_attributes) = self.attributes(grid);
        e.store_at(config, launch_config::ATTRIBUTES, attributes);
        e.store_at(config, launch_config::N_ATTRIBUTES, e.int(Ty::I32, n_attributes));
    }

    /// The stream that a launch goes to.
    pub(super) fn stream_of(&mut self, grid: &Grid) -> V<'c> {
        match grid.stream {
            Some(stream) => self.e().to_pointer(self.builder.value(stream)),
            None => self.env_stream(),
        }
    }

    fn attributes(&mut self, grid: &Grid) -> (V<'c>, i64) {
        let e = self.e();
        let one = e.int(Ty::I32, 1);
        let flags = grid.flags.iter().map(|flag| (flag_attribute(flag), vec![one]));
        let mut attributes: Vec<(AttributeId, Vec<V<'c>>)> = flags.collect();
        if let Some(cluster) = grid.cluster {
            let dims = cluster.map(|dim| e.truncate(self.builder.value(dim), Ty::I32));
            attributes.push((AttributeId::CLUSTER_DIMENSION, dims.to_vec()));
        }
        if let Some(priority) = grid.priority {
            let priority = e.truncate(self.builder.value(priority), Ty::I32);
            attributes.push((AttributeId::PRIORITY, vec![priority]));
        }
        if attributes.is_empty() {
            return (e.null(), 0);
        }
        attributes.sort_by_key(|(id, _)| id.0);
        let array = e.stack(self.function(), launch_attribute::BYTES * attributes.len() as u32);
        for (i, (id, values)) in attributes.iter().enumerate() {
            let at = launch_attribute::BYTES * i as u32;
            e.store_at(array, at + launch_attribute::ID, e.int(Ty::I32, id.0.into()));
            // Two words have a value, or zeros behind it, for whoever compares them.
            let zero = e.int(Ty::I32, 0);
            let values = values.iter().copied().chain([zero; 4]).take(4);
            for (value, offset) in values.zip((launch_attribute::VALUE..).step_by(4)) {
                e.store_at(array, at + offset, value);
            }
        }
        (array, attributes.len() as i64)
    }

    fn store_u32(&mut self, at: V<'c>, offset: u32, value: plan::Value) {
        let e = self.e();
        let value = e.truncate(self.builder.value(value), Ty::I32);
        e.store_at(at, offset, value);
    }
}
