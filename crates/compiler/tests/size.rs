// SPDX-License-Identifier: Apache-2.0
//! How much a package has beside what a user brings.

use kernpack_compiler::{Options, compile};
use kernpack_package::package_file;
use std::path::Path;

/// The most that a package with a function and a kernel of PTX has beside its image.
const PACKAGE_BYTES: usize = 43 * 1024;

#[test]
fn a_package_with_a_kernel_is_small() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/gpu");
    let text = "[package]\nname = \"add_one\"\n[[function]]\n\
         signature = \"add_one(a: Tensor([n], float32), b: Tensor([n], float32, mut))\"\n\
         source = { ptx = \"add_one.ptx\" }\nkernel = \"add_one\"\nargs = [\"a\", \"b\", \"n: int32\"]\n\
         launch = { grid = [\"ceildiv(n, 256)\"], block = [256] }\n";
    let package = package_file::parse(text, &folder).expect("it is right");
    let shared = compile(&package, &Options::default()).expect("it is right");
    let bytes = shared.shared_object().expect("it is linked").bytes.len();
    let image = std::fs::metadata(folder.join("add_one.ptx")).expect("it is there").len() as usize;
    assert!(bytes - image <= PACKAGE_BYTES, "{} bytes beside the image", bytes - image);
}
