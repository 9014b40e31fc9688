// SPDX-License-Identifier: Apache-2.0
//! CUDA C++, compiled by the NVRTC of the tests' Python environment.

use super::bench::{Bench, Count, expect_loadable, told};
use super::{compiler, with_compilers};
use crate::settings::Settings;
use crate::{Cache, Got, Request, Wanted};
use kernpack_compiler::source::nvrtc;
use kernpack_machine::Arch;
use std::fs;

const FILL: &str = r#"
[package]
name = "demo"
[[function]]
signature = "fill(x: Tensor([n], float32, mut))"
source = { cuda = "fill.cu", include = ["first", "second"] }
kernel = "fill"
args = ["x", "n: int32"]
launch = { grid = ["ceildiv(n, 128)"], block = [128] }
"#;

const FILL_CU: &str = r#"
#include <factor.h>
extern "C" __global__ void fill(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = FACTOR;
}
"#;

/// A bench with the file.
fn bench() -> Bench {
    nvrtc::identity().expect("NVRTC: set KERNPACK_PYTHON to the Python of the tests");
    let bench = Bench::new();
    bench.write("pkg/fill.cu", FILL_CU);
    bench
}

fn archs(names: &[&str]) -> Vec<Arch> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

fn get(bench: &Bench, wanted: Wanted) -> Got {
    let request = Request { archs: wanted, ..bench.request(FILL) };
    let got = bench.cache().get(&request, &Count::default()).unwrap();
    expect_loadable(&got);
    got
}

#[test]
fn headers_count_that_change_and_that_appear() {
    let bench = bench();
    let is_hit = || get(&bench, Wanted::Written).is_hit;
    assert!(!is_hit());
    assert!(is_hit());
    bench.write("pkg/second/factor.h", "#define FACTOR 3\n");
    assert!(!is_hit());
    // A name in angle brackets is not looked for beside the file.
    bench.write("pkg/factor.h", "#define FACTOR 4\n");
    assert!(is_hit());
    bench.write("pkg/first/factor.h", "#define FACTOR 5\n");
    assert!(!is_hit());
    fs::remove_file(bench.path("pkg/first/factor.h")).unwrap();
    assert!(is_hit());
}

#[test]
fn held_text_and_headers_are_the_same_as_on_a_disk() {
    let bench = bench();
    let on_disk = get(&bench, Wanted::Written);
    let mut request = bench.request(FILL);
    for name in ["fill.cu", "second/factor.h"] {
        let path = bench.path("pkg").join(name);
        request.held.insert(name, fs::read(&path).unwrap());
        fs::remove_file(path).unwrap();
    }
    let held = bench.cache().get(&request, &Count::default()).unwrap();
    assert_eq!((held.is_hit, held.entry.digest()), (false, on_disk.entry.digest()));
    assert!(held.entry.record().inputs(&request.base).is_empty());
    assert!(bench.cache().get(&request, &Count::default()).unwrap().is_hit);
}

#[test]
fn what_was_compiled_ahead_serves_each_device_also_where_nothing_may_be_compiled() {
    let bench = bench();
    let ahead = get(&bench, Wanted::Archs(archs(&["sm_80", "sm_90a", "compute_90"])));
    assert!(!ahead.is_hit);
    assert_eq!(ahead.entry.record().archs(), archs(&["sm_80", "sm_90a", "compute_90"]));
    for device in ["sm_80", "sm_86", "sm_90", "sm_90a"] {
        let got = get(&bench, Wanted::Devices(archs(&[device])));
        assert!(got.is_hit && got.entry.digest() == ahead.entry.digest(), "{device}");
    }
    let forbid = || Cache::of(Settings { is_forbidden: true, ..bench.settings() });
    let ask = |cache: Cache, device: &str| {
        let wanted = Wanted::Devices(archs(&[device]));
        cache.get(&Request { archs: wanted, ..bench.request(FILL) }, &Count::default())
    };
    // The driver compiles the PTX, where nobody else may or can.
    assert!(ask(forbid(), "sm_100").unwrap().is_hit);
    with_compilers((None, None), || assert!(ask(bench.cache(), "sm_100").unwrap().is_hit));
    let error = ask(forbid(), "sm_75").unwrap_err().to_string();
    let reason = "it has code for sm_80, sm_90a, compute_90, and none for sm_75";
    assert!(error.contains(reason), "{error}");
    let own = get(&bench, Wanted::Devices(archs(&["sm_100"])));
    assert!(!own.is_hit && own.entry.record().archs() == archs(&["sm_100"]));
    assert!(!get(&bench, Wanted::Written).is_hit, "the text says something else");
    assert!(get(&bench, Wanted::Archs(archs(&["sm_100"]))).is_hit);
}

#[test]
fn an_arch_that_is_written_is_for_all_devices() {
    let bench = bench();
    let text = FILL.replace("include =", "arch = [\"sm_80\"], include =");
    let ask = |wanted: Wanted| {
        let request = Request { archs: wanted, ..bench.request(&text) };
        bench.cache().get(&request, &Count::default()).unwrap()
    };
    assert_eq!(ask(Wanted::Devices(archs(&["sm_90"]))).entry.record().archs(), archs(&["sm_80"]));
    assert!(ask(Wanted::Devices(archs(&["sm_100"]))).is_hit);
    assert_eq!(ask(Wanted::Archs(archs(&["sm_90"]))).entry.record().archs(), archs(&["sm_90"]));
}

#[test]
fn another_nvrtc_compiles_again_and_none_does_not() {
    let bench = bench();
    let is_hit = || get(&bench, Wanted::Written).is_hit;
    with_compilers((None, compiler("/one/libnvrtc.so")), || assert!(!is_hit()));
    with_compilers((None, compiler("/two/libnvrtc.so")), || assert!(!is_hit()));
    with_compilers((None, compiler("/one/libnvrtc.so")), || assert!(is_hit()));
    with_compilers((None, None), || assert!(is_hit()));
}

#[test]
fn what_stays_as_it_is_is_told_to_whom_it_concerns() {
    let bench = bench();
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) { ret; }\n";
    bench.write("pkg/k.ptx", ptx);
    let other = r#"
[[function]]
signature = "k(x: Tensor([n], float32, mut))"
source = { ptx = "k.ptx" }
kernel = "k"
args = ["x"]
launch = { grid = [1], block = [1] }
"#;
    let text = format!("{FILL}{other}");
    let ask = |wanted: Wanted| {
        let request = Request { archs: wanted, ..bench.request(&text) };
        bench.cache().get(&request, &Count::default()).unwrap()
    };
    let asked = || Wanted::Archs(archs(&["sm_90"]));
    for _ in 0..2 {
        let messages = told(&ask(asked()));
        assert!(messages.len() == 1 && messages[0].contains("stays as it is"), "{messages:?}");
    }
    let of_device = ask(Wanted::Devices(archs(&["sm_90"])));
    assert!(of_device.is_hit && told(&of_device).is_empty());
}
