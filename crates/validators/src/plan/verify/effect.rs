// SPDX-License-Identifier: Apache-2.0
//! The rules of what an accepted call does.

use super::step::Scope;
use super::{Verified, VerifyError, require};
use crate::plan::{
    Alloc, CScalar, Combinations, Launch, LaunchArg, Plan, Status, TensorMap, Type, Value,
};
use crate::tensor_map::{INTERLEAVES, L2_PROMOTIONS, MapChoices};
use kernpack_ffi_abi::DType;
use kernpack_machine::tensor_map::{MOST_RANK, SWIZZLES};

/// Checks what follows the steps, where `scope` stands.
pub fn verify(plan: &Plan, scope: &mut Scope<'_>) -> Verified {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name =
        plan.name.starts_with(letter) && plan.name.chars().all(|c| letter(c) || c.is_ascii_digit());
    require(is_name, || format!("{:?}", plan.name), "is no name")?;
    require(!plan.signature.contains('\0'), || "the signature".into(), "has a NUL")?;
    scope.device()?;
    all_ints(&plan.peers, scope)?;
    for (number, alloc) in plan.results.iter().chain(&plan.workspaces).enumerate() {
        verify_alloc(number, alloc, scope)?;
    }
    combinations(&plan.combinations, scope)?;
    let ascend = plan.launches.windows(2).all(|pair| pair[0].index < pair[1].index);
    require(ascend, || "a launch".to_string(), "has no number above the one before")?;
    plan.launches.iter().try_for_each(|launch| verify_launch(plan, launch, scope))?;
    let on_gpu = plan.launches.iter().any(|launch| launch.grid().is_some());
    let place = || "the device".to_string();
    require(on_gpu || plan.tells_device(), place, "is not told, and nothing runs on a GPU")?;
    require(on_gpu || !plan.asks_device(), place, "is asked about, and nothing runs on a GPU")
}

fn verify_alloc(number: usize, alloc: &Alloc, scope: &mut Scope<'_>) -> Verified {
    let place = || format!("allocation {number}");
    require(alloc.align.is_power_of_two(), place, "is not aligned to a power of two")?;
    let dims: Vec<_> = alloc.dims.iter().flat_map(|dim| dim.values()).collect();
    all_ints([&alloc.dtype, &alloc.bytes].into_iter().chain(&dims), scope)
}

fn combinations(combinations: &Combinations, scope: &mut Scope<'_>) -> Verified {
    let Combinations { vars, rows, index } = combinations;
    let place = || "a combination".to_string();
    require(
        index.is_some() != vars.is_empty(),
        place,
        "has a number without dtype variables, or none with them",
    )?;
    require(vars.is_empty() || !rows.is_empty(), place, "is missing")?;
    let is_whole = rows.iter().all(|row| row.len() == vars.len());
    require(is_whole, place, "has not a dtype for each variable")?;
    all_ints(index, scope)
}

fn verify_launch(plan: &Plan, launch: &Launch, scope: &mut Scope<'_>) -> Verified {
    launch.cond.map_or(Ok(()), |cond| scope.uses_as(cond, Type::Bool))?;
    let Combinations { vars, rows, .. } = &plan.combinations;
    let exist = launch.rows.iter().all(|row| *row < rows.len());
    let ascend = launch.rows.windows(2).all(|pair| pair[0] < pair[1]);
    let is_any = vars.is_empty() || !launch.rows.is_empty();
    let message = "has kernels for combinations that there are none of, or for none";
    require(exist && ascend && is_any, || place(launch), message)?;
    let mut values = Vec::new();
    launch.for_each_value(&mut |value| values.push(value));
    all_ints(&values, scope)?;
    if let Some(Status { value, fault }) = launch.status() {
        scope.status(*value)?;
        super::fault(*value, fault)?;
        let shows_ints = fault.shown().all(|(_, ty)| ty == Type::Int);
        require(shows_ints, || place(launch), "shows a status as a text")?;
    }
    launch.args.iter().try_for_each(|arg| match arg {
        LaunchArg::TensorMap(map) => {
            require(
                launch.grid().is_some(),
                || place(launch),
                "passes a tensor map to a host function",
            )?;
            tensor_map(plan, launch, map)
        }
        _ => argument(plan, launch, arg),
    })
}

fn argument(plan: &Plan, launch: &Launch, arg: &LaunchArg) -> Verified {
    let (holds, message) = match arg {
        LaunchArg::Value(_, CScalar::Int(dtype)) => {
            let is_c_type = *dtype == DType::BOOL
                || dtype.is_int() && dtype.lanes == 1 && [8, 16, 32, 64].contains(&dtype.bits);
            (is_c_type, "passes an integer of a type that C has not")
        }
        LaunchArg::Value(_, CScalar::Float(dtype)) => {
            (dtype.is_float(), "passes a float of a type that C has not")
        }
        LaunchArg::Value(_, CScalar::Pointer) | LaunchArg::EnvStream => return Ok(()),
        LaunchArg::AssertRecord => {
            (launch.grid().is_some(), "passes a record of assertions to a function on the host")
        }
        LaunchArg::Result(number) => {
            (*number < plan.results.len(), "passes a result that there is none of")
        }
        LaunchArg::Workspace(number) => {
            (*number < plan.workspaces.len(), "passes a workspace that there is none of")
        }
        LaunchArg::Struct(fields) => {
            fields.iter().try_for_each(|field| argument(plan, launch, field))?;
            (!fields.is_empty(), "passes a struct without fields")
        }
        LaunchArg::TensorMap(_) => (false, "passes a tensor map in a struct"),
    };
    require(holds, || place(launch), message)
}

fn tensor_map(plan: &Plan, launch: &Launch, map: &TensorMap) -> Verified {
    let place = || place(launch);
    argument(plan, launch, &map.base)?;
    let is_address = matches!(
        map.base,
        LaunchArg::Value(_, CScalar::Pointer) | LaunchArg::Result(_) | LaunchArg::Workspace(_)
    );
    require(is_address, place, "maps what is no address")?;
    let rank = map.dims.len();
    require((1..=MOST_RANK).contains(&rank), place, "maps too many dims, or none")?;
    let has_all =
        map.strides.len() + 1 == rank && map.box_dims.len() == rank && map.steps.len() == rank;
    require(has_all, place, "maps dims without a stride, a box or a step each")?;
    let MapChoices { interleave, swizzle, l2, nan: _ } = map.choices;
    let is_one = |choice: u32, sizes: &[u32]| choice == 0 || sizes.contains(&choice);
    let are_choices = is_one(interleave, &INTERLEAVES)
        && is_one(swizzle, &SWIZZLES)
        && is_one(l2, &L2_PROMOTIONS);
    require(are_choices, place, "maps with a choice that the driver has not")?;
    require(!map.tensor.contains('\0'), place, "maps a tensor with a NUL in its name")
}

fn all_ints<'v>(
    values: impl IntoIterator<Item = &'v Value>,
    scope: &mut Scope<'_>,
) -> Result<(), VerifyError> {
    values.into_iter().try_for_each(|value| scope.uses_as(*value, Type::Int))
}

fn place(launch: &Launch) -> String {
    format!("launch {}", launch.index)
}
