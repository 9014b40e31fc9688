// SPDX-License-Identifier: Apache-2.0
//! The name of a kernel as launches have it. `{T}` in it stands for the dtype that the variable `T`
//! has in a call: `rms_{T}`, `rms<{T}, 128>`. What a dtype is called there is for the kernel's
//! source to know.

use crate::declare::Bindings;
use crate::rule::join;
use kernpack_syntax::{Diagnostic, Diagnostics, Snippet, Span};
use std::fmt;

/// The name of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelName(Vec<NamePiece>);

/// A piece of it.
#[derive(Clone, Debug)]
pub enum NamePiece {
    /// As it stands.
    Text(String),
    /// The dtype of a variable, and where that stands.
    DType(String, Span),
}

/// Equal text is equal: where it stood does not count.
impl PartialEq for NamePiece {
    fn eq(&self, other: &NamePiece) -> bool {
        match (self, other) {
            (NamePiece::Text(a), NamePiece::Text(b))
            | (NamePiece::DType(a, _), NamePiece::DType(b, _)) => a == b,
            (NamePiece::Text(_), NamePiece::DType(..))
            | (NamePiece::DType(..), NamePiece::Text(_)) => false,
        }
    }
}

impl Eq for NamePiece {}

impl KernelName {
    /// A name that is the same for all dtypes.
    pub fn plain(name: impl Into<String>) -> KernelName {
        KernelName(vec![NamePiece::Text(name.into())])
    }

    /// The dtype variables in it, each with its place, as often as they stand there.
    pub fn vars(&self) -> impl Iterator<Item = (&str, Span)> {
        self.0.iter().filter_map(|piece| match piece {
            NamePiece::Text(_) => None,
            NamePiece::DType(var, span) => Some((var.as_str(), *span)),
        })
    }

    /// The problems of names that stand for dtypes in it: each that is no dtype variable of the
    /// signature.
    pub fn unknown_vars(&self, bindings: &Bindings) -> Vec<Diagnostic> {
        let known: Vec<_> = bindings.dtypes.keys().collect();
        let unknown = self.vars().filter(|(var, _)| !bindings.dtypes.contains_key(*var));
        let problem = |(var, span): (&str, Span)| {
            let message = format!("`{var}` in the kernel's name is no dtype variable");
            let problem = Diagnostic::new("kernel-template", message);
            problem.label(span, "stands for no dtype").help(match &known[..] {
                [] => "write the name without braces".to_string(),
                known => format!("the dtype variables are {}", join(known)),
            })
        };
        unknown.map(problem).collect()
    }

    /// Its pieces, in order.
    pub fn pieces(&self) -> &[NamePiece] {
        &self.0
    }
}

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|piece| match piece {
            NamePiece::Text(text) => f.write_str(text),
            NamePiece::DType(var, _) => write!(f, "{{{var}}}"),
        })
    }
}

/// Reads a kernel's name. Whether its variables are those of a signature is not looked at.
///
/// # Errors
/// Where a brace is not closed.
pub fn parse_kernel_name<'t>(text: impl Into<Snippet<'t>>) -> Result<KernelName, Diagnostics> {
    let snippet = text.into();
    let text = snippet.text;
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        let at = text.len() - behind.len();
        let Some((var, behind)) = behind.split_once('}') else {
            let problem = Diagnostic::new("kernel-template", "`{` without its `}`");
            return Err(problem.label(snippet.place(at - 1, text.len()), "not closed").into());
        };
        pieces.extend((!before.is_empty()).then(|| NamePiece::Text(before.to_string())));
        pieces.push(NamePiece::DType(var.to_string(), snippet.place(at, at + var.len())));
        rest = behind;
    }
    pieces.extend((!rest.is_empty()).then(|| NamePiece::Text(rest.to_string())));
    Ok(KernelName(pieces))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_reads_back() {
        for text in ["", "k", "{T}", "rms_{T}_{U}", "rms<{T}, 128>", "}"] {
            assert_eq!(parse_kernel_name(text).unwrap().to_string(), text);
        }
        assert_eq!(parse_kernel_name("k").unwrap(), KernelName::plain("k"));
        assert_ne!(parse_kernel_name("{T}").unwrap(), KernelName::plain("T"));
    }

    #[test]
    fn variables_have_places() {
        let name = parse_kernel_name("a{T}b{U}").unwrap();
        let vars: Vec<_> = name.vars().collect();
        assert_eq!(vars, [("T", Span::new(2, 3)), ("U", Span::new(6, 7))]);
    }

    #[test]
    fn a_brace_is_closed() {
        let problem = parse_kernel_name("a{T").unwrap_err().0.remove(0);
        assert_eq!(problem.labels[0].span, Span::new(1, 3));
    }
}
