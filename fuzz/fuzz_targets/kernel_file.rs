// SPDX-License-Identifier: Apache-2.0
//! Any text as a kernel file: its packed functions and kernels become operations that the verifier
//! takes or refuses, or the text is refused with diagnostics that have places in it. Nothing is
//! read from disk.
#![no_main]

use kernpack_kernel_ir::kernel::Facts;
use kernpack_kernel_ir::{Kernel, Scalar, expand, verify};
use kernpack_kernel_lang::argument::{Argument, Constant, Dim, ScalarArg, TensorArg};
use kernpack_kernel_lang::elaborate::{Request, elaborate};
use kernpack_kernel_lang::extents::{Relations, Surroundings};
use kernpack_kernel_lang::file::{DefinitionKind, KernelFiles};
use kernpack_kernel_lang::packed::settle::Kernels;
use kernpack_kernel_lang::packed::{Unrelated, functions};
use kernpack_layout::{Int, Mode, Tuple};
use kernpack_syntax::{Diagnostics, TextId, Texts};
use kernpack_validators::Expr;
use libfuzzer_sys::fuzz_target;
use std::io;
use std::path::Path;

fuzz_target!(|text: &str| {
    let mut texts = Texts::default();
    let mut door = |path: &Path| match path.to_str() {
        Some("fuzzed.py") => Ok(text.as_bytes().to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let read = KernelFiles::read_with_problems(Path::new("fuzzed.py"), &[], &mut door, &mut texts);
    match read {
        Err(problems) => check_problems(&problems, text, None),
        Ok(files) => {
            check_problems(files.problems(), text, Some(files.root().text));
            check_files(&files, text);
        }
    }
});

fn check_files(files: &KernelFiles, text: &str) {
    let id = Some(files.root().text);
    let (packed, problems) = functions(files);
    check_problems(&problems, text, None);
    let mut kernels = Kernels::default();
    for function in &packed {
        if let Err(problems) = kernels.settle(files, &function.rows, Unrelated::Warn) {
            check_problems(&problems, text, id);
        }
    }
    kernels.kernels.iter().for_each(|kernel| check_kernel(kernel));
    for definition in &files.root().functions {
        if !matches!(definition.kind, DefinitionKind::Kernel) {
            continue;
        }
        let n_params = definition.function.params.len();
        let makes: [(fn(usize) -> _, bool); 3] =
            [(in_turn, false), (tensor, false), (tensor, true)];
        for (make, is_checked) in makes {
            let arguments: Vec<_> = (0..n_params).map(make).collect();
            let request = Request {
                kernel: definition,
                arguments: &arguments,
                dtypes: &[],
                block: [Some(32), Some(1), None],
                archs: &[],
                symbol: "fuzzed",
                surroundings: Some(Surroundings { grid: &[], relations: &Relations::default() }),
                is_checked,
            };
            match elaborate(files, &request) {
                Ok(instance) => check_kernel(&instance.kernel),
                Err(problems) => check_problems(&problems, text, id),
            }
        }
    }
}

/// A matrix for a kernel's parameter of that number.
fn tensor(number: usize) -> Argument {
    let facts = Facts { min: 0, max: 1 << 40, divisor: 1 };
    let dim = |name: &str| Int::Dynamic(Dim { expr: Expr::symbol(name), facts, step: 1 });
    let mode = |extent, stride| Tuple::Leaf(Mode::new(extent, stride));
    Argument::Tensor(Box::new(TensorArg {
        name: "x".into(),
        pointer: Expr::symbol(format!("x{number}")),
        element: Scalar::F32,
        align: 16,
        is_written: true,
        is_alone: true,
        view: Tuple::Node(vec![mode(dim("m"), dim("n")), mode(dim("n"), Int::Known(1))]),
        offset: Int::Known(0),
    }))
}

/// Matrices, numbers and constants in turn.
fn in_turn(number: usize) -> Argument {
    match number % 3 {
        0 => tensor(number),
        1 => Argument::Scalar(ScalarArg {
            expr: Expr::symbol(format!("i{number}")),
            scalar: Scalar::I32,
            facts: Facts { min: i32::MIN.into(), max: i32::MAX.into(), divisor: 1 },
        }),
        _ => Argument::Constant(Constant::Int(4.into())),
    }
}

/// A kernel is well formed, but for what threads may not do; that is what its diagnostics are of.
fn check_kernel(kernel: &Kernel) {
    match verify(kernel) {
        Ok(_) => {
            let mut expanded = kernel.clone();
            expand(&mut expanded);
            verify(&expanded).unwrap_or_else(|problems| panic!("{problems} of\n{kernel}"));
        }
        Err(problems) => assert!(!problems.to_string().is_empty()),
    }
}

fn check_problems(problems: &Diagnostics, text: &str, id: Option<TextId>) {
    for problem in &problems.0 {
        assert!(!problem.to_string().is_empty());
        for label in &problem.labels {
            let span = label.span;
            if id.is_some() {
                assert_eq!(span.text, id, "of another text: {problem}");
            }
            if span.text == id || id.is_none() {
                assert!(text.get(span.start..span.end).is_some(), "outside: {problem}");
            }
        }
    }
}
