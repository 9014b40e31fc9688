// SPDX-License-Identifier: Apache-2.0
//! Files of kernels: built, checked, run on the interpreter, and shown.

use crate::bench::{Bench, Ran};
use expect_test::{Expect, expect};
use serde_json::Value;

/// A sum of each row, which needs a barrier.
const REDUCE: &str = r#"
import kernpack as kp
from sizes import THREADS


@kp.kernel
def sum_rows(x, out, threads: kp.Constexpr):
    partial = kp.shared(kp.float32, threads // 32)
    row = kp.block_idx()[0]
    acc = kp.float32(0)
    for i in range(kp.thread_idx()[0], x.shape[1], threads):
        acc += x[row, i]
    acc = kp.warp_reduction_sum(acc)
    if kp.lane_idx() == 0:
        partial[kp.warp_idx()] = acc
    kp.sync_threads()
    if kp.thread_idx()[0] == 0:
        total = kp.float32(0)
        for w in range(threads // 32):
            total += partial[w]
        out[row] = total


@kp.jit("reduce_sum(x: Tensor([m, n], float32), out: Tensor([m], float32, mut))")
def reduce_sum(x, out):
    """Sums each row."""
    sum_rows(x, out, THREADS).launch(grid=x.shape[0], block=THREADS)


@kp.kernel
def half_of(x, y):
    i = kp.block_idx()[0]
    if i % 2 == 0:
        y[i] = x[i]


@kp.jit("halves(x: Tensor([n], T, align=16), eps: float32 = 1e-6) -> y: Tensor([n], T) where T in {float16, int8}")
def halves(x, eps, y):
    half_of(x, y).launch(grid=x.shape[0], block=1)
"#;

fn bench() -> Bench {
    Bench::with("reduce_sum.py", REDUCE).and("sizes.py", "THREADS = 64\n")
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).expect("JSON")
}

fn expect(args: &[&str], expected: Expect) {
    bench().expect(args, expected);
}

#[test]
fn a_kernel_file_is_built_as_a_package() {
    let bench = bench();
    let built = bench.run(["--json", "build", "reduce_sum.py", "-o", "r.so", "--depfile", "r.d"]);
    let answer = json(&built);
    assert_eq!(
        (&answer["package"], &answer["inputs"]),
        (&Value::from("reduce_sum"), &Value::from(vec!["reduce_sum.py", "sizes.py"]))
    );
    let shown = bench.run(["inspect", "r.so"]).stdout;
    let from = shown.find("reduce_sum(x").expect("the function");
    let end = from + shown[from..].find("\n\n").expect("another function");
    expect![[r#"
        reduce_sum(x: Tensor([m, n], float32), out: Tensor([m], float32, mut))
            Sums each row.
            submit auto
            launches sum_rows(x, n: int64, m: int64, out)
              kernel: PTX for compute_80
              grid [m], block [64]"#]]
    .assert_eq(&shown[from..end]);
}

#[test]
fn an_import_that_changes_is_noticed() {
    let bench = bench();
    let threads = || {
        bench.run(["build", "reduce_sum.py", "-o", "r.so"]);
        let shown = bench.run(["inspect", "r.so"]).stdout;
        let at = shown.find("block [").expect("a block");
        shown[at..].split(']').next().unwrap_or_default().to_string()
    };
    assert_eq!(threads(), "block [64");
    std::fs::write(bench.path("sizes.py"), "THREADS = 96\n").unwrap();
    assert_eq!(threads(), "block [96");
    assert_eq!(threads(), "block [96");
}

const ASSERTS: &str = r#"
import kernpack as kp

@kp.kernel
def k(x):
    i = kp.thread_idx()[0]
    assert x[i] < 2, f"x[{i}]"

@kp.jit("look(x: Tensor([n], float32))")
def look(x):
    k(x).launch(grid=1, block=x.shape[0])
"#;

/// Also where the same was built before, with them.
#[test]
fn assertions_are_left_out_where_that_is_asked_for() {
    let bench = Bench::with("look.py", ASSERTS);
    let file = "[package]\nname = \"look\"\n[[function]]\nsignature = \"look(x: Tensor([n], float32))\"\n\
                source = { kernel = \"look.py\", asserts = false }\nkernel = \"k\"\nargs = [\"x\"]\n\
                launch = { grid = [1], block = [32] }\n";
    // As the decorator says that Python runs, too.
    let quiet = ASSERTS.replace("\")", "\", asserts=False, max_variants=2)");
    let bench = bench.and("look.toml", file).and("quiet/look.py", &quiet);
    let synchronizes = |args: &[&str]| {
        let built = bench.run([&["build", "-o", "look.so"], args].concat());
        assert_eq!(built.code, Some(0), "{built}");
        bench.run(["inspect", "look.so"]).stdout.contains("kernpack_synchronize_look")
    };
    for _ in 0..2 {
        assert!(synchronizes(&["look.py"]));
        assert!(!synchronizes(&["look.py", "--no-asserts"]));
    }
    assert!(!synchronizes(&["look.toml"]));
    assert!(!synchronizes(&["quiet/look.py"]));
    let emitted = |args: &[&str]| bench.run([&["emit", "look.py", "--as", "ir"], args].concat());
    assert!(emitted(&[]).stdout.contains("assert v"));
    assert!(!emitted(&["--no-asserts"]).stdout.contains("assert v"));
    let run = ["run", "look.py", "look", "n=3", "--fill", "count"];
    assert!(bench.run(run).stderr.contains("error[failed-assert]: x[2], in thread (2, 0, 0)"));
    assert_eq!(bench.run([&run[..], &["--no-asserts"]].concat()).code, Some(0));
    assert_eq!(bench.run(run.map(|arg| arg.replace("look.py", "quiet/look.py"))).code, Some(0));
}

const SHIFT: &str = r#"
import kernpack as kp

@kp.kernel
def k(x, y, by):
    i = kp.thread_idx()[0]
    y[i] = x[i + by]

@kp.jit("shift(x: Tensor([n], float32), by: int32) -> y: Tensor([n], float32)")
def shift(x, by, y):
    k(x, y, by).launch(grid=1, block=x.shape[0])
"#;

/// By the command line or the package file, whatever was built before.
#[test]
fn indices_are_checked_where_that_is_asked_for() {
    let file = "[package]\nname = \"shift\"\n[[function]]\n\
                signature = \"shift(x: Tensor([n], float32), by: int32) -> y: Tensor([n], float32)\"\n\
                source = { kernel = \"shift.py\", checked = true }\nkernel = \"k\"\n\
                args = [\"x\", \"y\", \"by\"]\nlaunch = { grid = [1], block = [32] }\n";
    let said = SHIFT.replace("\")", "\", checked=True)");
    let bench = Bench::with("shift.py", SHIFT).and("shift.toml", file).and("said/shift.py", &said);
    let inspected = |args: &[&str]| {
        let built = bench.run([&["build", "-o", "shift.so"], args].concat());
        assert_eq!(built.code, Some(0), "{built}");
        let text = bench.run(["inspect", "shift.so"]).stdout;
        let told = text.contains("kernel, checked: PTX for compute_80");
        assert_eq!(text.contains("kernpack_synchronize_shift"), told);
        assert_eq!(
            bench.run(["inspect", "--json", "shift.so"]).stdout.contains("\"checked\": true"),
            told
        );
        told
    };
    for _ in 0..2 {
        assert!(!inspected(&["shift.py"]));
        assert!(inspected(&["shift.py", "--checked"]));
        assert!(inspected(&["shift.py", "--checked", "--no-asserts"]));
    }
    assert!(inspected(&["shift.toml"]));
    assert!(inspected(&["said/shift.py"]));
}

const MEET: &str = r#"
import kernpack as kp

@kp.kernel
def meet(x):
    done = kp.mbarrier(2)
    if kp.thread_idx()[0] == 0:
        done[0].init(32)
    kp.sync_threads()
    if kp.warp_idx() == 0:
        done[0].arrive()
    else:
        done[0].wait(0)
    kp.sync_warp()
    x[0] = 1.0

@kp.jit("met(x: Tensor([n], float32, mut))")
def met(x):
    meet(x).launch(grid=1, block=64)
"#;

/// A timed kernel has its waits, and code for them; one that is not timed has nothing of it.
#[test]
fn timed_kernels_write_down_what_they_wait_for() {
    let bench = Bench::with("meet.py", MEET);
    let emitted = |form: &str, args: &[&str]| {
        let ran = bench.run([&["emit", "meet.py", "--as", form], args].concat());
        assert_eq!(ran.code, Some(0), "{ran}");
        ran.stdout
    };
    let waits = "meet\n  line 9: barrier\n  line 13: mbarrier.wait done\n";
    assert_eq!(emitted("waits", &[]), waits);
    assert_eq!(emitted("waits", &["--timed"]), waits);
    let json: Value = serde_json::from_str(&emitted("waits", &["--json"])).expect("it is JSON");
    let wait = &json["kernels"][0]["waits"][0]["waits"][1];
    assert_eq!((&wait["array"], &wait["line"]), (&"done".into(), &13.into()));
    for (form, name) in [("ptx", "%globaltimer"), ("llvm", "%globaltimer"), ("ir", "timeline")] {
        assert!(!emitted(form, &[]).contains(name));
        assert!(emitted(form, &["--timed"]).contains(name));
    }
    // Around both waits, as a warp begins, and as it ends.
    assert_eq!(emitted("ptx", &["--timed"]).matches("%clock64").count(), 2 * 2 + 2);
    // With what is asserted as it runs, whose record comes behind.
    assert!(emitted("ptx", &["--timed", "--checked"]).contains("assert_text"));
}

/// Code that is not checked has nothing of it.
#[test]
fn checked_code_skips_what_is_outside() {
    let bench = Bench::with("shift.py", SHIFT);
    let emitted = |form: &str, args: &[&str]| {
        bench.run([&["emit", "shift.py", "--as", form], args].concat()).stdout
    };
    let ir = emitted("ir", &["--checked"]);
    assert!(ir.contains(r#" of "x""#) && ir.contains(" align 4 when v"), "{ir}");
    assert!(!emitted("ir", &[]).contains(" when "));
    let [plain, checked] = [&[][..], &["--checked"]].map(|args| emitted("ptx", args));
    assert!(!plain.contains("assert_text") && checked.contains("assert_text"));
    let run = |by: &str| {
        bench.run(["run", "shift.py", "shift", "n=3", by, "--fill", "count", "--checked"])
    };
    assert_eq!(run("by=0").code, Some(0));
    let outside = run("by=1");
    assert_eq!(outside.code, Some(1));
    let finding = "error[index-out-of-bounds]: index 3 of `x` is out of bounds: the extent is 3, \
                   in thread (2, 0, 0) of block (0, 0, 0)";
    assert!(outside.stderr.contains(finding), "{outside}");
    assert!(outside.stdout.contains("y: float32 [3] = 1.0 2.0 0.0"), "{outside}");
}

#[test]
fn the_standard_input_may_be_a_kernel_file() {
    let bench = bench();
    let text = REDUCE.replace("from sizes import THREADS", "THREADS = 32");
    let mut command = bench.command(crate::bench::KERNPACK);
    command.args(["build", "-", "--kernels", "-o", "k.so"]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    let mut stdin = child.stdin.take().expect("it is piped");
    std::io::Write::write_all(&mut stdin, text.as_bytes()).expect("it is read");
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
    assert!(bench.run(["inspect", "k.so"]).stdout.contains("package kernels\n"));
}

#[test]
fn architectures_are_chosen() {
    let bench = bench();
    let kernels = |archs: &str| {
        let built = bench.run(["build", "reduce_sum.py", "-o", "r.so", "--arch", archs]);
        assert_eq!(built.code, Some(0), "{built}");
        bench.run(["inspect", "r.so"]).stdout.matches("PTX for compute_90").count()
    };
    assert_eq!(kernels("compute_90"), 3);
}

#[test]
fn problems_stand_in_their_files() {
    let bench = bench().and("sizes.py", "THREADS = 64 +\n");
    let expected = expect![[r#"
        exit 1
        err: error[python-syntax]: expected an expression
        err:  --> sizes.py:1:15
        err:   |
        err: 1 | THREADS = 64 +
        err:   |               ^
    "#]];
    bench.expect(&["check", "reduce_sum.py"], expected);
    let bench = Bench::with("no-name.py", "import kernpack as kp\n");
    let expected = expect![[r#"
        exit 1
        err: error[bad-name]: the package's name, `no-name`, is no C identifier
        err:  --> no-name.py:1:1
        err:   |
        err: 1 | import kernpack as kp
        err:   | ^ expected letters, digits and `_`, no digit in front
        err: 
        err: error[empty-package]: `no-name.py` has no packed functions
        err:  --> no-name.py:1:1
        err:   |
        err: 1 | import kernpack as kp
        err:   | ^
        err:   |
        err:   = help: write `@kp.jit("name(x: Tensor([n], float32))")` in front of a function, or give the signature of one by `--specs`
    "#]];
    bench.expect(&["check", "no-name.py"], expected);
}

#[test]
fn a_package_file_names_a_kernel() {
    let package = r#"
[package]
name = "rows"
[[function]]
signature = "rows(x: Tensor([m, n], T), out: Tensor([m], T, mut)) where T in {float32, int8}"
source = { kernel = "reduce_sum.py", arch = ["compute_80"] }
kernel = "sum_rows"
args = ["x", "out", "64"]
launch = { grid = ["m"], block = [64] }
[[function]]
signature = "none(x: Tensor([m], float32))"
source = { kernel = "reduce_sum.py" }
kernel = "sum_row"
args = ["x"]
launch = { grid = ["m"], block = [64] }
[[function]]
signature = "few(x: Tensor([m], float32), s: String)"
source = { kernel = "reduce_sum.py" }
kernel = "sum_rows"
args = ["x", "s"]
launch = { grid = ["m"], block = [64] }
"#;
    let expected = expect![[r#"
        exit 1
        err: error[unknown-kernel]: `reduce_sum.py` has no kernel `sum_row`
        err:   --> rows.toml:13:10
        err:    |
        err: 13 | kernel = "sum_row"
        err:    |          ^^^^^^^^^
        err:    |
        err:    = help: its kernels are `sum_rows`, `half_of`
        err: 
        err: error[packed-argument]: `sum_rows` takes 3 arguments, and is passed 2
        err:   --> rows.toml:20:9
        err:    |
        err: 20 | args = ["x", "s"]
        err:    |         ^^^^^^^^
        err:    |
        err:    = help: it is `sum_rows(x, out, threads)`
        err: 
        err: error[element-type]: elements are int8, and this is float32
        err:   --> reduce_sum.py:21:20
        err:    |
        err: 21 |         out[row] = total
        err:    |                    ^^^^^
        err:    |
        err:   ::: rows.toml:7:10
        err:    |
        err:  7 | kernel = "sum_rows"
        err:    |          ---------- launched here, where `T` is int8
        err:    |
        err:    = help: write `kp.int8(…)` around it
    "#]];
    bench().and("rows.toml", package).expect(&["check", "rows.toml"], expected);
    let package = package.split("[[function]]\nsignature = \"none").next().unwrap();
    let package = package.replace(", int8", "");
    let bench = bench().and("rows.toml", package);
    let expected = expect![[r#"
        exit 0
        out: sum_rows: grid [2], block [64]
        out: out: float32 [2] = 3.0 3.0
    "#]];
    bench.expect(&["run", "rows.toml", "rows", "m=2", "n=3", "--fill", "ones"], expected);
}

#[test]
fn a_function_runs_on_the_interpreter() {
    expect(
        &["run", "reduce_sum.py", "reduce_sum", "m=3", "n=100", "--check", "--fill", "count"],
        expect![[r#"
            exit 0
            out: sum_rows: grid [3], block [64]
            out: out: float32 [3] = 4950.0 14950.0 24950.0
        "#]],
    );
}

#[test]
fn strides_are_said_of_any_tensor() {
    let wide = REDUCE.replace(
        "x: Tensor([m, n], float32), out",
        "x: Tensor([m, n], float32, strides=[s, 1]), out",
    );
    let strides = |bench: &Bench, file: &str, said: &str| {
        let answer = bench.run(["--json", "run", file, "reduce_sum", "m=3", "n=5", said]);
        json(&answer)["tensors"][0]["strides"].to_string()
    };
    let bench = bench().and("wide.py", wide);
    assert_eq!(strides(&bench, "wide.py", "x.strides=9,1"), "[9,1]");
    assert_eq!(strides(&bench, "wide.py", "s=7"), "[7,1]");
    assert_eq!(strides(&bench, "reduce_sum.py", "x.strides=5,1"), "[5,1]");
}

#[test]
fn what_kernels_do_wrong_is_found() {
    let racy = REDUCE.replace("    kp.sync_threads()\n", "");
    let over = REDUCE.replace("x.shape[1], threads)", "x.shape[1] + 1, threads)");
    let expected = expect![[r#"
        exit 1
        out: sum_rows: grid [1], block [64]
        out: out: float32 [1] = 64.0
        err: error[uninitialised-read]: reads `partial[1]`, which was never written, in thread (0, 0, 0) of block (0, 0, 0)
        err:   --> racy.py:19:22
        err:    |
        err: 19 |             total += partial[w]
        err:    |                      ^^^^^^^^^^ thread (0, 0, 0) of block (0, 0, 0)
        err: 
        err: error[shared-race]: race: `partial[1]` is written, and nothing orders that with another thread's read, in thread (32, 0, 0) of block (0, 0, 0)
        err:   --> racy.py:15:9
        err:    |
        err: 15 |         partial[kp.warp_idx()] = acc
        err:    |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ thread (32, 0, 0) of block (0, 0, 0)
        err: ...
        err: 19 |             total += partial[w]
        err:    |                      ---------- thread (0, 0, 0) of block (0, 0, 0) reads it
    "#]];
    let bench = bench().and("racy.py", racy).and("over.py", over);
    bench.expect(&["run", "racy.py", "reduce_sum", "m=1", "n=100", "--fill", "ones"], expected);
    let expected = expect![[r#"
        exit 1
        out: sum_rows: grid [1], block [64]
        out: out: float32 [1] = 100.0
        err: error[index-out-of-bounds]: index 100 is out of bounds: the extent is 100, in thread (36, 0, 0) of block (0, 0, 0)
        err:   --> over.py:12:16
        err:    |
        err: 12 |         acc += x[row, i]
        err:    |                ^^^^^^^^^ thread (36, 0, 0) of block (0, 0, 0)
    "#]];
    bench.expect(&["run", "over.py", "reduce_sum", "m=1", "n=100", "--fill", "ones"], expected);
    let expected = expect![[r#"
        exit 1
        out: half_of_int8: grid [4], block [1]
        out: y: int8 [4] = 6 0 7 0
        err: error[unwritten-result]: no kernel has written `y[1]`
        err:   --> reduce_sum.py:37:70
        err:    |
        err: 37 | @kp.jit("halves(x: Tensor([n], T, align=16), eps: float32 = 1e-6) -> y: Tensor([n], T) where T in {float16, int8}")
        err:    |                                                                      ^ a result, of which callers see every element
    "#]];
    bench.expect(&["run", "reduce_sum.py", "halves", "n=4", "T=int8"], expected);
}

#[test]
fn arguments_that_are_not_determined() {
    let expected = expect![[r#"
        exit 1
        err: error[undetermined]: `reduce_sum` needs `n`
        err:   --> reduce_sum.py:24:10
        err:    |
        err: 24 | @kp.jit("reduce_sum(x: Tensor([m, n], float32), out: Tensor([m], float32, mut))")
        err:    |          ^^^^^^^^^^
        err:    |
        err:    = help: write `n=…`
        err: 
        err: error[unknown-name]: `reduce_sum` has nothing that is called `k`
        err:   --> reduce_sum.py:24:10
        err:    |
        err: 24 | @kp.jit("reduce_sum(x: Tensor([m, n], float32), out: Tensor([m], float32, mut))")
        err:    |          ^^^^^^^^^^
    "#]];
    bench().expect(&["run", "reduce_sum.py", "reduce_sum", "m=3", "k=2"], expected);
    let expected = expect![[r#"
        exit 1
        err: error[bad-value]: `T` is one of float16, int8, found `float32`
        err: 
        err: error[bad-value]: `n` is an integer, found `x`
    "#]];
    bench().expect(&["run", "reduce_sum.py", "halves", "n=x", "T=float32"], expected);
    let expected = expect![[r#"
        exit 1
        err: error: there is no function `sum`; there is `reduce_sum`, `halves`
    "#]];
    bench().expect(&["run", "reduce_sum.py", "sum", "m=3"], expected);
}

#[test]
fn a_run_as_json() {
    let mut answer = json(&bench().run([
        "--json",
        "run",
        "reduce_sum.py",
        "reduce_sum",
        "m=1",
        "n=2",
        "--fill",
        "x=0.5",
    ]));
    assert!(answer["launches"][0]["thread_ops"].take().as_i64() > Some(64));
    expect![[r#"{"launches":[{"kernel":"sum_rows","grid":[1,1,1],"block":[64,1,1],"smem":0,"printed":[],"thread_ops":null}],"tensors":[{"name":"x","dtype":"float32","shape":[1,2],"strides":[2,1],"role":"read","values":[0.5,0.5]},{"name":"out","dtype":"float32","shape":[1],"strides":[1],"role":"mut","values":[1.0]}],"findings":[],"exact":true,"warnings":[]}"#]]
    .assert_eq(&answer.to_string());
}

/// A kernel that is another one for each of its architectures: that of the call is not the first's.
const OF_ARCHS: &str = r#"
import kernpack as kp


@kp.kernel
def add_some(x):
    x[kp.thread_idx()[0]] = x[kp.thread_idx()[0]] + (2 if kp.has_arch("sm_90") else 1)


@kp.jit("add(x: Tensor([64], float32, mut))")
def add(x):
    add_some(x).launch(grid=1, block=64, arch=("compute_80", "sm_90"))
"#;

#[test]
fn accesses_of_the_kernel_for_an_architecture_are_counted() {
    let bench = Bench::with("k.py", OF_ARCHS);
    let expected = expect![[r#"
        exit 0
        out: add_some_2: grid [1], block [64]
        out:   k.py:7: writes `x`, 4 bytes: 2 times by a warp, 8 sectors, the least
        out:   k.py:7: reads `x`, 4 bytes: 2 times by a warp, 8 sectors, the least
        out: x: float32 [64] = 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 ...
    "#]];
    bench.expect(&["run", "k.py", "add", "--count", "--fill", "zeros"], expected);
}

#[test]
fn accesses_are_counted() {
    let expected = expect![[r#"
        exit 0
        out: sum_rows: grid [2], block [64]
        out:   reduce_sum.py:12: reads `x`, 4 bytes: 8 times by a warp, 29 sectors, 1.12 times the least
        out:   reduce_sum.py:15: writes `partial`, 4 bytes: 4 times by a warp, 4 turns of the banks, the least
        out:   reduce_sum.py:20: reads `partial`, 4 bytes: 4 times by a warp, 4 turns of the banks, the least
        out:   reduce_sum.py:21: writes `out`, 4 bytes: 2 times by a warp, 2 sectors, the least
        out: out: float32 [2] = 4.31285 -4.3543243
    "#]];
    let arguments = ["run", "reduce_sum.py", "reduce_sum", "m=2", "n=100", "--count"];
    bench().expect(&arguments, expected);
    let arguments = [&["--json"], &arguments[..]].concat();
    let mut answer = json(&bench().run(arguments));
    expect![[r#"{"file":"reduce_sum.py","line":12,"column":16,"deed":"reads","tensor":"x","memory":"global","bytes":4,"accesses":8,"threads":200,"taken":29,"least":26,"text":"reduce_sum.py:12: reads `x`, 4 bytes: 8 times by a warp, 29 sectors, 1.12 times the least"}"#]].assert_eq(&answer["launches"][0]["traffic"][0].take().to_string());
}

#[test]
fn kernels_are_shown() {
    let bench = bench();
    let shown = |form: &str| bench.run(["emit", "reduce_sum.py", "--as", form]).stdout;
    let names = |text: &str, word: &str| {
        let lines = text.lines().filter(|line| line.contains(word));
        lines.map(|line| line.split('(').next().unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        names(&shown("ir"), "kernel "),
        ["kernel sum_rows", "kernel half_of_float16", "kernel half_of_int8"]
    );
    assert_eq!(
        names(&shown("ptx"), ".visible .entry"),
        [
            ".visible .entry sum_rows",
            ".visible .entry half_of_float16",
            ".visible .entry half_of_int8"
        ]
    );
    assert!(shown("llvm").contains("define ptx_kernel void @sum_rows"), "{}", shown("llvm"));
    let taken = bench.run(["emit", "reduce_sum.py", "--as", "resources", "--arch", "sm_90"]).stdout;
    let first = taken.lines().next().expect("a line for each kernel");
    assert!(
        first.starts_with("sum_rows for sm_90: ") && first.ends_with(" at once, 100 %"),
        "{first}"
    );
    assert_eq!(taken.lines().count(), 3);
    let one = bench.run(["emit", "reduce_sum.py", "--as", "ir", "--function", "halves"]).stdout;
    assert!(!one.contains("sum_rows"));
    let expected = expect![[r#"
        exit 1
        err: error: there is no function `sums`; there is `reduce_sum`, `halves`
    "#]];
    bench.expect(&["emit", "reduce_sum.py", "--as", "ir", "--function", "sums"], expected);
}

#[test]
fn code_is_shown_for_the_architecture_that_is_asked_for() {
    let bench = bench();
    let targets = |archs: &str| {
        let args = ["emit", "reduce_sum.py", "--as", "ptx", "--function", "reduce_sum", "--arch"];
        let shown = bench.run(args.into_iter().chain([archs])).stdout;
        let lines = shown.lines().filter_map(|line| line.strip_prefix(".target "));
        lines.map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(targets("sm_90a"), ["sm_90a"]);
    assert_eq!(targets("compute_100f"), ["sm_100f"]);
    // Machine code and PTX of one architecture are made of the same text.
    let archs = "sm_80,sm_90,sm_90a,compute_90a,sm_100a,compute_80";
    assert_eq!(targets(archs), ["sm_80", "sm_90", "sm_90a", "sm_100a"]);
}

/// Options that tell the interpreter of the machine: how much a call may take, and how many blocks
/// run at once.
const LARGE: &str = r#"
import kernpack as kp


@kp.kernel
def double(x, y):
    i = kp.block_idx()[0] * 64 + kp.thread_idx()[0]
    if i < x.shape[0]:
        y[i] = x[i] * 2


@kp.jit("twice(x: Tensor([n], float32)) -> y: Tensor([n], float32)")
def twice(x, y):
    double(x, y).launch(grid=kp.ceil_div(x.shape[0], 64), block=64)


@kp.kernel
def wait(count):
    if kp.thread_idx()[0] == 0:
        kp.atomic_add(count, 0, kp.int32(1), order="release")
        while kp.atomic_load(count, 0, order="acquire") < kp.int32(kp.grid_dim()[0]):
            pass


@kp.jit("barrier(count: Tensor([1], int32, mut), n: int32)")
def barrier(count, n):
    wait(count).launch(grid=n, block=1024, cooperative=True)


@kp.kernel
def rows(x):
    flat = kp.make_tensor(x.iterator, kp.make_layout(13))
    flat[5] = 1.0


@kp.jit("gap(x: Tensor([2, 5], float32, mut, strides=[s, 1]))")
def gap(x):
    rows(x).launch(grid=1, block=1)


@kp.kernel
def first(x, y):
    y[0] = x[0]


@kp.jit("same(x: Tensor([n], float32, strides=[s]), y: Tensor([1], float32, mut))")
def same(x, y):
    first(x, y).launch(grid=1, block=1)
"#;

#[test]
fn a_call_that_takes_too_much_is_refused_before_it_begins() {
    let bench = Bench::with("large.py", LARGE);
    let args = ["run", "large.py", "twice", "n=1000000", "--memory", "20MB"];
    bench.expect(&args, expect![[r#"
        exit 1
        err: error[memory]: the call takes 30.0MiB of memory, and may take 19.1MiB: 26.2MiB for `y`, 3.8MiB for `x`
        err:  |
        err:  = help: say smaller dims, or let it take more with `--memory`
    "#]]);
    // No machine has so much, whatever its half is.
    let ran = bench.run(["run", "large.py", "twice", "n=100000000000"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("error[memory]: the call takes "), "{}", ran.stderr);
    let enough = ["run", "large.py", "twice", "n=1000", "--memory", "1MiB"];
    assert_eq!(bench.run(enough).code, Some(0));
    // Elements that share memory are told one by one.
    let shared = ["run", "large.py", "same", "n=100000000000", "x.strides=0", "--memory", "20MB"];
    assert_eq!(bench.run(shared).code, Some(0));
    let told = bench.run(shared.into_iter().chain(["--json"]));
    assert!(told.code == Some(1) && told.stdout.contains("the call takes"), "{told}");
    let usage = bench.run(["run", "large.py", "twice", "n=1", "--memory", "much"]);
    assert_eq!(usage.code, Some(2));
}

#[test]
fn blocks_that_wait_for_all_others_fit_the_device() {
    let bench = Bench::with("large.py", LARGE);
    let fits = ["run", "large.py", "barrier", "n=4", "device.sm_count=2", "--fill", "zeros"];
    assert_eq!(bench.run(fits).code, Some(0));
    let args = ["run", "large.py", "barrier", "n=5", "device.sm_count=2", "--fill", "zeros"];
    bench.expect(
        &args,
        expect![[r#"
        exit 1
        out: wait: grid [5], block [1024]
        out: count: int32 [1] = 0
        err: error[bad-launch]: a cooperative grid of 5 blocks: the device runs 4 of them at once
    "#]],
    );
}

const STEP: &str = r#"
import kernpack as kp


@kp.kernel
def k(x, step: kp.Constexpr):
    x[0] = x[0] + step


@kp.jit("step(x: Tensor([1], int32, mut))")
def step(x):
    k(x, 1).launch(grid=1, block=1, arch=("compute_80", "compute_100a"))
    k(x, 2).launch(grid=1, block=2, arch="compute_90a")


@kp.jit("later(x: Tensor([1], int32, mut))")
def later(x):
    k(x, 3).launch(grid=1, block=3, arch="compute_100a")
    k(x, 4).launch(grid=1, block=4, arch="compute_103")
"#;

#[test]
fn the_launch_of_a_device_runs() {
    let bench = Bench::with("step.py", STEP);
    let ran = |function: &str, more: &[&str]| {
        let args = ["run", "step.py", function, "--fill", "zeros"];
        let ran = bench.run(args.iter().chain(more));
        ran.stdout.lines().next().map_or(ran.stderr, str::to_string)
    };
    for (more, block) in [
        (&[][..], 2),
        (&["device.cc=90"], 2),
        (&["device.cc=89"], 1),
        (&["device.cc=100"], 1),
        (&["device.cc=103"], 1),
    ] {
        assert!(ran("step", more).ends_with(&format!("block [{block}]")), "{more:?}");
    }
    // Where nobody names a device, the first does for one that none is for.
    assert!(ran("later", &[]).ends_with("block [3]"));
    assert!(ran("later", &["device.cc=103"]).ends_with("block [4]"));
    let expected =
        "error: `k_3`: the device is sm_90, and the code is for compute_100a, compute_103\n";
    assert_eq!(ran("later", &["device.cc=90"]), expected);
}

#[test]
fn what_lies_between_rows_is_found() {
    let bench = Bench::with("large.py", LARGE);
    let args = ["run", "large.py", "gap", "s=8", "--fill", "zeros"];
    bench.expect(&args, expect![[r#"
        exit 1
        out: rows: grid [1], block [1]
        out: x: float32 [2, 5] = 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 ...
        err: error[out-of-bounds]: writes what lies at 5 in `x`, between elements: its strides are [8, 1], in thread (0, 0, 0) of block (0, 0, 0)
        err:   --> large.py:33:5
        err:    |
        err: 33 |     flat[5] = 1.0
        err:    |     ^^^^^^^^^^^^^ thread (0, 0, 0) of block (0, 0, 0)
    "#]]);
    assert_eq!(bench.run(["run", "large.py", "gap", "s=5"]).code, Some(0));
}
