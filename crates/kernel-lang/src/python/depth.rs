// SPDX-License-Identifier: Apache-2.0
//! How deep a tree is, found out without going deeper than is safe.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Mod, Pattern, Stmt};
use ruff_text_size::{Ranged, TextRange};

/// The most levels of a tree: statements, expressions and patterns.
pub const MOST: usize = 200;

/// The first place that is nested too deeply.
pub fn too_deep(tree: &Mod) -> Option<TextRange> {
    let mut depth = Depth { level: 0, found: None };
    match tree {
        Mod::Module(module) => depth.visit_body(&module.body),
        Mod::Expression(expression) => depth.visit_expr(&expression.body),
    }
    depth.found
}

struct Depth {
    level: usize,
    found: Option<TextRange>,
}

impl Depth {
    fn within(&mut self, range: TextRange, walk: impl FnOnce(&mut Depth)) {
        if self.level == MOST {
            self.found.get_or_insert(range);
            return;
        }
        self.level += 1;
        walk(self);
        self.level -= 1;
    }
}

impl<'a> Visitor<'a> for Depth {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.within(stmt.range(), |depth| visitor::walk_stmt(depth, stmt));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.within(expr.range(), |depth| visitor::walk_expr(depth, expr));
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        self.within(pattern.range(), |depth| visitor::walk_pattern(depth, pattern));
    }
}
