// SPDX-License-Identifier: Apache-2.0
//! One call: its arguments made as the plan says, the environment set, the function called.
//!
//! Nothing is allocated for views and scalars, unless there are more of them than fit the stack.
//! Arrays, shapes and tensor objects are made for the call, and given back when it ends.

use crate::callee::Callee;
use crate::environment::{Device, EnvAllocator, EnvStream};
use crate::failure::Failure;
use crate::frame::Frame;
use crate::layout::Buffer;
use crate::object::{self, Object};
use crate::plan::{Step, Words};
use crate::room::Room;
use crate::view::{self, Dims, Orders};
use core::ffi::c_void;
use core::ptr;
use kernpack_ffi_abi::TypeIndex;
use kernpack_ffi_abi::layout::{Any, DLTensor};

/// On which platform a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Platform {
    /// The processor, which has no streams.
    Cpu,
    /// A GPU.
    Cuda,
}

/// Makes the call of a frame.
pub(crate) fn run(
    frame: Frame<'_>,
    platform: Platform,
    callee: Callee,
    plan: &[i64],
) -> Result<(), Failure> {
    let stream = match platform {
        Platform::Cpu => None,
        Platform::Cuda => Some(EnvStream::of_call(frame)?),
    };
    let values: Room<Any, 64> = Room::new();
    let views = Room::new();
    let dims = Room::new();
    let mut arguments = Arguments {
        frame,
        device: stream.as_ref().map_or(Device::CPU, EnvStream::device),
        stream: stream.as_ref().map_or(ptr::null_mut(), |stream| stream.stream),
        values: Stack { values: values.take(plan.len()), count: 0 },
        views: &views,
        dims: &dims,
        objects: Vec::new(),
        allocator: None,
    };
    arguments.read(plan)?;
    arguments.call(callee)
}

/// The values that were pushed.
struct Stack<'a> {
    values: &'a mut [Any],
    count: usize,
}

impl Stack<'_> {
    #[inline]
    fn push(&mut self, value: Any) -> Result<(), Failure> {
        let place = self.values.get_mut(self.count);
        *place.ok_or_else(|| Failure::plan("it pushes too much"))? = value;
        self.count += 1;
        Ok(())
    }

    /// The values that were pushed last.
    fn pop(&mut self, count: usize) -> Result<&[Any], Failure> {
        let first = self.count.checked_sub(count);
        let first = first.ok_or_else(|| Failure::plan("it takes back too much"))?;
        let last = core::mem::replace(&mut self.count, first);
        Ok(&self.values[first..last])
    }
}

/// A plan's attributes of the buffer that comes next.
#[derive(Clone, Copy, Default)]
struct Next<'a> {
    orders: Option<Orders<'a>>,
    is_owned: bool,
}

/// The arguments of a call, as they come to be.
struct Arguments<'a> {
    frame: Frame<'a>,
    device: Device,
    stream: *mut c_void,
    values: Stack<'a>,
    views: &'a Room<DLTensor, 48>,
    dims: &'a Dims,
    objects: Vec<Object>,
    allocator: Option<EnvAllocator>,
}

impl<'a> Arguments<'a> {
    #[inline]
    fn read(&mut self, plan: &'a [i64]) -> Result<(), Failure> {
        let mut words = Words::new(plan);
        let mut next = Next::default();
        while let Some((step, operand)) = words.step()? {
            let value = match step {
                Step::Operand => {
                    self.tensor(self.frame.operand(operand)?, core::mem::take(&mut next))?
                }
                Step::Result => {
                    self.tensor(self.frame.result(operand)?, core::mem::take(&mut next))?
                }
                Step::None => any(TypeIndex::NONE, 0),
                Step::Int => any(TypeIndex::INT, words.word()?),
                Step::Bool => any(TypeIndex::BOOL, i64::from(operand != 0)),
                Step::Float => any(TypeIndex::FLOAT, words.word()?),
                Step::DType => any(TypeIndex::DATA_TYPE, operand as i64),
                Step::Text => text(words.take(operand)?)?,
                Step::Stream => any(TypeIndex::OPAQUE_PTR, self.stream as i64),
                Step::Shape => self.shape(operand)?,
                Step::Array => self.array(operand)?,
                Step::Workspace => {
                    self.allocate_from(self.frame.result(operand)?)?;
                    continue;
                }
                Step::View => {
                    next.orders = Some(Orders::new(words.take(2 * operand)?));
                    continue;
                }
                Step::Owned => {
                    next.is_owned = true;
                    continue;
                }
            };
            self.values.push(value)?;
        }
        Ok(())
    }

    /// A buffer.
    #[inline]
    fn tensor(&mut self, buffer: &Buffer, next: Next<'_>) -> Result<Any, Failure> {
        let view = view::tensor(buffer, next.orders, self.device, self.dims)?;
        if next.is_owned {
            return self.hold(object::tensor(&view)?);
        }
        let place: *const DLTensor = self.views.put(view);
        Ok(any(TypeIndex::DL_TENSOR_PTR, place as i64))
    }

    fn array(&mut self, count: usize) -> Result<Any, Failure> {
        let made = object::ARRAY.make(self.values.pop(count)?)?;
        self.hold(made)
    }

    fn shape(&mut self, count: usize) -> Result<Any, Failure> {
        let made = object::SHAPE.make(self.values.pop(count)?)?;
        self.hold(made)
    }

    /// Keeps an object until the call has ended.
    fn hold(&mut self, (object, value): (Object, Any)) -> Result<Any, Failure> {
        self.objects.push(object);
        Ok(value)
    }

    fn allocate_from(&mut self, buffer: &Buffer) -> Result<(), Failure> {
        let view = view::tensor(buffer, None, self.device, self.dims)?;
        let bytes = view::byte_count(buffer);
        self.allocator = Some(EnvAllocator::over(&view, bytes)?);
        Ok(())
    }

    #[expect(unsafe_code, reason = "calls a function with arguments by address")]
    #[inline]
    fn call(&self, callee: Callee) -> Result<(), Failure> {
        let values = &self.values.values[..self.values.count];
        // SAFETY: views, dims and objects live as long as `self`, buffers as long as the frame.
        unsafe { callee.call(values) }
    }
}

#[inline]
fn any(index: TypeIndex, payload: i64) -> Any {
    Any { type_index: index.0, padding: 0, payload }
}

/// A text in the words of a plan, which C reads up to its NUL.
fn text(words: &[i64]) -> Result<Any, Failure> {
    let ends = words.last().is_some_and(|word| word.to_le_bytes().contains(&0));
    if !ends {
        return Err(Failure::plan("a text does not end"));
    }
    Ok(any(TypeIndex::RAW_STR, words.as_ptr() as i64))
}
