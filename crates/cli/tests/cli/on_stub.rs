// SPDX-License-Identifier: Apache-2.0
//! The command line with a driver that needs no GPU and runs nothing, and what that was asked for.

use crate::bench::{Bench, KERNPACK, Ran};
use expect_test::expect;
use serde_json::Value;
use std::path::Path;

/// A kernel that takes the map of a tensor.
pub const ROWS: &str = r#"
import kernpack as kp


@kp.kernel
def rows_kernel(x, y):
    layout = kp.make_layout((8, 32), stride=(32, 1))
    tma = kp.make_tma(x, layout)
    tile = kp.shared(x.element_type, layout)
    there = kp.mbarrier()
    t = kp.thread_idx()[0]
    if t == 0:
        there.init(1)
        there.arrive_and_expect_tx(8 * 32 * 4)
        kp.copy(tma[None, (0, 0)], tile, to=there)
    kp.sync_threads()
    there.wait()
    y[t] = tile[0, t]


@kp.jit("rows(x: Tensor([m, n], float32, align=16), y: Tensor([32], float32, mut)) where n % 4 == 0")
def rows(x, y):
    rows_kernel(x, y).launch(grid=1, block=32, arch="sm_90")
"#;

/// A folder with the files, and in another the library that is found as the driver.
pub struct OnStub {
    pub bench: Bench,
    pub driver: tempfile::TempDir,
}

impl OnStub {
    /// The driver is told this.
    pub fn new(bench: Bench, config: &str) -> OnStub {
        let program = std::env::current_exe().expect("a program has a path");
        let built = program.with_file_name("libkernpack_cuda_stub.so");
        let on_stub = OnStub::with_driver(bench, &built);
        let path = |name: &str| on_stub.driver.path().join(name).display().to_string();
        let config =
            format!("devices 1\n{config}\nlog {}\nimages {}\n", path("log"), path("images"));
        std::fs::create_dir(path("images")).expect("the folder can be written");
        std::fs::write(path("config"), config).expect("the folder can be written");
        on_stub
    }

    /// That file is found as the driver.
    pub fn with_driver(bench: Bench, file: &Path) -> OnStub {
        let driver = tempfile::tempdir().expect("a folder");
        let link = driver.path().join("libcuda.so.1");
        std::os::unix::fs::symlink(file, link).expect("the folder can be written");
        OnStub { bench, driver }
    }

    /// Runs, as if there were no assembler.
    pub fn run(&self, args: &str) -> Ran {
        let mut command = self.bench.command(KERNPACK);
        command.args(args.split(' '));
        command.env("LD_LIBRARY_PATH", self.driver.path());
        command.env("KERNPACK_CUDA_STUB", self.driver.path().join("config"));
        command.env("KERNPACK_NVJITLINK", "/none/libnvJitLink.so");
        command.output().expect("the program runs").into()
    }

    /// The calls of a function that the driver has had.
    pub fn calls(&self, function: &str) -> Vec<Value> {
        let mut calls = self.all_calls();
        calls.retain(|call| call["call"] == function);
        calls
    }

    /// All calls that the driver has had.
    pub fn all_calls(&self) -> Vec<Value> {
        let log = std::fs::read_to_string(self.driver.path().join("log")).unwrap_or_default();
        log.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
    }

    /// The launches: kernel, configuration, arguments.
    pub fn launches(&self) -> Vec<String> {
        let shown = |call: &Value| {
            let (launch, config) = (&call["launch"], &call["launch"]["config"]);
            let arguments = launch["arguments"].as_array().expect("a list").iter();
            let arguments = arguments.map(|argument| match &argument["address"] {
                Value::Null => argument["bytes"].as_str().expect("digits").to_string(),
                // How far a tensor is into its memory is the allocator's.
                address => {
                    let name = address.as_str().unwrap_or_default();
                    name.split('+').next().unwrap_or_default().to_string()
                }
            });
            format!(
                "{} {} {} {} {}: {}",
                launch["kernel"].as_str().expect("a name"),
                config["grid"],
                config["block"],
                config["shared"],
                config["attributes"],
                arguments.collect::<Vec<_>>().join(" ")
            )
        };
        self.calls("cuLaunchKernelEx").iter().map(shown).collect()
    }

    /// Holds that the map of `ROWS` was encoded, of a tensor of 10 rows of 40, and passed.
    pub fn expect_map(&self) {
        let [encoded] = &self.calls("cuTensorMapEncodeTiled")[..] else { panic!("one map") };
        expect![[r#"{"dims":[40,10],"strides":[160],"box":[32,8],"steps":[1,1]}"#]]
            .assert_eq(&encoded["tensor"].to_string());
        assert_eq!(encoded["unaligned"], Value::Null);
        let launch = &self.calls("cuLaunchKernelEx")[0]["launch"];
        let arguments = launch["arguments"].as_array().expect("a list");
        let n_digits = |argument: &Value| argument["bytes"].as_str().map(str::len);
        assert!(arguments.iter().any(|argument| n_digits(argument) == Some(256)), "{launch}");
    }
}
