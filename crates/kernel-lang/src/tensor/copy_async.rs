// SPDX-License-Identifier: Apache-2.0
//! Copies that go on by themselves, from global to shared memory: 4, 8 or 16 bytes at a time. What
//! is narrower, the thread loads and stores.

use super::Within;
use super::copy::{Pieces, Predicate};
use crate::elaborate::Elaborator;
use crate::emit::Emission;
use crate::expr::memory_of;
use crate::value::Tensor;
use kernpack_kernel_ir::op::{Operand, Store};
use kernpack_kernel_ir::{Const, Space, kernel};
use kernpack_layout::Result;
use kernpack_syntax::Span;

/// The fewest bytes that move by themselves.
const LEAST_BYTES: u32 = 4;

impl Elaborator<'_> {
    /// `kp.copy(source, target, pred=…, to=kp.async_group)`
    pub fn copy_async(&mut self, source: &Tensor, target: &Tensor, pred: &Predicate, span: Span) {
        for (tensor, space) in [(source, Space::Global), (target, Space::Shared)] {
            let found = match memory_of(tensor).map(|memory| memory.space) {
                Some(found) if found != space => found,
                _ => continue,
            };
            let found = match found {
                Space::Local => "registers".to_string(),
                Space::Cluster => "another block's memory".to_string(),
                Space::Global | Space::Shared | Space::Map => format!("{found} memory"),
            };
            let message = format!("expected {space} memory, found `{}` in {found}", tensor.name);
            let help = "copy from global to shared memory, or leave out `to=`";
            self.mistake("type", span, message, help);
            return;
        }
        for tensor in [source, target] {
            let qualifier = memory_of(tensor).and_then(|memory| memory.qualifier);
            if let Some(qualifier) = qualifier {
                let message = format!(
                    "`{}` is {}, and this copy goes on by itself",
                    tensor.name,
                    qualifier.name()
                );
                let help = "copy the tensor itself, or leave out `to=`";
                self.mistake("type", span, message, help);
                return;
            }
        }
        // Zeros are written where nothing is read.
        let touched = [(source, pred), (target, &Predicate::Always)];
        let Some((pieces, [read, written])) = self.pieces_of_copy(touched, span) else { return };
        let pred = self.emit.narrowed(pred, read);
        let begun = self.emit.begin_copies((source, &pred), (target, written), &pieces);
        self.algebra(begun, span);
    }
}

impl Emission {
    fn begin_copies(
        &mut self,
        (source, pred): (&Tensor, &Predicate),
        (target, written): (&Tensor, Within),
        pieces: &Pieces,
    ) -> Result<()> {
        let (Some(from), Some(to)) = (memory_of(source).cloned(), memory_of(target).cloned())
        else {
            return Ok(());
        };
        for lanes in self.runs(pieces) {
            let (first, width) = (lanes[0], lanes.len());
            let (at, to_at) = (self.element_at(source, first)?, self.element_at(target, first)?);
            let (pointer, _) = self.address(&to, &to_at)?;
            let bytes = from.element.bytes() * width as u32;
            if bytes >= LEAST_BYTES {
                let (address, _) = self.address(&from, &at)?;
                let condition = pred.at(first);
                self.access(written, |cx| cx.begin_copy([pointer, address], bytes, condition));
            } else {
                let value = self.load_run(&from, &at, width, pred.at(first))?;
                self.b.store(Store {
                    pointer,
                    value,
                    align: bytes,
                    qualifier: None,
                    condition: written.condition(),
                });
            }
        }
        Ok(())
    }

    fn begin_copy(
        &mut self,
        pointers: [kernel::Value; 2],
        bytes: u32,
        condition: Option<kernel::Value>,
    ) -> Option<kernel::Value> {
        let given = condition.unwrap_or_else(|| self.b.constant(Const::bool(true)));
        let [to, from] = pointers.map(Operand::Value);
        let bytes = Operand::Constant(bytes.into());
        self.call_with("copy.async", vec![to, from, bytes, Operand::Value(given)])
    }
}
