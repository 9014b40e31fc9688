// SPDX-License-Identifier: Apache-2.0
//! Assertions: a thread for which one does not hold writes that to the kernel's record, if it is
//! the first, and goes on.
//!
//! The record is in the host's memory. Threads of one device take it by an atomic operation, and
//! the host sees it as written behind all that is in it.

use super::Nvptx;
use super::space::pointer_ty;
use crate::kernel::shared::Lowering;
use crate::llvm::{Inline, KernelParam, Operation, Predicate, Ty, V};
use kernpack_kernel_ir::assert_record::{TEXT_BYTES, offset};
use kernpack_kernel_ir::kernel::{Kernel, Place, Value};
use kernpack_kernel_ir::op::{Assert, Check, Rounding};
use kernpack_kernel_ir::types::{Class, Scalar, Space, Type};

/// The most bytes of a kernel's name, and of a file's, that a record has: there is room for them
/// and a message.
const NAME_BYTES: usize = 256;
/// Texts are copied by words of so many bytes.
const WORD_BYTES: usize = 8;

/// The lanes below a thread's that are with it here.
const LOWER_LANES: &str = "{ .reg .b32 all, lower; activemask.b32 all; \
                           mov.u32 lower, %lanemask_lt; and.b32 $0, all, lower; }";

/// Reads a number that others write.
const LOOK: &str = "ld.relaxed.sys.global.u32 $0, [$1];";
/// Puts another number in the place of one.
const TAKE: &str = "atom.relaxed.gpu.global.cas.b32 $0, [$1], $2, $3;";
/// Writes a number behind all else.
const PUBLISH: &str = "st.release.sys.global.u32 [$0], $1;";

/// The parameter.
pub(super) const RECORD: KernelParam = KernelParam {
    ty: pointer_ty(Space::Global),
    alignment_bytes: Some(WORD_BYTES as u32),
    is_alone: true,
    is_read_only: false,
    value_bytes: None,
};

impl<'c> Lowering<'c, '_, Nvptx> {
    pub(super) fn lower_assert(&mut self, assert: &Assert, place: Place) {
        self.tell_unless(self.kept(assert.condition), (&assert.text, &assert.values), place);
    }

    pub(super) fn lower_check(
        &mut self,
        index_and_extent: [Value; 2],
        check: &Check,
        place: Place,
    ) {
        let emitter = self.emitter;
        let [index, extent] = index_and_extent.map(|value| self.recorded(value));
        let is_within = match self.shown_as(index_and_extent[0]).class() {
            Class::Signed => {
                let is_natural = emitter.compare(Predicate::SGE, index, self.i64(0));
                let is_below = emitter.compare(Predicate::SLT, index, extent);
                emitter.arith(Operation::And, is_natural, is_below)
            }
            Class::Unsigned | Class::Bool | Class::Float => {
                emitter.compare(Predicate::ULT, index, extent)
            }
        };
        self.tell_unless(is_within, (&check.text(), &index_and_extent), place);
    }

    /// Writes a message down where a condition does not hold.
    fn tell_unless(&mut self, holds: V<'c>, (text, values): (&str, &[Value]), place: Place) {
        let emitter = self.emitter;
        let classes: String = values.iter().map(|value| self.letter(*value)).collect();
        let words = self.words(&classes, text, place);
        let values: Vec<_> = values.iter().map(|value| self.recorded(*value)).collect();
        let record = emitter.param(self.function, self.kernel.params.len() as u32);
        let [failed, given, leads, free, mine, behind] =
            ["failed", "given", "leads", "free", "mine", "behind"].map(|name| self.block(name));
        let at = |offset| emitter.offset_by(record, offset);
        emitter.branch(holds, behind, failed, Some(true));
        emitter.at(failed);
        let is_given = emitter.compare(Predicate::NE, emitter.to_int(record), self.i64(0));
        emitter.branch(is_given, given, behind, None);
        emitter.at(given);
        // The record is far away: of threads that fail together, one goes there.
        let before = self.number(LOWER_LANES, "=r,~{memory}", &[]);
        let is_first = emitter.compare(Predicate::EQ, before, emitter.int(Ty::I32, 0));
        emitter.branch(is_first, leads, behind, None);
        emitter.at(leads);
        // Threads that come later only look.
        let told = self.number(LOOK, "=r,l,~{memory}", &[at(offset::TOLD)]);
        let taken = self.number(LOOK, "=r,l,~{memory}", &[at(offset::TAKEN)]);
        let is_free = emitter.compare(Predicate::EQ, told, taken);
        emitter.branch(is_free, free, behind, None);
        emitter.at(free);
        let next = emitter.arith(Operation::Add, told, emitter.int(Ty::I32, 1));
        let operands = [at(offset::TAKEN), told, next];
        let before = self.number(TAKE, "=r,l,r,r,~{memory}", &operands);
        let is_mine = emitter.compare(Predicate::EQ, before, told);
        emitter.branch(is_mine, mine, behind, None);
        emitter.at(mine);
        for (axis, place) in (0..3).zip((offset::BLOCK..).step_by(4)) {
            emitter.store_at(record, place, self.block_idx(axis));
        }
        for (axis, place) in (0..3).zip((offset::THREAD..).step_by(4)) {
            emitter.store_at(record, place, self.thread(axis));
        }
        for (value, place) in values.into_iter().zip((offset::VALUES..).step_by(8)) {
            emitter.store_at(record, place, value);
        }
        self.copy_text(&words, at(offset::TEXT));
        let constraints = "l,r,~{memory}";
        let publish = Inline { text: PUBLISH, constraints, result: None, has_effects: true };
        emitter.inline(&publish, &[at(offset::WRITTEN), next]);
        emitter.jump(behind);
        emitter.at(behind);
    }

    fn i64(&self, value: i64) -> V<'c> {
        self.emitter.int(Ty::I64, value)
    }

    /// The number of 32 bits that instructions give.
    fn number(&self, text: &str, constraints: &str, operands: &[V<'c>]) -> V<'c> {
        let inline = Inline { text, constraints, result: Some(Ty::I32), has_effects: true };
        let number = self.emitter.inline(&inline, operands);
        number.unwrap_or_else(|| unreachable!("the instructions have a result"))
    }

    /// A number as a record has it.
    fn recorded(&self, value: Value) -> V<'c> {
        let full = self.full(value);
        let scalar = self.shown_as(value);
        match scalar.class() {
            Class::Bool | Class::Unsigned => self.emitter.resize(full, Ty::I64, false),
            Class::Signed => self.emitter.resize(full, Ty::I64, true),
            Class::Float => self.convert(full, scalar, Scalar::F64, Rounding::NearestEven),
        }
    }

    fn shown_as(&self, value: Value) -> Scalar {
        match self.kernel.ty(value) {
            Type::Scalar(scalar) => scalar,
            Type::Vector(..) | Type::Pointer(_) => unreachable!("{value} is one number"),
        }
    }

    /// The letter of a value's class.
    fn letter(&self, value: Value) -> char {
        match self.shown_as(value).class() {
            Class::Bool => 'b',
            Class::Signed => 's',
            Class::Unsigned => 'u',
            Class::Float => 'f',
        }
    }

    /// The texts of a record.
    fn words(&self, classes: &str, text: &str, place: Place) -> Vec<u8> {
        let place = spelled(self.kernel, place);
        let head = [clipped(&self.kernel.name), &place, classes];
        let texts = head.into_iter().chain(text.split("{}"));
        let mut words: Vec<_> = texts.flat_map(|text| text.bytes().chain([0])).collect();
        words.resize(words.len().next_multiple_of(WORD_BYTES), 0);
        words
    }

    /// Copies a text, which has whole words, to where it is seen.
    fn copy_text(&mut self, text: &[u8], to: V<'c>) {
        let emitter = self.emitter;
        let name = format!("{}$assert_text", self.kernel.name);
        let from = emitter.bytes(&name, text, WORD_BYTES as u32);
        let (word, done) = (self.block("word"), self.block("words"));
        let before = emitter.here();
        emitter.jump(word);
        emitter.at(word);
        let at = emitter.open_phi(self.i64(0), before);
        let piece = emitter.load(Ty::I64, emitter.offset(from, at.value()));
        emitter.store(emitter.offset(to, at.value()), piece);
        let next = emitter.arith(Operation::Add, at.value(), self.i64(WORD_BYTES as i64));
        at.close(next, word);
        let is_left = emitter.compare(Predicate::NE, next, self.i64(text.len() as i64));
        emitter.branch(is_left, word, done, None);
        emitter.at(done);
    }
}

/// The place of an assertion: `scale.py:8`. Folders are left out: no path gets into code.
fn spelled(kernel: &Kernel, place: Place) -> String {
    let place = kernel.place_of_user(place);
    let file = place.file.and_then(|file| kernel.files.get(file.index()));
    let name = file.and_then(|file| file.rsplit('/').next()).unwrap_or_default();
    match place.line {
        0 => String::new(),
        line => format!("{}:{line}", clipped(name)),
    }
}

/// As much of a name as there is room for.
fn clipped(name: &str) -> &str {
    let end = (0..=NAME_BYTES).rev().find(|end| name.is_char_boundary(*end));
    if name.len() <= NAME_BYTES { name } else { &name[..end.unwrap_or_default()] }
}

// There is room for two names, a line of 10 digits, 4 classes and a message, with a NUL behind each
// of them, and one for each value.
const _: () = assert!(2 * NAME_BYTES + 1 + 10 + 4 + Assert::MOST_BYTES + 8 <= TEXT_BYTES);
