// SPDX-License-Identifier: Apache-2.0
//! Products of matrices that the four warps of a warpgroup make together, one operation each, and
//! the registers that warpgroups hand to one another.

use super::{Builtin, Given, given};
use crate::elaborate::Elaborator;
use crate::expr::memory_of;
use crate::tensor::{Predicate, Touched, Within};
use crate::value::{Elaborated, Leaf, Memory, Tensor};
use kernpack_kernel_ir::group_product::{Elements, Lies, N_ROWS, PART_BYTES, ROW_BYTES, TOGETHER};
use kernpack_kernel_ir::intrinsic::FACTORS;
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::Operand;
use kernpack_kernel_ir::{Const, Scalar, Space, Type};
use kernpack_layout::{Int, Tuple, alignment, index_of, size};
use kernpack_syntax::Span;
use std::sync::Arc;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "wgmma_mma",
        takes: &["acc", "a", "b", "accumulate"],
        doc: "Begins to multiply: the sums `acc` of a 64xN matrix become those of the products of \
              `a`, which is 64xK, and `b`, NxK, in shared memory, and where `accumulate` holds what \
              they were before is added. `acc` is a register tensor of N/2 elements of each thread, \
              in float32, or in int32 for factors in int8 or uint8; other factors are in float16, \
              bfloat16 or float32, of which 10 bits of mantissa count. `a` may be the elements of a \
              register tensor, too. N is 8 to 256, K a multiple of 32 bytes. Until a wait has seen \
              that the product is done `acc`, and `a` in registers, cannot be touched. It needs \
              `sm_90a`.",
        data: "",
        run: multiply,
    },
    Builtin {
        name: "wgmma_fence",
        takes: &[],
        doc: "What registers hold is seen by products behind it: one stands between where a thread \
              touches `acc`, or `a` in registers, and the next product with them.",
        data: "wgmma.fence",
        run: given::row_alone,
    },
    Builtin {
        name: "wgmma_commit",
        takes: &[],
        doc: "Makes a group of the products that this warpgroup has begun since its last group.",
        data: "wgmma.commit",
        run: given::row_alone,
    },
    Builtin {
        name: "wgmma_wait",
        takes: &["n"],
        doc: "Waits until no more than the last `n` groups of products of this warpgroup, a \
              constant, are in flight.",
        data: "wgmma.wait",
        run: with_constant,
    },
    Builtin {
        name: "setmaxregister_increase",
        takes: &["n"],
        doc: "Waits until each thread of the warpgroup can have `n` registers, a constant multiple \
              of 8 from 24 to 256. It needs `sm_90a`.",
        data: "registers.increase",
        run: with_constant,
    },
    Builtin {
        name: "setmaxregister_decrease",
        takes: &["n"],
        doc: "Leaves each thread of the warpgroup `n` registers, a constant multiple of 8 from 24 \
              to 256: other warpgroups can have the rest. It needs `sm_90a`.",
        data: "registers.decrease",
        run: with_constant,
    },
];

/// The most columns of a product.
const MOST_COLUMNS: usize = 256;
/// The elements of a piece along the other way, of 16 bits each.
const OF_PIECE: usize = 8;

fn with_constant(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let row = kernpack_kernel_ir::intrinsic::find(given.row.data);
    let accepts = row.and_then(|row| row.takes.first().copied());
    let n = given.get("n").as_int().and_then(|n| i64::try_from(n).ok());
    match (accepts, n) {
        (Some(accepts), Some(n)) if accepts.takes_constant(n) => {
            cx.emit.call_with(given.row.data, vec![Operand::Constant(n)]);
            Elaborated::None
        }
        (Some(accepts), _) => cx.expected(&accepts.to_string(), given, "n"),
        (None, _) => unreachable!("the row has an operand"),
    }
}

/// A factor in shared memory.
struct Shared {
    element: Scalar,
    /// Its type's name.
    name: &'static str,
    n_rows: usize,
    lies: Lies,
    /// The addresses of its parts of 32 bytes of each row.
    parts: Vec<Value>,
    within: Within,
}

/// The left factor.
enum Left {
    Shared(Shared),
    Registers(Scalar, Elements),
}

impl Left {
    fn element(&self) -> Scalar {
        match self {
            Left::Shared(shared) => shared.element,
            Left::Registers(element, _) => *element,
        }
    }

    fn n_parts(&self) -> usize {
        match self {
            Left::Shared(shared) => shared.parts.len(),
            Left::Registers(element, elements) => {
                (elements.count * element.bytes() / PART_BYTES) as usize
            }
        }
    }
}

fn multiply(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let acc = cx.registers_arg(given, "acc");
    let (a, b) = (cx.left_arg(given), cx.shared_factor(given, "b"));
    let accumulate = cx.truth_given(given, "accumulate");
    let (Some((sum, sums)), Some(a), Some(b), Some(accumulate)) = (acc, a, b, accumulate) else {
        return Elaborated::Poison;
    };
    if cx.fit(given, (sum, sums), &a, &b).is_none() {
        return Elaborated::Poison;
    }
    let within = match &a {
        Left::Shared(a) => cx.emit.both(a.within, b.within),
        Left::Registers(..) => b.within,
    };
    cx.emit.access(within, |emit| {
        let always = emit.b.constant(Const::bool(true));
        for (number, part) in b.parts.iter().enumerate() {
            let mut operands = vec![Operand::Local(sums.local), constant(sums.first)];
            match &a {
                Left::Shared(a) => operands.push(Operand::Value(a.parts[number])),
                Left::Registers(element, elements) => {
                    let first = elements.first + number as u32 * (PART_BYTES / element.bytes());
                    operands.extend([Operand::Local(elements.local), constant(first)]);
                }
            }
            let accumulate = if number == 0 { accumulate } else { always };
            operands.extend([
                Operand::Value(*part),
                Operand::Value(accumulate),
                Operand::Word(b.name),
                constant(b.n_rows as u32),
            ]);
            let row = match &a {
                Left::Shared(a) => {
                    operands.extend(a.lies.operands());
                    "wgmma.shared"
                }
                Left::Registers(..) => "wgmma.registers",
            };
            operands.extend(b.lies.operands());
            emit.call_with(row, operands);
        }
        None
    });
    Elaborated::None
}

fn constant(number: u32) -> Operand {
    Operand::Constant(number.into())
}

/// The name of a type as products have it.
fn factor_name(scalar: Scalar) -> Option<&'static str> {
    FACTORS.iter().copied().find(|name| *name == scalar.name())
}

impl Elaborator<'_> {
    /// That the matrices of a product go together; reports where they do not.
    fn fit(
        &mut self,
        given: &Given,
        (sum, sums): (Scalar, Elements),
        a: &Left,
        b: &Shared,
    ) -> Option<()> {
        let (of_a, of_b) = (a.element(), b.element);
        if of_a != of_b {
            let message = format!("`a` is of {of_a}, and `b` of {of_b}");
            self.mistake("type", given.at("b"), message, "multiply two of one type");
            return None;
        }
        if a.n_parts() != b.parts.len() {
            let k = |n_parts: usize| n_parts * (ROW_BYTES / of_a.bytes()) as usize;
            let message = format!(
                "rows of `a` have {} elements, and those of `b` {}",
                k(a.n_parts()),
                k(b.parts.len())
            );
            self.mistake("layout", given.at("b"), message, "multiply two whose rows are as long");
            return None;
        }
        let expected = if of_b.is_float() { Scalar::F32 } else { Scalar::I32 };
        let count = b.n_rows as u32 / 2;
        if sum != expected || sums.count != count {
            let message = format!(
                "a thread has {count} sums of 64x{} in {expected}, and `acc` is {} of {sum}",
                b.n_rows, sums.count
            );
            let help = format!("make it so: `kp.make_rmem_tensor({count}, kp.{expected})`");
            self.mistake("layout", given.at("acc"), message, help);
            return None;
        }
        Some(())
    }

    /// An argument that is a truth value.
    fn truth_given(&mut self, given: &Given, name: &str) -> Option<Value> {
        match given.get(name) {
            Elaborated::Bool(truth) => Some(self.emit.b.constant(Const::bool(*truth))),
            Elaborated::Typed(value) if self.emit.b.ty(*value) == Type::Scalar(Scalar::Bool) => {
                Some(*value)
            }
            _ => {
                self.expected("a bool", given, name);
                None
            }
        }
    }

    /// An argument that is a register tensor, whose elements lie one behind the other.
    fn registers_arg(&mut self, given: &Given, name: &str) -> Option<(Scalar, Elements)> {
        let found = match given.get(name).clone() {
            Elaborated::Tensor(tensor) => self.in_registers(&tensor),
            _ => None,
        };
        if found.is_none() {
            self.expected("a register tensor whose elements lie in a row", given, name);
        }
        found
    }

    fn in_registers(&mut self, tensor: &Tensor) -> Option<(Scalar, Elements)> {
        let memory = memory_of(tensor).filter(|memory| memory.space == Space::Local)?;
        let (element, pointer) = (memory.element, memory.pointer);
        let local = self.emit.local_at(pointer)?;
        let Tuple::Leaf(Int::Known(first)) = &tensor.offset else { return None };
        let (first, count) = (u32::try_from(*first).ok()?, self.known_count(&tensor.layout)?);
        let is_row = (0..count).all(|n| self.known_index(tensor, n) == Some(n));
        is_row.then_some((element, Elements { local, first, count: u32::try_from(count).ok()? }))
    }

    fn known_count(&mut self, layout: &kernpack_layout::Layout<Leaf>) -> Option<usize> {
        match size(&mut self.emit, layout) {
            Ok(Int::Known(count)) => usize::try_from(count).ok(),
            _ => None,
        }
    }

    /// Where an element is, counted from the first, where that is known.
    fn known_index(&mut self, tensor: &Tensor, number: usize) -> Option<usize> {
        match index_of(&mut self.emit, &Int::Known(number as i64), &tensor.layout) {
            Ok(Int::Known(index)) => usize::try_from(index).ok(),
            _ => None,
        }
    }

    /// The left factor: in shared memory, or the elements of a register tensor.
    fn left_arg(&mut self, given: &Given) -> Option<Left> {
        let is_local = |tensor: &Arc<Tensor>| {
            memory_of(tensor).is_some_and(|memory| memory.space == Space::Local)
        };
        if matches!(given.get("a"), Elaborated::Tensor(tensor) if is_local(tensor)) {
            let (element, elements) = self.registers_arg(given, "a")?;
            let bytes = elements.count * element.bytes();
            if factor_name(element).is_none() || bytes == 0 || bytes % PART_BYTES != 0 {
                let expected = format!("a multiple of {PART_BYTES} bytes of elements of a factor");
                self.expected(&expected, given, "a");
                return None;
            }
            return Some(Left::Registers(element, elements));
        }
        let a = self.shared_factor(given, "a")?;
        if a.n_rows != N_ROWS as usize {
            let message = format!("`a` has {} rows: a product has {N_ROWS}", a.n_rows);
            let help = "pass a tile of so many: `kp.local_tile(a, (64, k), (i, 0))`";
            self.mistake("layout", given.at("a"), message, help);
            return None;
        }
        Some(Left::Shared(a))
    }

    /// A factor in shared memory, as products find it there; reports where they cannot.
    fn shared_factor(&mut self, given: &Given, name: &str) -> Option<Shared> {
        let tensor = match given.get(name).clone() {
            Elaborated::Tensor(tensor) => Some(tensor),
            _ => None,
        };
        let memory = tensor.as_deref().and_then(memory_of);
        let memory = memory.filter(|memory| memory.space == Space::Shared).cloned();
        let (Some(tensor), Some(memory)) = (tensor, memory) else {
            self.expected("a tensor in shared memory", given, name);
            return None;
        };
        let span = given.at(name);
        let Some(of) = factor_name(memory.element) else {
            self.expected(&format!("elements in {}", FACTORS.join(" or ")), given, name);
            return None;
        };
        let [rows, places] = self.extents_of_factor(&tensor, &memory, span)?;
        let Some(lies) = self.lies(&tensor, &memory, [rows, places]) else {
            let message = format!(
                "products do not find `{}` where it lies: `{}`{}",
                tensor.name,
                tensor.layout,
                memory.swizzle.map_or(String::new(), |swizzle| format!(", {swizzle} of its bytes"))
            );
            let help = "lay it out row by row, with a swizzle of as many bytes: \
                        `kp.make_composed_layout(kp.make_swizzle(3, 3, 3), 0, kp.make_layout((64, 64), stride=(64, 1)))` \
                        of 16 bits each";
            self.mistake("layout", span, message, help);
            return None;
        };
        self.is_aligned_for_products(&tensor, &memory, lies, span)?;
        let touched = Touched::All(rows * places);
        let within = self.keep_to_limits(&tensor, touched, &Predicate::Always, span)?;
        let plain = Memory { swizzle: None, ..memory.clone() };
        let of_part = (ROW_BYTES / memory.element.bytes()) as usize;
        let mut parts = Vec::new();
        for place in (0..places).step_by(of_part) {
            let at = self.emit.element_at(&tensor, place * rows);
            let at = at.and_then(|at| self.emit.address(&plain, &at));
            parts.push(self.algebra(at, span)?.0);
        }
        Some(Shared { element: memory.element, name: of, n_rows: rows, lies, parts, within })
    }

    /// How many rows a factor has, and how long they are.
    fn extents_of_factor(
        &mut self,
        tensor: &Tensor,
        memory: &Memory,
        span: Span,
    ) -> Option<[usize; 2]> {
        let modes = match &tensor.layout {
            Tuple::Node(modes) if modes.len() == 2 => modes.clone(),
            _ => Vec::new(),
        };
        let extents: Vec<_> = modes.iter().filter_map(|mode| self.known_count(mode)).collect();
        let of_part = (ROW_BYTES / memory.element.bytes()) as usize;
        match extents[..] {
            [rows, places]
                if (8..=MOST_COLUMNS).contains(&rows)
                    && rows % 8 == 0
                    && places > 0
                    && places % of_part == 0 =>
            {
                Some([rows, places])
            }
            _ => {
                let message = format!(
                    "`{}` is no matrix of 8 to {MOST_COLUMNS} rows, a multiple of 8, and of multiples of {of_part} elements each: `{}`",
                    tensor.name, tensor.layout
                );
                let help = "pass a tile of two modes, rows first";
                self.mistake("layout", span, message, help);
                None
            }
        }
    }

    /// How a factor lies, where products find it so.
    fn lies(
        &mut self,
        tensor: &Tensor,
        memory: &Memory,
        [rows, places]: [usize; 2],
    ) -> Option<Lies> {
        let bytes = memory.element.bytes() as usize;
        let swizzle = match memory.swizzle {
            None => 0,
            Some(swizzle) => {
                let is_known = (swizzle.base(), swizzle.shift()) == (4, 3) && swizzle.bits() <= 3;
                is_known.then_some(if swizzle.bits() == 0 {
                    0
                } else {
                    TOGETHER << swizzle.bits()
                })?
            }
        };
        let mut at = |number: usize| Some(self.known_index(tensor, number)? * bytes);
        let of_rows = (0..rows).map(&mut at).collect::<Option<Vec<_>>>()?;
        let of_places = (0..places).map(|place| at(place * rows)).collect::<Option<Vec<_>>>()?;
        let candidates = [true, false].map(|is_k_major| {
            let [leading, stride] = distances(is_k_major, swizzle, bytes, &of_rows, &of_places);
            Lies { is_k_major, swizzle, leading, stride }
        });
        let of_part = (ROW_BYTES as usize) / bytes;
        let is_so = |lies: &Lies| {
            (lies.is_k_major || bytes == 2)
                && of_rows.iter().enumerate().all(|(row, at)| {
                    of_places[..of_part].iter().enumerate().all(|(place, further)| {
                        lies.offset(row as u64, place as u64, bytes as u64) == (at + further) as u64
                    })
                })
        };
        let each_part_alike = of_places.chunks(of_part).all(|part| {
            let further = part.iter().map(|at| at.wrapping_sub(part[0]));
            further.eq(of_places[..of_part].iter().map(|at| at - of_places[0]))
        });
        candidates.into_iter().find(|lies| each_part_alike && is_so(lies))
    }

    /// That memory is aligned as the swizzle asks for, and the factor begins at a multiple of what
    /// lies together.
    fn is_aligned_for_products(
        &mut self,
        tensor: &Tensor,
        memory: &Memory,
        lies: Lies,
        span: Span,
    ) -> Option<()> {
        let offset = match &tensor.offset {
            Tuple::Leaf(offset) => *offset,
            Tuple::Node(_) => Int::Known(0),
        };
        let bytes = i64::from(memory.element.bytes());
        let known = alignment(&self.emit, memory.align.into(), &offset, bytes);
        let (name, align, together) = (&tensor.name, lies.align(), i64::from(TOGETHER));
        let message = if memory.align < align {
            format!("`{name}` is known to be aligned to {} bytes, not to {align}", memory.align)
        } else if known % together != 0 {
            format!("where `{name}` begins is not known to be a multiple of {together} bytes")
        } else {
            return Some(());
        };
        self.mistake("alignment", span, message, "take tiles of whole rows of shared memory");
        None
    }
}

/// The bytes from piece to piece in both directions, as a factor that lies so has them.
fn distances(
    is_k_major: bool,
    swizzle: u32,
    bytes: usize,
    rows: &[usize],
    places: &[usize],
) -> [u32; 2] {
    let each = TOGETHER as usize / bytes;
    let of_swizzle = swizzle as usize / bytes;
    let at = |all: &[usize], number: usize| all.get(number).copied().unwrap_or(TOGETHER as usize);
    let distances = match (is_k_major, swizzle) {
        (true, 0) => [at(places, each), at(rows, OF_PIECE)],
        (true, _) => [TOGETHER as usize, at(rows, OF_PIECE)],
        (false, 0) => [at(places, OF_PIECE), at(rows, each)],
        (false, _) => [at(rows, of_swizzle), at(places, OF_PIECE)],
    };
    // What is no multiple of 16 bytes, or too far, is found not to lie so.
    let most = 0x3fff * TOGETHER as usize;
    distances.map(|bytes| if bytes % 16 == 0 && bytes <= most { bytes as u32 } else { 0 })
}
