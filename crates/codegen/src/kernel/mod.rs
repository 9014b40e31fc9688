// SPDX-License-Identifier: Apache-2.0
//! From kernels to LLVM's IR for NVIDIA's GPUs: what each operation of [`kernpack_kernel_ir`] is
//! there.
//!
//! ```text
//! Kernel ──verified, expanded──▶ Lowering ──▶ module ──llvm::ptx──▶ PTX
//!            Ranges ───────────────▲
//! ```
//!
//! What operations give is said by `kernpack_kernel_ir::eval`, and code gives it to the last bit;
//! the tests hold both against each other. Vectors are loaded, stored and kept whole, and computed
//! with lane by lane.
//!
//! An integer of 64 bits that [`Ranges`] prove to lie between the bounds of `int32` is *narrow*: it
//! is kept in 32 bits, and what is computed from it alone is computed there. It means the same.
//!
//! A verified kernel for an architecture that has what it needs never fails here: what an
//! architecture has not, LLVM answers by ending the process, so that nothing of it may get there.
//! Not here: which passes run, PTX, machine code.

mod address;
mod arithmetic;
mod atomic;
mod call;
mod control;
mod convert;
mod division;
mod float;
mod geometry;
mod inline;
mod lines;
mod memory;
mod needs;
mod number;
mod param;
mod print;
mod registers;
mod warp;

use crate::llvm::{self, Block, Context, Emitter, Function, PtxError, PtxOptions, V};
use address::Shifted;
use control::Loop;
use kernpack_kernel_ir::kernel::{Kernel, Local, Value};
use kernpack_kernel_ir::op::{Expr, Jump, Op, OpKind, Region};
use kernpack_kernel_ir::ranges::Ranges;
use kernpack_machine::Arch;
use kernpack_process::parallel;
use lines::KernelLines;
use registers::Registers;
use rustc_hash::FxHashMap;

/// The last line of the head of PTX.
const END_OF_HEAD: &str = "\n.address_size 64\n";

/// What kernels became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// PTX, with all of them.
    pub text: String,
    /// Of each kernel, the register tensors that are still in memory when LLVM is done: the
    /// assembler may yet make values of them.
    pub kept: Vec<Vec<Local>>,
}

/// Writes kernels as PTX for an architecture, several at once. Their names differ; each is verified
/// and expanded, and the architecture has what it needs.
///
/// Each kernel is a module of LLVM's by itself, so that the text is the same however many threads
/// there are. With lines, all are one module: the tables of lines are of the whole text.
///
/// # Errors
/// Where LLVM writes no PTX for the architecture.
pub fn ptx(kernels: &[&Kernel], arch: Arch, with_lines: bool) -> Result<Lowered, PtxError> {
    let options = PtxOptions { version: Some(needs::needed_ptx(kernels)) };
    let modules: Vec<_> = match with_lines {
        true => vec![kernels],
        false => kernels.chunks(1).collect(),
    };
    let written = parallel::map(&modules, |kernels| {
        let context = Context::create();
        let emitter = module(&context, kernels, arch, with_lines);
        llvm::ptx(&emitter, arch, &options)
    });
    let written = written.into_iter().collect::<Result<Vec<_>, _>>()?;
    let kept = kernels.iter().map(|kernel| {
        let of_kernel =
            written.iter().flat_map(|ptx| &ptx.arrays).find(|(name, _)| *name == kernel.name);
        of_kernel.map_or_else(Vec::new, |(_, names)| memory::locals_named(kernel, names))
    });
    let kept = kept.collect();
    Ok(Lowered { text: joined(written.into_iter().map(|ptx| ptx.text)), kept })
}

/// Modules of the same version and architecture as one: the head of the first stands for all.
fn joined(modules: impl Iterator<Item = String>) -> String {
    let join = |text: String, next: String| match next.split_once(END_OF_HEAD) {
        Some((_, rest)) => text + rest,
        None => text + &next,
    };
    modules.reduce(join).unwrap_or_default()
}

/// The same in LLVM's text, before any pass.
pub fn llvm_text(kernels: &[&Kernel], arch: Arch, with_lines: bool) -> String {
    let context = Context::create();
    module(&context, kernels, arch, with_lines).text()
}

fn module<'c>(
    context: &'c Context,
    kernels: &[&Kernel],
    arch: Arch,
    with_lines: bool,
) -> Emitter<'c> {
    let emitter = Emitter::new(context, "kernels");
    let lines = with_lines.then(|| KernelLines::new(&emitter, kernels));
    for (number, kernel) in kernels.iter().enumerate() {
        let lines = lines.as_ref().map(|lines| lines.of(number));
        lower_kernel(&emitter, kernel, arch, lines);
    }
    emitter
}

fn lower_kernel<'c>(
    emitter: &Emitter<'c>,
    kernel: &Kernel,
    arch: Arch,
    lines: Option<lines::OfKernel<'c, '_>>,
) {
    let function = param::define(emitter, kernel);
    let mut lowering = Lowering {
        emitter,
        kernel,
        ranges: Ranges::of(kernel),
        arch,
        function,
        values: vec![None; kernel.values.len()],
        lanes: FxHashMap::default(),
        shifted: FxHashMap::default(),
        registers: Registers::of(kernel),
        slots: vec![],
        locals: vec![],
        shared: vec![],
        loops: vec![],
        lines,
    };
    if let Some(lines) = &lowering.lines {
        lines.begin(emitter, function);
    }
    lowering.make_memory();
    lowering.read_params();
    lowering.make_shared();
    lowering.region(&kernel.body);
    emitter.ret_void();
}

/// A kernel being lowered.
struct Lowering<'c, 'k> {
    emitter: &'k Emitter<'c>,
    kernel: &'k Kernel,
    ranges: Ranges,
    arch: Arch,
    function: Function<'c>,
    /// The values that there are so far, narrow ones in 32 bits.
    values: Vec<Option<V<'c>>>,
    /// The lanes of vectors that were made of them.
    lanes: FxHashMap<Value, Vec<V<'c>>>,
    /// Integers and addresses in which something is constant.
    shifted: FxHashMap<Value, Shifted<'c>>,
    /// Which register tensors are variables.
    registers: Registers,
    /// The addresses of slots.
    slots: Vec<V<'c>>,
    /// The addresses of register tensors: of each element, where they are variables.
    locals: Vec<Vec<V<'c>>>,
    /// The addresses of the block's arrays.
    shared: Vec<V<'c>>,
    /// The loops around, the innermost last.
    loops: Vec<Loop<'c>>,
    lines: Option<lines::OfKernel<'c, 'k>>,
}

impl<'c> Lowering<'c, '_> {
    fn region(&mut self, region: &Region) {
        for op in &region.0 {
            if let Some(lines) = &self.lines {
                lines.at(self.emitter, self.kernel, op.place);
            }
            self.op(op);
        }
    }

    fn op(&mut self, op: &Op) {
        match &op.kind {
            OpKind::InBounds { .. } => {}
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
            OpKind::Call(call) => self.lower_call(op.result, call),
            OpKind::Print(text, values) => self.lower_print(text, values),
            OpKind::Ptx(ptx) => self.lower_ptx(op.result, ptx),
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

    fn block(&self, name: &str) -> Block<'c> {
        self.emitter.block(self.function, name)
    }
}

#[cfg(test)]
mod tests;
