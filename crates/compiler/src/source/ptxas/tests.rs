// SPDX-License-Identifier: Apache-2.0
//! ptxas's machine code and remarks, and programs that do what ptxas should not.
//!
//! The real one comes from the Python environment of the tests, where PyTorch and Triton have
//! copies of different versions.

use super::*;
use crate::source::assembler::Advisory;
use kernpack_process::parallel;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::LazyLock;
use std::time::Instant;

/// The first ptxas of the environment that `KERNPACK_PYTHON` names, else of `.venv` in the
/// repository.
pub(crate) fn ptxas() -> &'static Ptxas {
    &copies()[0]
}

/// Every ptxas of that environment.
fn copies() -> &'static [Ptxas] {
    static FOUND: LazyLock<Vec<Ptxas>> = LazyLock::new(|| {
        let python = std::env::var_os("KERNPACK_PYTHON").map(PathBuf::from);
        let of_python = python.as_deref().and_then(Path::parent).and_then(Path::parent);
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv");
        let root = of_python.unwrap_or(&own);
        let packages = fs::read_dir(root.join("lib")).into_iter().flatten().flatten();
        let packages: Vec<_> = packages.map(|entry| entry.path().join("site-packages")).collect();
        let Form::Program { copies } = TOOL.form else { panic!("it is a program") };
        let folders = TOOL.wheels.iter().chain(copies);
        let files = folders.flat_map(|folder| packages.iter().map(move |it| it.join(folder)));
        let files = files.map(|folder| folder.join("ptxas")).filter(|file| file.is_file());
        let found: Vec<_> = files.map(|file| Ptxas::open(&file).expect("it runs")).collect();
        assert!(!found.is_empty(), "none in {}; run `scripts/setup python`", root.display());
        found
    });
    &FOUND
}

fn arch(text: &str) -> Arch {
    text.parse().expect(text)
}

fn assemble(ptx: &str) -> Result<Assembled, AssembleError> {
    ptxas().assemble(ptx, "test.py", arch("sm_90a"), &AssembleOptions::default())
}

/// A kernel in a file of its own. `head` is what stands before the body.
fn kernel(head: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90a\n.address_size 64\n.extern .func (.param .b32 r) \
         vprintf(.param .b64 a, .param .b64 b);\n.visible .entry k(.param .u64 a)\n{head}\n{{\n.reg \
         .b64 %rd<8>;\n.reg .b32 %r<8>;\n.reg .f32 %f<16>;\n.reg .f32 %g<128>;\n.reg .pred \
         %p<4>;\nld.param.u64 %rd1, [a];\nmov.u64 %rd2, 4611686293305294848;\nmov.u64 %rd3, \
         4611686293305294850;\nmov.u32 %r3, %tid.x;\n{body}\nret;\n}}\n"
    )
}

const PRODUCT: &str = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %rd2, \
                       %rd3, 1, 1, 1, 0, 0;\n";

/// Products in a loop, one of which is in flight, with something beside each and in between.
fn products(beside: &str, between: &str) -> String {
    let zeros: String = (0..4).map(|at| format!("mov.f32 %f{at}, 0f00000000;\n")).collect();
    let stores: String =
        (0..4).map(|at| format!("st.global.f32 [%rd1+{}], %f{at};\n", 4 * at)).collect();
    format!(
        "{zeros}mov.u32 %r1, \
         0;\nL:\nwgmma.fence.sync.aligned;\n{PRODUCT}{beside}wgmma.commit_group.sync.aligned;\nwgmma.\
         wait_group.sync.aligned 1;\n{between}add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 8;\n@%p1 \
         bra L;\nwgmma.wait_group.sync.aligned 0;\n{stores}"
    )
}

/// Two products of so many sums each.
fn large(n_sums: usize) -> String {
    let list = |from| (from..from + n_sums).map(|at| format!("%g{at}")).collect::<Vec<_>>();
    let product = |from| {
        format!(
            "wgmma.mma_async.sync.aligned.m64n{}k16.f32.f16.f16 {{{}}}, %rd2, %rd3, 1, 1, 1, 0, 0;\n",
            2 * n_sums,
            list(from).join(",")
        )
    };
    let both: String = [0, n_sums, 0, n_sums].map(product).concat();
    let zeros = list(0).into_iter().chain(list(n_sums));
    let zeros: String = zeros.map(|sum| format!("mov.f32 {sum}, 0f00000000;\n")).collect();
    let stores = list(0).into_iter().chain(list(n_sums)).enumerate();
    let stores: String =
        stores.map(|(at, sum)| format!("st.global.f32 [%rd1+{}], {sum};\n", 4 * at)).collect();
    format!(
        "{zeros}wgmma.fence.sync.aligned;\n{both}wgmma.commit_group.sync.aligned;\nwgmma.wait_group.\
         sync.aligned 0;\n{stores}"
    )
}

const BLOCK: &str = ".maxntid 128";

/// Expects these remarks about matrix units, from every version that is there.
fn expect_codes(ptx: &str, expected: &[&str]) {
    for ptxas in copies() {
        let options = AssembleOptions::default();
        let assembled = ptxas.assemble(ptx, "test.py", arch("sm_90a"), &options);
        let report = assembled.unwrap_or_else(|error| panic!("{error}\n{ptx}")).report;
        let advised = report.remarks.iter().filter(|remark| Advisory::of(remark).is_some());
        let mut codes: Vec<_> = advised.filter_map(|remark| remark.code.as_deref()).collect();
        codes.sort_unstable();
        assert_eq!(codes, expected, "{} of\n{ptx}", ptxas.label());
        assert!(report.function("k").is_some_and(|function| function.registers.is_some()));
    }
}

#[test]
fn whole_programs_have_no_remarks() {
    let handed = "setmaxnreg.dec.sync.aligned.u32 40;\n";
    expect_codes(&kernel(BLOCK, &products("", "")), &[]);
    let head = ".maxntid 128\n.maxnreg 64";
    expect_codes(&kernel(head, &format!("{handed}{}", products("", ""))), &[]);
    // The library would have the products wait.
    let divided = format!("{}div.rn.f32 %f1, %f1, %f2;\n", products("", ""));
    expect_codes(&kernel(BLOCK, &divided), &[]);
}

#[test]
fn what_slows_matrix_units_down_is_remarked_on() {
    let read = "ex2.approx.f32 %f9, %f1;\nst.global.f32 [%rd1+64], %f9;\n";
    let write = "mul.f32 %f1, %f1, %f1;\n";
    let trap = "setp.eq.u32 %p2, %r3, %r1;\n@%p2 trap;\n";
    let print = "{ .param .b64 p0; .param .b64 p1; .param .b32 r0; st.param.b64 [p0], %rd1; \
                 st.param.b64 [p1], %rd1; call.uni (r0), vprintf, (p0, p1); }\n";
    let handed = format!("setmaxnreg.dec.sync.aligned.u32 40;\n{}", products("", ""));
    expect_codes(&kernel(BLOCK, &handed), &["C7508"]);
    expect_codes(&kernel(BLOCK, &products("", print)), &["C7510"]);
    expect_codes(&kernel(".maxntid 128\n.maxnreg 128", &large(64)), &["C7511"]);
    let crowded = kernel(".maxntid 128\n.maxnreg 104", &large(48));
    expect_codes(&crowded, &["C7512", "C7517", "C7519"]);
    expect_codes(&kernel(BLOCK, &products("", read)), &["C7514"]);
    expect_codes(&kernel(BLOCK, &products(write, "")), &["C7515", "C7517"]);
    expect_codes(&kernel(BLOCK, &products(read, "")), &["C7517"]);
    expect_codes(&kernel(BLOCK, &products("", trap)), &["C7518"]);
    expect_codes(&kernel(BLOCK, &products(trap, "")), &["C7520"]);
    let unfenced = products("", "").replace("wgmma.fence.sync.aligned;\n", "");
    expect_codes(&kernel(BLOCK, &unfenced), &["C7519"]);
}

#[test]
fn options_reach_it_and_the_same_text_gives_the_same_bytes() {
    let ptx = kernel(BLOCK, &products("", ""));
    let with = |options: &AssembleOptions, name: &str| {
        let assembled = ptxas().assemble(&ptx, name, arch("sm_90a"), options);
        assembled.expect("the PTX is right")
    };
    let default = AssembleOptions::default();
    let plain = with(&default, "a name of 1");
    let names: Vec<_> = (0..4).map(|at| format!("name/{at}")).collect();
    let others = parallel::map(&names, |name| with(&default, name));
    let same = |other: &Assembled| {
        (&other.image.bytes, &other.report) == (&plain.image.bytes, &plain.report)
    };
    assert!(others.iter().all(same));
    let with_lines = with(&AssembleOptions { line_info: true, ..default }, "x");
    assert!(with_lines.image.bytes.len() > plain.image.bytes.len());
    assert_eq!(with_lines, with(&AssembleOptions { line_info: true, ..default }, "x"));
    let quick = with(&AssembleOptions { optimization: Optimization::Quick, ..default }, "x");
    assert!(quick.report.function("k").is_some());
    let bounded = AssembleOptions { max_registers: Some(40), ..default };
    let ptx = kernel("", "st.global.u32 [%rd1], %r3;");
    assert!(ptxas().assemble(&ptx, "x", arch("sm_90a"), &bounded).is_ok());
    assert!(assemble(&format!("{ptx}\0")).is_ok(), "it may end as the driver wants it");
}

#[test]
fn what_is_wrong_is_told_in_its_words_with_its_line() {
    let ptx = kernel(BLOCK, "st.global.b33 [%rd1], %r1;");
    let error = assemble(&ptx).expect_err("a mistake");
    let AssembleError::Refused { remarks, .. } = &error else { panic!("{error}") };
    let line = ptx.lines().position(|line| line.contains("b33")).expect("it is there") + 1;
    assert_eq!(remarks[0].line, u32::try_from(line).ok());
    let text = error.to_string();
    assert!(text.starts_with("ptxas refused `test.py` for sm_90a:\nptxas kernels.ptx, line "));
    for text in ["", "hello", ".version 8.0\n.target sm_90\n.entry"] {
        let error = assemble(text).expect_err(text);
        assert!(matches!(error, AssembleError::Refused { .. }), "{error}");
    }
    let error = assemble(&ptx.replacen("ret", "\0ret", 1)).expect_err("a NUL");
    assert_eq!(error.to_string(), "the PTX of `test.py` has a NUL byte in it; remove it");
}

#[test]
fn one_that_is_too_old_says_what_is_needed() {
    let (path, label) = (ptxas().path.display(), ptxas().label());
    let ptx = kernel(BLOCK, "").replace(".version 8.0", ".version 99.9");
    let error = assemble(&ptx).expect_err("nobody knows that").to_string();
    let start = format!(
        "cannot assemble `test.py` for sm_90a: it is PTX 99.9, and {label} (`{path}`) reads no later \
         one than PTX "
    );
    let end = "; install a newer one, such as the Python package nvidia-cuda-nvcc, and set \
               KERNPACK_PTXAS to its path";
    assert!(error.starts_with(&start) && error.ends_with(end), "{error}");
    let options = AssembleOptions::default();
    let of = |name| ptxas().assemble(&kernel(BLOCK, ""), "test.py", arch(name), &options);
    let error = of("sm_109a").expect_err("nobody knows that").to_string();
    let expected = format!(
        "cannot assemble `test.py` for sm_109a: {label} (`{path}`) does not know it; choose another \
         architecture or version of CUDA, or PTX, such as `compute_109a`"
    );
    assert_eq!(error, expected);
    let error = of("compute_90a").expect_err("PTX");
    assert!(matches!(error, AssembleError::NotMachineCode { .. }), "{error}");
}

/// A program of a shell's lines that says the version of a ptxas.
fn fake(folder: &Path, script: &str) -> PathBuf {
    let version = "[ \"$1\" = --version ] && { echo 'ptxas: NVIDIA'; echo 'Cuda compilation tools, \
                   release 12.8, V12.8.93'; exit; }";
    program(folder, &format!("{version}\n{script}"))
}

fn program(folder: &Path, script: &str) -> PathBuf {
    let path = folder.join("ptxas");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("it can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a file of ours");
    path
}

/// Expects a failure of a program that is run for a text.
fn expect_failure(script: &str, expected: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let found = Ptxas::open(&fake(folder.path(), script)).expect("it says its version");
    assert_eq!(found.label(), "ptxas 12.8");
    let found = Ptxas { limit: Duration::from_millis(500), ..found };
    let error = found.assemble("text", "test.py", arch("sm_90a"), &AssembleOptions::default());
    let error = error.expect_err("it makes nothing").to_string();
    assert_eq!(error.replace(&found.path.display().to_string(), "PTXAS"), expected);
}

#[test]
fn a_program_that_does_not_do_its_work_is_told() {
    let of = |failure: &str| format!("`PTXAS`, which assembles `test.py` for sm_90a, {failure}");
    let start = Instant::now();
    let late = of("had not ended after 0.5 seconds, and was ended");
    expect_failure("sleep 100", &late);
    expect_failure("sleep 100 & wait", &late);
    assert!(start.elapsed() < Duration::from_secs(50));
    expect_failure("kill -SEGV $$", &of("was ended by signal 11"));
    expect_failure("exit 3", &of("failed with code 3, and said nothing"));
    expect_failure("exit 0", &of("wrote no machine code"));
    expect_failure("echo all is well", &of("wrote no machine code"));
    expect_failure(": > kernels.cubin", &of("wrote no machine code"));
    expect_failure("echo no >&2; exit 1", "ptxas refused `test.py` for sm_90a:\nno");
    let folder = tempfile::tempdir().expect("a folder");
    let found = Ptxas::open(&fake(folder.path(), "echo no code > kernels.cubin")).expect("it is");
    let error = found.assemble("text", "test.py", arch("sm_90a"), &AssembleOptions::default());
    let error = error.expect_err("that is no cubin");
    assert!(matches!(error, AssembleError::Image(_)), "{error}");
}

#[test]
fn it_reads_the_text_and_what_it_says_of_it_is_the_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = format!(
        "[ \"$(cat kernels.ptx)\" = text ] || exit 9\nexec {} -arch=sm_90a {} -o kernels.cubin",
        ptxas().path.display(),
        folder.path().join("other.ptx").display()
    );
    fs::write(folder.path().join("other.ptx"), kernel(BLOCK, "")).expect("it can be written");
    let found = Ptxas::open(&fake(folder.path(), &script)).expect("it says its version");
    let assembled = found.assemble("text", "test.py", arch("sm_90a"), &AssembleOptions::default());
    let assembled = assembled.expect("another assembles");
    // It was not asked for a report, and so says nothing.
    assert_eq!(assembled.report, Report::default());
    assert!(assembled.image.kernel("k").is_some());
}

#[test]
fn what_says_no_version_is_not_taken() {
    let reason = |script: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let error = Ptxas::open(&program(folder.path(), script)).expect_err("it is no ptxas");
        let PtxasError::Unusable { tried } = error else { panic!("{error}") };
        tried[0].reason.clone()
    };
    assert_eq!(reason("exit 0"), "says no version");
    assert_eq!(reason("echo hello; echo you"), "says no version of ptxas, but `hello`");
    assert_eq!(reason("echo 'ptxas: NVIDIA'; echo release x.y"), {
        "says no version of ptxas, but `ptxas: NVIDIA`"
    });
    assert_eq!(reason("kill -KILL $$"), "was ended by signal 9");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ptxas");
    fs::write(&file, "text").expect("it can be written");
    let error = Ptxas::open(&file).expect_err("it is no program").to_string();
    assert!(error.starts_with("found no ptxas that runs, the assembler for kernels"), "{error}");
    assert!(error.contains(&format!("{}: cannot be run: ", file.display())), "{error}");
    let hanging = program(folder.path(), "sleep 100");
    let reason = version(&hanging, Duration::from_millis(200)).expect_err("it sleeps");
    assert_eq!(reason, "had not ended after 0.2 seconds, and was ended");
    let error = Ptxas::open(Path::new("/none/ptxas")).expect_err("it is not there");
    assert!(matches!(error, PtxasError::NotFound { .. }), "{error}");
    assert!(error.to_string().ends_with("looked at:\n  /none/ptxas: is not there"), "{error}");
}

#[test]
fn a_version_is_asked_for_once_until_the_file_is_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let count = folder.path().join("count");
    let release = |number: &str| {
        program(
            folder.path(),
            &format!(
                "echo >> {}; echo 'ptxas: x'; echo 'tools, release {number}, V1'",
                count.display()
            ),
        )
    };
    let asked = || fs::read(&count).map_or(0, |bytes| bytes.len());
    let path = release("12.8");
    for _ in 0..3 {
        assert_eq!(Ptxas::open(&path).expect("it says it").version, (12, 8));
    }
    assert_eq!(asked(), 1);
    release("13.10");
    assert_eq!(Ptxas::open(&path).expect("it says it").version, (13, 10));
    assert_eq!(asked(), 2);
}
