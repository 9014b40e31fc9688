// SPDX-License-Identifier: Apache-2.0
//! A program that runs the blocks of the page "From Rust" about memory of cudarc: it prints what
//! the calls leave.

use half::bf16;
use kernpack::IntoTensor;
use std::error::Error;

kernpack::include!(rms_norm);

fn called(host: Vec<bf16>, m: usize, d: usize) -> Result<(), Box<dyn Error>> {
    let w = cudarc::driver::CudaContext::new(0)?.default_stream().clone_htod(&host[..d])?;
    // the page: use cudarc::driver::CudaContext;
    println!("called: {:?}", stream.clone_dtoh(&out)?);

    let (x, w, out) = (x.into_tensor([m, d])?, w.into_tensor([d])?, out.into_tensor([m, d])?);
    // the page: let mut prepared = rms_norm::rms(&stream, x, w, out).prepare()?;
    println!("prepared: {host:?}");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    called(vec![bf16::ONE; 16], 2, 8)
}
