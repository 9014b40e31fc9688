// SPDX-License-Identifier: Apache-2.0
//! A package as an operation of `candle`: one pass over each row, where candle's own operations
//! take five over the whole tensor.
//!
//! Each part prints a line, which `expected.txt` has.

use candle_core::{
    CpuStorage, CustomOp2, D, DType, Device, Layout, Module, Result, Shape, Tensor, bail,
};
use kernpack::{CandleElement, CandleTensor, View, ViewMut};

kernpack::include!(rms_norm);

const EPS: f64 = 1e-2;

/// out = x / rms(x) * w, row by row.
struct RmsNorm;

impl RmsNorm {
    /// The call, for elements of one of the types that the package has kernels for.
    fn call<T: CandleElement + rms_norm::rms_norm::T>(
        (x, x_layout): (&CpuStorage, &Layout),
        (w, w_layout): (&CpuStorage, &Layout),
    ) -> Result<(CpuStorage, Shape)> {
        let layout = Layout::contiguous(x_layout.shape());
        let mut out = T::to_cpu_storage_owned(vec![T::zero(); layout.shape().elem_count()]);
        let x = View::<T>::from_candle(x, x_layout)?;
        let w = View::from_candle(w, w_layout)?;
        let written = ViewMut::from_candle(&mut out, &layout)?;
        rms_norm::rms_norm(x, w, written).eps(EPS).call()?;
        Ok((out, layout.shape().clone()))
    }
}

impl CustomOp2 for RmsNorm {
    fn name(&self) -> &'static str {
        "rms-norm"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        w: &CpuStorage,
        w_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (x, w) = ((x, x_layout), (w, w_layout));
        match x.0 {
            CpuStorage::F32(_) => RmsNorm::call::<f32>(x, w),
            CpuStorage::F64(_) => RmsNorm::call::<f64>(x, w),
            _ => bail!("rms-norm has kernels for f32 and f64"),
        }
    }
}

/// A layer of a model.
struct Norm {
    w: Tensor,
}

impl Module for Norm {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.apply_op2_no_bwd(&self.w, &RmsNorm)
    }
}

/// The same by candle's own operations.
fn expected(x: &Tensor, w: &Tensor) -> Result<Tensor> {
    let mean = (x.sqr()?.mean_keepdim(D::Minus1)? + EPS)?;
    x.broadcast_div(&mean.sqrt()?)?.broadcast_mul(w)
}

fn shown(found: &Tensor, x: &Tensor, w: &Tensor) -> Result<String> {
    let furthest = (found - expected(x, w)?)?.abs()?.flatten_all()?.max(0)?;
    let furthest = furthest.to_dtype(DType::F64)?.to_scalar::<f64>()?;
    match furthest < 1e-5 {
        true => Ok(format!("{:?} {}, as by candle", found.dims(), found.dtype().as_str())),
        false => Ok(format!("wrong: {furthest} off")),
    }
}

/// The first line of an error: behind it may be a backtrace.
fn refused<T>(outcome: Result<T>) -> String {
    let error = outcome.err().expect("it has to be refused").to_string();
    error.lines().next().unwrap_or_default().to_string()
}

fn numbers(shape: impl Into<Shape>, dtype: DType) -> Result<Tensor> {
    let shape = shape.into();
    let count = shape.elem_count() as i64;
    let numbers = (Tensor::arange(0, count, &Device::Cpu)? * 37.0)?.to_dtype(DType::F64)?;
    numbers.sin()?.to_dtype(dtype)?.reshape(shape)
}

fn main() -> Result<()> {
    for dtype in [DType::F32, DType::F64] {
        let (x, w) = (numbers((2, 3, 64), dtype)?, numbers(64, dtype)?);
        let norm = Norm { w: w.clone() };
        println!("operation: {}", shown(&norm.forward(&x)?, &x, &w)?);
        let part = x.narrow(0, 1, 1)?;
        println!("part: {}", shown(&norm.forward(&part)?, &part, &w)?);
    }

    let (x, w) = (numbers((4, 8), DType::F32)?, numbers(8, DType::F32)?);
    let mut out = vec![0f32; 32];
    let written = ViewMut::new(&mut out, &[4, 8])?;
    rms_norm::rms_norm(x.tensor(), w.tensor(), written).eps(EPS).call()?;
    println!("call: {}", shown(&Tensor::from_vec(out, (4, 8), &Device::Cpu)?, &x, &w)?);

    let norm = Norm { w };
    println!("columns: {}", refused(norm.forward(&numbers((8, 4), DType::F32)?.t()?)));
    println!("extents: {}", refused(norm.forward(&numbers((4, 6), DType::F32)?)));
    println!("dtypes: {}", refused(norm.forward(&numbers((4, 8), DType::F64)?)));
    Ok(())
}
