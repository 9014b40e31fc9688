// SPDX-License-Identifier: Apache-2.0
//! Any text as operations of kernels: it is refused with diagnostics, or it prints, and reads back
//! as what prints alike. The verifier takes or refuses it, and a kernel that it takes is one that
//! the interpreter runs.
#![no_main]

use kernpack_kernel_ir::interp::{Argument, Launch, MappedTensor, Memories, Memory, Options, run};
use kernpack_kernel_ir::kernel::ParamKind;
use kernpack_kernel_ir::text::{Item, parse};
use kernpack_kernel_ir::verify::verify_function;
use kernpack_kernel_ir::{Const, Kernel, expand, verify};
use kernpack_syntax::Texts;
use libfuzzer_sys::fuzz_target;

/// The most operations, and threads of a block, of a kernel that is run.
const MOST_SIZE: usize = 2000;
const MOST_THREADS: u32 = 64;

fuzz_target!(|text: &str| {
    let items = match read(text) {
        Ok(items) => items,
        Err(problems) => return assert!(!problems.is_empty(), "refused without a reason"),
    };
    let printed = print(&items);
    let again = read(&printed)
        .unwrap_or_else(|problems| panic!("does not read back: {problems}\n{printed}"));
    assert_eq!(print(&again), printed, "printing is not stable");
    for item in items {
        match item {
            Item::Kernel(kernel) if verify(&kernel).is_ok() => check(kernel),
            Item::Kernel(_) => {}
            Item::Function(function) => {
                if let Err(problems) = verify_function(&function) {
                    assert!(!problems.to_string().is_empty(), "refused without a reason");
                }
            }
        }
    }
});

fn read(text: &str) -> Result<Vec<Item>, String> {
    let mut texts = Texts::default();
    let id = texts.add("fuzzed", text);
    parse(&texts.snippet(id)).map_err(|problems| problems.to_string())
}

fn print(items: &[Item]) -> String {
    items.iter().map(|item| format!("{item}\n")).collect()
}

fn check(mut kernel: Kernel) {
    expand(&mut kernel);
    verify(&kernel).unwrap_or_else(|problems| panic!("{problems}"));
    let block = kernel.block.map(|extent| extent.unwrap_or(2));
    let n_threads = block.iter().try_fold(1_u32, |all, extent| all.checked_mul(*extent));
    let is_small = n_threads.is_some_and(|threads| threads <= MOST_THREADS);
    if !is_small || kernel.values.len() > MOST_SIZE {
        return;
    }
    let mut memories = Memories::default();
    let arguments = kernel.params.iter().map(|param| match &param.kind {
        ParamKind::Pointer(pointer) => {
            let memory = Memory::new("x", pointer.element, vec![1; 256]);
            Argument::Tensor { memory: memories.add(memory), offset: 0 }
        }
        ParamKind::Map(map) => {
            let memory = memories.add(Memory::new("x", map.element, vec![1; 256]));
            let (extents, strides) = ([2; 5], [16; 4]);
            Argument::Map(MappedTensor { memory, offset: 0, extents, strides })
        }
        ParamKind::Scalar(scalar, facts) => {
            let most = facts.max.min(facts.min.saturating_add(facts.divisor.saturating_mul(8)));
            let divisor = facts.divisor.max(1);
            Argument::Scalar(match scalar.is_int() {
                true => Const::int(*scalar, most.div_euclid(divisor).saturating_mul(divisor)),
                false => Const::from_bits(*scalar, 1),
            })
        }
    });
    let arguments = arguments.collect();
    let options = Options {
        most_findings: 4,
        most_turns: 500,
        most_idle_turns: 100,
        most_printed: 10,
        ..Options::default()
    };
    let (grid, cluster) = ([2, 1, 1], [1; 3]);
    let launch = Launch { kernel: &kernel, grid, block, cluster, arguments };
    let outcome = run(&launch, &mut memories, &options);
    for finding in &outcome.findings {
        assert!(!finding.diagnostic(&kernel).to_string().is_empty());
    }
}
