// SPDX-License-Identifier: Apache-2.0
//! Random plans with one thing changed at random, whatever comes of it.

use super::Rng;
use kernpack_ffi_abi::{DType, Field, Width};
use kernpack_validators::fault::Part;
use kernpack_validators::plan::{
    AllocDim, Arith, CScalar, Compare, Expr, LaunchArg, Plan, Repeat, Site, Step, Type, Value, When,
};

const WIDTHS: [Width; 6] = [Width::U8, Width::U16, Width::I32, Width::U32, Width::I64, Width::Ptr];
const ARITH: [Arith; 6] =
    [Arith::Add, Arith::Sub, Arith::Mul, Arith::FloorDiv, Arith::Mod, Arith::BitAnd];

/// Changes one thing.
pub fn break_plan(rng: &mut Rng, plan: &mut Plan) {
    match rng.below(10) {
        0..=3 => {
            let (number, expr) = (rng.below(plan.exprs.len()), any_expr(rng, plan));
            plan.exprs[number] = expr;
        }
        4..=6 => {
            let mut steps = std::mem::take(&mut plan.steps);
            break_steps(rng, plan, &mut steps);
            plan.steps = steps;
        }
        7 => break_launch(rng, plan),
        8 => break_alloc(rng, plan),
        _ => break_frame(rng, plan),
    }
}

/// A value that there is, or is not. What steps define is where most can go wrong.
fn any_value(rng: &mut Rng, plan: &Plan) -> Value {
    let is_defined = |expr: &Expr| matches!(expr, Expr::Yield(..) | Expr::Turn(..) | Expr::Device);
    let defined = (0..).zip(&plan.exprs).filter(|(_, expr)| is_defined(expr));
    let defined: Vec<_> = defined.map(|(number, _)| Value(number)).collect();
    match defined.is_empty() || rng.sixteenths(10) {
        true => Value(rng.below(plan.exprs.len() + 1) as u32),
        false => rng.pick(&defined),
    }
}

fn any_type(rng: &mut Rng) -> Type {
    rng.pick(&[Type::Int, Type::Bool, Type::Text])
}

fn any_dtype(rng: &mut Rng) -> DType {
    match rng.sixteenths(12) {
        true => DType::TABLE[rng.below(DType::TABLE.len())].0,
        false => DType::from_packed(rng.bits() as u32),
    }
}

fn any_expr(rng: &mut Rng, plan: &Plan) -> Expr {
    let [a, b, c] = [(); 3].map(|()| any_value(rng, plan));
    let (op, number) = (rng.pick(&ARITH), rng.bits() as u32);
    match rng.below(21) {
        0 => Expr::Int(rng.int()),
        1 => Expr::Bool(rng.sixteenths(8)),
        2 => Expr::Args,
        3 => Expr::NumArgs,
        4 => Expr::Device,
        5 => {
            let (offset, width) = (rng.below(16) as u32, rng.pick(&WIDTHS));
            Expr::Load(a, Field { owner: "Any", name: "field", c_path: "field", offset, width })
        }
        6 => Expr::Element(a, if rng.sixteenths(8) { number } else { number % 4 }),
        7 => Expr::Arith(op, a, b),
        8 => Expr::Overflows(op, a, b),
        9 => Expr::Compare(rng.pick(&[Compare::Eq, Compare::Le]), a, b),
        10 => Expr::And(a, b),
        11 => Expr::Or(a, b),
        12 => Expr::Not(a),
        13 => Expr::Select(a, b, c),
        14 => Expr::FloatBits(a),
        15 => Expr::Rounded(a, any_dtype(rng)),
        16 => Expr::Yield(any_type(rng), number % 8),
        17 => Expr::Text(rng.pick(&["", "a", "a\0"]).into()),
        18 => Expr::TextAt(a),
        19 => Expr::TextIs(a, rng.pick(&["", "a", "a\0"]).into()),
        _ => Expr::Turn(any_type(rng), number % 8),
    }
}

fn break_steps(rng: &mut Rng, plan: &Plan, steps: &mut Vec<Step>) {
    let value = any_value(rng, plan);
    if steps.is_empty() {
        return steps.push(Step::Let("x".to_string(), value));
    }
    let number = rng.below(steps.len());
    match rng.below(6) {
        0 => _ = steps.remove(number),
        1 => steps.insert(number, Step::AskDevice),
        2 => {
            let other = rng.below(steps.len());
            steps.swap(number, other);
        }
        3 => steps.insert(number, steps[number].clone()),
        _ => break_step(rng, plan, &mut steps[number]),
    }
}

fn break_step(rng: &mut Rng, plan: &Plan, step: &mut Step) {
    let value = any_value(rng, plan);
    match step {
        Step::Let(_, it) => *it = value,
        Step::AskDevice => *step = Step::Let("x".to_string(), value),
        Step::AskBlocks(asked) => match rng.below(4) {
            0 => asked.cond = Some(value),
            1 => asked.shared = value,
            2 => asked.answer = value,
            _ => asked.launch += 1,
        },
        Step::Require(cond, fault) => match rng.below(4) {
            0 => *cond = value,
            1 => fault.parts.push(Part::Text("a\0b".to_string())),
            2 => fault.parts = vec![Part::Text("x".to_string()); rng.below(128)],
            _ => {
                for part in &mut fault.parts {
                    if let Part::Value(shown, _) | Part::Optional(shown, ..) = part {
                        *shown = value;
                    }
                }
            }
        },
        Step::When(When { cond, steps, yields }) => match rng.below(6) {
            0 => *cond = value,
            1..=3 => break_steps(rng, plan, steps),
            _ => match yields.first_mut() {
                None => *cond = value,
                Some(yielded) => match rng.below(3) {
                    0 => yielded.outer = value,
                    1 => yielded.inner = value,
                    _ => yielded.otherwise = value,
                },
            },
        },
        Step::Repeat(Repeat { count, turn, steps, carried, .. }) => match rng.below(7) {
            0 => *count = value,
            1 => *turn = value,
            2..=4 => break_steps(rng, plan, steps),
            _ => match carried.first_mut() {
                None => *count = value,
                Some(carried) => match rng.below(4) {
                    0 => carried.inner = value,
                    1 => carried.first = value,
                    2 => carried.next = value,
                    _ => carried.outer = value,
                },
            },
        },
    }
}

fn break_launch(rng: &mut Rng, plan: &mut Plan) {
    let value = any_value(rng, plan);
    if plan.launches.is_empty() {
        plan.device.kind = value;
        return;
    }
    let number = rng.below(plan.launches.len());
    let arg = any_arg(rng, plan);
    let launch = &mut plan.launches[number];
    match (rng.below(8), &mut launch.site) {
        (0, _) => launch.cond = Some(value),
        (1, Site::Gpu(grid)) => grid.grid[0] = value,
        (2, Site::Gpu(grid)) => grid.shared = value,
        (1, Site::Host(Some(status))) => status.value = value,
        (2, Site::Host(Some(status))) => status.fault.parts.clear(),
        (3 | 4, _) => match launch.args.first_mut() {
            Some(LaunchArg::TensorMap(map)) => match rng.below(5) {
                0 => map.base = arg,
                1 => map.dims.push(value),
                2 => map.strides.clear(),
                3 => map.box_dims.extend([1; 8]),
                _ => map.choices.swizzle = 1 + rng.below(256) as u32,
            },
            Some(first) => *first = arg,
            None => launch.args.push(arg),
        },
        (5, _) => plan.launches.reverse(),
        _ => launch.args.push(arg),
    }
}

fn any_arg(rng: &mut Rng, plan: &Plan) -> LaunchArg {
    let value = any_value(rng, plan);
    match rng.below(8) {
        0 => LaunchArg::Result(rng.below(4)),
        1 => LaunchArg::Workspace(rng.below(4)),
        2 => LaunchArg::EnvStream,
        3 => LaunchArg::Struct(vec![]),
        4 => LaunchArg::Struct(vec![LaunchArg::Value(value, CScalar::Int(any_dtype(rng)))]),
        5 => LaunchArg::Value(value, CScalar::Int(any_dtype(rng))),
        6 => LaunchArg::Value(value, CScalar::Float(any_dtype(rng))),
        _ => LaunchArg::Value(value, CScalar::Pointer),
    }
}

fn break_alloc(rng: &mut Rng, plan: &mut Plan) {
    let (value, number) = (any_value(rng, plan), rng.below(40) as u32);
    let Some(alloc) = plan.results.iter_mut().chain(&mut plan.workspaces).next() else {
        plan.device.index = value;
        return;
    };
    match rng.below(4) {
        0 => alloc.align = number,
        1 => alloc.dtype = value,
        2 => alloc.bytes = value,
        _ => alloc.dims.push(AllocDim::One(value)),
    }
}

fn break_frame(rng: &mut Rng, plan: &mut Plan) {
    let value = any_value(rng, plan);
    match rng.below(8) {
        0 => plan.device.kind = value,
        1 => plan.device.index = value,
        2 => plan.device.is_told = value,
        3 => plan.combinations.index = Some(value),
        4 => plan.combinations.rows.clear(),
        5 => plan.combinations.vars.push("U".to_string()),
        6 => plan.results.clear(),
        _ => plan.workspaces.clear(),
    }
}
