// SPDX-License-Identifier: Apache-2.0
//! Names of parameters and fields in C and C++. A name that a compiler would read otherwise gets a
//! `_` at its end, and one that begins as the standards keep for themselves gets `arg` in front.
//!
//! Such a name is a keyword of some standard, or a macro of the compiler or of a header, or the
//! generated code needs it itself. A program may include any header before ours, so the macros are
//! those of the C library. Nearly all of them begin with three capitals, and are told by that.

/// The words of C and of C++, up to C23 and C++26, and what GNU compilers add to them.
const KEYWORDS: &str = "
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t
    char32_t char8_t class co_await co_return co_yield compl concept const const_cast consteval
    constexpr constinit continue contract_assert decltype default delete do double dynamic_cast
    else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public
    register reinterpret_cast requires restrict return short signed sizeof static static_assert
    static_cast struct switch template this thread_local throw true try typedef typeid typename
    typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq";

/// Macros that do not look like one: of GNU compilers, of C, of POSIX.
const MACROS: &str = "
    i386 linux unix I assert complex errno imaginary math_errhandling noreturn stderr stdin
    stdout B0 HZ L_ctermid L_cuserid L_tmpnam P_tmpdir d_fileno h_addr h_errno ifa_broadaddr
    ifa_dstaddr s6_addr s6_addr16 s6_addr32 sa_handler sa_sigaction sched_priority si_addr
    si_addr_lsb si_arch si_band si_call_addr si_fd si_int si_lower si_overrun si_pid si_pkey
    si_ptr si_status si_stime si_syscall si_timerid si_uid si_upper si_utime si_value
    sigev_notify_attributes sigev_notify_function st_atime st_ctime st_mtime";

/// The names of plain functions.
const OWN: &str = "
    int8_t int16_t int32_t int64_t message message_size size_t uint8_t uint16_t uint32_t
    uint64_t";

/// Names as C identifiers, each unlike the others; what has no name gets its number.
pub(super) fn identifiers<'n>(names: impl Iterator<Item = Option<&'n str>>) -> Vec<String> {
    let mut identifiers: Vec<String> = Vec::new();
    for (i, name) in names.enumerate() {
        let mut identifier = name.map_or_else(|| format!("_{i}"), str::to_string);
        if is_standards(&identifier) {
            identifier.insert_str(0, "arg");
        } else if is_reserved(&identifier) {
            identifier.push('_');
        }
        while identifiers.contains(&identifier) {
            identifier.push('_');
        }
        identifiers.push(identifier);
    }
    identifiers
}

/// Whether a name is one that the standards keep for compilers and libraries. Some have macros `_X`
/// and `_X_`.
fn is_standards(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next() == Some('_') && chars.next().is_some_and(|c| c == '_' || c.is_ascii_uppercase())
}

fn is_reserved(name: &str) -> bool {
    let mut words = [KEYWORDS, MACROS, OWN].into_iter().flat_map(str::split_whitespace);
    words.any(|word| word == name) || is_shouted(name) || name.starts_with("kernpack_")
}

/// Whether a name begins with three capitals. A digit or an underscore is as good as a capital
/// behind the first.
fn is_shouted(name: &str) -> bool {
    let is_capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let n_capitals = name.chars().take_while(|c| is_capital(*c)).count();
    n_capitals >= 3 && name.starts_with(|c: char| c.is_ascii_uppercase())
}
