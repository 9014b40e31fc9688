// SPDX-License-Identifier: Apache-2.0
//! Signatures that a caller gives for functions of a file which have none: `@kp.jit` alone, or with
//! keywords. As of a program's calls, what such a function writes, returns and allocates is what
//! its body says. Not here: the decorators of functions that have a signature.

use super::{Said, keywords};
use crate::python::tree::{Call, Name};
use kernpack_syntax::{Diagnostic, Diagnostics, Texts};
use kernpack_validators::Signature;
use std::sync::Arc;

/// The signatures, each for one function.
#[derive(Debug, Default)]
pub(super) struct Specs(Vec<Spec>);

#[derive(Debug)]
struct Spec {
    text: Arc<str>,
    signature: Signature,
    is_used: bool,
}

impl Specs {
    /// Reads them; what is wrong with any is told in a text of its own.
    pub fn read(specs: &[String], texts: &mut Texts, problems: &mut Diagnostics) -> Specs {
        let mut list = Vec::new();
        for text in specs {
            let id = texts.add("--specs", &**text);
            match Signature::parse(texts.snippet(id)) {
                Ok(signature) => {
                    list.push(Spec { text: text[..].into(), signature, is_used: false });
                }
                Err(found) => problems.extend(found),
            }
        }
        Specs(list)
    }

    /// The decorator of a function without a signature, where one is given for it.
    pub fn said(
        &mut self,
        name: &str,
        call: Option<&Call>,
        problems: &mut Diagnostics,
    ) -> Option<Said> {
        let spec = self.0.iter_mut().find(|spec| spec.signature.name == name)?;
        spec.is_used = true;
        let written = call.map(|call| keywords::read(call, problems)).unwrap_or_default();
        let rules: Vec<_> = written.rules.iter().map(|rule| &*rule.value.value).collect();
        let signature = if rules.is_empty() {
            spec.text.clone()
        } else {
            let behind = if spec.signature.rules.is_empty() { " where " } else { ", " };
            format!("{}{behind}{}", spec.text, rules.join(", ")).into()
        };
        let workspaces = written.workspaces.iter();
        let workspaces = workspaces
            .map(|[name, tensor]| (Name::from(&*name.value.value), tensor.value.value.clone()));
        Some(Said {
            signature,
            workspaces: workspaces.collect(),
            is_made: true,
            is_strict: written.is_strict,
            checks: written.checks,
        })
    }

    /// The problems of those that are for no function.
    pub fn unused(&self) -> impl Iterator<Item = Diagnostic> {
        let unused = self.0.iter().filter(|spec| !spec.is_used);
        unused.map(|Spec { signature, .. }| {
            let name = &signature.name;
            let message = format!("there is no function `{name}` without a signature");
            let problem = Diagnostic::new("decorator", message);
            let problem = problem.label(signature.span, "a signature is given for it");
            problem.help("name a function of the file whose decorator has none")
        })
    }
}
