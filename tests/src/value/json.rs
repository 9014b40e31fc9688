// SPDX-License-Identifier: Apache-2.0
//! Reads recorded calls: JSON lines as `python-tests/reference/generate.py` writes them. A value is
//! an object with one key, its type.

use super::{Arrival, Carrier, Tensor, Value};
use kernpack_ffi_abi::{DType, TypeIndex};
use serde_json::Value as Json;

/// A signature and calls of its function.
#[derive(Debug)]
pub struct Recording {
    /// The signature's text.
    pub signature: String,
    /// The calls.
    pub calls: Vec<RecordedCall>,
}

/// A call and how it should end.
#[derive(Debug)]
pub struct RecordedCall {
    /// The arguments.
    pub args: Vec<Value>,
    /// The error's kind and message; `None` where the call is accepted.
    pub expect: Option<(String, String)>,
}

/// Reads one line.
pub fn parse_recording(line: &str) -> Result<Recording, String> {
    let json: Json = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let calls = list(&json["calls"], &|call| {
        let expect = &call["expect"];
        let expect = match expect {
            Json::Null => None,
            _ => Some((string(&expect["kind"])?, string(&expect["message"])?)),
        };
        Ok(RecordedCall { args: list(&call["args"], &value)?, expect })
    })?;
    Ok(Recording { signature: string(&json["signature"])?, calls })
}

fn value(json: &Json) -> Result<Value, String> {
    let object = json.as_object().filter(|object| object.len() == 1);
    let (key, payload) = object.and_then(|object| object.iter().next()).ok_or_else(|| bad(json))?;
    Ok(match key.as_str() {
        "none" => Value::None,
        "int" => Value::Int(int(payload)?),
        "bool" => Value::Bool(int(payload)?),
        "float" => Value::Float(float(&string(payload)?).ok_or_else(|| bad(payload))?),
        "ptr" => Value::Ptr(word(payload)? as u64),
        "bigint" => Value::BigInt(list(payload, &word)?),
        "object" => Value::Other(int32(payload)?),
        "any" => match &list(payload, &int)?[..] {
            [index, payload] => Value::Inline(*index as i32, *payload as u64),
            _ => return Err(bad(payload)),
        },
        "shape" => Value::Shape(list(payload, &int)?),
        "array" => Value::Array(list(payload, &value)?),
        "list" => Value::List(list(payload, &value)?),
        "str" => text(payload)?,
        "dtype" => Value::Inline(TypeIndex::DATA_TYPE.0, dtype(payload)?.packed().into()),
        "tensor" => Value::Tensor(tensor(payload)?),
        _ => return Err(bad(json)),
    })
}

/// `[65, "72656c75"]`: a type index, and the bytes in hexadecimal digits.
fn text(json: &Json) -> Result<Value, String> {
    let carrier = match int(&json[0])? {
        8 => Carrier::CString,
        11 => Carrier::Any,
        65 => Carrier::Object,
        _ => return Err(bad(json)),
    };
    let digits = string(&json[1])?;
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
    Ok(Value::Str(carrier, bytes.ok_or_else(|| bad(json))?))
}

fn tensor(json: &Json) -> Result<Tensor, String> {
    let arrival = match int(&json["index"])? {
        7 => Arrival::DLTensor,
        70 => Arrival::Tensor,
        _ => return Err(bad(json)),
    };
    let [device, device_id] = list(&json["device"], &int32)?[..] else { return Err(bad(json)) };
    let strides = &json["strides"];
    Ok(Tensor {
        arrival: Some(arrival),
        data: word(&json["data"])? as u64,
        device: (device, device_id),
        dtype: dtype(&json["dtype"])?,
        shape: list(&json["shape"], &int)?,
        strides: if strides.is_null() { None } else { Some(list(strides, &int)?) },
        byte_offset: word(&json["byte_offset"])? as u64,
    })
}

fn dtype(json: &Json) -> Result<DType, String> {
    let [code, bits, lanes] = list(json, &int)?[..] else { return Err(bad(json)) };
    Ok(DType { code: code as u8, bits: bits as u8, lanes: lanes as u16 })
}

fn bad(json: &Json) -> String {
    format!("cannot read `{json}`")
}

fn list<T>(json: &Json, item: &dyn Fn(&Json) -> Result<T, String>) -> Result<Vec<T>, String> {
    json.as_array().ok_or_else(|| bad(json))?.iter().map(item).collect()
}

fn string(json: &Json) -> Result<String, String> {
    json.as_str().map(str::to_string).ok_or_else(|| bad(json))
}

fn int(json: &Json) -> Result<i64, String> {
    json.as_i64().ok_or_else(|| bad(json))
}

fn int32(json: &Json) -> Result<i32, String> {
    int(json)?.try_into().map_err(|_| bad(json))
}

/// 64 bits, written with or without a sign.
fn word(json: &Json) -> Result<i64, String> {
    json.as_i64().or(json.as_u64().map(|word| word as i64)).ok_or_else(|| bad(json))
}

/// A number as Python's `float.hex` writes it: `-0x1.8p+3`, `0x0.0p+0`, `inf`, `nan`.
fn float(text: &str) -> Option<f64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, text),
    };
    let Some(digits) = digits.strip_prefix("0x") else {
        return ["inf", "nan"].contains(&digits).then(|| sign * digits.parse::<f64>().unwrap());
    };
    let (mantissa, exponent) = digits.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let bits = u64::from_str_radix(&format!("{whole}{fraction}"), 16).ok()?;
    let exponent: i32 = exponent.parse().ok()?;
    // In two steps, both exact: the number is a float64, but its scale alone may be too small for
    // one.
    let half = exponent / 2;
    let scaled = bits as f64 * 2f64.powi(-4 * fraction.len() as i32);
    Some(sign * scaled * 2f64.powi(half) * 2f64.powi(exponent - half))
}

#[cfg(test)]
mod tests {
    use super::float;

    #[test]
    fn floats_are_read_exactly() {
        let cases = [
            ("0x1.8000000000000p+1", 3.0),
            ("-0x0.0p+0", -0.0),
            ("0x0.0000000000001p-1022", 5e-324),
            ("0x1.fffffffffffffp+1023", f64::MAX),
            ("-inf", f64::NEG_INFINITY),
        ];
        for (text, value) in cases {
            assert_eq!(float(text).map(f64::to_bits), Some(f64::to_bits(value)), "{text}");
        }
        assert!(float("nan").unwrap().is_nan());
    }
}
