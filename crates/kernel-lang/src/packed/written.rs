// SPDX-License-Identifier: Apache-2.0
//! Launches of kernels as package files have them: a kernel by its name, and what it is passed, a
//! text each. Tensors are passed as themselves, and constants are part of the code.

#[cfg(test)]
mod tests;

use super::body::names;
use super::closure::Names;
use super::expression::Evaluator;
use super::value::Evaluated;
use super::{CallFacts, PackedLaunch, PackedRow, rows};
use crate::argument::{Argument, Constant, ScalarArg};
use crate::file::{Definition, DefinitionKind, KernelFiles};
use kernpack_ffi_abi::DType;
use kernpack_kernel_ir::kernel::Demands;
use kernpack_kernel_ir::{Const, Scalar};
use kernpack_syntax::{Diagnostic, Diagnostics, Placed, Span};
use kernpack_validators::host_type::element_path;
use kernpack_validators::plan::CScalar;
use kernpack_validators::{
    Branch, Geometry, KernelArg, Known, KnownValue, Literal, Number, Outcomes, Rule, RuleKind,
    Signature, When, Workspace,
};
use std::collections::HashMap;
use std::sync::Arc;

/// An argument that a package file passes to a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum WrittenArg {
    /// A tensor, or a number of the call.
    Arg(KernelArg),
    /// A constant.
    Literal(Literal),
}

/// A launch of a package file.
#[derive(Clone, Copy, Debug)]
pub struct WrittenKernel<'w> {
    /// The kernel's name in its file.
    pub kernel: &'w Placed<String>,
    /// Its arguments.
    pub args: &'w [Placed<WrittenArg>],
    /// How it is laid out.
    pub geometry: &'w Geometry,
}

/// The function that a launch is of.
#[derive(Clone, Copy, Debug)]
pub struct Described<'w> {
    /// Its signature.
    pub signature: &'w Signature,
    /// Its workspaces.
    pub workspaces: &'w [Workspace],
    /// When its launches run, and the number of this one.
    pub whens: &'w [&'w When],
    /// The number of this one.
    pub index: usize,
}

/// The launch for each combination of dtypes: nothing for those under which it never runs.
///
/// # Errors
/// The problems of it.
pub fn launch(
    files: &KernelFiles,
    written: WrittenKernel<'_>,
    described: Described<'_>,
) -> Result<Vec<PackedRow>, Diagnostics> {
    let Described { signature, workspaces, whens, index } = described;
    let kernel = kernel(files, written.kernel)?;
    let bindings = signature.resolve()?;
    let branches = branches(whens, index);
    let mut problems = Diagnostics::default();
    let mut packed = Vec::new();
    for row in rows(signature, &bindings) {
        let dtypes = |name: &str| row.get(name).map(|dtype| KnownValue::DType(*dtype));
        let may_run = Outcomes::of_branches(&branches, &Known { values: &dtypes }).holds;
        let mut facts = CallFacts::of(signature, &bindings, workspaces, row.clone());
        for branch in &branches {
            facts = facts.on_side(branch);
        }
        let mut launches = Vec::new();
        if may_run && !facts.is_impossible() {
            let names = names(signature, workspaces, &facts);
            let mut evaluator = Evaluator::new(files, kernel.module, Names::default(), facts);
            let args = arguments(&mut evaluator, &names, &kernel, written);
            let known = evaluator.facts.facts_here();
            let relations = evaluator.facts.relations().clone();
            problems.extend_new(evaluator.problems);
            launches.extend(args.map(|args| PackedLaunch {
                span: written.kernel.span,
                branches: vec![],
                kernel: kernel.clone(),
                args,
                geometry: written.geometry.clone(),
                demands: Demands::default(),
                archs: vec![],
                known,
                relations,
            }));
        }
        packed.push(PackedRow { row, launches, notes: Diagnostics::default() });
    }
    problems.into_result().map(|()| packed)
}

/// The condition of a launch as sides of `if`s.
pub fn branches(whens: &[&When], index: usize) -> Vec<Branch> {
    let all = |rules: &[Rule]| Rule {
        kind: RuleKind::And(rules.to_vec()),
        span: rules.iter().map(|rule| rule.span).reduce(Span::to).unwrap_or_default(),
    };
    match whens[index] {
        When::Always => vec![],
        When::Rules(rules) => {
            rules.iter().map(|rule| Branch { rule: rule.clone(), holds: true }).collect()
        }
        When::Branches(branches) => branches.clone(),
        When::Otherwise(_) => {
            let above = whens[..index].iter().rev();
            let group = above.take_while(|when| matches!(when, When::Rules(_)));
            let none = group.filter_map(|when| match when {
                When::Rules(rules) => Some(Branch { rule: all(rules), holds: false }),
                _ => None,
            });
            none.collect()
        }
    }
}

fn kernel(files: &KernelFiles, name: &Placed<String>) -> Result<Arc<Definition>, Diagnostics> {
    let path = files.root().path.display();
    let problem = |message: String| Diagnostic::new("unknown-kernel", message).at(name.span);
    match files.function(name) {
        Some(definition) if matches!(definition.kind, DefinitionKind::Kernel) => {
            Ok(definition.clone())
        }
        Some(_) => {
            let message = format!("`{name}` of `{path}` is no kernel");
            Err(problem(message).help("write `@kp.kernel` in front of it").into())
        }
        None => {
            let functions = files.root().functions.iter();
            let kernels = functions.filter(|one| matches!(one.kind, DefinitionKind::Kernel));
            let kernels: Vec<_> = kernels.map(|one| format!("`{}`", one.name())).collect();
            let help = match &kernels[..] {
                [] => "define one: a `def` behind `@kp.kernel`".to_string(),
                kernels => format!("its kernels are {}", kernels.join(", ")),
            };
            Err(problem(format!("`{path}` has no kernel `{name}`")).help(help).into())
        }
    }
}

fn arguments(
    evaluator: &mut Evaluator<'_>,
    names: &HashMap<crate::python::tree::Name, Evaluated>,
    kernel: &Definition,
    written: WrittenKernel<'_>,
) -> Option<Vec<Argument>> {
    let params = &kernel.function.params;
    let n_required = params.iter().take_while(|param| param.default.is_none()).count();
    if written.args.len() > params.len() || written.args.len() < n_required {
        let names: Vec<&str> = params.iter().map(|param| &*param.name.name).collect();
        let message = format!(
            "`{}` takes {} arguments, and is passed {}",
            kernel.name(),
            params.len(),
            written.args.len()
        );
        let problem = Diagnostic::new("packed-argument", message);
        let places = written.args.iter().map(|arg| arg.span).reduce(Span::to);
        let problem = problem.at(places.unwrap_or(written.kernel.span).or(written.kernel.span));
        evaluator.report(problem.help(format!("it is `{}({})`", kernel.name(), names.join(", "))));
        return None;
    }
    let mut paths = HashMap::new();
    names.iter().for_each(|(name, value)| add_paths(name, value, &mut paths));
    let given = written.args.iter().map(|arg| one(evaluator, &paths, arg));
    let mut args: Vec<_> = given.collect();
    for param in &params[written.args.len()..] {
        let default = param.default.as_ref();
        let value = default.and_then(|default| evaluator.value_in(kernel.module, None, default));
        args.push(value.and_then(|value| passed(evaluator, &value, param.name.span)));
    }
    let mut args = args.into_iter().collect::<Option<Vec<_>>>()?;
    evaluator.settle_aliases(&mut args);
    Some(args)
}

/// Every value that a path names.
fn add_paths(path: &str, value: &Evaluated, paths: &mut HashMap<String, Evaluated>) {
    if let Evaluated::Tuple(items) = value {
        for (i, (name, item)) in items.iter().enumerate() {
            add_paths(&element_path(path, i, name.as_deref()), item, paths);
        }
    }
    paths.insert(path.to_string(), value.clone());
}

fn passed(evaluator: &mut Evaluator<'_>, value: &Evaluated, span: Span) -> Option<Argument> {
    match evaluator.argument(&evaluator.refreshed(value), span) {
        Ok(argument) => Some(argument),
        Err(problem) => {
            if let Some(problem) = problem {
                evaluator.report(*problem);
            }
            None
        }
    }
}

fn one(
    evaluator: &mut Evaluator<'_>,
    paths: &HashMap<String, Evaluated>,
    arg: &Placed<WrittenArg>,
) -> Option<Argument> {
    let refuse = |evaluator: &mut Evaluator<'_>, message: String, help: &str| {
        let problem = Diagnostic::new("packed-argument", message).at(arg.span);
        evaluator.report(problem.help(help));
        None
    };
    match &arg.value {
        WrittenArg::Literal(literal) => constant(evaluator, literal, arg.span),
        WrittenArg::Arg(KernelArg::Value(expr, None)) => {
            let named = expr.as_symbol().and_then(|name| {
                let dtype = || evaluator.facts.row().get(name).map(|one| Evaluated::DType(*one));
                paths.get(name).cloned().or_else(dtype)
            });
            let value = named.unwrap_or_else(|| Evaluated::number(evaluator.facts.canonical(expr)));
            passed(evaluator, &value, arg.span)
        }
        WrittenArg::Arg(KernelArg::Value(expr, Some(c_type))) => match scalar(*c_type) {
            Some(scalar) => {
                let expr = evaluator.facts.canonical(expr);
                let facts = evaluator.facts.kernel_facts(&expr);
                Some(Argument::Scalar(ScalarArg { expr, scalar, facts }))
            }
            None => refuse(
                evaluator,
                format!("`{}` enters no kernel that is written here", arg.value_text()),
                "pass the tensor itself",
            ),
        },
        WrittenArg::Arg(KernelArg::Constant(constant)) => match scalar(constant.c_type()) {
            Some(scalar) => {
                let number = match constant.number() {
                    Number::Truth(truth) => Const::bool(truth),
                    Number::Int(value) if scalar.is_float() => Const::float(scalar, value as f64),
                    Number::Int(value) => Const::from_bits(scalar, value as u64),
                    Number::Float(value) => Const::float(scalar, value),
                };
                Some(Argument::Constant(Constant::Number(number)))
            }
            None => refuse(
                evaluator,
                format!("`{constant}` enters no kernel that is written here"),
                "pass a tensor, or an Optional that is `None`",
            ),
        },
        WrittenArg::Arg(KernelArg::Struct(_) | KernelArg::TensorMap(_)) => refuse(
            evaluator,
            format!("`{}` enters no kernel that is written here", arg.value_text()),
            "pass its parts as arguments",
        ),
    }
}

impl WrittenArg {
    fn value_text(&self) -> String {
        match self {
            WrittenArg::Arg(arg) => arg.to_string(),
            WrittenArg::Literal(literal) => literal.to_string(),
        }
    }
}

fn scalar(c_type: CScalar) -> Option<Scalar> {
    match c_type {
        CScalar::Int(dtype) | CScalar::Float(dtype) => Scalar::of(dtype),
        CScalar::Pointer => None,
    }
}

fn constant(evaluator: &mut Evaluator<'_>, literal: &Literal, span: Span) -> Option<Argument> {
    let constant = match literal {
        Literal::None => Constant::None,
        Literal::Bool(truth) => Constant::Bool(*truth),
        Literal::Int(value) => Constant::Int((*value).into()),
        Literal::Float(value) => Constant::Float(*value),
        Literal::Text(text) => Constant::Text(Arc::from(&text[..])),
        Literal::DType(dtype) => return dtype_constant(evaluator, *dtype, span),
    };
    Some(Argument::Constant(constant))
}

fn dtype_constant(evaluator: &mut Evaluator<'_>, dtype: DType, span: Span) -> Option<Argument> {
    passed(evaluator, &Evaluated::DType(dtype), span)
}
