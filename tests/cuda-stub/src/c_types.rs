// SPDX-License-Identifier: Apache-2.0
//! The driver's types under the names that `cuda.h` gives them: handles, enumerations, structs. A
//! test holds sizes, offsets and values to the header.
//!
//! A handle is no address of anything: it says by itself what it is a handle of, so that a wrong or
//! destroyed one is noticed, and so that the log can call it `stream2`.

#![expect(non_camel_case_types, reason = "these are the driver's names")]

use crate::argument::{CType, In, Pointers, Value};
use crate::json;
use crate::memory::Memory;

/// What a handle can be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A context.
    Context = 1,
    /// A stream.
    Stream,
    /// A library.
    Library,
    /// A kernel, which belongs to no context.
    Kernel,
    /// A kernel in a context.
    Function,
    /// A library in a context.
    Module,
    /// A graph: made node by node, or what a capture became.
    Graph,
    /// A node of a graph.
    Node,
    /// A graph that can be launched.
    Executable,
    /// An event.
    Event,
}

impl Kind {
    const ALL: &[(Kind, &'static str)] = &[
        (Kind::Context, "context"),
        (Kind::Stream, "stream"),
        (Kind::Library, "library"),
        (Kind::Kernel, "kernel"),
        (Kind::Function, "function"),
        (Kind::Module, "module"),
        (Kind::Graph, "graph"),
        (Kind::Node, "node"),
        (Kind::Executable, "exec"),
        (Kind::Event, "event"),
    ];
}

/// The upper bits of every handle: no address has these.
const MARK: usize = 0x00cd << 48;

/// What a handle says: what it is of, which life of the driver it comes from, and its number there,
/// from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    /// What it is of.
    pub kind: Kind,
    /// Which life of the driver: a reset begins a new one.
    pub life: u16,
    /// The number, below 2^20.
    pub number: usize,
}

impl Handle {
    /// The handle as callers have it.
    pub fn encode(self) -> usize {
        MARK | usize::from(self.life) << 32 | (self.kind as usize) << 28 | self.number << 8
    }

    /// What a caller's handle says, if the stub gave it.
    pub fn decode(value: usize) -> Option<Handle> {
        let kind = Kind::ALL.iter().find(|(kind, _)| *kind as usize == value >> 28 & 0xf)?.0;
        let life = u16::try_from(value >> 32 & 0xffff).ok()?;
        let handle = Handle { kind, life, number: value >> 8 & 0xf_ffff };
        (handle.encode() == value).then_some(handle)
    }
}

/// A handle as the log has it.
pub fn handle_json(value: usize) -> String {
    let name = |kind| Kind::ALL.iter().find(|row| row.0 == kind).map_or("", |row| row.1);
    match Handle::decode(value) {
        Some(handle) => json::string(&format!("{}{}", name(handle.kind), handle.number)),
        None if value == 0 => "null".to_string(),
        None => json::string(&format!("{value:#x}")),
    }
}

/// Types of one field, and what C calls them if that is another name.
macro_rules! named {
    (@c $name:ident) => { stringify!($name) };
    (@c $name:ident $c:literal) => { $c };
    ($($(#[$doc:meta])* $name:ident($type:ty $(, $c:literal)?) = $json:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(transparent)]
        pub struct $name(pub $type);

        impl CType for $name {
            fn c() -> String {
                named!(@c $name $($c)?).to_string()
            }
        }

        impl Value for $name {
            fn json(self, memory: &Memory) -> String {
                let json: fn($type, &Memory) -> String = $json;
                json(self.0, memory)
            }
        }
    )*};
}

named! {
    /// A context.
    CUcontext(usize) = |value, _| handle_json(value);
    /// A stream; 0, 1 and 2 are streams of whatever context is current.
    CUstream(usize) = |value, _| stream_json(value);
    /// A library.
    CUlibrary(usize) = |value, _| handle_json(value);
    /// A kernel of a library.
    CUkernel(usize) = |value, _| handle_json(value);
    /// A kernel in a context, or a [`CUkernel`].
    CUfunction(usize) = |value, _| handle_json(value);
    /// A library in a context.
    CUmodule(usize) = |value, _| handle_json(value);
    /// A graph.
    CUgraph(usize) = |value, _| handle_json(value);
    /// A node of a graph.
    CUgraphNode(usize) = |value, _| handle_json(value);
    /// A graph that can be launched.
    CUgraphExec(usize) = |value, _| handle_json(value);
    /// An event.
    CUevent(usize) = |value, _| handle_json(value);
    /// How a graph is made into one that can be launched.
    GraphFlags(u64, "unsigned long long") = |value, _| value.to_string();
    /// What tells one life of a context from the next under the same handle.
    ContextId(u64, "unsigned long long") = |value, _| id_json("context-id", value);
    /// What tells a stream from another under the same handle.
    StreamId(u64, "unsigned long long") = |value, _| id_json("stream-id", value);
    /// A part of a device, which the stub does not divide.
    CUgreenCtx(usize) = |value, _| handle_json(value);
    /// A device.
    CUdevice(i32) = |value, _| value.to_string();
    /// An address on a device.
    CUdeviceptr(u64) = |value, memory| json::string(&memory.name(value));
    /// Which property of a device.
    CUdevice_attribute(u32) = |value, _| value.to_string();
    /// Which property of a kernel.
    CUfunction_attribute(u32) = |value, _| value.to_string();
    /// Which property of a stream, of a launch, or of a node.
    CUlaunchAttributeID(u32) = |value, _| value.to_string();
    /// Which property of an address.
    CUpointer_attribute(u32) = |value, _| value.to_string();
    /// What a capture forbids: 0 global, 1 thread-local, 2 relaxed.
    CUstreamCaptureMode(u32) = |value, _| value.to_string();
    /// How a capture stands: 0 none, 1 active, 2 invalidated.
    CUstreamCaptureStatus(u32) = |value, _| value.to_string();
    /// Whether a symbol was found: 0 yes, 1 no, 2 only in a later version.
    CUdriverProcAddressQueryResult(u32) = |value, _| value.to_string();
    /// The element type of a tensor map.
    CUtensorMapDataType(u32) = |value, _| value.to_string();
    /// The interleaving of a tensor map.
    CUtensorMapInterleave(u32) = |value, _| value.to_string();
    /// The swizzle of a tensor map.
    CUtensorMapSwizzle(u32) = |value, _| value.to_string();
    /// What a tensor map's loads bring into the second-level cache.
    CUtensorMapL2promotion(u32) = |value, _| value.to_string();
    /// What a tensor map reads outside of the tensor.
    CUtensorMapFloatOOBfill(u32) = |value, _| value.to_string();
}

/// A stream as the log has it.
pub fn stream_json(value: usize) -> String {
    match value {
        1 => json::string("legacy"),
        2 => json::string("per-thread"),
        _ => handle_json(value),
    }
}

/// An id as the log has it: by its number in this life of the driver ([`Driver::new_id`]).
///
/// [`Driver::new_id`]: crate::driver::Driver::new_id
fn id_json(name: &str, value: u64) -> String {
    json::string(&format!("{name}{}", value & 0xffff_ffff))
}

/// The value of an attribute, whichever it is: a union in C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct CUlaunchAttributeValue(pub [u64; 8]);

impl CType for CUlaunchAttributeValue {
    fn c() -> String {
        "CUlaunchAttributeValue".to_string()
    }
}

impl Value for CUlaunchAttributeValue {
    fn json(self, _memory: &Memory) -> String {
        json::words(&self.0)
    }
}

/// A launch attribute: what it is, and its value in the bytes that it needs of 64.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUlaunchAttribute {
    /// Which attribute.
    pub id: u32,
    /// Nothing.
    pub pad: [u8; 4],
    /// The value.
    pub value: CUlaunchAttributeValue,
}

impl CUlaunchAttribute {
    /// Which part of memory is to stay in the second-level cache.
    pub const ACCESS_POLICY_WINDOW: u32 = 1;
    /// Launch the blocks so that they can wait for one another.
    pub const COOPERATIVE: u32 = 2;
    /// Blocks that run close together, by dimension.
    pub const CLUSTER_DIMENSION: u32 = 4;
    /// Start before the kernel before it in the stream has ended.
    pub const PROGRAMMATIC_STREAM_SERIALIZATION: u32 = 6;
    /// Priority within the device.
    pub const PRIORITY: u32 = 8;
    /// The numbers that `cuda.h` has attributes for.
    pub const ALL: &[u32] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16];

    /// Those of them that nodes of graphs can have.
    pub const OF_NODES: &[u32] = &[0, 1, 2, 4, 5, 8, 9, 10, 11, 13, 16];

    /// An attribute whose value is up to three numbers.
    pub fn new(id: u32, value: [u32; 3]) -> CUlaunchAttribute {
        let mut words = [0; 8];
        words[0] = u64::from(value[0]) | u64::from(value[1]) << 32;
        words[1] = u64::from(value[2]);
        CUlaunchAttribute { id, pad: [0; 4], value: CUlaunchAttributeValue(words) }
    }

    /// The first numbers of the value.
    pub fn numbers(&self) -> [u32; 3] {
        let low = |word: u64| (word & 0xffff_ffff) as u32;
        let words = self.value.0;
        [low(words[0]), low(words[0] >> 32), low(words[1])]
    }

    /// The attribute as the log has it.
    pub fn json(&self, memory: &Memory) -> String {
        let numbers = self.numbers();
        let number = || numbers[0].cast_signed().to_string();
        let (name, value) = match self.id {
            Self::COOPERATIVE => ("cooperative", number()),
            Self::CLUSTER_DIMENSION => ("cluster", json::list(numbers.map(|n| n.to_string()))),
            Self::PROGRAMMATIC_STREAM_SERIALIZATION => ("programmatic", number()),
            Self::PRIORITY => ("priority", number()),
            _ => ("other", self.value.json(memory)),
        };
        json::object([("id", self.id.to_string()), ("name", json::string(name)), ("value", value)])
    }
}

/// Everything about a launch but kernel and arguments.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUlaunchConfig {
    /// Blocks along x, y and z: three fields in C.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z: three fields in C.
    pub block: [u32; 3],
    /// Dynamic shared memory, in bytes.
    pub shared_mem_bytes: u32,
    /// The stream.
    pub stream: CUstream,
    /// The attributes.
    pub attrs: *const CUlaunchAttribute,
    /// How many attributes there are.
    pub num_attrs: u32,
}

impl CUlaunchConfig {
    /// A launch whose attributes are these.
    pub fn new(
        grid: [u32; 3],
        block: [u32; 3],
        shared_mem_bytes: u32,
        stream: CUstream,
        attributes: &[CUlaunchAttribute],
    ) -> CUlaunchConfig {
        let (attrs, num_attrs) = (attributes.as_ptr(), attributes.len() as u32);
        CUlaunchConfig { grid, block, shared_mem_bytes, stream, attrs, num_attrs }
    }

    /// The attributes.
    pub fn attributes(&self) -> Vec<CUlaunchAttribute> {
        In(self.attrs).list(self.num_attrs as usize).unwrap_or_default()
    }
}

impl CType for CUlaunchConfig {
    fn c() -> String {
        "CUlaunchConfig".to_string()
    }
}

impl Value for CUlaunchConfig {
    fn json(self, memory: &Memory) -> String {
        let attributes = self.attributes();
        let attributes = attributes.iter().map(|attribute| attribute.json(memory));
        json::object([
            ("grid", json::list(self.grid.map(|n| n.to_string()))),
            ("block", json::list(self.block.map(|n| n.to_string()))),
            ("shared", self.shared_mem_bytes.to_string()),
            ("stream", self.stream.json(memory)),
            ("attributes", json::list(attributes)),
        ])
    }
}

/// The kernel of a node, and everything about its launch but the stream and attributes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CUDA_KERNEL_NODE_PARAMS {
    /// The kernel as a function of a context, or NULL.
    pub function: CUfunction,
    /// Blocks along x, y and z: three fields in C.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z: three fields in C.
    pub block: [u32; 3],
    /// Dynamic shared memory, in bytes.
    pub shared_mem_bytes: u32,
    /// The addresses of the arguments.
    pub params: Pointers,
    /// The packed arguments instead.
    pub extra: Pointers,
    /// The kernel, which counts if there is no function.
    pub kernel: CUkernel,
    /// The context for that kernel; the current one if NULL.
    pub context: CUcontext,
}

impl CType for CUDA_KERNEL_NODE_PARAMS {
    fn c() -> String {
        "CUDA_KERNEL_NODE_PARAMS".to_string()
    }
}

impl Value for CUDA_KERNEL_NODE_PARAMS {
    fn json(self, memory: &Memory) -> String {
        json::object([
            ("function", self.function.json(memory)),
            ("grid", json::list(self.grid.map(|n| n.to_string()))),
            ("block", json::list(self.block.map(|n| n.to_string()))),
            ("shared", self.shared_mem_bytes.to_string()),
            ("params", self.params.json(memory)),
            ("extra", self.extra.json(memory)),
            ("kernel", self.kernel.json(memory)),
            ("context", self.context.json(memory)),
        ])
    }
}

/// How a node of a graph depends on another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct CUgraphEdgeData {
    /// When the other node lets it begin: 0 where it has ended.
    pub from_port: u8,
    /// What of it waits: 0 for all.
    pub to_port: u8,
    /// The type: 0 for a dependency like any other.
    pub kind: u8,
    /// Zeros.
    pub reserved: [u8; 5],
}

impl CUgraphEdgeData {
    /// The port of a kernel that lets others begin when it says so.
    pub const PROGRAMMATIC: u8 = 1;
    /// The port of a kernel that lets others begin when it has begun.
    pub const LAUNCH_ORDER: u8 = 2;
    /// The type of a dependency at one of these ports.
    pub const PROGRAMMATIC_TYPE: u8 = 1;

    /// Whether kernels can be connected so.
    pub fn is_of_kernels(self) -> bool {
        let is_early = matches!(self.from_port, Self::PROGRAMMATIC | Self::LAUNCH_ORDER);
        let kind = if is_early { Self::PROGRAMMATIC_TYPE } else { 0 };
        (is_early || self.from_port == 0)
            && (self.to_port, self.kind, self.reserved) == (0, kind, [0; 5])
    }
}

impl CType for CUgraphEdgeData {
    fn c() -> String {
        "CUgraphEdgeData".to_string()
    }
}

impl Value for CUgraphEdgeData {
    fn json(self, _memory: &Memory) -> String {
        json::object([
            ("from", self.from_port.to_string()),
            ("to", self.to_port.to_string()),
            ("type", self.kind.to_string()),
        ])
    }
}

/// An encoded tensor map, aligned as the driver demands. The type in C is aligned to 128 bytes
/// since CUDA 13, for kernels.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct CUtensorMap(pub [u64; 16]);

impl CType for CUtensorMap {
    fn c() -> String {
        "CUtensorMap".to_string()
    }
}

impl Value for CUtensorMap {
    fn json(self, _memory: &Memory) -> String {
        json::words(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_say_what_they_are() {
        let handle = Handle { kind: Kind::Stream, life: 3, number: 7 };
        assert_eq!(Handle::decode(handle.encode()), Some(handle));
        assert_eq!(stream_json(handle.encode()), "\"stream7\"");
        assert_eq!(Handle::decode(handle.encode() + 1), None);
        assert_eq!(Handle::decode(0x7fff_0000_1000), None);
        assert_eq!(
            [0, 1, 2, 0x30].map(stream_json).join(" "),
            "null \"legacy\" \"per-thread\" \"0x30\""
        );
    }
}
