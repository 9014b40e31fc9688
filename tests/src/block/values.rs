// SPDX-License-Identifier: Apache-2.0
//! `values`: what the accepted call before launches, a line each: `launch 0: n=4, x=0x1000,
//! alpha=1.5`. A kernel for one combination of dtypes is followed by these; an address that only an
//! allocation gives prints as `allocated`.

use super::{Kind, Role, Shown};
use crate::callee::{Launched, Outcome};
use kernpack_syntax::Placed;
use kernpack_validators::plan::{CScalar, LaunchArg};
use kernpack_validators::{KernelArg, Plan, float_text};

pub(super) const KIND: Kind = Kind { info: "values", role: Role::End(show) };

fn show(shown: &Shown<'_>) -> Result<String, String> {
    let (Some(Outcome::Accepted(accepted)), Ok(plan)) = (shown.outcome, &shown.subject.plan) else {
        return Err("expected an accepted call in front".to_string());
    };
    let lines = accepted.launches.iter().map(|launched| {
        let written = &shown.subject.launches[launched.number].args;
        line(plan, written, launched)
    });
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

fn line(plan: &Plan, written: &[Placed<KernelArg>], launched: &Launched) -> String {
    let launch = plan.launches.iter().find(|launch| launch.index == launched.number);
    let mut args = Vec::new();
    launch.expect("a launch that ran is planned").args.iter().for_each(|a| flatten(a, &mut args));
    let mut names = Vec::new();
    written.iter().for_each(|arg| flatten_names(arg, &mut names));
    let mut left = &launched.values[..];
    let mut values = Vec::new();
    for (name, arg) in names.iter().zip(args) {
        let (own, behind) = left.split_at(n_values(arg));
        values.push(format!("{name}={}", text(arg, own)));
        left = behind;
    }
    let dtypes = plan.combinations.rows.get(launched.combination).map(|row| {
        let names = row.iter().map(ToString::to_string).collect::<Vec<_>>();
        format!(" ({})", names.join(", "))
    });
    let values = values.join(", ");
    format!("launch {}{}: {values}", launched.number, dtypes.unwrap_or_default())
}

fn flatten<'p>(arg: &'p LaunchArg, args: &mut Vec<&'p LaunchArg>) {
    match arg {
        LaunchArg::Struct(fields) => fields.iter().for_each(|field| flatten(field, args)),
        _ => args.push(arg),
    }
}

fn flatten_names(arg: &KernelArg, names: &mut Vec<String>) {
    match arg {
        KernelArg::Struct(fields) => fields.iter().for_each(|field| flatten_names(field, names)),
        KernelArg::Value(expr, _) => names.push(expr.to_string()),
        KernelArg::Constant(constant) => names.push(constant.number().to_string()),
        KernelArg::TensorMap(map) => names.push(format!("tma({})", map.tensor)),
    }
}

/// How many values an argument that is no struct has.
fn n_values(arg: &LaunchArg) -> usize {
    match arg {
        LaunchArg::TensorMap(map) => 2 + map.dims.len() + map.strides.len(),
        _ => 1,
    }
}

/// A value; a tensor map as its address, data type, dims and strides.
fn text(arg: &LaunchArg, values: &[i64]) -> String {
    if let LaunchArg::TensorMap(map) = arg {
        let base = text(&map.base, &values[..1]);
        let (dims, strides) = values[2..].split_at(map.dims.len());
        return format!("{base} type {} {dims:?} {strides:?}", values[1]);
    }
    match (arg, values[0]) {
        (LaunchArg::Value(_, CScalar::Pointer), 0) => "NULL".to_string(),
        (LaunchArg::Value(_, CScalar::Pointer), value) => format!("{value:#x}"),
        (LaunchArg::Value(_, CScalar::Float(_)), bits) => float_text(f64::from_bits(bits as u64)),
        (LaunchArg::EnvStream, _) => "stream".to_string(),
        (LaunchArg::Result(_) | LaunchArg::Workspace(_), _) => "allocated".to_string(),
        (_, value) => value.to_string(),
    }
}
