// SPDX-License-Identifier: Apache-2.0
//! What is loaded, when, how often, and what is left of it.

use super::*;
use kernpack_tests::alone::{alone, in_child, without_more_memory};
use kernpack_tests::cuda_host::{GLOBAL, Host, THREAD_LOCAL};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Barrier;

const N_THREADS: usize = 16;
const N_IMAGES: usize = 4;

/// A package of four functions, each with an image of its own.
fn four_images(name: &str) -> GpuPackage {
    let mut text = format!("[package]\nname = \"{name}\"\n");
    let mut files = Vec::new();
    for i in 0..N_IMAGES {
        text.push_str(&format!(
            "[[function]]\nsignature = \"f{i}(x: Tensor([n], float32))\"\nsource = {{ ptx = \"k{i}.ptx\" }}\n\
             kernel = \"count\"\nargs = [\"n: int32\"]\nlaunch = {{ grid = [1], block = [32] }}\n"
        ));
        files.push((format!("k{i}.ptx"), ptx("80", &format!("{name} {i}"))));
    }
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    GpuPackage::build(&text, &files)
}

/// PTX for an architecture, told apart by a comment.
fn ptx(arch: &str, comment: &str) -> String {
    format!(
        ".version 8.0\n.target sm_{arch}\n.address_size 64\n// {comment}\n.visible .entry count(.param .u32 n)\n{{\n    ret;\n}}\n"
    )
}

/// What each thread's calls gave, where all of them begin at once.
fn at_once<T: Send>(work: impl Fn() -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(N_THREADS);
    std::thread::scope(|scope| {
        let begin = || {
            default_stream();
            barrier.wait();
            work()
        };
        let threads: Vec<_> = (0..N_THREADS).map(|_| scope.spawn(begin)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Digest of each image that was loaded.
fn digests(log: &[Json]) -> Vec<String> {
    calls(log, "cuLibraryLoadData").iter().map(|line| line["image"]["digest"].to_string()).collect()
}

#[test]
fn each_image_is_loaded_once_a_device_whoever_comes_first() {
    let stub = Stub::load("devices 2\ndelay cuLibraryLoadData 2\ndelay cuInit 2");
    let packages = [four_images("one"), four_images("two")];
    let loaded = packages.each_ref().map(GpuPackage::load);
    let outcomes = at_once(|| {
        let mut failures = Vec::new();
        for (device, package) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            for i in 0..N_IMAGES {
                let values = [tensor(4, device)];
                failures.extend(loaded[package].call(&format!("f{i}"), &values).err());
            }
        }
        failures
    });
    assert_eq!(outcomes.concat(), [""; 0]);
    let log = stub.take_log();
    let loads = calls(&log, "cuLibraryLoadData");
    let device_and_image: BTreeSet<_> = loads
        .iter()
        .map(|line| (line["device"].to_string(), line["image"]["digest"].to_string()))
        .collect();
    assert_eq!((loads.len(), device_and_image.len()), (4 * N_IMAGES, 4 * N_IMAGES));
    assert_eq!(calls(&log, "cuInit").len(), 2, "once a package");
    assert_eq!(calls(&log, "cuLaunchKernelEx").len(), N_THREADS * 4 * N_IMAGES);
    assert_eq!(stub.counts()["retained"], 4, "each package retains each device's context once");
    drop(loaded);
    let counts = stub.counts();
    assert_eq!((&counts["libraries"], &counts["retained"]), (&0.into(), &0.into()));
}

/// Nobody waits for the context: all who come at once retain it, and all but one give it back.
#[test]
fn a_context_that_many_retain_is_kept_once() {
    let stub = Stub::load("devices 1\ndelay cuDevicePrimaryCtxRetain 200");
    let loaded = package().load();
    let outcomes = at_once(|| scale(&loaded, 8, 0));
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    let log = stub.take_log();
    let n_retained = calls(&log, "cuDevicePrimaryCtxRetain").len();
    assert!(n_retained > 1, "no two threads came at once");
    assert_eq!(calls(&log, "cuDevicePrimaryCtxRelease_v2").len(), n_retained - 1);
    assert_eq!(stub.counts()["retained"], 1);
    drop(loaded);
    assert_eq!(stub.counts()["retained"], 0);
}

/// Whoever waits while a step fails is told of it; the next call tries again.
#[test]
fn a_failure_is_told_to_all_who_waited() {
    let package = four_images("failing");
    for (site, code, reason) in [
        (
            "cuInit",
            100,
            "starting the CUDA driver when calling: `f0(x: Tensor([n], float32))`: there is no GPU, or none is visible to this process",
        ),
        (
            "cuLibraryLoadData",
            2,
            "loading `count` of package `failing` on device 0: out of memory; free memory on the device",
        ),
        ("cuLibraryGetKernel", 500, "named symbol not found"),
    ] {
        let stub = Stub::load(&format!("devices 1\ndelay {site} 500"));
        let loaded = package.load();
        stub.fail(site, 1, code);
        let outcomes = at_once(|| loaded.call("f0", &[tensor(4, 0)]));
        let failures: Vec<_> = outcomes.into_iter().filter_map(Result::err).collect();
        assert_eq!(failures.len(), N_THREADS, "{site}");
        assert_eq!(calls(&stub.take_log(), site).len(), 1, "{site}");
        let n_waited = failures.iter().filter(|error| error.ends_with(reason)).count();
        // The one that tried knows which kernel is missing.
        let expected = if code == 500 { N_THREADS - 1 } else { N_THREADS };
        assert_eq!(n_waited, expected, "{site}: {failures:#?}");
        let outcomes = at_once(|| loaded.call("f0", &[tensor(4, 0)]));
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        assert_eq!(calls(&stub.take_log(), site).len(), 1, "{site}");
    }
}

/// Ticks, hundredths of a second, that this thread has computed: the 14th and 15th word, where the
/// second is a name in parentheses.
fn ticks() -> u64 {
    let stat = fs::read_to_string("/proc/thread-self/stat").unwrap();
    let (_, behind) = stat.rsplit_once(") ").unwrap();
    behind.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}

#[test]
fn whoever_waits_sleeps() {
    let _stub = Stub::load("devices 1\ndelay cuLibraryLoadData 800");
    let loaded = package().load();
    let computed = at_once(|| {
        let before = ticks();
        scale(&loaded, 8, 0).unwrap();
        ticks() - before
    });
    let total: u64 = computed.iter().sum();
    assert!(total < 30, "of 80 hundredths of a second that they wait: {computed:?}");
}

#[test]
fn a_process_without_memory_is_told() {
    if alone("loading::a_process_without_memory_is_told", &[]) {
        default_stream();
        let _stub = Stub::load("devices 1");
        let loaded = package().load();
        let error = without_more_memory(|| scale(&loaded, 8, 0));
        let expected = "RuntimeError: out of memory while a CUDA kernel was looked for";
        assert_eq!(error, Err(format!("{expected} {CALLING_SCALE}")));
        assert_eq!(scale(&loaded, 8, 0), Ok(()));
    }
}

/// The handle of a kernel that was found means nothing where another of the same image is missing.
#[test]
fn an_image_that_lacks_a_kernel_is_not_half_loaded() {
    default_stream();
    let stub = Stub::load("devices 1");
    let loaded = package().load();
    stub.fail("cuLibraryGetKernel", 2, 500);
    let error = scale(&loaded, 4, 0).unwrap_err();
    assert_eq!(
        error,
        "RuntimeError: CUDA Error: cudaErrorSymbolNotFound (500, CUDA_ERROR_NOT_FOUND) loading `scale` of package `gpu` on device 0: \
         the image has no kernel `count`"
    );
    assert_eq!(stub.counts()["libraries"], 0);
    assert_eq!(scale(&loaded, 4, 0), Ok(()), "loaded as if for the first time");
}

/// Where machine code for tests lies.
fn image_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("images")
}

/// The image of `images` that a device of this compute capability gets, or the error. Cubins are
/// files of `tests/images`.
struct Choice {
    package: GpuPackage,
    digests: Vec<(String, String)>,
}

impl Choice {
    fn new(images: &[&str]) -> Choice {
        let folder = image_folder();
        let (mut entries, mut files) = (Vec::new(), Vec::new());
        for name in images {
            match name.strip_prefix("compute_") {
                Some(arch) => {
                    entries.push(format!("{{ ptx = \"{name}\" }}"));
                    files.push((*name, ptx(arch, name).into_bytes()));
                }
                None => {
                    entries.push(format!("{{ cubin = \"{name}\" }}"));
                    files.push((
                        *name,
                        fs::read(folder.join(format!("count.{name}.cubin"))).unwrap(),
                    ));
                }
            }
        }
        let text = format!(
            "[package]\nname = \"choice\"\n[[function]]\nsignature = \"f(x: Tensor([n], float32))\"\nsource = [{}]\n\
             kernel = \"count\"\nargs = [\"n: int32\"]\nlaunch = {{ grid = [1], block = [32] }}\n",
            entries.join(", ")
        );
        let digests = files.iter().map(|(name, bytes)| (digest(bytes), name.to_string())).collect();
        let files: Vec<_> = files.iter().map(|(name, bytes)| (*name, &bytes[..])).collect();
        Choice { package: GpuPackage::build(&text, &files), digests }
    }

    fn on(&self, stub: &Stub, capability: &str) -> Result<&str, String> {
        stub.reset(&format!("devices 1\ndevice 0 compute {capability}"));
        self.package.load().call("f", &[tensor(4, 0)])?;
        let loaded = digests(&stub.take_log());
        assert_eq!(loaded.len(), 1);
        let known = self.digests.iter().find(|(digest, _)| loaded[0].contains(digest));
        Ok(&known.expect("it is one of them").1)
    }
}

/// What the stub calls an image: FNV-1a.
fn digest(bytes: &[u8]) -> String {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix))
}

/// Images, and for compute capabilities the one that is chosen.
type Row = (&'static [&'static str], &'static [(&'static str, &'static str)]);

#[test]
fn a_device_gets_the_image_that_suits_it_best() {
    default_stream();
    let stub = Stub::load("devices 1");
    let rows: &[Row] = &[
        // Everything: the highest that runs.
        (
            &[
                "compute_80",
                "sm_80",
                "sm_86",
                "sm_90",
                "sm_90a",
                "sm_100",
                "sm_100f",
                "sm_100a",
                "compute_120",
            ],
            &[
                ("8.0", "sm_80"),
                ("8.6", "sm_86"),
                ("8.7", "sm_86"),
                ("9.0", "sm_90a"),
                ("10.0", "sm_100a"),
                ("10.3", "sm_100f"),
                ("11.0", "compute_80"),
                ("12.0", "compute_120"),
                ("12.1", "compute_120"),
            ],
        ),
        // The order in which they are written does not matter.
        (&["sm_90a", "sm_90", "sm_86", "sm_80"], &[("8.9", "sm_86"), ("9.0", "sm_90a")]),
        (&["sm_100f", "sm_100"], &[("10.0", "sm_100f"), ("10.1", "sm_100f")]),
        (&["sm_100", "sm_100a"], &[("10.0", "sm_100a"), ("10.3", "sm_100")]),
        // Machine code before PTX, however high that is.
        (&["compute_86", "sm_80"], &[("8.6", "sm_80"), ("9.0", "compute_86")]),
        // The highest PTX that is not above the device.
        (
            &["compute_75", "compute_90", "compute_80"],
            &[
                ("7.5", "compute_75"),
                ("8.9", "compute_80"),
                ("9.0", "compute_90"),
                ("10.0", "compute_90"),
            ],
        ),
        (&["compute_90a", "compute_80"], &[("9.0", "compute_90a"), ("10.0", "compute_80")]),
        (&["compute_100f", "compute_80"], &[("10.3", "compute_100f"), ("12.0", "compute_80")]),
    ];
    for (images, expected) in rows {
        let choice = Choice::new(images);
        for (capability, image) in *expected {
            assert_eq!(
                choice.on(&stub, capability).as_deref(),
                Ok(*image),
                "{images:?} on {capability}"
            );
        }
    }
}

#[test]
fn a_device_that_no_image_fits_is_told() {
    default_stream();
    let stub = Stub::load("devices 1");
    for (images, capabilities) in [
        (&["sm_86"][..], &["8.0", "7.5", "9.0"][..]),
        (&["sm_90a"], &["10.0", "9.1", "8.9"]),
        (&["sm_100f"], &["9.0", "11.0", "12.0"]),
        (&["sm_100a"], &["10.3", "11.0"]),
        (&["compute_80"], &["7.5"]),
        (&["compute_90a", "sm_80"], &["10.0"]),
        (&["sm_90", "compute_120"], &["8.9", "10.3"]),
    ] {
        let choice = Choice::new(images);
        for capability in capabilities {
            let expected = format!(
                "RuntimeError: CUDA Error: cudaErrorNoKernelImageForDevice (209, CUDA_ERROR_NO_BINARY_FOR_GPU) loading `count` of \
                 package `choice` on device 0: the device is sm_{}, and the code is for {}",
                capability.replace('.', ""),
                images.join(", ")
            );
            assert_eq!(choice.on(&stub, capability), Err(expected));
            assert!(calls(&stub.take_log(), "cuLibraryLoadData").is_empty());
        }
    }
}

/// The loader's own words follow where there is no driver, or something else under its name.
#[test]
fn a_process_without_a_driver_is_told_at_the_call() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("libcuda.so.1"), "no library").unwrap();
    let path = folder.path().display().to_string();
    let name = "loading::a_process_without_a_driver_is_told_at_the_call";
    if alone(name, &[("LD_LIBRARY_PATH", &path)]) {
        let loaded = package().load();
        for _ in 0..2 {
            let error = scale(&loaded, 8, 0).unwrap_err();
            let start = format!("RuntimeError: cannot load the CUDA driver {CALLING_SCALE}: /");
            assert!(error.starts_with(&start), "{error}");
            assert!(error.contains("/libcuda.so.1: "), "{error}");
            assert!(error.ends_with("; this function needs a GPU and its driver"), "{error}");
        }
    }
}

/// A driver that lacks the last function that is looked for; everything else is there, and does
/// nothing.
#[test]
fn a_driver_that_is_too_old_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let driver = old_driver(folder.path());
    let path = driver.parent().unwrap().display().to_string();
    if alone("loading::a_driver_that_is_too_old_is_told", &[("LD_LIBRARY_PATH", &path)]) {
        let loaded = package().load();
        let error = scale(&loaded, 8, 0).unwrap_err();
        let expected = format!(
            "RuntimeError: the CUDA driver has no `cuLaunchKernelEx` {CALLING_SCALE}: it is older than CUDA 12.0, which is the oldest that works"
        );
        assert_eq!(error, expected);
        let errors = at_once(|| scale(&loaded, 8, 0).unwrap_err());
        assert!(errors.iter().all(|error| *error == expected), "{errors:?}");
    }
}

fn old_driver(folder: &Path) -> PathBuf {
    let functions = [
        "cuInit",
        "cuGetErrorName",
        "cuGetErrorString",
        "cuDeviceGetCount",
        "cuDeviceGetAttribute",
        "cuDevicePrimaryCtxRetain",
        "cuDevicePrimaryCtxGetState",
        "cuDevicePrimaryCtxRelease_v2",
        "cuCtxGetCurrent",
        "cuCtxSetCurrent",
        "cuCtxGetDevice",
        "cuThreadExchangeStreamCaptureMode",
        "cuLibraryLoadData",
        "cuLibraryUnload",
        "cuLibraryGetKernel",
        "cuKernelGetFunction",
        "cuKernelGetAttribute",
        "cuKernelSetAttribute",
    ];
    let text: String =
        functions.iter().map(|name| format!("int {name}(void) {{ return 0; }}\n")).collect();
    build_c(folder, "libcuda.so.1", &text)
}

#[test]
fn a_child_of_a_process_that_has_not_called_yet_loads_for_itself() {
    if alone("loading::a_child_of_a_process_that_has_not_called_yet_loads_for_itself", &[]) {
        default_stream();
        let stub = Stub::load("devices 1");
        let loaded = package().load();
        let call_and_count = || {
            let outcome = scale(&loaded, 8, 0);
            format!("{outcome:?} {}", digests(&stub.take_log()).len())
        };
        assert_eq!(in_child(call_and_count), "Ok(()) 1");
        assert_eq!(call_and_count(), "Ok(()) 1");
        assert_eq!(call_and_count(), "Ok(()) 0");
    }
}

#[test]
fn a_child_of_a_process_that_has_called_is_told_what_the_driver_says() {
    if alone("loading::a_child_of_a_process_that_has_called_is_told_what_the_driver_says", &[]) {
        default_stream();
        let _stub = Stub::load("devices 1");
        let loaded = package().load();
        scale(&loaded, 8, 0).unwrap();
        let call = || format!("{:?}", scale(&loaded, 8, 0));
        let expected = format!(
            "Err(\"RuntimeError: CUDA Error: cudaErrorInitializationError (3, CUDA_ERROR_NOT_INITIALIZED) starting the CUDA driver \
             {CALLING_SCALE}: a process that was forked from one that used CUDA cannot use it; start it afresh (spawn)\")"
        );
        assert_eq!(
            in_child(|| format!("{}\n{}", call(), call())),
            format!("{expected}\n{expected}")
        );
        assert_eq!(call(), "Ok(())", "the parent goes on");
    }
}

#[test]
fn a_first_call_may_be_captured() {
    let stub = Stub::load("devices 1\ncapture-loads refused");
    let host = Host::new();
    host.set_current(host.primary(0));
    for (capture, own) in [(GLOBAL, GLOBAL), (GLOBAL, THREAD_LOCAL), (THREAD_LOCAL, GLOBAL)] {
        let loaded = package().load();
        let stream = host.stream();
        fake_ffi::set_stream(stream);
        host.exchange_capture_mode(own);
        host.begin_capture(stream, capture);
        stub.fail("cuLibraryLoadData", 1, 2);
        scale(&loaded, 8, 0).unwrap_err();
        assert_eq!(host.exchange_capture_mode(own), own, "restored behind a load that failed");
        stub.take_log();
        scale(&loaded, 8, 0).unwrap();
        let launches = calls(&stub.take_log(), "cuLaunchKernelEx");
        assert_eq!(launches[0]["captured"], true);
        assert_eq!(host.exchange_capture_mode(own), own, "restored");
        drop(loaded);
        assert_eq!(stub.counts()["libraries"], 0, "unloading is no matter for a capture either");
        assert_eq!(host.exchange_capture_mode(own), own, "restored");
        assert_eq!(host.end_capture(stream), 0, "the capture is whole");
    }
}

/// Lines of `/proc/self/maps`, and open files.
fn mappings_and_files() -> (usize, usize) {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    (maps.lines().count(), fs::read_dir("/proc/self/fd").unwrap().count())
}

#[test]
fn a_thousand_lives_of_a_package_leave_nothing() {
    if !alone("loading::a_thousand_lives_of_a_package_leave_nothing", &[]) {
        return;
    }
    default_stream();
    let stub = Stub::load("devices 2");
    let live = || {
        let loaded = package().load();
        scale(&loaded, 8, 0).unwrap();
        scale(&loaded, 8, 1).unwrap();
        drop(loaded);
        stub.take_log().len()
    };
    for _ in 0..10 {
        live();
    }
    let before = (mappings_and_files(), stub.counts());
    let n_calls = live();
    for _ in 1..1000 {
        assert_eq!(live(), n_calls);
    }
    let after = (mappings_and_files(), stub.counts());
    assert_eq!(before.0, after.0);
    for kind in ["libraries", "retained", "contexts", "streams", "captures"] {
        assert_eq!((&before.1[kind], &after.1[kind]), (&0.into(), &0.into()), "{kind}");
    }
}

/// What kernels of machine code get: nothing, a pointer, a struct of 128 bytes and what stands
/// behind it.
#[test]
fn the_kernels_of_one_cubin_get_their_arguments() {
    let text = r#"
[package]
name = "three"
[[function]]
signature = "f(x: Tensor([n], float32))"
[[function.launch]]
source = { cubin = "three.cubin" }
kernel = "none"
args = []
grid = [1]
block = [32]
[[function.launch]]
source = { cubin = "three.cubin" }
kernel = "one"
args = ["x"]
grid = [1]
block = [32]
[[function.launch]]
source = { cubin = "three.cubin" }
kernel = "map"
args = ["struct(x, n, n, n, n, n, n, n, n, n, n, n, n, n, n, x)", "n: int32"]
grid = [1]
block = [32]
"#;
    default_stream();
    let stub = Stub::load("devices 1");
    let image = fs::read(image_folder().join("three.cubin")).unwrap();
    let loaded = GpuPackage::build(text, &[("three.cubin", &image)]).load();
    loaded.call("f", &[tensor(7, 0)]).unwrap();
    let log = stub.take_log();
    assert_eq!(digests(&log), [format!("\"{}\"", digest(&image))], "once for all three");
    let launches = calls(&log, "cuLaunchKernelEx");
    let arguments: Vec<_> =
        launches.iter().map(|line| bytes(&line["launch"]["arguments"])).collect();
    let (address, n) = (0x1000u64.to_le_bytes(), 7u64.to_le_bytes());
    let structure = [&address[..], &n.repeat(14), &address].concat();
    assert_eq!(arguments, [vec![], vec![address.to_vec()], vec![structure, n[..4].to_vec()]]);
}

/// The bytes of each argument, which the log has in hexadecimal digits.
fn bytes(arguments: &Json) -> Vec<Vec<u8>> {
    let digits = |argument: &Json| argument["bytes"].as_str().unwrap().to_string();
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    let parse = |argument: &Json| digits(argument).as_bytes().chunks(2).map(byte).collect();
    arguments.as_array().unwrap().iter().map(parse).collect()
}
