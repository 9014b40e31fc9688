// SPDX-License-Identifier: Apache-2.0
//! Register tensors as variables, where every access says which elements it is of: nearly all that
//! are unrolled over. A variable is a vector where all accesses are of vectors of that length; as
//! many elements as are 32 bits, where some are of their bits, or calls take them; and else an
//! element. LLVM would find that out too, and takes long over it: of bits it makes shifts, which
//! keep numbers apart that one instruction converts together.
//!
//! Not here: those that are indexed by what a thread computes, which are arrays in `memory.rs`.

use kernpack_kernel_ir::kernel::{Kernel, Local, Value};
use kernpack_kernel_ir::op::{Expr, Load, OpKind, Operand, Region, Store};
use kernpack_kernel_ir::types::{Scalar, Type};
use std::collections::HashMap;

/// The bytes of a register.
const WORD_BYTES: u32 = 4;

/// Which register tensors are variables, and which element each address is that of.
pub(super) struct Registers {
    elements: HashMap<Value, (Local, u32)>,
    widths: Vec<Width>,
}

/// The width of accesses to a register tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    /// There was none.
    Unknown,
    /// All are of so many elements, and begin at a multiple of that.
    Each(u32),
    /// So many are a register of 32 bits.
    Word(u32),
    /// One is of what is not known while compiling.
    Memory,
}

/// How an access sees elements.
#[derive(Clone, Copy)]
enum Seen {
    /// So many, each as what it is.
    Elements(u32),
    /// The bits of so many words, each of as many elements as the other number says.
    Words(u32, u32),
}

impl Registers {
    pub(super) fn of(kernel: &Kernel) -> Registers {
        let width = |count| if count > 0 { Width::Unknown } else { Width::Memory };
        let widths = kernel.locals.iter().map(|local| width(local.count)).collect();
        let mut registers = Registers { elements: HashMap::new(), widths };
        registers.region(kernel, &kernel.body);
        registers
    }

    /// How many elements each variable is that a register tensor becomes; nothing where it stays.
    pub(super) fn width(&self, local: Local) -> Option<u32> {
        match self.widths[local.index()] {
            Width::Unknown => Some(1),
            Width::Each(width) | Width::Word(width) => Some(width),
            Width::Memory => None,
        }
    }

    /// The tensor and the variable that an address is that of, where it is one of a tensor that
    /// becomes variables.
    pub(super) fn variable(&self, address: Value) -> Option<(Local, usize)> {
        let (local, element) = *self.elements.get(&address)?;
        Some((local, (element / self.width(local)?) as usize))
    }

    /// The tensor and the element that an address is that of, where several are a register.
    pub(super) fn packed(&self, address: Value) -> Option<(Local, u32)> {
        let (local, element) = *self.elements.get(&address)?;
        matches!(self.widths[local.index()], Width::Word(_)).then_some((local, element))
    }

    fn region(&mut self, kernel: &Kernel, region: &Region) {
        for op in &region.0 {
            self.op(kernel, op.result, &op.kind);
            op.kind.regions().for_each(|inner| self.region(kernel, inner));
        }
    }

    fn op(&mut self, kernel: &Kernel, result: Option<Value>, kind: &OpKind) {
        match (kind, result) {
            (OpKind::Expr(Expr::Local(local)), Some(result)) => {
                self.elements.insert(result, (*local, 0));
            }
            (OpKind::Expr(Expr::Offset(base, bytes)), Some(result)) => {
                if let Some(&(local, element)) = self.elements.get(base) {
                    let bytes = kernel.constant(*bytes).and_then(|bytes| bytes.as_int());
                    let array = &kernel.locals[local.index()];
                    match bytes.and_then(|bytes| array.further(element, bytes)) {
                        Some(element) => drop(self.elements.insert(result, (local, element))),
                        None => self.keep(local),
                    }
                }
            }
            (OpKind::Expr(Expr::Load(Load { pointer, guard: None, .. })), Some(result)) => {
                self.access(kernel, *pointer, kernel.ty(result));
            }
            (OpKind::Store(Store { pointer, value, condition: None, .. }), _) => {
                self.access(kernel, *pointer, kernel.ty(*value));
                self.keep_at(*value);
            }
            (kind, _) => {
                kind.uses(&mut |value| self.keep_at(*value));
                if let OpKind::Call(call) = kind {
                    call.operands.iter().for_each(|operand| match operand {
                        Operand::Local(local) => self.part(kernel, *local),
                        Operand::Value(_) | Operand::Constant(_) | Operand::Word(_) => {}
                    });
                }
            }
        }
    }

    /// An access at an address: whole elements, or it is one of memory.
    fn access(&mut self, kernel: &Kernel, address: Value, ty: Type) {
        let Some(&(local, element)) = self.elements.get(&address) else { return };
        let array = &kernel.locals[local.index()];
        let is_whole = |lanes| element.is_multiple_of(lanes) && array.count.is_multiple_of(lanes);
        let fits = |n_elements| element + n_elements <= array.count;
        let before = self.widths[local.index()];
        self.widths[local.index()] = match (before, seen(ty, array.element)) {
            (Width::Memory, _) => Width::Memory,
            (Width::Word(each), Some(Seen::Elements(lanes))) if fits(lanes) => Width::Word(each),
            (_, Some(Seen::Elements(lanes))) if fits(lanes) => {
                let is_same = [Width::Unknown, Width::Each(lanes)].contains(&before);
                Width::Each(if is_same && is_whole(lanes) { lanes } else { 1 })
            }
            (_, Some(Seen::Words(words, each))) if is_whole(each) && fits(words * each) => {
                Width::Word(each)
            }
            (_, Some(_) | None) => Width::Memory,
        };
    }

    /// Keeps in memory whatever an address is of.
    fn keep_at(&mut self, address: Value) {
        if let Some(&(local, _)) = self.elements.get(&address) {
            self.keep(local);
        }
    }

    /// Calls take elements, each a variable, or as many as are a register.
    fn part(&mut self, kernel: &Kernel, local: Local) {
        let width = &mut self.widths[local.index()];
        if *width != Width::Memory {
            *width = match WORD_BYTES / kernel.locals[local.index()].element.bytes() {
                ..=1 => Width::Each(1),
                each => Width::Word(each),
            };
        }
    }

    fn keep(&mut self, local: Local) {
        self.widths[local.index()] = Width::Memory;
    }
}

/// How an access of a type sees elements of another; nothing where it is neither.
fn seen(ty: Type, element: Scalar) -> Option<Seen> {
    let scalar = ty.scalar()?;
    let lanes = u32::from(ty.lanes());
    match WORD_BYTES / element.bytes() {
        _ if scalar == element => Some(Seen::Elements(lanes)),
        each @ 2.. if scalar.bytes() == WORD_BYTES && element != Scalar::Bool => {
            Some(Seen::Words(lanes, each))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Registers;
    use expect_test::{Expect, expect};
    use kernpack_kernel_ir::kernel::Local;
    use kernpack_kernel_ir::text::{self, Item};

    /// Expects register tensors to become variables of so many elements, or memory.
    fn expect_widths(body: &str, expected: Expect) {
        expect_widths_of("float32 count 8", body, expected);
    }

    fn expect_widths_of(elements: &str, body: &str, expected: Expect) {
        let text = format!(
            "kernel k(v0 i: int64, v1 f: float32, v2 p: pointer.global float32 align 16 written) {{
               local0 a: {elements}
               v3: pointer.local = local0
               v4: int64 = const 4
               v5: int64 = const 16
               v6: pointer.local = offset v3, v4
               v7: pointer.local = offset v3, v5
               v8: float32x4 = splat v1
               {body}
             }}"
        );
        let items = text::parse(&text[..].into()).unwrap_or_else(|problems| panic!("{problems}"));
        let [Item::Kernel(kernel)] = &items[..] else { panic!("{items:?}") };
        let registers = Registers::of(kernel);
        expected.assert_eq(&format!("{:?}", registers.width(Local(0))));
    }

    #[test]
    fn register_tensors_are_variables_where_every_access_says_which_element() {
        expect_widths("", expect![["Some(1)"]]);
        expect_widths("store v6, v1 align 4", expect![["Some(1)"]]);
        expect_widths("store v3, v8 align 16  store v7, v8 align 16", expect![["Some(4)"]]);
        expect_widths("store v6, v8 align 4", expect![["Some(1)"]]);
        expect_widths("store v7, v8 align 16  store v6, v1 align 4", expect![["Some(1)"]]);
        expect_widths("store v6, v1 align 4  store v7, v8 align 16", expect![["Some(1)"]]);
        expect_widths("v9: float32x4 = load v7 align 16", expect![["Some(4)"]]);
        // An address that depends on the thread, a guard, other bits, and beyond the end.
        expect_widths("v9: pointer.local = offset v3, v0", expect![["None"]]);
        expect_widths(
            "v9: bool = const true  v10: float32 = load v3 align 4 when v9 else v1",
            expect![["None"]],
        );
        expect_widths("v9: bool = const true  store v3, v1 align 4 when v9", expect![["None"]]);
        expect_widths("v9: int32 = load v3 align 4", expect![["None"]]);
        expect_widths("v9: int64 = const 2  v10: pointer.local = offset v3, v9", expect![["None"]]);
        expect_widths("v9: pointer.local = offset v7, v5", expect![["None"]]);
        expect_widths(
            "v9: pointer.local = offset v7, v4  v10: float32x4 = load v9 align 4",
            expect![["None"]],
        );
    }

    #[test]
    fn elements_whose_bits_are_accessed_are_words() {
        let half = "v9: float16 = convert v1  store v6, v9 align 2";
        let word = "v10: uint32 = load v6 align 4";
        expect_widths_of("float16 count 16", &format!("{half}  {word}"), expect![["Some(2)"]]);
        expect_widths_of("float16 count 16", &format!("{word}  {half}"), expect![["Some(2)"]]);
        expect_widths_of(
            "float16 count 16",
            "v9: uint32x2 = load v3 align 8",
            expect![["Some(2)"]],
        );
        expect_widths_of("float16 count 16", "store v3, v8 align 16", expect![["Some(2)"]]);
        expect_widths_of("uint8 count 32", "store v6, v1 align 4", expect![["Some(4)"]]);
        // From the middle of a word on, bits that are no words, and beyond the end.
        let between = "v9: int64 = const 2  v10: pointer.local = offset v3, v9";
        let odd = format!("{between}  v11: uint32 = load v10 align 2");
        expect_widths_of("float16 count 16", &odd, expect![["None"]]);
        expect_widths_of("float16 count 16", "v9: uint16 = load v3 align 2", expect![["None"]]);
        expect_widths_of("bool count 32", "v9: uint32 = load v3 align 4", expect![["None"]]);
        let last = "v9: int64 = const 28  v10: pointer.local = offset v3, v9";
        let beyond = format!("{last}  store v10, v8 align 4");
        expect_widths_of("float16 count 16", &beyond, expect![["None"]]);
    }
}
