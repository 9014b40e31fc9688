// SPDX-License-Identifier: Apache-2.0
//! Kernels in text, through to images.

mod everything;
mod matrix_units;

use super::*;
use crate::source::assembler::{AssembleOptions, Assembler, AssemblerKind, MissingAssembler};
use crate::source::cuda_tool::Tried;
use crate::source::nvjitlink::{NvJitLinkError, nvjitlink};
use crate::source::ptxas::{PtxasError, ptxas};
use expect_test::{Expect, expect};
use kernpack_codegen::kernel::nvptx::ptx;
use kernpack_kernel_ir::Kernel;
use kernpack_package::image::{Image, ImageKind};

use kernpack_kernel_ir::text::{self, Item};
use std::path::PathBuf;
use std::sync::Arc;

const ADD_ONE: &str = include_str!("../../../../codegen/src/kernel/nvptx/tests/add_one.kir");
const REDUCE_SUM: &str = include_str!("../../../../codegen/src/kernel/nvptx/tests/reduce_sum.kir");

/// The kernels of texts.
fn source(texts: &[&str]) -> KernelSource {
    let items = texts.iter().flat_map(|text| {
        text::parse(&(*text).into()).unwrap_or_else(|problems| panic!("{problems}"))
    });
    let instances = items.map(|item| match item {
        Item::Kernel(kernel) => Arc::new(kernel),
        Item::Function(function) => panic!("`{}` is no kernel", function.kernel.name),
    });
    let path = PathBuf::from("norm.py").into();
    KernelSource { path, instances: instances.collect(), line_info: false, checked: false }
}

fn archs(names: &[&str]) -> Vec<Placed<Arch>> {
    names.iter().map(|name| name.parse::<Arch>().expect(name).into()).collect()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// The assemblers of the tests.
fn assemblers() -> Assemblers {
    Assemblers::found_by(|| Ok(Box::new(nvjitlink().clone())), || Ok(Box::new(ptxas().clone())))
}

/// No assembler at all.
fn no_assemblers() -> Assemblers {
    Assemblers::found_by(
        || Err(MissingAssembler::NvJitLink(NvJitLinkError { tried: vec![] })),
        || {
            let tried = |place: &str, reason: &str| Tried {
                place: place.to_string(),
                reason: reason.to_string(),
            };
            let tried = vec![tried("KERNPACK_PTXAS", "is not set"), tried("PATH", "has no ptxas")];
            Err(MissingAssembler::Ptxas(PtxasError::NotFound { tried }))
        },
    )
}

fn built(source: &KernelSource, names: &[&str], kernels: &[String]) -> GpuArtifact {
    build::build(source, &archs(names), kernels, &assemblers())
        .unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn expect_errors(source: &KernelSource, names: &[&str], expected: Expect) {
    expect_errors_by(&no_assemblers(), source, names, expected);
}

fn expect_errors_by(by: &Assemblers, source: &KernelSource, names: &[&str], expected: Expect) {
    let errors = build::build(source, &archs(names), &[], by).expect_err("it is wrong");
    let shown = errors.iter().map(|error| match &error.diagnostic {
        Some(diagnostic) => format!("{diagnostic}\n"),
        None => format!("error[{}]: {error}\n", error.kind.code()),
    });
    expected.assert_eq(&shown.collect::<String>());
}

fn expect_warnings(text: &str, names: &[&str], expected: Expect) {
    let warnings = built(&source(&[text]), names, &[]).warnings;
    let shown: Vec<_> = warnings.iter().map(|warning| format!("{warning}\n")).collect();
    expected.assert_eq(&shown.concat());
}

#[test]
fn kernels_become_an_image_for_each_architecture_and_ptx_comes_last() {
    let source = source(&[ADD_ONE, REDUCE_SUM]);
    let kernels = names(&["reduce_sum", "add_one", "add_two"]);
    let artifact = built(&source, &["compute_80", "sm_90a", "sm_80"], &kernels);
    let archs: Vec<_> = artifact.archs().iter().map(Arch::to_string).collect();
    assert_eq!(archs, ["sm_90a", "sm_80", "compute_80"]);
    let params = |image: usize, name| {
        let kernel = artifact.images[image].kernel(name).expect("the kernel is there");
        kernel.params.iter().map(|param| param.size).collect::<Vec<_>>()
    };
    for (image, kind) in [ImageKind::Cubin, ImageKind::Cubin, ImageKind::Ptx].iter().enumerate() {
        assert_eq!(artifact.images[image].kind, *kind);
        assert_eq!(params(image, "add_one"), [8, 8, 8]);
        assert_eq!(params(image, "reduce_sum"), [8, 8, 8, 8]);
        assert_eq!(artifact.images[image].kernel("add_one").unwrap().max_threads, Some(256));
    }
    assert!(artifact.images.iter().all(|image| image.is_terminated()));
    let symbols: Vec<_> =
        artifact.symbols.iter().map(|(name, symbol)| (&name[..], symbol.is_ok())).collect();
    assert_eq!(symbols, [("reduce_sum", true), ("add_one", true), ("add_two", false)]);
    assert!(artifact.warnings.is_empty(), "{:?}", artifact.warnings);
}

#[test]
fn the_same_kernels_give_the_same_bytes() {
    let (one, other) = (source(&[REDUCE_SUM]), source(&[REDUCE_SUM]));
    assert_eq!(one, other);
    assert_ne!(one, KernelSource { line_info: true, ..one.clone() });
    assert_ne!(one, source(&[ADD_ONE]));
    let bytes = |source| {
        let images = built(source, &["sm_90a", "compute_90"], &[]).images;
        images.into_iter().map(|image| image.bytes).collect::<Vec<_>>()
    };
    assert_eq!(bytes(&one), bytes(&other));
}

/// Whoever loads an image looks for every kernel.
#[test]
fn a_kernel_for_some_architectures_is_there_by_name_in_the_code_for_others() {
    let stores = |name: &str, archs: &str, value: u32| {
        format!(
            "kernel {name}(v0 x: pointer.global int32 align 4 written) archs {archs} {{
               call fence({})
               v1: int32 = const {value} store v0, v1 align 4
             }}",
            if value == 90 { "cluster" } else { "gpu" },
        )
    };
    let (old, new) = (stores("old", "compute_80", 80), stores("new", "compute_90a", 90));
    let source = source(&[&old, &new]);
    let kernels = names(&["old", "new"]);
    let archs = archs(&["compute_80", "compute_90a"]);
    let artifact = build::build(&source, &archs, &kernels, &no_assemblers()).unwrap();
    let code = |image: &Image, name: &str| {
        assert!(image.kernel(name).is_some(), "{name}");
        let text = String::from_utf8_lossy(&image.bytes).to_string();
        let own = text.split(&format!(".entry {name}(")).nth(1).map(str::to_string);
        own.unwrap_or_default().split(".entry").next().is_some_and(|own| own.contains("st."))
    };
    let has = artifact.images.iter().map(|image| [code(image, "old"), code(image, "new")]);
    assert_eq!(has.collect::<Vec<_>>(), [[true, false], [false, true]]);
    let shown = |arch: &str| {
        let text = ptx_text(&source, arch.parse().expect(arch)).expect("right");
        ["old(", "new("].map(|name| text.contains(name))
    };
    assert_eq!(
        ["sm_80", "sm_90a", "sm_100"].map(shown),
        [[true, false], [false, true], [true, false]]
    );
}

#[test]
fn ptx_needs_no_assembler() {
    let artifact =
        build::build(&source(&[ADD_ONE]), &archs(&["compute_80"]), &[], &no_assemblers()).unwrap();
    assert_eq!(artifact.images[0].kind, ImageKind::Ptx);
    assert!(needs_assembler(&archs(&["compute_80", "sm_90"])));
    assert!(!needs_assembler(&archs(&["compute_80"])));
    expect_errors(
        &source(&[ADD_ONE]),
        &["sm_80", "compute_80", "sm_90"],
        expect![[r#"
        error[gpu-assembler]: found no nvJitLink, the assembler for GPU code; install the Python package nvidia-nvjitlink, or set KERNPACK_NVJITLINK to the path of libnvJitLink.so, or ask for PTX, such as `compute_80`, which needs none of it and is assembled where it is loaded; these places were looked at:
    "#]],
    );
}

#[test]
fn what_is_wrong_is_told_at_its_line() {
    let undefined = "kernel k(v0 x: float32) { v1: float32 = add v0, v5 }";
    let text = "kernel k(v0 p: pointer.global float32 align 4 written, v1 n: int32) {
        call fence(cluster)  @3:5
        v2: int32 = call atomic.add(v0, v1, relaxed, cluster)  @4:5
    }";
    expect_errors(
        &source(&[text]),
        &["compute_80"],
        expect![[r#"
        error[kernel-arch]: `fence` needs sm_90, and code is made for sm_80, in `call fence(cluster)` at kernel.py:3
          help: build for sm_90 or newer alone, or give it a launch of its own, `launch(…, arch="sm_90")`, beside one that does without it
        nor is there `atomic.add` at kernel.py:4
    "#]],
    );
    expect_errors(
        &source(&[undefined, ADD_ONE, ADD_ONE]),
        &["compute_80"],
        expect![[r#"
        error[kernel-malformed]: `v5` is used before it is defined, in `v1: float32 = add v0, v5`
        error[kernel]: two kernels are called `add_one`
    "#]],
    );
}

#[test]
fn a_register_tensor_in_memory_is_a_warning() {
    let text = "
        kernel k(v0 p: pointer.global float32 align 4 written, v1 n: int64 0..63) files \"a.py\" {
          local0 acc: float32 count 64 @2:5
          local1 row: float32 count 8 @3:5
          v2: pointer.local = local0  @4:5
          v3: pointer.local = local1
          v4: int64 = const 4
          v5: int64 = mul v1, v4
          v6: pointer.local = offset v2, v5
          v7: float32 = const 1.5
          v8: float32 = load v0 align 4
          store v3, v7 align 4
          v9: int64 = const 0
          v10: int64 = const 64
          v11: int64 = const 1
          for v12: int64 = v9 to v10 step v11 {
            v13: int64 = mul v12, v5
            v14: int64 = const 63
            v15: int64 = and v13, v14
            v16: int64 = mul v15, v4
            v17: pointer.local = offset v2, v16
            store v17, v8 align 4
          }
          v18: float32 = load v6 align 4
          v19: float32 = load v3 align 4
          v20: float32 = add v18, v19
          store v0, v20 align 4
        }";
    expect_warnings(
        text,
        &["compute_80"],
        expect![[r#"
        warning[local-memory]: the register tensor `acc` stays in local memory for compute_80, as an index of it is known only when the kernel runs
          help: index it with constants, and run loops over it with `range_constexpr`
    "#]],
    );
    expect_warnings(
        text,
        &["sm_90", "compute_80"],
        expect![[r#"
            warning[local-memory]: the register tensor `acc` stays in local memory for sm_90, as an index of it is known only when the kernel runs
              help: index it with constants, and run loops over it with `range_constexpr`
        "#]],
    );
}

#[test]
fn lines_are_in_the_image_where_they_are_asked_for() {
    let plain = source(&[ADD_ONE]);
    let with_lines = KernelSource { line_info: true, ..plain.clone() };
    let arch = "compute_90".parse().unwrap();
    assert!(!ptx_text(&plain, arch).unwrap().contains(".loc"));
    let text = ptx_text(&with_lines, arch).unwrap();
    assert!(text.contains("\t.loc\t1 7 16") && text.contains("\"add_one.py\""), "{text}");
    let llvm = llvm_text(&plain, arch).unwrap();
    assert!(llvm.contains("define ptx_kernel void @add_one("), "{llvm}");
    let bytes = |source| built(source, &["sm_90"], &[]).images.remove(0).bytes;
    assert!(bytes(&with_lines).len() > bytes(&plain).len());
}

/// Things of the same kind that kernels have outside of functions: printed texts, arrays that
/// launches bring, the declaration of `vprintf`.
#[test]
fn kernels_by_themselves_are_one_text() {
    let named = |(name, align): (&str, u32)| {
        let text = format!(
            "kernel {name}(v0 n: int64 0..) {{
               shared0 a: float32 bytes v0 align {align}
               v1: pointer.shared = shared0
               v2: float32 = const 1.0
               store v1, v2 align 4
               print \"of {{}}\", v0
             }}"
        );
        source(&[&text[..]]).instances[0].clone()
    };
    let kernels = [("first", 16), ("second", 128), ("third", 32)].map(named);
    let kernels: Vec<&Kernel> = kernels.iter().map(|kernel| &**kernel).collect();
    let arch = "sm_90".parse().expect("an architecture");
    let text = ptx(&kernels, arch, false).expect("it is right").text;
    let count = |part: &str| text.matches(part).count();
    assert_eq!([".version", ".target", ".visible .entry"].map(count), [1, 1, 3], "{text}");
    for (name, align) in [("first", 16), ("second", 128), ("third", 32)] {
        let array = format!(".extern .shared .align {align} .b8 {name}$shared[];");
        assert_eq!(count(&array), 1, "{text}");
    }
    assert_eq!(ptx(&kernels, arch, true).expect("with lines").text.matches(".entry").count(), 3);
    let assembled =
        nvjitlink().assemble(&text, "kernels", arch, &AssembleOptions::default()).expect("it fits");
    assert!(kernels.iter().all(|kernel| assembled.image.kernel(&kernel.name).is_some()));
}
