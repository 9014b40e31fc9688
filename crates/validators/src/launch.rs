// SPDX-License-Identifier: Apache-2.0
//! Launches as they are written: which kernel arguments, under which condition, with which
//! workspaces; and how they join a signature's plan.
//!
//! ```text
//! argument = "struct" "(" argument {"," argument} ")" | map | expr [":" ctype] | constant ":" ctype
//! constant = ["-"] (integer | float | inf) | nan | true | false
//! ctype    = bool | int8 .. int64 | uint8 .. uint64 | float16 | bfloat16 | float32 | float64 | pointer
//! ```
//!
//! `map` is in [`tensor_map`](crate::tensor_map). Without a C type, a parameter has its own, and
//! any other expression is an `int64`. Which kernel a launch runs is not said here.

mod allocation;
mod condition;
mod constant;
mod max_blocks;
mod named_tensor;
mod tensor_map;
mod unsaid;
mod when;
mod written;

pub use constant::{Constant, Number};
pub use named_tensor::NamedTensor;
pub use when::{Branch, When};

use crate::check;
use crate::dim::Dim;
use crate::expr::{Expr, Field, Name};
use crate::geometry::Geometry;
use crate::host_type::{HostType, element_path};
use crate::kernel_name::KernelName;
use crate::param::{Scalar, Tensor, TensorDType};
use crate::path::Path;
use crate::plan::{self, CScalar, DeviceFact, Grid, Launch, LaunchArg, MAX_BLOCKS, Plan, Value};
use crate::planner::{Checked, Named, NamedKind, Planner};
use crate::rule::{Rule, join};
use crate::signature::Signature;
use crate::spelling::closest_field;
use crate::tensor_map::MapSpec;
use kernpack_ffi_abi::{DType, DeviceType};
use kernpack_machine::block::MOST_BLOCKS_ALONG;
use kernpack_syntax::{Diagnostic, Diagnostics, Placed, Span};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// An argument of a kernel, as it is written.
#[derive(Clone, Debug, PartialEq)]
pub enum KernelArg {
    /// A value, with the C type it is passed as where that is not the obvious one.
    Value(Expr, Option<CScalar>),
    /// A number, with the C type it is passed as.
    Constant(Constant),
    /// Several as one C struct, passed by value.
    Struct(Vec<KernelArg>),
    /// A tensor map, for a kernel on a GPU.
    TensorMap(MapSpec),
}

impl fmt::Display for CScalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CScalar::Int(dtype) | CScalar::Float(dtype) => dtype.fmt(f),
            CScalar::Pointer => f.write_str("pointer"),
        }
    }
}

impl CScalar {
    /// The C type of that dtype's values, where scalars may have it.
    pub fn of(dtype: DType) -> Option<CScalar> {
        Scalar::new(dtype)?;
        Some(if dtype.is_float() { CScalar::Float(dtype) } else { CScalar::Int(dtype) })
    }
}

impl fmt::Display for KernelArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelArg::Value(expr, None) => expr.fmt(f),
            KernelArg::Value(expr, Some(c_type)) => write!(f, "{expr}: {c_type}"),
            KernelArg::Constant(constant) => constant.fmt(f),
            KernelArg::Struct(fields) => write!(f, "struct({})", join(fields)),
            KernelArg::TensorMap(map) => map.fmt(f),
        }
    }
}

/// A pointer that a kernel takes behind the arguments that a user writes: its compiler's, not its
/// author's.
#[derive(Clone, Debug, PartialEq)]
pub enum HiddenArg {
    /// NULL.
    Null,
    /// The workspace of that name.
    Workspace(String),
    /// Where kernels write down that an assertion of theirs has failed. A kernel that asserts
    /// nothing does not take it.
    AssertRecord,
}

/// A launch of some kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchSpec {
    /// When it runs.
    pub when: When,
    /// The kernel's name.
    pub kernel: KernelName,
    /// The arguments of the kernel.
    pub args: Vec<Placed<KernelArg>>,
    /// Where it runs.
    pub site: Site,
}

/// Where a launch runs, and what only launches there have.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a package has few launches")]
pub enum Site {
    /// On the host: a function is called, which returns that.
    Host(Returns),
    /// On a GPU.
    Gpu(GpuLaunch),
}

/// The result of a host function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Returns {
    /// Nothing.
    #[default]
    Void,
    /// An `int`: anything but 0 is a failure.
    Status,
}

/// A launch on a GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuLaunch {
    /// How it is laid out.
    pub geometry: Geometry,
    /// The arguments of the kernel behind those that are written.
    pub hidden: Vec<HiddenArg>,
}

impl From<Geometry> for GpuLaunch {
    fn from(geometry: Geometry) -> GpuLaunch {
        GpuLaunch { geometry, hidden: vec![] }
    }
}

impl LaunchSpec {
    /// The launch on a GPU that it is, if it is one.
    fn on_gpu(&self) -> Option<&GpuLaunch> {
        match &self.site {
            Site::Host(_) => None,
            Site::Gpu(launch) => Some(launch),
        }
    }

    /// Every name in it.
    fn names(&self) -> Vec<String> {
        let mut exprs: Vec<&Expr> = Vec::new();
        self.args.iter().for_each(|arg| arg.exprs(&mut exprs));
        if let Some(GpuLaunch { geometry, .. }) = self.on_gpu() {
            let dims = [&geometry.grid, &geometry.block, &geometry.cluster].into_iter().flatten();
            let numbers = dims.chain([&geometry.shared]).chain(&geometry.priority);
            exprs.extend(numbers.map(|number| &number.value));
        }
        let names = exprs.into_iter().flat_map(Expr::names).map(|name| name.text);
        let asked = self.when.rules().into_iter().flat_map(Rule::names).map(|name| name.text);
        names.chain(asked).collect()
    }
}

impl KernelArg {
    fn exprs<'a>(&'a self, into: &mut Vec<&'a Expr>) {
        match self {
            KernelArg::Value(expr, _) => into.push(expr),
            KernelArg::Constant(_) => {}
            KernelArg::Struct(fields) => fields.iter().for_each(|field| field.exprs(into)),
            KernelArg::TensorMap(map) => {
                into.extend(map.dims.iter().chain(&map.strides).flatten());
            }
        }
    }
}

/// Memory that a call allocates for its launches.
#[derive(Clone, Debug, PartialEq)]
pub struct Workspace {
    /// Its name, for kernel arguments.
    pub name: Placed<String>,
    /// Its extents, dtype and alignment.
    pub tensor: Placed<Tensor>,
}

impl Workspace {
    /// A workspace that was not written but built.
    pub fn new(name: impl Into<String>, tensor: Tensor) -> Workspace {
        Workspace { name: name.into().into(), tensor: tensor.into() }
    }
}

impl Signature {
    /// The plan of a function: the checks of the signature, then those of its workspaces and
    /// launches.
    ///
    /// # Errors
    /// Those that [`resolve`](Signature::resolve) finds, and names in workspaces and launches that
    /// have no value.
    pub fn plan_function(
        &self,
        default_device: DeviceType,
        workspaces: &[Workspace],
        launches: &[LaunchSpec],
    ) -> Result<Plan, Diagnostics> {
        self.plan_with(default_device, |cx, plan| {
            let mut join = Join::new(cx, plan, self, workspaces, asks_device(workspaces, launches));
            join.add_launches(launches);
            join.diagnostics.into_result()
        })
    }
}

/// Whether launches on a GPU, or workspaces beside such launches, name what is known of the device.
fn asks_device(workspaces: &[Workspace], launches: &[LaunchSpec]) -> bool {
    let on_gpu = launches.iter().any(|launch| launch.on_gpu().is_some());
    let mut names = launches.iter().flat_map(LaunchSpec::names);
    let asks = |name: String| DeviceFact::named(&name).is_some() || name == MAX_BLOCKS;
    on_gpu && (names.any(asks) || name_device(workspaces))
}

/// Whether workspaces name what is known of the device.
fn name_device(workspaces: &[Workspace]) -> bool {
    let dims = workspaces.iter().flat_map(|workspace| workspace.tensor.dims());
    let exprs = dims.filter_map(|dim| match dim {
        Dim::Expr(expr) => Some(expr),
        Dim::Any | Dim::Star(_) => None,
    });
    exprs.flat_map(Expr::names).any(|name| DeviceFact::named(&name.text).is_some())
}

/// The state of joining launches to a signature's plan.
struct Join<'j, 's> {
    cx: &'j mut Planner<'s>,
    plan: &'j mut Plan,
    /// The dtype of each scalar parameter, by path.
    types: HashMap<String, DType>,
    /// The parameters that are streams, by path.
    streams: HashSet<String>,
    /// The results and workspaces, as arguments.
    allocs: HashMap<String, LaunchArg>,
    /// For each launch, the numbers of the combinations of dtypes under which it may run.
    runnable: Vec<Vec<usize>>,
    /// For each launch, the names that its condition asks about.
    asked: Vec<Vec<Name>>,
    diagnostics: Diagnostics,
}

impl<'j, 's> Join<'j, 's> {
    /// A plan with the results and workspaces of a function, and no launch. It asks of the device
    /// where a name of it is used.
    fn new(
        cx: &'j mut Planner<'s>,
        plan: &'j mut Plan,
        signature: &Signature,
        workspaces: &[Workspace],
        asks_device: bool,
    ) -> Join<'j, 's> {
        let mut join = Join {
            cx,
            plan,
            types: HashMap::new(),
            streams: HashSet::new(),
            allocs: HashMap::new(),
            runnable: vec![],
            asked: vec![],
            diagnostics: Diagnostics::default(),
        };
        join.add_types(signature);
        join.add_results(signature);
        if asks_device {
            join.ask_device();
        }
        join.add_workspaces(workspaces);
        join
    }
}

impl Join<'_, '_> {
    fn add_types(&mut self, signature: &Signature) {
        for param in &signature.params {
            self.add_type(&param.name, &param.kind.host_type());
        }
    }

    fn add_type(&mut self, path: &str, host_type: &HostType) {
        match host_type {
            HostType::Int(dtype) | HostType::Float(dtype) => {
                self.types.insert(path.to_string(), *dtype);
            }
            HostType::Stream => _ = self.streams.insert(path.to_string()),
            HostType::Optional(inner) => self.add_type(path, inner),
            HostType::Tuple(elements) => {
                for (i, (name, element)) in elements.iter().enumerate() {
                    let part = element_path(path, i, name.as_deref());
                    self.add_type(&part, element);
                }
            }
            _ => {}
        }
    }

    fn add_results(&mut self, signature: &Signature) {
        for (i, result) in signature.results.iter().enumerate() {
            let alloc =
                self.at(result.span, |join| join.alloc("result", &result.name, &result.tensor));
            if let Some(alloc) = alloc {
                self.plan.results.push(alloc);
                self.allocs.insert(result.name.clone(), LaunchArg::Result(i));
            }
        }
    }

    fn add_workspaces(&mut self, workspaces: &[Workspace]) {
        for (i, Workspace { name, tensor }) in workspaces.iter().enumerate() {
            if self.cx.named(name).is_some() || self.allocs.contains_key(&name.value) {
                let message = format!("`{name}` means two things");
                let problem = Diagnostic::new("name-clash", message).at(name.span);
                self.diagnostics.push(problem.help("rename the workspace"));
            } else if !tensor.can_be_allocated() {
                let message =
                    format!("the workspace `{name}` must be compact, on the call's device");
                let problem = Diagnostic::new("workspace", message).at(tensor.span);
                self.diagnostics.push(problem.help("only `align=` can stand in a workspace"));
            } else if let Some(alloc) =
                self.at(tensor.span, |join| join.alloc("workspace", name, tensor))
            {
                self.plan.workspaces.push(alloc);
                self.allocs.insert(name.value.clone(), LaunchArg::Workspace(i));
            }
        }
    }

    /// Calls `plan`. Problems that it finds are there, where they do not say better.
    fn at<T>(&mut self, place: Span, plan: impl FnOnce(&mut Self) -> T) -> T {
        let mut before = std::mem::take(&mut self.diagnostics.0);
        let planned = plan(self);
        before.extend(self.diagnostics.0.drain(..).map(|problem| problem.at(place)));
        self.diagnostics.0 = before;
        planned
    }

    pub(super) fn dtype(&mut self, name: &str, dtype: &TensorDType) -> Option<Value> {
        match dtype {
            TensorDType::Fixed(dtype) => Some(self.cx.b.int(dtype.packed())),
            TensorDType::Var(var, _) => match self.cx.named(var) {
                Some(named) if named.kind == NamedKind::DType => Some(named.value),
                _ => {
                    let message = format!(
                        "`{var}`, the dtype of `{name}`, is no dtype variable of the signature"
                    );
                    self.diagnostics.push(Diagnostic::new("unknown-dtype", message));
                    None
                }
            },
        }
    }

    fn add_launches(&mut self, launches: &[LaunchSpec]) {
        let whens: Vec<_> = launches.iter().map(|launch| &launch.when).collect();
        self.learn_whens(&whens);
        let conds = self.conditions(launches);
        let all: Vec<_> = conds.iter().flatten().copied().collect();
        let has_rules = |launch: &LaunchSpec| matches!(launch.when, When::Rules(_));
        // One with a bad condition has none yet.
        if !launches.is_empty() && launches.iter().all(has_rules) && all.len() == launches.len() {
            let whens: Vec<_> = whens
                .iter()
                .map(|when| if let When::Rules(rules) = when { &rules[..] } else { &[] })
                .collect();
            check::no_launch::require(self.cx, &all, &whens);
        }
        for (index, (launch, when)) in launches.iter().zip(conds).enumerate() {
            let when = when.filter(|when| self.cx.b.as_bool(*when) != Some(true));
            let cond = match (when, self.maps_have_elements(launch)) {
                (Some(when), Some(full)) => Some(self.cx.b.and(when, full)),
                (when, full) => when.or(full),
            };
            let unknown = launch.kernel.unknown_vars(self.cx.bindings());
            let is_named = unknown.is_empty();
            self.diagnostics.0.extend(unknown);
            let max_blocks = self.ask_blocks(index, launch, cond);
            self.cx.b.open();
            let mut args: Vec<_> =
                launch.args.iter().map(|arg| self.placed_argument(index, launch, arg)).collect();
            let site = match &launch.site {
                Site::Host(returns) => is_named.then(|| {
                    let has_status = *returns == Returns::Status;
                    let status = || check::host_status::status(self.cx, &launch.kernel);
                    plan::Site::Host(has_status.then(status))
                }),
                Site::Gpu(GpuLaunch { geometry, hidden }) => {
                    args.extend(hidden.iter().map(|arg| self.hidden(arg)));
                    self.grid(index, geometry, max_blocks).map(plan::Site::Gpu)
                }
            };
            let always = self.cx.b.bool(true);
            self.cx.b.close(cond.unwrap_or(always), &[]);
            if let (Some(args), Some(site)) = (args.into_iter().collect(), site) {
                let planned = Launch { cond, rows: self.rows(index, launch), index, args, site };
                self.check_workspaces(launch, &planned);
                // One that runs in calls of the twin alone is none of these calls.
                let runs = cond.is_none_or(|cond| self.cx.b.as_bool(cond) != Some(false));
                self.plan.launches.extend(runs.then_some(planned));
            }
        }
    }

    /// Learns of launches before a call, from when they run.
    fn learn_whens(&mut self, whens: &[&When]) {
        let rows = &self.plan.combinations.rows;
        self.runnable = when::runnable(whens, self.cx.bindings(), rows);
        self.asked = (0..whens.len()).map(|launch| when::asked(whens, launch)).collect();
    }

    /// The combinations of dtypes that a launch has kernels for: those under which it may run, or
    /// all where they are one kernel.
    fn rows(&self, index: usize, launch: &LaunchSpec) -> Vec<usize> {
        match launch.kernel.vars().next() {
            None => (0..self.plan.combinations.rows.len()).collect(),
            Some(_) => self.runnable[index].clone(),
        }
    }

    /// The dtypes that a tensor may have where a launch runs; any where it never does, which is
    /// told.
    fn dtypes_of(&self, launch: usize, dtype: &TensorDType) -> Vec<DType> {
        let all = self.cx.allowed_dtypes(dtype);
        let TensorDType::Var(var, _) = dtype else { return all };
        let place = self.plan.combinations.vars.iter().position(|known| known == var);
        let rows = self.runnable[launch].iter().map(|row| &self.plan.combinations.rows[*row]);
        let dtypes: Vec<_> =
            place.into_iter().flat_map(|at| rows.clone().map(move |row| row[at])).collect();
        let may_be = |dtype: &DType| dtypes.is_empty() || dtypes.contains(dtype);
        all.into_iter().filter(may_be).collect()
    }

    /// Refuses workspaces of launches on streams of their own: the memory goes back to whoever
    /// allocated it when the call returns, which is sound on the environment's stream only, where
    /// what uses it next runs behind the kernel.
    fn check_workspaces(&mut self, launch: &LaunchSpec, planned: &Launch) {
        let stream = launch.on_gpu().and_then(|launch| launch.geometry.stream.as_ref());
        let has_own = planned.grid().is_some_and(|grid| grid.stream.is_some());
        let used = planned.args.iter().find_map(LaunchArg::workspace);
        if let (Some(stream), true, Some(number)) = (stream, has_own, used) {
            let message = format!(
                "launch {} passes the workspace `{}` on the stream `{stream}`: its memory goes back to the environment's stream, and may be in use \
                 there before the kernel has run",
                planned.index, self.plan.workspaces[number].name
            );
            let help = "leave `stream` out, and launch to the environment's stream; or make the memory a parameter";
            let problem = Diagnostic::new("workspace", message).at(stream.span);
            self.diagnostics.push(problem.help(help));
        }
    }

    /// Gives names to what is known of the device.
    fn ask_device(&mut self) {
        self.cx.b.ask_device();
        for fact in DeviceFact::ALL {
            let value = self.cx.b.device_fact(fact);
            let path = Path::argument(fact.name(), 0);
            self.cx.define(Named::new(value, NamedKind::Int, &path));
        }
    }

    /// The layout of a launch of which the device holds so many blocks; `None` where a name in it
    /// has no value.
    fn grid(
        &mut self,
        launch: usize,
        geometry: &Geometry,
        max_blocks: Option<Value>,
    ) -> Option<Grid> {
        const MOST: i64 = i32::MAX as i64;
        // A grid's limits are the same on every device; those of a block are for the driver to
        // know, as far as no device takes more.
        let grid = self.knowing_blocks(max_blocks, |join| {
            join.dims(launch, "grid", &geometry.grid, 0, MOST_BLOCKS_ALONG.map(i64::from))
        });
        let block = self.dims(launch, "block", &geometry.block, 1, [MOST; 3]);
        let place = format!("`block` of launch {launch}");
        let too_many = check::launch_range::too_many_threads(&place, &geometry.block);
        let extents = geometry.block.iter().map(|extent| extent.span).reduce(Span::to);
        let too_many = too_many.map(|problem| problem.at(extents.unwrap_or_default()));
        self.diagnostics.0.extend(too_many.filter(|_| block.is_some()));
        let cluster = self.dims(launch, "cluster", &geometry.cluster, 1, [MOST; 3]);
        let shared = self.number(launch, "smem", &geometry.shared, 0, MOST);
        let priority = geometry.priority.as_ref();
        let priority =
            priority.map(|expr| self.number(launch, "priority", expr, i32::MIN.into(), MOST));
        let stream = geometry.stream.as_ref().map(|name| self.stream(launch, name));
        Some(Grid {
            grid: grid?,
            block: block?,
            cluster: cluster.filter(|_| !geometry.cluster.is_empty()),
            shared: shared?,
            flags: geometry.flags,
            priority: priority.map_or(Some(None), |known| known.map(Some))?,
            stream: stream.unwrap_or(Some(None))?,
        })
    }

    /// One to three numbers of a layout; those that are not written are 1.
    fn dims(
        &mut self,
        launch: usize,
        name: &str,
        exprs: &[Placed<Expr>],
        least: i64,
        most: [i64; 3],
    ) -> Option<[Value; 3]> {
        let mut dims = [Some(self.cx.b.int(1)); 3];
        for (i, (expr, most)) in exprs.iter().zip(most).enumerate() {
            dims[i] = self.number(launch, &format!("{name}[{i}]"), expr, least, most);
        }
        let [x, y, z] = dims;
        Some([x?, y?, z?])
    }

    /// A number of a layout, checked to be in its range.
    fn number(
        &mut self,
        launch: usize,
        what: &str,
        expr: &Placed<Expr>,
        least: i64,
        most: i64,
    ) -> Option<Value> {
        let place = format!("`{what}` of launch {launch}");
        self.at(expr.span, |join| join.check_names(expr, &place))?;
        if let Some(problem) = check::launch_range::never(&place, expr, least, most) {
            self.diagnostics.push(problem.at(expr.span));
            return None;
        }
        let value = self.value(expr);
        check::launch_range::require(self.cx, what, expr, value, least, most);
        Some(value.value)
    }

    /// The stream that a launch names: nothing where it is the environment's.
    fn stream(&mut self, launch: usize, name: &Placed<String>) -> Option<Option<Value>> {
        match self.cx.named(name) {
            Some(named) if self.streams.contains(&name.value) => Some(Some(named.value)),
            Some(named) if named.kind == NamedKind::EnvStream => Some(None),
            _ => {
                let message =
                    format!("`{name}`, the stream of launch {launch}, is no `Stream` parameter");
                let help = "leave `stream` out to launch to the environment's stream";
                let problem = Diagnostic::new("launch", message).at(name.span);
                self.diagnostics.push(problem.help(help));
                None
            }
        }
    }

    /// Reports the sizes of dims that a kernel cannot walk as one; `None` where there are any.
    fn check_stars(&mut self, expr: &Expr, place: &str) -> Option<()> {
        let mut all_walk = Some(());
        for name in expr.names() {
            let star = name.param.as_ref().filter(|_| name.field == Some(Field::Numel));
            let binding = star.and_then(|star| self.cx.bindings().stars.get(star));
            let Some(tensor) = binding.and_then(|binding| binding.strided.as_ref()) else {
                continue;
            };
            let message = format!(
                "`{}` in {place} is no size of one dim: with `strides=any`, `{tensor}` may lie in memory in any way",
                name.text
            );
            let help = "say how its dims lie, by `order=` or `strides=[…]`";
            self.diagnostics.push(Diagnostic::new("strided-star", message).help(help));
            all_walk = None;
        }
        all_walk
    }

    /// Reports names that have no integer value; `None` where there are any.
    fn check_names(&mut self, expr: &Expr, place: &str) -> Option<()> {
        let mut all_known = Some(());
        for name in expr.names() {
            let Some((problem, help)) = self.no_integer(&name.text) else { continue };
            let message = format!("`{}` in {place} {problem}", name.text);
            let problem = Diagnostic::new("unbound-symbol", message).at(name.span);
            self.diagnostics.push(problem.help(help));
            all_known = None;
        }
        all_known
    }

    /// Why a name is no integer, and what to do about it; nothing where it is one.
    fn no_integer(&self, name: &str) -> Option<(&'static str, String)> {
        let known = "name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`";
        let pass = |how: &str| format!("pass it to a kernel as {how}: expressions are of integers");
        let kind = match self.cx.named(name).map(|named| named.kind) {
            None if self.allocs.contains_key(name) => Some(NamedKind::Pointer),
            kind => kind,
        };
        Some(match kind {
            Some(_) if self.types.get(name) == Some(&DType::UINT64) => (
                "is a uint64, which expressions cannot hold",
                pass(&format!("it is, `{name}`, or make the parameter an int64")),
            ),
            Some(NamedKind::Int) => return None,
            Some(NamedKind::Float) => (
                "is a float, not an integer",
                pass(&format!("a float, `{name}` or `{name}: float64`")),
            ),
            Some(NamedKind::Pointer | NamedKind::EnvStream) => {
                ("is a pointer, not an integer", pass(&format!("it is, `{name}`")))
            }
            Some(NamedKind::Text) => (
                "is a String, not an integer",
                format!(
                    "no kernel gets it: write a condition on it, such as `when = '{name} == \"…\"'`"
                ),
            ),
            Some(NamedKind::DType) => (
                "is a dtype, not an integer",
                format!(
                    "write a condition on it, such as `when = \"{name} in {{float32}}\"`, or name the kernel by it: `kernel = \"k_{{{name}}}\"`"
                ),
            ),
            None if name == MAX_BLOCKS => {
                ("is known in the grid of a launch on a GPU only", known.to_string())
            }
            None if DeviceFact::named(name).is_some() => {
                ("is known in launches on a GPU only", known.to_string())
            }
            None if let Some(written) = Constant::written(name) => {
                ("is a constant, not an integer", pass(&format!("`{written}`")))
            }
            None => {
                let meant = closest_field(name).map(|(_, field)| field);
                let meant = meant.filter(|field| self.cx.named(field).is_some());
                let help = meant.map(|field| format!("did you mean `{field}`?"));
                ("has no value", help.unwrap_or_else(|| known.to_string()))
            }
        })
    }

    fn value(&mut self, expr: &Expr) -> Checked {
        self.cx.expr(expr)
    }

    fn placed_argument(
        &mut self,
        index: usize,
        launch: &LaunchSpec,
        arg: &Placed<KernelArg>,
    ) -> Option<LaunchArg> {
        self.at(arg.span, |join| match &arg.value {
            KernelArg::TensorMap(map) => join.tensor_map(index, launch, map),
            _ => join.argument(index, arg),
        })
    }

    fn argument(&mut self, launch: usize, arg: &KernelArg) -> Option<LaunchArg> {
        let (expr, c_type) = match arg {
            KernelArg::Struct(fields) => {
                let fields = fields.iter().map(|field| self.argument(launch, field));
                return fields.collect::<Option<_>>().map(LaunchArg::Struct);
            }
            KernelArg::TensorMap(map) => {
                let message = format!("`{map}` stands in a struct");
                let problem = Diagnostic::new("tensor-map", message);
                self.diagnostics
                    .push(problem.help("pass the tensor map as an argument of its own"));
                return None;
            }
            KernelArg::Constant(constant) => return self.constant(Ok(*constant)),
            KernelArg::Value(expr, c_type) => (expr, *c_type),
        };
        if let (Some(value), Some(c_type)) = (expr.as_int(), c_type) {
            return self.constant(Constant::new(Number::Int(value.into()), c_type));
        }
        if let Expr::Symbol(name, _) = expr
            && let Some(arg) = self.whole(name, c_type)
        {
            return Some(arg);
        }
        let place = format!("`{arg}` of launch {launch}");
        if let Some(arg) = self.unsigned(expr, c_type) {
            return Some(arg);
        }
        self.check_names(expr, &place)?;
        self.check_stars(expr, &place)?;
        let value = self.value(expr);
        let what = format!("kernel argument `{arg}`");
        let c_type = c_type.unwrap_or_else(|| self.default_type(expr));
        match c_type {
            CScalar::Int(dtype) => {
                check::argument_range::require_int(self.cx, &what, expr, value, dtype);
                Some(LaunchArg::Value(value.value, c_type))
            }
            CScalar::Float(dtype) => {
                check::argument_range::require_int(self.cx, &what, expr, value, DType::INT64);
                let bits = self.cx.b.float_bits(value.value);
                check::argument_range::require_float(self.cx, &what, bits, dtype);
                Some(LaunchArg::Value(bits, c_type))
            }
            CScalar::Pointer => {
                let message = format!("{place} is an integer, not a pointer");
                self.diagnostics
                    .push(Diagnostic::new("launch", message).help("remove `: pointer`"));
                None
            }
        }
    }

    /// A hidden argument; `None` where its workspace has a problem of its own.
    fn hidden(&mut self, arg: &HiddenArg) -> Option<LaunchArg> {
        match arg {
            HiddenArg::Null => Some(LaunchArg::Value(self.cx.b.int(0), CScalar::Pointer)),
            HiddenArg::Workspace(name) => self.allocs.get(name).cloned(),
            HiddenArg::AssertRecord => Some(LaunchArg::AssertRecord),
        }
    }

    fn default_type(&self, expr: &Expr) -> CScalar {
        let own = expr.as_symbol().and_then(|name| self.types.get(name));
        match expr {
            Expr::Field(_, Field::Given, _) => CScalar::Int(DType::BOOL),
            _ => CScalar::Int(*own.unwrap_or(&DType::INT64)),
        }
    }

    /// A `uint64` parameter as such: the one integer that expressions, which are signed, cannot
    /// hold.
    fn unsigned(&self, expr: &Expr, c_type: Option<CScalar>) -> Option<LaunchArg> {
        let name = expr.as_symbol()?;
        let uint64 = CScalar::Int(DType::UINT64);
        let is_own =
            self.types.get(name) == Some(&DType::UINT64) && c_type.unwrap_or(uint64) == uint64;
        let value = self.cx.named(name).filter(|_| is_own)?.value;
        Some(LaunchArg::Value(value, uint64))
    }

    /// An argument that is one name and no integer: a pointer, a float, a stream, an allocation.
    fn whole(&mut self, name: &str, c_type: Option<CScalar>) -> Option<LaunchArg> {
        if let Some(alloc) = self.allocs.get(name) {
            return Some(alloc.clone());
        }
        let named = self.cx.named(name)?.clone();
        match named.kind {
            NamedKind::Pointer if !matches!(c_type, None | Some(CScalar::Pointer)) => None,
            NamedKind::Pointer => Some(LaunchArg::Value(named.value, CScalar::Pointer)),
            NamedKind::EnvStream => Some(LaunchArg::EnvStream),
            NamedKind::DType | NamedKind::Text | NamedKind::Int => None,
            NamedKind::Float => {
                let own = *self.types.get(name).unwrap_or(&DType::FLOAT64);
                let dtype = match c_type {
                    None => own,
                    Some(CScalar::Float(dtype)) => dtype,
                    Some(_) => return None,
                };
                if dtype == own {
                    return Some(LaunchArg::Value(named.value, CScalar::Float(dtype)));
                }
                // The parameter's value is a float of its own dtype, and only that is passed as
                // another type.
                let value = self.cx.b.rounded(named.value, own);
                if !check::scalar::always_fits_float(own, dtype) {
                    let what = format!("kernel argument `{name}: {dtype}`");
                    check::argument_range::require_float(self.cx, &what, value, dtype);
                }
                Some(LaunchArg::Value(value, CScalar::Float(dtype)))
            }
        }
    }
}
