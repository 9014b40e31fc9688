// SPDX-License-Identifier: Apache-2.0
//! Names of CuTe DSL's: what each is called here, or what to do where there is nothing like it. The
//! one table of them, for kernels and packed functions, and for the Python package, which asks for
//! it. Not here: names that are the same.

use super::is_member;
use crate::algebra;

/// The modules that its names stand in. Behind them a name is looked for without them.
const MODULES: &[&str] = &[
    "arch",
    "core",
    "cute",
    "cutlass",
    "experimental",
    "export",
    "ffi",
    "jax",
    "nvgpu",
    "nvvm",
    "pipeline",
    "runtime",
    "testing",
    "typing",
    "utils",
    "cpasync",
    "tcgen05",
    "warp",
    "warpgroup",
];

/// Names with what to write for them.
const WRITE: &[(&str, &str)] = &[
    // Types.
    ("BFloat16", "kp.bfloat16"),
    ("Boolean", "kp.bool"),
    ("Float16", "kp.float16"),
    ("Float32", "kp.float32"),
    ("Float64", "kp.float64"),
    ("Float4E2M1FN", "kp.float4_e2m1fn"),
    ("Float4E2M1FNx2", "kp.float4_e2m1fnx2"),
    ("Float6E2M3FN", "kp.float6_e2m3fn"),
    ("Float6E3M2FN", "kp.float6_e3m2fn"),
    ("Float8E4M3", "kp.float8_e4m3"),
    ("Float8E4M3FN", "kp.float8_e4m3fn"),
    ("Float8E5M2", "kp.float8_e5m2"),
    ("Float8E8M0FNU", "kp.float8_e8m0fnu"),
    ("Int4", "kp.int4"),
    ("Int8", "kp.int8"),
    ("Int16", "kp.int16"),
    ("Int32", "kp.int32"),
    ("Int64", "kp.int64"),
    ("Uint8", "kp.uint8"),
    ("Uint16", "kp.uint16"),
    ("Uint32", "kp.uint32"),
    ("Uint64", "kp.uint64"),
    ("Pointer", "kp.pointer(kp.float32)"),
    ("make_ptr", "kp.pointer(kp.float32)"),
    ("Shape", "kp.shape((m, n))"),
    ("Stride", "kp.shape((m, n))"),
    ("Coord", "kp.shape((m, n))"),
    ("Tile", "kp.shape((m, n))"),
    ("IntTuple", "kp.shape((m, n))"),
    ("CUstream", "kp.fake_stream()"),
    // Calls and compilation.
    ("FakeTensor", "kp.fake_tensor"),
    ("make_fake_tensor", "kp.fake_tensor"),
    ("make_fake_compact_tensor", "kp.fake_compact_tensor"),
    ("make_fake_stream", "kp.fake_stream()"),
    ("sym_int32", "kp.sym_int"),
    ("sym_int64", "kp.sym_int"),
    ("compile_to", "kp.compile(f, …)"),
    ("export_to_c", "f.export(\"f.o\")"),
    ("cutlass_call", "kp.jax.call"),
    ("find_cuda_library", "kp.find_runtime_libraries()"),
    ("render_layout_svg", "kp.draw(layout, \"layout.svg\")"),
    ("render_tv_layout_svg", "kp.draw(layout, \"layout.svg\")"),
    ("print_latex", "kp.draw(layout, \"layout.svg\")"),
    ("print_latex_tv", "kp.draw(layout, \"layout.svg\")"),
    ("pretty_str", "str(layout)"),
    // Control.
    ("assert_", "assert condition"),
    ("testing_assert", "assert condition"),
    ("range_dynamic", "range"),
    ("print_tensor", "kp.printf(\"{}\", x[i])"),
    // Memory.
    ("SmemAllocator", "kp.shared(dtype, layout)"),
    ("alloc_smem", "kp.shared(dtype, layout)"),
    ("allocate_tensor", "kp.shared(dtype, layout)"),
    ("allocate_array", "kp.shared(dtype, layout)"),
    ("make_rmem_tensor_like", "kp.make_fragment_like(x)"),
    ("recast_ptr", "kp.recast_tensor(x, dtype)"),
    ("copy_async", "kp.copy(source, target, to=kp.async_group)"),
    ("cp_async", "kp.copy(source, target, to=kp.async_group)"),
    ("cp_async_wait_all", "kp.wait_group(0)"),
    ("fence_proxy", "kp.fence_proxy_async()"),
    ("basic_copy", "kp.copy(source, target)"),
    ("basic_copy_if", "kp.copy(source, target, pred=…)"),
    ("slice_", "x[i, None]"),
    ("dice", "kp.select(x, mode=…)"),
    ("prepend", "kp.make_layout((shape, …))"),
    ("append", "kp.make_layout((shape, …))"),
    ("filter_zeros", "kp.filter(x)"),
    ("shape_div", "kp.ceil_div(a, b)"),
    ("product", "kp.size(shape)"),
    ("full", "x.fill(value)"),
    ("full_like", "x.fill(value)"),
    ("zeros_like", "x.fill(0)"),
    ("ones_like", "x.fill(1)"),
    // Threads.
    ("sync_warps", "kp.sync_warp()"),
    ("warp_redux_sync", "kp.warp_reduction_sum(x)"),
    ("redux_sync", "kp.warp_reduction_sum(x)"),
    ("vote_uni_sync", "kp.vote_all_sync(condition)"),
    ("mapa", "kp.map_shared(x, rank)"),
    ("cp_async_mbarrier_arrive_noinc", "bar.arrive_after_copies()"),
    ("mbarrier_init", "bar = kp.mbarrier(); bar.init(count)"),
    ("mbarrier_arrive", "bar.arrive()"),
    ("mbarrier_expect_tx", "bar.expect_tx(bytes)"),
    ("mbarrier_arrive_and_expect_tx", "bar.arrive_and_expect_tx(bytes)"),
    ("mbarrier_wait", "bar.wait(phase)"),
    ("mbarrier_try_wait", "bar.try_wait(phase)"),
    ("map_dsmem_ptr", "kp.map_shared(x, rank)"),
    ("fence_acq_rel_cluster", "kp.fence(scope=\"cluster\")"),
    ("fence_acq_rel_cta", "kp.fence(scope=\"block\")"),
    ("fence_acq_rel_gpu", "kp.fence(scope=\"gpu\")"),
    ("fence_acq_rel_sys", "kp.fence(scope=\"sys\")"),
    ("MmaF16BF16Op", "kp.mma(dtype, kp.float32, (16, 8, 16))"),
    ("MmaTF32Op", "kp.mma(kp.float32, kp.float32, (16, 8, 8))"),
    ("LdMatrix8x8x16bOp", "kp.ldmatrix(x)"),
    ("StMatrix8x8x16bOp", "kp.stmatrix(x, values)"),
    ("inline_ptx", "kp.ptx(text, …)"),
    ("inline_asm", "kp.ptx(text, …)"),
    ("fma_packed_f32x2", "kp.fma(a, b, c)"),
    ("rcp_approx", "kp.fast_rcp(x)"),
];

/// Names of what is not here, with what to do.
const LACKS: &[(&str, &str)] = &[
    ("Tensor", "leave it out, or annotate with `kp.fake_tensor(kp.float32, (n,))`"),
    ("Numeric", "leave it out: a number's type is that of its dtype, such as `kp.float32`"),
    ("TFloat32", "convert to `kp.float32`: there is no such type"),
    ("from_dlpack", "pass the tensor itself"),
    ("mark_layout_dynamic", "leave it out: extents and strides differ from call to call"),
    ("mark_compact_shape_dynamic", "leave it out: extents and strides differ from call to call"),
    ("nullptr", "pass `None`"),
    ("EnableTVMFFI", "leave it out: every function is one of TVM-FFI"),
    ("GPUArch", "write `arch=` of `kp.jit` and `kp.compile`"),
    ("OptLevel", "leave it out: there is one way to compile"),
    ("PtxasOptions", "leave it out: there is one way to compile"),
    ("KeepPTX", "ask `f.ptx`"),
    ("KeepCUBIN", "ask `f.sass`"),
    ("benchmark", "time calls as those of other functions"),
    ("autotune_jit", "choose by `kp.Constexpr` parameters, and time the variants"),
    ("tune", "choose by `kp.Constexpr` parameters, and time the variants"),
    ("struct", "make a tensor for each part, or pass a tuple"),
    ("union", "make a tensor, and see it as another type by `kp.recast_tensor`"),
    ("native_struct", "pass a tuple"),
    ("arch", "write the name without `arch.`"),
    ("utils", "write the name without `utils.`"),
    ("runtime", "write the name without `runtime.`"),
    ("testing", "time calls as those of other functions; `f.check` looks for mistakes"),
    ("nvgpu", "write `kp.mma`, `kp.gemm` and `kp.copy`"),
    ("nvvm", "write `kp.ptx`"),
    ("pipeline", "write the name without `pipeline.`, as in `kp.PipelineTmaAsync`"),
    ("experimental", "see the reference for what there is"),
    ("make_mma_atom", "write `kp.make_tiled_mma(op, atoms)`"),
    ("MmaAtom", "write `kp.make_tiled_mma(op, atoms)`"),
    ("make_copy_atom", "write `kp.copy`, which takes the widest accesses that are possible"),
    ("make_tiled_copy", "compose a tile with what `kp.make_layout_tv` gives, and write `kp.copy`"),
    (
        "make_tiled_copy_tv",
        "compose a tile with what `kp.make_layout_tv` gives, and write `kp.copy`",
    ),
    ("CopyAtom", "write `kp.copy`"),
    ("TiledCopy", "write `kp.copy`"),
    ("TmemAllocator", "keep sums in a tensor of `kp.make_rmem_tensor`"),
    ("PipelineTmaUmma", "write `kp.PipelineTmaAsync`, or copies to mbarriers"),
    ("NamedBarrier", "write `kp.barrier(id, threads)` and `kp.barrier_arrive(id, threads)`"),
    ("StaticPersistentTileScheduler", "count tiles in a loop over `kp.grid_dim()`"),
    ("HardwareInfo", "write `kp.device.sm_count` in a packed function"),
    ("ScaledBasis", "make a tensor of coordinates by `kp.make_identity_tensor`"),
    ("E", "make a tensor of coordinates by `kp.make_identity_tensor`"),
    ("FastDivmodDivisor", "write `//` and `%`"),
    ("register_jit_arg_adapter", "pass tensors, numbers, tuples and dataclasses"),
];

/// What to do for a name of CuTe DSL's: `` write `kp.float32` ``.
pub(crate) fn help(name: &str) -> Option<String> {
    let is_it = |row: &&(&str, &str)| row.0 == name;
    let write = WRITE.iter().find(is_it).map(|(_, ours)| format!("write `{ours}`"));
    write.or_else(|| LACKS.iter().find(is_it).map(|(_, instead)| instead.to_string()))
}

/// What to do for a path such as `arch.thread_idx`, whose first name is a module of CuTe DSL's.
/// What stands furthest behind says most.
pub(crate) fn help_of_path(path: &[&str]) -> Option<String> {
    path.first().filter(|first| MODULES.contains(first))?;
    let last = path.last()?;
    let is_here = is_member(last) || algebra::find(last).is_some();
    if is_here {
        return Some(format!("write `kp.{last}`"));
    }
    path.iter()
        .rev()
        .find_map(|name| super::reserved::reserved(name).map(str::to_string).or_else(|| help(name)))
}

/// Whether a name is that of one of its modules, as programs import them.
pub(crate) fn is_module(name: &str) -> bool {
    matches!(name, "cute" | "cutlass")
}

/// What to do for a name, or for a path of names with points between them.
pub fn help_of(path: &str) -> Option<String> {
    match &path.split('.').collect::<Vec<_>>()[..] {
        [name] => help(name),
        path => help_of_path(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_name_stands_once_and_is_none_of_ours() {
        let mut seen = HashSet::new();
        for (name, _) in WRITE.iter().chain(LACKS) {
            assert!(seen.insert(name), "{name}");
            assert!(!is_member(name), "{name}");
        }
    }

    #[test]
    fn paths_are_told_by_their_end() {
        for (path, expected) in [
            (&["arch", "thread_idx"][..], "write `kp.thread_idx`"),
            (&["cutlass", "cute", "zipped_divide"], "write `kp.zipped_divide`"),
            (&["cutlass", "Float32"], "write `kp.float32`"),
            (&["utils", "SmemAllocator"], "write `kp.shared(dtype, layout)`"),
            (&["nvgpu", "warp", "LdMatrix8x8x16bOp"], "write `kp.ldmatrix(x)`"),
            (&["cute", "arch", "mbarrier_wait"], "write `bar.wait(phase)`"),
            (&["cutlass", "pipeline", "PipelineCpAsync"], "write `kp.PipelineCpAsync`"),
        ] {
            assert_eq!(help_of_path(path).as_deref(), Some(expected), "{path:?}");
        }
        assert_eq!(help_of_path(&["config", "Float32"]), None);
        assert_eq!(help_of("from_dlpack").as_deref(), Some("pass the tensor itself"));
    }
}
