// SPDX-License-Identifier: Apache-2.0
//! CUDA C++ files: what may be in them, what they become, and what is said about those that are
//! wrong.

use super::*;
use kernpack_ffi_abi::DType;
use kernpack_package::image::ImageKind;
use kernpack_package::source::cuda::type_name;
use std::process::Command;

const TEMPLATE: &str = r#"
template <class T, int N> __global__ void fill(T* out) { out[threadIdx.x] = N; }
namespace { __global__ void hidden(int* out) { out[0] = 1; } }
extern "C" __global__ void plain(int* out) { out[0] = WIDTH; }
"#;

/// A project with everything that could leave a trace of where it lies.
fn everything() -> Project {
    let text = format!("#include \"own.h\"\n#include <theirs.h>\n{TEMPLATE}");
    let mut project = Project::new(&text.replace("WIDTH;", "WIDTH + own(3) + theirs()[out[1]];"));
    project.file(
        "own.h",
        "#pragma once\n__device__ __noinline__ int own(int x) { return x + clock(); }\n",
    );
    let theirs = "#include \"../own.h\"\n__device__ __noinline__ const char* theirs() { return __FILE__; }\n";
    project.file("headers/theirs.h", theirs);
    project.source.include = vec![project.folder.path().join("headers")];
    project.source.define = vec![("WIDTH".to_string(), "7".to_string())];
    project
}

#[test]
fn kernels_are_named_as_cpp_names_them() {
    let names = ["fill<float, 3>", "plain", "fill<short, -1>", "hidden"];
    let artifact = everything().build(&["sm_90a", "compute_80"], &names).unwrap();
    let symbols = &artifact.symbols;
    assert_eq!(symbols[..3], ["_Z4fillIfLi3EEvPT_", "plain", "_Z4fillIsLin1EEvPT_"]);
    assert!(symbols[3].starts_with("_ZN") && symbols[3].contains("hidden"), "{symbols:?}");
    let kinds: Vec<_> = artifact.images.iter().map(|image| (image.kind, image.archs())).collect();
    let expected =
        [(ImageKind::Cubin, vec![arch("sm_90a")]), (ImageKind::Ptx, vec![arch("compute_80")])];
    assert_eq!(kinds, expected);
    for image in &artifact.images {
        assert!(symbols.iter().all(|symbol| layout(kernel(image, symbol)) == [(0, 8)]));
    }
    assert_eq!(artifact.log, "");
}

fn paths(artifact: &CudaArtifact) -> Vec<&Path> {
    artifact.looked.inputs.iter().map(|file| &*file.path).collect()
}

#[test]
fn the_files_that_were_read_are_listed() {
    let project = everything();
    let artifact = project.build(&["sm_80"], &[]).unwrap();
    let own = |name: &str| project.folder.path().join(name);
    let expected = [own("kernels.cu"), own("own.h"), own("headers/theirs.h")];
    assert_eq!(paths(&artifact), expected);
}

/// Architectures are compiled at once: what comes of them is as if each had been alone.
#[test]
fn architectures_do_not_meet() {
    let text = "extern \"C\" __global__ void k(int* p) { int unused; p[0] = __CUDA_ARCH__; }\n\
                #if __CUDA_ARCH__ >= 900\n#warning new\n#endif\n";
    let project = Project::new(text);
    let archs = ["sm_90", "compute_80", "sm_80", "sm_89", "compute_90", "sm_75"];
    let all = project.build(&archs, &["k"]).unwrap();
    let alone = archs.map(|arch| project.build(&[arch], &["k"]).unwrap());
    let images: Vec<_> = alone.iter().flat_map(|artifact| &artifact.images).collect();
    assert_eq!(all.images.iter().collect::<Vec<_>>(), images);
    // Of several architectures that say the same, once, in their order.
    let mut logs = vec![&alone[0].log, &alone[1].log];
    logs.retain(|log| !log.is_empty());
    assert!(logs.iter().all(|log| all.log.contains(&log[..])), "{}", all.log);
    assert!(all.log.starts_with(&alone[0].log), "{}", all.log);
    let errors = format!("{text}#if __CUDA_ARCH__ <= 800\n#error old\n#endif\n");
    let error = Project::new(&errors).build(&archs, &["k"]).unwrap_err().to_string();
    assert!(error.contains("for compute_80 (NVRTC_ERROR_COMPILATION)"), "{error}");
}

#[test]
fn the_folder_leaves_no_trace() {
    let names = ["fill<float, 3>", "hidden"];
    for line_info in [false, true] {
        let [one, other] = [everything(), everything()].map(|mut project| {
            project.source.line_info = line_info;
            let artifact = project.build(&["sm_80", "sm_90a", "compute_90"], &names).unwrap();
            artifact.images.into_iter().map(|image| image.bytes).collect::<Vec<_>>()
        });
        assert!(one == other, "line_info = {line_info}");
    }
}

#[test]
fn names_that_macros_spell_and_questions_are_answered() {
    let text = r#"
        #define NAME "values.h"
        #include NAME
        #if !__has_include("values.h") || __has_include("missing.h")
        #error wrong
        #endif
        #ifndef AGAIN
        #define AGAIN
        #include "kernels.cu"
        extern "C" __global__ void k(int* p) { p[0] = VALUE; }
        #endif
    "#;
    let project = Project::new(text);
    project.file("values.h", "#define VALUE 3\n");
    let artifact = project.build(&["sm_80"], &["k"]).unwrap();
    let header = project.source.path.with_file_name("values.h");
    assert_eq!(paths(&artifact), [&*project.source.path, &*header]);
}

/// A name that a macro spells is looked for from the file that includes it, and not from
/// the one that defines the macro.
#[test]
fn a_name_that_a_macro_spells_is_looked_for_where_it_is_included() {
    let text = r#"
        #include "cfg/config.h"
        #include IMPL
        extern "C" __global__ void k(int* p) { p[0] = VALUE; }
    "#;
    let project = Project::new(text);
    project.file("cfg/config.h", "#define IMPL \"impl.h\"\n");
    project.file("cfg/impl.h", "#define VALUE 1111\n");
    let error = project.build(&["compute_80"], &["k"]).unwrap_err().to_string();
    assert!(error.contains("\"impl.h\""), "{error}");
    project.file("impl.h", "#define VALUE 2222\n");
    let artifact = project.build(&["compute_80"], &["k"]).unwrap();
    let ptx = String::from_utf8_lossy(&artifact.images[0].bytes).into_owned();
    assert!(ptx.contains("2222") && !ptx.contains("1111"), "{ptx}");
    let at = |name: &str| project.source.path.with_file_name(name);
    assert_eq!(paths(&artifact), [at("kernels.cu"), at("cfg/config.h"), at("impl.h")]);
}

#[test]
fn a_name_that_leads_to_two_files_is_refused() {
    let kernel = |name: &str| {
        let text = "#undef IMPL\n#define IMPL \"impl.h\"\n#undef VALUE\n#include IMPL\n";
        format!("{text}extern \"C\" __global__ void {name}(int* p) {{ p[0] = VALUE; }}\n")
    };
    let pieces = "#define TEXT(x) #x\n#define OF(x) TEXT(x)\n";
    for is_in_pieces in [false, true] {
        let spelled = |text: String| match is_in_pieces {
            true => pieces.to_string() + &text.replace("\"impl.h\"", "OF(impl.h)"),
            false => text,
        };
        let project = Project::new("#include \"a/one.h\"\n#include \"b/two.h\"\n");
        project.file("a/one.h", &spelled(kernel("one")));
        project.file("b/two.h", &spelled(kernel("two")));
        project.file("a/impl.h", "#define VALUE 1\n");
        project.file("b/impl.h", "#define VALUE 2\n");
        let error = project.build(&["compute_80"], &["one", "two"]).unwrap_err().to_string();
        for name in ["\"impl.h\"", "a/impl.h`", "b/impl.h`"] {
            assert!(error.contains(name), "{name}: {error}");
        }
    }
    // One that comes to be there is found by one of them, too.
    let project = Project::new("#include \"a/one.h\"\n");
    project.file("a/one.h", &kernel("one"));
    project.file("impl.h", "#define VALUE 1\n");
    let artifact = project.build(&["compute_80"], &["one"]).unwrap();
    let place = project.source.path.with_file_name("a").join("impl.h");
    assert!(artifact.looked.missed.contains(&place), "{:?}", artifact.looked.missed);
}

/// Names of anonymous namespaces could hold the number of the process, so two processes are needed.
/// This test is both of them.
#[test]
fn the_process_leaves_no_trace() {
    let project = Project::new("namespace { __global__ void hidden(int* out) { out[0] = 1; } }");
    let artifact = project.build(&["sm_90"], &["hidden"]).unwrap();
    let bytes = &artifact.images[0].bytes;
    if let Some(output) = std::env::var_os(OUTPUT) {
        return fs::write(output, bytes).unwrap();
    }
    let again = output_of("source::the_process_leaves_no_trace", &[]);
    assert!(again == *bytes, "another process makes other bytes");
}

/// The environment belongs to the whole process, so another one has to have the variables.
#[test]
fn nvrtc_that_is_named_and_not_there_is_not_looked_for_elsewhere() {
    if let Some(output) = std::env::var_os(OUTPUT) {
        let found =
            Nvrtc::find().map_or_else(|error| error.to_string(), |nvrtc| format!("{nvrtc:?}"));
        return fs::write(output, found).unwrap();
    }
    let missing = "/nowhere/libnvrtc.so.13";
    let name = "source::nvrtc_that_is_named_and_not_there_is_not_looked_for_elsewhere";
    let found = String::from_utf8(output_of(name, &[("KERNPACK_NVRTC", missing)])).unwrap();
    let (advice, places) = found.split_once("these places were looked at:\n").expect(&found);
    assert_eq!(
        advice,
        "found no NVRTC, the compiler for CUDA C++; install the Python package nvidia-cuda-nvrtc, or set KERNPACK_NVRTC to the path of libnvrtc.so; "
    );
    assert!(
        places.starts_with(&format!("  {missing}: ")) && places.lines().count() == 1,
        "{places}"
    );
}

/// Names the file that a test writes to when it runs as another process.
const OUTPUT: &str = "KERNPACK_TEST_CUDA_OUTPUT";

/// The output of the test of this name when another process runs it with these variables.
fn output_of(test: &str, variables: &[(&str, &str)]) -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("output");
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", test]).env(OUTPUT, &output).envs(variables.iter().copied());
    assert!(again.output().unwrap().status.success());
    fs::read(output).unwrap()
}

#[test]
fn line_info_is_there_on_request() {
    let build = |line_info| {
        let mut project =
            Project::new("extern \"C\" __global__ void k(int* p) { p[0] = clock(); }");
        project.source.line_info = line_info;
        project.build(&["sm_90"], &[]).unwrap().images.remove(0).bytes
    };
    let has_lines = |bytes: &[u8]| bytes.windows(11).any(|text| text == b".debug_line");
    assert!(!has_lines(&build(false)) && has_lines(&build(true)));
}

#[test]
fn headers_of_cuda_are_found() {
    let text = r#"
        #include <cuda_fp16.h>
        #include <cuda_bf16.h>
        #include <mma.h>
        #include <cooperative_groups.h>
        #include <cuda/std/type_traits>
        template <class T> __global__ void twice(T* x) {
            static_assert(cuda::std::is_same_v<T, __half> || cuda::std::is_same_v<T, __nv_bfloat16>);
            cooperative_groups::this_thread_block().sync();
            x[0] = x[0] + x[0];
        }
    "#;
    let artifact =
        Project::new(text).build(&["sm_90"], &["twice<__half>", "twice<__nv_bfloat16>"]).unwrap();
    assert_eq!(artifact.symbols, ["_Z5twiceI6__halfEvPT_", "_Z5twiceI13__nv_bfloat16EvPT_"]);
    assert_eq!(artifact.looked.inputs.len(), 1, "CUDA's own headers are no inputs");
}

const STORE: &str = "extern \"C\" __global__ void k(float* p) { uint32_t n = 1; assert(n); printf(\"k\"); p[0] = n; }\n";

/// The recipes of `docs/sources/cuda.md` for files that were written for nvcc.
#[test]
fn headers_of_the_host_are_not_there_and_those_of_cuda_stand_in_for_them() {
    let error =
        Project::new(&format!("#include <stdint.h>\n{STORE}")).expect_error(&["sm_90"], &["k"]);
    assert!(error.contains("cannot open source file \"stdint.h\""), "{error}");
    let of_cuda =
        "#include <cuda/std/cstdint>\n#include <cuda/std/cassert>\n#include <cuda/std/cmath>\n";
    Project::new(&format!("{of_cuda}{STORE}")).build(&["sm_90"], &["k"]).unwrap();
    let mut project = Project::new(&format!("#include <stdint.h>\n{STORE}"));
    project.file("std/stdint.h", "#include <cuda/std/cstdint>\n");
    project.source.include = vec![project.folder.path().join("std")];
    project.build(&["sm_90"], &["k"]).unwrap();
}

#[test]
fn functions_of_the_host_are_refused_unless_they_are_left_out_or_made_for_the_device() {
    let half = "float half(float v) { return v / 2; }\n";
    let kernel = "extern \"C\" __global__ void k(float* p) { p[0] = half(p[0]); }\n";
    let mut project = Project::new(&format!("{half}{kernel}"));
    let error = project.expect_error(&["sm_90"], &["k"]);
    assert!(
        error.contains("DIR/kernels.cu(1): error: ")
            && error.contains("considered a host function"),
        "{error}"
    );
    project.source.options = vec!["-default-device".to_string().into()];
    project.build(&["sm_90"], &["k"]).unwrap();
    let launcher = "#ifndef __CUDACC_RTC__\n#include <vector>\nvoid run(float* p) { k<<<1, 1>>>(p); }\n#endif\n";
    let text = format!("__host__ __device__ {half}{kernel}{launcher}");
    Project::new(&text).build(&["sm_90"], &["k"]).unwrap();
}

#[test]
fn errors_and_warnings_name_the_real_file() {
    let project = Project::new("#warning old\nextern \"C\" __global__ void k() { wrong(); }\n");
    let error = project.expect_error(&["sm_80"], &["k"]);
    let start = "NVRTC refused `DIR/kernels.cu` for sm_80 (NVRTC_ERROR_COMPILATION)\n";
    assert!(error.starts_with(start), "{error}");
    assert!(
        error.contains("DIR/kernels.cu(2): error: identifier \"wrong\" is undefined"),
        "{error}"
    );
    let project = Project::new("#warning old\nextern \"C\" __global__ void k() {}\n");
    let artifact = project.build(&["sm_80", "sm_90"], &["k"]).unwrap();
    let warning = format!("{}(1): warning", project.source.path.display());
    assert_eq!(artifact.log.matches(&warning).count(), 1, "{}", artifact.log);
    let text = "#if __CUDA_ARCH__ == 800\n#warning old\n#else\n#warning new\n#endif\nextern \"C\" __global__ void k() {}\n";
    let log = Project::new(text).build(&["sm_80", "sm_90"], &["k"]).unwrap().log;
    let lines: Vec<_> = log.lines().filter(|line| line.contains("): warning")).collect();
    assert!(lines.len() == 2 && lines.iter().all(|line| line.contains("kernels.cu(")), "{log}");
}

#[test]
fn errors_in_headers_name_the_header() {
    let project = Project::new("#include \"bad.h\"\n");
    project.file("bad.h", "\nint x = ;\n");
    let error = project.expect_error(&["sm_80"], &[]);
    assert!(error.contains("DIR/bad.h(2): error: expected an expression"), "{error}");
}

#[test]
fn a_name_that_is_no_kernel_is_told() {
    let error = everything().expect_error(&["sm_80"], &["fill<float, 3>", "fil<float>"]);
    let start = "no kernel of `DIR/kernels.cu` is called so: `fil<float>`\n";
    assert!(error.starts_with(start), "{error}");
    assert!(error.contains("identifier \"fil\" is undefined"), "{error}");
}

#[test]
fn a_symbol_must_not_depend_on_the_architecture() {
    let text = r#"
        #if __CUDA_ARCH__ >= 900
        __global__ void k(int* p) { p[0] = 1; }
        #else
        __global__ void k(float* p) { p[0] = 1; }
        #endif
    "#;
    let error = Project::new(text).expect_error(&["sm_80", "sm_90"], &["k"]);
    let expected = "kernel `k` of `DIR/kernels.cu` has different parameters for sm_80 and sm_90; declare it alike for all";
    assert_eq!(error, expected);
}

#[test]
fn what_nvrtc_cannot_do_is_told_before_it_is_asked() {
    let mut project = Project::new("extern \"C\" __global__ void k() {}");
    let error = project.expect_error(&["sm_60"], &[]);
    assert!(error.starts_with("cannot compile `DIR/kernels.cu` for sm_60: NVRTC 13."), "{error}");
    assert!(error.contains(") makes code for sm_75, sm_80, "), "{error}");
    project.source.options = vec!["--gpu-architecture=sm_80".to_string().into()];
    let expected = "option `--gpu-architecture=sm_80` for `DIR/kernels.cu` names an architecture; name it under `arch` instead";
    assert_eq!(project.expect_error(&["sm_90"], &[]), expected);
    project.source.options = vec!["--no-such-option".to_string().into()];
    let error = project.expect_error(&["sm_90"], &[]);
    assert!(
        error
            .starts_with("NVRTC refused `DIR/kernels.cu` for sm_90 (NVRTC_ERROR_INVALID_OPTION)\n"),
        "{error}"
    );
    assert!(error.contains("--no-such-option"), "{error}");
}

#[test]
fn files_that_cannot_go_to_nvrtc_are_told() {
    let project = Project::new("\0");
    assert_eq!(
        project.expect_error(&["sm_80"], &[]),
        "the text of `DIR/kernels.cu` has a NUL byte in it; remove it"
    );
    fs::remove_file(&*project.source.path).unwrap();
    let error = project.expect_error(&["sm_80"], &[]);
    assert!(error.starts_with("cannot read `DIR/kernels.cu`: No such file"), "{error}");
}

/// Each dtype that has a type in CUDA C++ has one of its own size: what a kernel's name is given
/// for it is not something else of that name.
#[test]
fn types_hold_an_element_of_their_dtype() {
    let text = r#"
        #include <cuda_bf16.h>
        #include <cuda_fp16.h>
        #include <cuda_fp4.h>
        #include <cuda_fp8.h>
        template <class T, int Bytes> __global__ void k(T* x) { static_assert(sizeof(T) == Bytes); }
    "#;
    let dtypes: Vec<_> = DType::names().map(|name| DType::parse(&name).unwrap()).collect();
    let named = dtypes.iter().filter_map(|dtype| Some((dtype, type_name(*dtype)?)));
    let kernels: Vec<_> =
        named.map(|(dtype, name)| format!("k<{name}, {}>", dtype.element_bytes())).collect();
    let kernels: Vec<_> = kernels.iter().map(String::as_str).collect();
    assert_eq!(Project::new(text).build(&["sm_90"], &kernels).unwrap().symbols.len(), 19);
    assert_eq!(type_name(DType::INT4), None, "CUDA's `int4` has 16 bytes");
}
