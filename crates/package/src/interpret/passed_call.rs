// SPDX-License-Identifier: Apache-2.0
//! Runs a packed function on what a caller passes: its plan checks the arguments as a call's are
//! checked, and its kernels run on the bytes of the caller's tensors.
//!
//! What is passed on the host is taken to be where the function runs. Not here: how memories are
//! made of tensors (`passed.rs`), and what becomes of them behind the call.

use super::budget::{self, Kept};
use super::launches::OnDevice;
use super::passed::{Passed, PassedMemory, strides};
use super::tensor::{InterpretedTensor, Role};
use super::{AccessWidths, InterpretError, Interpretable, InterpretedLaunch, Tensors, device};
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
use std::num::NonZeroUsize;

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
    /// How many ranks make the call at the same time, each with as many of the arguments: one where
    /// nothing is said.
    pub n_ranks: Option<NonZeroUsize>,
    /// Who knows how wide accesses become, where they are to be counted.
    pub count: Option<&'static dyn AccessWidths>,
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
    /// The results, with what they hold: those of the first rank, then those of the second ...
    pub results: Vec<PassedResult>,
    /// The tensors that were passed, in order, rank by rank.
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
    Interpretable::of(package, function, held)?.counting(options.count).call(passed, options)
}

impl Interpretable {
    /// Makes a call, or that of each rank.
    ///
    /// # Errors
    /// Where the function refuses the arguments, the call takes too much memory, or ranks launch
    /// differently. What is wrong with what it does is in the answer.
    pub fn call(
        &self,
        mut passed: Passed,
        options: &PassedOptions,
    ) -> Result<InterpretedPassed, InterpretError> {
        let mut arguments = std::mem::take(&mut passed.arguments);
        let n_ranks = options.n_ranks.map_or(1, NonZeroUsize::get);
        let n_of_rank = arguments.len().div_ceil(n_ranks).max(1);
        let ranks = (0..n_ranks).map(|rank| {
            let first = (rank * n_of_rank).min(arguments.len());
            let rest = &mut arguments[first..];
            let n_own = rest.len().min(n_of_rank);
            self.rank_call(&passed, &mut rest[..n_own], options)
        });
        let ranks = ranks.collect::<Result<_, _>>()?;
        PassedCall { ready: self, ranks }.run(passed, options)
    }

    /// The call with these arguments, where its plan accepts it.
    fn rank_call(
        &self,
        passed: &Passed,
        arguments: &mut [Described],
        options: &PassedOptions,
    ) -> Result<RankCall, InterpretError> {
        let device = self.function.default_device();
        let signature = &self.function.signature;
        let mut found = Found { passed, device, tensors: vec![] };
        for (argument, (_, param)) in arguments.iter_mut().zip(signature.arguments()) {
            found.argument(&param.name, &param.kind.host_type(), argument)?;
        }
        let tensors = found.tensors;
        let facts = options.device.unwrap_or(device::USUAL);
        let kernels = OnDevice(self, facts);
        let outcome = check_call_knowing(&self.plan, arguments, device, facts, &kernels);
        let accepted = super::accepted(outcome)?;
        let made = super::made(&self.function, &accepted, &row(signature, &accepted));
        Ok(RankCall { accepted, tensors, made })
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

/// Calls that their plan has accepted, one of each rank.
struct PassedCall<'c> {
    ready: &'c Interpretable,
    ranks: Vec<RankCall>,
}

/// The call of a rank.
struct RankCall {
    accepted: Accepted,
    tensors: Vec<PassedTensor>,
    /// Its results and its workspaces.
    made: [Vec<InterpretedTensor>; 2],
}

impl PassedCall<'_> {
    fn run(
        self,
        passed: Passed,
        options: &PassedOptions,
    ) -> Result<InterpretedPassed, InterpretError> {
        let most_cores = self.most_cores(options.most_memory.unwrap_or(u64::MAX))?;
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
        let mut allocated = |made: &Vec<InterpretedTensor>| -> Vec<MemoryId> {
            made.iter().map(&mut allocate).collect()
        };
        let made = self.ranks.iter().map(|rank| rank.made.each_ref().map(&mut allocated));
        let made: Vec<_> = made.collect();
        let at = |address| {
            let (number, offset) = places.place(address)?;
            Some((*held.get(number)?, offset))
        };
        let ranks = self.ranks.iter().zip(&made).map(|(rank, [results, workspaces])| {
            (&rank.accepted, Tensors { at: &at, results, workspaces })
        });
        let ranks: Vec<_> = ranks.collect();
        let seed = options.seed;
        let (cancel, usual) = (options.cancel.clone(), Options::default());
        let n_cores = usual.n_cores.min(most_cores);
        let running = Options { seed, cancel, n_cores, ..usual };
        let facts = options.device.unwrap_or(device::USUAL);
        let ran = self.ready.run_ranks(&ranks, &mut memories, &running, Some(facts))?;
        let mut done = InterpretedPassed { is_exact: true, ..InterpretedPassed::default() };
        for ran in &ran {
            done.findings.extend(ran.findings());
            done.is_exact &= ran.outcome.is_exact;
            done.launches.push(ran.into());
        }
        let made = made.into_iter().zip(&self.ranks).flat_map(|([results, _], rank)| {
            let [tensors, _] = &rank.made;
            tensors.clone().into_iter().zip(results)
        });
        for (tensor, id) in made {
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
        done.tensors = self.ranks.into_iter().flat_map(|rank| rank.tensors).collect();
        Ok(done)
    }

    /// Refuses a call that takes more memory than it may. Gives how many cores may run it.
    fn most_cores(&self, most: u64) -> Result<usize, InterpretError> {
        let passed: Vec<_> = self.tensors().map(PassedTensor::interpreted).collect();
        let accepted = self.ranks.iter().map(|rank| &rank.accepted);
        let cell_bytes = |element| self.ready.cell_bytes_of(accepted.clone(), element);
        let n_met = accepted.clone().map(|accepted| self.ready.n_met(accepted)).max();
        let n_met = n_met.unwrap_or_default();
        let kept = Kept {
            before: false,
            bytes_per_element: 0,
            is_tracked: true,
            cell_bytes: &cell_bytes,
            n_met,
        };
        let made = self.ranks.iter().flat_map(|rank| rank.made.iter().flatten());
        let all = passed.iter().chain(made);
        // Bytes that tensors share are counted for each.
        budget::check(all, kept, most).map_err(|problem| InterpretError::Other(problem.message))
    }

    fn tensors(&self) -> impl Iterator<Item = &PassedTensor> {
        self.ranks.iter().flat_map(|rank| &rank.tensors)
    }

    /// A memory, under the names of its tensors.
    fn memory(&self, number: usize, address: u64, bytes: Vec<u8>) -> Memory {
        let here = self.tensors().filter(|one| one.place.is_some_and(|(at, _)| at == number));
        let here: Vec<_> = here.collect();
        let mut names: Vec<&str> = Vec::new();
        for tensor in &here {
            // Ranks have the same names.
            if !names.contains(&tensor.path.as_str()) {
                names.push(&tensor.path);
            }
        }
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
