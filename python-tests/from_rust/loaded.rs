// SPDX-License-Identifier: Apache-2.0
//! Tests of the crate of the page "From Rust" that run its blocks about packages that are loaded.

use kernpack::{Artifact, inspect};
use ndarray::{Array1, array};

kernpack::include!(rows);
kernpack::include!(scaling);

#[test]
fn a_shared_object_is_loaded() -> kernpack::Result<()> {
    let built = kernpack::Package::open("src/scaling.toml")?.build()?;
    std::fs::copy(built.shared_object(), "scaling.so").unwrap();
    let (x, mut y) = (array![1.0f32, 2.0, 3.0], Array1::zeros(3));
    // the page: let scaling = scaling::load("scaling.so")?;
    assert_eq!(y, array![0.5, 1.0, 1.5]);
    Ok(())
}

#[test]
fn a_file_of_kernels_is_compiled() -> kernpack::Result<()> {
    // the page: let built = kernpack::Package::open("src/rows.py")?.arch("sm_90a").build()?;
    drop(rows);
    assert_eq!(built.functions(), ["row_sums"]);
    assert!(built.read(Artifact::Header)?.starts_with(b"/*"));
    assert_eq!(inspect(built.shared_object())?["packages"][0]["package"], "rows");
    Ok(())
}

#[test]
fn a_package_is_put_together() -> kernpack::Result<()> {
    let text = "extern \"C\" __global__ void add_one(const float* a, float* b, long n) {
  long i = blockIdx.x * 256L + threadIdx.x;
  if (i < n) b[i] = a[i] + 1;
}
";
    // the page: use kernpack::{Function, Launch, Package, Source};
    assert!(package.as_text().contains("\"add_one.cu\""), "{}", package.as_text());
    assert_eq!(package.build()?.functions(), ["add_one"]);
    Ok(())
}
