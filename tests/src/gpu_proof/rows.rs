// SPDX-License-Identifier: Apache-2.0
//! A kernel for each intrinsic whose result every machine gives alike, on each type that it takes:
//! functions, what threads of a warp exchange, places in the grid, atomic operations, matrices.

use super::input::{Drawn, Input};
use super::matrices;
use super::one_value::{BLOCK, OneValue, address, ask, finish, grid_index, load, pointer, store};
use super::{Argument, Buffer, Case};
use kernpack_codegen::kernel::nvptx::Needs;
use kernpack_kernel_ir::intrinsic::{self, Accepts, AtomicOp, Gives, Intrinsic, Meaning};
use kernpack_kernel_ir::kernel::{SharedArray, Size, Value};
use kernpack_kernel_ir::op::{Binary, Load, Operand};
use kernpack_kernel_ir::{Builder, Scalar, Type};

/// How many numbers are drawn for a function that is written in operations.
const N_DRAWN: usize = 100_000;

/// All of them.
pub fn all() -> Vec<Case> {
    let mut cases = vec![geometry(false), geometry(true)];
    for row in intrinsic::all() {
        match row.meaning {
            Meaning::Pure(_) | Meaning::Expand(_) | Meaning::Warp(_) => {
                cases.extend(computing(row))
            }
            Meaning::Atomic(op) => cases.extend(atomics(row, op)),
            Meaning::Matrix(op) => cases.extend(matrices::all(row, op)),
            Meaning::Approximate(_)
            | Meaning::Geometry(_)
            | Meaning::Barrier
            | Meaning::Named { .. }
            | Meaning::Interpreted
            | Meaning::Timer(_)
            | Meaning::Fence
            | Meaning::Prefetch
            | Meaning::Copy(_)
            | Meaning::Cluster(_)
            | Meaning::Mbarrier(_)
            | Meaning::Bulk(_)
            | Meaning::Dependent(_)
            | Meaning::Product(_)
            | Meaning::Registers { .. } => {}
        }
    }
    cases
}

fn identifier(text: &str) -> String {
    text.replace(['.', '-'], "_")
}

/// The types that an operand may have, where those before it are known; an index into a warp has
/// few.
fn types(accepts: Accepts, before: &[Scalar]) -> Vec<Scalar> {
    if accepts == Accepts::Int && !before.is_empty() {
        return vec![Scalar::I32, Scalar::I64, Scalar::U8];
    }
    let before: Vec<_> = before.iter().map(|scalar| Some(Type::Scalar(*scalar))).collect();
    let is_taken = |scalar: &Scalar| accepts.takes(Type::Scalar(*scalar), &before);
    Scalar::ALL.iter().copied().filter(is_taken).collect()
}

/// The combinations of types that a row takes.
fn combinations(row: &Intrinsic) -> Vec<Vec<Scalar>> {
    let mut all = vec![vec![]];
    for accepts in row.takes {
        let longer = |before: Vec<Scalar>| {
            types(*accepts, &before)
                .into_iter()
                .map(move |scalar| [&before[..], &[scalar]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

fn computing(row: &'static Intrinsic) -> Vec<Case> {
    let mut cases = Vec::new();
    for inputs in combinations(row) {
        let types: Vec<_> = inputs.iter().map(|scalar| Some(Type::Scalar(*scalar))).collect();
        let Some(Type::Scalar(output)) = row.result(&types) else { continue };
        let names: Vec<_> = inputs.iter().map(|scalar| scalar.name()).collect();
        let name = format!("{}_{}", identifier(row.name), names.join("_"));
        let one = OneValue { name, inputs: &inputs, output };
        let compute = |builder: &mut Builder, x: &[Value]| {
            let operands = x.iter().map(|value| Operand::Value(*value)).collect();
            builder.call(row, operands).unwrap_or(x[0])
        };
        cases.extend(one.kernel(compute).map(|kernel| one.on_numbers(kernel)));
        if matches!(row.meaning, Meaning::Expand(_)) || inputs.len() > 2 {
            let drawn = OneValue { name: format!("{}_drawn", one.name), ..one };
            let kernel = drawn.kernel(compute);
            cases.extend(kernel.map(|kernel| drawn.on_drawn(kernel, Drawn::Wide, N_DRAWN)));
        }
    }
    cases
}

/// Every place in a grid, of blocks and threads in three dimensions; of clusters, where there are.
fn geometry(has_clusters: bool) -> Case {
    let is_asked = |row: &&Intrinsic| {
        let is_about_clusters = Needs::of_row(row) != Needs::NOTHING;
        matches!(row.meaning, Meaning::Geometry(_)) && is_about_clusters <= has_clusters
    };
    let rows: Vec<_> = intrinsic::all().filter(is_asked).collect();
    let (name, grid, block, cluster) = match has_clusters {
        true => ("geometry_of_clusters", [6, 4, 2], [5, 4, 3], [3, 2, 1]),
        false => ("geometry", [3, 2, 2], [5, 4, 3], [1; 3]),
    };
    let mut builder = Builder::new(name, vec![pointer("out", Scalar::I64, true)]);
    let mut index = builder.index(0);
    for (place, size) in [("block_idx", "grid_dim"), ("thread_idx", "block_dim")] {
        for dimension in ["z", "y", "x"] {
            let [place, size] =
                [place, size].map(|name| ask(&mut builder, &format!("{name}.{dimension}")));
            index = builder.binary(Binary::Mul, index, size);
            index = builder.binary(Binary::Add, index, place);
        }
    }
    let n_rows = builder.index(rows.len() as i64);
    let first = builder.binary(Binary::Mul, index, n_rows);
    for (number, row) in rows.iter().enumerate() {
        let number = builder.index(number as i64);
        let index = builder.binary(Binary::Add, first, number);
        let value = ask(&mut builder, row.name);
        store(&mut builder, Value(0), index, value);
    }
    let n_threads: u32 = grid.iter().chain(&block).product();
    let kernel = finish(builder).unwrap_or_else(|| unreachable!("it keeps the rules"));
    let out = zeros(Scalar::I64, n_threads as usize * rows.len());
    Case {
        origin: kernel.name.replace('_', " "),
        kernel,
        grid,
        block,
        cluster,
        arguments: vec![out],
    }
}

fn zeros(element: Scalar, count: usize) -> Argument {
    let input = Input::Listed { bits: vec![0], each: 1 };
    Argument::Buffer(Buffer { element, count, input })
}

/// Where an atomic operation has its numbers.
#[derive(Clone, Copy)]
enum Where {
    /// In global memory, one for each thread.
    Own,
    /// In global memory, some that all threads change.
    Common,
    /// In shared memory, one for each thread.
    Shared,
}

impl Where {
    const fn name(self) -> &'static str {
        match self {
            Where::Own => "own",
            Where::Common => "common",
            Where::Shared => "shared",
        }
    }
}

/// How many numbers threads change together.
const N_COMMON: i64 = 8;
/// The blocks of a grid that does.
const N_BLOCKS: u32 = 4;

/// An atomic operation in each order and scope on one type, and in one of them on each type and
/// wherever its outcome does not depend on who comes first.
fn atomics(row: &'static Intrinsic, op: AtomicOp) -> Vec<Case> {
    let words = |at: usize| match row.takes[row.takes.len() - at] {
        Accepts::Word(words) => words,
        _ => &[],
    };
    let (orders, scopes) = (words(2), words(1));
    let mut cases = Vec::new();
    let of_type = match row.gives {
        Gives::Exactly(scalar) => vec![scalar],
        Gives::Like(_) | Gives::Vector(..) | Gives::Nothing | Gives::Pointer(_) => {
            Scalar::ALL.to_vec()
        }
    };
    // A float addition of a GPU may take numbers close to 0 for 0.
    for scalar in of_type.into_iter().filter(|scalar| !scalar.is_float()) {
        let first = [[orders[0], scopes[2]]];
        let all = orders.iter().flat_map(|order| scopes.iter().map(move |scope| [*order, *scope]));
        let all: Vec<_> = if scalar == Scalar::I32 { all.collect() } else { first.to_vec() };
        cases.extend(all.iter().filter_map(|words| atomic(row, scalar, Where::Own, *words)));
        cases.extend(atomic(row, scalar, Where::Shared, first[0]));
        if let AtomicOp::Update(_) = op {
            cases.extend(atomic(row, scalar, Where::Common, first[0]));
        }
    }
    cases
}

/// A kernel that changes numbers of its first tensor by those of its second and third, and stores
/// what it is given into the last, where that does not depend on other threads.
fn atomic(
    row: &'static Intrinsic,
    scalar: Scalar,
    at: Where,
    words: [&'static str; 2],
) -> Option<Case> {
    let name = format!("{}_{scalar}_{}_{}", identifier(row.name), at.name(), words.join("_"));
    let params = [("at", true), ("x", false), ("y", false), ("was", true)];
    let params = params.map(|(name, is_written)| pointer(name, scalar, is_written));
    let mut builder = Builder::new(name, params.to_vec());
    builder.kernel_mut().block = [Some(BLOCK), Some(1), Some(1)];
    let index = grid_index(&mut builder);
    let [x, y] = [1, 2].map(|place| load(&mut builder, Value(place), index, scalar));
    let place = match at {
        Where::Own => address(&mut builder, Value(0), index, scalar),
        Where::Common => {
            let n_common = builder.index(N_COMMON);
            let place = builder.binary(Binary::FloorMod, index, n_common);
            address(&mut builder, Value(0), place, scalar)
        }
        Where::Shared => own_in_shared(&mut builder, index, scalar),
    };
    let n_values = row.takes.len() - 3;
    let values = [place, x, y].into_iter().take(1 + n_values).map(Operand::Value);
    let was = builder.call(row, values.chain(words.map(Operand::Word)).collect());
    if let (Some(was), Where::Own | Where::Shared) = (was, at) {
        store(&mut builder, Value(3), index, was);
    }
    if let Where::Shared = at {
        let held = Load { pointer: place, align: scalar.bytes(), qualifier: None, guard: None };
        let now = builder.load(scalar.into(), held);
        store(&mut builder, Value(0), index, now);
    }
    let kernel = finish(builder)?;
    let count = (BLOCK * N_BLOCKS) as usize;
    let drawn = |seed| {
        let input = Input::Drawn { seed, kind: Drawn::Small };
        Argument::Buffer(Buffer { element: scalar, count, input })
    };
    Some(Case {
        origin: kernel.name.replace('_', " "),
        kernel,
        grid: [N_BLOCKS, 1, 1],
        block: [BLOCK, 1, 1],
        cluster: [1; 3],
        arguments: vec![drawn(1), drawn(2), drawn(3), zeros(scalar, count)],
    })
}

/// The address of a thread's number in an array of the block, which has what the thread's element
/// of the first tensor was.
fn own_in_shared(builder: &mut Builder, index: Value, scalar: Scalar) -> Value {
    let array = builder.shared(SharedArray {
        name: "numbers".to_string(),
        element: scalar,
        size: Size::Bytes(BLOCK * scalar.bytes()),
        align: 16,
    });
    let was = load(builder, Value(0), index, scalar);
    let thread = ask(builder, "thread_idx.x");
    let array = builder.shared_address(array);
    store(builder, array, thread, was);
    address(builder, array, thread, scalar)
}
