// SPDX-License-Identifier: Apache-2.0
//! The package is loaded by a Rust program, whose memory and streams are `cudarc`'s: cuda-host
//! rms_norm.so

mod device;

use cudarc::driver::{CudaContext, CudaStream, DriverError};
use device::GPU;
use std::error::Error;
use tvm_ffi::{Any, AnyView, DLDataType, DLDataTypeCode, Function, Module, Tensor};

const HALF: DLDataType = DLDataType { code: DLDataTypeCode::kDLFloat as u8, bits: 16, lanes: 1 };
const BFLOAT: DLDataType = DLDataType { code: DLDataTypeCode::kDLBfloat as u8, bits: 16, lanes: 1 };

/// The bits of a number that the type holds exactly.
fn bits_of(value: f32, dtype: DLDataType) -> u16 {
    let is_bfloat = dtype.code == DLDataTypeCode::kDLBfloat as u8;
    let (mantissa_bits, bias) = if is_bfloat { (7, 127) } else { (10, 15) };
    if value == 0.0 {
        return 0;
    }
    let bits = value.to_bits();
    let exponent = (bits >> 23 & 0xff) + bias - 127;
    let mantissa = (bits & 0x7f_ffff) >> (23 - mantissa_bits);
    (bits >> 31 << 15 | exponent << mantissa_bits | mantissa) as u16
}

fn x(rows: i64, d: i64, dtype: DLDataType, shift: i64) -> Result<Tensor, DriverError> {
    let value = |i| ((i * 37 + shift) % 101 - 50) as f32 / 32.0;
    let bits: Vec<u16> = (0..rows * d).map(|i| bits_of(value(i), dtype)).collect();
    device::tensor(&bits, &[rows, d], dtype)
}

fn w(d: i64, dtype: DLDataType) -> Result<Tensor, DriverError> {
    let bits: Vec<u16> = (0..d).map(|i| bits_of(1.0 + (i % 3) as f32 / 4.0, dtype)).collect();
    device::tensor(&bits, &[d], dtype)
}

fn zeros(rows: i64, d: i64, dtype: DLDataType) -> Result<Tensor, DriverError> {
    device::tensor(&vec![0; (rows * d) as usize], &[rows, d], dtype)
}

fn checksum(out: &Tensor) -> Result<String, DriverError> {
    let bits = device::bits(out)?;
    let weighted = (1u32..).zip(&bits).map(|(i, bits)| i.wrapping_mul(u32::from(*bits)));
    Ok(format!("{:08x}", weighted.fold(0, u32::wrapping_add)))
}

fn outcome(result: tvm_ffi::Result<Any>) -> String {
    match result {
        Ok(_) => "accepted".to_string(),
        Err(error) => format!("{}: {}", error.kind().as_str(), error.message()),
    }
}

fn call(function: &Function, tensors: [&Tensor; 3], eps: Option<f64>) -> tvm_ffi::Result<Any> {
    let mut args: Vec<AnyView<'_>> = tensors.map(AnyView::from).to_vec();
    args.extend(eps.as_ref().map(AnyView::from));
    function.call_packed(&args)
}

/// Calls on the stream that the environment has: NULL until it is told.
fn on_the_null_stream(rms: &Function) -> Result<(), Box<dyn Error>> {
    for (name, dtype, rows, d, eps) in
        [("float16", HALF, 4, 136, None), ("bfloat16", BFLOAT, 3, 4104, Some(0.5))]
    {
        let out = zeros(rows, d, dtype)?;
        call(rms, [&x(rows, d, dtype, 0)?, &w(d, dtype)?, &out], eps)?;
        println!("{name}: {}", checksum(&out)?);
    }
    let odd = x(4, 100, HALF, 0)?;
    println!("refused: {}", outcome(call(rms, [&odd, &w(100, HALF)?, &odd], None)));
    Ok(())
}

/// What `f` calls on this thread runs on that stream.
fn with_stream<T>(
    stream: &CudaStream,
    f: impl FnOnce() -> tvm_ffi::Result<T>,
) -> tvm_ffi::Result<T> {
    // SAFETY: the stream is there, and one of this device.
    unsafe { tvm_ffi::with_stream(&GPU, stream.cu_stream().cast(), f) }
}

fn on_a_stream(module: &Module, stream: &CudaStream) -> Result<(), Box<dyn Error>> {
    let (w, x_now, out) = (w(1024, HALF)?, zeros(8, 1024, HALF)?, zeros(8, 1024, HALF)?);
    let inputs = [x(8, 1024, HALF, 11)?, x(8, 1024, HALF, 22)?, x(8, 1024, HALF, 33)?];
    let rms = module.get_function("rms")?;
    device::copy_late(stream, &x_now, &inputs[0])?;
    with_stream(stream, || call(&rms, [&x_now, &w, &out], None))?;
    stream.synchronize()?;
    println!("own stream: {}", checksum(&out)?);

    let prepare = module.get_function("kernpack_prepare_rms")?;
    let prepared = Function::try_from(call(&prepare, [&x_now, &w, &out], None)?)?;
    let mut sums = Vec::new();
    for input in &inputs[1..] {
        device::copy_late(stream, &x_now, input)?;
        with_stream(stream, || prepared.call_packed(&[]))?;
        stream.synchronize()?;
        sums.push(checksum(&out)?);
    }
    println!("prepared: {}", sums.join(" "));
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let [_, library] = &std::env::args().collect::<Vec<_>>()[..] else {
        return Err("usage: cuda-host rms_norm.so".into());
    };
    let module = Module::load_from_file(library)?;
    let preload = module.get_function("kernpack_preload_rms_norm")?;
    let loaded = outcome(preload.call_packed(&[AnyView::from(&0i64)]));
    println!("loaded ahead: {loaded}");
    if loaded != "accepted" {
        return Err("there is no GPU to go on with".into());
    }

    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    on_the_null_stream(&module.get_function("rms")?)?;
    on_a_stream(&module, &stream)
}
