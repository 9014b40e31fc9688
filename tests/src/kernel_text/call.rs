// SPDX-License-Identifier: Apache-2.0
//! Blocks of launches, each with what came of it: lines that begin as a launch does are made, and
//! what stands below each is what they gave.

use super::argument::{Given, split};
use super::{Call, KernelText, Ran};
use kernpack_kernel_ir::Const;

/// The block with what its launches give now.
///
/// # Errors
/// A launch that cannot be read.
pub fn rewritten(file: &KernelText, block: &str) -> Result<String, String> {
    each_launch(block, |line| Ok(came(file.run(&read(file, line)?))))
}

/// The same of launches that give the same where kernels check their indices: indices are found at
/// the same places and, where nothing is found, all is the same.
///
/// # Errors
/// A launch that cannot be read, or of which that is not so.
pub fn rewritten_as_checked(file: &KernelText, block: &str) -> Result<String, String> {
    let Some(checked) = file.checked() else { return rewritten(file, block) };
    each_launch(block, |line| {
        let call = read(file, line)?;
        let [plain, checked] = [file, &checked].map(|file| came(file.run(&call)));
        let (text, checked) = (plain.join("\n"), checked.join("\n"));
        match is_same(&text, &checked) {
            true => Ok(plain),
            false => Err(format!("`{line}` gives\n{text}\nand where it is checked\n{checked}")),
        }
    })
}

/// The launches of a block, each with what is given of it.
fn each_launch(
    block: &str,
    given: impl Fn(&str) -> Result<Vec<String>, String>,
) -> Result<String, String> {
    let mut lines = Vec::new();
    for line in block.lines().filter(|line| is_launch(line)) {
        lines.push(line.to_string());
        lines.extend(given(line)?);
    }
    if lines.is_empty() {
        return Err("expected a launch, such as `k[1, 32](int32(3))`".to_string());
    }
    Ok(lines.join("\n"))
}

fn is_same(plain: &str, checked: &str) -> bool {
    let indices = |text: &str| -> Vec<String> {
        let lines = text.lines().zip(text.lines().skip(1));
        let found = lines.filter(|(line, _)| line.starts_with("error[index-out-of-bounds]"));
        found.map(|(_, place)| place.to_string()).collect()
    };
    match plain.contains("error[") {
        true => indices(plain) == indices(checked),
        false => plain == checked,
    }
}

/// `k[grid, block](…)`, or `k[grid, block, cluster](…)`
fn is_launch(line: &str) -> bool {
    let name = line.split('[').next().unwrap_or_default();
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name && line.ends_with(')') && line.contains("](") && !line.starts_with('[')
}

fn read(file: &KernelText, line: &str) -> Result<Call, String> {
    let wrong = || format!("`{line}` is no launch");
    let (head, rest) = line.split_once("](").ok_or_else(wrong)?;
    let (kernel, size) = head.split_once('[').ok_or_else(wrong)?;
    let given = rest.strip_suffix(')').ok_or_else(wrong)?;
    let sizes: Vec<_> = size.split(',').map(|one| one.trim().parse::<u32>()).collect();
    let (grid, block, cluster) = match sizes[..] {
        [Ok(grid), Ok(block)] => (grid, block, 1),
        [Ok(grid), Ok(block), Ok(cluster)] => (grid, block, cluster),
        _ => return Err(wrong()),
    };
    let names = file.parameters(kernel).into_iter().map(Some).chain(std::iter::repeat(None));
    let given =
        split(given).into_iter().zip(names).enumerate().map(|(i, (text, name))| {
            Given::read(name.unwrap_or_else(|| format!("argument{i}")), text)
        });
    let given = given.collect::<Result<_, _>>()?;
    let [grid, block, cluster] = [grid, block, cluster].map(|count| [count, 1, 1]);
    Ok(Call { kernel: kernel.to_string(), grid, block, cluster, given })
}

fn came(ran: Result<Ran, String>) -> Vec<String> {
    let ran = match ran {
        Ok(ran) => ran,
        Err(problems) => return vec![problems],
    };
    let told = (!ran.told.is_empty()).then_some(ran.told);
    let printed = ran.printed.iter().map(|line| format!("prints {line}"));
    let written = ran.written.iter().map(|(name, values)| {
        let scalar = values.first().map_or("", |value| value.scalar().name());
        format!("{name} = {scalar}[{}]", in_runs(values).join(", "))
    });
    told.into_iter().chain(printed).chain(written).collect()
}

/// Elements, where many are the same as they are written: `32*0.0`.
fn in_runs(values: &[Const]) -> Vec<String> {
    let runs = values.chunk_by(|a, b| a == b).flat_map(|run| match run.len() {
        ..=3 => run.iter().map(Const::to_string).collect(),
        count => vec![format!("{count}*{}", run[0])],
    });
    runs.collect()
}
