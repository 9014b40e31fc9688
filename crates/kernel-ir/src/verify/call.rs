// SPDX-License-Identifier: Apache-2.0
//! Rules of calls: what a row of the table takes.

use super::products;
use super::types::Rule;
use crate::intrinsic::{Accepts, Intrinsic, reduced_types};
use crate::kernel::{Kernel, TensorMap};
use crate::op::{Call, Operand};
use crate::types::Type;

pub(super) fn rule(kernel: &Kernel, call: &Call) -> Rule {
    let Call { intrinsic, operands } = call;
    if operands.len() != intrinsic.takes.len() {
        let (name, takes) = (intrinsic.name, intrinsic.takes.len());
        return Err(format!("`{name}` takes {takes} operands, found {}", operands.len()));
    }
    let types = operands.iter().map(|operand| match operand {
        Operand::Value(value) => Some(kernel.ty(*value)),
        Operand::Constant(_) | Operand::Word(_) | Operand::Local(_) => None,
    });
    let types: Vec<_> = types.collect();
    for (place, operand) in operands.iter().enumerate() {
        operand_rule(kernel, intrinsic, place, operand, &types)?;
    }
    map_rule(kernel, call)?;
    products::rule(kernel, call)?;
    Ok(intrinsic.result(&types))
}

/// A copy of a box names its map, a parameter, and has a coordinate for each dim.
fn map_rule(kernel: &Kernel, call: &Call) -> Result<(), String> {
    let Some((place, coordinates)) = call.intrinsic.map_operand() else { return Ok(()) };
    let name = call.intrinsic.name;
    match kernel.map_of(call) {
        None => Err(format!("operand {place} of `{name}` is no map that the kernel is passed")),
        Some((_, map)) if map.rank != coordinates => {
            Err(format!("`{name}` has {coordinates} coordinates, and its map {}", map.rank))
        }
        Some((_, map)) => reduction_rule(call, map),
    }
}

/// The device combines elements of some types alone.
fn reduction_rule(call: &Call, map: &TensorMap) -> Result<(), String> {
    match call.words().find(|word| !reduced_types(word).contains(&map.element)) {
        Some(word) => Err(format!("`{word}` of a map's elements, which are {}", map.element)),
        None => Ok(()),
    }
}

fn operand_rule(
    kernel: &Kernel,
    intrinsic: &Intrinsic,
    place: usize,
    operand: &Operand,
    types: &[Option<Type>],
) -> Result<(), String> {
    let accepts = intrinsic.takes[place];
    let (is_right, found) = match (operand, types[place]) {
        (Operand::Value(_), Some(ty)) => (accepts.takes(ty, types), ty.to_string()),
        (Operand::Constant(number), _) => (accepts.takes_constant(*number), number.to_string()),
        (Operand::Word(word), _) => {
            let fits = matches!(accepts, Accepts::Word(words) if words.contains(word));
            (fits, format!("`{word}`"))
        }
        (Operand::Local(local), _) => {
            let element = kernel.locals[local.index()].element;
            let fits = matches!(accepts, Accepts::Registers(of) if of.contains(&element));
            (fits, format!("a register tensor of {element}"))
        }
        (Operand::Value(_), None) => (false, "a value".to_string()),
    };
    if is_right {
        return Ok(());
    }
    let name = intrinsic.name;
    Err(format!("operand {place} of `{name}` is {accepts}, found {found}"))
}
