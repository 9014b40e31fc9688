// SPDX-License-Identifier: Apache-2.0
//! Runs kernels on the interpreter and compiles them, for a machine with a GPU to do the same:
//! `record_kernels FOLDER COUNT ARCH...`. There are as many random ones, and beside them every
//! operation on the numbers at which something happens. `tests/gpu/replay_kernels.py` makes the
//! launches there, and keeps what differs, which `record_kernels --differs KERNEL PARAM FILE`
//! shows.
#![expect(clippy::print_stdout, reason = "a program reports to its reader")]

use kernpack_compiler::image::Arch;
use kernpack_kernel_ir::generate::{Argument, Generated, first_difference, generate};
use kernpack_tests::kernel_record::{Record, run, table};
use std::path::Path;

/// How many kernels become one module.
const BATCH: usize = 100;
/// What random kernels are called, with their seeds.
const RANDOM: &str = "generated_";

fn main() -> Result<(), String> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--differs", kernel, param, file] => differs(kernel, param, Path::new(file)),
        [folder, count, archs @ ..] if !archs.is_empty() => {
            let archs: Result<Vec<Arch>, _> = archs.iter().map(|arch| arch.parse()).collect();
            let archs = archs.map_err(|error| error.to_string())?;
            record(Path::new(folder), number(count)?, archs)
        }
        _ => Err("record_kernels FOLDER COUNT ARCH... | --differs KERNEL PARAM FILE".to_string()),
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|error| format!("`{text}`: {error}"))
}

fn record(folder: &Path, count: u64, archs: Vec<Arch>) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let mut record = Record::new(folder, archs);
    let random: Vec<_> = (0..count).map(plain).collect();
    for batch in [&table::launches()[..]].into_iter().chain(random.chunks(BATCH)) {
        record.add(batch)?;
    }
    record.finish().map_err(|error| error.to_string())
}

/// A random kernel. What it overwrites is 0 before, so that there is less to carry.
fn plain(seed: u64) -> Generated {
    let mut generated = generate(seed);
    for argument in &mut generated.arguments {
        if let Argument::Tensor(tensor) = argument
            && tensor.is_written
        {
            tensor.bytes.fill(0);
        }
    }
    generated
}

/// Shows the kernel, and where a GPU gave something else.
fn differs(kernel: &str, param: &str, file: &Path) -> Result<(), String> {
    let launch = match kernel.strip_prefix(RANDOM) {
        Some(seed) => plain(number(seed)?),
        None => {
            let mut tables = table::launches().into_iter();
            tables.find(|table| table.kernel.name == kernel).ok_or("there is no such kernel")?
        }
    };
    let param = number(param)? as usize;
    let (expected, found) = (run(&launch)?, std::fs::read(file).map_err(|e| e.to_string())?);
    let Some(Argument::Tensor(tensor)) = launch.arguments.get(param) else {
        return Err(format!("parameter {param} is no tensor"));
    };
    println!("{}", launch.kernel);
    let (element, expected) = (tensor.element, &expected[param]);
    match first_difference(element, expected, &found) {
        None => println!("`v{param}` is the same"),
        Some(at) => {
            let size = element.bytes() as usize;
            let shown = |bytes: &[u8]| format!("{:02x?}", &bytes[at * size..][..size]);
            println!("`v{param}`[{at}]: expected {}, found {}", shown(expected), shown(&found));
        }
    }
    Ok(())
}
