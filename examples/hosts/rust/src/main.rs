// SPDX-License-Identifier: Apache-2.0
//! The package is loaded by a Rust program: host table.so calls.txt

mod tensor;

use std::error::Error;
use tensor::{Buffer, parse_extents, set_allocator, tensor_text, values_text};
use tvm_ffi::tvm_ffi_sys::dlpack::DLTensor;
use tvm_ffi::{Any, AnyView, Array, Module, Shape, Tensor, TensorView};

/// An argument of a call.
enum Arg {
    /// Whatever is no tensor.
    Value(Any),
    /// The tensor of that number.
    Tensor(usize),
}

/// The arguments of a call, with the memory that they view.
#[derive(Default)]
struct Arguments {
    args: Vec<Arg>,
    buffers: Vec<Buffer>,
}

impl Arguments {
    fn parse<'w>(words: &mut impl Iterator<Item = &'w str>) -> Arguments {
        let mut arguments = Arguments::default();
        while let Some(word) = words.next() {
            let arg = match Buffer::parse(word) {
                Some(buffer) => {
                    arguments.buffers.push(buffer);
                    Arg::Tensor(arguments.buffers.len() - 1)
                }
                None => Arg::Value(parse_value(word, words)),
            };
            arguments.args.push(arg);
        }
        arguments
    }
}

fn parse_value<'w>(word: &str, words: &mut impl Iterator<Item = &'w str>) -> Any {
    match word {
        "None" => Any::new(),
        "True" | "False" => Any::from(word == "True"),
        "(" => {
            let mut elements = Vec::new();
            while let Some(item) = words.next().filter(|item| *item != ")") {
                elements.push(parse_value(item, words));
            }
            Any::from(Array::new(elements))
        }
        _ => match word.strip_prefix("Shape[").and_then(|rest| rest.strip_suffix(']')) {
            Some(extents) => Any::from(Shape::from(parse_extents(extents))),
            None if word.contains('.') => Any::from(word.parse::<f64>().expect("a float")),
            None => Any::from(word.parse::<i64>().expect("an integer")),
        },
    }
}

/// What comes of a call, in the words of all hosts.
fn outcome(module: &Module, text: &str) -> Result<String, Box<dyn Error>> {
    let mut words = text.split_whitespace();
    let function = module.get_function(words.next().ok_or("an empty line")?)?;
    let mut arguments = Arguments::parse(&mut words);
    let tensors: Vec<DLTensor> = arguments.buffers.iter_mut().map(Buffer::view).collect();
    // SAFETY: the tensors are there until the end of this function.
    let views: Vec<_> =
        tensors.iter().map(|tensor| unsafe { TensorView::from_raw(tensor) }).collect();
    let args: Vec<AnyView<'_>> = arguments
        .args
        .iter()
        .map(|arg| match arg {
            Arg::Value(value) => AnyView::from(value),
            Arg::Tensor(i) => AnyView::from(&views[*i]),
        })
        .collect();
    let result = match function.call_packed(&args) {
        Err(error) => return Ok(format!("{}: {}", error.kind().as_str(), error.message())),
        Ok(result) => result,
    };
    let mut shown = vec!["ok:".to_string()];
    for (tensor, buffer) in tensors.iter().zip(&arguments.buffers) {
        if buffer.is_out {
            // SAFETY: the view of a buffer that is still there.
            shown.push(unsafe { tensor_text(tensor) });
        }
    }
    if let Some(tensor) = result.try_as::<Tensor>() {
        let values = tensor.data_as_slice::<f32>()?;
        shown.push(values_text(values.iter().copied().map(f64::from)));
    }
    Ok(shown.join(" "))
}

fn main() -> Result<(), Box<dyn Error>> {
    let [_, library, calls] = &std::env::args().collect::<Vec<_>>()[..] else {
        return Err("usage: host table.so calls.txt".into());
    };
    set_allocator();
    let module = Module::load_from_file(library)?;
    let calls = std::fs::read_to_string(calls)?;
    let texts = calls.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for (i, text) in texts.enumerate() {
        println!("{:2} {text}\n   {}", i + 1, outcome(&module, text)?);
    }
    Ok(())
}
