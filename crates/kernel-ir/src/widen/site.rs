// SPDX-License-Identifier: Apache-2.0
//! The accesses of a kernel, line by line: how much of what a thread accesses there lies side by
//! side, and which fact is missing for that to be one access.
//!
//! Not here: how wide accesses became, which is read off what the code generator wrote.

use super::align::Alignments;
use super::condition::{Condition, Conditions};
use super::effect::{Memory, Root};
use super::sum::{Sum, Sums, Wrapping};
use crate::kernel::{Kernel, ParamKind, PlaceData, Value};
use crate::op::{Binary, Expr, Op, OpKind, Qualifier, Region};
use crate::ranges::Ranges;
use crate::types::{MOST_VECTOR_BYTES, Space};
use kernpack_interval::greatest_common_divisor;

/// The accesses of one line to one tensor, reading or writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The places of the line where it is accessed, the first first.
    pub places: Vec<PlaceData>,
    /// Whether it is written.
    pub is_write: bool,
    /// How it is accessed, where that is said.
    pub qualifier: Option<Qualifier>,
    /// The memory: global, or the block's.
    pub space: Space,
    /// The tensor's name.
    pub tensor: String,
    /// How many loops are around the innermost of them.
    pub n_loops: u32,
    /// The most bytes that lie side by side, up to what one access can have.
    pub adjacent_bytes: u32,
    /// The facts that are missing for that to be one access, as far as they are known.
    pub missing: Vec<Missing>,
}

/// A fact that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A number of the call is a multiple of that.
    Multiple {
        /// The number's name.
        name: String,
        /// The number that it would have to be a multiple of.
        of: u64,
    },
    /// A tensor's address is a multiple of so many bytes.
    Aligned {
        /// The tensor's name.
        name: String,
        /// The bytes.
        bytes: u32,
    },
    /// The index that the elements begin at is a multiple of that.
    Index {
        /// The number that it would have to be a multiple of.
        of: u64,
    },
    /// All of the elements are accessed, or none: their guards are not of that kind.
    Together,
    /// A tensor shares no memory with others.
    Alone {
        /// The tensor's name.
        name: String,
    },
}

/// An access.
#[derive(Debug)]
pub(super) struct Access {
    place: PlaceData,
    is_write: bool,
    qualifier: Option<Qualifier>,
    root: Root,
    pointer: Value,
    /// Where it begins, from where its memory does.
    pub offset: Sum,
    /// How much is accessed.
    pub bytes: u32,
    /// The known alignment of its address, in bytes.
    pub align: u32,
    /// The region that it stands in, and the condition of that.
    region: usize,
    guard: Option<Value>,
    n_loops: u32,
}

impl Access {
    /// Whether both read or both write the same memory, in one region.
    pub fn is_made_with(&self, other: &Access) -> bool {
        let of = |access: &Access| {
            (access.is_write, access.qualifier, access.root, access.region, access.bytes)
        };
        of(self) == of(other)
    }
}

/// The accesses of a kernel to memory that threads share, in the order of its operations. The
/// kernel is verified and expanded, and these are its ranges.
pub(super) fn accesses(kernel: &Kernel, ranges: &Ranges) -> Vec<Access> {
    Finder::of(kernel, ranges).found
}

/// The accesses of a kernel to memory that threads share, in the order of its lines. The kernel is
/// verified, expanded and [widened](super::widen), and these are its ranges.
pub fn sites(kernel: &Kernel, ranges: &Ranges) -> Vec<Site> {
    let mut finder = Finder::of(kernel, ranges);
    let mut found = std::mem::take(&mut finder.found);
    found.sort_by_key(|access| {
        (access.place.file, access.place.line, access.place.column, access.is_write)
    });
    let mut groups: Vec<Vec<Access>> = Vec::new();
    for access in found {
        let is_alike = |group: &&mut Vec<Access>| {
            let first = &group[0];
            (first.place.file, first.place.line) == (access.place.file, access.place.line)
                && (first.is_write, first.root) == (access.is_write, access.root)
                && first.qualifier == access.qualifier
        };
        match groups.iter_mut().find(is_alike) {
            Some(group) => group.push(access),
            None => groups.push(vec![access]),
        }
    }
    groups.iter().map(|group| finder.site(group)).collect()
}

struct Finder<'k> {
    kernel: &'k Kernel,
    ranges: &'k Ranges,
    memory: Memory,
    alignments: Alignments,
    sums: Sums<'k>,
    conditions: Conditions<'k>,
    /// The offset of each address from where its memory begins.
    offsets: Vec<Option<Sum>>,
    n_regions: usize,
    /// The loops around.
    n_loops: u32,
    found: Vec<Access>,
}

impl<'k> Finder<'k> {
    /// With all that was found.
    fn of(kernel: &'k Kernel, ranges: &'k Ranges) -> Finder<'k> {
        let mut finder = Finder {
            kernel,
            ranges,
            memory: Memory::of(kernel),
            alignments: Alignments::of(kernel, ranges),
            sums: Sums::of(kernel, ranges, Wrapping::May).across_regions(kernel),
            conditions: Conditions::of(kernel, ranges),
            offsets: vec![None; kernel.values.len()],
            n_regions: 0,
            n_loops: 0,
            found: Vec::new(),
        };
        finder.region(&kernel.body, None);
        finder
    }
}

impl Finder<'_> {
    fn region(&mut self, region: &Region, guard: Option<Value>) {
        self.n_regions += 1;
        let number = self.n_regions;
        for op in &region.0 {
            self.op(op, number, guard);
            let inner = match &op.kind {
                OpKind::If { condition, .. } => Some(*condition),
                _ => guard,
            };
            let is_loop = matches!(op.kind, OpKind::For { .. } | OpKind::While { .. });
            self.n_loops += u32::from(is_loop);
            op.kind.regions().for_each(|region| self.region(region, inner));
            self.n_loops -= u32::from(is_loop);
        }
    }

    fn op(&mut self, op: &Op, region: usize, guard: Option<Value>) {
        let (pointer, ty, align, is_write, qualifier) = match (&op.kind, op.result) {
            (OpKind::Expr(Expr::Offset(base, bytes)), Some(result)) => {
                let by = self.sums.sum(*bytes);
                let base = self.offsets[base.index()].clone().unwrap_or_default();
                self.offsets[result.index()] = base.plus(1, &by);
                return;
            }
            (OpKind::Expr(Expr::Load(load)), Some(result)) => {
                (load.pointer, self.kernel.ty(result), load.align, false, load.qualifier)
            }
            (OpKind::Store(store), _) => {
                (store.pointer, self.kernel.ty(store.value), store.align, true, store.qualifier)
            }
            _ => return,
        };
        let root = self.memory.root_of(pointer);
        let root = root.filter(|root| matches!(root, Root::Param(_) | Root::Shared(_)));
        let Some(root) = root else { return };
        let offset = self.offsets[pointer.index()].clone().unwrap_or_default();
        let bytes = ty.bytes();
        let place = *self.kernel.place(op.place);
        self.found.push(Access {
            place,
            is_write,
            qualifier,
            root,
            pointer,
            offset,
            bytes,
            align: self.alignments.address(pointer).max(align),
            region,
            guard,
            n_loops: self.n_loops,
        });
    }

    /// The accesses of a line to one tensor.
    fn site(&mut self, accesses: &[Access]) -> Site {
        let mut places: Vec<PlaceData> = Vec::new();
        for access in accesses {
            if !places.contains(&access.place) {
                places.push(access.place);
            }
        }
        let (space, tensor) = self.named(accesses[0].root);
        let Access { is_write, qualifier, .. } = accesses[0];
        let run = match qualifier {
            // None of them becomes part of another.
            Some(Qualifier::Volatile) => vec![&accesses[0]],
            Some(_) | None => longest_run(accesses),
        };
        let bytes: u32 = run.iter().map(|access| access.bytes).sum();
        let adjacent_bytes = bytes.min(MOST_VECTOR_BYTES);
        let missing = self.missing(&run, adjacent_bytes);
        let n_loops = accesses.iter().map(|access| access.n_loops).max().unwrap_or(0);
        Site { places, is_write, qualifier, space, tensor, n_loops, adjacent_bytes, missing }
    }

    fn named(&self, root: Root) -> (Space, String) {
        match root {
            Root::Param(param) => (Space::Global, self.kernel.params[param.index()].name.clone()),
            Root::Shared(shared) => {
                (Space::Shared, self.kernel.shared[shared.index()].name.clone())
            }
            Root::Local(_) | Root::Any(_) => unreachable!("only memory of threads is looked at"),
        }
    }

    /// The facts that are missing for accesses that lie side by side to be one of so many bytes.
    fn missing(&mut self, run: &[&Access], bytes: u32) -> Vec<Missing> {
        let [first, .., last] = run else { return vec![] };
        let count = u64::from(bytes / first.bytes.max(1));
        let mut missing = match first.region == last.region {
            true => vec![],
            false => self.missing_of_guards(run, count),
        };
        for fact in self.missing_of_address(first, bytes) {
            if !missing.contains(&fact) {
                missing.push(fact);
            }
        }
        if !missing.is_empty() {
            return missing;
        }
        let Root::Param(param) = first.root else { return vec![] };
        let writes = |param: &crate::kernel::Param| matches!(param.kind, ParamKind::Pointer(pointer) if pointer.is_written);
        let param = &self.kernel.params[param.index()];
        match param.kind {
            ParamKind::Pointer(pointer)
                if !pointer.is_alone && self.kernel.params.iter().any(writes) =>
            {
                vec![Missing::Alone { name: param.name.clone() }]
            }
            _ => vec![],
        }
    }

    /// The facts that are missing for guards to be alike. What all of them demand parts none.
    fn missing_of_guards(&mut self, run: &[&Access], count: u64) -> Vec<Missing> {
        let guards: Vec<Vec<Condition>> = run
            .iter()
            .filter_map(|access| access.guard)
            .map(|guard| self.conditions.condition(guard).into_parts())
            .collect();
        let mut missing = Vec::new();
        for part in guards.iter().flatten() {
            if let Condition::Negative(sum) = part
                && !guards.iter().all(|guard| guard.contains(part))
            {
                self.blame(sum, count, &mut missing);
            }
        }
        if missing.is_empty() { vec![Missing::Together] } else { named_first(missing) }
    }

    /// The facts that are missing for an address to be a multiple of so many bytes.
    fn missing_of_address(&mut self, access: &Access, bytes: u32) -> Vec<Missing> {
        if self.alignments.address(access.pointer) >= bytes {
            return vec![];
        }
        let mut missing = Vec::new();
        if let Root::Param(param) = access.root
            && let ParamKind::Pointer(pointer) = self.kernel.params[param.index()].kind
            && pointer.align < bytes
        {
            let name = self.kernel.params[param.index()].name.clone();
            missing.push(Missing::Aligned { name, bytes });
        }
        self.blame(&access.offset, bytes.into(), &mut missing);
        named_first(missing)
    }

    /// Adds what is missing for the terms of a sum to be multiples of a number.
    fn blame(&self, sum: &Sum, number: u64, missing: &mut Vec<Missing>) {
        for (value, count) in &sum.terms {
            let count = u64::try_from(count.unsigned_abs() % u128::from(number)).unwrap_or(1);
            let of = number / greatest_common_divisor(number.into(), count.into()) as u64;
            if self.ranges.value(*value).is_multiple_of(of.into()) {
                continue;
            }
            let fact = match self.param_in(*value) {
                Some(name) => Missing::Multiple { name, of },
                None => Missing::Index { of },
            };
            if !missing.contains(&fact) {
                missing.push(fact);
            }
        }
    }

    /// The name of a number of the call that a value is, or is a product with.
    fn param_in(&self, value: Value) -> Option<String> {
        if let Some(param) = self.kernel.params.get(value.index()) {
            return Some(param.name.clone());
        }
        match self.sums.operation(value)? {
            Expr::Binary(Binary::Mul, left, right) => {
                [*left, *right].into_iter().find_map(|side| self.param_in(side))
            }
            _ => None,
        }
    }
}

/// Facts of a call, or where there is none, of an index.
fn named_first(missing: Vec<Missing>) -> Vec<Missing> {
    let is_named = |fact: &Missing| !matches!(fact, Missing::Index { .. });
    let (named, others): (Vec<_>, Vec<_>) = missing.into_iter().partition(is_named);
    if named.is_empty() { others } else { named }
}

/// The most accesses that lie side by side, in the order of their addresses, up to what one access
/// can have.
fn longest_run(accesses: &[Access]) -> Vec<&Access> {
    let mut sorted: Vec<&Access> = accesses.iter().collect();
    sorted.sort_by(|a, b| a.offset.cmp(&b.offset));
    sorted.dedup_by(|a, b| a.offset == b.offset);
    let follows = |a: &&Access, b: &&Access| {
        let distance = b.offset.constant.checked_sub(a.offset.constant);
        a.offset.terms == b.offset.terms && distance == Some(a.bytes.into())
    };
    let longest = sorted.chunk_by(follows).rev().max_by_key(|run| run.len()).unwrap_or_default();
    let bytes = longest.first().map_or(1, |access| access.bytes.max(1));
    let most = (MOST_VECTOR_BYTES / bytes).max(1) as usize;
    let count = longest.len().min(most);
    let count = if count.is_power_of_two() { count } else { count.next_power_of_two() / 2 };
    longest[..count].to_vec()
}
