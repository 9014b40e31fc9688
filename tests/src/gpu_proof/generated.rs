// SPDX-License-Identifier: Apache-2.0
//! Random kernels: what a seed gives, with inputs that a rule makes.

use super::input::{Drawn, Input};
use super::{Argument, Buffer, Case};
use kernpack_kernel_ir::expand;
use kernpack_kernel_ir::generate::{self, Generated, Tensor};
use kernpack_kernel_ir::verify::verify;

/// How many kinds of inputs there are: those who make them again do so once for each.
const N_INPUTS: u64 = 16;

/// The kernel of a seed. What its tensors hold is drawn from other seeds, of which there are few.
///
/// # Errors
/// Where the kernel does not keep the rules of kernels.
pub fn case(seed: u64) -> Result<Case, String> {
    let Generated { mut kernel, grid, block, cluster, arguments } = generate::generate(seed);
    verify(&kernel).map_err(|problems| format!("it is refused: {problems}"))?;
    expand(&mut kernel);
    let arguments = arguments.into_iter().zip(seed..).map(|(argument, seed)| match argument {
        generate::Argument::Scalar(number) => Argument::Scalar(number),
        generate::Argument::Tensor(tensor) => Argument::Buffer(buffer(&tensor, seed)),
    });
    let (origin, arguments) = (format!("seed {seed}"), arguments.collect());
    Ok(Case { origin, grid, block, cluster, arguments, kernel })
}

fn buffer(tensor: &Tensor, seed: u64) -> Buffer {
    let count = tensor.bytes.len() / tensor.element.bytes() as usize;
    let input = Input::Drawn { seed: seed % N_INPUTS, kind: Drawn::Small };
    Buffer { element: tensor.element, count, input }
}
