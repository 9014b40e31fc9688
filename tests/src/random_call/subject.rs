// SPDX-License-Identifier: Apache-2.0
//! A drawn signature, ready to be called: its plan, and its launches as kernels are compiled for
//! them.

use super::packed::Body;
use super::rule::Names;
use super::signature::Drawn;
use kernpack_ffi_abi::{DType, DeviceType};
use kernpack_kernel_lang::file::KernelFiles;
use kernpack_kernel_lang::packed::written::{self, Described, WrittenArg, WrittenKernel};
use kernpack_kernel_lang::packed::{self, PackedLaunch, PackedRow};
use kernpack_syntax::{Placed, Texts};
use kernpack_validators::plan::{CScalar, Plan};
use kernpack_validators::{
    Expr, Geometry, KernelArg, KernelName, LaunchSpec, Returns, Signature, Site, When, Workspace,
    parse_expr, parse_when,
};
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

/// The most arguments that a launch has.
const MOST_ARGS: usize = 24;

/// A signature, or its twin, with launches.
pub(super) struct Subject {
    pub signature: Signature,
    /// Whether it is the `_out` twin, which allocates nothing.
    pub is_twin: bool,
    /// The checks. Its launches are [`Subject::launches`], the [ways](Subject::ways) and at last
    /// one that always runs and is passed every name.
    pub plan: Plan,
    /// What that launch is passed.
    pub names: Vec<Expr>,
    /// What launches are passed.
    pub args: Vec<KernelArg>,
    /// Each launch, for the combinations of dtypes that it is made for, by their numbers.
    pub launches: Vec<HashMap<usize, PackedLaunch>>,
    /// The launches of a packed function as they are written: one of them runs in each call.
    pub ways: Option<Vec<usize>>,
    /// The extents and strides of the layouts that launches are passed behind that.
    pub layouts: Vec<Vec<(Expr, Expr)>>,
    whens: Vec<When>,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {}", self.signature)?;
        for (number, when) in self.whens.iter().enumerate() {
            writeln!(f, "  launch {number}: when {when}")?;
        }
        for fact in self.launches.iter().flat_map(HashMap::values).flat_map(|one| &one.known) {
            writeln!(f, "  {fact}")?;
        }
        Ok(())
    }
}

impl Subject {
    /// The function of a drawn signature, and with results its twin, with launches of a package
    /// file and with those of a packed function; none where the text is refused.
    pub fn all_of(drawn: &Drawn) -> Vec<Subject> {
        let Ok(signature) = drawn.text().parse::<Signature>() else { return vec![] };
        let names = Names::of(drawn);
        let Some(workspaces) = drawn.own_workspaces() else { return vec![] };
        let numbers = numbers(&signature, &workspaces, &names);
        let written = Launches::written(drawn, &signature, &workspaces, &names);
        let mut subjects = Vec::new();
        let written = written.map(|written| (signature, written));
        let asserting = drawn.asserting.as_ref().and_then(|body| Launches::packed(drawn, body));
        let packed = Launches::packed(drawn, &drawn.body);
        for (signature, of) in [written, packed, asserting].into_iter().flatten() {
            for (signature, is_twin) in variants(&signature) {
                let Some(plan) = plan(&signature, &workspaces, &of, &numbers) else { continue };
                let (names, Launches { args, launches, ways, layouts, whens }) =
                    (numbers.clone(), of.clone());
                subjects.push(Subject {
                    signature,
                    is_twin,
                    plan,
                    names,
                    args,
                    launches,
                    ways,
                    layouts,
                    whens,
                });
            }
        }
        subjects
    }
}

/// The launches of a function.
#[derive(Clone)]
struct Launches {
    args: Vec<KernelArg>,
    launches: Vec<HashMap<usize, PackedLaunch>>,
    ways: Option<Vec<usize>>,
    layouts: Vec<Vec<(Expr, Expr)>>,
    /// When each of them runs, and where it is written so.
    whens: Vec<When>,
}

impl Launches {
    /// Those of a package file.
    fn written(
        drawn: &Drawn,
        signature: &Signature,
        workspaces: &[Workspace],
        names: &Names,
    ) -> Option<Launches> {
        let whens = drawn.whens.iter().map(|when| match when {
            None => Some(When::Always),
            Some(text) => parse_when(&text[..]).ok(),
        });
        let whens: Vec<_> = whens.collect::<Option<_>>()?;
        let args = args(drawn, names);
        let rows = written(signature, workspaces, &whens, &args)?;
        let launches = rows.into_iter().map(|rows| {
            let rows = rows.into_iter().enumerate();
            rows.filter_map(|(number, row)| Some((number, row.launches.into_iter().next()?)))
                .collect()
        });
        let launches = launches.collect();
        Some(Launches { args, launches, ways: None, layouts: vec![], whens })
    }

    /// Those of the packed function with that body, and its signature.
    fn packed(drawn: &Drawn, body: &Body) -> Option<(Signature, Launches)> {
        let files = read(&body.text(drawn))?;
        let (functions, problems) = packed::functions(&files);
        let function = functions.into_iter().next().filter(|_| !problems.has_errors())?;
        let (mut launches, mut whens) = (Vec::new(), Vec::new());
        for (number, row) in function.rows.into_iter().enumerate() {
            for launch in row.launches {
                whens.push(When::Branches(launch.branches.clone()));
                launches.push([(number, launch)].into());
            }
        }
        let (ways, written): (Vec<_>, Vec<_>) = body.ways(drawn)?.into_iter().unzip();
        whens.extend(written);
        let passed = drawn.passed().map(|name| KernelArg::Value(Expr::symbol(name), None));
        let args = passed.collect();
        let layouts = drawn.layouts.iter().map(|layout| layout.modes(drawn));
        let layouts = layouts.collect::<Option<_>>()?;
        let own = Launches { args, launches, ways: Some(ways), layouts, whens };
        Some((function.signature, own))
    }
}

fn read(text: &str) -> Option<KernelFiles> {
    let mut door = |_: &Path| Ok(text.as_bytes().to_vec());
    KernelFiles::read(Path::new("k.py"), &mut door, &mut Texts::default()).ok()
}

/// The function, and its twin.
fn variants(signature: &Signature) -> Vec<(Signature, bool)> {
    let twin = signature.out_variant_apart().map(|twin| (twin, true));
    [(signature.clone(), false)].into_iter().chain(twin).collect()
}

/// Every name that a call has a number for: those of addresses, too.
fn numbers(signature: &Signature, workspaces: &[Workspace], names: &Names) -> Vec<Expr> {
    let givens = names.optionals.iter().map(|path| format!("{path}.given"));
    let fields = names.numbers.iter().cloned().chain(givens);
    let mut all: Vec<Expr> = fields.filter_map(|text| parse_expr(&text[..]).ok()).collect();
    all.extend(names.tensors.iter().map(Expr::symbol));
    let results = signature.results.iter().map(|result| (&result.name, &result.tensor));
    let workspaces = workspaces.iter().map(|one| (&one.name.value, &one.tensor.value));
    for (name, tensor) in results.chain(workspaces) {
        let fields = (0..tensor.dims().len())
            .flat_map(|i| [format!("{name}.shape[{i}]"), format!("{name}.strides[{i}]")]);
        all.extend(fields.filter_map(|text| parse_expr(&text[..]).ok()));
    }
    all
}

/// What each launch is passed: tensors, Optionals and tuples as they are, and numbers.
fn args(drawn: &Drawn, names: &Names) -> Vec<KernelArg> {
    let products = names.numbers.windows(2).map(|pair| format!("{}*{} + 4", pair[0], pair[1]));
    let quotients = names.numbers.iter().map(|name| format!("{name} // 2"));
    let texts = drawn.passed().map(str::to_string).chain(names.numbers.iter().cloned());
    let texts = texts.chain(products.take(3)).chain(quotients.take(3)).take(MOST_ARGS);
    let exprs = texts.filter_map(|text| parse_expr(&text[..]).ok());
    let mut c_types = drawn.c_types.iter().cycle();
    let arg = |expr: Expr| {
        let is_number = expr.as_symbol().is_none_or(|name| names.numbers.iter().any(|n| n == name));
        let c_type = is_number.then(|| c_types.next()).flatten().copied().flatten();
        KernelArg::Value(expr, c_type.and_then(DType::parse).and_then(CScalar::of))
    };
    exprs.map(arg).collect()
}

/// What kernels are compiled for.
fn written(
    signature: &Signature,
    workspaces: &[Workspace],
    whens: &[When],
    args: &[KernelArg],
) -> Option<Vec<Vec<PackedRow>>> {
    let params: Vec<_> = (0..args.len()).map(|i| format!("a{i}")).collect();
    let params = params.join(", ");
    let text = format!("import kernpack as kp\n\n@kp.kernel\ndef k({params}):\n    pass\n");
    let files = read(&text)?;
    let kernel = Placed::from("k".to_string());
    let args: Vec<_> = args.iter().cloned().map(|arg| WrittenArg::Arg(arg).into()).collect();
    let geometry = Geometry::new(vec![Expr::Int(1)], vec![Expr::Int(1)]);
    let whens: Vec<_> = whens.iter().collect();
    let launch = |index| {
        let written = WrittenKernel { kernel: &kernel, args: &args, geometry: &geometry };
        let described = Described { signature, workspaces, whens: &whens, index };
        written::launch(&files, written, described).ok()
    };
    (0..whens.len()).map(launch).collect()
}

fn plan(
    signature: &Signature,
    workspaces: &[Workspace],
    of: &Launches,
    numbers: &[Expr],
) -> Option<Plan> {
    let launch = |when: When, args: Vec<KernelArg>| LaunchSpec {
        when,
        kernel: KernelName::plain("k"),
        args: args.into_iter().map(Placed::from).collect(),
        site: Site::Host(Returns::Void),
    };
    let int64 = CScalar::Int(DType::INT64);
    let mut paths = signature.tensor_paths();
    paths.extend(workspaces.iter().map(|one| one.name.value.clone()));
    let arg = |expr: &Expr| match expr
        .as_symbol()
        .is_some_and(|name| paths.iter().any(|path| path == name))
    {
        true => KernelArg::Value(expr.clone(), None),
        false => KernelArg::Value(expr.clone(), Some(int64)),
    };
    // A number that its C type does not hold is refused where the launch runs.
    let checked = of.args.iter().filter(|arg| matches!(arg, KernelArg::Value(_, Some(_))));
    let checked: Vec<_> = checked.cloned().collect();
    let asked = of.whens.iter().map(|when| launch(when.clone(), checked.clone()));
    let names = launch(When::Always, numbers.iter().map(arg).collect());
    let all: Vec<_> = asked.chain([names]).collect();
    signature.plan_function(DeviceType::CPU, workspaces, &all).ok()
}
