// SPDX-License-Identifier: Apache-2.0
//! The decorator of a packed function, and whether its parameters are what that says.

use super::Unrelated;
use crate::file::keywords::{self, Keywords};
use crate::file::{Checks, Decorator, Said, SaidText};
use crate::python::tree::{Call, Expr, ExprKind, Function, Text};
use kernpack_syntax::{Diagnostic, Diagnostics, Placed, Snippet, Span};
use kernpack_validators::{Signature, Workspace, parse_tensor};

/// The contents of a decorator.
pub(super) struct Header {
    pub signature: Signature,
    pub workspaces: Vec<Workspace>,
    /// Whether the signature was made of a call's arguments: the body says the rest.
    pub is_made: bool,
    /// The thing to do about indices that the extent of another tensor alone bounds.
    pub unrelated: Unrelated,
    /// The checks of its kernels as they run.
    pub checks: Checks,
}

/// Reads the decorator of a function.
pub(super) fn read(
    function: &Function,
    decorator: &Decorator,
    problems: &mut Diagnostics,
) -> Option<Header> {
    let n_problems = problems.0.len();
    let mut keywords = Keywords::default();
    let (signature, workspaces) = match decorator {
        Decorator::Written(call) => {
            keywords = keywords::read(call, problems);
            written(call, &keywords, problems)
        }
        Decorator::Said(said) => said_of(said, problems),
    };
    let signature = signature?;
    if problems.0.len() == n_problems {
        check_name(function, &signature, problems);
        check_params(function, &signature, &workspaces, problems);
        // A program applies the defaults of its functions itself.
        if let Decorator::Written(_) = decorator {
            check_defaults(function, problems);
        }
    }
    let (is_made, is_strict, checks) = match decorator {
        Decorator::Said(said) => (said.is_made, said.is_strict, said.checks),
        Decorator::Written(_) => (false, keywords.is_strict, keywords.checks),
    };
    let unrelated = match (is_strict, is_made) {
        (true, _) => Unrelated::Refuse,
        (false, true) => Unrelated::Warn,
        // Who writes a signature says what it relates.
        (false, false) => Unrelated::Ignore,
    };
    let is_sound = problems.0.len() == n_problems;
    is_sound.then_some(Header { signature, workspaces, is_made, unrelated, checks })
}

/// The values that a program has passed.
fn said_of(
    said: &Said<SaidText>,
    problems: &mut Diagnostics,
) -> (Option<Signature>, Vec<Workspace>) {
    let signature = Signature::parse(said.signature.snippet());
    let signature = signature.map_err(|found| problems.extend(found)).ok();
    let mut workspaces = Vec::new();
    for (name, tensor) in &said.workspaces {
        let place = tensor.snippet().span;
        match parse_tensor(tensor.snippet()) {
            Ok(tensor) => workspaces.push(Workspace {
                name: Placed::new(name.to_string(), place),
                tensor: Placed::new(tensor, place),
            }),
            Err(found) => problems.extend(found),
        }
    }
    (signature, workspaces)
}

/// `@kp.jit("signature", workspace={…})`
fn written(
    call: &Call,
    keywords: &Keywords<'_>,
    problems: &mut Diagnostics,
) -> (Option<Signature>, Vec<Workspace>) {
    let signature = signature(call, problems);
    if let Some(rule) = keywords.rules.first() {
        let message = "`where` is for functions without a signature";
        let problem = Diagnostic::new("decorator", message).label(rule.span, "a rule beside one");
        problems.push(problem.help("write it into the signature: `name(…) where rule`"));
    }
    let mut workspaces = Vec::new();
    for [name, tensor] in &keywords.workspaces {
        match parse_tensor(snippet(tensor.value, tensor.span)) {
            Ok(parsed) => workspaces.push(Workspace {
                name: Placed::new(name.value.value.to_string(), name.span),
                tensor: Placed::new(parsed, tensor.span),
            }),
            Err(found) => problems.extend(found),
        }
    }
    (signature, workspaces)
}

fn signature(call: &Call, problems: &mut Diagnostics) -> Option<Signature> {
    let [Expr { kind: ExprKind::Text(text), span }] = &call.args[..] else {
        let place = call.args.first().map_or(call.function.span, |first| first.span);
        let problem = Diagnostic::new("decorator", "`kp.jit` takes a signature, and nothing else");
        let problem = problem.label(place, "expected one text");
        problems.push(problem.help("write `@kp.jit(\"name(x: Tensor([n], float32))\")`"));
        return None;
    };
    Signature::parse(snippet(text, *span)).map_err(|found| problems.extend(found)).ok()
}

fn snippet(text: &Text, span: Span) -> Snippet<'_> {
    Snippet { text: &text.value, span, first: text.first }
}

fn check_name(function: &Function, signature: &Signature, problems: &mut Diagnostics) {
    let own = &function.name.name;
    if **own != *signature.name {
        let message = format!("`{own}` has the signature of `{}`", signature.name);
        let problem = Diagnostic::new("packed-name", message);
        let problem = problem
            .label(function.name.span, "the function")
            .label(signature.span, "the name that callers use");
        problems.push(problem.help("give both one name"));
    }
}

/// The parameters are the signature's, then the results, then the workspaces.
fn check_params(
    function: &Function,
    signature: &Signature,
    workspaces: &[Workspace],
    problems: &mut Diagnostics,
) {
    let expected = signature.params.iter().map(|param| &param.name);
    let expected = expected.chain(signature.results.iter().map(|result| &result.name));
    let expected = expected.chain(workspaces.iter().map(|workspace| &workspace.name.value));
    let expected: Vec<&str> = expected.map(String::as_str).collect();
    let found: Vec<&str> = function.params.iter().map(|param| &*param.name.name).collect();
    if expected != found {
        let name = &function.name.name;
        let message = format!("the parameters of `{name}` are not those of its signature");
        let places = function.params.iter().map(|param| param.name.span);
        let place = places.reduce(Span::to).unwrap_or(function.name.span);
        let help = format!("write `def {name}({}):`", expected.join(", "));
        problems.push(
            Diagnostic::new("packed-parameters", message)
                .label(place, "expected its parameters, then its results, then the workspaces")
                .help(help),
        );
    }
}

fn check_defaults(function: &Function, problems: &mut Diagnostics) {
    for default in function.params.iter().filter_map(|param| param.default.as_ref()) {
        let problem = Diagnostic::new("packed-parameters", "defaults stand in the signature");
        let help = "write it there: `x: int32 = 0`";
        problems.push(problem.label(default.span, "has no effect here").help(help));
    }
}

/// A docstring without the blanks that its lines have in common, and without empty ones around it.
pub(super) fn cleaned(doc: &str) -> String {
    let mut lines: Vec<_> = doc.lines().map(str::trim_end).collect();
    let indent = |line: &&&str| line.len() - line.trim_start().len();
    let behind = lines.iter().skip(1).filter(|line| !line.is_empty());
    let common = behind.map(|line| indent(&line)).min().unwrap_or(0);
    for (number, line) in lines.iter_mut().enumerate() {
        *line = if number == 0 { line.trim_start() } else { line.get(common..).unwrap_or("") };
    }
    lines.join("\n").trim_matches('\n').to_string()
}
