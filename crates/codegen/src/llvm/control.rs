// SPDX-License-Identifier: Apache-2.0
//! Blocks, and what leads from one to another.

use super::{Block, Emitter, Function, Ty, V, int};
use inkwell::values::{InstructionValue, PhiValue};

/// A value that depends on the way to its block, of which one is still to be written.
pub struct OpenPhi<'c>(PhiValue<'c>);

impl<'c> OpenPhi<'c> {
    /// The value.
    pub fn value(&self) -> V<'c> {
        self.0.as_basic_value()
    }

    /// Gives it a value on the way that leaves `from`.
    pub fn close(&self, value: V<'c>, from: Block<'c>) {
        self.0.add_incoming(&[(&value, from)]);
    }
}

impl<'c> Emitter<'c> {
    /// A new block at the end of a function.
    pub fn block(&self, function: Function<'c>, name: &str) -> Block<'c> {
        self.context.append_basic_block(function, name)
    }

    /// Goes on writing at the end of `block`.
    pub fn at(&self, block: Block<'c>) {
        self.builder.position_at_end(block);
    }

    /// The block being written.
    pub fn here(&self) -> Block<'c> {
        self.builder.get_insert_block().expect("a block is being written")
    }

    /// Goes to another block.
    pub fn jump(&self, block: Block<'c>) {
        self.builder.build_unconditional_branch(block).expect("a block is being written");
    }

    /// Goes to one of two blocks, of which `likely`, if any, is the usual one.
    pub fn branch(&self, cond: V<'c>, yes: Block<'c>, no: Block<'c>, likely: Option<bool>) {
        let branch = self.builder.build_conditional_branch(int(cond), yes, no);
        let branch = branch.expect("a block is being written");
        if let Some(likely) = likely {
            self.weigh(branch, likely);
        }
    }

    /// Goes to one of two blocks by a condition of several operands. The code generator is not to
    /// take it apart into a branch for each.
    pub fn branch_whole(&self, cond: V<'c>, yes: Block<'c>, no: Block<'c>) {
        let branch = self.builder.build_conditional_branch(int(cond), yes, no);
        let (unpredictable, none) = (self.context.get_kind_id("unpredictable"), []);
        branch
            .expect("a block is being written")
            .set_metadata(self.context.metadata_node(&none), unpredictable)
            .expect("a branch takes metadata");
    }

    fn weigh(&self, branch: InstructionValue<'c>, likely: bool) {
        let weight =
            |usual: bool| self.context.i32_type().const_int(if usual { 2000 } else { 1 }, false);
        let name = self.context.metadata_string("branch_weights");
        let weights = [name.into(), weight(likely).into(), weight(!likely).into()];
        let kind = self.context.get_kind_id("prof");
        branch
            .set_metadata(self.context.metadata_node(&weights), kind)
            .expect("a branch takes metadata");
    }

    /// Goes to the block of the value, or to another.
    pub fn switch(&self, value: V<'c>, other: Block<'c>, cases: &[(i64, Block<'c>)]) {
        let ty = self.context.i64_type();
        let cases: Vec<_> = cases
            .iter()
            .map(|(value, block)| (ty.const_int(*value as u64, true), *block))
            .collect();
        self.builder.build_switch(int(value), other, &cases).expect("a block is being written");
    }

    /// A value that is `first` where its block was come to from `from`, and something else on the
    /// only other way there, which is written later.
    pub fn open_phi(&self, first: V<'c>, from: Block<'c>) -> OpenPhi<'c> {
        let phi = self.builder.build_phi(first.get_type(), "").expect("a block is being written");
        phi.add_incoming(&[(&first, from)]);
        OpenPhi(phi)
    }

    /// A value that depends on the block it comes from.
    pub fn phi(&self, ty: Ty, incoming: &[(V<'c>, Block<'c>)]) -> V<'c> {
        let phi = self.builder.build_phi(self.ty(ty), "").expect("a block is being written");
        for (value, block) in incoming {
            phi.add_incoming(&[(value, *block)]);
        }
        phi.as_basic_value()
    }
}
