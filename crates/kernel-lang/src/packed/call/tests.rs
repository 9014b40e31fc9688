// SPDX-License-Identifier: Apache-2.0
//! Calls of functions of another file.

use crate::file::KernelFiles;
use crate::packed::functions;
use expect_test::{Expect, expect};
use kernpack_syntax::Texts;
use std::io;
use std::path::Path;

const LIB: &str = "import kernpack as kp\n@kp.kernel\ndef fill(x):\n    pass\n\
                   def launch(x):\n    fill(x).launch(grid=1, block=64)\n";

/// The kernels that a packed function with this statement launches, or what is wrong with it.
fn check(statement: &str, expected: Expect) {
    let text = format!(
        "import kernpack as kp\nimport lib\n@kp.jit(\"f(x: Tensor([n], float32, mut))\")\n\
         def f(x):\n    {statement}\n"
    );
    let mut door = |path: &Path| match path.to_str() {
        Some("f.py") => Ok(text.clone().into_bytes()),
        Some("lib.py") => Ok(LIB.as_bytes().to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let files = KernelFiles::read(Path::new("f.py"), &mut door, &mut Texts::default());
    let (functions, problems) = functions(&files.expect("kernels are read"));
    let launches = functions.iter().flat_map(|one| &one.rows).flat_map(|row| &row.launches);
    let mut lines: Vec<_> = launches.map(|launch| launch.kernel.name().to_string()).collect();
    lines.extend(problems.into_iter().map(|one| format!("[{}] {}", one.code, one.message)));
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn a_function_may_be_called_launch() {
    check("lib.launch(x)", expect!["fill"]);
    check("lib.fill(x).launch(grid=1, block=64)", expect!["fill"]);
    check(
        "lib.fill.launch(x)",
        expect!["[packed-value] expected a kernel with its arguments, found a kernel"],
    );
    check(
        "size = lib.launch(x)",
        expect!["[packed-statement] a function that is called for its value only computes it"],
    );
}

/// The mistake stands where the user calls, as what is written there is not theirs.
#[test]
fn a_mistake_in_the_library_is_told_where_it_is_called() {
    let text = "
import kernpack as kp

@kp.jit(\"f(x: Tensor([n], float32))\")
def f(x):
    y = kp.elect_one()
    z = kp.wgmma(kp.float16, kp.float32, (64, 64, 16))
";
    let mut door = |_: &Path| Ok(text.into());
    let mut texts = Texts::default();
    let files = KernelFiles::read(Path::new("f.py"), &mut door, &mut texts).expect("it is read");
    let (_, problems) = functions(&files);
    let told = problems.into_iter().map(|problem| {
        let labels = problem.labels.iter().map(|label| {
            let text = texts.get(label.span.text.expect("a place in a text"));
            let line = text.position(label.span.start).0;
            format!("{} {line} {}", text.name, label.text)
        });
        format!("{}\n{}", problem.message, labels.collect::<Vec<_>>().join("\n"))
    });
    expect![[r#"
        `lane_idx` is for kernels
        f.py 6 
        <kernpack>/pipeline.py 54 where the library does it
        a function that is called for its value only computes it
        f.py 7 
        <kernpack>/warpgroup.py 57 where the library does it"#]]
    .assert_eq(&told.collect::<Vec<_>>().join("\n"));
}
