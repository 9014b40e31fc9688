// SPDX-License-Identifier: Apache-2.0
//! Ruff's tree as ours. Each kind of its nodes is matched by name, so that none that a newer parser
//! has goes by unseen.

use super::statement::DECLARATION;
use super::tree::{
    BinaryOp, Block, Call, Class, CompareOp, Comprehension, ComprehensionLoop, Expr, ExprKind,
    Foreign, Formatted, Function, Ident, Import, LogicOp, Name, Param, Stmt, StmtKind, Text,
    UnaryOp,
};
use super::walk;
use crate::integer::Integer;
use kernpack_syntax::{Snippet, Span};
use ruff_python_ast as ast;
use ruff_text_size::{Ranged, TextRange};
use std::sync::Arc;

/// The statements of a file. Its tree is not too deep.
pub fn module(tree: &ast::Mod, source: Snippet<'_>) -> Block {
    let cx = Convert { source };
    match tree {
        ast::Mod::Module(module) => cx.block(&module.body),
        ast::Mod::Expression(expression) => {
            let value = cx.expr(&expression.body);
            vec![Stmt { span: value.span, kind: StmtKind::Expr(value) }]
        }
    }
}

struct Convert<'t> {
    source: Snippet<'t>,
}

const fn foreign(what: &'static str, instead: &'static str) -> Foreign {
    Foreign { what, instead }
}

fn foreign_stmt(what: &'static str, instead: &'static str) -> StmtKind {
    StmtKind::Foreign(foreign(what, instead))
}

fn foreign_expr(what: &'static str, instead: &'static str) -> ExprKind {
    ExprKind::Foreign(foreign(what, instead))
}

impl Convert<'_> {
    fn span(&self, range: TextRange) -> Span {
        self.source.place(range.start().into(), range.end().into())
    }

    fn ident(&self, ident: &ast::Identifier) -> Ident {
        Ident { name: Name::from(ident.id.as_str()), span: self.span(ident.range) }
    }

    fn block(&self, body: &[ast::Stmt]) -> Block {
        body.iter().map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&self, stmt: &ast::Stmt) -> Stmt {
        Stmt { kind: self.stmt_kind(stmt), span: self.span(stmt.range()) }
    }

    fn stmt_kind(&self, stmt: &ast::Stmt) -> StmtKind {
        match stmt {
            ast::Stmt::Expr(node) => StmtKind::Expr(self.expr(&node.value)),
            ast::Stmt::Assign(node) => {
                StmtKind::Assign(self.exprs(&node.targets), self.expr(&node.value))
            }
            ast::Stmt::AugAssign(node) => {
                let (target, value) = (self.expr(&node.target), self.expr(&node.value));
                StmtKind::Augment(target, binary_op(node.op), value)
            }
            ast::Stmt::If(node) => self.branches(node),
            ast::Stmt::For(node) => self.for_loop(node),
            ast::Stmt::While(node) if node.orelse.is_empty() => {
                StmtKind::While(self.expr(&node.test), self.block(&node.body))
            }
            ast::Stmt::While(_) => LOOP_ELSE,
            ast::Stmt::Break(_) => StmtKind::Break,
            ast::Stmt::Continue(_) => StmtKind::Continue,
            ast::Stmt::Return(node) => {
                StmtKind::Return(node.value.as_ref().map(|value| self.expr(value)))
            }
            ast::Stmt::Pass(_) => StmtKind::Pass,
            ast::Stmt::Assert(node) => {
                let message = node.msg.as_ref().map(|message| self.expr(message));
                StmtKind::Assert(self.expr(&node.test), message)
            }
            ast::Stmt::FunctionDef(node) => self.function(node),
            ast::Stmt::Import(node) => self.import(node),
            ast::Stmt::ImportFrom(node) => self.import_from(node),
            ast::Stmt::ClassDef(node) => StmtKind::Class(Arc::new(self.class(node))),
            ast::Stmt::Delete(_) => {
                foreign_stmt("`del`", "leave it out: names end with a function")
            }
            ast::Stmt::TypeAlias(_) => foreign_stmt("`type`", "assign the dtype to a name"),
            ast::Stmt::AnnAssign(node) => match (&*node.target, &node.value) {
                (ast::Expr::Name(name), None) => {
                    let name =
                        Ident { name: Name::from(name.id.as_str()), span: self.span(name.range) };
                    StmtKind::Declare(name, self.expr(&node.annotation))
                }
                _ => StmtKind::Foreign(DECLARATION),
            },
            ast::Stmt::With(_) => foreign_stmt("`with`", "write the statements without it"),
            ast::Stmt::Match(_) => foreign_stmt("`match`", "write `if`, `elif` and `else`"),
            ast::Stmt::Raise(_) => foreign_stmt("`raise`", "check arguments in the signature"),
            ast::Stmt::Try(_) => foreign_stmt("`try`", "test the condition with `if`"),
            ast::Stmt::Global(_) => {
                foreign_stmt("`global`", "pass the value, and return what it becomes")
            }
            ast::Stmt::Nonlocal(_) => {
                foreign_stmt("`nonlocal`", "pass the value, and return what it becomes")
            }
            ast::Stmt::IpyEscapeCommand(_) => foreign_stmt("magic command", "remove it"),
        }
    }

    fn branches(&self, node: &ast::StmtIf) -> StmtKind {
        let mut branches = vec![(self.expr(&node.test), self.block(&node.body))];
        let mut otherwise = Vec::new();
        for clause in &node.elif_else_clauses {
            match &clause.test {
                Some(test) => branches.push((self.expr(test), self.block(&clause.body))),
                None => otherwise = self.block(&clause.body),
            }
        }
        StmtKind::If(branches, otherwise)
    }

    fn for_loop(&self, node: &ast::StmtFor) -> StmtKind {
        if node.is_async {
            return ASYNC;
        }
        if !node.orelse.is_empty() {
            return LOOP_ELSE;
        }
        StmtKind::For(self.expr(&node.target), self.expr(&node.iter), self.block(&node.body))
    }

    fn import(&self, node: &ast::StmtImport) -> StmtKind {
        let names = node.names.iter().map(|alias| {
            let bound = alias.asname.as_ref().unwrap_or(&alias.name);
            let module = Name::from(alias.name.id.as_str());
            Import { level: 0, module, member: None, bound: self.ident(bound) }
        });
        StmtKind::Import(names.collect())
    }

    fn import_from(&self, node: &ast::StmtImportFrom) -> StmtKind {
        let module = node.module.as_ref().map_or("", |module| module.id.as_str());
        let names = node.names.iter().map(|alias| Import {
            level: node.level,
            module: Name::from(module),
            member: Some(Name::from(alias.name.id.as_str())),
            bound: self.ident(alias.asname.as_ref().unwrap_or(&alias.name)),
        });
        StmtKind::Import(names.collect())
    }

    fn function(&self, node: &ast::StmtFunctionDef) -> StmtKind {
        if node.is_async {
            return ASYNC;
        }
        let (params, foreign_params) = self.params(&node.parameters);
        let body = self.block(&node.body);
        let doc = body.first().and_then(|first| match &first.kind {
            StmtKind::Expr(Expr { kind: ExprKind::Text(text), .. }) => Some(text.value.clone()),
            _ => None,
        });
        let decorators = node.decorator_list.iter().map(|decorator| &decorator.expression);
        StmtKind::Function(Arc::new(Function {
            name: self.ident(&node.name),
            decorators: decorators.map(|expr| self.expr(expr)).collect(),
            params,
            foreign_params,
            body,
            doc,
            span: self.span(node.range),
        }))
    }

    fn class(&self, node: &ast::StmtClassDef) -> Class {
        let bases = node.arguments.as_ref().filter(|one| !one.is_empty());
        let bases = bases.map(|one| self.span(one.range));
        let decorators = node.decorator_list.iter().map(|decorator| &decorator.expression);
        let decorators: Vec<_> = decorators.map(|expr| self.expr(expr)).collect();
        let place = (self.ident(&node.name), self.span(node.range));
        Class::new(place, (bases, &decorators), self.block(&node.body))
    }

    fn params(&self, params: &ast::Parameters) -> (Vec<Param>, Vec<(Foreign, Span)>) {
        let param = |param: &ast::ParameterWithDefault, is_keyword: bool| Param {
            name: self.ident(&param.parameter.name),
            annotation: param.parameter.annotation.as_ref().map(|expr| self.expr(expr)),
            default: param.default.as_ref().map(|expr| self.expr(expr)),
            is_keyword,
        };
        let positional = params.posonlyargs.iter().chain(&params.args);
        let positional = positional.map(|one| param(one, false));
        let all = positional.chain(params.kwonlyargs.iter().map(|one| param(one, true)));
        let instead = "name each parameter, or pass a tuple";
        let vararg = params.vararg.iter().map(|param| (foreign("`*args`", instead), param.range));
        let kwarg = params.kwarg.iter().map(|param| (foreign("`**kwargs`", instead), param.range));
        let foreign = vararg.chain(kwarg).map(|(foreign, range)| (foreign, self.span(range)));
        (all.collect(), foreign.collect())
    }

    fn exprs<'a>(&self, exprs: impl IntoIterator<Item = &'a ast::Expr>) -> Vec<Expr> {
        exprs.into_iter().map(|expr| self.expr(expr)).collect()
    }

    fn boxed(&self, expr: &ast::Expr) -> Box<Expr> {
        Box::new(self.expr(expr))
    }

    fn expr(&self, expr: &ast::Expr) -> Expr {
        Expr { kind: self.expr_kind(expr), span: self.span(expr.range()) }
    }

    fn expr_kind(&self, expr: &ast::Expr) -> ExprKind {
        match expr {
            ast::Expr::Name(node) => ExprKind::Name(Name::from(node.id.as_str())),
            ast::Expr::NumberLiteral(node) => number(&node.value),
            ast::Expr::BooleanLiteral(node) => ExprKind::Bool(node.value),
            ast::Expr::NoneLiteral(_) => ExprKind::None,
            ast::Expr::StringLiteral(node) => ExprKind::Text(self.text(node)),
            ast::Expr::Tuple(node) => ExprKind::Tuple(self.exprs(&node.elts)),
            ast::Expr::List(node) => ExprKind::List(self.exprs(&node.elts)),
            ast::Expr::Attribute(node) => {
                ExprKind::Attribute(self.boxed(&node.value), self.ident(&node.attr))
            }
            ast::Expr::Subscript(node) => {
                ExprKind::Subscript(self.boxed(&node.value), self.boxed(&node.slice))
            }
            ast::Expr::Call(node) => self.call(node),
            ast::Expr::UnaryOp(node) => {
                ExprKind::Unary(unary_op(node.op), self.boxed(&node.operand))
            }
            ast::Expr::BinOp(node) => {
                let operands = Box::new((self.expr(&node.left), self.expr(&node.right)));
                ExprKind::Binary(binary_op(node.op), operands)
            }
            ast::Expr::BoolOp(node) => {
                let op = match node.op {
                    ast::BoolOp::And => LogicOp::And,
                    ast::BoolOp::Or => LogicOp::Or,
                };
                ExprKind::Logic(op, self.exprs(&node.values))
            }
            ast::Expr::Compare(node) => {
                let ops = node.ops.iter().map(|op| compare_op(*op));
                let rest = ops.zip(self.exprs(&node.comparators)).collect();
                ExprKind::Compare(self.boxed(&node.left), rest)
            }
            ast::Expr::If(node) => ExprKind::Conditional(Box::new((
                self.expr(&node.test),
                self.expr(&node.body),
                self.expr(&node.orelse),
            ))),
            ast::Expr::Lambda(node) => ExprKind::Lambda(Arc::new(self.lambda(node))),
            ast::Expr::ListComp(node) => self.comprehension(&node.elt, &node.generators),
            ast::Expr::Generator(node) => self.comprehension(&node.elt, &node.generators),
            ast::Expr::Starred(node) => ExprKind::Starred(self.boxed(&node.value)),
            ast::Expr::Dict(node) => self.dict(node),
            ast::Expr::Slice(_) => foreign_expr(
                "slice with `:`",
                "write `None` for all of a mode, and `kp.local_tile` for a part",
            ),
            ast::Expr::Named(_) => foreign_expr("`:=`", "assign on a line of its own"),
            ast::Expr::Set(_) | ast::Expr::SetComp(_) => foreign_expr("set", "write a tuple"),
            ast::Expr::DictComp(_) => foreign_expr("dictionary", "write a tuple"),
            ast::Expr::Await(_) => foreign_expr("`await`", "call the function"),
            ast::Expr::Yield(_) | ast::Expr::YieldFrom(_) => {
                foreign_expr("`yield`", "return a tuple, or pass a function that is called")
            }
            ast::Expr::FString(node) => ExprKind::Formatted(self.formatted(node)),
            ast::Expr::TString(_) => ExprKind::Foreign(walk::FORMATTED),
            ast::Expr::BytesLiteral(_) => foreign_expr("bytes", "write a text"),
            ast::Expr::EllipsisLiteral(_) => foreign_expr("`...`", "write `None` for each mode"),
            ast::Expr::IpyEscapeCommand(_) => foreign_expr("magic command", "remove it"),
        }
    }

    fn formatted(&self, node: &ast::ExprFString) -> Formatted {
        let (mut pieces, mut fields) = (vec![String::new()], Vec::new());
        let last = |pieces: &mut Vec<String>, text: &str| {
            if let Some(last) = pieces.last_mut() {
                last.push_str(text);
            }
        };
        for part in node.value.iter() {
            match part {
                ast::FStringPart::Literal(literal) => last(&mut pieces, &literal.value),
                ast::FStringPart::FString(part) => part.elements.iter().for_each(|one| match one {
                    ast::InterpolatedStringElement::Literal(text) => last(&mut pieces, &text.value),
                    ast::InterpolatedStringElement::Interpolation(field) => {
                        pieces.push(String::new());
                        fields.push(self.field(field));
                    }
                }),
            }
        }
        Formatted { pieces, fields }
    }

    /// A field of an f-string: a value alone.
    fn field(&self, field: &ast::InterpolatedElement) -> Expr {
        let is_alone = field.debug_text.is_none()
            && field.conversion == ast::ConversionFlag::None
            && field.format_spec.is_none();
        match is_alone {
            true => self.expr(&field.expression),
            false => Expr { kind: ExprKind::Foreign(walk::FIELD), span: self.span(field.range) },
        }
    }

    fn text(&self, node: &ast::ExprStringLiteral) -> Text {
        let value = node.value.to_str();
        let written = match node.value.as_slice() {
            [one] => {
                let range = one.content_range();
                let (start, end) = (range.start().into(), range.end().into());
                let is_plain = self.source.text.get(start..end) == Some(value);
                is_plain.then_some(start)
            }
            _ => None,
        };
        let first = written.and_then(|start| Some(self.source.first? + start));
        Text { value: Arc::from(value), first }
    }

    fn call(&self, node: &ast::ExprCall) -> ExprKind {
        let unpacked = node.arguments.keywords.iter().find(|keyword| keyword.arg.is_none());
        if unpacked.is_some() {
            return foreign_expr("`**` in calls", "pass each argument by its name");
        }
        let keywords = node.arguments.keywords.iter().filter_map(|keyword| {
            Some((self.ident(keyword.arg.as_ref()?), self.expr(&keyword.value)))
        });
        ExprKind::Call(Box::new(Call {
            function: self.expr(&node.func),
            args: self.exprs(&node.arguments.args),
            keywords: keywords.collect(),
        }))
    }

    fn lambda(&self, node: &ast::ExprLambda) -> Function {
        let (params, foreign_params) = match &node.parameters {
            Some(params) => self.params(params),
            None => (Vec::new(), Vec::new()),
        };
        let value = self.expr(&node.body);
        let body_span = value.span;
        let span = self.span(node.range);
        Function {
            name: Ident { name: Name::from("lambda"), span },
            decorators: Vec::new(),
            params,
            foreign_params,
            body: vec![Stmt { kind: StmtKind::Return(Some(value)), span: body_span }],
            doc: None,
            span,
        }
    }

    fn comprehension(&self, element: &ast::Expr, loops: &[ast::Comprehension]) -> ExprKind {
        if loops.iter().any(|one| one.is_async) {
            return foreign_expr("`async`", "write the loop without it");
        }
        let loops = loops.iter().map(|one| ComprehensionLoop {
            target: self.expr(&one.target),
            iter: self.expr(&one.iter),
            conditions: self.exprs(&one.ifs),
        });
        ExprKind::Comprehension(Box::new(Comprehension {
            element: self.expr(element),
            loops: loops.collect(),
        }))
    }

    fn dict(&self, node: &ast::ExprDict) -> ExprKind {
        let items = node.items.iter().map(|item| {
            let key = self.expr(item.key.as_ref()?);
            matches!(key.kind, ExprKind::Text(_)).then(|| (key, self.expr(&item.value)))
        });
        match items.collect::<Option<Vec<_>>>() {
            Some(items) => ExprKind::Dict(items),
            None => foreign_expr("dictionary", "write a tuple"),
        }
    }
}

const ASYNC: StmtKind = StmtKind::Foreign(foreign("`async`", "write the statement without it"));
const LOOP_ELSE: StmtKind =
    StmtKind::Foreign(foreign("`else` of a loop", "set a bool in the loop, and test it behind"));

fn number(number: &ast::Number) -> ExprKind {
    match number {
        ast::Number::Int(int) => match integer(int) {
            Some(int) => ExprKind::Int(int),
            None => foreign_expr("integer of that size", "compute it of smaller ones"),
        },
        ast::Number::Float(float) => ExprKind::Float(*float),
        ast::Number::Complex { .. } => {
            foreign_expr("complex number", "keep both parts in names of their own")
        }
    }
}

/// An integer; nothing where it is too large.
fn integer(int: &ast::Int) -> Option<Integer> {
    match int.as_i64() {
        Some(small) => Some(Integer::from(small)),
        None => Integer::parse(&int.to_string()),
    }
}

fn unary_op(op: ast::UnaryOp) -> UnaryOp {
    match op {
        ast::UnaryOp::Invert => UnaryOp::Invert,
        ast::UnaryOp::Not => UnaryOp::Not,
        ast::UnaryOp::UAdd => UnaryOp::Pos,
        ast::UnaryOp::USub => UnaryOp::Neg,
    }
}

fn binary_op(op: ast::Operator) -> BinaryOp {
    match op {
        ast::Operator::Add => BinaryOp::Add,
        ast::Operator::Sub => BinaryOp::Sub,
        ast::Operator::Mult => BinaryOp::Mul,
        ast::Operator::MatMult => BinaryOp::MatMul,
        ast::Operator::Div => BinaryOp::Div,
        ast::Operator::Mod => BinaryOp::Mod,
        ast::Operator::Pow => BinaryOp::Pow,
        ast::Operator::LShift => BinaryOp::Shl,
        ast::Operator::RShift => BinaryOp::Shr,
        ast::Operator::BitOr => BinaryOp::Or,
        ast::Operator::BitXor => BinaryOp::Xor,
        ast::Operator::BitAnd => BinaryOp::And,
        ast::Operator::FloorDiv => BinaryOp::FloorDiv,
    }
}

fn compare_op(op: ast::CmpOp) -> CompareOp {
    match op {
        ast::CmpOp::Eq => CompareOp::Eq,
        ast::CmpOp::NotEq => CompareOp::Ne,
        ast::CmpOp::Lt => CompareOp::Lt,
        ast::CmpOp::LtE => CompareOp::Le,
        ast::CmpOp::Gt => CompareOp::Gt,
        ast::CmpOp::GtE => CompareOp::Ge,
        ast::CmpOp::Is => CompareOp::Is,
        ast::CmpOp::IsNot => CompareOp::IsNot,
        ast::CmpOp::In => CompareOp::In,
        ast::CmpOp::NotIn => CompareOp::NotIn,
    }
}
