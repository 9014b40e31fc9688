// SPDX-License-Identifier: Apache-2.0
//! Lowering that every target does alike: from each operation of [`kernpack_kernel_ir`] to LLVM's
//! IR. What differs is asked of the [`Target`].
//!
//! Vectors are loaded, stored and kept whole, and computed with lane by lane.
//!
//! An integer of 64 bits that [`Ranges`] prove to lie between the bounds of `int32` is *narrow*: it
//! is kept in 32 bits, and what is computed from it alone is computed there. It means the same.
//!
//! Not here: names of a target's instructions, registers and address spaces.

mod address;
mod arithmetic;
mod call;
mod control;
mod convert;
mod division;
mod float;
mod lines;
mod memory;
mod number;
mod products;
mod registers;
mod target;

use crate::llvm::{Block, Context, Emitter, Function, V};
use address::Shifted;
use control::Loop;
use kernpack_kernel_ir::intrinsic::{MbarrierOp, Meaning};
use kernpack_kernel_ir::kernel::{Kernel, Value};
use kernpack_kernel_ir::op::{Expr, Jump, Op, OpKind, Region};
use kernpack_kernel_ir::ranges::Ranges;
use kernpack_kernel_ir::widen;
use lines::KernelLines;
use products::Products;
use registers::Registers;
use rustc_hash::FxHashMap;

pub(super) use call::{values, words};
pub(super) use memory::locals_named;
pub(super) use number::{bits_ty, scalar_ty};
pub(super) use target::Target;

/// The module of these kernels. Their names differ; each is verified and expanded, and the target
/// has what it needs.
pub(super) fn module<'c, T: Target>(
    context: &'c Context,
    kernels: &[&Kernel],
    target: &T,
    with_lines: bool,
) -> Emitter<'c> {
    let emitter = Emitter::new(context, "kernels");
    let lines = with_lines.then(|| KernelLines::new(&emitter, kernels));
    for (number, kernel) in kernels.iter().enumerate() {
        let lines = lines.as_ref().map(|lines| lines.of(number));
        lower_kernel(&emitter, kernel, target, lines);
    }
    emitter
}

fn lower_kernel<'c, T: Target>(
    emitter: &Emitter<'c>,
    kernel: &Kernel,
    target: &T,
    lines: Option<lines::OfKernel<'c, '_>>,
) {
    let mut kernel = kernel.clone();
    let ranges = widen(&mut kernel);
    let kernel = &kernel;
    let function = T::define(emitter, kernel);
    let mut lowering = Lowering {
        emitter,
        kernel,
        ranges,
        target,
        function,
        values: vec![None; kernel.values.len()],
        lanes: FxHashMap::default(),
        taken: FxHashMap::default(),
        shifted: FxHashMap::default(),
        registers: Registers::of(kernel),
        products: Products::of(kernel),
        slots: vec![],
        locals: vec![],
        shared: vec![],
        checked: vec![],
        makes_more: false,
        loops: vec![],
        lines,
    };
    if let Some(lines) = &lowering.lines {
        lines.begin(emitter, function);
    }
    lowering.make_memory();
    T::read_params(&mut lowering);
    lowering.make_shared();
    lowering.region(&kernel.body);
    emitter.ret_void();
}

/// A kernel being lowered for a target.
pub(super) struct Lowering<'c, 'k, T> {
    /// The emitter.
    pub(super) emitter: &'k Emitter<'c>,
    /// The kernel.
    pub(super) kernel: &'k Kernel,
    /// The target that code is made for.
    pub(super) target: &'k T,
    /// The kernel's function.
    pub(super) function: Function<'c>,
    ranges: Ranges,
    /// The values that there are so far, narrow ones in 32 bits.
    values: Vec<Option<V<'c>>>,
    /// The lanes of vectors that were made of them.
    lanes: FxHashMap<Value, Vec<V<'c>>>,
    /// Numbers that were taken of vectors which were not made of lanes, with their places there.
    taken: FxHashMap<Value, (Value, u8)>,
    /// Integers and addresses in which something is constant.
    shifted: FxHashMap<Value, Shifted<'c>>,
    /// Which register tensors are variables.
    registers: Registers,
    /// The register tensors that fences and waits of products hand on.
    pub(super) products: Products,
    /// The addresses of slots.
    slots: Vec<V<'c>>,
    /// The addresses of register tensors: of each element, where they are variables.
    locals: Vec<Vec<V<'c>>>,
    /// The addresses of the block's arrays.
    shared: Vec<V<'c>>,
    /// Indices and extents that a thread has checked on every way to here: of two failures that
    /// are one, the first is told.
    checked: Vec<[Value; 2]>,
    /// Whether an mbarrier is made, and another one right behind it.
    pub(super) makes_more: bool,
    /// The loops around, the innermost last.
    loops: Vec<Loop<'c>>,
    lines: Option<lines::OfKernel<'c, 'k>>,
}

impl<'c, T: Target> Lowering<'c, '_, T> {
    fn region(&mut self, region: &Region) {
        let n_checked = self.checked.len();
        for (number, op) in region.0.iter().enumerate() {
            self.makes_more = makes_mbarrier(op) && next_makes_mbarrier(&region.0[number + 1..]);
            if let Some(lines) = &self.lines {
                lines.at(self.emitter, self.kernel, op.place);
            }
            self.op(op);
        }
        self.checked.truncate(n_checked);
    }

    fn op(&mut self, op: &Op) {
        match &op.kind {
            OpKind::InBounds { check: None, .. } => {}
            OpKind::InBounds { index, extent, check: Some(check) } => {
                let index_and_extent = [*index, *extent];
                if !self.checked.contains(&index_and_extent) {
                    T::lower_check(self, index_and_extent, check, op.place);
                    self.checked.push(index_and_extent);
                }
            }
            OpKind::Store(store) => self.lower_store(store),
            OpKind::Set(slot, value) => self.lower_set(*slot, *value),
            OpKind::If { condition, then, otherwise } => {
                self.lower_if(*condition, then, otherwise);
            }
            OpKind::For { index, first, end, step, body } => {
                self.lower_for(*index, [*first, *end, *step], body);
            }
            OpKind::While { before, condition, body } => {
                self.lower_while(before, *condition, body);
            }
            OpKind::Jump(jump) => self.lower_jump(*jump),
            OpKind::Call(call) => T::lower_call(self, op.result, call),
            OpKind::Print(text, values) => T::lower_print(self, text, values),
            OpKind::Assert(assert) => T::lower_assert(self, assert, op.place),
            OpKind::Asm(asm) => T::lower_asm(self, asm),
            OpKind::Expr(expr) => {
                if let Some(result) = op.result {
                    self.lower_expr(result, expr);
                }
            }
        }
    }

    fn lower_jump(&mut self, jump: Jump) {
        match jump {
            Jump::Break => self.leave(|innermost| innermost.exit),
            Jump::Continue => self.leave(|innermost| innermost.next),
            Jump::Return => {
                self.emitter.ret_void();
                self.go_on_unreached();
            }
        }
    }

    fn lower_expr(&mut self, result: Value, expr: &Expr) {
        match expr {
            Expr::Const(constant) => self.lower_const(result, *constant),
            Expr::Unary(op, value) => self.lower_unary(result, *op, *value),
            Expr::Binary(op, left, right) => self.lower_binary(result, *op, *left, *right),
            Expr::Compare(op, left, right) => self.lower_compare(result, *op, *left, *right),
            Expr::Select(condition, then, otherwise) => {
                self.lower_select(result, *condition, [*then, *otherwise]);
            }
            Expr::Convert(value, rounding) => self.lower_convert(result, *value, *rounding),
            Expr::Bitcast(value) => self.lower_bitcast(result, *value),
            Expr::Vector(lanes) => self.lower_vector(result, lanes),
            Expr::Splat(value) => self.lower_splat(result, *value),
            Expr::Extract(vector, lane) => self.lower_extract(result, *vector, *lane),
            Expr::Insert(vector, lane, value) => self.lower_insert(result, *vector, *lane, *value),
            Expr::Shared(shared) => self.set_value(result, self.shared[shared.index()]),
            Expr::Local(local) => self.set_value(result, self.locals[local.index()][0]),
            Expr::Offset(pointer, bytes) => self.lower_offset(result, *pointer, *bytes),
            Expr::Load(load) => self.lower_load(result, load),
            Expr::Get(slot) => self.lower_get(result, *slot),
        }
    }

    /// A block of the kernel's function.
    pub(super) fn block(&self, name: &str) -> Block<'c> {
        self.emitter.block(self.function, name)
    }
}

/// Whether an operation makes an mbarrier.
fn makes_mbarrier(op: &Op) -> bool {
    let OpKind::Call(call) = &op.kind else { return false };
    matches!(call.intrinsic.meaning, Meaning::Mbarrier(MbarrierOp::Init))
}

/// Whether the next deed behind one makes an mbarrier.
fn next_makes_mbarrier(behind: &[Op]) -> bool {
    let is_deed =
        |op: &&Op| !matches!(op.kind, OpKind::Expr(_) | OpKind::InBounds { check: None, .. });
    behind.iter().find(is_deed).is_some_and(makes_mbarrier)
}
