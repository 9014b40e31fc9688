// SPDX-License-Identifier: Apache-2.0
//! Kernels in which each thread loads one element of some tensors, computes a value and stores it:
//! nothing of them is of interest but that value.

use super::input::Input;
use super::numbers::{one_by_one, tuples};
use super::{Argument, Buffer, Case};
use kernpack_kernel_ir::kernel::{Param, ParamKind, Pointer, Value};
use kernpack_kernel_ir::op::{Binary, Load, Store};
use kernpack_kernel_ir::verify::verify;
use kernpack_kernel_ir::{Builder, Kernel, Scalar, Type, expand, intrinsic};

/// The threads of a block.
pub const BLOCK: u32 = 128;

/// A kernel: what its threads load, compute and store.
pub struct OneValue<'s> {
    /// Its symbol.
    pub name: String,
    /// The types of what is loaded.
    pub inputs: &'s [Scalar],
    /// The type of what is stored.
    pub output: Scalar,
}

impl OneValue<'_> {
    /// The kernel, where the operation is defined on these types.
    pub fn kernel(&self, compute: impl FnOnce(&mut Builder, &[Value]) -> Value) -> Option<Kernel> {
        let names = (0..self.inputs.len()).map(|place| format!("x{place}"));
        let inputs = names.zip(self.inputs).map(|(name, scalar)| pointer(&name, *scalar, false));
        let params = inputs.chain([pointer("out", self.output, true)]).collect();
        let mut builder = Builder::new(&self.name, params);
        builder.kernel_mut().block = [Some(BLOCK), Some(1), Some(1)];
        let index = grid_index(&mut builder);
        let mut loaded = Vec::new();
        for (place, scalar) in self.inputs.iter().enumerate() {
            loaded.push(load(&mut builder, Value(place as u32), index, *scalar));
        }
        let value = compute(&mut builder, &loaded);
        store(&mut builder, Value(self.inputs.len() as u32), index, value);
        finish(builder)
    }

    /// A launch of it that takes so many elements of these inputs.
    fn launch(&self, kernel: Kernel, inputs: Vec<Input>, count: usize) -> Case {
        let n_blocks = count.div_ceil(BLOCK as usize);
        let count = n_blocks * BLOCK as usize;
        let zeros = Input::Listed { bits: vec![0], each: 1 };
        let elements = self.inputs.iter().copied().chain([self.output]);
        let buffers = elements.zip(inputs.into_iter().chain([zeros]));
        let buffer = |(element, input)| Argument::Buffer(Buffer { element, count, input });
        Case {
            origin: kernel.name.replace('_', " "),
            kernel,
            grid: [n_blocks as u32, 1, 1],
            block: [BLOCK, 1, 1],
            cluster: [1; 3],
            arguments: buffers.map(buffer).collect(),
        }
    }

    /// A launch with all that numbers of these types can be together; of one operand with more.
    pub fn on_numbers(&self, kernel: Kernel) -> Case {
        let (inputs, count) = match self.inputs {
            [one] => {
                let (input, count) = one_by_one(*one);
                (vec![input], count)
            }
            more => tuples(more),
        };
        self.launch(kernel, inputs, count)
    }

    /// A launch with so many numbers that are drawn.
    pub fn on_drawn(&self, kernel: Kernel, kind: super::input::Drawn, count: usize) -> Case {
        let seeds = 1..=self.inputs.len() as u64;
        let inputs = seeds.map(|seed| Input::Drawn { seed, kind }).collect();
        self.launch(kernel, inputs, count)
    }
}

/// A tensor that a kernel is passed.
pub fn pointer(name: &str, element: Scalar, is_written: bool) -> Param {
    let facts = Pointer { element, align: element.bytes(), is_written, is_alone: false };
    Param { name: name.to_string(), kind: ParamKind::Pointer(facts) }
}

/// What a row of geometry gives.
pub fn ask(builder: &mut Builder, name: &str) -> Value {
    let row = intrinsic::find(name).unwrap_or_else(|| panic!("no row is called `{name}`"));
    builder.call(row, vec![]).unwrap_or_else(|| panic!("`{name}` gives nothing"))
}

/// The thread's index in a grid of one dimension.
pub fn grid_index(builder: &mut Builder) -> Value {
    let [thread, block] = ["thread_idx.x", "block_idx.x"].map(|name| ask(builder, name));
    let size = builder.index(i64::from(BLOCK));
    let first = builder.binary(Binary::Mul, block, size);
    builder.binary(Binary::Add, first, thread)
}

/// The address of an element.
pub fn address(builder: &mut Builder, pointer: Value, index: Value, element: Scalar) -> Value {
    let bytes = builder.index(i64::from(element.bytes()));
    let offset = builder.binary(Binary::Mul, index, bytes);
    builder.offset(pointer, offset)
}

/// An element of a tensor.
pub fn load(builder: &mut Builder, pointer: Value, index: Value, element: Scalar) -> Value {
    let pointer = address(builder, pointer, index, element);
    builder.load(
        element.into(),
        Load { pointer, align: element.bytes(), qualifier: None, guard: None },
    )
}

/// Puts a scalar into a tensor of its type.
pub fn store(builder: &mut Builder, pointer: Value, index: Value, value: Value) {
    let Type::Scalar(element) = builder.ty(value) else { unreachable!("a scalar is stored") };
    let pointer = address(builder, pointer, index, element);
    builder.store(Store {
        pointer,
        value,
        align: element.bytes(),
        qualifier: None,
        condition: None,
    });
}

/// The kernel, if it keeps the rules.
pub fn finish(builder: Builder) -> Option<Kernel> {
    let mut kernel = builder.finish();
    verify(&kernel).ok()?;
    expand(&mut kernel);
    Some(kernel)
}
