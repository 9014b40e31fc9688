// SPDX-License-Identifier: Apache-2.0
//! A plan that keeps every rule, and for each rule plans that break it.

use super::{MAX_DEPTH, MAX_PARTS, MAX_REPEATS, MAX_VALUES};
use crate::fault::{Fault, Format, Part};
use crate::geometry::LaunchFlags;
use crate::plan::{
    Alloc, AllocDim, Arith, AskBlocks, CScalar, Carried, Compare, Device, Expr, Grid, Launch,
    LaunchArg, Plan, Repeat, Site, Status, Step, TensorMap, Type, Value, When, Yielded,
};
use crate::tensor_map::MapChoices;
use kernpack_ffi_abi::layout::{any, dl_tensor};
use kernpack_ffi_abi::{DType, ErrorKind};

/// The first expressions of every plan here.
const ZERO: Value = Value(0);
const TRUTH: Value = Value(1);
const ARGS: Value = Value(2);
const DEVICE: Value = Value(3);

const WRONG_TYPE: &str = "is used as another type than it has";
const UNDEFINED: &str = "is used where no step has defined it";

/// A plan in the making, and values of it that tests change.
struct Made {
    plan: Plan,
    /// The value that the `when` yields, and the `repeat` hands on.
    yielded: Value,
    handed_on: Value,
    /// The value that the `repeat` gives.
    turn: Value,
    carried: Value,
}

impl Made {
    fn add(&mut self, expr: Expr) -> Value {
        self.plan.exprs.push(expr);
        Value(self.plan.exprs.len() as u32 - 1)
    }

    fn when(&mut self) -> &mut When {
        let when = self.plan.steps.iter_mut().find_map(|step| match step {
            Step::When(when) => Some(when),
            _ => None,
        });
        when.expect("the plan has a `when`")
    }

    fn repeat(&mut self) -> &mut Repeat {
        let repeat = self.plan.steps.iter_mut().find_map(|step| match step {
            Step::Repeat(repeat) => Some(repeat),
            _ => None,
        });
        repeat.expect("the plan has a `repeat`")
    }

    fn map(&mut self) -> &mut TensorMap {
        let map = self.plan.launches[1].args.iter_mut().find_map(|arg| match arg {
            LaunchArg::TensorMap(map) => Some(map),
            _ => None,
        });
        map.expect("the second launch passes a map")
    }
}

fn fault(parts: Vec<Part>) -> Fault {
    Fault { name: "rule", kind: ErrorKind::ValueError, parts }
}

/// A plan with every form of step and effect.
fn made() -> Made {
    let mut made = Made {
        plan: Plan::empty("f", "f()"),
        yielded: ZERO,
        handed_on: ZERO,
        turn: ZERO,
        carried: ZERO,
    };
    let first = [Expr::Int(0), Expr::Bool(true), Expr::Args, Expr::Device];
    let numbers = first.map(|expr| made.add(expr));
    assert_eq!(numbers, [ZERO, TRUTH, ARGS, DEVICE]);
    let second = made.add(Expr::Int(16));
    let second = made.add(Expr::Arith(Arith::Add, ARGS, second));
    let payload = made.add(Expr::Load(second, any::PAYLOAD));
    let is_given = made.add(Expr::Compare(Compare::Ne, payload, ZERO));
    let ndim = made.add(Expr::Load(payload, dl_tensor::NDIM));
    made.yielded = made.add(Expr::Yield(Type::Int, 0));
    made.turn = made.add(Expr::Turn(Type::Int, 0));
    made.carried = made.add(Expr::Turn(Type::Int, 1));
    made.handed_on = made.add(Expr::Yield(Type::Int, 1));
    let next = made.add(Expr::Arith(Arith::Mul, made.carried, made.turn));
    let fact = made.add(Expr::Element(DEVICE, 2));
    let fits = made.add(Expr::Compare(Compare::Le, ZERO, next));
    let shown = Part::Value(payload, Format::Int);
    let (turn, inner, outer) = (made.turn, made.carried, made.handed_on);
    let carried = Carried { name: "c".into(), inner, first: ZERO, next, outer };
    let when = When {
        cond: is_given,
        steps: vec![Step::Let("ndim".into(), ndim)],
        yields: vec![Yielded { outer: made.yielded, inner: ndim, otherwise: ZERO }],
    };
    let repeat = Repeat {
        count: made.yielded,
        turn,
        name: "i".into(),
        steps: vec![Step::Require(fits, fault(vec![Part::Value(turn, Format::Int)]))],
        carried: vec![carried],
    };
    made.plan.steps = vec![
        Step::Require(is_given, fault(vec![Part::Text("null".into()), shown])),
        Step::When(when),
        Step::Repeat(repeat),
        Step::AskDevice,
        Step::Let("cc".into(), fact),
    ];
    effects(&mut made);
    made
}

fn effects(made: &mut Made) {
    let alloc = |name: &str| Alloc {
        name: name.into(),
        dims: vec![AllocDim::One(ZERO)],
        bytes: ZERO,
        dtype: ZERO,
        align: 16,
    };
    let grid = Grid {
        grid: [ZERO; 3],
        block: [ZERO; 3],
        cluster: None,
        shared: ZERO,
        flags: LaunchFlags::default(),
        priority: None,
        stream: None,
    };
    let map = TensorMap {
        tensor: "x".into(),
        base: LaunchArg::Result(0),
        data_type: ZERO,
        dims: vec![ZERO; 2],
        strides: vec![ZERO],
        box_dims: vec![8, 8],
        steps: vec![1, 1],
        choices: MapChoices { interleave: 0, swizzle: 128, l2: 256, nan: false },
    };
    let int = LaunchArg::Value(made.handed_on, CScalar::Int(DType::INT32));
    let float = LaunchArg::Value(ZERO, CScalar::Float(DType::BFLOAT16));
    let pointer = LaunchArg::Value(ZERO, CScalar::Pointer);
    let fields = vec![int, float, LaunchArg::Struct(vec![pointer])];
    let value = made.add(Expr::Yield(Type::Int, 2));
    let shown = vec![Part::Value(value, Format::Int), Part::Value(ZERO, Format::Int)];
    let status = Status { value, fault: fault(shown) };
    let host = vec![LaunchArg::Workspace(0), LaunchArg::EnvStream, LaunchArg::Struct(fields)];
    made.plan.device = Device { kind: ZERO, index: ZERO, is_told: TRUTH };
    made.plan.results = vec![alloc("y")];
    made.plan.workspaces = vec![alloc("w")];
    made.plan.combinations.vars = vec!["T".into()];
    made.plan.combinations.rows = vec![vec![DType::FLOAT32]];
    made.plan.combinations.index = Some(ZERO);
    made.plan.launches = vec![
        Launch {
            cond: Some(TRUTH),
            rows: vec![0],
            index: 0,
            args: host,
            site: Site::Host(Some(status)),
        },
        Launch {
            cond: None,
            rows: vec![0],
            index: 3,
            args: vec![LaunchArg::TensorMap(Box::new(map))],
            site: Site::Gpu(grid),
        },
    ];
}

/// The plan that keeps every rule is refused after this change, with that message.
#[track_caller]
fn expect(change: impl FnOnce(&mut Made), message: &str) {
    let mut made = made();
    made.plan.verify().expect("the plan keeps every rule");
    change(&mut made);
    let error = made.plan.verify().expect_err("the plan breaks a rule");
    assert_eq!(error.message, message, "{error}");
}

/// An expression of this kind is refused, with that message.
#[track_caller]
fn expect_expr(expr: Expr, message: &str) {
    expect(|made| _ = made.add(expr), message);
}

/// A step that uses a value is refused, with that message.
#[track_caller]
fn expect_use(value: impl FnOnce(&mut Made) -> Value, message: &str) {
    expect(
        |made| {
            let value = value(made);
            made.plan.steps.push(Step::Let("x".into(), value));
        },
        message,
    );
}

#[test]
fn operands_come_first() {
    let n_exprs = made().plan.exprs.len() as u32;
    for operand in [n_exprs, n_exprs + 1] {
        expect_expr(Expr::Not(Value(operand)), "uses itself");
    }
}

#[test]
fn operands_have_the_types_of_their_operation() {
    let message = "has an operand of another type";
    expect_expr(Expr::Not(ZERO), message);
    expect_expr(Expr::And(TRUTH, ZERO), message);
    expect_expr(Expr::Or(ZERO, TRUTH), message);
    expect_expr(Expr::Compare(Compare::Eq, ZERO, TRUTH), message);
    expect_expr(Expr::Arith(Arith::Add, TRUTH, ZERO), message);
    expect_expr(Expr::Load(TRUTH, any::PAYLOAD), message);
    expect_expr(Expr::FloatBits(TRUTH), message);
    expect_expr(Expr::Select(ZERO, ZERO, ZERO), message);
    expect_expr(Expr::Select(TRUTH, ZERO, TRUTH), message);
}

#[test]
fn only_sums_differences_and_products_overflow() {
    let message = "asks for an overflow that there is none of";
    for op in [Arith::FloorDiv, Arith::Mod, Arith::BitAnd] {
        expect_expr(Expr::Overflows(op, ZERO, ZERO), message);
    }
}

#[test]
fn floats_are_rounded_to_narrower_ones() {
    for dtype in [DType::FLOAT64, DType::INT32, DType::FLOAT8_E4M3] {
        expect_expr(Expr::Rounded(ZERO, dtype), "rounds to no narrower float");
    }
}

#[test]
fn addresses_are_read_from_and_no_more() {
    let message = "computes with an address";
    expect_expr(Expr::Arith(Arith::Add, ZERO, ARGS), message);
    expect_expr(Expr::Arith(Arith::Sub, ARGS, ZERO), message);
    expect_expr(Expr::Compare(Compare::Eq, ARGS, ZERO), message);
    expect_expr(Expr::Arith(Arith::Add, DEVICE, ZERO), message);
    expect_expr(Expr::Load(DEVICE, any::PAYLOAD), message);
    // Behind the facts there is one for each of the launches.
    expect_expr(Expr::Element(DEVICE, 5), "is no fact of the device");
    let message = "is an address, and used by a step";
    expect_use(|_| ARGS, message);
    expect_use(|_| DEVICE, message);
    expect_use(|made| made.add(Expr::Arith(Arith::Add, ARGS, ZERO)), message);
}

#[test]
fn elements_lie_within_32_bits() {
    let message = "lies too far behind the first";
    expect_expr(Expr::Element(ZERO, u32::MAX / 8 + 1), message);
    let mut made = made();
    made.add(Expr::Element(ZERO, u32::MAX / 8));
    assert_eq!(made.plan.verify(), Ok(()));
}

#[test]
fn what_is_used_exists_and_has_its_type() {
    let message = "does not exist";
    expect_use(|_| Value(1000), message);
    expect(|made| made.plan.device.index = Value(1000), message);
    expect(|made| made.plan.launches[0].cond = Some(Value(1000)), message);
    expect(|made| made.when().yields[0].outer = Value(1000), message);
    expect(|made| made.repeat().turn = Value(1000), message);
    let message = WRONG_TYPE;
    expect(|made| made.plan.steps.push(Step::Require(ZERO, fault(vec![]))), message);
    expect(|made| made.when().cond = ZERO, message);
    expect(|made| made.repeat().count = TRUTH, message);
    expect(
        |made| {
            let shown = fault(vec![Part::Value(TRUTH, Format::Int)]);
            made.plan.steps.push(Step::Require(TRUTH, shown));
        },
        message,
    );
}

#[test]
fn what_a_when_yields_is_used_behind_it() {
    let message = UNDEFINED;
    expect(|made| made.plan.steps.insert(0, Step::Let("x".into(), made.yielded)), message);
    expect(
        |made| {
            let yielded = made.yielded;
            made.when().steps.push(Step::Let("x".into(), yielded));
        },
        message,
    );
    expect(
        |made| {
            let step = made.plan.steps.remove(1);
            let outer = When { cond: TRUTH, steps: vec![step], yields: vec![] };
            made.plan.steps.insert(1, Step::When(outer));
        },
        message,
    );
}

#[test]
fn what_a_step_defines_is_made_for_it() {
    let message = "is no expression for what is defined by it, of its type";
    expect(|made| made.when().yields[0].outer = ZERO, message);
    expect(|made| made.when().yields[0].otherwise = TRUTH, WRONG_TYPE);
    expect(|made| made.repeat().carried[0].outer = ZERO, message);
    expect(|made| made.repeat().carried[0].inner = ZERO, message);
    expect(
        |made| {
            made.repeat().carried[0].first = TRUTH;
        },
        message,
    );
    expect(
        |made| {
            let yielded = made.yielded;
            made.repeat().turn = yielded;
        },
        message,
    );
    let message = "is defined twice";
    expect(
        |made| {
            let yielded = made.when().yields[0];
            made.when().yields.push(yielded);
        },
        message,
    );
    expect(
        |made| {
            let step = made.plan.steps[2].clone();
            made.plan.steps.push(step);
        },
        message,
    );
}

#[test]
fn what_a_repeat_gives_is_used_inside_it() {
    let message = UNDEFINED;
    expect_use(|made| made.turn, message);
    expect_use(|made| made.carried, message);
    expect(
        |made| {
            let handed_on = made.handed_on;
            made.repeat().steps.push(Step::Let("x".into(), handed_on));
        },
        message,
    );
    let message = WRONG_TYPE;
    expect(|made| made.repeat().carried[0].next = TRUTH, message);
}

#[test]
fn steps_nest_so_deep_and_no_deeper() {
    let nested = |depth: usize| {
        let mut steps = vec![];
        for _ in 0..depth {
            steps = vec![Step::When(When { cond: TRUTH, steps, yields: vec![] })];
        }
        steps
    };
    let mut deep = made();
    deep.plan.steps.extend(nested(MAX_DEPTH));
    assert_eq!(deep.plan.verify(), Ok(()));
    expect(|made| made.plan.steps.extend(nested(MAX_DEPTH + 1)), "stands too deep in other steps");
}

#[test]
fn so_many_repeats_stand_in_one_another() {
    let nested = |made: &mut Made, depth: usize| {
        let mut steps = vec![];
        for number in 0..depth {
            let (count, name) = (ZERO, "i".to_string());
            let turn = made.add(Expr::Turn(Type::Int, 10 + number as u32));
            steps = vec![Step::Repeat(Repeat { count, turn, name, steps, carried: vec![] })];
        }
        made.plan.steps.extend(steps);
    };
    let mut deep = made();
    nested(&mut deep, MAX_REPEATS);
    assert_eq!(deep.plan.verify(), Ok(()));
    expect(|made| nested(made, MAX_REPEATS + 1), "repeats what repeats too often");
}

#[test]
fn faults_fit_the_table() {
    let message = "has a fault with too many parts";
    let require = |made: &mut Made, parts| {
        made.plan.steps.push(Step::Require(TRUTH, fault(parts)));
    };
    let text = |count: usize| vec![Part::Text("x".into()); count];
    let values = |count: usize| vec![Part::Value(ZERO, Format::Int); count];
    expect(|made| require(made, text(MAX_PARTS + 1)), message);
    expect(|made| require(made, values(MAX_VALUES + 1)), message);
    let mut full = made();
    require(&mut full, [values(MAX_VALUES), text(MAX_PARTS - MAX_VALUES)].concat());
    assert_eq!(full.plan.verify(), Ok(()));
    let nul = || vec![Part::Text("a\0b".into())];
    expect(|made| require(made, nul()), "has a fault with a NUL in its text");
}

#[test]
fn the_device_is_asked_about_once_and_for_certain() {
    let fact = |made: &mut Made| made.add(Expr::Element(DEVICE, 0));
    expect(
        |made| {
            let fact = fact(made);
            made.plan.steps.insert(0, Step::Let("x".into(), fact));
        },
        UNDEFINED,
    );
    expect(|made| made.plan.steps.push(Step::AskDevice), "is asked about twice");
    let message = "is asked about under a condition";
    expect(|made| made.when().steps.push(Step::AskDevice), message);
    expect(|made| made.repeat().steps.push(Step::AskDevice), message);
}

#[test]
fn launches_are_asked_about_once_and_behind_the_device() {
    let ask = |made: &mut Made, launch| {
        let answer = made.add(Expr::Element(DEVICE, 4));
        let asked = AskBlocks { launch, cond: None, block: [ZERO; 3], shared: ZERO, answer };
        (Step::AskBlocks(asked), Step::Let("blocks".into(), answer))
    };
    let mut asked = made();
    let (step, used) = ask(&mut asked, 3);
    asked.plan.steps.extend([step, used]);
    assert_eq!(asked.plan.verify(), Ok(()));
    let refused = |change: &dyn Fn(&mut Made, Step, Step), message| {
        expect(
            |made| {
                let (step, used) = ask(made, 3);
                change(made, step, used);
            },
            message,
        );
    };
    refused(
        &|made, step, _| made.plan.steps.insert(0, step),
        "is asked about before the device is",
    );
    refused(&|made, _, used| made.plan.steps.push(used), UNDEFINED);
    refused(&|made, step, used| made.plan.steps.extend([used, step]), UNDEFINED);
    refused(&|made, step, _| made.plan.steps.extend([step.clone(), step]), "is defined twice");
    refused(&|made, step, _| made.when().steps.push(step), "is asked about before the device is");
    refused(
        &|made, step, _| {
            let (cond, yields) = (TRUTH, vec![]);
            made.plan.steps.push(Step::When(When { cond, steps: vec![step], yields }));
        },
        "is asked about under a condition",
    );
    for other in [0, 4] {
        let message = "is asked about, and none on a GPU";
        expect(
            |made| {
                let (step, _) = ask(made, other);
                made.plan.steps.push(step);
            },
            message,
        );
    }
    let changed = |change: fn(&mut AskBlocks), message| {
        refused(
            &|made, step, _| {
                let Step::AskBlocks(mut asked) = step else { unreachable!("it asks") };
                change(&mut asked);
                made.plan.steps.push(Step::AskBlocks(asked));
            },
            message,
        );
    };
    changed(|asked| asked.cond = Some(ZERO), WRONG_TYPE);
    changed(|asked| asked.block[1] = TRUTH, WRONG_TYPE);
    changed(|asked| asked.shared = TRUTH, WRONG_TYPE);
    changed(|asked| asked.answer = ZERO, "is no expression for what is defined by it, of its type");
}

#[test]
fn the_device_matters_to_launches_on_a_gpu() {
    let on_host = |made: &mut Made| made.plan.launches.truncate(1);
    expect(on_host, "is asked about, and nothing runs on a GPU");
    expect(
        |made| {
            on_host(made);
            made.plan.device.is_told = made.add(Expr::Compare(Compare::Eq, ZERO, ZERO));
        },
        "is not told, and nothing runs on a GPU",
    );
}

#[test]
fn names_can_be_symbols() {
    for name in ["", "1f", "f g", "f\0"] {
        expect(|made| made.plan.name = name.into(), "is no name");
    }
    expect(|made| made.plan.signature = "f(\0)".into(), "has a NUL");
}

#[test]
fn effects_use_what_holds_at_the_end() {
    let message = UNDEFINED;
    expect(|made| made.plan.device.index = made.turn, message);
    expect(|made| made.plan.results[0].dims[0] = AllocDim::One(made.turn), message);
    expect(|made| made.plan.combinations.index = Some(made.turn), message);
    expect(|made| made.map().dims[0] = made_turn(), message);
    let message = WRONG_TYPE;
    expect(|made| made.plan.device.kind = TRUTH, message);
    expect(|made| made.plan.device.is_told = ZERO, message);
    expect(|made| made.plan.results[0].bytes = TRUTH, message);
    expect(|made| made.plan.workspaces[0].dtype = TRUTH, message);
    expect(|made| made.plan.combinations.index = Some(TRUTH), message);
    expect(|made| made.plan.launches[0].cond = Some(ZERO), message);
    expect(|made| made.map().data_type = TRUTH, message);
}

/// The number that the turn's number has in every plan here.
fn made_turn() -> Value {
    made().turn
}

#[test]
fn allocations_are_aligned() {
    let message = "is not aligned to a power of two";
    expect(|made| made.plan.results[0].align = 0, message);
    expect(|made| made.plan.workspaces[0].align = 24, message);
}

#[test]
fn combinations_are_whole() {
    let message = "has a number without dtype variables, or none with them";
    expect(|made| made.plan.combinations.index = None, message);
    expect(|made| made.plan.combinations.vars.clear(), message);
    expect(|made| made.plan.combinations.rows.clear(), "is missing");
    let message = "has not a dtype for each variable";
    expect(|made| made.plan.combinations.rows.push(vec![]), message);
}

#[test]
fn launches_are_numbered_upwards() {
    let message = "has no number above the one before";
    expect(|made| made.plan.launches[1].index = 0, message);
    expect(|made| made.plan.launches.swap(0, 1), message);
}

#[test]
fn launches_have_kernels_for_combinations_that_there_are() {
    let message = "has kernels for combinations that there are none of, or for none";
    for rows in [vec![], vec![1], vec![0, 0], vec![0, 1]] {
        expect(|made| made.plan.launches[1].rows = rows, message);
    }
}

#[test]
fn arguments_are_what_c_can_pass() {
    let pass = |made: &mut Made, arg| made.plan.launches[0].args.push(arg);
    let scalar = |c_type| LaunchArg::Value(ZERO, c_type);
    let odd = DType { bits: 24, ..DType::INT32 };
    let vector = DType { lanes: 4, ..DType::INT8 };
    for dtype in [DType::FLOAT32, DType::INT4, odd, vector] {
        let message = "passes an integer of a type that C has not";
        expect(|made| pass(made, scalar(CScalar::Int(dtype))), message);
    }
    for dtype in [DType::INT32, DType::FLOAT8_E5M2] {
        let message = "passes a float of a type that C has not";
        expect(|made| pass(made, scalar(CScalar::Float(dtype))), message);
    }
    let message = "passes a result that there is none of";
    expect(|made| pass(made, LaunchArg::Result(1)), message);
    let message = "passes a workspace that there is none of";
    expect(|made| pass(made, LaunchArg::Struct(vec![LaunchArg::Workspace(1)])), message);
    expect(|made| pass(made, LaunchArg::Struct(vec![])), "passes a struct without fields");
}

#[test]
fn only_a_gpu_takes_tensor_maps_and_each_by_itself() {
    expect(
        |made| made.plan.launches[1].site = Site::Host(None),
        "passes a tensor map to a host function",
    );
    expect(
        |made| {
            let map = made.plan.launches[1].args.remove(0);
            made.plan.launches[1].args = vec![LaunchArg::Struct(vec![map])];
        },
        "passes a tensor map in a struct",
    );
}

#[test]
fn tensor_maps_are_what_the_driver_takes() {
    let message = "maps what is no address";
    expect(|made| made.map().base = LaunchArg::EnvStream, message);
    let int = LaunchArg::Value(ZERO, CScalar::Int(DType::INT64));
    expect(|made| made.map().base = int, message);
    let message = "passes a result that there is none of";
    expect(|made| made.map().base = LaunchArg::Result(7), message);
    let message = "maps too many dims, or none";
    expect(|made| made.map().dims = vec![ZERO; 6], message);
    expect(|made| made.map().dims.clear(), message);
    let message = "maps dims without a stride, a box or a step each";
    expect(|made| made.map().strides.clear(), message);
    expect(|made| made.map().box_dims.push(1), message);
    expect(|made| made.map().steps.clear(), message);
    let message = "maps with a choice that the driver has not";
    expect(|made| made.map().choices.interleave = 8, message);
    expect(|made| made.map().choices.swizzle = 16, message);
    expect(|made| made.map().choices.l2 = 32, message);
    let message = "maps a tensor with a NUL in its name";
    expect(|made| made.map().tensor = "x\0".into(), message);
}

#[test]
fn a_status_is_its_faults_alone() {
    let status = |made: &mut Made| match &mut made.plan.launches[0].site {
        Site::Host(Some(status)) => status.clone(),
        _ => unreachable!("the first launch has a status"),
    };
    let set = |made: &mut Made, status| made.plan.launches[0].site = Site::Host(Some(status));
    let message = "is no expression for what is defined by it, of its type";
    expect(
        |made| {
            set(made, Status { value: ZERO, fault: fault(vec![]) });
        },
        message,
    );
    expect(
        |made| {
            set(made, Status { value: made.yielded, fault: fault(vec![]) });
        },
        "is defined twice",
    );
    expect_use(|made| status(made).value, UNDEFINED);
    expect(
        |made| {
            let value = status(made).value;
            made.plan.launches[0].args.push(LaunchArg::Value(value, CScalar::Int(DType::INT32)));
        },
        UNDEFINED,
    );
    expect(
        |made| {
            let parts = vec![Part::Text("x".into()); MAX_PARTS + 1];
            let status = Status { fault: fault(parts), ..status(made) };
            set(made, status);
        },
        "has a fault with too many parts",
    );
}

#[test]
fn texts_are_compared_and_shown_and_nothing_else() {
    let message = "has an operand of another type";
    let text = |made: &mut Made| made.add(Expr::Text("a".into()));
    let not_shown = "shows a status as a text";
    expect_expr(Expr::TextIs(ZERO, "a".into()), message);
    expect_expr(Expr::TextAt(TRUTH), message);
    expect_expr(Expr::TextAt(DEVICE), "computes with an address");
    expect_expr(Expr::Text("a\0b".into()), "has a NUL in its text");
    expect(
        |made| {
            let text = text(made);
            made.add(Expr::Compare(Compare::Eq, text, text));
        },
        message,
    );
    expect(
        |made| {
            let text = text(made);
            made.add(Expr::TextIs(text, "a\0b".into()));
        },
        "has a NUL in its text",
    );
    let shows = |made: &mut Made, value: Value, format: Format| {
        made.plan.steps.push(Step::Require(TRUTH, fault(vec![Part::Value(value, format)])));
    };
    expect(|made| shows(made, ZERO, Format::Text), WRONG_TYPE);
    expect(
        |made| {
            let text = text(made);
            shows(made, text, Format::Int);
        },
        WRONG_TYPE,
    );
    expect(
        |made| {
            let Site::Host(Some(status)) = &mut made.plan.launches[0].site else { unreachable!() };
            status.fault.parts.push(Part::Value(ZERO, Format::Text));
        },
        not_shown,
    );
    let mut whole = made();
    let at = whole.add(Expr::TextAt(ARGS));
    let constant = text(&mut whole);
    let either = whole.add(Expr::Select(TRUTH, at, constant));
    let is_it = whole.add(Expr::TextIs(either, "a".into()));
    whole.plan.steps.push(Step::Let("is_it".into(), is_it));
    shows(&mut whole, either, Format::Text);
    assert_eq!(whole.plan.verify(), Ok(()));
}
