// SPDX-License-Identifier: Apache-2.0
//! How narrow the accesses of a kernel are, which is known before it runs: who has touched memory
//! is known of cells of that size. A vector is as narrow as its elements.
//!
//! Which memory an access is of is followed along offsets. Of a pointer that comes of something
//! else it may be any.

use crate::group_product::{GroupProduct, TOGETHER};
use crate::intrinsic::{BULK_ALIGN, MATRIX_ROW_BYTES, MBARRIER_BYTES, MatrixOp, Meaning};
use crate::kernel::{Kernel, ParamKind, Value};
use crate::op::{Call, Expr, InFlight, OpKind, Operand, Region};
use crate::types::Scalar;
use std::collections::HashMap;

/// The bytes of the narrowest access of a kernel to what each pointer leads to.
pub(super) struct Narrowest<'k> {
    kernel: &'k Kernel,
    /// Where pointers come from.
    roots: HashMap<Value, Root>,
    to: HashMap<Root, u32>,
    /// To memory that is not known.
    anywhere: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Root {
    Param(usize),
    Shared(u32),
    Local,
}

impl<'k> Narrowest<'k> {
    pub fn of(kernel: &'k Kernel) -> Narrowest<'k> {
        let params = (0..kernel.params.len()).map(|at| (Value(at as u32), Root::Param(at)));
        let (roots, to) = (params.collect(), HashMap::new());
        let mut narrowest = Narrowest { kernel, roots, to, anywhere: u32::MAX };
        narrowest.add_region(&kernel.body);
        narrowest
    }

    /// The bytes of a cell of what a parameter leads to, where elements have so many.
    pub fn of_param(&self, param: usize, element: Scalar) -> u32 {
        self.cell(Root::Param(param), element)
    }

    /// The bytes of a cell of an array of the block.
    pub fn of_shared(&self, shared: usize, element: Scalar) -> u32 {
        self.cell(Root::Shared(shared as u32), element)
    }

    fn cell(&self, root: Root, element: Scalar) -> u32 {
        let narrowest = self.to.get(&root).copied().unwrap_or(u32::MAX);
        narrowest.min(self.anywhere).min(element.bytes())
    }

    fn add_region(&mut self, region: &Region) {
        for op in &region.0 {
            match &op.kind {
                OpKind::Expr(expr) => self.add_expr(op.result, expr),
                OpKind::Store(store) => self.add(store.pointer, store.value),
                OpKind::Call(call) => self.add_call(op.result, call),
                _ => {}
            }
            op.kind.regions().for_each(|region| self.add_region(region));
        }
    }

    fn add_expr(&mut self, result: Option<Value>, expr: &Expr) {
        let Some(result) = result else { return };
        let root = match expr {
            Expr::Offset(pointer, _) => self.roots.get(pointer).copied(),
            Expr::Shared(shared) => Some(Root::Shared(shared.0)),
            Expr::Local(_) => Some(Root::Local),
            Expr::Load(load) => return self.add(load.pointer, result),
            _ => None,
        };
        self.roots.extend(root.map(|root| (result, root)));
    }

    fn add_call(&mut self, result: Option<Value>, call: &Call) {
        match call.intrinsic.meaning {
            Meaning::Atomic(_) => self.add_atomic(result, call),
            Meaning::Bulk(_) => self.add_first(2, call, BULK_ALIGN),
            Meaning::Matrix(MatrixOp::Load | MatrixOp::Store) => {
                self.add_first(1, call, MATRIX_ROW_BYTES);
            }
            Meaning::Product(_) => {
                for matrix in GroupProduct::of(call).iter().flat_map(GroupProduct::matrices) {
                    self.add_bytes(matrix.pointer, TOGETHER);
                }
            }
            Meaning::Mbarrier(_) => self.add_first(1, call, MBARRIER_BYTES),
            _ => {
                if let Some(InFlight::Begin { to, from, bytes, .. }) = call.in_flight() {
                    self.add_bytes(to, bytes);
                    self.add_bytes(from, bytes);
                }
            }
        }
    }

    /// Accesses by the first so many operands of a call, which are pointers.
    fn add_first(&mut self, n_pointers: usize, call: &Call, bytes: u32) {
        for operand in call.operands.iter().take(n_pointers) {
            if let Operand::Value(pointer) = operand {
                self.add_bytes(*pointer, bytes);
            }
        }
    }

    fn add_atomic(&mut self, result: Option<Value>, call: &Call) {
        let mut operands = call.values();
        if let Some(pointer) = operands.next() {
            operands.chain(result).for_each(|value| self.add(pointer, value));
        }
    }

    /// An access that moves a value.
    fn add(&mut self, pointer: Value, value: Value) {
        if let Some(scalar) = self.kernel.ty(value).scalar() {
            self.add_bytes(pointer, scalar.bytes());
        }
    }

    fn add_bytes(&mut self, pointer: Value, bytes: u32) {
        let narrowest = match self.roots.get(&pointer) {
            Some(root) => self.to.entry(*root).or_insert(u32::MAX),
            None => &mut self.anywhere,
        };
        *narrowest = bytes.min(*narrowest);
    }
}

/// The bytes of the smallest cells that a kernel needs of what is passed to parameters of that
/// element type: parts of elements, where it touches those.
pub fn cell_bytes(kernel: &Kernel, element: Scalar) -> u32 {
    let narrowest = Narrowest::of(kernel);
    let params = kernel.params.iter().enumerate();
    let params = params.filter(|(_, param)| match &param.kind {
        ParamKind::Pointer(pointer) => pointer.element == element,
        ParamKind::Map(map) => map.element == element,
        ParamKind::Scalar(..) => false,
    });
    let cells = params.map(|(at, _)| narrowest.of_param(at, element));
    cells.min().unwrap_or(element.bytes())
}
