// SPDX-License-Identifier: Apache-2.0
//! Random kernels are right, and are what their page says.

mod broken;
mod cores;

use super::{Argument, Generated, first_difference, generate};
use crate::expand::expand;
use crate::interp::{Options, Outcome};
use crate::kernel::{Kernel, Place, PlaceData};
use crate::op::{Expr, Op, OpKind, Region};
use crate::text::{Item, parse};
use crate::types::Scalar;
use crate::verify::verify;
use kernpack_machine::shared::STATIC_BYTES;
use std::collections::BTreeMap;

const SEEDS: u64 = 400;

#[test]
fn the_verifier_accepts_them() {
    for seed in 0..SEEDS {
        let mut kernel = generate(seed).kernel;
        verify(&kernel).unwrap_or_else(|problems| panic!("{kernel}{problems}"));
        expand(&mut kernel);
        verify(&kernel).unwrap_or_else(|problems| panic!("{kernel}{problems}"));
    }
}

/// Without the numbers of places, which depend on the order in which they were met.
fn without_places(mut kernel: Kernel) -> Kernel {
    fn forget(region: &mut Region) {
        for op in &mut region.0 {
            op.place = Place::NOWHERE;
            op.kind.regions_mut().for_each(forget);
        }
    }
    forget(&mut kernel.body);
    kernel.locals.iter_mut().for_each(|local| local.place = Place::NOWHERE);
    kernel.places = vec![PlaceData::NOWHERE];
    kernel
}

#[test]
fn they_read_as_they_print() {
    for seed in 0..SEEDS {
        let kernel = generate(seed).kernel;
        let text = kernel.to_string();
        let items = parse(&text.as_str().into()).unwrap_or_else(|problems| panic!("{problems}"));
        let [Item::Kernel(read)] = <[Item; 1]>::try_from(items).expect("one kernel") else {
            panic!("a kernel")
        };
        assert_eq!(read.to_string(), text);
        assert_eq!(without_places(read), without_places(kernel));
    }
}

#[test]
fn shared_memory_is_the_kernels_own() {
    for seed in 0..SEEDS {
        let kernel = generate(seed).kernel;
        let bytes = kernel.shared.iter().map(|array| match array.size {
            crate::kernel::Size::Bytes(bytes) => bytes,
            crate::kernel::Size::Param(value) => panic!("as many bytes as {value} says"),
        });
        assert!(bytes.sum::<u32>() <= STATIC_BYTES);
    }
}

#[test]
fn a_seed_gives_one_kernel() {
    let (a, b) = (generate(7), generate(7));
    assert_eq!((a.kernel, a.arguments, a.grid), (b.kernel, b.arguments, b.grid));
    assert_ne!(generate(7).kernel, generate(8).kernel);
}

fn variant(of: &impl std::fmt::Debug) -> String {
    format!("{of:?}").split(['(', ' ']).next().unwrap_or_default().to_string()
}

fn count(region: &Region, counts: &mut BTreeMap<String, usize>) {
    for Op { kind, .. } in &region.0 {
        let name = match kind {
            OpKind::Expr(Expr::Unary(op, _)) => op.name().to_string(),
            OpKind::Expr(Expr::Binary(op, ..)) => op.name().to_string(),
            OpKind::Expr(Expr::Compare(op, ..)) => op.name().to_string(),
            OpKind::Expr(expr) => variant(expr),
            OpKind::Jump(jump) => variant(jump),
            OpKind::Call(call) => call.intrinsic.name.to_string(),
            kind => variant(kind),
        };
        *counts.entry(name).or_default() += 1;
        kind.regions().for_each(|region| count(region, counts));
    }
}

#[test]
fn they_have_everything() {
    let (mut counts, mut types) = (BTreeMap::new(), BTreeMap::new());
    for seed in 0..SEEDS {
        let kernel = generate(seed).kernel;
        count(&kernel.body, &mut counts);
        for value in &kernel.values {
            *types.entry(value.ty.to_string()).or_insert(0) += 1;
        }
    }
    let names = "Const Select Convert Bitcast Vector Splat Extract Insert Shared Local Offset Load \
                 Store InBounds Assert Get Set If For While Break Continue Return neg abs not add sub mul \
                 div floordiv floormod mulhigh min max and or xor shl shr eq ne lt le gt ge barrier barrier.grid \
                 shuffle.idx shuffle.up shuffle.down shuffle.xor vote.any vote.all vote.ballot \
                 match.any atomic.add atomic.cas atomic.exchange fma sqrt popcount rsqrt \
                 mbarrier.init mbarrier.arrive mbarrier.arrive_after_copies mbarrier.wait mbarrier.try_wait copy.bulk \
                 copy.bulk_store fence.proxy_async";
    for name in names.split_whitespace() {
        assert!(counts.get(name).is_some_and(|count| *count > 5), "{name}: {counts:?}");
    }
    for scalar in Scalar::ALL {
        assert!(types.get(scalar.name()).is_some_and(|count| *count > 100), "{types:?}");
    }
    assert!(types.get("float16x8").is_some_and(|count| *count > 5), "{types:?}");
}

#[test]
fn arguments_are_what_parameters_say() {
    for seed in 0..SEEDS {
        let generated = generate(seed);
        assert_eq!(generated.arguments.len(), generated.kernel.params.len());
        for (argument, param) in generated.arguments.iter().zip(&generated.kernel.params) {
            match (argument, &param.kind) {
                (Argument::Scalar(number), crate::kernel::ParamKind::Scalar(scalar, facts)) => {
                    assert_eq!(number.scalar(), *scalar);
                    let holds = number.as_int().is_none_or(|number| {
                        (facts.min..=facts.max).contains(&number) && number % facts.divisor == 0
                    });
                    assert!(holds, "{number} {facts:?}");
                }
                (Argument::Tensor(tensor), crate::kernel::ParamKind::Pointer(pointer)) => {
                    assert_eq!(tensor.element, pointer.element);
                    assert_eq!(tensor.is_written, pointer.is_written);
                }
                (argument, kind) => panic!("{argument:?} for {kind:?}"),
            }
        }
    }
}

#[test]
fn nans_are_alike() {
    let nan = |bits: u32| [1.0_f32.to_bits(), bits].map(u32::to_le_bytes).concat();
    let (a, b) = (nan(0x7fc0_0000), nan(0xff80_0001));
    assert_eq!(first_difference(Scalar::F32, &a, &b), None);
    assert_eq!(first_difference(Scalar::U32, &a, &b), Some(1));
    assert_eq!(first_difference(Scalar::F32, &a, &nan(0)), Some(1));
}

/// Runs a kernel with what a generated one is launched with. Gives what it leaves in memory.
fn run_with(
    generated: &Generated,
    kernel: &Kernel,
    options: &Options,
) -> (Outcome, Vec<(Scalar, Vec<u8>)>) {
    let mut trial = generated.trial(kernel.clone());
    trial.options = options.clone();
    let outcome = trial.run();
    let is_tensor = |i: &usize| matches!(generated.arguments[*i], Argument::Tensor(_));
    let tensors = (0..generated.arguments.len()).filter(is_tensor).map(|i| trial.left(i));
    (outcome, tensors.map(|memory| (memory.element, memory.bytes.clone())).collect())
}

/// The memory that a kernel leaves, with nothing wrong, where warps and blocks run in the order of
/// a seed.
fn left(generated: &Generated, kernel: &Kernel, seed: u64) -> Vec<(Scalar, Vec<u8>)> {
    let (outcome, left) = run_with(generated, kernel, &Options { seed, ..Options::default() });
    assert!(outcome.findings.is_empty(), "{kernel}{:?}", outcome.findings);
    left
}

#[test]
fn nothing_is_wrong_with_them_and_order_does_not_matter() {
    for seed in 0..SEEDS / 4 {
        let generated = generate(seed);
        let mut kernel = generated.kernel.clone();
        expand(&mut kernel);
        let (first, second) = (left(&generated, &kernel, 0), left(&generated, &kernel, 1 + seed));
        for ((element, a), (_, b)) in first.iter().zip(&second) {
            assert_eq!(first_difference(*element, a, b), None, "{kernel}");
        }
    }
}
