// SPDX-License-Identifier: Apache-2.0
//! Logs as nvJitLink wrote them.

use super::*;
use expect_test::{Expect, expect};

/// The report in short, which is the same when it is written out and read again.
fn check(log: &str, expected: &Expect) {
    let report = Report::parse(log);
    assert_eq!(Report::parse(&report.to_string()), report, "{report}");
    let function = |it: &FunctionReport| {
        let kernel = it.kernel_for.as_ref().map_or(String::new(), |arch| format!(" for {arch}"));
        let numbers = [
            ("registers", it.registers),
            ("barriers", it.barriers),
            ("stack", it.stack_bytes),
            ("stores", it.spill_store_bytes),
            ("loads", it.spill_load_bytes),
            ("shared", it.shared_bytes),
        ];
        let numbers = numbers.iter().filter_map(|(name, n)| Some(format!(" {name} {}", (*n)?)));
        format!("{}{kernel}:{}\n", it.name, numbers.collect::<String>())
    };
    let remark = |it: &Remark| {
        let code = it.code.as_deref().unwrap_or("-");
        let line = it.line.map_or("-".to_string(), |line| line.to_string());
        let function = it.function.as_deref().unwrap_or("-");
        let loss = if it.is_performance_loss() { " loss" } else { "" };
        format!("{} {code} line {line} in {function}{loss}: {}\n", it.severity.word(), it.text)
    };
    let unknown = |line: &String| format!("? {line}\n");
    let lines = report.functions.iter().map(function);
    let lines = lines.chain(report.remarks.iter().map(remark));
    let lines = lines.chain(report.unknown.iter().map(unknown));
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn a_kernel_with_spills() {
    let log = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'spilled' for 'sm_90a'
ptxas info    : Function properties for spilled
ptxas         .     232 bytes stack frame, 232 bytes spill stores, 232 bytes spill loads
ptxas info    : Used 24 registers, used 1 barriers
ptxas info    : Compile time = 14.988 ms
info    : 0 bytes gmem
info    : Function properties for 'spilled':
info    : used 24 registers, used 1 barriers, 232 stack, 0 bytes smem, 544 bytes cmem[0], 0 bytes lmem
";
    check(
        log,
        &expect![[r#"
        spilled for sm_90a: registers 24 barriers 1 stack 232 stores 232 loads 232 shared 0
    "#]],
    );
    let report = Report::parse(log);
    let function = report.function("spilled").expect("it is there");
    assert!(function.has_spills());
    assert_eq!(function.least_local_bytes(), 0);
}

/// The program goes on with a line by spaces alone.
#[test]
fn the_programs_own_lines() {
    check(
        "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : Function properties for k
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers, 16 bytes cumulative stack size
ptxas info    : Compile time = 11.041 ms
ptxas kernels.ptx, line 1; fatal   : Unsupported .version 9.9; current version is '9.0'
",
        &expect![[r#"
            k for sm_90a: registers 168 barriers 1 stack 16 stores 8 loads 12
            fatal - line 1 in -: Unsupported .version 9.9; current version is '9.0'
        "#]],
    );
}

#[test]
fn several_functions_in_the_assemblers_order() {
    let log = "\
ptxas info    : 0 bytes gmem
ptxas info    : Function properties for helper
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Compile time = 1.268 ms
ptxas info    : Compiling entry function 'second' for 'sm_90a'
ptxas info    : Function properties for second
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, used 0 barriers
ptxas info    : Compile time = 0.985 ms
ptxas info    : Compiling entry function 'local_k' for 'sm_90a'
ptxas info    : Function properties for local_k
ptxas         .     400 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 4 barriers
ptxas info    : Compile time = 1.636 ms
info    : 0 bytes gmem
info    : Function properties for 'local_k':
info    : used 10 registers, used 4 barriers, 400 stack, 2024 bytes smem, 540 bytes cmem[0], 0 bytes lmem
info    : Function properties for 'second':
info    : used 24 registers, used 0 barriers, 0 stack, 0 bytes smem, 536 bytes cmem[0], 0 bytes lmem
";
    check(
        log,
        &expect![[r#"
        helper: stack 0 stores 0 loads 0
        second for sm_90a: registers 24 barriers 0 stack 0 stores 0 loads 0 shared 0
        local_k for sm_90a: registers 10 barriers 4 stack 400 stores 0 loads 0 shared 2024
    "#]],
    );
    let report = Report::parse(log);
    let local = report.function("local_k").expect("it is there");
    assert_eq!((local.has_spills(), local.least_local_bytes()), (false, 400));
}

#[test]
fn older_assemblers_say_less() {
    check(
        "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'spilled' for 'sm_90a'
ptxas info    : Function properties for spilled
ptxas         .     232 bytes stack frame, 232 bytes spill stores, 232 bytes spill loads
ptxas info    : Used 24 registers
",
        &expect![[r#"
            spilled for sm_90a: registers 24 stack 232 stores 232 loads 232
        "#]],
    );
}

#[test]
fn tensor_cores_that_wait_are_remarked_on() {
    check(
        "\
ptxas info    : (C7519) warpgroup.arrive is injected in around line 48 by compiler to allow use of registers in GMMA in function 'mm'
ptxas info    : (C7517) warpgroup.wait is injected in around line 47 by compiler to allow use of registers defined by GMMA in function 'mm'
ptxas info    : (C7515) Potential Performance Loss: wgmma.mma_async instructions are serialized due to non wgmma instructions defining accumulator registers of a wgmma between start and end of the pipeline stage in the function 'mm'
ptxas info    : (C7509) Potential Performance Loss: wgmma.mma_async instructions are serialized due to the presence of Extern calls in the function 'mm'
ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the wgmma pipeline in the function 'mm'
ptxas info    : (C7504) Potential Performance Loss: 'setmaxnreg' ignored to maintain compatibility across compilation units.
",
        &expect![[r#"
            info C7519 line 48 in mm loss: warpgroup.arrive is injected in around line 48 by compiler to allow use of registers in GMMA in function 'mm'
            info C7517 line 47 in mm loss: warpgroup.wait is injected in around line 47 by compiler to allow use of registers defined by GMMA in function 'mm'
            info C7515 line - in mm loss: Potential Performance Loss: wgmma.mma_async instructions are serialized due to non wgmma instructions defining accumulator registers of a wgmma between start and end of the pipeline stage in the function 'mm'
            info C7509 line - in mm loss: Potential Performance Loss: wgmma.mma_async instructions are serialized due to the presence of Extern calls in the function 'mm'
            info C7511 line - in mm loss: Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the wgmma pipeline in the function 'mm'
            info C7504 line - in - loss: Potential Performance Loss: 'setmaxnreg' ignored to maintain compatibility across compilation units.
        "#]],
    );
}

#[test]
fn warnings_and_information_without_a_code() {
    check(
        "\
ptxas warning : Local memory used for function 'spilled', size of stack frame: 232 bytes
ptxas warning : Registers are spilled to local memory in function 'spilled', 232 bytes spill stores, 232 bytes spill loads
ptxas info    : Overriding global maxrregcount 32 with entry-specific value 24 of .maxnreg
",
        &expect![[r#"
            warning - line - in spilled: Local memory used for function 'spilled', size of stack frame: 232 bytes
            warning - line - in spilled: Registers are spilled to local memory in function 'spilled', 232 bytes spill stores, 232 bytes spill loads
            info - line - in -: Overriding global maxrregcount 32 with entry-specific value 24 of .maxnreg
        "#]],
    );
}

#[test]
fn mistakes_have_lines() {
    check(
        "\
ptxas application ptx input, line 23; error   : Unknown modifier '.b33'
ptxas application ptx input, line 35; fatal   : Parsing error near 'foo': syntax error
ptxas fatal   : (C7602) Insufficient registers (32) to compile instruction at line 47 in function mm. Try to compile with register target of 58 or higher.
ptxas fatal   : Ptx assembly aborted due to errors
ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (k)
error   : Undefined reference to 'foo' in 'k'
",
        &expect![[r#"
            error - line 23 in -: Unknown modifier '.b33'
            fatal - line 35 in -: Parsing error near 'foo': syntax error
            fatal C7602 line 47 in mm: Insufficient registers (32) to compile instruction at line 47 in function mm. Try to compile with register target of 58 or higher.
            fatal - line - in -: Ptx assembly aborted due to errors
            error - line - in -: Undefined reference to 'foo' in 'k'
            ? ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (k)
        "#]],
    );
}

#[test]
fn whatever_is_not_known_is_kept() {
    check(
        "\
no line of theirs
ptxas         .     8 bytes stack frame
ptxas info    : Used 8 registers
ptxas info    : (7517) no code
ptxas info    : Function properties for k
ptxas         .     8 bytes of something, many bytes stack frame, 4 bytes spill loads
: :
info:
",
        &expect![[r#"
            k: loads 4
            info - line - in -: (7517) no code
            ? no line of theirs
            ? ptxas         .     8 bytes stack frame
            ? ptxas info    : Used 8 registers
            ? : :
            ? info:
        "#]],
    );
}

/// Cut anywhere, a log has a report.
#[test]
fn any_text_has_a_report() {
    let log = "ptxas info    : Compiling entry function 'k' for 'sm_90a'\nptxas info    : \
               Function properties for k\nptxas         .     8 bytes stack frame\nptxas x, line \
               3; error   : (C1) a function 'ä' line 99999999999\n";
    for cut in (0..log.len()).filter(|cut| log.is_char_boundary(*cut)) {
        for text in [&log[..cut], &log[cut..]] {
            let report = Report::parse(text);
            assert_eq!(Report::parse(&report.to_string()), report, "{text}");
        }
    }
}
