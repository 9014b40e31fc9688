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
        self.inline_all(inline, inline.result.as_slice(), operands).pop()
    }

    /// Runs assembly that has several results, of these types.
    pub fn inline_all(
        &self,
        inline: &Inline<'_>,
        results: &[Ty],
        operands: &[V<'c>],
    ) -> Vec<V<'c>> {
        let mut attributes = vec![("nounwind", 0), ("convergent", 0)];
        if !inline.has_effects {
            // As a number, that it touches no memory is 0.
            attributes.extend([("willreturn", 0), ("memory", 0)]);
        }
        self.assembly(inline, results, &attributes, operands)
    }

    /// Runs assembly, of which LLVM is told these attributes.
    pub(super) fn assembly(
        &self,
        inline: &Inline<'_>,
        results: &[Ty],
        attributes: &[(&str, u64)],
        operands: &[V<'c>],
    ) -> Vec<V<'c>> {
        let types: Vec<BasicMetadataTypeEnum<'c>> =
            operands.iter().map(|operand| operand.get_type().into()).collect();
        let ty = match results {
            [] | [_] => self.function_type_of(&types, results.first().copied()),
            many => {
                let many: Vec<_> = many.iter().map(|result| self.ty(*result)).collect();
                self.context.struct_type(&many, false).fn_type(&types, false)
            }
        };
        let (text, constraints) = (inline.text.to_string(), inline.constraints.to_string());
        let has_effects = inline.has_effects;
        let assembly =
            self.context.create_inline_asm(ty, text, constraints, has_effects, false, None, false);
        let args: Vec<_> = operands.iter().map(|operand| (*operand).into()).collect();
        let call = self.builder.build_indirect_call(ty, assembly, &args, "");
        let call = call.expect("a block is being written");
        for (name, value) in attributes {
            let kind = Attribute::get_named_enum_kind_id(name);
            let attribute = self.context.create_enum_attribute(kind, *value);
            call.add_attribute(AttributeLoc::Function, attribute);
        }
        match (call.try_as_basic_value().basic(), results.len()) {
            (None, _) => vec![],
            (Some(one), 1) => vec![one],
            (Some(all), count) => {
                let part = |place| {
                    let all = all.into_struct_value();
                    self.builder.build_extract_value(all, place, "").expect("it has that part")
                };
                (0..count as u32).map(part).collect()
            }
        }
    }
}
