// SPDX-License-Identifier: Apache-2.0
//! Errors and warnings about a text and the files that it names, with the texts that show where
//! they are.

use crate::{Diagnostic, Diagnostics, Texts};

/// Diagnostics, and what they are about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The name in messages of the text that the user named.
    pub name: String,
    /// The texts.
    pub texts: Texts,
    /// The diagnostics so far.
    pub diagnostics: Diagnostics,
}

impl Told {
    /// Nothing so far.
    pub fn of(name: impl Into<String>, texts: Texts) -> Told {
        Told { name: name.into(), texts, diagnostics: Diagnostics::default() }
    }

    /// More of it.
    pub fn and(mut self, more: impl IntoIterator<Item = Diagnostic>) -> Told {
        self.diagnostics.extend(more);
        self
    }
}
