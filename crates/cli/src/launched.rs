// SPDX-License-Identifier: Apache-2.0
//! Launches and tensors of a call: what `kernpack run`, `kernpack bench` and Python's `check` show.
//! Not here: what is counted (`crates/kernel-ir/src/interp/traffic.rs`).

use kernpack_kernel_ir::interp::{Amount, Traffic};
use kernpack_kernel_ir::types::Space;
use kernpack_package::interpret::{InterpretedLaunch, InterpretedTensor, LineTraffic};
use kernpack_validators::plan::LaidOut;
use serde_json::{Value, json};
use std::fmt::Write;

/// The launch, for people.
pub(crate) fn text(launch: &InterpretedLaunch) -> String {
    let InterpretedLaunch { kernel, layout, printed, traffic, .. } = launch;
    let mut text = layout_text(kernel, layout);
    printed.iter().for_each(|line| text += &format!("  {line}\n"));
    traffic.iter().flatten().for_each(|line| text += &format!("  {}\n", line_text(line)));
    text
}

/// A kernel, and how it is laid out.
pub(crate) fn layout_text(kernel: &str, layout: &LaidOut) -> String {
    let list = |extents: [i64; 3]| match extents {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x}, {y}"),
        [x, y, z] => format!("{x}, {y}, {z}"),
    };
    let mut text =
        format!("{kernel}: grid [{}], block [{}]", list(layout.grid), list(layout.block));
    if layout.shared > 0 {
        let _ = write!(text, ", {} bytes of shared memory", layout.shared);
    }
    text.push('\n');
    text
}

/// The launch, for programs.
pub fn json(launch: &InterpretedLaunch) -> Value {
    let InterpretedLaunch { kernel, layout, printed, thread_ops, traffic } = launch;
    let mut answer = layout_json(kernel, layout);
    (answer["printed"], answer["thread_ops"]) = (json!(printed), json!(thread_ops));
    if let Some(lines) = traffic {
        answer["traffic"] = lines.iter().map(line_json).collect();
    }
    answer
}

/// A kernel, and how it is laid out.
pub(crate) fn layout_json(kernel: &str, layout: &LaidOut) -> Value {
    json!({
        "kernel": kernel, "grid": layout.grid, "block": layout.block, "smem": layout.shared,
    })
}

/// A tensor of a call, without what it holds.
pub(crate) fn tensor_json(tensor: &InterpretedTensor) -> Value {
    let InterpretedTensor { name, element, shape, strides, role, .. } = tensor;
    json!({
        "name": name, "dtype": element.name(), "shape": shape, "strides": strides,
        "role": role.name(),
    })
}

/// As in ``sum.py:11: reads `x`, 16 bytes: 4096 times by a warp, 65536 sectors, the least``.
fn line_text(LineTraffic { file, traffic }: &LineTraffic) -> String {
    let Traffic { place, deed, memory, space, bytes, amount } = traffic;
    let (file, line) = (file.as_deref().unwrap_or("?"), place.line);
    let Amount { accesses, taken, least, .. } = amount;
    let unit = if *space == Space::Global { "sectors" } else { "turns of the banks" };
    let beside = match taken == least {
        true => "the least".to_string(),
        false => format!("{:.2} times the least", *taken as f64 / (*least).max(1) as f64),
    };
    let verb = deed.text();
    format!(
        "{file}:{line}: {verb} `{memory}`, {bytes} bytes: {accesses} times by a warp, {taken} \
         {unit}, {beside}"
    )
}

fn line_json(line: &LineTraffic) -> Value {
    let LineTraffic { file, traffic } = line;
    let Traffic { place, deed, memory, space, bytes, amount } = traffic;
    let Amount { accesses, threads, taken, least } = amount;
    json!({
        "file": file, "line": place.line, "column": place.column, "deed": deed.text(),
        "tensor": memory, "memory": space.name(), "bytes": bytes, "accesses": accesses,
        "threads": threads, "taken": taken, "least": least, "text": line_text(line),
    })
}
