// SPDX-License-Identifier: Apache-2.0
//! Matrices that the lanes of a warp hold together, one operation each: products, loads and stores.

use super::{Builtin, Given};
use crate::elaborate::Elaborator;
use crate::expr::memory_of;
use crate::tensor::{Predicate, Touched, Within};
use crate::value::{Elaborated, Elements, Memory, Tensor};
use kernpack_kernel_ir::intrinsic::{self, Accepts, MATRIX_ROW_BYTES, WAYS};
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::Operand;
use kernpack_kernel_ir::{Scalar, Space, Type};
use kernpack_layout::{Int, Tuple};
use std::sync::Arc;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "mma_sync",
        takes: &["a", "b", "c"],
        doc: "Multiplies two matrices that the lanes of a warp hold together, and adds a third. Each \
              is elements of a register tensor, or the tensor. A lane has 4 of the 16x8 sums `c`. \
              In float16 and bfloat16 it has 8 elements of `a`, 16x16, and 4 of `b`, 16x8. In \
              float32, of which 10 bits of mantissa count, it has 4 of `a`, 16x8, and 2 of `b`, \
              8x8. In int8 and uint8, with sums in int32, it has 16 of `a`, 16x32, and 8 of `b`, \
              32x8.",
        data: "",
        run: mma_sync,
    },
    Builtin {
        name: "ldmatrix",
        takes: &["x", "count=", "transpose="],
        doc: "The elements that a lane gets of `count` matrices of 8 rows of 16 bytes, which is 1, 2 \
              or 4 (4 where it is left out), in shared memory: of each, 4 bytes of row `lane // 4`. \
              `x` is a row of matrix `lane // 8`: elements side by side, 16 bytes, at a multiple of \
              that. With `transpose=True`, of elements of 16 bits, `x` is a column.",
        data: "",
        run: ldmatrix,
    },
    Builtin {
        name: "stmatrix",
        takes: &["x", "values", "transpose="],
        doc: "Writes matrices that `kp.ldmatrix` reads: `values` are a lane's elements, 4 bytes of \
              each of 1, 2 or 4 matrices. It needs `sm_90`.",
        data: "",
        run: stmatrix,
    },
];

/// The bytes that a lane has of a matrix of eight rows.
const PART_BYTES: u32 = 4;

/// The row of a product, by the type of its factors.
fn product_of(scalar: Scalar) -> Option<&'static str> {
    match scalar {
        Scalar::F16 | Scalar::BF16 => Some("mma.m16n8k16"),
        Scalar::F32 => Some("mma.m16n8k8"),
        Scalar::I8 | Scalar::U8 => Some("mma.m16n8k32"),
        _ => None,
    }
}

fn mma_sync(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let factors = ["a", "b", "c"].map(|name| cx.part_arg(given, name));
    let [Some(a), Some(b), Some(c)] = factors else { return Elaborated::Poison };
    let Some(name) = product_of(a.scalar) else {
        let expected = "elements in float16, bfloat16, float32, int8 or uint8";
        return cx.expected(expected, given, "a");
    };
    let row = intrinsic::find(name).unwrap_or_else(|| unreachable!("the row `{name}` is there"));
    let parts = [("a", &a), ("b", &b), ("c", &c)];
    for ((name, part), accepts) in parts.into_iter().zip(row.takes) {
        let (scalars, count) = match accepts {
            Accepts::Vector(scalars, count) => (scalars.to_vec(), usize::from(*count)),
            Accepts::VectorLike(_, count) => (vec![a.scalar], usize::from(*count)),
            _ => unreachable!("products are of vectors"),
        };
        if part.items.len() != count || !scalars.contains(&part.scalar) {
            let scalars: Vec<_> = scalars.iter().map(|scalar| scalar.name()).collect();
            let (expected, found) = (scalars.join(" or "), part.items.len());
            let message = format!(
                "expected {count} elements of {expected}, found {found} of {}",
                part.scalar
            );
            let help = format!("pass a lane's part of the matrix as `{name}`");
            return cx.mistake("type", given.at(name), message, help);
        }
    }
    let values = parts.map(|(_, part)| cx.vector_of(part));
    let sums = cx.emit.call_row(name, &values);
    cx.elements_of(sums, c.scalar, c.shape.clone())
}

fn ldmatrix(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let count = match given.opt("count").map(|arg| arg.value.as_int()) {
        None => 4,
        Some(Some(count @ (1 | 2 | 4))) => count as u32,
        Some(_) => return cx.expected("1, 2 or 4", given, "count"),
    };
    let Some((memory, pointer, within, way)) = cx.matrix_row(given, false) else {
        return Elaborated::Poison;
    };
    let row = format!("matrix.load{count}");
    let operands = vec![Operand::Value(pointer), Operand::Word(way)];
    let Some(loaded) = cx.emit.access(within, |emit| emit.call_with(&row, operands)) else {
        return Elaborated::Poison;
    };
    let each = PART_BYTES / memory.element.bytes();
    let ty = Type::of_lanes(memory.element, (each * count) as u8);
    let value = cx.emit.b.bitcast(loaded, ty);
    let shape = [each, count].map(|extent| Tuple::Leaf(Int::Known(extent.into())));
    cx.elements_of(value, memory.element, Tuple::Node(shape.to_vec()))
}

fn stmatrix(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let (row, part) = (cx.matrix_row(given, true), cx.part_arg(given, "values"));
    let (Some((memory, pointer, within, way)), Some(part)) = (row, part) else {
        return Elaborated::Poison;
    };
    let bytes = part.scalar.bytes() * part.items.len() as u32;
    let count = bytes / PART_BYTES;
    if part.scalar != memory.element
        || !bytes.is_multiple_of(PART_BYTES)
        || ![1, 2, 4].contains(&count)
    {
        let expected = format!("4, 8 or 16 bytes of {}", memory.element);
        return cx.expected(&expected, given, "values");
    }
    let value = cx.vector_of(&part);
    let value = cx.emit.b.bitcast(value, Type::Vector(Scalar::U16, (count * 2) as u8));
    let row = format!("matrix.store{count}");
    let operands = vec![Operand::Value(pointer), Operand::Value(value), Operand::Word(way)];
    cx.emit.access(within, |emit| emit.call_with(&row, operands));
    Elaborated::None
}

impl Elaborator<'_> {
    /// An argument that is elements of a register tensor, or the tensor.
    fn part_arg(&mut self, given: &Given, name: &str) -> Option<Arc<Elements>> {
        let value = match given.get(name).clone() {
            Elaborated::Tensor(tensor) if is_in(&tensor, Space::Local) => {
                self.load_all(&tensor, given.at(name))
            }
            other => other,
        };
        match value {
            Elaborated::Elements(elements) => Some(elements),
            _ => {
                self.expected("elements of a register tensor", given, name);
                None
            }
        }
    }

    /// The row of a matrix that a lane has the address of: its memory, the address, where it is
    /// accessed by all lanes, and how the matrix lies there.
    fn matrix_row(
        &mut self,
        given: &Given,
        is_written: bool,
    ) -> Option<(Memory, Value, Within, &'static str)> {
        let Elaborated::Tensor(tensor) = given.get("x").clone() else {
            self.expected("a tensor in shared memory", given, "x");
            return None;
        };
        let memory = memory_of(&tensor).filter(|memory| memory.space == Space::Shared).cloned();
        let Some(memory) = memory.filter(|memory| memory.qualifier.is_none()) else {
            self.expected("a tensor in shared memory", given, "x");
            return None;
        };
        let way = self.matrix_way(given, memory.element)?;
        if is_written {
            self.writable(&tensor, given.at("x"))?;
        }
        let (span, always) = (given.at("x"), Predicate::Always);
        let pieces = self.pieces(&tensor, span)?;
        let n_elements = (MATRIX_ROW_BYTES / memory.element.bytes()) as usize;
        if !pieces.is_one_of(n_elements) {
            let message = format!(
                "`{}` is not known to be {n_elements} {} side by side, at a multiple of 16 bytes",
                tensor.name, memory.element
            );
            let help = "pass a tile of so many, whose place is a multiple of that: \
                        `kp.local_tile(x[row, None], (8,), (i,))`";
            self.mistake("layout", span, message, help);
            return None;
        }
        let within = self.keep_to_limits(&tensor, Touched::All(n_elements), &always, span)?;
        let at = self.emit.element_at(&tensor, 0).and_then(|at| self.emit.address(&memory, &at));
        let (pointer, _) = self.algebra(at, span)?;
        Some((memory, pointer, self.emit.in_all_lanes(within), way))
    }

    /// How a matrix lies in memory.
    fn matrix_way(&mut self, given: &Given, element: Scalar) -> Option<&'static str> {
        let [rows, columns] = WAYS else { unreachable!("there are two ways") };
        match given.opt("transpose").map(|arg| &arg.value) {
            None | Some(Elaborated::Bool(false)) if element.bytes() <= PART_BYTES => Some(rows),
            Some(Elaborated::Bool(true)) if element.bits() == 16 => Some(columns),
            Some(Elaborated::Bool(true)) => {
                self.expected("a tensor whose elements have 16 bits", given, "x");
                None
            }
            None | Some(Elaborated::Bool(false)) => {
                self.expected("a tensor whose elements have 32 bits or fewer", given, "x");
                None
            }
            Some(_) => {
                self.expected("`True` or `False`", given, "transpose");
                None
            }
        }
    }
}

fn is_in(tensor: &Tensor, space: Space) -> bool {
    memory_of(tensor).is_some_and(|memory| memory.space == space)
}
