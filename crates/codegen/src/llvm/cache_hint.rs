// SPDX-License-Identifier: Apache-2.0
//! Accesses that are volatile, and hints to caches.
//!
//! LLVM has volatile accesses, and no hints for NVIDIA's caches but in assembly, of which its
//! passes know little. So an access stays one of LLVM's until all passes have run, and those that
//! join accesses too: its hint stands in the metadata that says that something is not accessed
//! again soon, which they keep where they join accesses of one hint. Then each becomes the
//! instruction that says it.

use super::thread_memory::instructions;
use super::{Emitter, Inline, Lane, Ty, V};
use inkwell::module::Module;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicMetadataValueEnum, BasicValue, InstructionOpcode, InstructionValue};

/// LLVM's name of the metadata.
const METADATA: &str = "nontemporal";
/// The pass that joins accesses.
pub(super) const JOINING: &str = "load-store-vectorizer";

/// A hint to the caches of global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheHint {
    /// It is likely accessed once.
    Stream,
    /// It is likely accessed again.
    Keep,
    /// It is not accessed again.
    LastUse,
}

impl CacheHint {
    const ALL: [CacheHint; 3] = [CacheHint::Stream, CacheHint::Keep, CacheHint::LastUse];

    /// Its words in an instruction. PTX has no store that is the last use.
    const fn words(self, is_write: bool) -> &'static str {
        match (self, is_write) {
            (CacheHint::Stream, _) | (CacheHint::LastUse, true) => "cs",
            (CacheHint::LastUse, false) => "lu",
            (CacheHint::Keep, _) => "L1::evict_last",
        }
    }
}

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// As it is best.
    Plain,
    /// As it is written.
    Volatile,
    /// With a hint, which is about global memory.
    Hinted(CacheHint),
}

impl<'c> Emitter<'c> {
    /// Has the line of a cache fetched that an address of global memory is in: `L2`.
    pub fn prefetch(&self, cache: &str, address: V<'c>) {
        let text = format!("prefetch.global.{cache} [$0];");
        let inline = Inline { text: &text, constraints: "l", result: None, has_effects: true };
        // As a number, that it writes what nobody else can reach is 8.
        let attributes = [("nounwind", 0), ("willreturn", 0), ("memory", 8)];
        self.assembly(&inline, &[], &attributes, &[address]);
    }

    /// Says how an access is made.
    pub(super) fn qualify(&self, access: InstructionValue<'c>, how: Manner) {
        match how {
            Manner::Plain => {}
            Manner::Volatile => access.set_volatile(true).expect("accesses can be volatile"),
            Manner::Hinted(hint) => {
                let number = self.context.i32_type().const_int(hint as u64 + 1, false);
                let node = self.context.metadata_node(&[number.into()]);
                let kind = self.context.get_kind_id(METADATA);
                access.set_metadata(node, kind).expect("accesses have metadata");
            }
        }
    }

    /// The accesses of a module with hints.
    fn hinted(&self, module: &Module<'c>) -> Vec<(InstructionValue<'c>, CacheHint)> {
        let kind = self.context.get_kind_id(METADATA);
        let all = module.get_functions().flat_map(instructions);
        let hinted = all.filter_map(|one| {
            let node = one.get_metadata(kind)?;
            let BasicMetadataValueEnum::IntValue(number) = *node.get_node_values()?.first()? else {
                return None;
            };
            let number = number.get_zero_extended_constant()?;
            let hint = CacheHint::ALL.into_iter().find(|hint| *hint as u64 + 1 == number)?;
            Some((one, hint))
        });
        hinted.collect()
    }

    /// Whether any access has a hint.
    pub(super) fn has_hints(&self) -> bool {
        !self.hinted(&self.module).is_empty()
    }

    /// Makes each access with a hint the instruction that says it.
    pub(super) fn write_hints(&self) {
        for (access, hint) in self.hinted(&self.module) {
            self.builder.position_before(&access);
            match access.get_opcode() {
                InstructionOpcode::Load => self.load_hinted(access, hint),
                _ => self.store_hinted(access, hint),
            }
            access.erase_from_basic_block();
        }
    }

    fn load_hinted(&self, load: InstructionValue<'c>, hint: CacheHint) {
        let result: BasicTypeEnum<'c> = load.get_type().try_into().expect("a load gives a value");
        let address = operand(load, 0);
        let registers = Registers::of(result);
        let places: Vec<_> = (0..registers.count).map(|place| format!("${place}")).collect();
        let text = format!(
            "ld.global.{}.{} {}, [${}];",
            hint.words(false),
            registers.type_words(),
            listed(&places),
            registers.count
        );
        let results = vec![registers.register; registers.count];
        let constraints: Vec<_> =
            results.iter().map(|_| format!("={}", registers.letter)).collect();
        let constraints = format!("{},l", constraints.join(","));
        let parts = self.access(&text, &constraints, &results, false, &[address]);
        let value = self.joined(registers, &parts, result);
        let value = value.as_instruction_value().expect("it was loaded");
        load.replace_all_uses_with(&value);
    }

    fn store_hinted(&self, store: InstructionValue<'c>, hint: CacheHint) {
        let (value, address) = (operand(store, 0), operand(store, 1));
        let registers = Registers::of(value.get_type());
        let places: Vec<_> = (1..=registers.count).map(|place| format!("${place}")).collect();
        let text = format!(
            "st.global.{}.{} [$0], {};",
            hint.words(true),
            registers.type_words(),
            listed(&places)
        );
        let mut operands = vec![address];
        operands.extend(self.split(registers, value));
        let constraints = format!("l{}", format!(",{}", registers.letter).repeat(registers.count));
        self.access(&text, &constraints, &[], true, &operands);
    }

    /// Runs an instruction that reads, or writes, at the addresses that it is given, and nowhere
    /// else.
    fn access(
        &self,
        text: &str,
        constraints: &str,
        results: &[Ty],
        is_write: bool,
        operands: &[V<'c>],
    ) -> Vec<V<'c>> {
        let inline = Inline { text, constraints, result: None, has_effects: true };
        // As a number, that it reads what arguments point to is 1, and that it writes there 2.
        let memory = ("memory", 1 + u64::from(is_write));
        self.assembly(&inline, results, &[("nounwind", 0), ("willreturn", 0), memory], operands)
    }

    fn split(&self, registers: Registers, value: V<'c>) -> Vec<V<'c>> {
        let whole = self.bitcast(value, registers.whole());
        let parts: Vec<_> = match registers.count {
            1 => vec![whole],
            count => (0..count as u32).map(|place| self.lane(whole, place)).collect(),
        };
        parts.into_iter().map(|part| self.resize(part, registers.register, false)).collect()
    }

    fn joined(&self, registers: Registers, parts: &[V<'c>], of: BasicTypeEnum<'c>) -> V<'c> {
        let whole = match parts {
            [one] => self.resize(*one, registers.whole(), false),
            parts => self.vector(registers.lane, parts),
        };
        let value = self.builder.build_bit_cast(whole, of, "");
        value.expect("a block is being written")
    }
}

fn operand(of: InstructionValue<'_>, place: u32) -> V<'_> {
    of.get_operand(place).and_then(|operand| operand.value()).expect("accesses have operands")
}

/// Registers as PTX lists them: `$0`, or `{$0, $1}`.
fn listed(places: &[String]) -> String {
    match places {
        [one] => one.clone(),
        many => format!("{{{}}}", many.join(", ")),
    }
}

/// The registers that a value is moved by.
#[derive(Clone, Copy)]
struct Registers {
    count: usize,
    /// The bits of each that are moved.
    bits: u32,
    letter: char,
    register: Ty,
    lane: Lane,
}

impl Registers {
    /// As few as hold a value of a type.
    fn of(ty: BasicTypeEnum<'_>) -> Registers {
        let (element, count) = match ty {
            BasicTypeEnum::VectorType(vector) => (vector.get_element_type(), vector.get_size()),
            other => (other, 1),
        };
        let bits = bits_of(element);
        let all = bits * count;
        let one = |bits, letter, register, lane| Registers {
            count: (all / bits) as usize,
            bits,
            letter,
            register,
            lane,
        };
        match (all, bits) {
            (8, _) => one(8, 'h', Ty::I16, Lane::I8),
            (16, _) => one(16, 'h', Ty::I16, Lane::I16),
            (_, 64) => one(64, 'l', Ty::I64, Lane::I64),
            _ => one(32, 'r', Ty::I32, Lane::I32),
        }
    }

    /// The bits of all of them.
    fn whole(self) -> Ty {
        match (self.count, self.bits) {
            (1, 8) => Ty::I8,
            (1, _) => self.register,
            (count, _) => Ty::Vector(self.lane, count as u32),
        }
    }

    /// Their type in an instruction: `v4.b32`.
    fn type_words(self) -> String {
        match self.count {
            1 => format!("b{}", self.bits),
            count => format!("v{count}.b{}", self.bits),
        }
    }
}

fn bits_of(element: BasicTypeEnum<'_>) -> u32 {
    match element {
        BasicTypeEnum::IntType(ty) => ty.get_bit_width(),
        BasicTypeEnum::FloatType(ty) => ty.get_bit_width(),
        other => unreachable!("kernels keep no {other} in memory"),
    }
}
