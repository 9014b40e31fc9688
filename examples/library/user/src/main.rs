// SPDX-License-Identifier: Apache-2.0
//! A program that uses the crate `norms`, and knows nothing of kernels.

fn main() -> Result<(), norms::Error> {
    let weights = [1.0, 0.5];
    println!("{:?}", norms::rms_norm(&[2.0, -2.0, 4.0, 4.0, 0.5, -0.5], &weights, 0.0)?);
    for (rows, weights) in [(&[1.0, 2.0, 3.0][..], &weights[..]), (&[], &[])] {
        if let Err(error) = norms::rms_norm(rows, weights, 0.0) {
            println!("{error}");
        }
    }
    Ok(())
}
