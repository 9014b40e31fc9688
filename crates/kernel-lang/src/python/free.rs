// SPDX-License-Identifier: Apache-2.0
//! Names that the functions of a text use and do not bind: what a program has to say of them, for
//! the text to be read without it.
//!
//! A name comes with the attributes behind it, `config.tile.width`, of which the program knows how
//! many lead through its own objects. Names of Python are among them too. Annotations are not: what
//! they say, the program has read.

use super::tree::{Block, Class, Comprehension, Expr, ExprKind, Function, Name, StmtKind};
use super::walk;

/// A name that is not bound, and the attributes behind it.
pub type Path = Vec<Name>;

/// The paths that statements of a file use in their functions. Each stands there once, in the order
/// of the text. Of methods, the first parameter of a function of the file is among them: the
/// program has its value, as it has the values of the defaults of such a function's parameters, of
/// those of a class's methods, and of its constants.
pub fn paths(block: &Block, is_method: bool) -> Vec<Path> {
    let bound = walk::assigned(block);
    let mut free = Free { bound, is_method, is_within: false, found: Vec::new() };
    free.block(block);
    free.found
}

/// The names that are bound where we are, and the paths of others.
struct Free {
    bound: Vec<Name>,
    /// Whether the first parameter of the next function is a name like others.
    is_method: bool,
    /// Whether we are in a function.
    is_within: bool,
    found: Vec<Path>,
}

impl Free {
    fn block(&mut self, block: &Block) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Function(function) => self.function(function),
                StmtKind::Class(class) => self.class(class),
                _ => {}
            }
            stmt.kind.exprs(&mut |expr| self.expr(expr));
            stmt.kind.blocks(&mut |block| self.block(block));
        }
    }

    fn function(&mut self, function: &Function) {
        let is_within = std::mem::replace(&mut self.is_within, true);
        if is_within {
            let defaults = function.params.iter().filter_map(|param| param.default.as_ref());
            defaults.for_each(|default| self.expr(default));
        }
        let mut own = walk::assigned(&function.body);
        let n_given = usize::from(std::mem::take(&mut self.is_method));
        own.extend(function.params.iter().skip(n_given).map(|param| param.name.name.clone()));
        self.within(own, |free| free.block(&function.body));
        self.is_within = is_within;
    }

    /// Constants are among what the program has, as defaults are.
    fn class(&mut self, class: &Class) {
        class.methods.iter().for_each(|method| self.function(&method.function));
    }

    fn within(&mut self, names: Vec<Name>, run: impl FnOnce(&mut Free)) {
        let n_bound = self.bound.len();
        self.bound.extend(names);
        run(self);
        self.bound.truncate(n_bound);
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => self.add(name, &[]),
            ExprKind::Attribute(..) => self.attribute(expr),
            ExprKind::Lambda(function) => self.function(function),
            ExprKind::Comprehension(made) => self.comprehension(made),
            _ => walk::expr_parts(expr, &mut |part| self.expr(part)),
        }
    }

    fn attribute(&mut self, expr: &Expr) {
        let (mut of, mut members) = (expr, Vec::new());
        while let ExprKind::Attribute(inner, member) = &of.kind {
            members.push(member.name.clone());
            of = inner;
        }
        members.reverse();
        match &of.kind {
            ExprKind::Name(name) => self.add(name, &members),
            _ => self.expr(of),
        }
    }

    fn comprehension(&mut self, made: &Comprehension) {
        let mut own = Vec::new();
        made.loops.iter().for_each(|one| walk::target_names(&one.target, &mut own));
        // What the first loop runs over is looked for where the comprehension stands.
        let (first, others) = made.loops.split_at(made.loops.len().min(1));
        first.iter().for_each(|one| self.expr(&one.iter));
        self.within(own, |free| {
            others.iter().for_each(|one| free.expr(&one.iter));
            made.loops.iter().flat_map(|one| &one.conditions).for_each(|one| free.expr(one));
            free.expr(&made.element);
        });
    }

    fn add(&mut self, name: &Name, members: &[Name]) {
        if self.bound.contains(name) {
            return;
        }
        let path: Path = [name].into_iter().chain(members).cloned().collect();
        if !self.found.contains(&path) {
            self.found.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::python::parse;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: Expect) {
        check_of(text, false, expected);
    }

    fn check_of(text: &str, is_method: bool, expected: Expect) {
        let block = parse(text.into()).expect("it is Python");
        let paths = paths(&block, is_method).iter().map(|path| path.join(".")).collect::<Vec<_>>();
        expected.assert_eq(&paths.join(" "));
    }

    #[test]
    fn a_function_uses_what_it_does_not_bind() {
        check(
            "def f(x, y=DEFAULT):\n    n = x.shape[0] * config.tile.width\n    x[OFFSET] = kp.exp(n)\n",
            expect!["config.tile.width OFFSET kp.exp"],
        );
    }

    #[test]
    fn functions_within_see_the_names_around() {
        check(
            "def f(x):\n    by = 2\n    def g(y, u=U):\n        return y * by + z\n    return map(lambda w, t=T: w + x + v, g)\n",
            expect!["U z map T v"],
        );
    }

    #[test]
    fn comprehensions_and_loops_bind_their_names() {
        check(
            "def f(x):\n    a = [i + j for i in sizes for j in range(i) if i < LIMIT]\n    for k in x:\n        a += k\n    return i\n",
            expect!["sizes range LIMIT i"],
        );
    }

    #[test]
    fn what_is_called_is_looked_into() {
        check(
            "def f(x):\n    g(x).launch(grid=blocks(x), block=cfg[0].n)\n",
            expect!["g blocks cfg"],
        );
    }

    #[test]
    fn a_class_uses_what_its_methods_do() {
        check(
            "class Ring:\n    SIZE = WIDTH\n    def __init__(self, n=DEPTH):\n        self.n = n + more\n    @staticmethod\n    def of(x):\n        return Ring(x)\n",
            expect!["more"],
        );
    }

    #[test]
    fn the_object_of_a_method_is_the_programs() {
        check_of(
            "if True:\n    def f(self, x):\n        return lambda y: x * self.tile + y\n",
            true,
            expect!["self.tile"],
        );
    }
}
