// SPDX-License-Identifier: Apache-2.0
//! Signatures: a name, parameters, results and rules. Parsed from text or built in Rust; printed in
//! full or in short.

use crate::check;
use crate::declare::{Bindings, Declarations};
use crate::expr::Field;
use crate::host_type::{HostType, element_path};
use crate::literal::Literal;
use crate::param::{Argument, BadDefault, Form, Kind, Param, Tensor};
use crate::parse::parse_signature;
use crate::path::Path;
use crate::plan::{Guarded, Plan};
use crate::planner::Planner;
use crate::rule::{KnownValue, Rule, RuleKind, join};
use kernpack_ffi_abi::layout::Any;
use kernpack_ffi_abi::{DType, DeviceType};
use kernpack_syntax::{Diagnostic, Diagnostics, Snippet, Span};
use std::fmt;
use std::str::FromStr;

/// A tensor that a function returns.
#[derive(Clone, Debug)]
pub struct SignatureResult {
    /// The name.
    pub name: String,
    /// The tensor: compact row-major, without options but `align`.
    pub tensor: Tensor,
    /// Where the name stands.
    pub span: Span,
}

impl PartialEq for SignatureResult {
    fn eq(&self, other: &SignatureResult) -> bool {
        self.name == other.name && self.tensor == other.tensor
    }
}

/// A function's parameters, and the rules that a call must satisfy.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The function's name.
    pub name: String,
    /// Where the name stands.
    pub span: Span,
    /// The parameters.
    pub params: Vec<Param>,
    /// The results.
    pub results: Vec<SignatureResult>,
    /// The rules.
    pub rules: Vec<Rule>,
}

/// Equal text is equal: where it stood does not count.
impl PartialEq for Signature {
    fn eq(&self, other: &Signature) -> bool {
        let Signature { name, span: _, params, results, rules } = self;
        *name == other.name
            && *params == other.params
            && *results == other.results
            && *rules == other.rules
    }
}

impl FromStr for Signature {
    type Err = Diagnostics;

    fn from_str(text: &str) -> Result<Signature, Diagnostics> {
        Signature::parse(text)
    }
}

impl Signature {
    /// Reads a signature and checks what its names mean.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse<'t>(text: impl Into<Snippet<'t>>) -> Result<Signature, Diagnostics> {
        let signature = parse_signature(text)?;
        signature.resolve()?;
        Ok(signature)
    }

    /// A signature without parameters, to build on.
    pub fn new(name: impl Into<String>) -> Signature {
        let (name, span) = (name.into(), Span::default());
        Signature { name, span, params: vec![], results: vec![], rules: vec![] }
    }

    /// Adds a parameter.
    pub fn param(self, name: impl Into<String>, kind: impl Into<Kind>) -> Signature {
        self.param_or(name, kind, None)
    }

    /// Adds a parameter that callers may leave out.
    pub fn param_or(
        mut self,
        name: impl Into<String>,
        kind: impl Into<Kind>,
        default: impl Into<Option<Literal>>,
    ) -> Signature {
        let (name, kind, default) = (name.into(), kind.into(), default.into());
        self.params.push(Param { name, kind, default, span: Span::default() });
        self
    }

    /// The same where callers leave nothing out, so that parameters may follow.
    #[must_use]
    pub fn without_defaults(mut self) -> Signature {
        self.params.iter_mut().for_each(|param| param.default = None);
        self
    }

    /// The same as one that was made of a call's arguments: with tensors that are `mut` where this
    /// says so of their paths, as in `p.x`, and pointers that lie as their elements need it.
    #[must_use]
    pub fn for_call(mut self, is_written: &dyn Fn(&str) -> bool) -> Signature {
        for (number, param) in self.params.iter_mut().enumerate() {
            let at = Path::argument(&param.name, number);
            if let Some(kind) = param.kind.get().for_call(&at, is_written) {
                param.kind = kind;
            }
        }
        self
    }

    /// Adds a result.
    pub fn result(mut self, name: impl Into<String>, tensor: Tensor) -> Signature {
        self.results.push(SignatureResult { name: name.into(), tensor, span: Span::default() });
        self
    }

    /// Adds a rule.
    pub fn rule(mut self, rule: Rule) -> Signature {
        self.rules.push(rule);
        self
    }

    /// The short form: what messages show.
    pub fn short(&self) -> String {
        self.text(Form::Short)
    }

    /// The variant that takes its results as trailing `mut` parameters; `None` where there are no
    /// results.
    pub fn out_variant(&self) -> Option<Signature> {
        if self.results.is_empty() {
            return None;
        }
        let name = format!("{}_out", self.name);
        let mut variant = Signature { name, results: vec![], ..self.clone() }.without_defaults();
        for result in &self.results {
            let (name, span) = (result.name.clone(), result.span);
            let kind = result.tensor.clone().mutable().into();
            variant.params.push(Param { name, kind, default: None, span });
        }
        Some(variant)
    }

    /// The same variant, which checks what a call knows of results that it allocates itself: that
    /// they share no memory with other tensors.
    pub fn out_variant_apart(&self) -> Option<Signature> {
        let mut variant = self.out_variant()?;
        let mut others = self.tensor_paths();
        for result in &self.results {
            let apart = others.iter().map(|other| {
                let kind = RuleKind::NoAlias(other.clone(), result.name.clone());
                Rule { kind, span: result.span }
            });
            variant.rules.extend(apart);
            others.push(result.name.clone());
        }
        Some(variant)
    }

    /// The paths of the tensors that calls pass.
    pub fn tensor_paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        for param in &self.params {
            add_tensors(&param.name, &param.kind.host_type(), &mut paths);
        }
        paths
    }

    /// The parameters that take an argument, with the number of each.
    pub fn arguments(&self) -> impl Iterator<Item = (usize, &Param)> {
        self.params.iter().filter(|param| param.kind.takes_argument()).enumerate()
    }

    /// How each name gets its value, or what is wrong with the signature as a whole.
    pub fn resolve(&self) -> Result<Bindings, Diagnostics> {
        let mut declarations = Declarations::default();
        for (param, path) in self.paths() {
            declarations.param(param.span);
            param.kind.get().declare(&path, &mut declarations);
        }
        let mut names: Vec<_> = self.params.iter().map(|p| (p.name.clone(), p.span)).collect();
        names.extend(self.results.iter().map(|result| (result.name.clone(), result.span)));
        let (bindings, problems) = declarations.resolve(&names, &self.rules);
        let mut diagnostics = Diagnostics(problems);
        self.check_defaults(&bindings, &mut diagnostics);
        self.check_results(&bindings, &mut diagnostics);
        diagnostics.into_result().map(|()| bindings)
    }

    /// The checks as a plan. `default_device` is that of tensors that name none; `extend` may add
    /// to the plan what follows the checks.
    ///
    /// # Errors
    /// Those that [`resolve`](Signature::resolve) finds, `peer` on a tensor that is in host memory
    /// by default, and what `extend` finds.
    pub fn plan_with(
        &self,
        default_device: DeviceType,
        extend: impl FnOnce(&mut Planner<'_>, &mut Plan) -> Result<(), Diagnostics>,
    ) -> Result<Plan, Diagnostics> {
        let bindings = self.resolve()?;
        Diagnostics(bindings.check_peers(Some(default_device))).into_result()?;
        let short = self.short();
        let mut cx = Planner::new(&bindings, &self.rules, default_device);
        self.plan_arguments(&mut cx);
        let mut plan = Plan::empty(&self.name, &short);
        cx.finish_checks(&mut plan);
        extend(&mut cx, &mut plan)?;
        cx.finish(&mut plan);
        plan.verify().unwrap_or_else(|error| unreachable!("{error}, of `{self}`"));
        Ok(plan)
    }

    /// The checks as a plan.
    ///
    /// # Errors
    /// Those that [`plan_with`](Signature::plan_with) finds by itself.
    pub fn plan(&self, default_device: DeviceType) -> Result<Plan, Diagnostics> {
        self.plan_with(default_device, |_, _| Ok(()))
    }

    fn plan_arguments(&self, cx: &mut Planner<'_>) {
        let most = self.arguments().count();
        let least = self.arguments().filter(|(_, param)| param.default.is_none()).count();
        check::arity::require(cx, least, most);
        for (param, path) in self.paths() {
            let argument = match &param.default {
                _ if !param.kind.takes_argument() => Argument::nothing(path, cx),
                None => Argument::at(path, cx),
                Some(default) => Argument::at_or(path, default, cx),
            };
            param.kind.get().plan(&argument, cx);
        }
    }

    fn paths(&self) -> Vec<(&Param, Path)> {
        let mut number = 0;
        let mut paths = Vec::new();
        for param in &self.params {
            paths.push((param, Path::argument(&param.name, number)));
            number += usize::from(param.kind.takes_argument());
        }
        paths
    }

    fn check_defaults(&self, bindings: &Bindings, diagnostics: &mut Diagnostics) {
        let arguments: Vec<_> = self.arguments().map(|(_, param)| param).collect();
        let first = arguments.iter().position(|param| param.default.is_some());
        for (i, param) in arguments.iter().enumerate() {
            match &param.default {
                None if first.is_some_and(|first| i > first) => diagnostics.push(
                    Diagnostic::new(
                        "default",
                        format!("`{}` follows a parameter with a default", param.name),
                    )
                    .label(param.span, "has no default")
                    .help("give it a default too, or move it in front"),
                ),
                Some(value) => diagnostics.0.extend(self.bad_default(param, value, bindings)),
                _ => {}
            }
        }
        for param in self.params.iter().filter(|p| !p.kind.takes_argument() && p.default.is_some())
        {
            diagnostics.push(
                Diagnostic::new(
                    "default",
                    format!("`{}` takes no argument and can have no default", param.name),
                )
                .label(param.span, "this parameter"),
            );
        }
    }

    /// The problem of a default: no call without that argument could be accepted.
    fn bad_default(
        &self,
        param: &Param,
        value: &Literal,
        bindings: &Bindings,
    ) -> Option<Diagnostic> {
        let kind = param.kind.text(Form::Full);
        let accepted = "write a literal that the parameter would accept".to_string();
        let optional = format!("write `Optional[{kind}]`, which accepts None");
        let problem = |kind: &str, why: String| {
            Diagnostic::new("default", format!("`{value}` is no default for `{kind}`"))
                .label(param.span, why)
        };
        match param.kind.get().check_default(value) {
            Err(BadDefault::NoLiteral) => {
                return Some(problem(&kind, "no literal is accepted".to_string()).help(optional));
            }
            Err(BadDefault::Expected(words)) => {
                let takes_none =
                    *value == Literal::None && param.kind.host_type() != HostType::DataType;
                let help = if takes_none { optional } else { accepted };
                return Some(problem(&kind, format!("expected {words}")).help(help));
            }
            Ok(()) => {}
        }
        if let (Literal::DType(dtype), Some(var)) = (value, bindings.dtypes.get(&param.name))
            && !var.allowed.contains(dtype)
        {
            let allowed = check::dtype::alternatives(&var.allowed);
            return Some(problem(&kind, format!("expected {allowed}")).help(accepted));
        }
        let known = defaulted(param, value, bindings);
        let refuses = |rule: &&Rule| {
            let refuses =
                |(name, value): &(String, KnownValue)| rule.holds_for(name, value) == Some(false);
            !rule.names().is_empty() && known.iter().any(refuses)
        };
        let rule = self.rules.iter().find(refuses)?;
        let problem = problem(&param.name, format!("expected {rule}"));
        Some(problem.label(rule.span, "this rule").help(accepted))
    }

    fn check_results(&self, bindings: &Bindings, diagnostics: &mut Diagnostics) {
        for result in &self.results {
            if !result.tensor.can_be_allocated() {
                diagnostics.push(
                    Diagnostic::new(
                        "result",
                        format!(
                            "the result `{}` must be compact, on the call's device",
                            result.name
                        ),
                    )
                    .label(result.span, "has options that an allocation does not take")
                    .help("only `align=` can stand in a result"),
                );
            }
            for problem in result.tensor.unbound_names(bindings) {
                diagnostics.push(
                    Diagnostic::new(
                        "unbound-symbol",
                        format!(
                            "`{problem}` in the result `{}` has no value before the call",
                            result.name
                        ),
                    )
                    .label(result.span, "this result")
                    .help("a result's dims and dtype follow from the arguments"),
                );
            }
        }
    }

    fn text(&self, form: Form) -> String {
        let shown = |param: &&Param| form == Form::Full || param.kind.takes_argument();
        let params = self.params.iter().filter(shown).map(|param| match &param.default {
            Some(value) if form == Form::Full => {
                format!("{}: {} = {value}", param.name, param.kind.text(form))
            }
            _ => format!("{}: {}", param.name, param.kind.text(form)),
        });
        let mut text = format!("{}({})", self.name, join(params));
        if !self.results.is_empty() {
            let results = self.results.iter().map(|result| {
                format!("{}: {}", result.name, Kind::from(result.tensor.clone()).text(form))
            });
            text.push_str(&format!(" -> {}", join(results)));
        }
        if form == Form::Full && !self.rules.is_empty() {
            text.push_str(&format!(" where {}", join(&self.rules)));
        }
        text
    }
}

fn add_tensors(path: &str, host_type: &HostType, paths: &mut Vec<String>) {
    match host_type {
        HostType::Tensor(_) => paths.push(path.to_string()),
        HostType::Optional(inner) => add_tensors(path, inner, paths),
        HostType::Tuple(elements) => {
            for (i, (name, element)) in elements.iter().enumerate() {
                let part = element_path(path, i, name.as_deref());
                add_tensors(&part, element, paths);
            }
        }
        HostType::EnvStream
        | HostType::Int(_)
        | HostType::Float(_)
        | HostType::Shape(_)
        | HostType::Pointer(_)
        | HostType::Stream
        | HostType::String
        | HostType::DataType
        | HostType::Literal(_) => {}
    }
}

/// The values that rules may name of a parameter that a caller has left out.
fn defaulted(param: &Param, value: &Literal, bindings: &Bindings) -> Vec<(String, KnownValue)> {
    let number = match value {
        Literal::Int(_) | Literal::Bool(_) => Some(value.as_any().1 as f64),
        Literal::Float(number) => Some(*number),
        Literal::None | Literal::Text(_) | Literal::DType(_) => None,
    };
    let is_symbol = bindings.symbols.contains_key(&param.name);
    let own = match (bindings.scalars.get(&param.name), value) {
        (Some(dtype), _) if dtype.is_float() => number.map(|it| KnownValue::Float(it, *dtype)),
        (scalar, Literal::Int(_) | Literal::Bool(_)) => {
            (is_symbol || scalar == Some(&DType::BOOL)).then(|| KnownValue::Int(value.as_any().1))
        }
        (_, Literal::Text(text)) => Some(KnownValue::Text(text.clone())),
        _ => None,
    };
    let is_optional = matches!(param.kind.host_type(), HostType::Optional(_));
    let given = is_optional.then(|| {
        let given = KnownValue::Int((*value != Literal::None).into());
        (format!("{}{}", param.name, Field::Given), given)
    });
    own.map(|own| (param.name.clone(), own)).into_iter().chain(given).collect()
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Form::Full))
    }
}

impl Argument {
    /// The argument of that number.
    fn at(path: Path, cx: &mut Planner<'_>) -> Argument {
        let (args, offset) = (cx.b.args(), cx.b.int((path.arg_index * size_of::<Any>()) as i64));
        let address = cx.b.add_ints(args, offset);
        Argument::of(path, address, cx)
    }

    /// The argument of that number, or a default where there are too few.
    fn at_or(path: Path, default: &Literal, cx: &mut Planner<'_>) -> Argument {
        let (n_args, number) = (cx.b.num_args(), cx.b.int(path.arg_index as i64));
        let present = cx.b.compare(crate::plan::Compare::Lt, number, n_args);
        cx.b.open();
        let given = Argument::at(path, cx);
        let (index, payload) = default.as_any();
        let text = if let Literal::Text(text) = default { text } else { "" };
        let otherwise = [cx.b.int(index.0), cx.b.int(payload), cx.b.text(text)];
        let inner = [given.type_index, given.payload, given.text];
        let values = [0, 1, 2].map(|i| Guarded { inner: inner[i], otherwise: otherwise[i] });
        let values = cx.b.close(present, &values);
        Argument { type_index: values[0], payload: values[1], text: values[2], ..given }
    }

    /// In place of an argument, for a parameter that takes none.
    fn nothing(path: Path, cx: &mut Planner<'_>) -> Argument {
        let (zero, text) = (cx.b.int(0), cx.b.text(""));
        Argument { path, type_index: zero, payload: zero, text, optional: false }
    }
}
