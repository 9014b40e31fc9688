// SPDX-License-Identifier: Apache-2.0
//! Operations on many operands side by side, by the processor's own arithmetic: fast
//! enough for every float there is. Only operations that functions of floats are made of are here.

use crate::lanes::Lanes;
use kernpack_kernel_ir::Scalar;
use kernpack_kernel_ir::op::{Binary, Compare, Expr, OpKind, Rounding, Unary};

/// The results of an operation on operands of these types.
pub fn apply(kind: &OpKind, to: Scalar, from: &[Scalar], operands: &[&Lanes]) -> Lanes {
    match (kind, operands) {
        (OpKind::Expr(Expr::Unary(op, _)), [a]) => unary(*op, from[0], a),
        (OpKind::Expr(Expr::Binary(op, ..)), [a, b]) => binary(*op, from[0], a, b),
        (OpKind::Expr(Expr::Compare(op, ..)), [a, b]) => Lanes::Bool(compare(*op, from[0], a, b)),
        (OpKind::Expr(Expr::Select(..)), [holds, a, b]) => select(holds.bools(), a, b),
        (OpKind::Expr(Expr::Convert(_, rounding)), [a]) => convert(from[0], to, *rounding, a),
        (OpKind::Expr(Expr::Bitcast(_)), [a]) => (*a).clone(),
        (OpKind::Call(call), [a, b, c]) if call.intrinsic.name == "fma" => {
            let both = a.words().iter().zip(b.words());
            let fma = both.zip(c.words()).map(|((a, b), c)| {
                f32::from_bits(*a).mul_add(f32::from_bits(*b), f32::from_bits(*c)).to_bits()
            });
            Lanes::Word(fma.collect())
        }
        _ => panic!("no function of floats has {kind:?}"),
    }
}

fn each<A: Copy, B>(lanes: &[A], f: impl Fn(A) -> B) -> Vec<B> {
    lanes.iter().map(|a| f(*a)).collect()
}

fn both<A: Copy, B>(a: &[A], b: &[A], f: impl Fn(A, A) -> B) -> Vec<B> {
    a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
}

fn unary(op: Unary, scalar: Scalar, a: &Lanes) -> Lanes {
    match (op, scalar) {
        (Unary::Neg, Scalar::F32) => Lanes::Word(each(a.words(), |a| a ^ 0x8000_0000)),
        (Unary::Abs, Scalar::F32) => Lanes::Word(each(a.words(), |a| a & 0x7fff_ffff)),
        (Unary::Not, Scalar::Bool) => Lanes::Bool(each(a.bools(), |a| !a)),
        _ => panic!("no function of floats has `{}` of {scalar}", op.name()),
    }
}

fn binary(op: Binary, scalar: Scalar, a: &Lanes, b: &Lanes) -> Lanes {
    match scalar {
        Scalar::F32 => Lanes::Word(singles(op, a.words(), b.words())),
        Scalar::I32 | Scalar::U32 => Lanes::Word(words(op, scalar, a.words(), b.words())),
        Scalar::I64 | Scalar::U64 => Lanes::Long(longs(op, scalar, a.longs(), b.longs())),
        Scalar::F64 if op == Binary::Mul => Lanes::Long(both(a.longs(), b.longs(), |a, b| {
            (f64::from_bits(a) * f64::from_bits(b)).to_bits()
        })),
        Scalar::Bool if op == Binary::And => Lanes::Bool(both(a.bools(), b.bools(), |a, b| a & b)),
        Scalar::Bool if op == Binary::Or => Lanes::Bool(both(a.bools(), b.bools(), |a, b| a | b)),
        _ => panic!("no function of floats has `{}` of {scalar}", op.name()),
    }
}

fn singles(op: Binary, a: &[u32], b: &[u32]) -> Vec<u32> {
    let float = f32::from_bits;
    match op {
        Binary::Add => both(a, b, |a, b| (float(a) + float(b)).to_bits()),
        Binary::Sub => both(a, b, |a, b| (float(a) - float(b)).to_bits()),
        Binary::Mul => both(a, b, |a, b| (float(a) * float(b)).to_bits()),
        Binary::Div => both(a, b, |a, b| (float(a) / float(b)).to_bits()),
        Binary::Min => both(a, b, |a, b| float(a).min(float(b)).to_bits()),
        Binary::Max => both(a, b, |a, b| float(a).max(float(b)).to_bits()),
        _ => panic!("`{}` of floats", op.name()),
    }
}

fn words(op: Binary, scalar: Scalar, a: &[u32], b: &[u32]) -> Vec<u32> {
    match op {
        Binary::Add => both(a, b, u32::wrapping_add),
        Binary::Sub => both(a, b, u32::wrapping_sub),
        Binary::And => both(a, b, |a, b| a & b),
        Binary::Or => both(a, b, |a, b| a | b),
        Binary::Xor => both(a, b, |a, b| a ^ b),
        Binary::Shl => both(a, b, |a, b| a.checked_shl(b).unwrap_or(0)),
        Binary::Shr if scalar.is_signed() => both(a, b, |a, b| (a as i32 >> b.min(31)) as u32),
        Binary::Shr => both(a, b, |a, b| a.checked_shr(b).unwrap_or(0)),
        _ => panic!("no function of floats has `{}` of {scalar}", op.name()),
    }
}

fn longs(op: Binary, scalar: Scalar, a: &[u64], b: &[u64]) -> Vec<u64> {
    match op {
        Binary::Add => both(a, b, u64::wrapping_add),
        Binary::Sub => both(a, b, u64::wrapping_sub),
        Binary::Mul => both(a, b, u64::wrapping_mul),
        Binary::Or => both(a, b, |a, b| a | b),
        Binary::Shl => both(a, b, |a, b| if b < 64 { a << b } else { 0 }),
        Binary::Shr if !scalar.is_signed() => both(a, b, |a, b| if b < 64 { a >> b } else { 0 }),
        _ => panic!("no function of floats has `{}` of {scalar}", op.name()),
    }
}

fn compare(op: Compare, scalar: Scalar, a: &Lanes, b: &Lanes) -> Vec<bool> {
    fn ordered<A: Copy, T: PartialOrd>(
        op: Compare,
        a: &[A],
        b: &[A],
        of: impl Fn(A) -> T,
    ) -> Vec<bool> {
        match op {
            Compare::Eq => both(a, b, |a, b| of(a) == of(b)),
            Compare::Ne => both(a, b, |a, b| of(a) != of(b)),
            Compare::Lt => both(a, b, |a, b| of(a) < of(b)),
            Compare::Le => both(a, b, |a, b| of(a) <= of(b)),
            Compare::Gt => both(a, b, |a, b| of(a) > of(b)),
            Compare::Ge => both(a, b, |a, b| of(a) >= of(b)),
        }
    }
    match scalar {
        Scalar::F32 => ordered(op, a.words(), b.words(), f32::from_bits),
        Scalar::I32 => ordered(op, a.words(), b.words(), |a| a as i32),
        Scalar::U32 => ordered(op, a.words(), b.words(), |a| a),
        _ => panic!("no function of floats compares {scalar}"),
    }
}

fn select(holds: &[bool], a: &Lanes, b: &Lanes) -> Lanes {
    fn each<T: Copy>(holds: &[bool], a: &[T], b: &[T]) -> Vec<T> {
        let pairs = a.iter().zip(b);
        holds.iter().zip(pairs).map(|(holds, (a, b))| if *holds { *a } else { *b }).collect()
    }
    match a {
        Lanes::Bool(a) => Lanes::Bool(each(holds, a, b.bools())),
        Lanes::Word(a) => Lanes::Word(each(holds, a, b.words())),
        Lanes::Long(a) => Lanes::Long(each(holds, a, b.longs())),
    }
}

fn convert(from: Scalar, to: Scalar, rounding: Rounding, a: &Lanes) -> Lanes {
    match (from, to, rounding) {
        (Scalar::U32, Scalar::U64, _) => Lanes::Long(each(a.words(), u64::from)),
        (Scalar::U64, Scalar::I32, _) => Lanes::Word(each(a.longs(), |a| a as u32)),
        (Scalar::I64, Scalar::F64, Rounding::NearestEven) => {
            Lanes::Long(each(a.longs(), |a| (a as i64 as f64).to_bits()))
        }
        (Scalar::F64, Scalar::F32, Rounding::NearestEven) => {
            Lanes::Word(each(a.longs(), |a| (f64::from_bits(a) as f32).to_bits()))
        }
        (Scalar::F32, Scalar::I32, Rounding::Zero) => {
            Lanes::Word(each(a.words(), |a| f32::from_bits(a) as i32 as u32))
        }
        (Scalar::I32, Scalar::F32, Rounding::NearestEven) => {
            Lanes::Word(each(a.words(), |a| (a as i32 as f32).to_bits()))
        }
        _ => panic!("no function of floats converts {from} to {to}"),
    }
}
