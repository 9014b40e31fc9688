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

/// Writes down, as a string, how a function's launches were submitted. 0, or -1 where an error is
/// raised.
///
/// # Safety
///
/// The package has that function, and `result` may be written.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kernpack_rt_cuda_launched(function: u32, result: *mut Any) -> i32 {
    let [plain, graph, graphs] = counts(function);
    let mut json = Json::EMPTY;
    json.push(b"{\"plain\": ", plain);
    json.push(b", \"graph\": ", graph);
    json.push(b", \"graphs\": ", graphs);
    json.push_bytes(b"}");
    let bytes = ByteArray { data: json.bytes.as_ptr(), size: json.len };
    // SAFETY: the bytes are there, and the result is as the caller says.
    if unsafe { TVMFFIStringFromByteArray(&raw const bytes, result) } == 0 { 0 } else { -1 }
}

/// How many kernels of a function were launched one by one, how many by graphs, and how many graphs
/// it has: nothing before the driver is there.
fn counts(function: u32) -> [u64; 3] {
    let Some((area, _)) = Area::ready() else { return [0; 3] };
    let Launched { plain, graph } = area.launched(function);
    let [plain, graph] = [plain, graph].map(|count| count.load(Ordering::Relaxed));
    let Tally { graphs, launched } = kept::count_of(area, function);
    [plain, graph + launched, graphs]
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
