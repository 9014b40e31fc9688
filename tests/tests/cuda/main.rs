// SPDX-License-Identifier: Apache-2.0
//! Packages with GPU kernels, called on a driver that needs no GPU: which device and stream they
//! choose ([`devices`]), whose memory they [reach](peers), what they load ([`loading`]), and what
//! they say ([`errors`]); kernels by their [names] in C++, [prepared](prepare) calls and what they
//! [hold](held), what launches [pass](arguments) and [ask](facts) of the device, also how many
//! [blocks](max_blocks) it holds, [tensor maps](tensor_map), and kernels that [Triton](triton)
//! compiled, or that are [written
//! here](kernel_files); how launches were [submitted], through executable [graphs], alone and in
//! [chains], by [threads](graph_threads), and where they stay [plain], because of a [setting] too;
//! how many graphs there [are](graph_bounds), and what [fails](graph_errors) on their way; and the
//! driver's [structs](interface). What the build says is tested with the compiler.

mod again;
mod architectures;
mod arguments;
mod asserts;
mod chains;
mod choosing;
mod devices;
mod errors;
mod exit;
mod facts;
mod graph_bounds;
mod graph_errors;
mod graph_threads;
mod graphs;
mod held;
mod interface;
mod kernel_files;
mod kernel_maps;
mod loading;
mod max_blocks;
mod names;
mod peers;
mod plain;
mod prepare;
mod setting;
mod submission;
mod submitted;
mod tensor_map;
mod triton;
mod triton_descriptor;

use kernpack_ffi_abi::layout::Any;
use kernpack_tests::cuda_stub::Stub;
use kernpack_tests::fake_ffi;
use kernpack_tests::gpu_package::{GpuPackage, Loaded, outcome, tensor};
use kernpack_tests::memory::Arguments;
use kernpack_tests::value::{Arrival, Value};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 a, .param .u64 b, .param .u32 n, .param .f32 by)
{
    ret;
}
.visible .entry count(.param .u32 n)
{
    ret;
}
";

const PACKAGE: &str = r#"
[package]
name = "gpu"
submit = "plain"
[[function]]
signature = "scale(a: Tensor([n], float32), b: Tensor([n], float32, mut), by: float32, s: Optional[int32] = None)"
source = { ptx = "k.ptx" }
kernel = "scale"
args = ["a", "b", "n: int32", "by"]
launch = { grid = ["ceildiv(n, 256)"], block = [256], smem = "4*n" }
[[function]]
signature = "nested(p: Tuple(int32, x: Tensor([n], float32)))"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
launch = { grid = [1], block = [32] }
[[function]]
signature = "given(x: Tensor([n], float32), s: Stream)"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
launch = { grid = [1], block = [32], attr = { stream = "s", priority = -1, cluster = [1] } }
[[function]]
signature = "bare(n: int32, threads: int32)"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n"]
launch = { grid = ["n"], block = ["threads"] }
[[function]]
signature = "chosen(x: Tensor([n], float32))"
[[function.launch]]
when = "n > 4"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
grid = [1]
block = [32]
[[function.launch]]
when = "n > 8"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
grid = [2]
block = [32]
[[function.launch]]
when = "n == 0"
source = { host = "h.c" }
kernel = "idle"
args = []
"#;

/// Builds a package whose kernels are all in `k.ptx`.
fn build(package: &str, ptx: &str) -> GpuPackage {
    GpuPackage::build(package, &[("k.ptx", ptx.as_bytes())])
}

/// The package, built once.
fn package() -> &'static GpuPackage {
    static BUILT: LazyLock<GpuPackage> = LazyLock::new(|| {
        let files: [(&str, &[u8]); 2] = [("k.ptx", PTX.as_bytes()), ("h.c", b"void idle(void) {}")];
        GpuPackage::build(PACKAGE, &files)
    });
    &BUILT
}

/// How an error of a call of `scale` names it.
const CALLING_SCALE: &str = "when calling: `scale(a: Tensor([n], float32), b: Tensor([n], float32), by: float32, s: Optional[int32])`";

fn scale(loaded: &Loaded, n: i64, device: i32) -> Result<(), String> {
    loaded.call("scale", &[tensor(n, device), tensor(n, device), Value::Float(2.5)])
}

fn calls(log: &[Json], name: &str) -> Vec<Json> {
    log.iter().filter(|line| line["call"] == name).cloned().collect()
}

/// Builds a C library of a text in a folder.
fn build_c(folder: &Path, name: &str, text: &str) -> PathBuf {
    let library = folder.join(name);
    let source = library.with_extension("c");
    std::fs::write(&source, text).unwrap();
    let mut cc = Command::new("cc");
    let built = cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status().unwrap();
    assert!(built.success());
    library
}

/// A prepared call. Its arguments stay, as they do where references to them count.
struct Prepared(Any, Arguments);

fn prepare(loaded: &Loaded, name: &str, values: &[Value]) -> Prepared {
    let arguments = Arguments::new(values, Arrival::Tensor);
    let (status, result) = loaded.invoke(&format!("kernpack_prepare_{name}"), &arguments);
    outcome(status).0.unwrap();
    Prepared(result, arguments)
}

impl Drop for Prepared {
    fn drop(&mut self) {
        fake_ffi::drop_result(&self.0);
    }
}

fn launch(Prepared(prepared, _): &Prepared) -> Result<(), String> {
    outcome(fake_ffi::call_result(prepared, &[])).0
}

fn default_stream() {
    fake_ffi::set_stream(0);
}

#[test]
fn a_launch_is_what_the_package_says() {
    default_stream();
    let stub = Stub::load("devices 2");
    let loaded = package().load();
    scale(&loaded, 1000, 0).unwrap();
    let log = stub.take_log();
    let launches = calls(&log, "cuLaunchKernelEx");
    assert_eq!(launches.len(), 1);
    let text = launches[0].to_string();
    for part in ["\"scale\"", "4,1,1", "256,1,1", "4000"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let loads = calls(&log, "cuLibraryLoadData");
    assert_eq!(loads.len(), 1);
    for options in ["_num_jit_options", "_num_library_options"] {
        assert_eq!(loads[0]["args"][options], 0, "{}", loads[0]);
    }
    scale(&loaded, 1, 0).unwrap();
    assert_eq!(calls(&stub.take_log(), "cuLibraryLoadData").len(), 0, "loaded once");
}

#[test]
fn each_device_gets_its_image_and_its_context() {
    default_stream();
    let stub = Stub::load("devices 2");
    let loaded = package().load();
    scale(&loaded, 8, 1).unwrap();
    loaded.call("nested", &[Value::List(vec![Value::Int(3), tensor(8, 1)])]).unwrap();
    scale(&loaded, 8, 0).unwrap();
    let log = stub.take_log();
    assert_eq!(calls(&log, "cuLibraryLoadData").len(), 2, "once a device");
    let devices: Vec<_> =
        calls(&log, "cuLaunchKernelEx").iter().map(|call| call["device"].to_string()).collect();
    assert_eq!(devices, ["1", "1", "0"]);
    assert_eq!(stub.counts()["libraries"], 2);
    drop(loaded);
    assert_eq!(stub.counts()["libraries"], 0, "{}", stub.counts());
}

#[test]
fn a_grid_without_blocks_is_no_launch() {
    default_stream();
    let stub = Stub::load("devices 1");
    let loaded = package().load();
    let empty = [tensor(0, 0), tensor(0, 0), Value::Float(2.5)];
    for (function, values) in [("scale", &empty[..]), ("chosen", &empty[..1])] {
        let (outcome, record) = loaded.call_recorded(function, values);
        outcome.unwrap();
        assert!(stub.take_log().is_empty(), "where nothing launches, the driver is not asked");
        assert!(record.streams_asked.is_empty(), "and no stream is");
    }
    loaded.call("chosen", &[tensor(9, 0)]).unwrap();
    assert_eq!(calls(&stub.take_log(), "cuLaunchKernelEx").len(), 2);
}

#[test]
fn a_number_out_of_range_is_refused_before_the_driver_sees_it() {
    default_stream();
    let _stub = Stub::load("devices 1");
    let loaded = package().load();
    let error = loaded.call("bare", &[Value::Int(-1), Value::Int(32)]).unwrap_err();
    assert_eq!(
        error,
        "ValueError: Out of bound launch grid[0] `n` when calling: `bare(n: int32, threads: int32)`, \
         expected to be in range [0, 2147483647], got -1"
    );
}
