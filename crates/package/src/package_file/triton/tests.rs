// SPDX-License-Identifier: Apache-2.0
//! Launches of what Triton compiled, as package files have them.

use crate::package::{WrittenLaunch, WrittenPackage};
use crate::package_file::tests::parse;
use expect_test::expect;
use kernpack_syntax::Diagnostics;
use std::fmt::Write;
use std::path::Path;

/// A package whose one function has these keys.
fn read(keys: &str) -> Result<WrittenPackage, Diagnostics> {
    let function = "[[function]]\nsignature = 'f(x: Tensor([n], float32))'\nargs = ['x', 'n']";
    parse(&format!("[package]\nname = 'p'\n{function}\n{keys}"), Path::new("folder"))
}

#[test]
fn a_launch_says_what_the_json_does_not() {
    let package = read(
        "source = [{ triton = 'a.cubin' }, { triton = 'b', json = 'c', arch = 'sm_100' }]\n\
        launch = { grid = ['n'], attr = { priority = 1 } }",
    );
    let WrittenLaunch::Triton(launch) = &package.unwrap().functions[0].launches[0] else {
        panic!("its JSON says the rest")
    };
    assert_eq!((&launch.kernel, launch.grid[0].to_string()), (&None, "n".to_string()));
    let files = &launch.files;
    let beside: Vec<_> =
        files.iter().map(|file| file.triton.as_ref().map(|json| json.as_path())).collect();
    assert_eq!(beside, [Some(Path::new("folder/a.json")), Some(Path::new("folder/c"))]);
    assert_eq!(files[1].arch.unwrap().to_string(), "sm_100");
}

#[test]
fn problems() {
    let problems = [
        "source = { triton = 'b' }\nlaunch = { grid = [1], block = [1], smem = 0 }",
        "source = [{ triton = 'b' }, { ptx = 'c' }]\nlaunch = { grid = [1], attr = { cluster = [2], cooperative = false, pdl = true } }",
        "source = { triton = 'b' }\nlaunch = { attr = { stream = 's' } }",
        "source = { triton = 'b', jason = 'c' }\nlaunch = { grid = [1] }",
        "source = { triton = 'b', json = 1 }\nlaunch = { grid = [1] }",
        "source = { cubin = 'b', json = 'c' }\nkernel = 'k'\nlaunch = { grid = [1], block = [1] }",
    ];
    let mut shown = String::new();
    for keys in problems {
        writeln!(shown, "{keys}").unwrap();
        for problem in read(keys).expect_err(keys).0 {
            let help = problem.help.unwrap_or_default();
            writeln!(shown, "    {}: {}; {help}", problem.code, problem.message).unwrap();
        }
    }
    expect![[r#"
        source = { triton = 'b' }
        launch = { grid = [1], block = [1], smem = 0 }
            conflict: `block` is what Triton's JSON says: 32 threads for each of `num_warps`; remove `block`
            conflict: `smem` is what Triton's JSON says: `shared`; remove `smem`
        source = [{ triton = 'b' }, { ptx = 'c' }]
        launch = { grid = [1], attr = { cluster = [2], cooperative = false, pdl = true } }
            conflict: `cluster` is what Triton's JSON says: `num_ctas`; remove `cluster`
            conflict: `cooperative` is what Triton's JSON says: `launch_cooperative_grid`; remove `cooperative`
            conflict: `pdl` is what Triton's JSON says: `launch_pdl`; remove `pdl`
        source = { triton = 'b' }
        launch = { attr = { stream = 's' } }
            missing-key: a launch on a GPU needs `grid`; one to three numbers or expressions, x first
        source = { triton = 'b', jason = 'c' }
        launch = { grid = [1] }
            unknown-key: a source has no key `jason`; did you mean `json`?
        source = { triton = 'b', json = 1 }
        launch = { grid = [1] }
            value-type: `json` is of type integer; 
        source = { cubin = 'b', json = 'c' }
        kernel = 'k'
        launch = { grid = [1], block = [1] }
            unknown-key: a source has no key `json`; use one of `cubin`, `arch`
    "#]].assert_eq(&shown);
}
