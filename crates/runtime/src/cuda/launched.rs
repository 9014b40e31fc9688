// SPDX-License-Identifier: Apache-2.0
//! How the launches of a function were submitted, as text for those who want to know.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use super::kept::{self, Tally};
use super::state::{Area, Launched};
use crate::interface::layout::{Any, ByteArray};
use crate::text::Text;

unsafe extern "C" {
    fn TVMFFIStringFromByteArray(bytes: *const ByteArray, string: *mut Any) -> c_int;
}

/// What is counted of a function.
struct Counts {
    /// How many of its kernels were launched one by one.
    plain: u64,
    /// How many were launched by graphs.
    graph: u64,
    /// How many graphs there are for it.
    graphs: u64,
}

/// Writes down, as a string, how a function's launches were submitted. 0, or -1 where an error is
/// raised.
///
/// # Safety
///
/// The package has that function, and `result` may be written.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kernpack_rt_cuda_launched(function: u32, result: *mut Any) -> i32 {
    let counts = counts(function);
    let mut json = Json::EMPTY;
    json.push(b"{\"plain\": ", counts.plain);
    json.push(b", \"graph\": ", counts.graph);
    json.push(b", \"graphs\": ", counts.graphs);
    json.push_bytes(b"}");
    let bytes = ByteArray { data: json.bytes.as_ptr(), size: json.len };
    // SAFETY: the bytes are there, and the result is as the caller says.
    if unsafe { TVMFFIStringFromByteArray(&raw const bytes, result) } == 0 { 0 } else { -1 }
}

/// What has been counted of the function of that number: nothing before the driver is there.
fn counts(function: u32) -> Counts {
    let Some((area, _)) = Area::ready() else { return Counts { plain: 0, graph: 0, graphs: 0 } };
    let Launched { plain, graph } = area.launched(function);
    let [plain, graph] = [plain, graph].map(|count| count.load(Ordering::Relaxed));
    let Tally { graphs, launched } = kept::count_of(area, function);
    Counts { plain, graph: graph + launched, graphs }
}

/// A text that has room for three numbers with their names.
struct Json {
    bytes: [u8; 128],
    len: usize,
}

impl Json {
    const EMPTY: Json = Json { bytes: [0; 128], len: 0 };

    fn push(&mut self, key: &[u8], count: u64) {
        self.push_bytes(key);
        let mut digits = Text::EMPTY;
        digits.push_uint(count);
        self.push_bytes(digits.as_bytes());
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        for (free, byte) in self.bytes.iter_mut().skip(self.len).zip(bytes) {
            *free = *byte;
            self.len += 1;
        }
    }
}
