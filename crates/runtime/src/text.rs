// SPDX-License-Identifier: Apache-2.0
//! A short C string on the stack, and integers and the beginnings of texts written to it.
//!
//! Floats are in `float`, which is longer than all of this.

/// At most 31 bytes and the NUL that ends them.
///
/// That holds every number this crate prints, the longest being a dtype without a name:
/// `dtype(code=255, bits=255)x65535`, and as much of a text as a message shows. What does not fit
/// is dropped, so that there is nothing to fail.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Text {
    /// Zero from `len` on.
    bytes: [u8; Self::CAPACITY + 1],
    len: u8,
}

impl Text {
    const CAPACITY: usize = 31;
    /// How many characters of a text are shown: quotes and dots fit around them.
    const SHOWN: u8 = 26;

    pub(crate) const EMPTY: Self = Self { bytes: [0; Self::CAPACITY + 1], len: 0 };

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len.into()).unwrap_or_default()
    }

    /// The C string of a text in memory that stays.
    #[cfg(any(test, kernpack_freestanding))]
    pub(crate) fn as_c_str(text: *const Self) -> *const core::ffi::c_char {
        text.cast()
    }

    #[inline(never)]
    pub(crate) fn push(&mut self, byte: u8) {
        if let Some(free) = self.bytes[..Self::CAPACITY].get_mut(usize::from(self.len)) {
            *free = byte;
            self.len += 1;
        }
    }

    pub(crate) fn push_str(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.push(byte));
    }

    pub(crate) fn push_int(&mut self, value: i64) {
        if value < 0 {
            self.push(b'-');
        }
        self.push_uint(value.unsigned_abs());
    }

    pub(crate) fn push_uint(&mut self, value: u64) {
        if value >= 10 {
            self.push_uint(value / 10);
        }
        self.push(b'0' + (value % 10) as u8);
    }

    pub(crate) fn push_hex(&mut self, value: u64) {
        self.push_str("0x");
        self.push_hex_digits(value);
    }

    /// The first characters of a text in quotes, with an escape for each byte that is no printable
    /// ASCII, and dots behind where there is more.
    pub(crate) fn push_quoted(&mut self, bytes: &[u8]) {
        self.push(b'"');
        let end = self.len + Self::SHOWN;
        for &byte in bytes {
            let len = match byte {
                b'"' | b'\\' | b'\n' | b'\t' => 2,
                b' '..=b'~' => 1,
                _ => 4,
            };
            if self.len + len > end {
                self.push_str("\"...");
                return;
            }
            self.push_escaped(byte);
        }
        self.push(b'"');
    }

    fn push_escaped(&mut self, byte: u8) {
        match byte {
            b'"' => self.push_str("\\\""),
            b'\\' => self.push_str("\\\\"),
            b'\n' => self.push_str("\\n"),
            b'\t' => self.push_str("\\t"),
            b' '..=b'~' => self.push(byte),
            _ => {
                self.push_str("\\x");
                self.push_hex_digit(byte / 16);
                self.push_hex_digit(byte % 16);
            }
        }
    }

    fn push_hex_digits(&mut self, value: u64) {
        if value >= 16 {
            self.push_hex_digits(value / 16);
        }
        self.push_hex_digit((value % 16) as u8);
    }

    fn push_hex_digit(&mut self, digit: u8) {
        self.push(if digit < 10 { b'0' + digit } else { b'a' - 10 + digit });
    }
}

#[cfg(test)]
mod tests {
    use super::Text;

    #[track_caller]
    fn expect_text(push: impl FnOnce(&mut Text), expected: &str) {
        let mut text = Text::EMPTY;
        push(&mut text);
        assert_eq!(str::from_utf8(text.as_bytes()), Ok(expected));
    }

    #[test]
    fn integers_at_their_limits() {
        expect_text(|text| text.push_int(0), "0");
        expect_text(|text| text.push_int(-10), "-10");
        expect_text(|text| text.push_int(i64::MIN), "-9223372036854775808");
        expect_text(|text| text.push_int(i64::MAX), "9223372036854775807");
        expect_text(|text| text.push_uint(u64::MAX), "18446744073709551615");
        expect_text(|text| text.push_hex(0), "0x0");
        expect_text(|text| text.push_hex(0x90af), "0x90af");
        expect_text(|text| text.push_hex(u64::MAX), "0xffffffffffffffff");
    }

    #[test]
    fn texts_are_escaped_and_shortened() {
        expect_text(|text| text.push_quoted(b"relu"), "\"relu\"");
        expect_text(|text| text.push_quoted(b""), "\"\"");
        let bytes = b"a\"\\\n\t\0\x7f\xc3\xa9";
        expect_text(|text| text.push_quoted(bytes), r#""a\"\\\n\t\x00\x7f\xc3\xa9""#);
        expect_text(|text| text.push_quoted(&[b'x'; 26]), "\"xxxxxxxxxxxxxxxxxxxxxxxxxx\"");
        expect_text(|text| text.push_quoted(&[b'x'; 27]), "\"xxxxxxxxxxxxxxxxxxxxxxxxxx\"...");
        expect_text(|text| text.push_quoted(&[0xff; 7]), r#""\xff\xff\xff\xff\xff\xff"..."#);
    }

    #[test]
    fn what_does_not_fit_is_dropped_and_the_nul_stays() {
        let mut text = Text::EMPTY;
        for _ in 0..40 {
            text.push(b'x');
        }
        assert_eq!(text.as_bytes(), [b'x'; 31]);
        assert_eq!(text.bytes[31], 0);
    }
}
