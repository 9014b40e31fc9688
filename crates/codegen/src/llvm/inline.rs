// SPDX-License-Identifier: Apache-2.0
//! Assembly as it is written.

use super::{Emitter, Ty, V};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::types::BasicMetadataTypeEnum;

/// Assembly.
#[derive(Clone, Copy, Debug)]
pub struct Inline<'a> {
    /// The text, in which `$0` is the result, or the first operand where there is none, and `$$` a
    /// `$`.
    pub text: &'a str,
    /// The places of result and operands, as LLVM has it: `=r,l,~{memory}`.
    pub constraints: &'a str,
    /// The type of the result.
    pub result: Option<Ty>,
    /// Whether it stays where its result is not used, and runs as often as it is written.
    pub has_effects: bool,
}

impl<'c> Emitter<'c> {
    /// Runs assembly. It is taken to do something together with other threads, so that it is not
    /// moved behind conditions.
    pub fn inline(&self, inline: &Inline<'_>, operands: &[V<'c>]) -> Option<V<'c>> {
        let types: Vec<BasicMetadataTypeEnum<'c>> =
            operands.iter().map(|operand| operand.get_type().into()).collect();
        let ty = self.function_type_of(&types, inline.result);
        let (text, constraints) = (inline.text.to_string(), inline.constraints.to_string());
        let assembly = self.context.create_inline_asm(
            ty,
            text,
            constraints,
            inline.has_effects,
            false,
            None,
            false,
        );
        let args: Vec<_> = operands.iter().map(|operand| (*operand).into()).collect();
        let call = self.builder.build_indirect_call(ty, assembly, &args, "");
        let call = call.expect("a block is being written");
        let mut attributes = vec!["nounwind", "convergent"];
        if !inline.has_effects {
            // As a number, that it touches no memory is 0.
            attributes.extend(["willreturn", "memory"]);
        }
        for name in attributes {
            let kind = Attribute::get_named_enum_kind_id(name);
            let attribute = self.context.create_enum_attribute(kind, 0);
            call.add_attribute(AttributeLoc::Function, attribute);
        }
        call.try_as_basic_value().basic()
    }
}
