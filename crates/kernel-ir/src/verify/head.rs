// SPDX-License-Identifier: Apache-2.0
//! Rules of what stands around the operations: parameters, the block, arrays, places.

use super::report::Report;
use super::{MOST_ALIGN, MOST_LOCAL_BYTES};
use crate::kernel::{
    Demands, Facts, Kernel, Param, ParamKind, Place, Shared, SharedArray, Size, TensorMap,
};
use crate::op::{Expr, OpKind};
use crate::shared;
use crate::types::{MOST_VECTOR_BYTES, Scalar, Type};
use kernpack_machine::block::{MOST_PARAM_BYTES, MOST_THREADS, MOST_THREADS_ALONG};
use kernpack_machine::multiprocessor::{LEAST_REGISTERS, MOST_REGISTERS, Multiprocessor};
use kernpack_machine::shared::MOST_BYTES;
use kernpack_machine::tensor_map::{MOST_IN_BOX, MOST_RANK, SWIZZLES, UNIT_BYTES};
use kernpack_syntax::Diagnostic;
use std::cmp::Reverse;

/// How many arrays are told of, where they have too many bytes in all.
const MOST_TOLD: usize = 3;

/// The bytes of the address of an assertion's record, which is passed behind the parameters.
const RECORD_BYTES: u64 = 8;

pub(super) fn verify(report: &mut Report<'_>) {
    verify_name(report);
    verify_params(report);
    verify_block(report);
    verify_demands(report);
    verify_shared(report);
    verify_locals(report);
    verify_types(report);
    verify_places(report);
}

fn verify_name(report: &mut Report<'_>) {
    let name = &report.kernel.name;
    let is_identifier = !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if name.is_empty() || !is_identifier {
        report.malformed("its name is no C identifier");
    }
}

fn verify_params(report: &mut Report<'_>) {
    let kernel = report.kernel;
    let mut bytes = 0_u64;
    for (number, param) in kernel.params.iter().enumerate() {
        let ty = param.kind.ty();
        if kernel.values.get(number).is_none_or(|data| data.ty != ty || data.constant.is_some()) {
            report.malformed(format!("`v{number}` is not the parameter `{}`", param.name));
        }
        let [size, align] = param.kind.passed_bytes().map(u64::from);
        bytes = bytes.next_multiple_of(align) + size;
        if let Some(problem) = param_problem(param) {
            report.malformed(format!("the parameter `{}` {problem}", param.name));
        }
    }
    if kernel.asserts() {
        bytes = bytes.next_multiple_of(RECORD_BYTES) + RECORD_BYTES;
    }
    if bytes > u64::from(MOST_PARAM_BYTES) {
        let message =
            format!("its parameters have {bytes} bytes, and at most {MOST_PARAM_BYTES} are passed");
        report.malformed(message);
    }
}

fn param_problem(param: &Param) -> Option<String> {
    match &param.kind {
        ParamKind::Scalar(scalar, facts) if !scalar.is_int() => (*facts != Facts::NONE)
            .then(|| format!("is a {scalar}, of which nothing more is known")),
        ParamKind::Scalar(_, facts) if facts.min > facts.max => {
            Some("can be no number".to_string())
        }
        ParamKind::Scalar(_, facts) if facts.divisor < 1 => {
            Some(format!("is a multiple of {}", facts.divisor))
        }
        ParamKind::Scalar(..) => None,
        ParamKind::Pointer(pointer) => align_problem(pointer.align, pointer.element),
        ParamKind::Map(map) => map_problem(map),
    }
}

/// The problem of a map: of the box that it copies.
fn map_problem(map: &TensorMap) -> Option<String> {
    let is_extent = |extent: &u32| (1..=MOST_IN_BOX).contains(&i64::from(*extent));
    if !(1..=MOST_RANK).contains(&map.rank) || !map.box_extents().iter().all(is_extent) {
        return Some(format!("has a box of {:?}", &map.extents[..map.rank.min(MOST_RANK)]));
    }
    let (row, swizzle) = (map.row_bytes(), map.swizzle);
    if !row.is_multiple_of(UNIT_BYTES) {
        return Some(format!("has rows of {row} bytes, which are no multiple of {UNIT_BYTES}"));
    }
    let elements = map.box_extents().iter().map(|extent| u64::from(*extent)).product::<u64>();
    let bytes = elements * u64::from(map.element.bytes());
    if bytes > u64::from(MOST_BYTES) {
        return Some(format!("has a box of {bytes} bytes, and a block has at most {MOST_BYTES}"));
    }
    let is_swizzle = swizzle == 0 || SWIZZLES.contains(&swizzle) && swizzle == row;
    (!is_swizzle).then(|| format!("has rows of {row} bytes, and a swizzle of {swizzle}"))
}

/// The problem of an alignment for elements of a type.
pub(super) fn align_problem(align: u32, element: Scalar) -> Option<String> {
    let fits = align.is_power_of_two() && (element.bytes()..=MOST_ALIGN).contains(&align);
    (!fits).then(|| format!("has an alignment of {align} bytes for {element}"))
}

fn verify_block(report: &mut Report<'_>) {
    let known = report.kernel.block.map(|extent| u64::from(extent.unwrap_or(1)));
    let threads = known.iter().try_fold(1_u64, |all, one| all.checked_mul(*one));
    let is_right = |threads| (1..=u64::from(MOST_THREADS)).contains(&threads);
    let most_in_z = MOST_THREADS_ALONG[2];
    if !threads.is_some_and(is_right) || known[2] > most_in_z.into() {
        let most = format!("1 to {MOST_THREADS}, in z at most {most_in_z}");
        report.malformed(format!("a block of {known:?} threads: there are {most}"));
    }
}

fn verify_demands(report: &mut Report<'_>) {
    let kernel = report.kernel;
    let Demands { min_blocks, max_registers } = kernel.demands;
    let mut block = kernel.block.iter();
    let threads = block.try_fold(1_u64, |all, one| Some(all.saturating_mul((*one)?.into())));
    match (min_blocks, max_registers, threads) {
        (Some(_), Some(_), _) => report.malformed("it demands both blocks and registers"),
        (Some(_), None, None) => {
            report.malformed("it demands blocks, whose threads are not known");
        }
        (Some(blocks), None, Some(threads)) => {
            let most = Multiprocessor::largest().most_blocks_of(threads);
            if blocks == 0 || u64::from(blocks) > most {
                let message = format!("it demands {blocks} blocks of {threads} threads");
                report.malformed(format!("{message}: a multiprocessor holds 1 to {most}"));
            }
        }
        (None, Some(registers), _) => {
            if !(LEAST_REGISTERS..=MOST_REGISTERS).contains(&registers) {
                let range = format!("{LEAST_REGISTERS} to {MOST_REGISTERS}");
                report.malformed(format!("it demands {registers} registers: there are {range}"));
            }
        }
        (None, None, _) => {}
    }
}

fn verify_shared(report: &mut Report<'_>) {
    let kernel = report.kernel;
    for array in &kernel.shared {
        if let Some(problem) = align_problem(array.align, array.element) {
            report.malformed(format!("the array `{}` {problem}", array.name));
        }
        if let Size::Param(value) = array.size {
            let param = kernel.params.get(value.index());
            let is_int = |param: &Param| param.kind.ty() == Type::Scalar(Scalar::I64);
            if !param.is_some_and(is_int) {
                let message = format!("the size of the array `{}`", array.name);
                report.malformed(format!("{message} is no parameter of int64"));
            }
        }
    }
    let bytes = shared::ends(kernel).1.bytes;
    if bytes > u64::from(MOST_BYTES) {
        let message = format!(
            "shared tensors have {bytes} bytes in all, and a block has at most {MOST_BYTES}"
        );
        let problem = Diagnostic::new("shared", message)
            .help("share fewer, or smaller ones: of a ring, fewer stages");
        report.at_places(problem, &largest(kernel));
    }
}

/// Where the largest arrays are made, the largest first, and how large they are.
fn largest(kernel: &Kernel) -> Vec<(Place, String)> {
    let mut made: Vec<(u32, Shared, Place)> = Vec::new();
    kernel.body.for_each(&mut |op| {
        if let OpKind::Expr(Expr::Shared(shared)) = op.kind
            && let Some(SharedArray { size: Size::Bytes(bytes), .. }) =
                kernel.shared.get(shared.index())
            && !made.iter().any(|(_, known, _)| *known == shared)
        {
            made.push((*bytes, shared, op.place));
        }
    });
    made.sort_by_key(|(bytes, ..)| Reverse(*bytes));
    let told = made.into_iter().take(MOST_TOLD).map(|(bytes, shared, place)| {
        (place, format!("`{}` has {bytes}", kernel.shared[shared.index()].name))
    });
    told.collect()
}

fn verify_locals(report: &mut Report<'_>) {
    let locals = &report.kernel.locals;
    let size = |local: &crate::kernel::LocalArray| {
        u64::from(local.count) * u64::from(local.element.bytes())
    };
    let bytes: u64 = locals.iter().map(size).sum();
    if bytes > u64::from(MOST_LOCAL_BYTES) {
        let message = format!("its register tensors have {bytes} bytes");
        report.malformed(format!("{message}, and a thread has at most {MOST_LOCAL_BYTES}"));
    }
}

fn verify_types(report: &mut Report<'_>) {
    let kernel = report.kernel;
    for (number, value) in kernel.values.iter().enumerate() {
        if !is_type(value.ty) {
            report.malformed(format!("`v{number}` is a {}, which is no type", value.ty));
        }
    }
    for slot in &kernel.slots {
        if !is_type(slot.ty) {
            report.malformed(format!("`{}` is a {}, which is no type", slot.name, slot.ty));
        }
    }
}

fn is_type(ty: Type) -> bool {
    match ty {
        Type::Scalar(_) | Type::Pointer(_) => true,
        Type::Vector(scalar, lanes) => {
            let is_count = lanes > 1 && lanes.is_power_of_two();
            is_count && scalar != Scalar::Bool && ty.bytes() <= MOST_VECTOR_BYTES
        }
    }
}

fn verify_places(report: &mut Report<'_>) {
    let kernel = report.kernel;
    let exists = |number: usize, data: &crate::kernel::PlaceData| {
        data.file.is_none_or(|file| file.index() < kernel.files.len())
            && data.caller.is_none_or(|caller| caller.index() < number)
    };
    let mut places = kernel.places.iter().enumerate();
    if let Some((number, _)) = places.find(|(number, data)| !exists(*number, data)) {
        report.malformed(format!("the place `p{number}` is in no file, or has no caller"));
    }
    if kernel.locals.iter().any(|local| local.place.index() >= kernel.places.len()) {
        report.malformed("a register tensor has no place");
    }
}
