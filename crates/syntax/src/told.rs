// SPDX-License-Identifier: Apache-2.0
//! What is told of a text and what it names: errors and warnings, with the texts that show where
//! they are.

use crate::{Diagnostic, Diagnostics, Texts};

/// Diagnostics, and what they are about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// What messages call the text that the user named.
    pub name: String,
    /// The texts.
    pub texts: Texts,
    /// What is told so far.
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
