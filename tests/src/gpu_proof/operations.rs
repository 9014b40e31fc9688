// SPDX-License-Identifier: Apache-2.0
//! A kernel for each operation on each type that it is defined on: arithmetic, comparisons,
//! conversions with each rounding, bits as another type.

use super::Case;
use super::one_value::OneValue;
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::{Binary, Compare, Rounding, Unary};
use kernpack_kernel_ir::{Builder, Scalar};

/// All of them.
pub fn all() -> Vec<Case> {
    let families = [unary(), binary(), narrow(), by_constants(), compare(), select(), convert()];
    families.into_iter().flatten().chain(bitcast()).collect()
}

fn case(
    name: String,
    inputs: &[Scalar],
    output: Scalar,
    compute: impl FnOnce(&mut Builder, &[Value]) -> Value,
) -> Option<Case> {
    let one = OneValue { name, inputs, output };
    Some(one.on_numbers(one.kernel(compute)?))
}

/// Each of the first with each of the second.
fn each<'a, A, B>(first: &'a [A], second: &'a [B]) -> impl Iterator<Item = (&'a A, &'a B)> {
    first.iter().flat_map(move |a| second.iter().map(move |b| (a, b)))
}

fn unary() -> Vec<Case> {
    let of = |(op, scalar): (&Unary, &Scalar)| {
        case(format!("{}_{scalar}", op.name()), &[*scalar], *scalar, |builder, x| {
            builder.unary(*op, x[0])
        })
    };
    each(Unary::ALL, Scalar::ALL).filter_map(of).collect()
}

fn binary() -> Vec<Case> {
    let of = |(op, scalar): (&Binary, &Scalar)| {
        case(format!("{}_{scalar}", op.name()), &[*scalar; 2], *scalar, |builder, x| {
            builder.binary(*op, x[0], x[1])
        })
    };
    each(Binary::ALL, Scalar::ALL).filter_map(of).collect()
}

/// Operations on `int64` whose operands are known to be smaller: code may compute with fewer bits.
fn narrow() -> Vec<Case> {
    const PAIRS: [[Scalar; 2]; 5] = [
        [Scalar::I32, Scalar::I32],
        [Scalar::U32, Scalar::I32],
        [Scalar::I16, Scalar::U8],
        [Scalar::I32, Scalar::I64],
        [Scalar::I64, Scalar::I8],
    ];
    let wide = |builder: &mut Builder, x: &[Value]| {
        [0, 1].map(|place| builder.convert(x[place], Scalar::I64, Rounding::NearestEven))
    };
    let name = |op: &str, [a, b]: &[Scalar; 2]| format!("{op}_int64_of_{a}_{b}");
    let computed = each(Binary::ALL, &PAIRS).filter_map(|(op, pair)| {
        case(name(op.name(), pair), pair, Scalar::I64, |builder, x| {
            let [a, b] = wide(builder, x);
            builder.binary(*op, a, b)
        })
    });
    let compared = each(Compare::ALL, &PAIRS).filter_map(|(op, pair)| {
        case(name(op.name(), pair), pair, Scalar::Bool, |builder, x| {
            let [a, b] = wide(builder, x);
            builder.compare(*op, a, b)
        })
    });
    computed.chain(compared).collect()
}

/// Operations on integers whose second operand is known.
fn by_constants() -> Vec<Case> {
    const OPS: [Binary; 6] = [
        Binary::Mul,
        Binary::FloorDiv,
        Binary::FloorMod,
        Binary::Shl,
        Binary::Shr,
        Binary::MulHigh,
    ];
    const CONSTANTS: [(&str, i64); 9] = [
        ("0", 0),
        ("2", 2),
        ("3", 3),
        ("7", 7),
        ("8", 8),
        ("100", 100),
        ("least", i64::MIN),
        ("minus_1", -1),
        ("minus_3", -3),
    ];
    let mut cases = Vec::new();
    for scalar in Scalar::ALL.iter().filter(|scalar| scalar.is_int()) {
        for (op, (name, constant)) in each(&OPS, &CONSTANTS) {
            let least = scalar.is_signed() && *constant == i64::MIN;
            let constant = if least { i64::MIN >> (64 - scalar.bits()) } else { *constant };
            let name = format!("{}_{scalar}_by_{name}", op.name());
            cases.extend(case(name, &[*scalar], *scalar, |builder, x| {
                let known = builder.int(*scalar, constant);
                builder.binary(*op, x[0], known)
            }));
        }
    }
    cases
}

fn compare() -> Vec<Case> {
    let of = |(op, scalar): (&Compare, &Scalar)| {
        case(format!("{}_{scalar}", op.name()), &[*scalar; 2], Scalar::Bool, |builder, x| {
            builder.compare(*op, x[0], x[1])
        })
    };
    each(Compare::ALL, Scalar::ALL).filter_map(of).collect()
}

fn select() -> Vec<Case> {
    let of = |scalar: &Scalar| {
        let inputs = [Scalar::Bool, *scalar, *scalar];
        case(format!("select_{scalar}"), &inputs, *scalar, |builder, x| {
            builder.select(x[0], x[1], x[2])
        })
    };
    Scalar::ALL.iter().filter_map(of).collect()
}

fn convert() -> Vec<Case> {
    let mut cases = Vec::new();
    for (from, to) in each(Scalar::ALL, Scalar::ALL).filter(|(from, to)| from != to) {
        for rounding in Rounding::ALL {
            let name = format!("convert_{from}_{to}_{}", rounding.name());
            cases.extend(case(name, &[*from], *to, |builder, x| {
                builder.convert(x[0], *to, *rounding)
            }));
        }
    }
    cases
}

fn bitcast() -> Vec<Case> {
    let mut cases = Vec::new();
    for (from, to) in each(Scalar::ALL, Scalar::ALL) {
        if from != to && from.bits() == to.bits() {
            let name = format!("bitcast_{from}_{to}");
            cases.extend(case(name, &[*from], *to, |builder, x| {
                builder.bitcast(x[0], (*to).into())
            }));
        }
    }
    cases
}
