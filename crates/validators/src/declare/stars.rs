// SPDX-License-Identifier: Apache-2.0
//! Which use of a star binds it, and what is wrong with stars and with the fields of theirs that
//! stand in dims.

use super::{Bindings, Declarations, StarBinding, Strength, Use, by_name, optional_only};
use crate::dim::Rank;
use crate::expr::{Field, Name};
use kernpack_syntax::Diagnostic;
use std::rc::Rc;

impl Declarations {
    pub(super) fn resolve_stars(&self, bindings: &mut Bindings, diagnostics: &mut Vec<Diagnostic>) {
        for (star, uses) in by_name(&self.stars) {
            let best = uses.iter().min_by_key(|used| used.strength).expect("a name has a use");
            let is_outside = |used: &&&Use| !used.optionals.starts_with(&best.optionals);
            if let Some(outside) = uses.iter().find(is_outside) {
                diagnostics.push(optional_only(outside, best, false));
            }
            let strided = self.strided_stars.iter().find(|(name, _)| name == star);
            let binding = StarBinding {
                path: best.path.clone(),
                rank: self.rank(&best.path),
                optional: best.optionals.last().cloned(),
                strided: strided.map(|(_, tensor)| tensor.clone()),
            };
            let fields = self.star_fields.iter();
            for (name, optionals) in fields.filter(|(name, _)| name.param.as_deref() == Some(star))
            {
                let used = field_use(name, optionals);
                if !used.optionals.starts_with(&best.optionals) {
                    diagnostics.push(optional_only(&used, best, false));
                }
            }
            bindings.stars.insert(star.to_string(), binding);
        }
        for (name, _) in &self.star_fields {
            let star = name.param.as_deref().unwrap_or_default();
            if !bindings.stars.contains_key(star) {
                diagnostics.push(self.no_star(name));
            }
        }
    }
}

impl Declarations {
    /// The rank of the tensor or Shape of that path.
    fn rank(&self, path: &str) -> Rank {
        let rank = self.tensors.get(path).or(self.shapes.get(path));
        *rank.expect("a star stands in a tensor or Shape")
    }

    /// A dim names a field that no star has.
    fn no_star(&self, name: &Name) -> Diagnostic {
        let param = name.param.as_deref().unwrap_or_default();
        let help = match (self.tensors.contains_key(param), name.field) {
            (true, Some(Field::Ndim)) => "write the number of its dims".to_string(),
            (true, _) => format!("compare it by a rule: `where n == {}`", name.text),
            (false, _) => format!("write `*{param}` among the dims of a tensor or Shape"),
        };
        let message = format!("nothing gives `{}` a value in a dim", name.text);
        Diagnostic::new("unbound-symbol", message)
            .label(name.span, format!("there is no `*{param}`"))
            .help(help)
    }
}

/// The use that a field of a star is.
fn field_use(name: &Name, optionals: &Rc<[String]>) -> Use {
    Use {
        name: name.text.clone(),
        span: name.span,
        path: String::new(),
        strength: Strength::Check,
        optionals: optionals.clone(),
    }
}
