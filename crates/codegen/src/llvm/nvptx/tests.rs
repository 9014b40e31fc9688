// SPDX-License-Identifier: Apache-2.0
//! Kernels written by hand, to PTX.

use super::super::{
    AddressSpace, Context, FloatKind, FloatOperation, KernelLine, KernelParam, Lane, Lines, Manner,
    Place, Predicate, Ty,
};
use super::*;
use expect_test::{ExpectFile, expect_file};
use kernpack_package::image::{Image, ImageKind};
use kernpack_process::parallel;

/// LLVM's calling convention of kernels.
const KERNEL: u32 = 71;

fn arch(text: &str) -> Arch {
    text.parse().expect(text)
}

/// `b[i] = a[i] + 1`, for each `i` below `n`. With lines, the addition is of `more.py`.
fn emit_add_one<'c>(context: &'c Context, with_lines: bool) -> Emitter<'c> {
    let emitter = Emitter::new(context, "add_one");
    let kernels = [KernelLine { name: "add_one", file: 0, line: 7 }];
    let lines =
        with_lines.then(|| Lines::new(&emitter, &["\"add\" \\ önë.py", "more.py"], &kernels));
    let pointer = KernelParam {
        ty: Ty::PtrTo(AddressSpace(1)),
        alignment_bytes: Some(16),
        is_alone: true,
        is_read_only: false,
        value_bytes: None,
    };
    let params = [KernelParam { is_read_only: true, ..pointer }, pointer, Ty::I32.into()];
    let kernel = emitter.define_kernel("add_one", &params, KERNEL);
    emitter.set_kernel_attribute(kernel, "nvvm.maxntid", "256");
    let at = |file, line| {
        if let Some(lines) = &lines {
            lines.at(&emitter, 0, Place { file, line, column: 5 });
        }
    };
    if let Some(lines) = &lines {
        lines.begin(&emitter, kernel, 0);
    }
    at(0, 8);
    let id = |name: &str| {
        let name = format!("llvm.nvvm.read.ptx.sreg.{name}");
        emitter.intrinsic(&name, &[], &[]).expect("an id is a value")
    };
    let start = emitter.arith(super::super::Operation::Mul, id("ctaid.x"), id("ntid.x"));
    let index = emitter.arith(super::super::Operation::Add, start, id("tid.x"));
    let is_inside = emitter.compare(Predicate::SLT, index, emitter.param(kernel, 2));
    let (inside, end) = (emitter.block(kernel, "inside"), emitter.block(kernel, "end"));
    emitter.branch(is_inside, inside, end, None);
    emitter.at(inside);
    at(0, 9);
    let bytes = emitter.sum(
        super::super::Operation::Mul,
        super::super::Exact::Signed,
        emitter.resize(index, Ty::I64, true),
        emitter.int(Ty::I64, 4),
    );
    let element = |param| emitter.offset(emitter.param(kernel, param), bytes);
    let a = emitter.load(Ty::Float, element(0));
    at(1, 30);
    let sum = emitter.float_arith(FloatOperation::Add, a, emitter.bits(Ty::Float, 0x3f80_0000));
    at(0, 9);
    emitter.store(element(1), sum);
    emitter.jump(end);
    emitter.at(end);
    emitter.ret_void();
    emitter
}

fn add_one(arch_name: &str, with_lines: bool) -> String {
    let context = Context::create();
    let emitter = emit_add_one(&context, with_lines);
    ptx(&emitter, arch(arch_name), &PtxOptions::default()).expect("the module is right").text
}

fn expect_text(text: &str, expected: &ExpectFile) {
    let text = text.replace('\t', "    ");
    expected.assert_eq(&text);
}

#[test]
fn a_kernel_becomes_text_that_is_an_image() {
    let text = add_one("sm_90a", false);
    expect_text(&text, &expect_file!["tests/add_one.ptx"]);
    let image = Image::read("add_one", text.into_bytes()).expect("PTX");
    assert_eq!((image.kind, image.archs()), (ImageKind::Ptx, vec![arch("compute_90a")]));
    let kernel = image.kernel("add_one").expect("the kernel");
    assert_eq!((kernel.param_bytes, kernel.max_threads), (20, Some(256)));
}

#[test]
fn lines_are_directives_alone() {
    expect_text(&add_one("compute_80", true), &expect_file!["tests/add_one_lines.ptx"]);
}

/// Strength reduction leaves one product, and sums with it.
#[test]
fn products_stay_products_where_that_is_asked_for() {
    let n_products = |as_written| {
        let context = Context::create();
        let emitter = Emitter::new(&context, "products");
        let params = [Ty::PtrTo(AddressSpace(1)), Ty::I32, Ty::I32].map(KernelParam::from);
        let kernel = emitter.define_kernel("products", &params, KERNEL);
        let [out, x, y] = [0, 1, 2].map(|param| emitter.param(kernel, param));
        for n in 2..6 {
            let factor = emitter.arith(super::super::Operation::Add, x, emitter.int(Ty::I32, n));
            let product = emitter.arith(super::super::Operation::Mul, factor, y);
            emitter.store(emitter.offset(out, emitter.int(Ty::I64, 4 * n)), product);
        }
        emitter.ret_void();
        let options = PtxOptions { as_written, ..PtxOptions::default() };
        let text = ptx(&emitter, arch("sm_90a"), &options).expect("right").text;
        text.matches("mul.lo.s32").count()
    };
    assert_eq!([n_products(true), n_products(false)], [4, 1]);
}

/// LLVM joins stores of float32s, and ptxas takes no vector that has integers beside floats.
#[test]
fn the_bits_of_a_constant_vector_are_a_float_beside_floats() {
    let context = Context::create();
    let emitter = Emitter::new(&context, "joined");
    let params = [Ty::PtrTo(AddressSpace(1)), Ty::Float].map(KernelParam::from);
    let kernel = emitter.define_kernel("joined", &params, KERNEL);
    let [out, x] = [0, 1].map(|param| emitter.param(kernel, param));
    let bits_of = |lane, lanes: &[_]| emitter.bitcast(emitter.vector(lane, lanes), Ty::Float);
    let bytes = [1, -2, 3, 4].map(|byte| emitter.int(Ty::I8, byte));
    let halves = [0x3c00, 0xbc00].map(|bits| emitter.bits(Ty::Half, bits));
    let one = emitter.bits(Ty::Float, 0x3f80_0000);
    let halves = bits_of(Lane::Float(FloatKind::Half), &halves);
    let zeros = bits_of(Lane::I8, &[0; 4].map(|byte| emitter.int(Ty::I8, byte)));
    let stored = [one, bits_of(Lane::I8, &bytes), x, halves, zeros, one, x, x];
    for (place, value) in (0..).zip(stored) {
        let address = emitter.offset_by(out, 4 * place);
        emitter.store_aligned(address, value, [16, 4, 8, 4][place as usize % 4], Manner::Plain);
    }
    emitter.ret_void();
    let text = ptx(&emitter, arch("sm_90"), &PtxOptions::default()).expect("right").text;
    assert!(text.contains("{0f3F800000, 0f0403FE01, %r1, 0fBC003C00}"), "{text}");
    assert!(text.contains("{0f00000000, 0f3F800000, %r1, %r1}"), "{text}");
}

#[test]
fn the_version_is_the_first_that_will_do() {
    let context = Context::create();
    let version = |name: &str, version| {
        let emitter = emit_add_one(&context, false);
        let options = PtxOptions { version, ..PtxOptions::default() };
        let text = ptx(&emitter, arch(name), &options)?.text;
        let line = text.lines().find(|line| line.starts_with(".version"));
        Ok::<_, PtxError>(line.expect("a version").to_string())
    };
    assert_eq!(version("sm_80", None).unwrap(), ".version 7.0");
    assert_eq!(version("sm_90", Some(PtxVersion::new(8, 0))).unwrap(), ".version 8.0");
    assert_eq!(version("sm_90a", Some(PtxVersion::new(7, 0))).unwrap(), ".version 8.0");
    // There is no 7.9.
    assert_eq!(version("sm_80", Some(PtxVersion::new(7, 9))).unwrap(), ".version 8.0");
    let newest = version("sm_90", Some(PtxVersion::new(9, 1))).unwrap_err();
    assert_eq!(
        newest.to_string(),
        "LLVM writes no PTX of version 9.1, which is newer than it knows"
    );
    assert_eq!(version("sm_77", None).unwrap_err(), PtxError::Arch(arch("sm_77")));
}

/// LLVM ends the process where it is asked for less than an architecture needs, and ignores one
/// that it does not know.
#[test]
fn llvm_knows_every_architecture_that_has_a_version() {
    let context = Context::create();
    for number in 50..130 {
        for suffix in ["", "a", "f"] {
            let name = format!("sm_{number}{suffix}");
            let Some(first) = arch(&name).first_ptx() else { continue };
            let emitter = emit_add_one(&context, false);
            let text = ptx(&emitter, arch(&name), &PtxOptions::default()).expect(&name).text;
            assert!(text.contains(&format!(".version {first}\n.target {name}\n")), "{text}");
        }
    }
}

#[test]
fn a_malformed_module_is_refused() {
    let context = Context::create();
    let emitter = Emitter::new(&context, "unfinished");
    emitter.define_kernel("k", &[], KERNEL);
    let error = ptx(&emitter, arch("sm_90"), &PtxOptions::default()).expect_err("no end");
    assert!(
        matches!(&error, PtxError::Refused(text) if text.contains("does not have terminator")),
        "{error}"
    );
}

#[test]
fn the_same_module_gives_the_same_text_on_any_thread() {
    let first = add_one("sm_90a", true);
    let all = parallel::map(&[(); 8], |()| add_one("sm_90a", true));
    assert!(all.iter().all(|text| *text == first));
}
