// SPDX-License-Identifier: Apache-2.0
//! Objects: what a class makes, fields that are assigned, and methods.
//!
//! An object is known while compiling, whatever its fields hold: two names of it are one object,
//! and its methods stand in the place of their calls. Its fields are the names of a frame of its
//! own, which branches and loops join as they do other names (`scope.rs`).
//!
//! Not here: classes as they are written (`python/class.rs`).

use crate::call;
use crate::elaborate::Elaborator;
use crate::expr::{Args, is_known};
use crate::file::ClassDefinition;
use crate::names;
use crate::python::class::{Class, INIT, Method};
use crate::python::tree::{Ident, Name};
use crate::scope::{Binding, Key};
use crate::value::{Closure, Elaborated, Object};
use kernpack_syntax::{Diagnostic, Span};
use std::sync::Arc;

impl Elaborator<'_> {
    /// Calls a class, which makes an object.
    pub fn make_object(
        &mut self,
        class: &Arc<ClassDefinition>,
        args: Args,
        span: Span,
    ) -> Elaborated {
        let of = &class.class;
        for (foreign, place) in &of.foreign {
            self.report(foreign.diagnostic(*place));
        }
        if !of.foreign.is_empty() {
            return Elaborated::Poison;
        }
        let fields = self.scopes.open_object(class);
        let object = Arc::new(Object { class: class.clone(), fields });
        let Some(init) = of.method(INIT) else {
            let takes: [&str; 0] = [];
            let bound = call::bind(self, &of.name.name, &takes, args, span);
            return bound.map_or(Elaborated::Poison, |_| Elaborated::Object(object));
        };
        match self.inline(&method_of(class, init, Some(&object)), args, span) {
            Elaborated::None => Elaborated::Object(object),
            Elaborated::Poison => Elaborated::Poison,
            _ => {
                let place = init.function.name.span;
                self.mistake("return", place, "`__init__` returns something", "return nothing")
            }
        }
    }

    /// A part of an object by its name: a field, or a part of its class.
    pub fn object_part(
        &mut self,
        object: &Arc<Object>,
        name: &Name,
        span: Span,
    ) -> Option<Elaborated> {
        if let Some(field) = self.scopes.in_frame(object.fields, name) {
            let binding = field.binding.clone();
            return Some(self.bound(name, &binding, span));
        }
        self.class_part(&object.class, Some(object), (name, span))
    }

    /// A part of a class by its name, for an object or by itself: a function or a constant.
    pub fn class_part(
        &mut self,
        class: &Arc<ClassDefinition>,
        object: Option<&Arc<Object>>,
        (name, span): (&str, Span),
    ) -> Option<Elaborated> {
        if let Some(value) = class.class.constant(name) {
            // No name of a file has a point in it.
            let key = (class.module, format!("{}.{name}", class.class.name.name).into());
            let constant = names::constant(self, key, value, None, span);
            return Some(constant.unwrap_or(Elaborated::Poison));
        }
        let method = class.class.method(name).filter(|_| name != INIT)?;
        Some(Elaborated::Closure(Arc::new(method_of(class, method, object))))
    }

    /// The names of an object's fields, and of what its class has.
    pub fn names_of_object<'v>(&'v self, object: &'v Object) -> Vec<&'v str> {
        let fields = self.scopes.names(object.fields);
        let mut names: Vec<_> = fields.chain(names_of_class(&object.class.class)).collect();
        names.sort_unstable();
        names
    }

    /// `of.field = value`
    pub fn set_field_of(
        &mut self,
        of: &Elaborated,
        field: &Ident,
        value: Elaborated,
        (place, span): (Span, Span),
    ) {
        match of {
            Elaborated::Object(object) => self.assign_field(object, field, value, (place, span)),
            Elaborated::Poison => {}
            other => {
                let message = format!("{} has no fields to assign", self.emit.describe(other));
                let help = "assign to a name, a field of an object or an element of a tensor";
                self.mistake("assignment", place, message, help);
            }
        }
    }

    fn assign_field(
        &mut self,
        object: &Object,
        field: &Ident,
        value: Elaborated,
        (place, span): (Span, Span),
    ) {
        let (class, name) = (&object.class.class, &field.name);
        if class.method(name).is_some() || class.constant(name).is_some() {
            let message = format!("`{name}` is something that `{}` has", class.name.name);
            self.mistake("assignment", field.span, message, "give the field another name");
            return;
        }
        let value = match class.constexpr(name) {
            Some(declared) if !is_known(&value) => {
                let found = self.emit.describe(&value);
                let message = format!("`{name}` is constant, and this is {found}");
                let problem = Diagnostic::new("constexpr", message).label(span, "");
                let problem = problem.mark(declared, "declared here");
                self.report(problem.help("assign what is known while compiling"))
            }
            _ => value,
        };
        let key = Key { frame: object.fields, name: name.clone() };
        if self.may_change(&key, &value, place) {
            self.assign_key(&key, value, place, span);
        }
    }

    /// The value of a field at the beginning of a turn around, where no slot has it and it is not
    /// this one.
    fn changed_in_turn(&self, key: &Key, value: &Elaborated) -> Option<Elaborated> {
        let mut turns = self.scopes.calls().flat_map(|one| &one.turns);
        turns.find_map(|turn| match &self.scopes.before(key, turn.branch)?.binding {
            Binding::Value(before) if !value.is_poison() && !self.emit.is_same(before, value) => {
                Some(before.clone())
            }
            Binding::Value(_) | Binding::Stored(_) | Binding::Lost(_) => None,
        })
    }

    /// Whether a field may get a value here: where it is another one than at the beginning of a
    /// turn, of each loop of the kernel's around, the loop has the field in slots.
    fn may_change(&mut self, key: &Key, value: &Elaborated, place: Span) -> bool {
        let Some(before) = self.changed_in_turn(key, value) else { return true };
        let message = format!("`{}` becomes something else in a loop of the kernel's", key.name);
        let help = match self.emit.kind(&before) {
            Some(_) if !self.scopes.is_constexpr(key) => {
                "have the loop call what assigns it by the name that it is defined with"
            }
            Some(_) | None => "assign it before the loop, or numbers in the loop",
        };
        self.mistake("unassigned", place, message, help);
        false
    }
}

/// The names that a class has.
pub(crate) fn names_of_class(class: &Class) -> impl Iterator<Item = &str> {
    let methods = class.methods.iter().map(|one| &*one.function.name.name);
    let constants = class.constants.iter().map(|(name, _)| &*name.name);
    methods.chain(constants).filter(|name| *name != INIT)
}

/// A function of a class, with the object that it is called of.
fn method_of(class: &ClassDefinition, method: &Method, object: Option<&Arc<Object>>) -> Closure {
    Closure {
        function: method.function.clone(),
        module: class.module,
        frame: None,
        uncallable: None,
        object: object.filter(|_| !method.is_static).cloned(),
    }
}
