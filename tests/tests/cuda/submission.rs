// SPDX-License-Identifier: Apache-2.0
//! What tests of submission share: packages that are built once for each way of submitting, a
//! caller in the situation in which launches may go through graphs, and what a log says of the way
//! they went.

use super::*;
use kernpack_tests::cuda_host::{Host, Stream};
use kernpack_tests::cuda_stub;
use kernpack_tests::value::Tensor;

/// Arguments for which every launch is another.
pub(super) const N_CALLS: i64 = 8;

/// The same functions, submitted each way.
pub(super) struct Ways {
    pub(super) plain: GpuPackage,
    pub(super) graph: GpuPackage,
    pub(super) auto: GpuPackage,
}

impl Ways {
    /// Builds functions, whose PTX is `k.ptx`, and whose host functions are in `h.c`.
    pub(super) fn build(functions: &str, ptx: &str, c: &str) -> Ways {
        let build = |submit: &str| {
            let head = format!("[package]\nname = \"gpu\"\nsubmit = \"{submit}\"\n");
            let files = [("k.ptx", ptx.as_bytes()), ("h.c", c.as_bytes())];
            GpuPackage::build(&(head + functions), &files)
        };
        Ways { plain: build("plain"), graph: build("graph"), auto: build("auto") }
    }

    /// Builds functions, each with a kernel of its own that is passed `n`, of their signatures and
    /// layouts.
    pub(super) fn build_each_of(functions: &[(&str, &str)]) -> Ways {
        let names: Vec<_> = (0..functions.len()).map(|number| format!("k{number}")).collect();
        let text = functions.iter().zip(&names);
        let text =
            text.map(|((signature, launch), name)| function(signature, name, &["n"], launch));
        let kernels: Vec<_> = names.iter().map(|name| (&name[..], ".param .u32 n")).collect();
        Ways::build(&text.collect::<String>(), &ptx(&kernels), "")
    }

    /// What a story gives for a package that launches plainly, and for one that does through
    /// graphs.
    pub(super) fn tell<T>(&self, story: impl Fn(&Scene) -> T) -> [T; 2] {
        [&self.plain, &self.graph].map(|package| story(&Scene::new(package)))
    }
}

/// PTX of kernels, each with its parameters.
pub(super) fn ptx(kernels: &[(&str, &str)]) -> String {
    let head = ".version 8.0\n.target sm_90\n.address_size 64\n".to_string();
    let kernel = |(name, params): &(&str, &str)| {
        format!(".visible .entry {name}({params})\n{{\n    ret;\n}}\n")
    };
    head + &kernels.iter().map(kernel).collect::<String>()
}

/// A function of one launch.
pub(super) fn function(signature: &str, kernel: &str, args: &[&str], launch: &str) -> String {
    format!(
        "[[function]]\nsignature = \"{signature}\"\nsource = {{ ptx = \"k.ptx\" }}\nkernel = \"{kernel}\"\n\
         args = {args:?}\nlaunch = {{ {launch} }}\n"
    )
}

/// A caller on a stream of its own of device 0, whose primary context is current, with a package
/// that is loaded there.
pub(super) struct Scene {
    pub(super) loaded: Loaded,
    pub(super) host: Host,
    pub(super) primary: usize,
    pub(super) stream: Stream,
    pub(super) stub: Stub,
}

impl Scene {
    pub(super) fn new(package: &GpuPackage) -> Scene {
        Scene::on(package, "devices 2")
    }

    /// The same on a driver that is told this.
    pub(super) fn on(package: &GpuPackage, config: &str) -> Scene {
        let stub = Stub::load(config);
        let host = Host::new();
        let primary = host.primary(0);
        host.set_current(primary);
        let stream = host.stream();
        fake_ffi::set_stream(stream);
        let loaded = package.load();
        // The call for which the driver is started counts for nothing.
        loaded.call("kernpack_preload_gpu", &ints(&[0])).unwrap();
        stub.take_log();
        Scene { loaded, host, primary, stream, stub }
    }

    /// Calls a function, and returns the calls of the driver that this took.
    pub(super) fn call(&self, name: &str, values: &[Value]) -> Vec<Json> {
        self.stub.take_log();
        self.loaded.call(name, values).unwrap();
        self.stub.take_log()
    }

    /// Calls a function with numbers, as [`Scene::call`] does.
    pub(super) fn count(&self, name: &str, numbers: &[i64]) -> Vec<Json> {
        self.call(name, &ints(numbers))
    }

    /// How many there are of a kind of the driver's objects.
    pub(super) fn n(&self, kind: &str) -> u64 {
        self.stub.counts()[kind].as_u64().unwrap()
    }
}

pub(super) fn ints(numbers: &[i64]) -> Vec<Value> {
    numbers.iter().map(|number| Value::Int(*number)).collect()
}

/// A tensor on device 0 at an address.
pub(super) fn tensor_at(data: u64, tensor: Tensor) -> Value {
    Value::Tensor(Tensor { data, device: (2, 0), ..tensor })
}

/// What was called, in order.
pub(super) fn names(log: &[Json]) -> Vec<&str> {
    log.iter().map(|line| line["call"].as_str().unwrap()).collect()
}

/// The calls that have to do with graphs.
pub(super) fn graph_calls(log: &[Json]) -> Vec<&str> {
    names(log).into_iter().filter(|name| name.starts_with("cuGraph")).collect()
}

/// What was launched, by whichever call.
pub(super) fn launched(log: &[Json]) -> Vec<Json> {
    cuda_stub::launched(log).into_iter().cloned().collect()
}

/// The first argument of each kernel that was launched, as a number.
pub(super) fn first_arguments(log: &[Json]) -> Vec<u32> {
    let bytes = |launch: &&Json| launch["arguments"][0]["bytes"].as_str().unwrap()[..8].to_string();
    let digits = cuda_stub::launched(log);
    let number = |digits: String| u32::from_str_radix(&digits, 16).unwrap().swap_bytes();
    digits.iter().map(bytes).map(number).collect()
}

/// What of a log does something, and does not only ask: the call, its result and its launch.
pub(super) fn deeds(log: &[Json]) -> Vec<[Json; 4]> {
    let questions = [
        "cuCtxGetCurrent",
        "cuCtxGetDevice",
        "cuCtxGetId",
        "cuStreamGetAttribute",
        "cuStreamGetCtx",
        "cuStreamGetId",
        "cuStreamIsCapturing",
    ];
    let does = |line: &&Json| !questions.iter().any(|question| line["call"] == *question);
    let facts = ["call", "result", "launch", "captured"];
    log.iter().filter(does).map(|line| facts.map(|fact| line[fact].clone())).collect()
}
