// SPDX-License-Identifier: Apache-2.0
//! Lowers what an accepted call does: allocations, then the launches whose conditions hold, then
//! the result.
//!
//! Everything that a call allocates is allocated before anything runs, so each way out frees the
//! same things: workspaces always, results where the call fails.

use super::Faults;
use super::batch::{Batch, Submission, batches};
use super::function::FunctionBuilder;
use super::import::{call_runtime, declare};
use super::launched::launches_on_gpu;
use super::raise::{raise, raise_behind};
use super::struct_args::pass_struct;
use crate::gpu_kernels::GpuKernels;
use crate::host_code::HostCode;
use kernpack_codegen::llvm::{
    Block, Emitter, Extension, Function, Operation, Passed, Predicate, Ty, V,
};
use kernpack_ffi_abi::imports::{
    ENV_GET_STREAM, ENV_TENSOR_ALLOC, FUNCTION_CALL, FUNCTION_GET_GLOBAL, OBJECT_DEC_REF,
};
use kernpack_ffi_abi::layout::{
    Any, ByteArray, DLTensor, TENSOR_VIEW_OFFSET, any, byte_array, dl_tensor,
};
use kernpack_ffi_abi::{DType, DeviceType, TypeIndex};
use kernpack_package::package::{Launch, Submit};
use kernpack_package::target::Target;
use kernpack_package::target::struct_abi::{Registers, class_of};
use kernpack_runtime::interface::functions::{F64_TO_BF16, F64_TO_F16};
use kernpack_runtime::interface::layout::error_parts;
use kernpack_validators::fault::calling;
use kernpack_validators::plan::{
    self, Alloc, AllocDim, CScalar, Expr, LaunchArg, MOST_TURNS, Plan, Site, Status,
};

/// The kernels and modules that launches are lowered with, beside the plan.
#[derive(Clone, Copy)]
pub struct Launching<'k> {
    /// The function's launches.
    pub launches: &'k [Launch],
    /// The host code of the package.
    pub host: &'k HostCode,
    /// The kernels that run on a GPU.
    pub kernels: &'k GpuKernels,
    /// The host.
    pub target: &'k Target,
    /// The function's number among those that launch on a GPU, where it is one of them.
    pub number: u32,
    /// How its launches on a GPU are submitted.
    pub submit: Submit,
}

impl Launching<'_> {
    /// The launches that steps of a plan ask about, each with the numbers of its kernels.
    pub fn kernels_asked(&self, plan: &Plan) -> Vec<(usize, Vec<usize>)> {
        let is_asked =
            |launch: &&plan::Launch| plan.asks_blocks().any(|asked| asked.launch == launch.index);
        let launches = plan.launches.iter().filter(is_asked);
        let numbers = launches.map(|launch| {
            let described = &self.launches[launch.index];
            let source = described.gpu_source().expect("the plan is of this launch");
            let symbols = described.symbols(plan, launch);
            let number = |symbol: &String| {
                self.kernels.number(source, symbol).expect("every kernel has a number")
            };
            (launch.index, symbols.iter().map(number).collect())
        });
        numbers.collect()
    }
}

/// Lowers the rest of a function behind its checks.
pub fn lower<'c>(
    builder: &mut FunctionBuilder<'_, 'c>,
    faults: &mut Faults,
    with: Launching<'_>,
    owner: V<'c>,
    result: V<'c>,
) {
    let Launching { launches, host, kernels, target, number, submit } = with;
    let plan = builder.plan;
    let index = builder.device_number();
    if launches_on_gpu(plan) {
        builder.reach_peers();
    }
    let mut call = Call {
        builder,
        faults,
        launches,
        host,
        kernels,
        target,
        results: vec![],
        workspaces: vec![],
        index,
        runs: vec![],
        stream: None,
        submission: Submission { number, submit, owner },
        pending: None,
        assert_record: None,
    };
    call.look_for_failure();
    for alloc in &plan.results {
        let tensor = call.allocate(alloc, false);
        call.results.push(tensor);
    }
    for alloc in &plan.workspaces {
        let tensor = call.allocate(alloc, true);
        call.workspaces.push(tensor);
    }
    call.runs = plan.launches.iter().map(|launch| call.runs(launch)).collect();
    call.ask_stream();
    for batch in batches(plan) {
        call.begin_batch(&plan.launches[batch.clone()]);
        for number in batch {
            call.launch(&plan.launches[number], call.runs[number]);
        }
        call.submit_batch();
    }
    call.finish(result);
}

/// A tensor that the call has allocated.
#[derive(Clone, Copy)]
struct Tensor<'c> {
    object: V<'c>,
    data: V<'c>,
}

/// The state of lowering one call.
pub struct Call<'k, 'f, 'c> {
    pub(super) builder: &'k mut FunctionBuilder<'f, 'c>,
    faults: &'k mut Faults,
    launches: &'k [Launch],
    host: &'k HostCode,
    kernels: &'k GpuKernels,
    /// The host that the code is for.
    pub(super) target: &'k Target,
    results: Vec<Tensor<'c>>,
    workspaces: Vec<Tensor<'c>>,
    /// The number of the call's device.
    pub(super) index: V<'c>,
    /// Whether each launch of the plan runs, where that is not for certain.
    runs: Vec<Option<V<'c>>>,
    stream: Option<V<'c>>,
    /// How launches on a GPU are submitted.
    pub(super) submission: Submission<'c>,
    /// Those that are yet to be.
    pub(super) pending: Option<Batch<'c>>,
    /// Where kernels write down that an assertion has failed, in a call that launches any that may.
    pub(super) assert_record: Option<V<'c>>,
}

impl<'f, 'c> Call<'_, 'f, 'c> {
    pub(super) fn e(&self) -> &'f Emitter<'c> {
        self.builder.e
    }

    /// The function being written.
    pub(super) fn function(&self) -> Function<'c> {
        self.builder.function
    }

    pub(super) fn block(&self) -> Block<'c> {
        self.e().block(self.function(), "")
    }

    fn i64(&self, value: i64) -> V<'c> {
        self.e().int(Ty::I64, value)
    }

    /// Allocates through the environment. A workspace is asked for as bytes, with room to align it.
    fn allocate(&mut self, alloc: &Alloc, as_bytes: bool) -> Tensor<'c> {
        let e = self.e();
        let prototype = e.stack(self.function(), size_of::<DLTensor>() as u32);
        let out = e.stack(self.function(), 8);
        let (shape, n_dims) = if as_bytes {
            let bytes = self.builder.value(alloc.bytes);
            let room = self.i64(i64::from(alloc.align) - 1);
            let shape = e.stack(self.function(), 8);
            e.store(shape, e.arith(Operation::Add, bytes, room));
            (shape, self.i64(1))
        } else {
            self.store_shape(&alloc.dims)
        };
        let dtype = match as_bytes {
            true => self.i64(DType::UINT8.packed().into()),
            false => self.builder.value(alloc.dtype),
        };
        let (device, index) = (self.builder.value(self.builder.plan.device.kind), self.index);
        e.store_at(prototype, dl_tensor::DATA.offset, e.null());
        e.store_at(prototype, dl_tensor::DEVICE_TYPE.offset, e.truncate(device, Ty::I32));
        e.store_at(prototype, dl_tensor::DEVICE_ID.offset, e.truncate(index, Ty::I32));
        e.store_at(prototype, dl_tensor::NDIM.offset, e.truncate(n_dims, Ty::I32));
        e.store_at(prototype, dl_tensor::DTYPE.offset, e.truncate(dtype, Ty::I32));
        e.store_at(prototype, dl_tensor::SHAPE.offset, shape);
        e.store_at(prototype, dl_tensor::STRIDES.offset, e.null());
        e.store_at(prototype, dl_tensor::BYTE_OFFSET.offset, self.i64(0));
        e.store(out, e.null());
        let status = e.call(declare(e, ENV_TENSOR_ALLOC), &[prototype, out]).expect("an int");
        self.leave_unless_allocated(status, alloc, as_bytes);
        let object = e.load(Ty::Ptr, out);
        let view = e.offset_by(object, TENSOR_VIEW_OFFSET);
        let data = e.load(Ty::Ptr, e.offset_by(view, dl_tensor::DATA.offset));
        let byte_offset = e.load(Ty::I64, e.offset_by(view, dl_tensor::BYTE_OFFSET.offset));
        let data = e.offset(data, byte_offset);
        let data = if as_bytes { self.align(data, alloc.align) } else { data };
        let tensor = Tensor { object, data };
        if !as_bytes {
            self.leave_unless_aligned(&tensor, alloc);
        }
        tensor
    }

    /// The extents of an allocation in memory, and how many they are.
    fn store_shape(&mut self, dims: &[AllocDim]) -> (V<'c>, V<'c>) {
        let e = self.e();
        let room = dims.iter().map(|dim| match dim {
            AllocDim::One(_) => 1,
            AllocDim::Many { .. } => MOST_TURNS as u32,
        });
        let shape = e.stack(self.function(), 8 * room.sum::<u32>().max(1));
        let at =
            |number: V<'c>| e.offset(shape, e.arith(Operation::Mul, number, e.int(Ty::I64, 8)));
        let mut n_dims = self.i64(0);
        for dim in dims {
            n_dims = match *dim {
                AllocDim::One(extent) => {
                    let extent = self.builder.value(extent);
                    e.store(at(n_dims), extent);
                    e.arith(Operation::Add, n_dims, e.int(Ty::I64, 1))
                }
                AllocDim::Many { count, start, step } => {
                    let [start, step] = [start, step].map(|value| self.builder.value(value));
                    let count = self.builder.n_turns(count);
                    self.builder.count_up(count, |number| {
                        let from = e.arith(Operation::Mul, number, step);
                        let from = e.to_pointer(e.arith(Operation::Add, start, from));
                        e.store(at(e.arith(Operation::Add, n_dims, number)), e.load(Ty::I64, from));
                    });
                    e.arith(Operation::Add, n_dims, count)
                }
            };
        }
        (shape, n_dims)
    }

    /// The next address that is a multiple of `align`.
    fn align(&self, data: V<'c>, align: u32) -> V<'c> {
        let e = self.e();
        let address = e.arith(Operation::Add, e.to_int(data), self.i64(i64::from(align) - 1));
        e.to_pointer(e.arith(Operation::And, address, self.i64(-i64::from(align))))
    }

    /// Where the environment has refused memory, says of what, frees everything and returns -1.
    fn leave_unless_allocated(&mut self, status: V<'c>, alloc: &Alloc, is_workspace: bool) {
        let e = self.e();
        let ok = self.builder.at_failure(status);
        let what = if is_workspace { "workspace" } else { "result" };
        let what = self.unallocated(alloc, what);
        let error = self.builder.error_to_raise();
        raise_behind(e, self.function(), error, what);
        self.free_all();
        e.ret(e.int(Ty::I32, -1));
        e.at(ok);
    }

    /// Where a result with elements lies where kernels do not expect it, says so, frees everything
    /// and returns -1.
    fn leave_unless_aligned(&mut self, tensor: &Tensor<'c>, alloc: &Alloc) {
        let e = self.e();
        let mask = self.i64(i64::from(alloc.align) - 1);
        let rest = e.arith(Operation::And, e.to_int(tensor.data), mask);
        let is_empty = e.compare(Predicate::EQ, self.builder.value(alloc.bytes), self.i64(0));
        let status = e.truncate(e.select(is_empty, self.i64(0), rest), Ty::I32);
        let ok = self.builder.at_failure(status);
        let why = format!("the allocator's memory is no multiple of {} bytes\0", alloc.align);
        let error = self.builder.error_to_raise();
        e.store_at(error, error_parts::KIND, e.bytes("", b"RuntimeError\0", 1));
        e.store_at(error, error_parts::PARTS, self.unallocated(alloc, "result"));
        e.store_at(error, error_parts::PARTS + 8, e.bytes("", why.as_bytes(), 1));
        self.free(tensor);
        self.free_all();
        raise(e, error, e.int(Ty::I32, 2));
        e.at(ok);
    }

    /// How an error begins that is about something that is not allocated.
    fn unallocated(&self, alloc: &Alloc, what: &str) -> V<'c> {
        let (name, signature) = (&alloc.name, &self.builder.plan.signature);
        let text = format!("Cannot allocate the {what} `{name}` when calling: `{signature}`: \0");
        self.e().bytes("", text.as_bytes(), 1)
    }

    /// Where a callee has failed and set the error, frees everything and returns -1.
    fn leave_unless_zero(&mut self, status: V<'c>) {
        let e = self.e();
        let ok = self.builder.at_failure(status);
        self.free_all();
        e.ret(e.int(Ty::I32, -1));
        e.at(ok);
    }

    fn free(&self, tensor: &Tensor<'c>) {
        let e = self.e();
        e.call(declare(e, OBJECT_DEC_REF), &[tensor.object]);
    }

    /// Undoes what the call has done so far: on every way out that fails.
    pub(super) fn free_all(&self) {
        self.workspaces.iter().chain(&self.results).for_each(|tensor| self.free(tensor));
    }

    /// Asks for the environment's stream, once, where a launch that runs uses it.
    fn ask_stream(&mut self) {
        let launches = self.builder.plan.launches.iter().zip(&self.runs);
        let users = launches.filter(|(launch, _)| launch.uses_env_stream());
        let conds: Vec<_> = users.map(|(_, cond)| *cond).collect();
        if conds.is_empty() {
            return;
        }
        let e = self.e();
        let (from, ask, behind) = (e.here(), self.block(), self.block());
        // Without a condition, a launch runs for certain.
        let conds: Option<Vec<_>> = conds.into_iter().collect();
        let any = conds.into_iter().flatten().reduce(|a, b| e.arith(Operation::Or, a, b));
        e.branch(any.unwrap_or_else(|| e.truth(true)), ask, behind, None);
        e.at(ask);
        let device = e.int(Ty::I32, DeviceType::CUDA.0.into());
        let index = e.truncate(self.index, Ty::I32);
        let stream = e.call(declare(e, ENV_GET_STREAM), &[device, index]);
        let asked = e.here();
        e.jump(behind);
        e.at(behind);
        self.stream =
            Some(e.phi(Ty::Ptr, &[(stream.expect("a pointer"), asked), (e.null(), from)]));
    }

    /// Whether a launch runs, where that is not for certain: it has a kernel for the dtypes, its
    /// condition holds, and its grid has blocks.
    fn runs(&mut self, launch: &plan::Launch) -> Option<V<'c>> {
        let e = self.e();
        let plan = self.builder.plan;
        let extents = launch.grid().into_iter().flat_map(|grid| grid.grid);
        let extents = extents.filter(|extent| !matches!(plan.expr(*extent), Expr::Int(1..)));
        let extents: Vec<_> = extents.collect();
        let mut conds: Vec<_> =
            launch.cond.into_iter().map(|cond| self.builder.value(cond)).collect();
        for extent in extents {
            let extent = self.builder.value(extent);
            conds.push(e.compare(Predicate::NE, extent, self.i64(0)));
        }
        conds.extend(self.builder.has_kernel(launch));
        conds.into_iter().reduce(|a, b| e.arith(Operation::And, a, b))
    }

    /// The environment's stream, which has been asked for.
    pub(super) fn env_stream(&self) -> V<'c> {
        self.stream.expect("the stream was asked for")
    }

    /// Memory for an error.
    pub(super) fn error(&mut self) -> V<'c> {
        self.builder.error()
    }

    fn launch(&mut self, launch: &plan::Launch, runs: Option<V<'c>>) {
        let e = self.e();
        let behind = self.block();
        if let Some(cond) = runs {
            let run = self.block();
            e.branch(cond, run, behind, None);
            e.at(run);
        }
        let mark = self.builder.mark();
        let described = &self.launches[launch.index];
        let symbols = described.symbols(self.builder.plan, launch);
        match (&symbols[..], self.builder.plan.combinations.index) {
            ([symbol], _) => self.run(symbol, described, launch),
            (_, None) => unreachable!("without dtype variables there is one symbol"),
            (symbols, Some(index)) => {
                let index = self.builder.value(index);
                let joined = self.block();
                let blocks: Vec<_> = symbols.iter().map(|_| self.block()).collect();
                let cases: Vec<_> =
                    launch.rows.iter().map(|row| *row as i64).zip(blocks.clone()).collect();
                e.switch(index, blocks[0], &cases[1..]);
                for (symbol, block) in symbols.iter().zip(&blocks) {
                    e.at(*block);
                    let mark = self.builder.mark();
                    self.run(symbol, described, launch);
                    self.builder.forget(mark);
                    e.jump(joined);
                }
                e.at(joined);
            }
        }
        self.builder.forget(mark);
        e.jump(behind);
        e.at(behind);
    }

    /// Runs the kernel.
    fn run(&mut self, kernel: &str, described: &Launch, launch: &plan::Launch) {
        match &launch.site {
            Site::Host(status) => {
                let source = described.host_source().expect("the plan is of this launch");
                let symbol = self.host.symbol(source, kernel).expect("every kernel has a symbol");
                self.call(symbol, &launch.args, status.as_ref());
            }
            Site::Gpu(grid) => {
                let source = described.gpu_source().expect("the plan is of this launch");
                let kernel =
                    self.kernels.number(source, kernel).expect("every kernel has a number");
                self.run_on_gpu(kernel, grid, launch);
            }
        }
    }

    /// Calls a host function.
    fn call(&mut self, symbol: &str, passed: &[LaunchArg], status: Option<&Status>) {
        let e = self.e();
        let mut args = Arguments::default();
        for arg in passed {
            self.pass(arg, &mut args);
        }
        let returned = e.call_c(symbol, &args.passed, status.map(|_| Ty::I32));
        if let (Some(status), Some(returned)) = (status, returned) {
            self.require_success(status, returned);
        }
    }

    fn require_success(&mut self, status: &Status, returned: V<'c>) {
        let e = self.e();
        let ok = self.builder.at_failure(returned);
        self.free_all();
        let calling = calling(&self.builder.plan.signature);
        let fault = e.int(Ty::I32, self.faults.add(&status.fault, &calling).into());
        self.builder.scoped(|builder| {
            builder.know(status.value, e.sign_extend(returned));
            let values: Vec<_> = status.fault.values().collect();
            let memory = e.stack(builder.function, 8 * values.len() as u32);
            for (value, slot) in values.into_iter().zip((0..).step_by(8)) {
                e.store_at(memory, slot, builder.value(value));
            }
            let error = builder.error();
            let n_strings = Faults::word(e, builder.plan, error, [fault, memory]);
            builder.leave(n_strings);
        });
        e.at(ok);
    }

    /// Adds an argument to a call.
    fn pass(&mut self, arg: &LaunchArg, args: &mut Arguments<'c>) {
        let e = self.e();
        let (value, c_type) = match arg {
            LaunchArg::Struct(_) => return pass_struct(self, arg, args),
            _ => self.scalar(arg),
        };
        args.registers.take(class_of(c_type));
        let extension = match c_type {
            CScalar::Int(dtype) if dtype.bits < 32 => {
                Extension::Register(!dtype.is_unsigned() && dtype != DType::BOOL)
            }
            _ => Extension::None,
        };
        let (value, ty) = match c_type {
            // It travels in the low bits of a register for floats; the others mean nothing.
            CScalar::Float(DType::FLOAT16 | DType::BFLOAT16) => {
                (e.bitcast(e.truncate(e.zero_extend(value), Ty::I32), Ty::Float), Ty::Float)
            }
            _ => (value, held_as(c_type)),
        };
        args.passed.push(Passed { value, ty, extension });
    }

    /// The value of an argument that is no struct, in the type that holds its C type.
    pub(super) fn scalar(&mut self, arg: &LaunchArg) -> (V<'c>, CScalar) {
        let e = self.e();
        match arg {
            LaunchArg::Result(number) => (self.results[*number].data, CScalar::Pointer),
            LaunchArg::Workspace(number) => (self.workspaces[*number].data, CScalar::Pointer),
            LaunchArg::EnvStream => (self.env_stream(), CScalar::Pointer),
            LaunchArg::AssertRecord => (self.assert_record(), CScalar::Pointer),
            LaunchArg::Struct(_) => unreachable!("a struct's fields are passed one by one"),
            LaunchArg::TensorMap(_) => unreachable!("only kernels on a GPU take tensor maps"),
            LaunchArg::Value(value, c_type) => {
                let value = self.builder.value(*value);
                (convert(e, value, *c_type), *c_type)
            }
        }
    }

    /// Frees the workspaces and returns the results.
    fn finish(&mut self, result: V<'c>) {
        let e = self.e();
        let results = std::mem::take(&mut self.results);
        match &results[..] {
            [] => self.store_any(result, TypeIndex::NONE, self.i64(0)),
            [tensor] => self.store_any(result, TypeIndex::TENSOR, tensor.object),
            _ => self.store_tuple(result, results),
        }
        self.workspaces.iter().for_each(|tensor| self.free(tensor));
        e.ret(e.int(Ty::I32, 0));
    }

    fn store_any(&self, at: V<'c>, index: TypeIndex, payload: V<'c>) {
        let e = self.e();
        e.store_at(at, any::TYPE_INDEX.offset, e.int(Ty::I32, index.0.into()));
        e.store_at(at, any::PADDING.offset, e.int(Ty::I32, 0));
        e.store_at(at, any::PAYLOAD.offset, payload);
    }

    /// Several results become an array, made by libtvm_ffi's own function.
    fn store_tuple(&mut self, result: V<'c>, results: Vec<Tensor<'c>>) {
        const MAKE: &str = "ffi.Array";
        let e = self.e();
        let function = self.builder.function;
        self.results = results;
        let name = e.stack(function, size_of::<ByteArray>() as u32);
        e.store_at(name, byte_array::DATA.offset, e.bytes("array", MAKE.as_bytes(), 1));
        e.store_at(name, byte_array::SIZE.offset, self.i64(MAKE.len() as i64));
        let out = e.stack(function, 8);
        let status = e.call(declare(e, FUNCTION_GET_GLOBAL), &[name, out]).expect("an int");
        self.leave_unless_zero(status);
        let make = e.load(Ty::Ptr, out);
        let any_bytes = size_of::<Any>() as u32;
        let elements = e.stack(function, any_bytes * self.results.len() as u32);
        for (i, tensor) in self.results.iter().enumerate() {
            self.store_any(
                e.offset_by(elements, any_bytes * i as u32),
                TypeIndex::TENSOR,
                tensor.object,
            );
        }
        self.store_any(result, TypeIndex::NONE, self.i64(0));
        let count = e.int(Ty::I32, self.results.len() as i64);
        let status = e.call(declare(e, FUNCTION_CALL), &[make, elements, count, result]);
        e.call(declare(e, OBJECT_DEC_REF), &[make]);
        self.leave_unless_zero(status.expect("an int"));
        self.results.iter().for_each(|tensor| self.free(tensor));
    }
}

/// The arguments of a call in the making.
#[derive(Default)]
pub struct Arguments<'c> {
    /// The arguments, in order.
    pub passed: Vec<Passed<'c>>,
    /// The registers that are left.
    pub registers: Registers,
}

/// The type that holds a C scalar. A float of 16 bits is held as these bits: from one block to
/// another some processors take it as a wider one, and narrow it by a function that packages lack.
fn held_as(c_type: CScalar) -> Ty {
    match c_type {
        CScalar::Pointer => Ty::Ptr,
        CScalar::Int(dtype) => match dtype.bits {
            8 => Ty::I8,
            16 => Ty::I16,
            32 => Ty::I32,
            _ => Ty::I64,
        },
        CScalar::Float(DType::FLOAT16 | DType::BFLOAT16) => Ty::I16,
        CScalar::Float(DType::FLOAT32) => Ty::Float,
        CScalar::Float(_) => Ty::Double,
    }
}

/// A value of the plan in the type that holds a C scalar. Halves are rounded by the runtime: the
/// compiler's own function for that is not everywhere.
fn convert<'c>(e: &Emitter<'c>, value: V<'c>, c_type: CScalar) -> V<'c> {
    match (c_type, held_as(c_type)) {
        (CScalar::Pointer, _) => e.to_pointer(value),
        (CScalar::Int(_), Ty::I64) => value,
        (CScalar::Int(_), ty) => e.truncate(value, ty),
        (CScalar::Float(DType::FLOAT16), _) => call_runtime(e, F64_TO_F16, &[value]),
        (CScalar::Float(DType::BFLOAT16), _) => call_runtime(e, F64_TO_BF16, &[value]),
        (CScalar::Float(DType::FLOAT32), _) => e.double_to_float(e.bitcast(value, Ty::Double)),
        (CScalar::Float(_), _) => e.bitcast(value, Ty::Double),
    }
}
