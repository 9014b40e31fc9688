// SPDX-License-Identifier: Apache-2.0
//! Reads the text of a call, written much as in Python:
//!
//! ```text
//! scale(Tensor([4, 128], float16, cuda:1, strides=[256, 1], data=0x2000, byte_offset=4, via=DLTensor), 2.5, True, None, [1, List([2])],
//!       Shape([2, 3]), Ptr(0x10), BigInt(18446744073709551615), Object(74), Any(6, 0x300000001), DType(float16), "relu", Str("relu"), RawStr("relu"))
//! ```
//!
//! Of a tensor only shape and dtype must be given. It lies on `cpu`, row-major with strides, at
//! address 0x1000, and is tried as a `DLTensor*` and as a `Tensor` object. `Object(i)` is anything
//! of type index i, and `Any(i, payload)` what is no object, with its payload. A text arrives as a
//! small string where that holds it, and else as an object; as `Str(…)` it is an object, as
//! `RawStr(…)` a `const char*`. Of escapes there are `\"`, `\\`, `\n`, `\t` and `\x00`.

use super::{Arrival, Carrier, Tensor, Value, row_major};
use kernpack_ffi_abi::{DType, DeviceType, TypeIndex};

type Read<T> = Result<T, String>;

/// Reads `name(value, …)`; the name is for readers only.
pub fn parse_call(text: &str) -> Read<Vec<Value>> {
    let mut reader = Reader { rest: text };
    reader.name();
    let values = reader.list("(", ")", Reader::value)?;
    match reader.rest.trim() {
        "" => Ok(values),
        rest => Err(format!("unexpected `{rest}` behind the call")),
    }
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn eat(&mut self, mark: &str) -> bool {
        let trimmed = self.rest.trim_start();
        let found = trimmed.strip_prefix(mark);
        self.rest = found.unwrap_or(trimmed);
        found.is_some()
    }

    fn expect(&mut self, mark: &str) -> Read<()> {
        if self.eat(mark) { Ok(()) } else { Err(format!("expected `{mark}` at `{}`", self.rest)) }
    }

    /// The longest run of characters that names and numbers are made of.
    fn name(&mut self) -> &'t str {
        self.rest = self.rest.trim_start();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '+' | '-');
        let len = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(len);
        self.rest = rest;
        name
    }

    fn list<T>(
        &mut self,
        open: &str,
        close: &str,
        item: impl Fn(&mut Self) -> Read<T>,
    ) -> Read<Vec<T>> {
        self.expect(open)?;
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(item(self)?);
            if !self.eat(",") {
                self.expect(close)?;
                break;
            }
        }
        Ok(items)
    }

    fn parenthesized<T>(&mut self, item: impl Fn(&mut Self) -> Read<T>) -> Read<T> {
        self.expect("(")?;
        let item = item(self)?;
        self.expect(")")?;
        Ok(item)
    }

    fn value(&mut self) -> Read<Value> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with('[') {
            return Ok(Value::Array(self.list("[", "]", Reader::value)?));
        }
        if self.rest.starts_with('"') {
            return Ok(Value::Str(Carrier::Any, self.string()?));
        }
        Ok(match self.name() {
            "Str" => Value::Str(Carrier::Object, self.parenthesized(Reader::string)?),
            "RawStr" => Value::Str(Carrier::CString, self.parenthesized(Reader::string)?),
            "None" => Value::None,
            "True" => Value::Bool(1),
            "False" => Value::Bool(0),
            "List" => Value::List(self.parenthesized(|r| r.list("[", "]", Reader::value))?),
            "Shape" => Value::Shape(self.parenthesized(|r| r.list("[", "]", Reader::int))?),
            "Ptr" => Value::Ptr(self.parenthesized(Reader::address)?),
            "BigInt" => Value::BigInt(words(self.parenthesized(Reader::number)?)),
            "Object" => Value::Other(self.parenthesized(Reader::number)?),
            "Any" => self.parenthesized(Reader::inline)?,
            "DType" => {
                let dtype = self.parenthesized(Reader::dtype)?;
                Value::Inline(TypeIndex::DATA_TYPE.0, dtype.packed().into())
            }
            "Tensor" => Value::Tensor(self.tensor()?),
            number => parse_number(number)?,
        })
    }

    /// The bytes of a text in quotes.
    fn string(&mut self) -> Read<Vec<u8>> {
        self.expect("\"")?;
        let (mut bytes, mut rest) = (Vec::new(), self.rest.bytes());
        loop {
            let byte = rest.next().ok_or("a text is not closed")?;
            let escape = if byte == b'\\' { rest.next() } else { None };
            match (byte, escape) {
                (b'"', _) => break,
                (_, Some(b'n')) => bytes.push(b'\n'),
                (_, Some(b't')) => bytes.push(b'\t'),
                (_, Some(b'x')) => {
                    let digits = [rest.next(), rest.next()].map(Option::unwrap_or_default);
                    let digits = digits.map(char::from).iter().collect::<String>();
                    let byte = u8::from_str_radix(&digits, 16);
                    bytes.push(byte.map_err(|_| format!("`\\x{digits}` is no byte"))?);
                }
                (_, Some(other)) => bytes.push(other),
                (other, None) => bytes.push(other),
            }
        }
        self.rest = &self.rest[self.rest.len() - rest.len()..];
        Ok(bytes)
    }

    fn number<T: std::str::FromStr>(&mut self) -> Read<T> {
        let name = self.name();
        name.parse().map_err(|_| format!("`{name}` is no such number"))
    }

    fn int(&mut self) -> Read<i64> {
        self.number()
    }

    fn inline(&mut self) -> Read<Value> {
        let index = self.number()?;
        self.expect(",")?;
        Ok(Value::Inline(index, self.address()?))
    }

    fn address(&mut self) -> Read<u64> {
        let name = self.name();
        let parsed = match name.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None if name == "NULL" => Some(0),
            None => name.parse().ok(),
        };
        parsed.ok_or_else(|| format!("`{name}` is no address"))
    }

    fn tensor(&mut self) -> Read<Tensor> {
        self.expect("(")?;
        let shape = self.list("[", "]", Reader::int)?;
        self.expect(",")?;
        let dtype = self.dtype()?;
        let strides = Some(row_major(&shape));
        let mut tensor = Tensor { shape, dtype, strides, ..Tensor::default() };
        while self.eat(",") {
            let option = self.name();
            self.option(option, &mut tensor)?;
        }
        self.expect(")")?;
        Ok(tensor)
    }

    fn option(&mut self, option: &str, tensor: &mut Tensor) -> Read<()> {
        if !self.eat("=") {
            tensor.device = self.device(option)?;
            return Ok(());
        }
        match option {
            "strides" if self.eat("NULL") => tensor.strides = None,
            "strides" => tensor.strides = Some(self.list("[", "]", Reader::int)?),
            "data" => tensor.data = self.address()?,
            "byte_offset" => tensor.byte_offset = self.address()?,
            "via" => tensor.arrival = Some(self.arrival()?),
            _ => return Err(format!("a tensor has no option `{option}`")),
        }
        Ok(())
    }

    fn arrival(&mut self) -> Read<Arrival> {
        match self.name() {
            "DLTensor" => Ok(Arrival::DLTensor),
            "Tensor" => Ok(Arrival::Tensor),
            name => Err(format!("a tensor cannot arrive via `{name}`")),
        }
    }

    /// `float32`, `float32x4`, or `dtype(2, 24, 1)`
    fn dtype(&mut self) -> Read<DType> {
        let name = self.name();
        if name == "dtype" {
            let numbers = self.list("(", ")", Reader::number::<u16>)?;
            return match numbers[..] {
                [code, bits, lanes] => Ok(DType { code: code as u8, bits: bits as u8, lanes }),
                _ => Err("a dtype has code, bits and lanes".to_string()),
            };
        }
        let parsed = DType::parse(name).or_else(|| {
            let (name, lanes) = name.rsplit_once('x')?;
            Some(DType { lanes: lanes.parse().ok()?, ..DType::parse(name)? })
        });
        parsed.ok_or_else(|| format!("`{name}` is no dtype"))
    }

    /// `cuda`, `cuda:1`, or `device(99):1`
    fn device(&mut self, name: &str) -> Read<(i32, i32)> {
        let device = match name {
            "device" => self.parenthesized(Reader::number)?,
            _ => {
                let named = DeviceType::TABLE.iter().find(|row| row.2 == name);
                named.ok_or_else(|| format!("`{name}` is no device"))?.0.0
            }
        };
        Ok((device, if self.eat(":") { self.number()? } else { 0 }))
    }
}

fn parse_number(text: &str) -> Read<Value> {
    if let Ok(value) = text.parse() {
        return Ok(Value::Int(value));
    }
    let is_whole = text.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    let float = if is_whole { None } else { text.parse().ok() };
    float.map(Value::Float).ok_or_else(|| format!("`{text}` is no value"))
}

/// The fewest words that hold the number.
fn words(number: i128) -> Vec<i64> {
    let (low, high) = (number as i64, (number >> 64) as i64);
    if i128::from(low) == number { vec![low] } else { vec![low, high] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_reads_as_it_is_written() {
        let text = "f(Tensor([2, 3], float32x4, cuda:1, strides=NULL, data=0x40, via=DLTensor), -1, 2.5, [True, None], Shape([4]), Ptr(NULL), BigInt(18446744073709551615), Object(74), Any(6, 0x10), \"a\\\"\\x00é\", Str(\"\"), RawStr(\"b\"))";
        let tensor = Tensor {
            arrival: Some(Arrival::DLTensor),
            data: 0x40,
            device: (2, 1),
            dtype: DType { lanes: 4, ..DType::FLOAT32 },
            shape: vec![2, 3],
            strides: None,
            byte_offset: 0,
        };
        let values = vec![
            Value::Tensor(tensor),
            Value::Int(-1),
            Value::Float(2.5),
            Value::Array(vec![Value::Bool(1), Value::None]),
            Value::Shape(vec![4]),
            Value::Ptr(0),
            Value::BigInt(vec![-1, 0]),
            Value::Other(74),
            Value::Inline(6, 16),
            Value::Str(Carrier::Any, b"a\"\0\xc3\xa9".to_vec()),
            Value::Str(Carrier::Object, vec![]),
            Value::Str(Carrier::CString, b"b".to_vec()),
        ];
        assert_eq!(parse_call(text), Ok(values));
        assert!(parse_call("f(1) 2").is_err());
        assert!(parse_call("f(Tensor([2], float33))").is_err());
    }
}
