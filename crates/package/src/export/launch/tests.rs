// SPDX-License-Identifier: Apache-2.0
//! Flags of launches in records.

use super::LayoutRecord;
use kernpack_validators::LaunchFlag;

fn read(keys: &str) -> Result<LayoutRecord, serde_json::Error> {
    serde_json::from_str(&format!(r#"{{"grid":["n"],"block":["32"]{keys}}}"#))
}

#[test]
fn flags_are_keys_of_a_layout() {
    let keys = r#","cluster":["2"],"cooperative":true,"pdl":true,"priority":"1""#;
    let layout = read(keys).unwrap();
    assert!(layout.flags.iter().eq(LaunchFlag::ALL.iter().copied()));
    let text = serde_json::to_string(&layout).unwrap();
    assert_eq!(text, format!(r#"{{"grid":["n"],"block":["32"]{keys}}}"#));
    assert_eq!(
        serde_json::to_string(&read("").unwrap()).unwrap(),
        r#"{"grid":["n"],"block":["32"]}"#
    );
}

#[test]
fn what_a_newer_minor_has_is_ignored() {
    let layout = read(r#","early":true,"late":{"by":[1]},"pdl":true,"cooperative":false"#).unwrap();
    assert!(layout.flags.iter().eq([LaunchFlag::Dependent]));
}

#[test]
fn a_flag_is_true_or_false() {
    let problem = read(r#","pdl":1"#).unwrap_err().to_string();
    assert!(problem.starts_with("invalid type: integer `1`, expected a boolean"), "{problem}");
}
