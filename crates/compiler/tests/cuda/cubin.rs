// SPDX-License-Identifier: Apache-2.0
//! Cubins' descriptions of themselves, for each way in which they have them.

use super::*;
use kernpack_package::image::{ImageError, ImageKind};

const TEXT: &str = r#"
struct Pair { double a; int b; };
template <int N> struct Block { int x[N]; };
struct alignas(64) Map { char bytes[128]; };
extern "C" __device__ __noinline__ int helper(int x) { return x * clock(); }
extern "C" __global__ void __launch_bounds__(256) scale(float* a, int n, Pair p, char c) {
    __shared__ float s[37];
    s[threadIdx.x % 37] = n + helper(n);
    __syncthreads();
    a[threadIdx.x] = s[c] + p.b;
}
extern "C" __global__ void dynamic(int* p) {
    extern __shared__ int s[];
    s[threadIdx.x] = p[0];
    __syncthreads();
    p[0] = s[p[1]];
}
extern "C" __global__ void none() {}
extern "C" __global__ void large(Block<5000> b, int* p) { p[0] = b.x[threadIdx.x]; }
extern "C" __global__ void map(int a, const __grid_constant__ Map m, int b) {}
"#;

/// Bytes 48 to 52 of an ELF file: `e_flags`.
fn with_flags(image: &Image, flags: u32, abi: u8) -> Vec<u8> {
    let mut bytes = image.bytes.clone();
    bytes[48..52].copy_from_slice(&flags.to_le_bytes());
    bytes[8] = abi;
    bytes
}

fn expect_error(bytes: &[u8], expected: &str) {
    let error = Image::read("a.cubin", bytes.to_vec()).expect_err(expected);
    assert_eq!(error.to_string(), format!("`a.cubin` {expected}"));
}

#[test]
fn every_architecture_is_read_back() {
    for name in [
        "sm_75",
        "sm_80",
        "sm_86",
        "sm_89",
        "sm_90",
        "sm_90a",
        "sm_100",
        "sm_100a",
        "sm_100f",
        "sm_103a",
        "sm_110f",
        "sm_120",
        "sm_120f",
        "sm_121a",
        "compute_80",
        "compute_90a",
        "compute_100f",
    ] {
        let image = image("extern \"C\" __global__ void k() {}", name);
        assert_eq!(image.archs(), [arch(name)]);
        assert!(image.is_terminated(), "{name}");
    }
}

/// Before CUDA 13, `e_flags` had the suffix `a` in either ABI: these are the flags that ptxas 12.8
/// and 12.9 write.
#[test]
fn flags_of_older_compilers_are_read() {
    let image = image("extern \"C\" __global__ void k() {}", "sm_80");
    for (flags, abi, name) in [
        (0x0050_0550, 7, "sm_80"),
        (0x005A_055A, 7, "sm_90"),
        (0x005A_0D5A, 7, "sm_90a"),
        (0x0600_6402, 8, "sm_100"),
        (0x0600_640A, 8, "sm_100a"),
    ] {
        let read = Image::read("a.cubin", with_flags(&image, flags, abi)).unwrap();
        assert_eq!(read.archs(), [arch(name)]);
    }
}

#[test]
fn kernels_are_described() {
    for name in ["sm_80", "sm_90a", "sm_100"] {
        let image = image(TEXT, name);
        assert_eq!(image.kind, ImageKind::Cubin);
        let mut names: Vec<_> =
            image.codes[0].kernels.iter().flatten().map(|kernel| kernel.name.as_str()).collect();
        names.sort();
        // `helper` is a function, but no kernel.
        assert_eq!(names, ["dynamic", "large", "map", "none", "scale"]);
        let scale = kernel(&image, "scale");
        assert_eq!(layout(scale), [(0, 8), (8, 4), (16, 16), (32, 1)]);
        assert_eq!((scale.param_bytes, scale.max_threads), (33, Some(256)));
        // Beside `dynamic`, some compilers align the end.
        let shared = scale.static_shared_bytes.map(|bytes| bytes.next_multiple_of(16));
        assert_eq!(shared, Some(160));
        assert_eq!(kernel(&image, "dynamic").static_shared_bytes, Some(0));
        let none = kernel(&image, "none");
        assert_eq!((layout(none), none.param_bytes, none.max_threads), (vec![], 0, None));
    }
}

/// More than 4 KiB are described by another attribute.
#[test]
fn large_parameters_have_their_size() {
    for name in ["sm_80", "sm_90", "compute_90"] {
        let large = image(TEXT, name);
        let large = kernel(&large, "large");
        assert_eq!(
            (layout(large), large.param_bytes),
            (vec![(0, 20000), (20000, 8)], 20008),
            "{name}"
        );
    }
}

/// Where the parameters begin depends on the architecture, and so does where one of them is
/// aligned.
#[test]
fn machine_code_places_aligned_parameters_by_itself() {
    let offsets = |name| layout(kernel(&image(TEXT, name), "map"));
    assert_eq!(offsets("compute_80"), [(0, 4), (64, 128), (192, 4)]);
    assert_eq!(offsets("sm_80"), [(0, 4), (32, 128), (160, 4)]);
    assert_eq!(offsets("sm_90"), [(0, 4), (48, 128), (176, 4)]);
}

#[test]
fn ptx_and_machine_code_agree_on_all_but_shared_memory() {
    let (text, code) = (image(TEXT, "compute_90"), image(TEXT, "sm_90"));
    for name in ["scale", "none", "large"] {
        let (text, code) = (kernel(&text, name), kernel(&code, name));
        assert_eq!(text, &Kernel { static_shared_bytes: None, ..code.clone() });
    }
}

#[test]
fn other_elf_files_are_refused() {
    let own = fs::read(std::env::current_exe().unwrap()).unwrap();
    let machine = if cfg!(target_arch = "x86_64") { "x86-64" } else { "aarch64" };
    let advice = "give the output of nvcc's --cubin or --fatbin";
    expect_error(&own, &format!("is for {machine}, not for a GPU of NVIDIA's; {advice}"));
    let mut project = Project::new(TEXT);
    project.source.options = vec!["-rdc=true".to_string().into()];
    let error = project.expect_error(&["sm_90"], &[]);
    let advice = "link it with nvlink, or build it without that option";
    let expected = format!(
        "`DIR/kernels.cu for sm_90` still has to be linked (it was made by nvcc's -dc or -rdc=true); {advice}"
    );
    assert_eq!(error, expected);
}

#[test]
fn a_damaged_cubin_says_where() {
    let whole = image(TEXT, "sm_90a");
    let (bytes, advice) = (&whole.bytes, "copy or build it again");
    let n = bytes.len();
    expect_error(
        &bytes[..40],
        &format!("is cut short: its ELF header ends at byte 64, but the file has 40; {advice}"),
    );
    let error = Image::read("a.cubin", bytes[..n - 600].to_vec()).unwrap_err().to_string();
    assert!(error.starts_with("`a.cubin` is cut short: its "), "{error}");
    let has = format!("but the file has {}; {advice}", n - 600);
    assert!(error.ends_with(&has), "{error}");
    let newer = "has version 9 of the ELF ABI for GPUs; this kernpack reads 7 and 8, so use a newer one, or an older CUDA";
    expect_error(&with_flags(&whole, 0x0600_5A04, 9), newer);
    let no_arch = format!("is damaged: its e_flags, 0x06000004, name no architecture; {advice}");
    expect_error(&with_flags(&whole, 0x0600_0004, 8), &no_arch);
    let mut big_endian = bytes.clone();
    big_endian[5] = 2;
    expect_error(&big_endian, &format!("is damaged: it is not little-endian; {advice}"));
}

/// Whatever the bytes are, reading them ends, and without a panic.
#[test]
fn no_bytes_make_it_panic() {
    let whole =
        image("extern \"C\" __global__ void k(int* p, char c) { p[0] = c; }", "sm_90a").bytes;
    let read =
        |bytes: &[u8]| -> Result<Image, ImageError> { Image::read("a.cubin", bytes.to_vec()) };
    for length in 0..whole.len() {
        drop(read(&whole[..length]));
    }
    let (mut changed, mut n_refused) = (whole.clone(), 0);
    for at in 0..whole.len() {
        for mask in [0x01, 0x10, 0x80, 0xFF] {
            changed[at] = whole[at] ^ mask;
            n_refused += usize::from(read(&changed).is_err());
        }
        changed[at] = whole[at];
    }
    assert!(n_refused > 100, "only {n_refused} of the changes were noticed");
}
