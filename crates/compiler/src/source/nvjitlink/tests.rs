// SPDX-License-Identifier: Apache-2.0
//! NvJitLink's machine code, and files that are not nvJitLink.
//!
//! nvJitLink needs no GPU. It comes from the Python environment of the tests, like everything else
//! of theirs.

mod llvm;

use super::*;
use crate::source::assembler::LineTable;
use kernpack_package::image::{ImageKind, Param};
use kernpack_process::parallel;
use std::fs;
use std::sync::LazyLock;

/// nvJitLink of the environment that `KERNPACK_PYTHON` names, else of `.venv` in the repository.
pub(crate) fn nvjitlink() -> &'static NvJitLink {
    static FOUND: LazyLock<NvJitLink> = LazyLock::new(|| {
        NvJitLink::find().unwrap_or_else(|error| {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            let packages = fs::read_dir(root.join(".venv/lib")).into_iter().flatten().flatten();
            let file = "site-packages/nvidia/cu13/lib/libnvJitLink.so.13";
            let mut opened =
                packages.filter_map(|python| NvJitLink::open(&python.path().join(file)).ok());
            opened.next().unwrap_or_else(|| panic!("{error}\nrun `scripts/setup python`"))
        })
    });
    &FOUND
}

fn arch(text: &str) -> Arch {
    text.parse().expect(text)
}

fn assemble(ptx: &str, name: &str) -> Result<Assembled, AssembleError> {
    nvjitlink().assemble(ptx, "test", arch(name), &AssembleOptions::default())
}

fn with(ptx: &str, options: AssembleOptions) -> Assembled {
    nvjitlink().assemble(ptx, "test", arch("sm_90a"), &options).expect("the PTX is right")
}

/// A kernel in a file of its own. `head` is what stands before the body.
fn kernel(target: &str, head: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 a, .param \
         .u32 n)\n{head}\n{{\n.reg .b64 %rd<8>;\n.reg .b32 %r<8>;\n.reg .f32 %f<96>;\n.reg .pred \
         %p<4>;\nld.param.u64 %rd1, [a];\nld.param.u32 %r1, [n];\n{body}\nret;\n}}\n"
    )
}

/// A kernel that has 64 values at once.
fn crowded(head: &str) -> String {
    let load = |at| format!("ld.volatile.global.f32 %f{at}, [%rd1+{}];\n", 4 * at);
    let store = |at| format!("st.volatile.global.f32 [%rd1+{}], %f{};\n", 4 * at, 63 - at);
    let (loads, stores): (String, String) =
        ((0..64).map(load).collect(), (0..64).map(store).collect());
    kernel("sm_90a", head, &format!("{loads}bar.sync 0;\n{stores}"))
}

/// A kernel with two products of tensor cores, and something between them.
fn products(between: &str) -> String {
    let zeros: String = (0..32).map(|at| format!("mov.f32 %f{at}, 0f00000000;\n")).collect();
    let stores: String =
        (0..32).map(|at| format!("st.global.f32 [%rd1+{}], %f{at};\n", 4 * at)).collect();
    let all: Vec<_> = (0..32).map(|at| format!("%f{at}")).collect();
    let product = format!(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{{}}}, %rd2, %rd3, %p1, 1, 1, 0, 0;\n",
        all.join(",")
    );
    let body = format!(
        "mov.u64 %rd2, 4611686293305294848;\nmov.u64 %rd3, 4611686293305294850;\nsetp.ne.b32 %p1, \
         1, 0;\n{zeros}.loc 1 30 5\nwgmma.fence.sync.aligned;\n{product}.loc 1 31 \
         5\n{between}{product}.loc 1 32 \
         5\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n{stores}"
    );
    kernel("sm_90a", ".maxntid 128", &body) + ".file 1 \"norm.py\"\n"
}

#[test]
fn ptx_becomes_machine_code() {
    let ptx = kernel("sm_90", ".maxntid 256", "st.global.u32 [%rd1], %r1;");
    let assembled = assemble(&ptx, "sm_90").expect("the PTX is right");
    let image = &assembled.image;
    assert_eq!((image.kind, image.archs()), (ImageKind::Cubin, vec![arch("sm_90")]));
    let kernel = image.kernel("k").expect("the kernel");
    let params = [Param { offset: 0, size: 8 }, Param { offset: 8, size: 4 }];
    assert_eq!((&kernel.params[..], kernel.max_threads), (&params[..], Some(256)));
    let report = assembled.report.function("k").expect("the kernel");
    assert_eq!(report.kernel_for.as_deref(), Some("sm_90"));
    assert!(report.registers.is_some_and(|count| (1..=16).contains(&count)), "{report}");
    assert_eq!((report.barriers, report.stack_bytes), (Some(0), Some(0)));
    assert!(assembled.report.remarks.is_empty() && assembled.report.unknown.is_empty());
}

#[test]
fn ptx_may_end_in_a_nul_and_is_called_anything() {
    let ptx = kernel("sm_90a", "", "st.global.u32 [%rd1], %r1;");
    let options = AssembleOptions::default();
    let named = |ptx: &str, name: &str| {
        let assembled = nvjitlink().assemble(ptx, name, arch("sm_90a"), &options);
        assembled.expect("the PTX is right").image.bytes
    };
    let bytes = named(&ptx, "a name of 1");
    assert_eq!(named(&format!("{ptx}\0"), "another/name of 2"), bytes);
    let inside = ptx.replacen("ret", "\0ret", 1);
    let error = nvjitlink().assemble(&inside, "x.py", arch("sm_90a"), &options).unwrap_err();
    assert_eq!(error.to_string(), "the PTX of `x.py` has a NUL byte in it; remove it");
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let ptx = kernel("sm_90", "", ".loc 1 7 3\nst.global.b33 [%rd1], %r1;\nadd.s32 %r9, %r1, 1;")
        + ".file 1 \"norm.py\"\n";
    let error = assemble(&ptx, "sm_90").expect_err("two mistakes");
    let AssembleError::Refused { remarks, .. } = &error else { panic!("{error}") };
    let of = |text: &str| remarks.iter().find(|remark| remark.text.contains(text)).expect(text);
    let line = |text: &str| {
        let at = ptx.lines().position(|line| line.contains(text)).expect(text);
        u32::try_from(at + 1).ok()
    };
    assert_eq!((of("'.b33'").line, of("'.b33'").severity), (line("b33"), Severity::Error));
    assert_eq!(of("'%r9'").line, line("%r9"));
    let place = LineTable::read(&ptx).place(line("b33").unwrap_or(0));
    assert_eq!(place.map(|place| (place.file, place.line)), Some(("norm.py".to_string(), 7)));
    let text = error.to_string();
    assert!(text.starts_with("nvJitLink refused `test` for sm_90:\nptxas "), "{text}");
    assert!(text.contains("Unknown modifier '.b33'"), "{text}");
}

#[test]
fn text_that_is_no_ptx_is_refused() {
    for text in ["", "hello", "\u{e4}", ".version 8.0\n.target sm_90\n.entry"] {
        let error = assemble(text, "sm_90").expect_err(text);
        assert!(
            matches!(&error, AssembleError::Refused { text, .. } if !text.is_empty()),
            "{error:?}"
        );
    }
}

#[test]
fn a_call_of_nothing_is_refused() {
    let body = "st.global.u32 [%rd1], %r1;\ncall.uni nowhere, ();";
    let ptx = kernel("sm_90", "", body).replace(".visible", ".extern .func nowhere();\n.visible");
    let error = assemble(&ptx, "sm_90").expect_err("no such function").to_string();
    assert!(error.contains("Undefined reference to 'nowhere'"), "{error}");
}

#[test]
fn an_architecture_must_be_known_and_no_older_than_the_text() {
    let ptx = kernel("sm_90", "", "");
    let error = assemble(&ptx, "sm_91").expect_err("there is no 9.1");
    let (path, version) = (&nvjitlink().path, nvjitlink().version);
    let expected = format!(
        "cannot assemble `test` for sm_91: nvJitLink {}.{} (`{}`) does not know it; choose another \
         architecture or version of CUDA, or PTX, such as `compute_91`",
        version.0,
        version.1,
        path.display()
    );
    assert_eq!(error.to_string(), expected);
    let error = assemble(&ptx, "sm_80").expect_err("it is older").to_string();
    assert!(error.contains("SM version specified by .target is higher"), "{error}");
    let error = assemble(&ptx, "compute_90").expect_err("PTX").to_string();
    let expected =
        "`test` is not assembled for compute_90, which is PTX; name machine code, such as `sm_80`";
    assert_eq!(error, expected);
}

#[test]
fn spills_are_reported() {
    let report = assemble(&crowded(".maxntid 256\n.maxnreg 24"), "sm_90a").unwrap().report;
    let function = report.function("k").expect("the kernel");
    assert!(function.has_spills(), "{report}");
    assert_eq!((function.registers, function.barriers), (Some(24), Some(1)));
    let report = assemble(&crowded(".maxntid 256"), "sm_90a").unwrap().report;
    assert!(!report.function("k").expect("the kernel").has_spills(), "{report}");
}

#[test]
fn the_number_of_registers_can_be_bounded() {
    let options = AssembleOptions { max_registers: Some(32), ..AssembleOptions::default() };
    let report = with(&crowded(""), options).report;
    let function = report.function("k").expect("the kernel");
    assert_eq!((function.registers, function.has_spills()), (Some(32), true), "{report}");
    // What a kernel says of itself goes before it.
    let report = with(&crowded(".maxntid 256"), options).report;
    assert!(!report.function("k").expect("the kernel").has_spills(), "{report}");
}

#[test]
fn local_and_shared_memory_are_reported() {
    let body = ".local .align 4 .b8 array[400];\n.shared .align 4 .b8 both[1000];\nmov.u64 %rd2, \
                array;\nmul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd4, %rd2, %rd3;\nst.local.u32 \
                [%rd4], %r1;\nst.local.u32 [%rd4+4], 5;\nld.local.u32 %r2, \
                [%rd2+8];\nst.global.u32 [%rd1], %r2;\nmov.u32 %r4, both;\nadd.u32 %r4, %r4, \
                %r1;\nst.shared.u32 [%r4], %r2;\nbar.sync 3;\nld.shared.u32 %r5, \
                [both+8];\nst.global.u32 [%rd1+4], %r5;";
    let assembled = assemble(&kernel("sm_90a", "", body), "sm_90a").unwrap();
    let report = assembled.report.function("k").expect("the kernel");
    assert_eq!((report.has_spills(), report.least_local_bytes()), (false, 400));
    assert_eq!(report.barriers, Some(4));
    // The architecture keeps 1024 for itself.
    assert_eq!(report.shared_bytes, Some(1000 + 1024));
    let own = assembled.image.kernel("k").and_then(|kernel| kernel.static_shared_bytes);
    assert_eq!(own, Some(1000));
}

#[test]
fn products_that_wait_for_each_other_are_remarked_on() {
    let ptx = products("");
    let report = assemble(&ptx, "sm_90a").unwrap().report;
    assert!(report.remarks.is_empty(), "{report}");
    let ptx = products("add.f32 %f3, %f3, %f4;\n");
    let report = assemble(&ptx, "sm_90a").unwrap().report;
    let table = LineTable::read(&ptx);
    let remarks = report.remarks.iter().map(|remark| {
        let place = table.place(remark.line.expect("a line")).expect("a place");
        assert!(remark.is_performance_loss() && remark.function.as_deref() == Some("k"));
        (remark.code.clone().expect("a code"), place.file, place.line)
    });
    let mut remarks: Vec<_> = remarks.collect();
    remarks.sort();
    let of = |code: &str| (code.to_string(), "norm.py".to_string(), 31);
    assert_eq!(remarks, [of("C7517"), of("C7519")], "{report}");
}

#[test]
fn options_make_other_code() {
    let ptx = products("");
    let default = AssembleOptions::default();
    let plain = with(&ptx.replace(".loc", "//"), default).image.bytes;
    let by_ptx = AssembleOptions { line_info: true, ..default };
    let by_ptx = with(&ptx.replace(".loc", "//"), by_ptx).image.bytes;
    assert!(by_ptx.len() > plain.len() && !plain.windows(8).any(|it| it == b".debug_l"));
    // Where the text has lines, so has the code.
    let of_source = with(&ptx, default).image.bytes;
    assert!(of_source.windows(7).any(|it| it == b"norm.py"));
    let quick = AssembleOptions { optimization: Optimization::Quick, ..default };
    assert!(with(&crowded(""), quick).report.function("k").is_some());
}

/// Eight links of two texts on two threads, and each by itself.
#[test]
fn the_same_text_gives_the_same_bytes_on_any_thread() {
    let texts = [crowded(".maxntid 256\n.maxnreg 24"), products("add.f32 %f3, %f3, %f4;\n")];
    let alone: Vec<_> = texts.iter().map(|ptx| assemble(ptx, "sm_90a").unwrap()).collect();
    let links = || (0..4).map(|at| assemble(&texts[at % 2], "sm_90a").unwrap()).collect::<Vec<_>>();
    let threads = std::thread::scope(|scope| {
        [(); 2].map(|()| scope.spawn(links)).map(|thread| thread.join().unwrap())
    });
    for (at, assembled) in threads.iter().flat_map(|links| links.iter().enumerate()) {
        assert!(*assembled == alone[at % 2], "link {at} differs");
    }
}

#[test]
fn architectures_are_assembled_at_once() {
    let archs = ["sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"];
    let ptx = kernel("sm_80", "", "st.global.u32 [%rd1], %r1;");
    let images = parallel::map(&archs, |name| assemble(&ptx, name).unwrap().image);
    for (image, name) in images.iter().zip(archs) {
        assert_eq!(image.archs(), [arch(name)]);
    }
}

/// Expects a message about a file in the place of the library.
fn expect_no_library(contents: &[u8], expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("libnvJitLink.so.13");
    fs::write(&file, contents).unwrap();
    let error = NvJitLink::open(&file).expect_err("no library");
    let [tried] = &error.tried[..] else { panic!("{error}") };
    assert_eq!(tried.place, file.display().to_string());
    assert!(tried.reason.contains(expected), "{}", tried.reason);
}

#[test]
fn a_file_that_is_no_library_is_told() {
    expect_no_library(b"", "file too short");
    expect_no_library(b"no library", "file too short");
    expect_no_library(&[b'x'; 4096], "invalid ELF header");
    let whole = fs::read(&nvjitlink().path).expect("the library's file");
    expect_no_library(&whole[..100], "cannot read file data");
    let error = NvJitLink::open(Path::new("/no/libnvJitLink.so")).expect_err("no file");
    assert!(error.tried[0].reason.contains("No such file"), "{error}");
}

#[test]
fn another_library_is_no_nvjitlink() {
    let error = NvJitLink::open(Path::new("libc.so.6")).expect_err("the C library").to_string();
    let expected = "libc.so.6: has no nvJitLinkVersion: it is no nvJitLink of CUDA 12.4 or later";
    assert!(error.ends_with(expected), "{error}");
    assert!(error.contains("or ask for PTX, such as `compute_80`"), "{error}");
}
