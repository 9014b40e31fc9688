// SPDX-License-Identifier: Apache-2.0
//! Names in rules, and whether rules can hold.

use super::{Bindings, Declarations};
use crate::count::count;
use crate::expr::{Field, Name};
use crate::parse::READS_NO_DATA;
use crate::rule::{Rule, RuleKind};
use crate::spelling::{closest_field, did_you_mean};
use kernpack_ffi_abi::DType;
use kernpack_syntax::Diagnostic;

impl Declarations {
    pub(super) fn check_rules(
        &self,
        rules: &[Rule],
        bindings: &Bindings,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        for rule in rules {
            for name in rule.names() {
                if let Some(param) = name.field {
                    self.check_field(&name, param, bindings, diagnostics);
                } else if !self.has_value(rule, &name.text, bindings) {
                    diagnostics.push(self.unknown_symbol(&name, bindings));
                }
            }
            for part in rule.parts() {
                self.check_part(part, bindings, diagnostics);
            }
            for vain in bindings.vain(rule) {
                let message = format!("`{}` {}", vain.part, vain.message);
                diagnostics
                    .push(Diagnostic::new(vain.code, message).label(vain.part.span, vain.why));
            }
        }
    }

    /// Whether a name that is no symbol has a value in rules: a bool or float, or an element of a
    /// Shape.
    pub(super) fn is_value(&self, name: &str) -> bool {
        let is_number = |dtype: &DType| *dtype == DType::BOOL || dtype.is_float();
        let is_element = |(shape, number)| self.shapes[shape].has(number);
        self.scalars.get(name).is_some_and(is_number)
            || self.shape_element(name).is_some_and(is_element)
    }

    /// The tensor and the number, where the name is written like an element of one.
    pub(super) fn tensor_element<'n>(&self, name: &'n str) -> Option<(&'n str, &'n str)> {
        let (tensor, number) = name.strip_suffix(']')?.rsplit_once('[')?;
        self.tensors.contains_key(tensor).then_some((tensor, number))
    }

    /// The Shape and the number of an element.
    fn shape_element<'n>(&self, name: &'n str) -> Option<(&'n str, i64)> {
        let (shape, number) = name.strip_suffix(']')?.rsplit_once('[')?;
        self.shapes.get(shape)?;
        Some((shape, number.parse().ok()?))
    }

    fn check_field(
        &self,
        name: &Name,
        field: Field,
        bindings: &Bindings,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let param = name.param.as_deref().unwrap_or_default();
        let (tensor, star) = (self.tensors.get(param), bindings.stars.get(param));
        let problem = match (tensor, field) {
            (_, Field::Given) if self.optional_paths.contains(param) => return,
            (_, Field::Given) => format!("`{param}` is no `Optional`"),
            (_, Field::Numel | Field::Ndim) if star.is_some() => return,
            (Some(_), Field::Ndim) => "only `*b` has an `ndim`, as `b.ndim`".to_string(),
            (None, _) => format!("`{param}` is no tensor of this signature"),
            (Some(rank), Field::Shape(i) | Field::Stride(i)) if !rank.has(i) => {
                let n_dims = count(rank.before, "dim");
                match rank.behind {
                    None => format!("`{param}` has {n_dims}"),
                    Some(behind) => format!(
                        "`{param}` has {n_dims} before its `*`, counted from 0, and {behind} behind it, counted from -1"
                    ),
                }
            }
            _ => return,
        };
        let what = if field == Field::Given { "parameter" } else { "tensor" };
        let message = format!("`{}` names no {what}'s field", name.text);
        diagnostics.push(Diagnostic::new("unknown-field", message).label(name.span, problem));
    }

    /// Whether a part of a rule is about what there is.
    fn check_part(&self, rule: &Rule, bindings: &Bindings, diagnostics: &mut Vec<Diagnostic>) {
        let unknown = |name: &String, why: &str| {
            let is_known = self.tensors.contains_key(name);
            let problem = Diagnostic::new("unknown-tensor", format!("`{name}` is no tensor"));
            (!is_known).then(|| problem.label(rule.span, why))
        };
        match &rule.kind {
            RuleKind::NoAlias(a, b) => {
                let why = "`noalias` compares two tensor parameters";
                diagnostics.extend([a, b].into_iter().filter_map(|name| unknown(name, why)));
                if a == b && self.tensors.contains_key(a) {
                    diagnostics.push(impossible(rule, "a tensor always overlaps itself"));
                }
            }
            RuleKind::Texts(name, _) => diagnostics.extend(self.check_text(name)),
            RuleKind::Compare(..) | RuleKind::Floats(..) | RuleKind::In(..) => {
                diagnostics.extend(self.check_no_texts(rule));
                self.check_floats(rule, bindings, diagnostics);
            }
            RuleKind::Aligned(tensor, _) => {
                diagnostics.extend(unknown(tensor, "`aligned` asks about a tensor parameter"));
            }
            RuleKind::DTypes(vars, _) => {
                for var in
                    vars.iter().filter(|var| !self.dtype_vars.iter().any(|u| u.name == **var))
                {
                    diagnostics.push(
                        Diagnostic::new(
                            "unused-dtype-variable",
                            format!("no tensor has the dtype variable `{var}`"),
                        )
                        .label(rule.span, "this rule says nothing"),
                    );
                }
            }
            _ => {}
        }
    }

    /// Whether a part that names floats, or a constant that is one, compares nothing but floats.
    fn check_floats(&self, part: &Rule, bindings: &Bindings, diagnostics: &mut Vec<Diagnostic>) {
        let is_float = |name: &str| self.scalars.get(name).is_some_and(|dtype| dtype.is_float());
        let names = part.names();
        let float = names.iter().find(|name| is_float(&name.text));
        match (part.as_floats(&is_float), float) {
            (None, Some(float)) => {
                let message = format!("`{part}` is no comparison of floats");
                let why = "a float, which is compared as it is with a number or another float";
                diagnostics.push(Diagnostic::new("float-rule", message).label(float.span, why));
            }
            (Some(_), _) => {
                let is_known = |name: &Name| {
                    name.field.is_some()
                        || bindings.symbols.contains_key(&name.text)
                        || self.is_value(&name.text)
                };
                for name in names.iter().filter(|name| !is_float(&name.text) && is_known(name)) {
                    let message = format!("`{}` is no float parameter", name.text);
                    let problem = Diagnostic::new("float-rule", message);
                    let help = "compare integers with integers: write `1` for `1.0`";
                    diagnostics.push(problem.label(name.span, "compared as a float").help(help));
                }
            }
            (None, None) => {}
        }
    }

    fn unknown_symbol(&self, name: &Name, bindings: &Bindings) -> Diagnostic {
        let (name, span) = (&name.text[..], name.span);
        if bindings.stars.contains_key(name) {
            let message = format!("`{name}` stands for dims, and is no number");
            return Diagnostic::new("unbound-symbol", message)
                .label(span, "used as a number")
                .help(format!("write `{name}.numel` or `{name}.ndim`"));
        }
        let problem =
            Diagnostic::new("unbound-symbol", format!("nothing gives the symbol `{name}` a value"));
        if self.scalars.get(name) == Some(&DType::UINT64) {
            let help = format!("make `{name}` an int64, or check it in the kernel");
            return problem.label(span, "a uint64, which rules cannot hold").help(help);
        }
        let is_tensor = |path: &str| self.tensors.contains_key(path);
        if let Some((tensor, element)) = self.tensor_element(name) {
            let help = format!("{READS_NO_DATA}; a dim is `{tensor}.shape[{element}]`");
            return problem.label(span, "an element of a tensor").help(help);
        }
        let has_field = |(param, field): &(&str, String)| match field.strip_prefix(param) {
            Some(".ndim") => bindings.stars.contains_key(*param),
            Some(".given") => self.optional_paths.contains(*param),
            Some(".numel") if bindings.stars.contains_key(*param) => true,
            _ => is_tensor(param),
        };
        let meant = closest_field(name).filter(has_field);
        let help = match name.rsplit_once('.') {
            Some((tensor, _)) if is_tensor(tensor) => format!(
                "use a field of the tensor: `{tensor}.shape[0]`, `{tensor}.strides[0]` or `{tensor}.numel`"
            ),
            _ if self.shape_element(name).is_some() => {
                "use an element that the Shape has".to_string()
            }
            Some(_) => "use a symbol, an integer parameter or a tensor's field".to_string(),
            None => format!("use `{name}` in some dim, or add a parameter `{name}: int64`"),
        };
        let problem = problem.label(span, "not found in any dim, Shape or integer parameter");
        did_you_mean(problem, meant.map(|(_, field)| field), help)
    }
}

fn impossible(rule: &Rule, why: &str) -> Diagnostic {
    Diagnostic::new("impossible-rule", format!("`{rule}` can never hold")).label(rule.span, why)
}
