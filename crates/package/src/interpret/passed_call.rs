// SPDX-License-Identifier: Apache-2.0
//! Runs a packed function on what a caller passes: its plan checks the arguments as a call's are
//! checked, and its kernels run on the bytes of the caller's tensors.
//!
//! What is passed on the host is taken to be where the function runs. Not here: how memories are
//! made of tensors (`passed.rs`), and what becomes of them behind the call.

use super::budget::{self, Kept};
use super::passed::{Passed, PassedMemory, strides};
use super::tensor::{InterpretedTensor, Role};
use super::{InterpretError, Interpretable, InterpretedLaunch, Tensors, device};
use crate::file::Held;
use crate::package::WrittenPackage;
use kernpack_ffi_abi::{DType, DeviceType, ErrorKind};
use kernpack_kernel_ir::Scalar;
use kernpack_kernel_ir::interp::{Cancel, Memories, Memory, MemoryId, Options};
use kernpack_syntax::Diagnostics;
use kernpack_validators::described::{Described, DescribedTensor, DeviceFacts, check_call_knowing};
use kernpack_validators::host_type::element_path;
use kernpack_validators::param::Pointer;
use kernpack_validators::plan::Accepted;
use kernpack_validators::{HostType, Signature};
use std::collections::BTreeMap;

/// How a call with a caller's arguments is made.
#[derive(Clone, Debug, Default)]
pub struct PassedOptions {
    /// The order in which warps and blocks run: 0 is the plain one.
    pub seed: u64,
    /// The bytes of memory that the call may take; any number where nothing is said.
    pub most_memory: Option<u64>,
    /// A wish that the call end.
    pub cancel: Cancel,
    /// The attributes of the device: those of an H200 where nothing is said.
    pub device: Option<DeviceFacts>,
}

/// The outcome of a call with a caller's arguments.
#[derive(Debug, Default)]
pub struct InterpretedPassed {
    /// The launches, in order.
    pub launches: Vec<InterpretedLaunch>,
    /// The mistakes of its kernels.
    pub findings: Diagnostics,
    /// Whether a GPU gives the same bits.
    pub is_exact: bool,
    /// The results, with what they hold.
    pub results: Vec<PassedResult>,
    /// The tensors that were passed, in order.
    pub tensors: Vec<PassedTensor>,
    /// The memories that they lie in, as they are in the end.
    pub memories: Vec<PassedMemory>,
}

/// A result of a call, compact and row-major.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedResult {
    /// The type of its elements.
    pub dtype: DType,
    /// Its extents.
    pub shape: Vec<i64>,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// A tensor that was passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedTensor {
    /// Where it stands in the signature: `x`, or `pair[0]`.
    pub path: String,
    /// Whether the function may write it.
    pub is_written: bool,
    /// The type of its elements.
    pub dtype: DType,
    /// Its extents.
    pub shape: Vec<i64>,
    /// Its strides, in elements.
    pub strides: Vec<i64>,
    /// The memory that it lies in, and at which byte its first element is; nothing of NULL.
    pub place: Option<(usize, u64)>,
}

/// Makes a call of a function of a package.
///
/// # Errors
/// Where the package is wrong, and as of [`Interpretable::call`].
pub fn interpret_passed(
    package: &WrittenPackage,
    function: &str,
    passed: Passed,
    options: &PassedOptions,
    held: &Held,
) -> Result<InterpretedPassed, InterpretError> {
    Interpretable::of(package, function, held)?.call(passed, options)
}

impl Interpretable {
    /// Makes a call.
    ///
    /// # Errors
    /// Where the function refuses the arguments, or the call takes too much memory. What is wrong
    /// with what it does is in the answer.
    pub fn call(
        &self,
        mut passed: Passed,
        options: &PassedOptions,
    ) -> Result<InterpretedPassed, InterpretError> {
        let ready = self;
        let device = ready.function.default_device();
        let signature = &ready.function.signature;
        let mut arguments = std::mem::take(&mut passed.arguments);
        let mut found = Found { passed: &passed, device, tensors: vec![] };
        for (argument, (_, param)) in arguments.iter_mut().zip(signature.arguments()) {
            found.argument(&param.name, &param.kind.host_type(), argument)?;
        }
        let tensors = found.tensors;
        let outcome = check_call_knowing(
            &ready.plan,
            &arguments,
            device,
            Some(options.device.unwrap_or(device::USUAL)),
        );
        let accepted = super::accepted(outcome)?;
        let row = row(signature, &accepted);
        let call = PassedCall { ready, accepted: &accepted, tensors, row };
        call.run(passed, options)
    }
}

/// The dtypes of the dtype variables in a call.
fn row(signature: &Signature, accepted: &Accepted) -> BTreeMap<String, DType> {
    let (Some(number), Ok(bindings)) = (accepted.combination, signature.resolve()) else {
        return BTreeMap::new();
    };
    let rows = bindings.combinations(&signature.rules);
    let row = usize::try_from(number).ok().and_then(|number| rows.into_iter().nth(number));
    bindings.dtypes.keys().cloned().zip(row.unwrap_or_default()).collect()
}

/// The tensors among arguments, as they are found.
struct Found<'c> {
    passed: &'c Passed,
    /// Where the function runs.
    device: DeviceType,
    tensors: Vec<PassedTensor>,
}

impl Found<'_> {
    /// Finds those of an argument, and puts them where the function wants them.
    ///
    /// # Errors
    /// A pointer leads to memory that is not there.
    fn argument(
        &mut self,
        path: &str,
        host: &HostType,
        argument: &mut Described,
    ) -> Result<(), InterpretError> {
        match (host, argument) {
            (HostType::Optional(inner), argument) => self.argument(path, inner, argument)?,
            (HostType::Pointer(pointer), argument) => self.pointer(path, pointer, argument)?,
            (HostType::Tensor(tensor), Described::Tensor(found)) => {
                if let Some(devices) = tensor.devices().filter(|_| found.device.is_none()) {
                    let wanted = devices.iter().find(|device| **device == self.device);
                    found.device = wanted.or(devices.first()).map(|device| (*device, 0));
                }
                let tensor = self.tensor(path, tensor.is_mutable(), found);
                self.tensors.push(tensor);
            }
            (HostType::Tuple(fields), Described::Tuple(elements) | Described::List(elements)) => {
                for (i, ((name, host), element)) in fields.iter().zip(elements).enumerate() {
                    let path = element_path(path, i, name.as_deref());
                    self.argument(&path, host, element)?;
                }
            }
            // Others have no tensors, or are refused.
            _ => {}
        }
        Ok(())
    }

    /// Has an array stand for what a pointer leads to. Of an address it is known how many elements
    /// lie there where an array of the call has it.
    fn pointer(
        &mut self,
        path: &str,
        pointer: &Pointer,
        argument: &mut Described,
    ) -> Result<(), InterpretError> {
        let address = match argument {
            Described::Tensor(found) => {
                let (expected, dtype) = (pointer.dtype.unwrap_or(found.dtype), found.dtype);
                if expected != dtype {
                    let message = format!("`{path}` leads to {expected}, and the array is {dtype}");
                    return Err(InterpretError::Refused { kind: ErrorKind::TypeError, message });
                }
                let tensor = self.tensor(path, true, found);
                self.tensors.push(tensor);
                found.data.unwrap_or_default()
            }
            Described::Pointer(0) | Described::Int(0) => 0,
            Described::Pointer(address) => self.known(path, *address)?,
            // One with a sign is the address with the same bits.
            Described::Int(address) => self.known(path, *address as u64)?,
            // None is NULL, and others are refused.
            _ => return Ok(()),
        };
        *argument = Described::Pointer(address);
        Ok(())
    }

    /// An address of the caller's as the interpreter has it.
    fn known(&self, path: &str, address: u64) -> Result<u64, InterpretError> {
        self.passed.known(address).ok_or_else(|| {
            let message = format!(
                "`{path}` is an address at which the interpreter knows of no memory: pass an \
                 array, which stands for the memory that the pointer leads to"
            );
            InterpretError::Refused { kind: ErrorKind::ValueError, message }
        })
    }

    fn tensor(&self, path: &str, is_written: bool, found: &DescribedTensor) -> PassedTensor {
        PassedTensor {
            path: path.to_string(),
            is_written,
            dtype: found.dtype,
            shape: found.shape.clone(),
            strides: strides(found),
            place: self.passed.place(found.data.unwrap_or_default()),
        }
    }
}

impl PassedTensor {
    fn element(&self) -> Scalar {
        // Bytes stand for what no kernel has.
        Scalar::of(self.dtype).unwrap_or(Scalar::U8)
    }

    fn role(&self) -> Role {
        if self.is_written { Role::Written } else { Role::Read }
    }

    /// The same as a tensor of a call.
    fn interpreted(&self) -> InterpretedTensor {
        let made = InterpretedTensor::compact(&self.path, self.element(), &self.shape, self.role());
        InterpretedTensor { strides: self.strides.clone(), ..made }
    }
}

/// A call that its plan has accepted.
struct PassedCall<'c> {
    ready: &'c Interpretable,
    accepted: &'c Accepted,
    tensors: Vec<PassedTensor>,
    row: BTreeMap<String, DType>,
}

impl PassedCall<'_> {
    fn run(
        self,
        passed: Passed,
        options: &PassedOptions,
    ) -> Result<InterpretedPassed, InterpretError> {
        let made = super::made(&self.ready.function, self.accepted, &self.row);
        let most_cores = self.most_cores(&made, options.most_memory.unwrap_or(u64::MAX))?;
        let mut memories = Memories::default();
        let addresses: Vec<u64> = passed.memories.iter().map(|memory| memory.address).collect();
        // Places are asked for behind this, and need no bytes.
        let mut places = Passed { arguments: vec![], memories: vec![] };
        let mut held = Vec::new();
        for (number, PassedMemory { address, bytes }) in passed.memories.into_iter().enumerate() {
            places.memories.push(PassedMemory { address, bytes: vec![] });
            held.push(memories.add(self.memory(number, address, bytes)));
        }
        let mut allocate = |tensor: &InterpretedTensor| memories.add(tensor.memory(None));
        let [results, workspaces] = &made;
        let results: Vec<MemoryId> = results.iter().map(&mut allocate).collect();
        let workspaces: Vec<MemoryId> = workspaces.iter().map(&mut allocate).collect();
        let at = |address| {
            let (number, offset) = places.place(address)?;
            Some((*held.get(number)?, offset))
        };
        let at = Tensors { at: &at, results: &results, workspaces: &workspaces };
        let seed = options.seed;
        let (cancel, usual) = (options.cancel.clone(), Options::default());
        let n_cores = usual.n_cores.min(most_cores);
        let running = Options { seed, cancel, n_cores, ..usual };
        let facts = options.device.unwrap_or(device::USUAL);
        let ran = self.ready.run(self.accepted, &at, &mut memories, &running, Some(facts))?;
        let mut done = InterpretedPassed { is_exact: true, ..InterpretedPassed::default() };
        for ran in &ran {
            done.findings.extend(ran.findings());
            done.is_exact &= ran.outcome.is_exact;
            done.launches.push(ran.into());
        }
        let [made, _] = made;
        for (tensor, id) in made.into_iter().zip(results) {
            let tensor = tensor.knowing(memories.get(id));
            done.findings.extend(super::unwritten(&self.ready.function, &tensor));
            let bytes = std::mem::take(&mut memories.get_mut(id).bytes);
            let shape = tensor.shape;
            let dtype = tensor.element.dtype();
            done.results.push(PassedResult { dtype, shape, bytes });
        }
        for (id, address) in held.into_iter().zip(addresses) {
            let bytes = std::mem::take(&mut memories.get_mut(id).bytes);
            done.memories.push(PassedMemory { address, bytes });
        }
        done.tensors = self.tensors;
        Ok(done)
    }

    /// Refuses a call that takes more memory than it may. Gives how many cores may run it.
    fn most_cores(
        &self,
        made: &[Vec<InterpretedTensor>; 2],
        most: u64,
    ) -> Result<usize, InterpretError> {
        let passed: Vec<_> = self.tensors.iter().map(PassedTensor::interpreted).collect();
        let cell_bytes = |element| self.ready.cell_bytes(self.accepted, element);
        let n_met = self.ready.n_met(self.accepted);
        let kept = Kept { before: false, bytes_per_element: 0, cell_bytes: &cell_bytes, n_met };
        let all = passed.iter().chain(made.iter().flatten());
        // Bytes that tensors share are counted for each.
        budget::check(all, kept, most).map_err(|problem| InterpretError::Other(problem.message))
    }

    /// A memory, under the names of its tensors.
    fn memory(&self, number: usize, address: u64, bytes: Vec<u8>) -> Memory {
        let here = self.tensors.iter().filter(|one| one.place.is_some_and(|(at, _)| at == number));
        let here: Vec<_> = here.collect();
        let names: Vec<_> = here.iter().map(|tensor| tensor.path.as_str()).collect();
        let element = here.iter().map(|one| one.element()).min_by_key(|one| one.bytes());
        let element = element.unwrap_or(Scalar::U8);
        let all = bytes.len();
        let memory = Memory::new(names.join("/"), element, bytes).at_address(address);
        let (Some((_, 0)), [first, ..]) = (here.first().and_then(|one| one.place), &here[..])
        else {
            return memory;
        };
        // Elements are counted by the modes of a tensor that is all there is, under any name.
        let is_alone = here.iter().all(|one| {
            (one.dtype, &one.shape, &one.strides) == (first.dtype, &first.shape, &first.strides)
        });
        let first = first.interpreted();
        match is_alone && first.span() * first.element.bytes() as usize == all {
            true => memory.with_modes(first.modes()),
            false => memory,
        }
    }
}
