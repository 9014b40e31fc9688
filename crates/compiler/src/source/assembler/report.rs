// SPDX-License-Identifier: Apache-2.0
//! The assembler's reports about kernels, as data.
//!
//! ```text
//! ptxas info    : (C7519) warpgroup.arrive is injected in around line 48 by compiler to allow use of registers in GMMA in function 'mm'
//! ptxas info    : Compiling entry function 'mm' for 'sm_90a'
//! ptxas info    : Function properties for mm
//! ptxas         .     232 bytes stack frame, 232 bytes spill stores, 232 bytes spill loads
//!     232 bytes stack frame, 232 bytes spill stores, 232 bytes spill loads
//! ptxas info    : Used 58 registers, used 1 barriers
//! info    : used 58 registers, used 1 barriers, 232 stack, 1024 bytes smem, 540 bytes cmem[0], 0 bytes lmem
//! ptxas application ptx input, line 23; error   : Unknown modifier '.b33'
//! ```
//!
//! The words are nobody's promise: a line that is not known is kept as it is, and what is not said
//! is nothing. Written out, a report is read again as what it was. What differs from one time to
//! the next, how long it took, is left out. Not here: what becomes of it.

use std::fmt;

/// The assembler's report about one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The needs of the functions, in the assembler's order.
    pub functions: Vec<FunctionReport>,
    /// Whatever else it says.
    pub remarks: Vec<Remark>,
    /// Lines that are none of these.
    pub unknown: Vec<String>,
}

/// The needs of a function. A number that was not told is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionReport {
    /// The symbol.
    pub name: String,
    /// The architecture it was assembled for, as it is named, where it is a kernel.
    pub kernel_for: Option<String>,
    /// Registers of a thread.
    pub registers: Option<u64>,
    /// Barriers of a block.
    pub barriers: Option<u64>,
    /// Local memory of a thread in bytes, what is spilled and all else.
    pub stack_bytes: Option<u64>,
    /// How much is written where registers did not suffice, in bytes of instructions: one in a loop
    /// counts once.
    pub spill_store_bytes: Option<u64>,
    /// How much of that is read again.
    pub spill_load_bytes: Option<u64>,
    /// Shared memory of a block of fixed size in bytes, and what the architecture keeps for itself
    /// where there is some. Nothing before CUDA 12.9.
    pub shared_bytes: Option<u64>,
}

/// Something that the assembler remarks on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// How bad it is.
    pub severity: Severity,
    /// Its code, which tells it from other remarks, such as `C7519`.
    pub code: Option<String>,
    /// The line of the PTX from 1, where one is named.
    pub line: Option<u32>,
    /// The function, where one is named.
    pub function: Option<String>,
    /// The remark in the assembler's words, without its code.
    pub text: String,
    /// Who says so: what stands in front, as `ptxas` or `ptxas application ptx input, line 23;`.
    source: String,
}

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It is as it should be, or it costs time.
    Info,
    /// It may be a mistake.
    Warning,
    /// It is a mistake.
    Error,
    /// It is a mistake, and nothing behind it was looked at.
    Fatal,
}

impl Severity {
    const ALL: [Severity; 4] =
        [Severity::Info, Severity::Warning, Severity::Error, Severity::Fatal];

    /// The assembler's word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
            Severity::Fatal => "fatal",
        }
    }
}

/// The beginning of remarks on lost speed.
const LOSS: &str = "Potential Performance Loss";
/// Remarks on waiting that nobody asked for between instructions of tensor cores.
const INJECTED: [&str; 2] = ["C7517", "C7519"];

impl Remark {
    /// Whether the code is right, and slower than it was meant to be: instructions of tensor cores
    /// wait for one another, or registers are not handed over.
    pub fn is_performance_loss(&self) -> bool {
        let is_injected = self.code.as_deref().is_some_and(|code| INJECTED.contains(&code));
        is_injected || self.text.starts_with(LOSS)
    }
}

impl FunctionReport {
    /// Whether a thread has more values at once than registers.
    pub fn has_spills(&self) -> bool {
        [self.spill_store_bytes, self.spill_load_bytes].iter().flatten().any(|bytes| *bytes > 0)
    }

    /// Local memory of a thread in bytes that is no spilled register: arrays with an index that is
    /// known only when they are used. The assembler does not tell the two apart, so that it is at
    /// least this much.
    pub fn least_local_bytes(&self) -> u64 {
        let spilled = self.spill_store_bytes.unwrap_or(0);
        self.stack_bytes.unwrap_or(0).saturating_sub(spilled)
    }
}

impl Report {
    /// Reads what the assembler wrote. Any text has a report.
    pub fn parse(log: &str) -> Report {
        let mut report = Report::default();
        // The function that the next line is about.
        let mut current = None;
        for line in log.lines().filter(|line| !line.trim().is_empty()) {
            match continued(line) {
                Some(counts) => report.add_counts(current, counts, line),
                None => report.add_line(&mut current, line),
            }
        }
        report
    }

    /// The needs of a function.
    pub fn function(&self, name: &str) -> Option<&FunctionReport> {
        self.functions.iter().find(|function| function.name == name)
    }

    fn add_line(&mut self, current: &mut Option<usize>, line: &str) {
        let Some((source, severity, text)) = split(line) else {
            return self.unknown.push(line.to_string());
        };
        if severity == Severity::Info && is_of_no_use(text) {
            return;
        }
        let about = text.strip_prefix("Compiling entry function ").and_then(two_quoted);
        let properties = text.strip_prefix("Function properties for ");
        if let (Severity::Info, Some((name, arch))) = (severity, about) {
            let at = self.function_at(name);
            self.functions[at].kernel_for = Some(arch.to_string());
            *current = Some(at);
        } else if let (Severity::Info, Some(name)) = (severity, properties) {
            *current = Some(self.function_at(name.trim_end_matches(':').trim_matches('\'')));
        } else if severity == Severity::Info && text.to_ascii_lowercase().starts_with("used ") {
            self.add_counts(*current, text, line);
        } else {
            self.remarks.push(Remark::read(source, severity, text));
        }
    }

    /// The function of that name, which may be new.
    fn function_at(&mut self, name: &str) -> usize {
        let known = self.functions.iter().position(|function| function.name == name);
        known.unwrap_or_else(|| {
            self.functions
                .push(FunctionReport { name: name.to_string(), ..FunctionReport::default() });
            self.functions.len() - 1
        })
    }

    /// Adds `Used 58 registers, used 1 barriers` to a function.
    fn add_counts(&mut self, current: Option<usize>, counts: &str, line: &str) {
        let Some(function) = current.map(|at| &mut self.functions[at]) else {
            return self.unknown.push(line.to_string());
        };
        for count in counts.split(',') {
            let count = count.trim().trim_start_matches("Used ").trim_start_matches("used ");
            let (number, unit) = count.split_once(' ').unwrap_or((count, ""));
            if let (Ok(number), Some(field)) = (number.parse(), function.field(unit)) {
                *field = Some(number);
            }
        }
    }
}

impl FunctionReport {
    /// Where the number of such a unit goes.
    fn field(&mut self, unit: &str) -> Option<&mut Option<u64>> {
        Some(match unit {
            "registers" => &mut self.registers,
            "barriers" => &mut self.barriers,
            "bytes stack frame" | "stack" => &mut self.stack_bytes,
            "bytes spill stores" => &mut self.spill_store_bytes,
            "bytes spill loads" => &mut self.spill_load_bytes,
            "bytes smem" => &mut self.shared_bytes,
            _ => return None,
        })
    }
}

/// The rest of a line that goes on with the one before it: the library marks it with a point, the
/// program with spaces.
fn continued(line: &str) -> Option<&str> {
    let marked = line.split_once(" . ").filter(|(source, _)| source.trim() == "ptxas");
    marked.map(|(_, rest)| rest).or_else(|| line.strip_prefix("    "))
}

/// Who says it, how bad it is, and what it is.
fn split(line: &str) -> Option<(&str, Severity, &str)> {
    let (head, text) = line.split_once(": ")?;
    let head = head.trim_end();
    let severity = |severity: &Severity| {
        let source = head.strip_suffix(severity.word())?;
        let is_word = source.is_empty() || source.ends_with(char::is_whitespace);
        is_word.then_some((source.trim_end(), *severity, text.trim()))
    };
    Severity::ALL.iter().find_map(severity)
}

/// Whether a line says how long something took, or how much memory is global.
fn is_of_no_use(text: &str) -> bool {
    let is_size =
        text.split_once(" bytes gmem").is_some_and(|(size, _)| size.parse::<u64>().is_ok());
    text.starts_with("Compile time = ") || is_size
}

/// The first and the second text in quotes.
fn two_quoted(text: &str) -> Option<(&str, &str)> {
    let mut parts = text.split('\'').skip(1).step_by(2);
    Some((parts.next()?, parts.next()?))
}

impl Remark {
    fn read(source: &str, severity: Severity, text: &str) -> Remark {
        let coded = text.strip_prefix('(').and_then(|rest| rest.split_once(") "));
        let coded = coded.filter(|(code, _)| is_code(code));
        let (code, text) = coded.map_or((None, text), |(code, text)| (Some(code), text));
        let functions = ["in function ", "in the function ", "for function "];
        let function = functions.iter().find_map(|start| {
            let (_, rest) = text.split_once(start)?;
            let end = |c: char| c != '_' && c != '$' && !c.is_ascii_alphanumeric();
            let name = rest.trim_start_matches('\'').split(end).next()?;
            (!name.is_empty()).then(|| name.to_string())
        });
        Remark {
            severity,
            code: code.map(str::to_string),
            line: number_behind(source, ", line ").or_else(|| number_behind(text, " line ")),
            function,
            text: text.to_string(),
            source: source.to_string(),
        }
    }
}

/// `C` and digits.
fn is_code(text: &str) -> bool {
    let digits = text.strip_prefix('C').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn number_behind(text: &str, start: &str) -> Option<u32> {
    let (_, rest) = text.split_once(start)?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// As the assembler writes it.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Behind a function, some of these would be taken for what it needs.
        self.unknown.iter().try_for_each(|line| writeln!(f, "{line}"))?;
        self.remarks.iter().try_for_each(|remark| writeln!(f, "{remark}"))?;
        self.functions.iter().try_for_each(|function| write!(f, "{function}"))
    }
}

/// One line, as the assembler writes it.
impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = if self.source.is_empty() { "" } else { " " };
        write!(f, "{}{space}{:<7} : ", self.source, self.severity.word())?;
        if let Some(code) = &self.code {
            write!(f, "({code}) ")?;
        }
        f.write_str(&self.text)
    }
}

/// Lines as the assembler writes them.
impl fmt::Display for FunctionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(arch) = &self.kernel_for {
            writeln!(f, "ptxas info    : Compiling entry function '{}' for '{arch}'", self.name)?;
        }
        writeln!(f, "ptxas info    : Function properties for {}", self.name)?;
        let memory = [
            (self.stack_bytes, "bytes stack frame"),
            (self.spill_store_bytes, "bytes spill stores"),
            (self.spill_load_bytes, "bytes spill loads"),
        ];
        write_counts(f, "ptxas         .     ", "", &memory)?;
        let used = [
            (self.registers, "registers"),
            (self.barriers, "barriers"),
            (self.shared_bytes, "bytes smem"),
        ];
        write_counts(f, "ptxas info    : ", "used ", &used)
    }
}

/// One line of what is known, or none where nothing is.
fn write_counts(
    f: &mut fmt::Formatter<'_>,
    start: &str,
    verb: &str,
    counts: &[(Option<u64>, &str)],
) -> fmt::Result {
    let known =
        counts.iter().filter_map(|(count, unit)| Some(format!("{verb}{} {unit}", (*count)?)));
    let known: Vec<_> = known.collect();
    if known.is_empty() { Ok(()) } else { writeln!(f, "{start}{}", known.join(", ")) }
}

#[cfg(test)]
mod tests;
