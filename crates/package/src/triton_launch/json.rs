// SPDX-License-Identifier: Apache-2.0
//! The JSON that Triton writes next to a cubin: how the kernel in it has to be launched.
//!
//! | Triton | hidden parameters, last | cluster |
//! |---|---|---|
//! | 3.2 | none | `cluster_dims` |
//! | 3.3, 3.4 | a pointer to global scratch memory | `cluster_dims` |
//! | 3.5 | the same, and one to profile scratch memory | `cluster_dims` |
//! | 3.6 | the same two | `num_ctas` along x |
//!
//! The pointers are there whether the kernel uses the memory or not. The file has no parameters;
//! the cubin has. Keys that are not known are ignored. Not here: HIP and other back ends, whose
//! kernels are launched otherwise.

use kernpack_machine::block::MOST_THREADS;
use kernpack_validators::{LaunchFlag, LaunchFlags};
use serde_json::{Map, Value};
use std::fmt;
use thiserror::Error;

/// How a kernel of Triton's is launched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TritonKernel {
    /// Its symbol in the cubin.
    pub name: String,
    /// The version of Triton, from 3.3 on.
    pub version: Option<String>,
    /// The compute capability it was compiled for, without the point: 90.
    pub arch: u32,
    /// Dynamic shared memory in bytes.
    pub shared_bytes: u32,
    /// Threads of a block, along x.
    pub threads_per_block: u32,
    /// Blocks of a cluster. The kernel's grid counts clusters: the driver's is larger by these
    /// factors. All are 1 where it has no clusters.
    pub cluster: [u32; 3],
    /// The hidden parameter for scratch memory, where it has one.
    pub global_scratch: Option<Scratch>,
    /// The hidden parameter for what profilers record, behind the other, where it has one.
    pub profile_scratch: Option<Scratch>,
    /// The flags that it asks for.
    pub flags: LaunchFlags,
    /// Columns of tensor memory it takes, on Blackwell.
    pub tensor_memory_columns: u32,
    /// For each tensor descriptor among its parameters, how the tensor map for it is made. Where
    /// there are none, descriptors are passed without.
    pub descriptors: Vec<TritonDescriptor>,
}

/// The key that says whether a launch has the flag, where Triton knows it.
pub fn flag_key(flag: LaunchFlag) -> Option<&'static str> {
    match flag {
        LaunchFlag::Cooperative => Some("launch_cooperative_grid"),
        LaunchFlag::Dependent => Some("launch_pdl"),
    }
}

/// Scratch memory, for which a pointer is passed. It is NULL where no bytes are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scratch {
    /// The bytes for each block of the driver's grid.
    pub bytes_per_block: u32,
    /// How it must be aligned.
    pub alignment_bytes: u32,
}

/// How a tensor descriptor becomes a `CUtensorMap`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TritonDescriptor {
    /// Triton's number of the swizzle, which is the driver's.
    pub swizzle: u32,
    /// The bytes of an element.
    pub element_bytes: u32,
    /// Triton's number of the element's type. The driver's is the same save that 8, 9 and 10 are
    /// 10, 8 and 9.
    pub element_type: u32,
    /// The box, outermost first as the tensor's shape.
    pub box_shape: Vec<u32>,
    /// Elements of four bits that take eight each in shared memory.
    pub is_fp4_padded: bool,
}

impl fmt::Display for TritonDescriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TritonDescriptor { swizzle, element_bytes, element_type, box_shape, is_fp4_padded } =
            self;
        let padded = if *is_fp4_padded { ", fp4_padded" } else { "" };
        write!(
            f,
            "boxes of {box_shape:?}, elem_type {element_type}, elem_size {element_bytes}, swizzle {swizzle}{padded}"
        )
    }
}

/// Why such a file says nothing about a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TritonError {
    /// It is no JSON.
    #[error("`{file}` is no JSON: {reason}; give the file that Triton writes next to the cubin")]
    Json {
        /// The file.
        file: String,
        /// Why.
        reason: String,
    },
    /// It is JSON, but a list or a number.
    #[error("`{file}` is no JSON object; give the file that Triton writes next to the cubin")]
    NoObject {
        /// The file.
        file: String,
    },
    /// A key is missing.
    #[error(
        "`{file}` has no key `{key}`; give the file that Triton (3.2 or later) writes next to the cubin"
    )]
    Missing {
        /// The file.
        file: String,
        /// The key.
        key: String,
    },
    /// A key has a value that makes no sense.
    #[error("key `{key}` of `{file}` is {found}, expected {expected}")]
    Wrong {
        /// The file.
        file: String,
        /// The key.
        key: String,
        /// The value found.
        found: String,
        /// The value expected.
        expected: String,
    },
}

impl TritonKernel {
    /// Reads the text of such a file. `file` is its name, for messages.
    ///
    /// # Errors
    /// Where a key that is needed is missing or has no sensible value, or the kernel is not for
    /// CUDA.
    pub fn read(file: &str, text: &str) -> Result<TritonKernel, TritonError> {
        let json: Value = serde_json::from_str(text).map_err(|error| TritonError::Json {
            file: file.to_string(),
            reason: error.to_string(),
        })?;
        let Value::Object(map) = &json else {
            return Err(TritonError::NoObject { file: file.to_string() });
        };
        Fields { file, prefix: "", map }.kernel()
    }

    /// The hidden parameters, in the order in which they follow the kernel's own.
    pub fn hidden_params(&self) -> Vec<Scratch> {
        self.global_scratch.into_iter().chain(self.profile_scratch).collect()
    }
}

/// An object and where it stands.
struct Fields<'a> {
    file: &'a str,
    /// The keys that lead to it, each with a dot behind it.
    prefix: &'a str,
    map: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    fn kernel(&self) -> Result<TritonKernel, TritonError> {
        let target = self.object("target", self.needed("target")?)?;
        let backend = target.text("backend")?;
        if backend != "cuda" {
            return Err(target.wrong("backend", "\"cuda\""));
        }
        let warps = self.positive("num_warps", self.needed("num_warps")?)?;
        let warp_size = target.positive("warp_size", target.needed("warp_size")?)?;
        let threads = warps.checked_mul(warp_size).filter(|threads| *threads <= MOST_THREADS);
        Ok(TritonKernel {
            name: self.text("name")?.to_string(),
            version: self.map.get("triton_version").and_then(Value::as_str).map(String::from),
            arch: target.number("arch", target.needed("arch")?)?,
            shared_bytes: self.number("shared", self.needed("shared")?)?,
            threads_per_block: threads.ok_or_else(|| {
                self.wrong("num_warps", format!("at most {MOST_THREADS} threads in a block"))
            })?,
            cluster: self.cluster()?,
            global_scratch: self.scratch("global_scratch_size", "global_scratch_align")?,
            profile_scratch: self.scratch("profile_scratch_size", "profile_scratch_align")?,
            flags: LaunchFlags::ask(|flag| flag_key(flag).map_or(Ok(false), |key| self.flag(key)))?,
            tensor_memory_columns: match self.optional("tmem_size") {
                Some(value) => self.number("tmem_size", value)?,
                None => 0,
            },
            descriptors: self.descriptors()?,
        })
    }

    /// Only `num_ctas` says whether there are clusters at all.
    fn cluster(&self) -> Result<[u32; 3], TritonError> {
        let n_blocks = self.positive("num_ctas", self.needed("num_ctas")?)?;
        match self.optional("cluster_dims") {
            _ if n_blocks == 1 => Ok([1, 1, 1]),
            None => Ok([n_blocks, 1, 1]),
            Some(dims) => {
                let dims = self.numbers("cluster_dims", dims)?;
                let is_cluster = |dims: &[u32; 3]| dims.iter().all(|dim| *dim > 0);
                let dims = dims.try_into().ok().filter(is_cluster);
                dims.ok_or_else(|| self.wrong("cluster_dims", "three positive integers"))
            }
        }
    }

    /// The key's presence says that the parameter is there, whatever its value.
    fn scratch(&self, size: &str, alignment: &str) -> Result<Option<Scratch>, TritonError> {
        let Some(value) = self.map.get(size) else { return Ok(None) };
        // Of a kernel that wants none, some versions say null.
        let bytes_per_block = if value.is_null() { 0 } else { self.number(size, value)? };
        let alignment_bytes = match self.optional(alignment) {
            Some(value) => self.number(alignment, value)?,
            None => 1,
        };
        if !alignment_bytes.is_power_of_two() {
            return Err(self.wrong(alignment, "a power of two"));
        }
        Ok(Some(Scratch { bytes_per_block, alignment_bytes }))
    }

    fn descriptors(&self) -> Result<Vec<TritonDescriptor>, TritonError> {
        const KEY: &str = "tensordesc_meta";
        let Some(list) = self.optional(KEY) else { return Ok(vec![]) };
        let list = list.as_array().ok_or_else(|| self.wrong(KEY, "a list"))?;
        let one = |(index, value): (usize, &Value)| {
            let prefix = format!("{KEY}[{index}].");
            let Value::Object(map) = value else {
                return Err(self.wrong(KEY, "a list of objects"));
            };
            Fields { file: self.file, prefix: &prefix, map }.descriptor()
        };
        list.iter().enumerate().map(one).collect()
    }

    fn descriptor(&self) -> Result<TritonDescriptor, TritonError> {
        Ok(TritonDescriptor {
            swizzle: self.number("swizzle", self.needed("swizzle")?)?,
            element_bytes: self.number("elem_size", self.needed("elem_size")?)?,
            element_type: self.number("elem_type", self.needed("elem_type")?)?,
            box_shape: self.numbers("block_size", self.needed("block_size")?)?,
            is_fp4_padded: self.flag("fp4_padded")?,
        })
    }

    /// The value of a key that is there and not null.
    fn optional(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    fn needed(&self, key: &str) -> Result<&'a Value, TritonError> {
        let missing = || TritonError::Missing {
            file: self.file.to_string(),
            key: format!("{}{key}", self.prefix),
        };
        self.optional(key).ok_or_else(missing)
    }

    fn object(&self, key: &str, value: &'a Value) -> Result<Fields<'a>, TritonError> {
        let map = value.as_object().ok_or_else(|| self.wrong(key, "an object"))?;
        Ok(Fields { file: self.file, prefix: "target.", map })
    }

    fn text(&self, key: &str) -> Result<&'a str, TritonError> {
        let text = self.needed(key)?.as_str();
        text.ok_or_else(|| self.wrong(key, "text"))
    }

    fn flag(&self, key: &str) -> Result<bool, TritonError> {
        let Some(value) = self.optional(key) else { return Ok(false) };
        value.as_bool().ok_or_else(|| self.wrong(key, "true or false"))
    }

    fn number(&self, key: &str, value: &Value) -> Result<u32, TritonError> {
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| self.wrong(key, "a 32-bit integer from 0 on"))
    }

    fn positive(&self, key: &str, value: &Value) -> Result<u32, TritonError> {
        let number = self.number(key, value)?;
        if number > 0 { Ok(number) } else { Err(self.wrong(key, "at least 1")) }
    }

    fn numbers(&self, key: &str, value: &Value) -> Result<Vec<u32>, TritonError> {
        let list = value.as_array().ok_or_else(|| self.wrong(key, "a list of integers"))?;
        list.iter().map(|value| self.number(key, value)).collect()
    }

    fn wrong(&self, key: &str, expected: impl Into<String>) -> TritonError {
        let found = self.map.get(key).map_or_else(|| "missing".to_string(), Value::to_string);
        let (file, key) = (self.file.to_string(), format!("{}{key}", self.prefix));
        TritonError::Wrong { file, key, found, expected: expected.into() }
    }
}

#[cfg(test)]
mod tests;
