// SPDX-License-Identifier: Apache-2.0
//! The faults of a package as one table, which the runtime reads when a check has failed.
//!
//! The validators and the runtime do not know each other, and yet both word messages: the ones say
//! which pieces a fault has, the other prints them. Here and in `program.rs` they are translated,
//! and differential tests hold both to the same text.

use super::import::declare_runtime;
use super::program::program;
use kernpack_codegen::llvm::{Emitter, V};
use kernpack_ffi_abi::{DType, DeviceType, TypeIndex};
use kernpack_runtime::interface::functions::{FAULT, PUSH_FLOAT, REFUSE};
use kernpack_runtime::interface::{MAX_PARTS, MAX_VALUES};
use kernpack_runtime::{
    Format as TableFormat, NameTable, Part as TablePart, TableWriter, dtype_key,
};
use kernpack_validators::Plan;
use kernpack_validators::fault::{Fault, Format, Part};
use kernpack_validators::plan;

// What a plan may have, the runtime has room for.
const _: () = assert!(plan::MAX_PARTS <= MAX_PARTS && plan::MAX_VALUES <= MAX_VALUES);

/// The symbol of the table, local to the package.
const TABLE: &str = "kernpack_faults";

/// A fault table in the making.
pub struct Faults {
    writer: TableWriter,
    type_indices: NameTable,
    dtypes: NameTable,
    devices: NameTable,
}

impl Faults {
    /// A table with the names that faults print.
    pub fn new() -> Faults {
        let mut writer = TableWriter::default();
        let mut table = |fallback: &str, names: &[(u32, &str)]| {
            writer.name_table(fallback, names).expect("the names of the ABI fit a table")
        };
        let type_indices: Vec<_> =
            TypeIndex::TABLE.iter().map(|(index, _, name)| (index.0 as u32, *name)).collect();
        let devices: Vec<_> =
            DeviceType::TABLE.iter().map(|(device, _, name)| (device.0 as u32, *name)).collect();
        let dtypes: Vec<_> = DType::TABLE
            .iter()
            .map(|(dtype, _, name)| (dtype_key(dtype.code, dtype.bits), *name))
            .collect();
        Faults {
            type_indices: table(TypeIndex::FALLBACK, &type_indices),
            dtypes: table("", &dtypes),
            devices: table(DeviceType::FALLBACK, &devices),
            writer,
        }
    }

    /// Adds a fault of a function with those [calling words](kernpack_validators::fault::calling);
    /// returns its place in the table.
    pub fn add(&mut self, fault: &Fault, calling: &str) -> u32 {
        let mut n_values = 0;
        let parts: Vec<_> = fault
            .parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => TablePart::Text(text.as_str()),
                Part::Calling => TablePart::Text(calling),
                Part::Value(_, format) => {
                    n_values += 1;
                    TablePart::Value { index: n_values - 1, format: self.format(*format) }
                }
                Part::Optional(_, _, format) => {
                    n_values += 2;
                    let (given, index) = (n_values - 2, n_values - 1);
                    TablePart::Optional { given, index, format: self.format(*format) }
                }
            })
            .collect();
        let offset = self.writer.fault(fault.kind.name(), &parts);
        offset.expect("a verified plan's faults fit the table")
    }

    /// Adds a text that a program has; returns its place in the table.
    pub fn add_text(&mut self, text: &str) -> u32 {
        self.writer.text(text).expect("a plan's texts fit the table")
    }

    /// Adds the checks of a plan; returns their place in the table.
    pub fn add_program(&mut self, plan: &Plan) -> u32 {
        let program = program(plan, self);
        self.writer.program(&program).expect("a plan fits the table")
    }

    fn format(&self, format: Format) -> TableFormat {
        match format {
            Format::Int => TableFormat::Int,
            Format::Uint => TableFormat::Uint,
            Format::Float => TableFormat::Float,
            Format::TypeIndex => TableFormat::Name(self.type_indices),
            Format::DType => TableFormat::Dtype(self.dtypes),
            Format::DeviceType => TableFormat::Name(self.devices),
            Format::Text => TableFormat::Text,
        }
    }

    /// Words a fault of a plan, with these values. Returns how many strings it has.
    pub fn word<'c>(
        e: &Emitter<'c>,
        plan: &Plan,
        error: V<'c>,
        [fault, values]: [V<'c>; 2],
    ) -> V<'c> {
        let word = declare_runtime(e, FAULT);
        e.mark_cold(word);
        let args = [e.external(TABLE), fault, values, push_float(e, plan), error];
        e.call(word, &args).expect("a number")
    }

    /// Words the fault of a refused call, which the runtime finds by the plan's program. `call` is
    /// that program, its first step, the arguments and their number, and where the facts of the
    /// device are. Returns how many strings it has.
    pub fn word_refused<'c>(e: &Emitter<'c>, plan: &Plan, error: V<'c>, call: [V<'c>; 5]) -> V<'c> {
        let word = declare_runtime(e, REFUSE);
        e.mark_cold(word);
        let [program, first_step, args, n_args, device] = call;
        let push_float = push_float(e, plan);
        let args =
            [e.external(TABLE), program, first_step, args, n_args, device, push_float, error];
        e.call(word, &args).expect("a number")
    }

    /// Writes the table into the module.
    pub fn define(self, e: &Emitter<'_>) {
        e.define_bytes(TABLE, &self.writer.finish(), 4);
    }
}

/// The writer of floats where a fault of the plan prints one, and else NULL: it is long, and the
/// linker leaves it out where nobody names it.
fn push_float<'c>(e: &Emitter<'c>, plan: &Plan) -> V<'c> {
    let prints_float = |part: &Part| {
        matches!(part, Part::Value(_, Format::Float) | Part::Optional(_, _, Format::Float))
    };
    match plan.faults().iter().any(|fault| fault.parts.iter().any(prints_float)) {
        true => e.address(declare_runtime(e, PUSH_FLOAT)),
        false => e.null(),
    }
}
