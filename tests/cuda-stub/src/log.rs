// SPDX-License-Identifier: Apache-2.0
//! The log: a line of JSON for each call.
//!
//! ```text
//! {"call":"cuStreamCreate","thread":1,"device":0,"args":{"stream":"out","flags":1},"result":"CUDA_SUCCESS","out":{"stream":"stream1"}}
//! ```
//!
//! Handles have names (`context1`), addresses the name of their allocation (`memory2+16`), and what
//! a call wrote stands under `out`. So a log can be replayed: make each call in order, with what
//! earlier calls gave under those names. `device` is that of the current context, before the call.
//! Some calls note more: launches their kernel and the bytes of its arguments (`launch`), copies
//! what they copied. A graph's launch has a list of what it launched (`launches`), each as a launch
//! of its own would have it, and a call that gives a node something to do has that (`node`) in the
//! same form, with no stream. A call that connects nodes says how (`edges`). What would have ended
//! the process has a `crash`, and a call on an executable graph that began while another was at
//! work on it has `"overlaps":true`. A call that failed because the stub was told so has
//! `"told":true`. Where stacks are told, `stack` lists the files through which a call came, from
//! the stub outwards.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// The lines that nobody took yet.
#[derive(Debug)]
pub struct Log {
    lines: String,
    file: Option<File>,
}

impl Log {
    /// A log, which goes to a file as well if one is named and can be opened.
    pub fn new(path: Option<&Path>) -> Log {
        let file =
            path.and_then(|path| OpenOptions::new().create(true).append(true).open(path).ok());
        Log { lines: String::new(), file }
    }

    /// One more line.
    pub fn write(&mut self, line: &str) {
        self.lines.push_str(line);
        self.lines.push('\n');
        if let Some(file) = &mut self.file {
            // A log that cannot be written must not change what the program under test does.
            let _result = writeln!(file, "{line}");
        }
    }

    /// The lines, which stay.
    pub fn lines(&self) -> &str {
        &self.lines
    }

    /// Forgets the lines.
    pub fn clear(&mut self) {
        self.lines.clear();
    }
}
