// SPDX-License-Identifier: Apache-2.0
//! Kernels of compiled files by their names in C++, as a compiler mangles them.

use super::*;
use kernpack_compiler::{Options, compile};
use kernpack_package::image::{ImageProblem, symbols};
use kernpack_package::inspect::inspect;
use kernpack_package::package_file;

const TEXT: &str = r#"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
enum class Mode { sum, mean };
enum Old : char { on = 'x' };
template <class... Types> struct Pack {};
__device__ float twice(float x) { return x + x; }
namespace ns {
template <unsigned Width, class T> __global__ void rms(T* x) { x[Width] = x[0]; }
namespace { __global__ void hidden(int* x) { x[0] = 1; } }
namespace inner { template <Mode M, bool B, Old O> __global__ void pool(int* x) { x[0] = B; } }
}
template <class T> __global__ void pointers(int* x) { x[0] = sizeof(T); }
template <float (*F)(float)> __global__ void apply(float* x) { x[0] = F(x[0]); }
template <class T, int N = 3> __global__ void fill(T* x) { x[0] = N; }
template <class P, char... Chars> __global__ void packs(int* x) { x[0] = sizeof...(Chars); }
static __global__ void internal(int* x) { x[0] = 2; }
__global__ void over(int* x) { x[0] = 3; }
__global__ void over(float* x) { x[0] = 3; }
extern "C" __global__ void plain(int* x) { x[0] = 4; }
"#;

/// Names of kernels as C++ writes them, all of which NVRTC instantiates.
const NAMES: &[&str] = &[
    "ns::rms<8, float>",
    "ns::rms<8u, half>",
    "ns::rms<0x10, __nv_bfloat16>",
    "ns::rms<16, long long>",
    "ns::hidden",
    "ns::inner::pool<(Mode)1, true, (Old)120>",
    "ns::inner::pool<Mode(0), false, (Old)'x'>",
    "pointers<const float*>",
    "pointers<unsigned const *const*>",
    "pointers<void (*)(int, half)>",
    "pointers<float (&)[3]>",
    "pointers<size_t>",
    "pointers<struct Pack<>>",
    "pointers<Pack<Pack<int, short>, char> >",
    "apply<twice>",
    "fill<double, 3>",
    "packs<Pack<>>",
    "packs<Pack<unsigned long>, 'a', 'b'>",
    "internal",
    "plain",
];

#[test]
fn names_mean_what_the_compiler_makes_of_them() {
    let project = Project::new(TEXT);
    let artifact = project.build(&["sm_80", "sm_90a", "compute_90"], NAMES).unwrap();
    let names: Vec<_> = NAMES.iter().map(|name| name.to_string()).collect();
    let found: Result<Vec<_>, _> = symbols(&artifact.images, &names).into_iter().collect();
    assert_eq!(found.unwrap(), artifact.symbols);
}

/// A name that a diagnostic lists can be given as it is, unless several kernels go by it.
#[test]
fn names_that_are_listed_are_names() {
    let artifact = Project::new(TEXT).build(&["sm_90"], NAMES).unwrap();
    let error = symbols(&artifact.images, &["nothing".to_string()]).remove(0).unwrap_err().1;
    let ImageProblem::NoKernel { has, .. } = error.problem else { panic!("{error}") };
    assert_eq!(has.len(), NAMES.len() + 2);
    for kernel in has {
        let name = kernel.cpp.unwrap_or(kernel.symbol.clone());
        match symbols(&artifact.images, std::slice::from_ref(&name)).remove(0) {
            Ok(found) => assert_eq!(found, kernel.symbol),
            Err((_, error)) => assert_eq!(name, "over", "{error}"),
        }
    }
}

/// Builds a package of the files of code for two architectures.
fn build(kernel: &str, dtypes: &str) -> Result<kernpack_compiler::Compiled, String> {
    let project = Project::new(TEXT);
    for (file, arch) in [("a.cubin", "sm_80"), ("b.ptx", "compute_90")] {
        let image = project.build(&[arch], NAMES).unwrap().images.remove(0);
        fs::write(project.folder.path().join(file), image.bytes).unwrap();
    }
    let text = format!(
        "[package]\nname = \"named\"\n[[function]]\n\
         signature = \"f(x: Tensor([n], T, mut)) where T in {{{dtypes}}}\"\n\
         source = [{{ cubin = \"a.cubin\" }}, {{ ptx = \"b.ptx\" }}]\n\
         kernel = \"{kernel}\"\nargs = [\"x\"]\nlaunch = {{ grid = [1], block = [32] }}\n"
    );
    let package = package_file::parse(&text, project.folder.path()).unwrap();
    let path = project.folder.path().display().to_string();
    compile(&package, &Options::default()).map_err(|error| error.to_string().replace(&path, "DIR"))
}

#[test]
fn a_package_of_compiled_files_names_templates_with_dtypes() {
    let built = build("ns::rms<8, {T}>", "float32, float16").unwrap();
    let found = inspect(&built.object).unwrap();
    assert_eq!(found.packages[0].functions[0].launches[0].kernel, "ns::rms<8, {T}>");
    build("ns::rms<16, {T}>", "bfloat16, int64").unwrap();
}

#[test]
fn a_package_that_lacks_an_instance_says_which_there_are() {
    let error = build("ns::rms<8, {T}>", "float32, bfloat16").map(|_| ()).unwrap_err();
    let expected = "error[missing-kernel]: in function `f`: `DIR/a.cubin` has no kernel `ns::rms<8, __nv_bfloat16>` for sm_80; it has \
                    `ns::rms<(unsigned int)16, __nv_bfloat16>` (`_ZN2ns3rmsILj16E13__nv_bfloat16EEvPT0_`), ";
    assert!(error.starts_with(expected), "{error}");
    let error = build("over", "float32").map(|_| ()).unwrap_err();
    let expected =
        "error[kernel-name]: in function `f`: `DIR/a.cubin` has several kernels `over` for sm_80: ";
    assert!(error.starts_with(expected), "{error}");
    for form in ["`over(int*)` (`_Z4overPi`)", "`over(float*)` (`_Z4overPf`)"] {
        assert!(error.contains(form), "{error}");
    }
}
