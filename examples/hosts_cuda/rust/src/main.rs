// SPDX-License-Identifier: Apache-2.0
//! The package is loaded by a Rust program, whose memory and streams are `cudarc`'s: cuda-host
//! rms_norm.so

use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, DevicePtrMut, DeviceRepr, DriverError, result,
};
use half::{bf16, f16};
use kernpack::{CudaMemory, Element, IntoTensor};
use std::error::Error;
use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

kernpack::include!(rms_norm);

type Stream = Arc<CudaStream>;
type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// The extents of what is called on a stream of its own.
const ROWS: usize = 8;
const D: usize = 1024;

/// Numbers of 16 bits.
trait Half: Element + DeviceRepr + rms_norm::rms::T {
    fn new(value: f32) -> Self;
    fn bits(self) -> u16;
}

impl Half for f16 {
    fn new(value: f32) -> f16 {
        f16::from_f32(value)
    }

    fn bits(self) -> u16 {
        self.to_bits()
    }
}

impl Half for bf16 {
    fn new(value: f32) -> bf16 {
        bf16::from_f32(value)
    }

    fn bits(self) -> u16 {
        self.to_bits()
    }
}

fn x<T: Half>(stream: &Stream, rows: usize, d: usize, shift: usize) -> Outcome<CudaSlice<T>> {
    let value = |i| ((i * 37 + shift) % 101) as f32 - 50.0;
    let values: Vec<T> = (0..rows * d).map(|i| T::new(value(i) / 32.0)).collect();
    Ok(stream.clone_htod(&values)?)
}

fn w<T: Half>(stream: &Stream, d: usize) -> Outcome<CudaSlice<T>> {
    let values: Vec<T> = (0..d).map(|i| T::new(1.0 + (i % 3) as f32 / 4.0)).collect();
    Ok(stream.clone_htod(&values)?)
}

fn zeros<T: Half>(stream: &Stream, n: usize) -> Outcome<CudaSlice<T>> {
    Ok(stream.clone_htod(&vec![T::new(0.0); n])?)
}

fn checksum<T: Half>(stream: &Stream, out: &CudaSlice<T>) -> Outcome<String> {
    let values = stream.clone_dtoh(out)?;
    let weighted = (1u32..).zip(values).map(|(i, value)| i.wrapping_mul(u32::from(value.bits())));
    Ok(format!("{:08x}", weighted.fold(0, u32::wrapping_add)))
}

fn outcome(result: kernpack::Result<()>) -> String {
    result.map_or_else(|error| error.to_string(), |()| "accepted".to_string())
}

extern "C" fn wait(_: *mut c_void) {
    std::thread::sleep(Duration::from_millis(50));
}

/// Copies on a stream that is held up, so that what does not wait for it is found out.
fn copy_late<T: Half>(
    stream: &Stream,
    from: &CudaSlice<T>,
    to: &mut impl DevicePtrMut<T>,
) -> Result<(), DriverError> {
    let nothing = std::ptr::null_mut();
    // SAFETY: the function takes no argument.
    unsafe { result::stream::launch_host_function(stream.cu_stream(), wait, nothing) }?;
    stream.memcpy_dtod(from, to)
}

/// The checksum of a call with this dtype and these extents.
fn called<T: Half>(
    package: &rms_norm::Module,
    stream: &Stream,
    [rows, d]: [usize; 2],
    eps: Option<f32>,
) -> Outcome<String> {
    let (x, w) = (x::<T>(stream, rows, d, 0)?, w::<T>(stream, d)?);
    let mut out = zeros::<T>(stream, rows * d)?;
    let (x, w, y) = (x.tensor([rows, d])?, w.tensor([d])?, out.tensor_mut([rows, d])?);
    let call = package.rms(stream, x, w, y);
    match eps {
        Some(eps) => call.eps(eps).call()?,
        None => call.call()?,
    }
    checksum(stream, &out)
}

fn on_the_null_stream(package: &rms_norm::Module, stream: &Stream) -> Outcome {
    println!("float16: {}", called::<f16>(package, stream, [4, 136], None)?);
    println!("bfloat16: {}", called::<bf16>(package, stream, [3, 4104], Some(0.5))?);

    let (x, w) = (x::<f16>(stream, 4, 100, 0)?, w::<f16>(stream, 100)?);
    let mut out = zeros::<f16>(stream, 400)?;
    let (x, w, y) = (x.tensor([4, 100])?, w.tensor([100])?, out.tensor_mut([4, 100])?);
    println!("refused: {}", outcome(package.rms(stream, x, w, y).call()));
    Ok(())
}

/// Calls on a stream of their own, each behind a copy that is late. They wait for what they read as
/// part of that stream: on another one they would read what was there before.
fn on_a_stream(package: &rms_norm::Module, stream: &Stream) -> Outcome {
    let input = |shift| x::<f16>(stream, ROWS, D, shift);
    let inputs = [input(11)?, input(22)?, input(33)?];
    let (w, mut x, mut out) = (w(stream, D)?, zeros(stream, ROWS * D)?, zeros(stream, ROWS * D)?);
    copy_late(stream, &inputs[0], &mut x)?;
    let y = out.tensor_mut([ROWS, D])?;
    package.rms(stream, x.tensor([ROWS, D])?, w.tensor([D])?, y).call()?;
    println!("own stream: {}", checksum(stream, &out)?);

    let (x, w, y) = (x.into_tensor([ROWS, D])?, w.into_tensor([D])?, out.into_tensor([ROWS, D])?);
    let mut prepared = package.rms(stream, x, w, y).prepare()?;
    let mut sums = Vec::new();
    for input in &inputs[1..] {
        copy_late(stream, input, &mut prepared.x_mut())?;
        prepared.call()?;
        sums.push(checksum(stream, prepared.out().memory())?);
    }
    println!("prepared: {}", sums.join(" "));
    Ok(())
}

fn main() -> Outcome {
    let [_, library] = &std::env::args().collect::<Vec<_>>()[..] else {
        return Err("usage: cuda-host rms_norm.so".into());
    };
    let package = rms_norm::load(library)?;
    let loaded = outcome(package.preload(0).call());
    println!("loaded ahead: {loaded}");
    if loaded != "accepted" {
        return Err("there is no GPU to go on with".into());
    }

    let context = CudaContext::new(0)?;
    on_the_null_stream(&package, &context.default_stream())?;
    on_a_stream(&package, &context.new_stream()?)
}
