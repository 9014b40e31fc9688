// SPDX-License-Identifier: Apache-2.0
//! A package with GPU kernels in a Rust program, whose memory and streams are `cudarc`'s:
//! cudarc-example [--unordered]
//!
//! Calls wait for what was done with their memory on other streams, and what comes after them waits
//! for them; a graph captures a call; memory of another device is refused. Each part prints a line,
//! which `expected.txt` has. With `--unordered` nobody tracks events, and a call does not wait.

use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, result};
use half::f16;
use kernpack::{CudaMemory, IntoTensor};
use std::error::Error;
use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

kernpack::include!(rms_norm);

const ROWS: usize = 8;
const D: usize = 1024;

type Outcome<T = String> = Result<T, Box<dyn Error>>;

/// Numbers that a half holds exactly.
fn numbers(n: usize, shift: usize) -> Vec<f16> {
    let value = |i| ((i * 37 + shift) % 101) as f32 - 50.0;
    (0..n).map(|i| f16::from_f32(value(i) / 32.0)).collect()
}

fn weights() -> Vec<f16> {
    (0..D).map(|i| f16::from_f32(1.0 + (i % 3) as f32 / 4.0)).collect()
}

/// The same on the CPU.
fn expected(x: &[f16], w: &[f16]) -> Vec<f16> {
    let row = |row: &[f16]| {
        let squares: f32 = row.iter().map(|x| x.to_f32() * x.to_f32()).sum();
        let scale = 1.0 / (squares / row.len() as f32 + 1e-6).sqrt();
        let scaled = row.iter().zip(w).map(|(x, w)| f16::from_f32(x.to_f32() * scale * w.to_f32()));
        scaled.collect::<Vec<_>>()
    };
    x.chunks(w.len()).flat_map(row).collect()
}

/// Whether numbers are equal, but for the last bit of a half.
fn shown(found: &[f16], x: &[f16]) -> String {
    let expected = expected(x, &weights());
    let is_near =
        |(a, b): (&f16, &f16)| (a.to_f32() - b.to_f32()).abs() <= 0.002 * b.to_f32().abs();
    match found.len() == expected.len() && found.iter().zip(&expected).all(is_near) {
        true => "as on the CPU".to_string(),
        false => format!("wrong: {:?} instead of {:?}", &found[..4], &expected[..4]),
    }
}

extern "C" fn wait(_: *mut c_void) {
    std::thread::sleep(Duration::from_millis(50));
}

/// Holds a stream up, so that who does not wait for it is found out.
fn hold_up(stream: &CudaStream) -> Outcome<()> {
    // SAFETY: the function takes no argument.
    unsafe {
        result::stream::launch_host_function(stream.cu_stream(), wait, std::ptr::null_mut())
    }?;
    Ok(())
}

struct Memory {
    x: CudaSlice<f16>,
    w: CudaSlice<f16>,
    out: CudaSlice<f16>,
}

impl Memory {
    fn new(stream: &Arc<CudaStream>) -> Outcome<Memory> {
        let (x, out) = (stream.alloc_zeros(ROWS * D)?, stream.alloc_zeros(ROWS * D)?);
        Ok(Memory { x, w: stream.clone_htod(&weights())?, out })
    }

    fn call(&mut self, stream: &Arc<CudaStream>) -> kernpack::Result<()> {
        let Memory { x, w, out } = self;
        rms_norm::rms(stream, x.tensor([ROWS, D])?, w.tensor([D])?, out.tensor_mut([ROWS, D])?)
            .eps(1e-6)
            .call()
    }
}

/// One stream writes the argument late, another one calls, the first reads the result.
fn order(context: &Arc<CudaContext>) -> Outcome {
    let (writer, caller) = (context.new_stream()?, context.new_stream()?);
    let mut memory = Memory::new(&writer)?;
    let x = numbers(ROWS * D, 11);
    hold_up(&writer)?;
    writer.memcpy_htod(&x, &mut memory.x)?;
    memory.call(&caller)?;
    Ok(shown(&writer.clone_dtoh(&memory.out)?, &x))
}

/// The call is late, and who then writes its argument waits for it.
fn order_behind(context: &Arc<CudaContext>) -> Outcome {
    let (writer, caller) = (context.new_stream()?, context.new_stream()?);
    let mut memory = Memory::new(&writer)?;
    let x = numbers(ROWS * D, 22);
    writer.memcpy_htod(&x, &mut memory.x)?;
    hold_up(&caller)?;
    memory.call(&caller)?;
    writer.memcpy_htod(&numbers(ROWS * D, 33), &mut memory.x)?;
    Ok(shown(&writer.clone_dtoh(&memory.out)?, &x))
}

/// Views of slices, rows apart.
fn part(context: &Arc<CudaContext>) -> Outcome {
    let stream = context.new_stream()?;
    let memory = Memory::new(&stream)?;
    let x = numbers(2 * D, 44);
    let mut all = memory.out;
    stream.memcpy_htod(&x, &mut all.slice_mut(D..3 * D))?;
    let mut out = stream.alloc_zeros::<f16>(2 * D)?;
    let (rows, w) = (all.slice(D..3 * D), memory.w);
    rms_norm::rms(&stream, rows.tensor([2, D])?, w.tensor([D])?, out.tensor_mut([2, D])?).call()?;
    Ok(shown(&stream.clone_dtoh(&out)?, &x))
}

/// A call that is checked once, holds its memory, and lends it between launches: another stream
/// writes the argument late, and reads the result.
fn prepared(context: &Arc<CudaContext>) -> Outcome {
    let (host, stream) = (context.new_stream()?, context.new_stream()?);
    let Memory { x, w, out } = Memory::new(&host)?;
    let (x, w, out) = (x.into_tensor([ROWS, D])?, w.into_tensor([D])?, out.into_tensor([ROWS, D])?);
    let mut prepared = rms_norm::rms(&stream, x, w, out).eps(1e-6).prepare()?;
    let mut outcomes = Vec::new();
    for shift in [88, 99] {
        let x = numbers(ROWS * D, shift);
        hold_up(&host)?;
        host.memcpy_htod(&x, &mut prepared.x_mut())?;
        prepared.call()?;
        outcomes.push(shown(&host.clone_dtoh(prepared.out().memory())?, &x));
    }
    Ok(outcomes.join(", "))
}

/// A graph of a call, launched twice. No event may stand in a graph, so that tracking is off.
fn capture() -> Outcome {
    let context = CudaContext::new(0)?;
    // SAFETY: all that follows is on one stream.
    unsafe { context.disable_event_tracking() };
    let stream = context.new_stream()?;
    let mut memory = Memory::new(&stream)?;
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    let called = memory.call(&stream);
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags)?;
    called?;
    let graph = graph.ok_or("nothing was captured")?;
    let mut outcomes = Vec::new();
    for shift in [55, 66] {
        let x = numbers(ROWS * D, shift);
        stream.memcpy_htod(&x, &mut memory.x)?;
        graph.launch()?;
        outcomes.push(shown(&stream.clone_dtoh(&memory.out)?, &x));
    }
    Ok(outcomes.join(", "))
}

/// A capture while events are tracked: it would have to wait for what was before it.
fn capture_with_events(context: &Arc<CudaContext>) -> Outcome {
    let (writer, stream) = (context.new_stream()?, context.new_stream()?);
    let mut memory = Memory::new(&writer)?;
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    let refused = memory.call(&stream).expect_err("it has to be refused");
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    // The capture is of no use any more.
    let _ = stream.end_capture(flags);
    memory.call(&stream)?;
    Ok(refused.to_string())
}

/// Streams of threads of their own.
fn threads(context: &Arc<CudaContext>) -> Outcome {
    let outcome = |shift| -> Result<String, String> {
        let run = || -> Outcome {
            let stream = context.new_stream()?;
            let mut memory = Memory::new(&stream)?;
            let x = numbers(ROWS * D, shift);
            stream.memcpy_htod(&x, &mut memory.x)?;
            for _ in 0..100 {
                memory.call(&stream)?;
            }
            Ok(shown(&stream.clone_dtoh(&memory.out)?, &x))
        };
        run().map_err(|error| error.to_string())
    };
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|shift| scope.spawn(move || outcome(shift))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    let outcomes: Vec<String> = outcomes.into_iter().collect::<Result<_, _>>()?;
    Ok(outcomes.join(", "))
}

fn refused(context: &Arc<CudaContext>) -> Outcome {
    let stream = context.new_stream()?;
    let memory = Memory::new(&stream)?;
    let mut out = stream.alloc_zeros::<f16>(100)?;
    let (x, w) = (memory.x.slice(..100), memory.w.slice(..100));
    let call =
        rms_norm::rms(&stream, x.tensor([1, 100])?, w.tensor([100])?, out.tensor_mut([1, 100])?);
    let of_call = call.call().expect_err("it has to be refused");
    let of_shape = memory.x.tensor([ROWS, D + 1]).expect_err("there are too few elements");
    Ok(format!("{of_call}\nshape: {of_shape}"))
}

/// Memory of another device, where there is one, and its own with a stream of its own.
fn devices(context: &Arc<CudaContext>) -> Outcome {
    if CudaContext::device_count()? < 2 {
        return Ok("one".to_string());
    }
    let other = CudaContext::new(1)?;
    let (stream, other_stream) = (context.new_stream()?, other.new_stream()?);
    let mut memory = Memory::new(&other_stream)?;
    let refused = memory.call(&stream).expect_err("it has to be refused");
    let x = numbers(ROWS * D, 77);
    other_stream.memcpy_htod(&x, &mut memory.x)?;
    memory.call(&other_stream)?;
    Ok(format!("two, {}, {refused}", shown(&other_stream.clone_dtoh(&memory.out)?, &x)))
}

/// What comes of a call that waits for nobody.
fn unordered() -> Outcome {
    let context = CudaContext::new(0)?;
    // SAFETY: whatever is read, it is memory that was zeroed.
    unsafe { context.disable_event_tracking() };
    order(&context)
}

fn main() -> Outcome<()> {
    if let Err(error) = rms_norm::preload(0).call() {
        println!("loaded ahead: {error}");
        return Err("there is no GPU to go on with".into());
    }
    println!("loaded ahead: accepted");
    if std::env::args().nth(1).as_deref() == Some("--unordered") {
        println!("order: {}", unordered()?);
        return Ok(());
    }
    let context = CudaContext::new(0)?;
    println!("order: {}", order(&context)?);
    println!("order behind: {}", order_behind(&context)?);
    println!("part: {}", part(&context)?);
    println!("prepared: {}", prepared(&context)?);
    println!("threads: {}", threads(&context)?);
    println!("refused: {}", refused(&context)?);
    println!("devices: {}", devices(&context)?);
    println!("capture: {}", capture()?);
    println!("capture with events: {}", capture_with_events(&context)?);
    Ok(())
}
