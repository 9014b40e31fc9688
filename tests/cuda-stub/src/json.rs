// SPDX-License-Identifier: Apache-2.0
//! JSON, as far as the log needs it: strings, lists and objects of what is JSON already.

use std::fmt::Write;

/// A string.
pub fn string(text: &str) -> String {
    let mut json = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => json.extend(['\\', character]),
            '\0'..='\x1f' => {
                let _infallible = write!(json, "\\u{:04x}", u32::from(character));
            }
            _ => json.push(character),
        }
    }
    json.push('"');
    json
}

/// A list of values.
pub fn list(values: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", values.into_iter().collect::<Vec<_>>().join(","))
}

/// An object of names and values, in this order.
pub fn object<'a>(fields: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let fields = fields.into_iter().map(|(name, value)| format!("{}:{value}", string(name)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

/// Bytes, two digits each.
pub fn bytes(bytes: &[u8]) -> String {
    string(&bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// The bytes of words.
pub fn words(words: &[u64]) -> String {
    bytes(&words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    #[test]
    fn strings_are_escaped() {
        assert_eq!(super::string("a\"b\\c\nd"), r#""a\"b\\c\u000ad""#);
    }

    #[test]
    fn values_are_put_together() {
        let list = super::list(["1".to_string(), "null".to_string()]);
        let fields = [("a", list), ("b", super::bytes(&[1, 0xff]))];
        assert_eq!(super::object(fields), r#"{"a":[1,null],"b":"01ff"}"#);
    }
}
