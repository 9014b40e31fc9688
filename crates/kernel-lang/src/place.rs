// SPDX-License-Identifier: Apache-2.0
//! Where operations come from: the file, the line, and the call in whose place they stand.

use crate::file::{KernelFiles, ModuleId};
use kernpack_kernel_ir::Builder;
use kernpack_kernel_ir::builder::Here;
use kernpack_kernel_ir::kernel::{File, Place, PlaceData};
use kernpack_syntax::Span;
use std::collections::HashMap;

/// The places of a kernel's operations.
#[derive(Debug, Default)]
pub(crate) struct Places {
    files: HashMap<ModuleId, File>,
    /// The line of the last place: the next one is mostly there too.
    line: u32,
    /// The place of the current call in its caller.
    caller: Option<Place>,
}

impl Places {
    /// The place of the current call in its caller.
    pub fn caller(&self) -> Option<Place> {
        self.caller
    }

    /// Goes into a call that stands there, or to what no call is around; gives where the current
    /// one stands.
    pub fn enter(&mut self, caller: Option<Place>) -> Option<Place> {
        std::mem::replace(&mut self.caller, caller)
    }

    /// Goes to a place of a file, where what follows was written. Gives where the last was.
    pub fn go_to(
        &mut self,
        span: Span,
        (files, module): (&KernelFiles, ModuleId),
        b: &mut Builder,
    ) -> Here {
        if span.text.is_none_or(|text| files.module(module).text != text) {
            return b.here();
        }
        let (line, column) = files.position(module, span.start, self.line);
        self.line = line;
        let known = &mut b.kernel_mut().files;
        let file = *self.files.entry(module).or_insert_with(|| {
            // Parts of one file are one file to readers.
            let path = files.module(module).path.display().to_string();
            let number = known.iter().position(|own| *own == path).unwrap_or_else(|| {
                known.push(path);
                known.len() - 1
            });
            File(number as u32)
        });
        b.at(PlaceData { span, file: Some(file), line, column, caller: self.caller })
    }
}
