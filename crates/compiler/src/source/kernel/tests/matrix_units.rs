// SPDX-License-Identifier: Apache-2.0
//! Kernels with matrix units: who assembles them, and what is said of those that are slow.

use super::*;

/// A kernel with products, one of which is in flight, in a loop: with something beside each, and
/// something between it and the next. `head` stands behind its block, `rest` behind its products.
fn kernel(head: &str, beside: &str, between: &str, rest: &str) -> String {
    let product = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 { f0, f1, f2, f3 }, d, d, 1, 1, \
                   1, 0, 0;";
    format!(
        "kernel k(v0 p: pointer.global float32 align 4 written) block [128, 1, 1] {head} files \
         \"mm.py\" {{
           v1: float32 = const 1.0 @2:3
           store v0, v1 align 4 @3:5
           ptx \"{{ .reg .f32 f<8>; .reg .b64 d; .reg .b32 i; .reg .pred p; .reg .pred q; mov.u64 d, \
         4611686293305294848; mov.b32 i, 0; mov.f32 f0, 0f00000000; mov.f32 f1, f0; mov.f32 f2, f0; \
         mov.f32 f3, f0; L: wgmma.fence.sync.aligned; {product} {beside} \
         wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1; {between} add.u32 i, i, 1; \
         setp.lt.u32 p, i, 8; @p bra L; wgmma.wait_group.sync.aligned 0; st.global.f32 [{{0}}], f0; \
         st.global.f32 [{{0}} + 4], f1; st.global.f32 [{{0}} + 8], f2; st.global.f32 [{{0}} + 12], f3; \
         }}\" v0 effects @7:5
           {rest}
         }}"
    )
}

const READ: &str = "ex2.approx.f32 f5, f1; st.global.f32 [{0} + 64], f5;";

fn expect_refused(text: &str, expected: Expect) {
    expect_errors_by(&assemblers(), &source(&[text]), &["sm_90a"], expected);
}

#[test]
fn they_go_by_ptxas_and_all_others_by_the_library() {
    let source = source(&[&kernel("archs compute_90a", "", "", ""), ADD_ONE]);
    let artifact = built(&source, &["sm_90a", "sm_80"], &[]);
    let by: Vec<_> = artifact.images.iter().map(|image| image.assembler.clone()).collect();
    assert_eq!(by, [Some(ptxas().label()), Some(nvjitlink().label())]);
    assert_eq!(artifact.assemblers, [AssemblerKind::NvJitLink, AssemblerKind::Ptxas]);
    assert!(artifact.warnings.is_empty() && !artifact.is_unassembled);
    // Whoever needs no ptxas, looks for none.
    let only =
        Assemblers::found_by(|| Ok(Box::new(nvjitlink().clone())), || panic!("nothing needs it"));
    let plain = super::source(&[ADD_ONE]);
    assert!(build::build(&plain, &archs(&["sm_90a", "compute_80"]), &[], &only).is_ok());
}

#[test]
fn without_ptxas_there_is_ptx_and_a_warning_that_says_where_it_was_looked_for() {
    let source = source(&[&kernel("", "", "", "")]);
    let no_ptxas = Assemblers::found_by(
        || panic!("nothing needs it"),
        || no_assemblers().of("wgmma.x").map(|_| unreachable!()).map_err(Clone::clone),
    );
    let wanted = archs(&["sm_90a", "compute_90a"]);
    let artifact = build::build(&source, &wanted, &names(&["k"]), &no_ptxas).expect("PTX");
    let archs: Vec<_> = artifact.archs().iter().map(Arch::to_string).collect();
    assert_eq!(archs, ["compute_90a"], "it is there once");
    assert!(artifact.images[0].is_terminated() && artifact.is_unassembled);
    assert!(artifact.images[0].kernel("k").is_some() && artifact.assemblers.is_empty());
    let shown: Vec<_> = artifact.warnings.iter().map(ToString::to_string).collect();
    expect![[r#"
        warning[no-assembler]: for sm_90a there is PTX, which the driver assembles where it is loaded: found no ptxas, the assembler for kernels that use matrix units; install the Python package nvidia-cuda-nvcc, or set KERNPACK_PTXAS to the path of ptxas; these places were looked at
          KERNPACK_PTXAS: is not set
          PATH: has no ptxas"#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn who_asks_for_machine_code_gets_no_ptx_in_its_place() {
    let source = source(&[&kernel("", "", "", "")]);
    let prepared = build::prepare(&source, &[]).expect("it is right");
    let kernels: Vec<_> = prepared.iter().collect();
    let arch = archs(&["sm_90a"])[0];
    let code = build::code(&source, arch, &kernels, &no_assemblers()).expect("PTX");
    let error = code.or_missing(&source).err().expect("it is none");
    assert_eq!(error.kind.code(), "gpu-assembler");
    assert!(error.message.starts_with("found no ptxas, "), "{error}");
    assert_eq!(error.detail.as_deref().map(|places| places.lines().count()), Some(2));
}

#[test]
fn a_ptxas_that_does_not_run_is_an_error() {
    let unusable = Assemblers::found_by(
        || panic!("nothing needs it"),
        || {
            let tried =
                vec![Tried { place: "/ptxas".to_string(), reason: "says no version".to_string() }];
            Err(MissingAssembler::Ptxas(PtxasError::Unusable { tried }))
        },
    );
    expect_errors_by(
        &unusable,
        &source(&[&kernel("", "", "", "")]),
        &["sm_90a"],
        expect![[r#"
            error[gpu-assembler]: found no ptxas that runs, the assembler for kernels that use matrix units; install the Python package nvidia-cuda-nvcc, or set KERNPACK_PTXAS to the path of ptxas; these places were looked at
              /ptxas: says no version
        "#]],
    );
}

#[test]
fn products_that_wait_for_one_another_are_errors_at_their_line() {
    expect_refused(
        &kernel("", "", READ, ""),
        expect![[r#"
        error[serialized-products]: products of `k` wait for one another for sm_90a: their sums are read while they are in flight
          help: wait for the products first, by `wgmma.wait_group`
        Potential Performance Loss: wgmma.mma_async instructions are serialized due to non wgmma instructions reading accumulator registers of  a wgmma between start and end of the pipeline stage in the function 'k'
    "#]],
    );
    expect_refused(
        &kernel("", "mul.f32 f1, f1, f1;", "", ""),
        expect![[r#"
        error[serialized-products]: products of `k` wait for one another for sm_90a: their sums are set while they are in flight
          help: set registers before `wgmma.fence`, and let no product be in flight meanwhile
        Potential Performance Loss: wgmma.mma_async instructions are serialized due to non wgmma instructions defining accumulator registers of a wgmma between start and end of the pipeline stage in the function 'k'
    "#]],
    );
    expect_refused(
        &kernel("", "", "", "print \"sums\" @9:5"),
        expect![[r#"
            error[serialized-products]: products of `k` wait for one another for sm_90a: it calls a function while they may be in flight
              help: take `print` and calls out of it, or run it on the interpreter, which prints too
            Potential Performance Loss: wgmma.mma_async instructions are serialized due to wgmma pipeline crossing function boundary at a function call in the function 'k'
        "#]],
    );
}

#[test]
fn registers_are_handed_over_where_it_is_known_how_many_there_are() {
    let handed = |head: &str| {
        kernel(head, "", "", "")
            .replace("ptx \"{ .reg", "ptx \"{ setmaxnreg.dec.sync.aligned.u32 40; .reg")
    };
    expect_refused(
        &handed(""),
        expect![[r#"
            error[setmaxnreg-ignored]: `setmaxnreg` of `k` has no effect for sm_90a: nothing says how many registers a thread begins with
              help: state that number, by `launch(…, max_registers=n)`, or leave `setmaxnreg` out
            Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.
        "#]],
    );
    expect_warnings(&handed("max_registers 64"), &["sm_90a"], expect![[r#""#]]);
}

#[test]
fn waits_that_nobody_asked_for_are_warnings() {
    expect_warnings(
        &kernel("", READ, "", ""),
        &["sm_90a"],
        expect![[r#"
        warning[injected-wait]: products of `k` are waited for early for sm_90a: sums are used before any wait for them
          help: wait for the products first, by `wgmma.wait_group`
        warpgroup.wait is injected in around line 21 by compiler to allow use of registers defined by GMMA in function 'k'
    "#]],
    );
}

#[test]
fn its_resources_are_those_that_ptxas_reports() {
    let source = source(&[&kernel("max_registers 64", "", "", "")]);
    let found = build::code(
        &source,
        archs(&["sm_90a"])[0],
        &source.instances.iter().map(|kernel| &**kernel).collect::<Vec<_>>(),
        &assemblers(),
    );
    let code = found.expect("it is right");
    let report = code.report.expect("a report");
    let function = report.function("k").expect("the kernel");
    assert!(function.registers.is_some_and(|count| (8..=64).contains(&count)), "{report}");
    assert!(!function.has_spills() && function.barriers == Some(0), "{report}");
}

/// A kernel with products of a type of factors and so many columns, with a factor in registers
/// where that is asked for, one of which is in flight while the next begins.
fn products(factor: &str, n: u32, from_registers: bool) -> String {
    let sums = if factor.ends_with("int8") { "int32" } else { "float32" };
    let one = if factor.ends_with("int8") { "1" } else { "1.0" };
    let each = match factor {
        "float32" => 4,
        "int8" | "uint8" => 16,
        _ => 8,
    };
    let lies = "k, swizzle32, 16, 256";
    let product = match from_registers {
        true => format!("wgmma.registers(local0, 0, local1, 0, v3, v9, {factor}, {n}, {lies})"),
        false => format!("wgmma.shared(local0, 0, v2, v3, v9, {factor}, {n}, {lies}, {lies})"),
    };
    let mut text = format!(
        "kernel {factor}_{n}_{from_registers}(v0 out: pointer.global {sums} align 16 written, v1 n: int64 0..100) \
         block [128, 1, 1] {{
           shared0 a: {factor} bytes 2048 align 1024
           shared1 b: {factor} bytes 8192 align 1024
           local0 acc: {sums} count {}
           local1 part: {factor} count {each}
           v2: pointer.shared = shared0
           v3: pointer.shared = shared1
           v4: int64 = const 0
           v5: int64 = const 1
           v6: pointer.local = local0
           v7: pointer.local = local1
           v8: {factor} = const {one}\n",
        n / 2
    );
    let bytes = 16 / each;
    for element in 0..each {
        let value = 100 + 2 * element;
        text += &format!(
            "v{value}: int64 = const {}  v{}: pointer.local = offset v7, v{value}  \
             store v{}, v8 align {bytes}\n",
            element * bytes,
            value + 1,
            value + 1,
        );
    }
    text += &format!(
        "for v10: int64 = v4 to v1 step v5 {{
           v9: bool = gt v10, v4
           call wgmma.fence()
           call {product}
           call wgmma.commit()
           call wgmma.wait(1)
         }}
         call wgmma.wait(0)\n"
    );
    for quarter in 0..n / 8 {
        let value = 200 + 4 * quarter;
        text += &format!(
            "v{value}: int64 = const {}
             v{}: pointer.local = offset v6, v{value}  v{}: {sums}x4 = load v{} align 16
             v{}: pointer.global = offset v0, v{value}  store v{}, v{} align 16\n",
            quarter * 16,
            value + 1,
            value + 2,
            value + 1,
            value + 3,
            value + 3,
            value + 2,
        );
    }
    text + "}"
}

/// ptxas says nothing of products that wait for one another, or of waits that nobody asked for.
#[test]
fn products_are_assembled_as_they_are_written() {
    let texts = [
        products("bfloat16", 64, false),
        products("bfloat16", 256, true),
        products("float16", 8, true),
        products("float32", 16, false),
        products("float32", 16, true),
        products("int8", 24, false),
        products("uint8", 32, true),
    ];
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    let artifact = built(&source(&texts), &["sm_90a"], &[]);
    assert_eq!(artifact.assemblers, [AssemblerKind::Ptxas]);
    assert!(artifact.warnings.is_empty(), "{:?}", artifact.warnings);
}

#[test]
fn products_are_of_one_architecture() {
    expect_errors(
        &source(&[&products("bfloat16", 8, false)]),
        &["sm_90"],
        expect![[r#"
            error[kernel-arch]: `wgmma.fence` needs sm_90a, and code is made for sm_90, in `call wgmma.fence()`
              help: build for sm_90a alone, or give it a launch of its own, `launch(…, arch="sm_90a")`, beside one that does without it
            nor is there `wgmma.shared`, `wgmma.commit`, `wgmma.wait`
        "#]],
    );
}
