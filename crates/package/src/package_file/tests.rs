// SPDX-License-Identifier: Apache-2.0
//! Package files as they are written, and what is said about them.

mod args;
mod text;

use crate::package::{Launch, Returns, Site, WrittenLaunch, WrittenPackage};
use crate::source::{GpuSource, HostSource};
use expect_test::{Expect, expect};
use kernpack_syntax::{Diagnostics, Placed, Texts};
use kernpack_validators::{Expr, GpuLaunch, LaunchFlag};
use std::path::Path;

pub(super) const HEADER: &str = "[package]\nname = 'p'\n";
pub(super) const FUNCTION: &str = "[[function]]\nsignature = 'f(x: Tensor([n], float32))'\n";
const LAUNCH: &str = "source = { host = 'f.c' }\nkernel = 'f'\nargs = ['x']\n";

/// Reads a package file that is in a table, as those of users are.
pub(super) fn parse(text: &str, base: &Path) -> Result<WrittenPackage, Diagnostics> {
    let mut texts = Texts::default();
    let id = texts.add("p.toml", text);
    super::parse(texts.snippet(id), base)
}

fn expect_package(text: &str) -> WrittenPackage {
    parse(text, Path::new("folder")).unwrap_or_else(|problems| panic!("{problems}"))
}

/// A launch of the first function, all of which is written.
fn launch(package: &WrittenPackage, number: usize) -> &Launch {
    match &package.functions[0].launches[number] {
        WrittenLaunch::Whole(launch) => launch,
        launch => panic!("{launch:?}"),
    }
}

fn shown(launch: &Launch) -> String {
    let Site::Host { source, returns } = &launch.site else { panic!("{launch:?}") };
    let args: Vec<_> = launch.args.iter().map(ToString::to_string).collect();
    let HostSource { include, define, options, .. } = source;
    let beside = format!("include {include:?} define {define:?} options {options:?}");
    let (kernel, when, name) = (&launch.kernel, launch.when.texts(), source.name());
    format!("{kernel} {args:?} when {when:?}\n  {name} {beside} returns {returns:?}\n")
}

/// Compares the problems of a text, each label with the piece of the text that it is on.
pub(super) fn expect_problems(text: &str, expected: Expect) {
    let problems = parse(text, Path::new("")).expect_err("the text has problems");
    for problem in &problems.0 {
        let are_placed = problem.labels.iter().all(|label| label.span.text.is_some());
        assert!(are_placed && problem.has_place(), "{}", problem.message);
    }
    let mut texts = Texts::default();
    texts.add("", text);
    expected.assert_eq(&problems.in_texts(&texts));
}

#[test]
fn a_file_becomes_a_package() {
    let package = expect_package(
        r#"
[package]
name = "norm"
link = ["libblas.so.3"]
[[function]]
signature = """
rms(x: Tensor([m, d], T), y: Tensor([m, d], T, mut))
  where T in {float32, float64}"""
doc = "y = x / rms(x)"
workspace = { z = "Tensor([4*m], uint8, align=128)", a = "Tensor([d], T)" }
[[function.launch]]
when = "d <= 4096, m > 1"
source = { host = "norm.c", include = ["."], define = { W = "4", A = "1" }, options = ["-ffast-math"] }
kernel = "rms_{T}"
args = ["x", "y", "z", "struct(m: int32, d)"]
returns = "int"
[[function.launch]]
when = "d > 4096"
source = { host = ["/lib/big.a", "k/big.c"], define = { A = "1" } }
symbol = "rms_big"
args = []
"#,
    );
    assert_eq!(package.name, "norm");
    assert_eq!(package.link, ["libblas.so.3".to_string().into()]);
    let [function] = &package.functions[..] else { panic!("one function") };
    assert_eq!(function.doc.as_deref(), Some("y = x / rms(x)"));
    let workspaces: Vec<_> =
        function.workspaces.iter().map(|workspace| &workspace.name[..]).collect();
    assert_eq!(workspaces, ["z", "a"]);
    expect![[r#"
        rms_{T} ["x", "y", "z", "struct(m: int32, d)"] when ["d <= 4096", "m > 1"]
          folder/norm.c include ["folder/."] define [("W", "4"), ("A", "1")] options ["-ffast-math"] returns Status
        rms_big [] when ["d > 4096"]
          /lib/big.a, folder/k/big.c include [] define [("A", "1")] options [] returns Void
    "#]].assert_eq(&(0..2).map(|number| shown(launch(&package, number))).collect::<String>());
}

#[test]
fn one_launch_may_stand_in_the_function() {
    let package = expect_package(&format!("{HEADER}{FUNCTION}{LAUNCH}returns = 'int'"));
    let launch = launch(&package, 0);
    assert_eq!(launch.kernel.to_string(), "f");
    assert!(matches!(launch.site, Site::Host { returns: Returns::Status, .. }));
}

#[test]
fn a_function_without_a_launch_only_checks() {
    assert!(expect_package(&format!("{HEADER}{FUNCTION}")).functions[0].launches.is_empty());
}

#[test]
fn one_kernel_may_serve_every_dtype() {
    let function = "[[function]]\nsignature = 'f(x: Tensor([n], T)) where T in {int8, uint8}'\n";
    let package = expect_package(&format!("{HEADER}{function}{LAUNCH}"));
    assert_eq!(launch(&package, 0).kernel.to_string(), "f");
}

#[test]
fn what_must_be_there() {
    expect_problems(
        "",
        expect![[r#"
            error[missing-key]: this file has no `[package]`
              1:1 `` expected `package`
            error[empty-package]: the package has no functions
              1:1 `` nothing to build
              help: add a `[[function]]` with a `signature`"#]],
    );
    expect_problems(
        "[package]",
        expect![[r#"
            error[missing-key]: the package needs a `name`
              1:1 `[package]` expected `name`
            error[empty-package]: the package has no functions
              1:2 `package` nothing to build
              help: add a `[[function]]` with a `signature`"#]],
    );
    expect_problems(
        &format!("{HEADER}function = []"),
        expect![[r#"
            error[empty-package]: the package has no functions
              1:2 `package` nothing to build
              help: add a `[[function]]` with a `signature`
            error[unknown-key]: the package has no key `function`
              3:1 `function` unknown key
              help: use one of `name`, `submit`, `link`"#]],
    );
    expect_problems(
        &format!("{HEADER}[[function]]"),
        expect![[r#"
            error[missing-key]: the function needs a `signature`
              3:1 `[[function]]` expected `signature`"#]],
    );
    expect_problems(
        &format!("{HEADER}{FUNCTION}[[function.launch]]"),
        expect![[r#"
            error[missing-key]: the launch has no `source`
              5:1 `[[function.launch]]` expected `source`
            error[missing-key]: the launch has no `kernel`
              5:1 `[[function.launch]]` expected `kernel`
              help: name the function of the source that runs: `kernel = "norm_f32"`"#]],
    );
    expect_problems(
        &format!("{HEADER}{FUNCTION}source = {{}}"),
        expect![[r#"
            error[missing-key]: the launch has no `kernel`
              3:1 `[[function]]` expected `kernel`
              help: name the function of the source that runs: `kernel = "norm_f32"`
            error[missing-key]: the source names no file
              5:10 `{}` expected one of `host`, `cuda`, `cubin`, `fatbin`, `ptx`, `triton`, `kernel`"#]],
    );
}

#[test]
fn unknown_keys_get_a_suggestion() {
    let text = format!(
        "[pakage]\n[package]\nname = 'p'\nversion = 1\n{FUNCTION}kernal = 'f'\n[[function.launch]]\nwen = 'n > 1'\n\
         source = {{ host = 'f.c', includes = ['.'] }}\nkernel = 'f'\nargs = ['x']\n"
    );
    expect_problems(
        &text,
        expect![[r#"
            error[unknown-key]: a package file has no key `pakage`
              1:2 `pakage` unknown key
              help: did you mean `package`?
            error[unknown-key]: the package has no key `version`
              4:1 `version` unknown key
              help: use one of `name`, `submit`, `link`
            error[unknown-key]: a function has no key `kernal`
              7:1 `kernal` unknown key
              help: did you mean `kernel`?
            error[unknown-key]: a launch has no key `wen`
              9:1 `wen` unknown key
              help: did you mean `when`?
            error[unknown-key]: a source has no key `includes`
              10:26 `includes` unknown key
              help: did you mean `include`?"#]],
    );
}

#[test]
fn values_of_other_types() {
    expect_problems(
        "package = 1\nfunction = 2",
        expect![[r#"
            error[value-type]: `package` is of type integer
              1:11 `1` expected a table
            error[value-type]: `function` is of type integer
              2:12 `2` expected an array of tables: `[[function]]`"#]],
    );
    expect_problems(
        &format!("{HEADER}link = 'a'\n[[function]]\nsignature = 1\ndoc = []\nworkspace = 'w'"),
        expect![[r#"
            error[value-type]: `link` is of type string
              3:8 `'a'` expected an array of strings
            error[value-type]: `signature` is of type integer
              5:13 `1` expected a string
            error[value-type]: `doc` is of type array
              6:7 `[]` expected a string
            error[value-type]: `workspace` is of type string
              7:13 `'w'` expected a table such as `{ ws = "Tensor([n], uint8)" }`"#]],
    );
    expect_problems(
        &format!(
            "{HEADER}{FUNCTION}[[function.launch]]\n\
            when = 1\n\
            source = 'f.c'\n\
            kernel = 1\n\
            args = 'x'\n\
            returns = 1"
        ),
        expect![[r#"
            error[value-type]: `when` is of type integer
              6:8 `1` expected a string
            error[value-type]: `source` is of type string
              7:10 `'f.c'` expected a table such as `{ host = "norm.c" }`
            error[value-type]: `kernel` is of type integer
              8:10 `1` expected a string
            error[value-type]: `args` is of type string
              9:8 `'x'` expected an array of strings
            error[value-type]: `returns` is of type integer
              10:11 `1` expected a string"#]],
    );
    expect_problems(
        &format!(
            "{HEADER}{FUNCTION}kernel = 'f'\n\
            args = ['x', 1]\n\
            returns = 'float'\n\
            [function.source]\n\
            host = 1\n\
            include = '.'\n\
            options = [[]]\n\
            define = {{ W = 4, 'a b' = 'c' }}"
        ),
        expect![[r#"
            error[value-type]: an item of `args` is of type integer
              6:14 `1` expected a string
            error[bad-value]: a host function cannot return `float`
              7:11 `'float'` expected `"void"` or `"int"`
            error[value-type]: `host` is of type integer
              9:8 `1` expected a string
            error[value-type]: `include` is of type string
              10:11 `'.'` expected an array of strings
            error[value-type]: an item of `options` is of type array
              11:12 `[]` expected a string
            error[value-type]: `W` is of type integer
              12:16 `4` expected a string
            error[bad-name]: a macro's name, `a b`, is no C identifier
              12:19 `'a b'` expected letters, digits and `_`, no digit in front"#]],
    );
    expect_problems(
        &format!("{HEADER}{FUNCTION}source = []\nkernel = 'f'\nargs = []"),
        expect![[r#"
            error[bad-value]: `source` is an empty list
              5:10 `[]` expected at least one file of GPU code"#]],
    );
    expect_problems(
        &format!("{HEADER}{FUNCTION}[function.launch]"),
        expect![[r#"
            error[value-type]: `launch` is of type table
              5:1 `[function.launch]` expected an array of tables: `[[function.launch]]`"#]],
    );
}

/// A package whose one function is launched on a GPU, with these keys.
pub(super) fn on_gpu(keys: &str) -> String {
    format!("{HEADER}{FUNCTION}kernel = 'k'\nargs = ['x', 'n']\n{keys}")
}

#[test]
fn a_launch_on_a_gpu() {
    let package = expect_package(&on_gpu(
        "source = [{ cubin = 'a', arch = 'sm_90a' }, { ptx = 'b' }]\n\
        launch = { grid = ['ceildiv(n, 256)', 2], block = [0x100], smem = '4*n', attr = { cluster = [2, 1], cooperative = true, \
        pdl = true, priority = -1 } }",
    ));
    let launch = launch(&package, 0);
    let Site::Gpu { source, launch: GpuLaunch { geometry, .. } } = &launch.site else {
        panic!("{launch:?}")
    };
    let texts = |numbers: &[Placed<Expr>]| -> Vec<String> {
        numbers.iter().map(ToString::to_string).collect()
    };
    assert_eq!(texts(&geometry.grid), ["ceildiv(n, 256)", "2"]);
    assert_eq!(texts(&geometry.block), ["256"]);
    assert_eq!(texts(&geometry.cluster), ["2", "1"]);
    assert_eq!(geometry.shared.to_string(), "4*n");
    assert!(geometry.flags.iter().eq([LaunchFlag::Cooperative, LaunchFlag::Dependent]));
    let GpuSource::Files(files) = source else { panic!("{source:?}") };
    assert_eq!(files[0].arch.unwrap().to_string(), "sm_90a");
    assert_eq!(files[1].path.value, Path::new("folder/b"));
}

#[test]
fn a_launch_of_cuda_cpp() {
    let package = expect_package(&format!(
        "{HEADER}[[function]]\nsignature = 'f(x: Tensor([n], T)) where T in {{float16, float32}}'\nkernel = 'k<{{T}}, 4>'\n\
        args = ['x']\nsource = {{ cuda = 'k.cu', arch = ['sm_90'], define = {{ W = '4' }} }}\n\
        launch = {{ grid = [1], block = [32] }}"
    ));
    let launch = launch(&package, 0);
    let Some(GpuSource::Cuda(source, archs)) = launch.gpu_source() else { panic!("{launch:?}") };
    assert_eq!(source.define, [("W".to_string(), "4".to_string())]);
    assert_eq!(archs.len(), 1);
}

/// The kernels of a source are not known where it cannot be read: a template is no mistake then.
#[test]
fn a_source_that_cannot_be_read_is_the_only_problem() {
    let text =
        on_gpu("source = { cuda = 'b', arch = ['sm_9'] }\nlaunch = { grid = [1], block = [1] }");
    let text = text.replace("kernel = 'k'", "kernel = 'k<float>'");
    assert!(text.contains("k<float>"), "{text}");
    let found = parse(&text, Path::new("")).expect_err("no such architecture").0;
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn problems_of_launches_on_a_gpu() {
    let problems = [
        "source = { ptx = 'b' }",
        "source = { ptx = 'b' }\nlaunch = { grid = [1] }",
        "source = { ptx = 'b' }\nlaunch = { grid = [], block = [1, 1, 1, 1] }",
        "source = { ptx = 'b' }\nlaunch = { grid = 1, block = ['n +'] }",
        "source = { ptx = 'b' }\nlaunch = { grid = [true], block = ['q'] }",
        "source = { ptx = 'b' }\nlaunch = { grid = ['q'], block = [1] }",
        "source = { ptx = 'b' }\nlaunch = { grid = [1], block = [1], attr = { cluster = [2], warps = 4, pdl = 1 } }",
        "source = { ptx = 'b' }\nlaunch = { grid = [1], block = [1], attr = { stream = 'n' } }",
        "source = { ptx = 'b', cubin = 'c' }\nlaunch = { grid = [1], block = [1] }",
        "source = { cubin = 'b', arch = 'sm90' }\nlaunch = { grid = [1], block = [1] }",
        "source = [{ cubin = 'b' }, { host = 'c.c' }]\nlaunch = { grid = [1], block = [1] }",
        "source = { cuda = 'b', arch = ['sm_9'] }\nlaunch = { grid = [1], block = [1] }",
        "source = { host = 'b.c' }\nlaunch = { grid = [1], block = [1] }",
        "source = { kernel = 'b' }\nreturns = 'int'\nlaunch = { grid = [1], block = [1] }",
        "source = { ptx = 'b' }\nreturns = 'int'\nlaunch = { grid = [1], block = [1] }",
        "source = { ptx = 'b' }\nlaunch = { grid = [1], block = [1], attr = { stream = 'x' } }",
    ];
    let mut shown = String::new();
    for keys in problems {
        let text = on_gpu(keys);
        let found = parse(&text, Path::new("")).expect_err(keys);
        shown += &format!("{keys}\n");
        for problem in found.0 {
            shown += &format!("    {}: {}\n", problem.code, problem.message);
        }
    }
    expect![[r#"
        source = { ptx = 'b' }
            missing-key: a launch on a GPU needs a layout
        source = { ptx = 'b' }
        launch = { grid = [1] }
            missing-key: a launch on a GPU needs `block`
        source = { ptx = 'b' }
        launch = { grid = [], block = [1, 1, 1, 1] }
            bad-value: `grid` has 0 numbers
            bad-value: `block` has 4 numbers
        source = { ptx = 'b' }
        launch = { grid = 1, block = ['n +'] }
            value-type: `grid` is of type integer
            syntax: expected an expression, found the end
        source = { ptx = 'b' }
        launch = { grid = [true], block = ['q'] }
            value-type: an item of `grid` is of type boolean
        source = { ptx = 'b' }
        launch = { grid = ['q'], block = [1] }
            unbound-symbol: `q` in `grid[0]` of launch 0 has no value
        source = { ptx = 'b' }
        launch = { grid = [1], block = [1], attr = { cluster = [2], warps = 4, pdl = 1 } }
            unknown-key: `attr` has no key `warps`
            value-type: `pdl` is of type integer
        source = { ptx = 'b' }
        launch = { grid = [1], block = [1], attr = { stream = 'n' } }
            launch: `n`, the stream of launch 0, is no `Stream` parameter
        source = { ptx = 'b', cubin = 'c' }
        launch = { grid = [1], block = [1] }
            conflict: a source names two files
        source = { cubin = 'b', arch = 'sm90' }
        launch = { grid = [1], block = [1] }
            bad-value: `sm90` is no GPU architecture: expected `sm_` or `compute_`, two or three digits, and perhaps `a` or `f`, as in `sm_90a`
        source = [{ cubin = 'b' }, { host = 'c.c' }]
        launch = { grid = [1], block = [1] }
            value-type: a list of sources has files of GPU code only
        source = { cuda = 'b', arch = ['sm_9'] }
        launch = { grid = [1], block = [1] }
            bad-value: `sm_9` is no GPU architecture: expected `sm_` or `compute_`, two or three digits, and perhaps `a` or `f`, as in `sm_90a`
        source = { host = 'b.c' }
        launch = { grid = [1], block = [1] }
            conflict: `grid` is for launches on a GPU, and the source is a host function
            conflict: `block` is for launches on a GPU, and the source is a host function
        source = { kernel = 'b' }
        returns = 'int'
        launch = { grid = [1], block = [1] }
            conflict: a kernel on a GPU returns nothing
        source = { ptx = 'b' }
        returns = 'int'
        launch = { grid = [1], block = [1] }
            conflict: a kernel on a GPU returns nothing
        source = { ptx = 'b' }
        launch = { grid = [1], block = [1], attr = { stream = 'x' } }
            launch: `x`, the stream of launch 0, is no `Stream` parameter
    "#]].assert_eq(&shown);
}

#[test]
fn of_two_files_the_second_is_the_one_that_stands_behind() {
    for (first, second) in [("ptx", "cubin"), ("cubin", "ptx"), ("fatbin", "triton")] {
        let text = format!(
            "{HEADER}[[function]]\nsignature = 'f(n: int32)'\nkernel = 'k'\nargs = ['n']\n\
            source = {{ {first} = 'a', {second} = 'b' }}\nlaunch = {{ grid = [1], block = [1] }}"
        );
        let problems = parse(&text, Path::new("")).expect_err("the source names two files");
        let conflict = problems.0.iter().find(|problem| problem.code == "conflict").unwrap();
        assert_eq!(conflict.message, "a source names two files");
        let [label] = &conflict.labels[..] else { panic!("{:?}", conflict.labels) };
        assert_eq!(
            (&text[label.span.start..label.span.end], &label.text[..]),
            (second, "the second")
        );
    }
}

#[test]
fn problems_inside_strings_are_found_in_the_file() {
    expect_problems(
        &format!(
            "{HEADER}[[function]]\n\
        signature = 'f(x: Tensor([n], flot32), y: int33)'"
        ),
        expect![[r#"
            error[unknown-dtype]: `flot32` is no dtype
              4:31 `flot32` expected a dtype or a dtype variable
              help: did you mean `float32`?
            error[syntax]: expected a type, found `int33`
              4:43 `int33` expected a type
              help: did you mean `int32`?"#]],
    );
    expect_problems(
        &format!(
            "{HEADER}[[function]]\n\
        signature = \"\"\"\n\
        f(\n\
          x: Tenzor([n], float32))\"\"\""
        ),
        expect![[r#"
            error[syntax]: expected a type, found `Tenzor`
              6:4 `Tenzor` expected a type
              help: the types are Tensor, Shape, Tuple, Optional, String, DataType, Pointer, Stream, EnvStream, a dtype for a scalar, and literals"#]],
    );
    expect_problems(
        &format!(
            "{HEADER}[[function]]\n\
        signature = \"f(\\u0078: Tenzor([n], float32))\""
        ),
        expect![[r#"
            error[syntax]: expected a type, found `Tenzor`
              4:13 `"f(\u0078: Tenzor([n], float32))"` expected a type
              help: the types are Tensor, Shape, Tuple, Optional, String, DataType, Pointer, Stream, EnvStream, a dtype for a scalar, and literals"#]],
    );
    expect_problems(
        &format!("{HEADER}[[function]]\nsignature = ''"),
        expect![[r#"
            error[syntax]: expected the function's name, found the end
              4:13 `''` expected the function's name"#]],
    );
    expect_problems(
        &format!(
            "{HEADER}{FUNCTION}workspace = {{ w = 'Tensor([n)', '1' = 'Tensor([n], uint8)' }}\n\
            [[function.launch]]\n\
            when = 'n <'\n\
            source = {{ host = 'f.c' }}\n\
            kernel = 'f'\n\
            args = ['x', 'n +', 'n: int33']\n\
            \
                  [[function.launch]]\nwhen = ''\nsource = {{ host = 'f.c' }}\nkernel = 'f'\nargs = []"
        ),
        expect![[r#"
            error[syntax]: expected `]`, found `)`
              5:29 `)` expected `]`
            error[bad-name]: a workspace's name, `1`, is no C identifier
              5:33 `'1'` expected letters, digits and `_`, no digit in front
            error[syntax]: expected an expression, found the end
              7:12 `'` expected an expression
            error[syntax]: expected an expression, found the end
              10:18 `'` expected an expression
            error[syntax]: expected a C type: bool, an integer, a float or `pointer`, found `int33`
              10:25 `int33` expected a C type: bool, an integer, a float or `pointer`
              help: did you mean `int32`?
            error[syntax]: expected a rule, found the end
              12:8 `''` expected a rule"#]],
    );
}

#[test]
fn names_that_have_no_value_are_found_in_their_piece() {
    expect_problems(
        &format!(
            "{HEADER}{FUNCTION}workspace = {{ w = 'Tensor([k], uint8)', x = 'Tensor([n], uint8)' }}\n\
            {LAUNCH}"
        ),
        expect![[r#"
            error[unbound-symbol]: `k` in the workspace `w` has no value
              5:28 `k`
              help: name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`
            error[name-clash]: `x` means two things
              5:41 `x`
              help: rename the workspace"#]],
    );
    expect_problems(
        &format!(
            "{HEADER}{FUNCTION}[[function.launch]]\n\
            when = 'n > 1'\n\
            {LAUNCH}[[function.launch]]\n\
            when = 'k > 1'\n\
            source = {{ host = 'f.c' }}\n\
            kernel = 'f'\n\
            args = ['x', 'n', 'm', 'x.shape[1]']"
        ),
        expect![[r#"
            error[unbound-symbol]: `k` in the `when` of launch 1 has no value
              11:9 `k`
              help: name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`
            error[unbound-symbol]: `m` in `m` of launch 1 has no value
              14:20 `m`
              help: name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`
            error[unbound-symbol]: `x.shape[1]` in `x.shape[1]` of launch 1 has no value
              14:25 `x.shape[1]`
              help: name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`"#]],
    );
}

#[test]
fn kernel_names() {
    let file = |kernel: &str| {
        format!(
            "{HEADER}[[function]]\n\
            signature = 'f(x: Tensor([n], T), y: Tensor([n], U)) where (T, U) in {{(int8, int16), (int8, int32)}}'\n\
            source = {{ host = 'f.c' }}\n\
            kernel = '{kernel}'\n\
            args = ['x']"
        )
    };
    assert_eq!(launch(&expect_package(&file("{T}_f_{U}")), 0).kernel.to_string(), "{T}_f_{U}");
    expect_problems(
        &file("f_{V}"),
        expect![[r#"
            error[kernel-template]: `V` in the kernel's name is no dtype variable
              6:14 `V` stands for no dtype
              help: the dtype variables are T, U"#]],
    );
    expect_problems(
        &file("f_{T"),
        expect![[r#"
            error[kernel-template]: `{` without its `}`
              6:13 `{T` not closed"#]],
    );
    expect_problems(
        &file("f-{T}"),
        expect![[r#"
            error[bad-name]: `f-{T}` cannot be the symbol of a C function
              6:10 `'f-{T}'` expected letters, digits and `_`, no digit in front, and `{T}` for dtypes"#]],
    );
    expect_problems(
        &file(""),
        expect![[r#"
            error[bad-name]: `` cannot be the symbol of a C function
              6:10 `''` expected letters, digits and `_`, no digit in front, and `{T}` for dtypes"#]],
    );
    expect_problems(
        &format!("{HEADER}{FUNCTION}{LAUNCH}symbol = 'f'"),
        expect![[r#"
            error[conflict]: the launch has both `kernel` and `symbol`
              8:1 `symbol` means the same
              help: remove one"#]],
    );
    expect_problems(
        &format!("{HEADER}{FUNCTION}source = {{ host = 'f.c' }}\nkernel = 'f_{{T}}'\nargs = []"),
        expect![[r#"
            error[kernel-template]: `T` in the kernel's name is no dtype variable
              6:14 `T` stands for no dtype
              help: write the name without braces"#]],
    );
}

#[test]
fn names_that_clash() {
    let result =
        "[[function]]\nsignature = 'g(x: Tensor([n], float32)) -> y: Tensor([n], float32)'\n";
    let out = "[[function]]\nsignature = ' g_out(n: int32)'\n";
    expect_problems(
        &format!("{HEADER}{FUNCTION}{FUNCTION}"),
        expect![[r#"
            error[name-clash]: two functions of the package are `f`
              6:14 `f` this function
              4:14 `f` this function
              help: rename one"#]],
    );
    expect_problems(
        &format!("{HEADER}{out}{result}"),
        expect![[r#"
            error[name-clash]: two functions of the package are `g_out`
              6:14 `g` has results, and so a variant `g_out`
              4:15 `g_out` this function
              help: rename one
            error[unwritten-result]: nothing writes the result `y`: no launch is passed it
              6:44 `y`
              help: name `y` among the `args` of a kernel, or remove it"#]],
    );
    expect_problems(
        &format!("{HEADER}{result}{out}"),
        expect![[r#"
            error[unwritten-result]: nothing writes the result `y`: no launch is passed it
              4:44 `y`
              help: name `y` among the `args` of a kernel, or remove it
            error[name-clash]: two functions of the package are `g_out`
              6:15 `g_out` this function
              4:14 `g` has results, and so a variant `g_out`
              help: rename one"#]],
    );
}

#[test]
fn pieces_that_do_not_go_together() {
    expect_problems(
        &format!(
            "{HEADER}{FUNCTION}{LAUNCH}[[function.launch]]\n\
        {LAUNCH}"
        ),
        expect![[r#"
            error[conflict]: the function has both `source` and `[[function.launch]]`
              8:12 `launch` the launches
              help: move `source` into a `[[function.launch]]`"#]],
    );
    expect_problems(
        &format!(
            "{HEADER}{FUNCTION}source = {{ host = 'f.o', define = {{ W = '4' }} }}\n\
            kernel = 'f'\n\
            args = []"
        ),
        expect![[r#"
            error[conflict]: `define` is for C files, and `f.o` is none
              5:26 `define` has no effect
              help: remove `define`"#]],
    );
    expect_problems(
        "[package]\nname = 'my-package'\n[[function]]\nsignature = '_library(n: int32)'",
        expect![[r#"
            error[bad-name]: the package's name, `my-package`, is no C identifier
              2:8 `'my-package'` expected letters, digits and `_`, no digit in front
            error[reserved-name]: a function's name cannot start with `_library`
              4:14 `_library` its symbol would mean something else
              help: choose another name"#]],
    );
}

/// A small generator of numbers, so that the same texts are tried everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }
}

#[test]
fn no_text_makes_the_reader_panic() {
    const PIECES: &[&str] = &[
        HEADER,
        FUNCTION,
        LAUNCH,
        "[",
        "]",
        "{",
        "}",
        "'",
        "\"",
        "\"\"\"",
        "\n",
        "\r\n",
        "=",
        ",",
        ".",
        "é",
        "\\",
        "\\u0041",
        "[[function.launch]]\n",
        "[[function]]\n",
        "[function]\n",
        "signature = ",
        "f(x: Tensor([n], T))",
        "-> y: Tensor([n], T)",
        "kernel = ",
        "{T}",
        "{",
        "source = ",
        "host",
        "cuda",
        "args = ",
        "when = ",
        "returns = ",
        "workspace = ",
        "define",
        "include",
        "1",
        "-1e9",
        "1979-05-27",
        "[[[[",
        "function",
        "package",
        "name",
        "where n % 8 == 0",
    ];
    let mut random = Random(1);
    for _ in 0..20_000 {
        let n_pieces = random.below(16);
        let mut text: String = (0..n_pieces).map(|_| PIECES[random.below(PIECES.len())]).collect();
        if random.below(2) == 0 {
            let whole = format!(
                "{HEADER}{FUNCTION}workspace = {{ w = 'Tensor([n], uint8)' }}\n\
                {LAUNCH}"
            );
            let at = (0..=random.below(whole.len())).rev().find(|at| whole.is_char_boundary(*at));
            text = [&whole[..at.unwrap_or(0)], &text, &whole[at.unwrap_or(0)..]].concat();
        }
        if let Err(problems) = parse(&text, Path::new("")) {
            for label in problems.0.iter().flat_map(|problem| &problem.labels) {
                assert!(
                    text.get(label.span.start..label.span.end).is_some(),
                    "{text:?}: {problems}"
                );
            }
        }
    }
}

/// The buffer of a timed package has a name that nothing in the signature has.
#[test]
fn timed_packages_name_their_buffer() {
    let named = |params: &str| {
        let function = format!("[[function]]\nsignature = 'f({params})'\n");
        let launch = "[[function.launch]]\nsource = { kernel = 'k.py' }\nkernel = 'k'\nargs = ['x']\ngrid = [1]\nblock = [32]\n";
        let mut package = expect_package(&format!("{HEADER}{function}{launch}"));
        package.time_waits();
        let signature = &package.functions[0].signature;
        assert!(signature.resolve().is_ok(), "{signature}");
        signature.params.last().expect("the buffer").name.clone()
    };
    assert_eq!(named("x: Tensor([n], float32)"), "timeline");
    assert_eq!(named("x: Tensor([timeline], float32), timeline_: int32"), "timeline__");
}
