// SPDX-License-Identifier: Apache-2.0
//! Described calls as JSON: [`check_described`](super::check_described) says how they are written.

use super::{Described, DescribedTensor};
use kernpack_ffi_abi::{DType, DeviceType};
use serde_json::Value as Json;

/// A call, and where its function runs.
pub(super) struct Call {
    /// The device.
    pub(super) device: DeviceType,
    /// The arguments.
    pub(super) args: Vec<Described>,
}

impl Call {
    /// Reads a call; else says what is wrong.
    pub(super) fn parse(text: &str) -> Result<Call, String> {
        let json: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if !json.is_object() {
            return Err(format!("expected an object with `device` and `args`, found {json}"));
        }
        Ok(Call { device: device_type(&json["device"])?, args: list(&json["args"], value)? })
    }
}

fn value(json: &Json) -> Result<Described, String> {
    Ok(match json {
        Json::Null => Described::None,
        Json::Bool(truth) => Described::Bool(*truth),
        Json::Number(number) => match (number.as_i128(), number.as_f64()) {
            (Some(int), _) => Described::Int(int),
            (None, Some(float)) => Described::Float(float),
            (None, None) => return Err(unexpected("a value", json)),
        },
        Json::String(text) => Described::Text(text.clone()),
        Json::Array(_) => Described::Tuple(list(json, value)?),
        Json::Object(keys) => match keys.iter().next() {
            Some((key, of)) if keys.len() == 1 => named(key, of)?,
            _ => return Err(unexpected("a value", json)),
        },
    })
}

/// The value that an object of one key says.
fn named(key: &str, of: &Json) -> Result<Described, String> {
    Ok(match (key, of) {
        ("shape", _) => Described::Shape(list(of, int)?),
        ("dtype", _) => Described::DType(dtype(of)?),
        ("pointer", _) => {
            Described::Pointer(of.as_u64().ok_or_else(|| unexpected("an address", of))?)
        }
        ("tensor", _) => Described::Tensor(tensor(of)?),
        ("object", Json::Null) => Described::Object,
        ("float", _) if of == "inf" => Described::Float(f64::INFINITY),
        ("float", _) if of == "-inf" => Described::Float(f64::NEG_INFINITY),
        ("float", _) if of == "nan" => Described::Float(f64::NAN),
        _ => return Err(format!("expected a value, found `{key}` of {of}")),
    })
}

fn tensor(json: &Json) -> Result<DescribedTensor, String> {
    let dtype = dtype(&json["dtype"])?;
    let shape = list(&json["shape"], int)?;
    let strides = match &json["strides"] {
        Json::Null => None,
        strides => Some(list(strides, int)?),
    };
    if strides.as_ref().is_some_and(|strides| strides.len() != shape.len()) {
        return Err(unexpected("as many strides as dims", json));
    }
    let device = match &json["device"] {
        Json::Null => None,
        device => {
            let number = device[1].as_i64().and_then(|number| i32::try_from(number).ok());
            let number = number.ok_or_else(|| unexpected("a device and its number", device))?;
            Some((device_type(&device[0])?, number))
        }
    };
    Ok(DescribedTensor { dtype, shape, strides, device, data: None })
}

fn dtype(json: &Json) -> Result<DType, String> {
    let name = json.as_str().ok_or_else(|| unexpected("a dtype", json))?;
    DType::parse(name).ok_or_else(|| format!("`{name}` is no dtype"))
}

fn device_type(json: &Json) -> Result<DeviceType, String> {
    let name = json.as_str().ok_or_else(|| unexpected("a device", json))?;
    let row = DeviceType::TABLE.iter().find(|(_, _, known)| *known == name);
    row.map(|row| row.0).ok_or_else(|| format!("`{name}` is no device"))
}

fn int(json: &Json) -> Result<i64, String> {
    json.as_i64().ok_or_else(|| unexpected("an integer", json))
}

fn list<T>(json: &Json, item: fn(&Json) -> Result<T, String>) -> Result<Vec<T>, String> {
    let items = json.as_array().ok_or_else(|| unexpected("a list", json))?;
    items.iter().map(item).collect()
}

fn unexpected(what: &str, json: &Json) -> String {
    format!("expected {what}, found {json}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A float in a described call is the one that its text says, to the last bit.
    #[test]
    fn floats_are_read_to_the_last_bit() {
        // A step of an odd number through the bits of all floats.
        let floats = (1..20_000_u64).map(|n| f64::from_bits(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        for float in floats.filter(|float| float.is_finite()) {
            let text = format!(r#"{{"device": "cpu", "args": [{float:e}]}}"#);
            let call = Call::parse(&text).unwrap_or_else(|problem| panic!("{problem}"));
            let [Described::Float(read)] = call.args[..] else { panic!("{text}") };
            assert_eq!(read.to_bits(), float.to_bits(), "{text}");
        }
    }
}
