// SPDX-License-Identifier: Apache-2.0
//! Which fields statements may assign: those that they assign, and those that functions do which
//! they may call. A loop has these in slots before it begins.
//!
//! What is called is not known before a kernel is walked. So a function may be called wherever its
//! name is mentioned, whatever has that name, and a field is one of all that have its name. What a
//! function is called by that has another name here, its callers find out when it assigns.

use super::class::{Class, INIT};
use super::statement::{Block, StmtKind};
use super::tree::{Expr, ExprKind, Function, Name};
use super::walk;
use std::collections::{HashMap, HashSet};

/// The effects of functions, by their names.
#[derive(Clone, Debug, Default)]
pub struct Assigners(HashMap<Name, Effect>);

/// The part of a call or loop that is gone through before its statements, each time that they are.
#[derive(Clone, Copy, Debug)]
pub enum Head<'e> {
    /// The call of a function, of which nothing counts.
    Call,
    /// A `for`, with its target.
    For(&'e Expr),
    /// A `while`, with its test.
    While(&'e Expr),
}

/// The effect of statements by themselves.
#[derive(Clone, Debug, Default)]
struct Effect {
    /// The fields that they assign.
    fields: HashSet<Name>,
    /// The names and attributes that they mention.
    mentions: HashSet<Name>,
}

impl Assigners {
    /// Adds a function, and those that stand in it.
    pub fn add(&mut self, function: &Function) {
        self.add_as(&function.name.name, function, None);
    }

    /// Adds a class: its name is that of the function that gives objects their fields, which are
    /// no others' than a new object's.
    pub fn add_class(&mut self, class: &Class) {
        for method in &class.methods {
            let function = &method.function;
            let name = &function.name.name;
            match &**name == INIT {
                true => {
                    let object = function.params.first().map(|one| &*one.name.name);
                    self.add_as(&class.name.name, function, object);
                }
                false => self.add(function),
            }
        }
    }

    fn add_as(&mut self, name: &Name, function: &Function, object: Option<&str>) {
        let effect = self.0.entry(name.clone()).or_default();
        effect.add_block(&function.body, object);
        for default in function.params.iter().filter_map(|one| one.default.as_ref()) {
            effect.mention(default);
        }
        self.add_functions_of(&function.body);
    }

    fn add_functions_of(&mut self, block: &Block) {
        for stmt in block {
            if let StmtKind::Function(function) = &stmt.kind {
                self.add(function);
            }
            stmt.kind.blocks(&mut |block| self.add_functions_of(block));
        }
    }

    /// The fields that statements may assign, or their head.
    pub fn fields(&self, head: Head<'_>, block: &Block) -> HashSet<Name> {
        let mut all = Effect::default();
        match head {
            Head::Call => {}
            Head::For(target) => all.assign(target, None),
            Head::While(test) => all.mention(test),
        }
        all.add_block(block, None);
        let mut fields = all.fields;
        let mut behind: Vec<_> = all.mentions.iter().cloned().collect();
        let mut seen = all.mentions;
        while let Some(effect) = behind.pop().map(|name| self.0.get(&name)) {
            let Some(effect) = effect else { continue };
            fields.extend(effect.fields.iter().cloned());
            let new = effect.mentions.iter().filter(|name| seen.insert((*name).clone()));
            behind.extend(new.cloned());
        }
        fields
    }
}

impl Effect {
    fn add_block(&mut self, block: &Block, object: Option<&str>) {
        for stmt in block {
            stmt.kind.targets(&mut |target| self.assign(target, object));
            stmt.kind.exprs(&mut |expr| self.mention(expr));
            stmt.kind.blocks(&mut |block| self.add_block(block, object));
        }
    }

    /// Adds the fields of a target, but those of `object`.
    fn assign(&mut self, target: &Expr, object: Option<&str>) {
        match &target.kind {
            ExprKind::Tuple(parts) | ExprKind::List(parts) => {
                parts.iter().for_each(|part| self.assign(part, object));
            }
            ExprKind::Attribute(of, field) => match &of.kind {
                ExprKind::Name(name) if object == Some(&**name) => {}
                _ => _ = self.fields.insert(field.name.clone()),
            },
            _ => {}
        }
    }

    fn mention(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => _ = self.mentions.insert(name.clone()),
            ExprKind::Attribute(of, member) => {
                self.mentions.insert(member.name.clone());
                self.mention(of);
            }
            ExprKind::Lambda(function) => self.add_block(&function.body, None),
            _ => walk::expr_parts(expr, &mut |part| self.mention(part)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::python::parse;
    use expect_test::{Expect, expect};

    /// The fields that the last statement of a text may assign.
    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let mut block = parse(text.into()).expect("it is Python");
        let last = block.pop().into_iter().collect();
        let mut assigners = Assigners::default();
        for stmt in &block {
            match &stmt.kind {
                StmtKind::Function(function) => assigners.add(function),
                StmtKind::Class(class) => assigners.add_class(class),
                _ => {}
            }
        }
        let mut fields: Vec<_> = assigners.fields(Head::Call, &last).into_iter().collect();
        fields.sort_unstable();
        expected.assert_eq(&fields.join(" "));
    }

    #[test]
    fn targets_are_fields() {
        check(
            "for i in range(3):\n    a.b.c, d = 1, 2\n    e.f += i\n    g[e.h] = i\n",
            expect!["c f"],
        );
    }

    #[test]
    fn functions_assign_through_others() {
        let text = "def f(p):\n    g(p)\ndef g(p):\n    p.x = 1\n    h = lambda: k(p)\ndef k(p):\n    p.y = 1\n    f(p)\ndef unused(p):\n    p.z = 1\n";
        check(&format!("{text}f(a)\n"), expect!["x y"]);
        check(&format!("{text}a.k()\n"), expect!["x y"]);
        check(&format!("{text}a.other()\n"), expect![""]);
    }

    #[test]
    fn functions_that_stand_in_others_are_among_them() {
        check(
            "def f(p):\n    if p:\n        def g():\n            p.x = 1\n        return g\ng()\n",
            expect!["x"],
        );
    }

    #[test]
    fn a_new_object_is_no_other() {
        let class = "class C:\n    def __init__(self, p):\n        self.a = 1\n        p.b = 1\n    def m(self):\n        self.c = 1\n";
        check(&format!("{class}C(p)\n"), expect!["b"]);
        check(&format!("{class}C(p).m()\n"), expect!["b c"]);
    }
}
