// SPDX-License-Identifier: Apache-2.0
//! Kernels from their text to operations, and what they compute.

mod calls;
mod control;
mod diagnostics;
mod files;
mod fuzz;
mod meaning;
mod memory;
mod pipelines;
mod run;
mod sources;

use crate::argument::{Argument, Constant, Dim, ScalarArg, TensorArg};
use crate::elaborate::{Instance, Request, elaborate};
use crate::extents::{Relations, Surroundings};
use crate::file::KernelFiles;
use kernpack_kernel_ir::interp::{Memory, Trial};
use kernpack_kernel_ir::kernel::{Facts, ParamKind, Place};
use kernpack_kernel_ir::op::Region;
use kernpack_kernel_ir::{Const, Scalar};
use kernpack_layout::{Int, Layout, Mode, Tuple};
use kernpack_syntax::Texts;
use kernpack_validators::{Expr, KernelArg};
use std::path::Path;
use std::sync::Arc;

/// A dim of which it is known that it is not negative, and what divides it.
fn dim(expr: Expr, divisor: i64) -> Int<Dim> {
    let facts = Facts { min: 0, max: 1 << 40, divisor };
    match expr.as_int() {
        Some(number) => Int::Known(number),
        None => Int::Dynamic(Dim { expr, facts, step: 1 }),
    }
}

/// A compact tensor in C's order. A dim is written `n`, `4`, or `n % 8`, which 8 divides.
fn tensor(name: &str, element: Scalar, dims: &[&str], is_written: bool) -> Argument {
    let dims: Vec<_> = dims
        .iter()
        .map(|text| match (text.split_once(" % "), text.parse::<i64>()) {
            (_, Ok(number)) => (Expr::Int(number), 1),
            (Some((symbol, by)), _) => (Expr::symbol(symbol), by.parse().expect("a number")),
            (None, _) => (Expr::symbol(*text), 1),
        })
        .collect();
    let mut stride = (Expr::Int(1), 1);
    let mut modes = Vec::new();
    for (extent, divisor) in dims.iter().rev() {
        let mode = Mode::new(dim(extent.clone(), *divisor), dim(stride.0.clone(), stride.1));
        modes.push(Tuple::Leaf(mode));
        let next = match (&stride.0, extent) {
            (Expr::Int(1), extent) => extent.clone(),
            (Expr::Int(a), Expr::Int(b)) => Expr::Int(a * b),
            (a, b) => b.clone() * a.clone(),
        };
        stride = (next, stride.1 * divisor);
    }
    modes.reverse();
    Argument::Tensor(Box::new(TensorArg {
        name: name.into(),
        pointer: Expr::symbol(name),
        element,
        align: 16,
        is_written,
        is_alone: true,
        view: Layout::Node(modes),
        offset: Int::Known(0),
    }))
}

fn read(name: &str, element: Scalar, dims: &[&str]) -> Argument {
    tensor(name, element, dims, false)
}

fn written(name: &str, element: Scalar, dims: &[&str]) -> Argument {
    tensor(name, element, dims, true)
}

fn scalar(name: &str, scalar: Scalar) -> Argument {
    Argument::Scalar(ScalarArg { expr: Expr::symbol(name), scalar, facts: Facts::NONE })
}

fn int(value: i128) -> Argument {
    Argument::Constant(Constant::Int(value.into()))
}

fn text(value: &str) -> Argument {
    Argument::Constant(Constant::Text(Arc::from(value)))
}

/// Elaborates the kernel `k` of a file that begins with an import of kernpack.
fn elaborate_k(source: &str, arguments: &[Argument], threads: u32) -> Result<Instance, String> {
    let source = format!("import kernpack as kp\n{source}");
    elaborate_of(&source, "k", arguments, [threads, 1, 1])
}

/// Elaborates a kernel of a file.
fn elaborate_of(
    source: &str,
    name: &str,
    arguments: &[Argument],
    block: [u32; 3],
) -> Result<Instance, String> {
    let mut texts = Texts::default();
    let mut door = |path: &Path| match path.to_str() {
        Some("k.py") => Ok(source.as_bytes().to_vec()),
        // What the examples have in common.
        Some("rows.py") => Ok(include_bytes!("../../../../examples/kernels/rows.py").to_vec()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    };
    let files = KernelFiles::read(Path::new("k.py"), &mut door, &mut texts);
    let files = files.map_err(|problems| problems.in_texts(&texts))?;
    let kernel = files.function(name).expect("the file has the kernel");
    let block = block.map(Some);
    let relations = Relations::default();
    let surroundings = Some(Surroundings { grid: &[], relations: &relations });
    let request = Request {
        kernel,
        arguments,
        dtypes: &[],
        block,
        archs: &[],
        symbol: "k",
        surroundings,
        is_checked: false,
    };
    elaborate(&files, &request).map_err(|problems| problems.in_texts(&texts))
}

/// Runs a kernel once, and holds that nothing is found. Tensors hold behind it what it left there,
/// and `number` says what an expression is, as a number of a type.
fn run_clean(
    instance: Instance,
    [grid, block]: [[u32; 3]; 2],
    tensors: &mut [Memory],
    number: &dyn Fn(&Expr, Scalar) -> Const,
) {
    let Instance { kernel, args, .. } = instance;
    let shown = kernel.to_string();
    let params = kernel.params.clone();
    let trial = Trial::of_verified(kernel).unwrap_or_else(|problems| panic!("{problems}\n{shown}"));
    let mut trial = trial.grid(grid).block(block);
    let ids: Vec<_> = tensors.iter().map(|tensor| trial.hold(tensor.clone())).collect();
    let mut trial = args.iter().zip(&params).fold(trial, |trial, (arg, param)| {
        let KernelArg::Value(expr, _) = arg else { panic!("{arg}") };
        match param.kind {
            ParamKind::Pointer(_) => {
                let name = expr.to_string();
                let place = tensors.iter().position(|tensor| tensor.name == name);
                trial.at(ids[place.unwrap_or_else(|| panic!("no tensor `{name}`"))])
            }
            ParamKind::Scalar(scalar, _) => trial.number(number(expr, scalar)),
            ParamKind::Map(_) => panic!("a map is no value"),
        }
    });
    trial.clean();
    for (tensor, id) in tensors.iter_mut().zip(ids) {
        *tensor = trial.memories.get(id).clone();
    }
}

/// The operations of a kernel, without their places.
fn operations(instance: &Instance) -> String {
    let mut kernel = instance.kernel.clone();
    kernel.files.clear();
    let mut body = std::mem::take(&mut kernel.body);
    forget_places(&mut body);
    kernel.body = body;
    kernel.to_string()
}

fn forget_places(region: &mut Region) {
    for op in &mut region.0 {
        op.place = Place::NOWHERE;
        op.kind.regions_mut().for_each(forget_places);
    }
}
