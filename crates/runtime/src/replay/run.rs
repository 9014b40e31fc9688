// SPDX-License-Identifier: Apache-2.0
//! Following a program on the arguments of a refused call.
#![expect(unsafe_code, reason = "the arguments and the table come from generated code as pointers")]

use core::ffi::{c_char, c_int, c_void};

use super::{ROW_WORDS, step, value, width};
use crate::fault::{TVMFFIErrorSetRaisedFromCStrParts, TableBytes, kernpack_rt_fault};
use crate::fault_table::{MAX_VALUES, reader::Table};

unsafe extern "C" {
    fn malloc(bytes: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// Raises the fault of the first check that the arguments fail, and returns -1, for the entry point to return in turn.
///
/// # Safety
///
/// `table` and `program` are as the compiler wrote them; `args` points to `num_args` arguments that follow the ABI.
#[unsafe(no_mangle)]
unsafe extern "C" fn kernpack_rt_refuse(
    table: *const u8,
    program: u32,
    args: *const u8,
    num_args: i32,
) -> i32 {
    let words = Table(TableBytes(table));
    let (n_values, n_steps) = (words.word(program), words.word(program + 4));
    let bytes = n_values as usize * size_of::<Slot>();
    // SAFETY: malloc takes any size.
    let slots: *mut Slot = unsafe { malloc(bytes) }.cast();
    if slots.is_null() {
        return raise(c"out of memory while an error was worded");
    }
    for i in 0..n_values as usize {
        // SAFETY: the memory has that many slots. (Clearing it whole would become a call of `calloc`.)
        unsafe { (&raw mut (*slots.add(i)).known).write(0) };
    }
    let values = program + 8;
    let steps = values + 4 * ROW_WORDS * n_values;
    let mut run = Run { words, values, slots, args, num_args };
    let failed = run.steps(steps, n_steps);
    let status = match failed {
        Some((fault, shown)) => {
            // SAFETY: the fault is one of the table's, and `shown` holds as many values as a fault may print.
            unsafe { kernpack_rt_fault(table, fault, shown.as_ptr()) }
        }
        None => raise(c"the arguments changed while they were checked"),
    };
    // SAFETY: malloc gave it, and nothing uses it any more.
    unsafe { free(slots.cast()) };
    status
}

/// Raises an error of the runtime's own.
fn raise(message: &core::ffi::CStr) -> i32 {
    let mut parts: [*const c_char; 1] = [message.as_ptr()];
    // SAFETY: kind and message end with NUL, and there is one part.
    unsafe {
        TVMFFIErrorSetRaisedFromCStrParts(c"RuntimeError".as_ptr(), parts.as_mut_ptr(), 1 as c_int);
    }
    -1
}

/// A value that may have been evaluated.
#[derive(Clone, Copy)]
#[repr(C)]
struct Slot {
    value: i64,
    known: u64,
}

struct Run {
    words: Table<TableBytes>,
    /// Where the program's values lie in the table.
    values: u32,
    slots: *mut Slot,
    args: *const u8,
    num_args: i32,
}

impl Run {
    /// Goes through the steps; the fault of the first that fails, with the values it prints.
    fn steps(&mut self, steps: u32, n_steps: u32) -> Option<(u32, [i64; MAX_VALUES])> {
        let mut at = 0;
        while at < n_steps {
            let [operation, a, b, c] = self.row(steps, at);
            match operation {
                step::REQUIRE if self.value(a) == 0 => return Some((b, self.shown(c))),
                step::WHEN if self.value(a) == 0 => {
                    at = b;
                    let [_, yields, ..] = self.row(steps, at);
                    self.define(yields, 2);
                }
                step::END => self.define(a, 1),
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// The values that a fault prints.
    fn shown(&mut self, list: u32) -> [i64; MAX_VALUES] {
        let mut shown = [0; MAX_VALUES];
        let n_values = self.words.word(list);
        for (place, i) in shown.iter_mut().zip(0..n_values) {
            *place = self.value(self.words.word(list + 4 + 4 * i));
        }
        shown
    }

    /// Defines the first of each three values as the one `from` places behind it.
    fn define(&mut self, list: u32, from: u32) {
        let n_words = self.words.word(list);
        let mut i = 0;
        while i < n_words {
            let at = list + 4 + 4 * i;
            let value = self.value(self.words.word(at + 4 * from));
            self.set(self.words.word(at), value);
            i += 3;
        }
    }

    fn row(&self, start: u32, number: u32) -> [u32; 4] {
        let at = start + 4 * ROW_WORDS * number;
        core::array::from_fn(|i| self.words.word(at + 4 * i as u32))
    }

    fn set(&mut self, number: u32, value: i64) {
        // SAFETY: there is a slot for each value of the program.
        unsafe { *self.slots.add(number as usize) = Slot { value, known: 1 } };
    }

    fn value(&mut self, number: u32) -> i64 {
        // SAFETY: there is a slot for each value of the program.
        let slot = unsafe { *self.slots.add(number as usize) };
        if slot.known != 0 {
            return slot.value;
        }
        let value = self.evaluate(number);
        self.set(number, value);
        value
    }

    fn evaluate(&mut self, number: u32) -> i64 {
        let [operation, a, b, c] = self.row(self.values, number);
        match operation & 0xff {
            value::INT => i64::from(a) | i64::from(b) << 32,
            value::ARGS => self.args as i64,
            value::NUM_ARGS => self.num_args.into(),
            value::LOAD => self.load(operation >> 8, a, b),
            value::AND => {
                if self.value(a) == 0 {
                    0
                } else {
                    self.value(b)
                }
            }
            value::OR => {
                if self.value(a) != 0 {
                    1
                } else {
                    self.value(b)
                }
            }
            value::NOT => (self.value(a) == 0).into(),
            value::SELECT => {
                let chosen = if self.value(a) != 0 { b } else { c };
                self.value(chosen)
            }
            value::FLOAT_BITS => (self.value(a) as f64).to_bits() as i64,
            operation => {
                let (a, b) = (self.value(a), self.value(b));
                binary(operation, a, b)
            }
        }
    }

    fn load(&mut self, kind: u32, base: u32, offset: u32) -> i64 {
        let address = self.value(base).wrapping_add(offset.into()) as usize;
        // SAFETY: the caller vouches for arguments that follow the ABI, and the steps before this one passed.
        unsafe {
            match kind {
                width::U8 => (address as *const u8).read_unaligned().into(),
                width::U16 => (address as *const u16).read_unaligned().into(),
                width::I32 => (address as *const i32).read_unaligned().into(),
                width::U32 => (address as *const u32).read_unaligned().into(),
                _ => (address as *const i64).read_unaligned(),
            }
        }
    }
}

fn binary(operation: u32, a: i64, b: i64) -> i64 {
    match operation {
        value::ADD => a.wrapping_add(b),
        value::SUB => a.wrapping_sub(b),
        value::MUL => a.wrapping_mul(b),
        value::FLOOR_DIV if b > 0 => a.checked_div_euclid(b).unwrap_or(0),
        value::MOD if b > 0 => a.checked_rem_euclid(b).unwrap_or(0),
        value::BIT_AND => a & b,
        value::ADD_OVERFLOWS => a.checked_add(b).is_none().into(),
        value::SUB_OVERFLOWS => a.checked_sub(b).is_none().into(),
        value::MUL_OVERFLOWS => a.checked_mul(b).is_none().into(),
        value::EQ => (a == b).into(),
        value::NE => (a != b).into(),
        value::LT => (a < b).into(),
        value::LE => (a <= b).into(),
        _ => 0,
    }
}
