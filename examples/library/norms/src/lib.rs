// SPDX-License-Identifier: Apache-2.0
//! Norms of rows. The kernels are in this crate as they were compiled: who uses it builds it as
//! any crate.

use kernpack::{View, ViewMut};

pub use kernpack::Error;

kernpack::include!(rms_norm);

/// Rows, one behind the other, each divided by its root mean square and multiplied by the weights.
/// There are as many weights as a row has numbers; `eps` is added to the mean.
///
/// # Errors
/// Where there are no weights, or the last row has fewer numbers.
pub fn rms_norm(rows: &[f32], weights: &[f32], eps: f64) -> Result<Vec<f32>, Error> {
    let (n, d) = (rows.len().checked_div(weights.len()).unwrap_or(0), weights.len());
    let (shape, width) = ([n as i64, d as i64], [d as i64]);
    let mut out = vec![0.0; n * d];
    let (x, w) = (View::new(rows, &shape)?, View::new(weights, &width)?);
    rms_norm::rms_norm(x, w, ViewMut::new(&mut out, &shape)?).eps(eps).call()?;
    Ok(out)
}
