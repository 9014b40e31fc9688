// SPDX-License-Identifier: Apache-2.0
//! `launch`: a kernel that an accepted call runs. A line is an argument of the kernel, `when:` and
//! what its `when` says, or `status:` and the number that it returns. With `grid:`, `block:`,
//! `cluster:` (numbers, each ended by `;`), `smem:` and `priority:` it is launched on a GPU.

use super::{Kind, Role};
use crate::kernels;
use crate::subject::Subject;
use kernpack_syntax::{Placed, Snippet};
use kernpack_validators::{
    Geometry, LaunchSpec, Returns, Site, When, parse_expr, parse_kernel_arg, parse_when,
};

pub(super) const KIND: Kind = Kind { info: "launch", role: Role::Add(read) };

fn read(text: &str, subject: &mut Subject) -> Result<(), String> {
    let (mut when, mut args, mut geometry, mut status) = (When::Always, vec![], None, None);
    let block = subject.add_text("launch", text);
    let texts = subject.texts.clone();
    let mut start = 0;
    for line in text.lines() {
        let end = start + line.len();
        let behind = |rest: &str| texts.snippet(block).piece(end - rest.len(), end);
        start = end + 1;
        if let Some(rules) = line.strip_prefix("when:") {
            when = parse_when(behind(rules)).map_err(|problems| problems.to_string())?;
        } else if let Some(number) = line.strip_prefix("status:") {
            status = Some(number.trim().parse().map_err(|_| format!("`{number}` is no status"))?);
        } else if let Some((key, numbers)) = layout(line) {
            let geometry = geometry.get_or_insert_with(|| Geometry::new(vec![], vec![]));
            lay_out(geometry, key, behind(numbers))?;
        } else {
            let arg = parse_kernel_arg(behind(line)).map_err(|problems| problems.to_string())?;
            args.push(Placed::new(arg, behind(line).span));
        }
    }
    let site = match (geometry, status) {
        (Some(_), Some(_)) => return Err("a launch on a GPU has no status".to_string()),
        (Some(geometry), None) => Site::Gpu(geometry.into()),
        (None, Some(_)) => Site::Host(Returns::Status),
        (None, None) => Site::Host(Returns::Void),
    };
    let kernel = kernels::shown_name(&subject.signature, subject.launches.len());
    subject.launches.push(LaunchSpec { when, kernel, args, site });
    subject.statuses.push(status);
    subject.plan_again();
    Ok(())
}

const LAYOUT: [&str; 5] = ["grid", "block", "cluster", "smem", "priority"];

/// A key of the layout, with the numbers behind it.
fn layout(line: &str) -> Option<(&str, &str)> {
    line.split_once(':').filter(|(key, _)| LAYOUT.contains(key))
}

fn lay_out(geometry: &mut Geometry, key: &str, list: Snippet<'_>) -> Result<(), String> {
    let (mut numbers, mut start) = (Vec::new(), 0);
    for text in list.text.split(';') {
        let piece = list.piece(start, start + text.len());
        start += text.len() + 1;
        if !text.trim().is_empty() {
            let number = parse_expr(piece).map_err(|problems| problems.to_string())?;
            numbers.push(Placed::new(number, piece.span));
        }
    }
    match key {
        "grid" => geometry.grid = numbers,
        "block" => geometry.block = numbers,
        "cluster" => geometry.cluster = numbers,
        "smem" => geometry.shared = numbers.pop().ok_or("`smem:` has no number")?,
        _ => geometry.priority = numbers.pop(),
    }
    Ok(())
}
