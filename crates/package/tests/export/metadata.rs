// SPDX-License-Identifier: Apache-2.0
//! The record, and what `get_function_metadata` answers.

use crate::{function, norm, package, record_of};
use expect_test::expect;
use kernpack_package::export::{FORMAT, Format, RecordContext, function_metadata, note, record};
use serde_json::Value;

#[test]
fn a_record_says_what_is_inside() {
    let json = serde_json::to_string_pretty(&record_of(&norm())).unwrap();
    expect![[r#"
        {
          "format": "1.3",
          "package": "norm",
          "compiler": "0.1.0",
          "targets": [
            "x86_64-linux-gnu"
          ],
          "sources": "4eb41b28fbea1cf1868ae798c7f93b3dc49b7b25cd9529983bdf718333e71092",
          "exports": [
            "__tvm_ffi_scale",
            "__tvm_ffi__metadata_scale",
            "__tvm_ffi__doc_scale",
            "__tvm_ffi_rows",
            "__tvm_ffi__metadata_rows",
            "__tvm_ffi_rows_out",
            "__tvm_ffi__metadata_rows_out"
          ],
          "imports": {
            "libtvm_ffi": [],
            "libc": []
          },
          "undefined": [
            "expf"
          ],
          "libraries": [
            "libm.so.6",
            "libblas.so.3"
          ],
          "functions": [
            {
              "name": "scale",
              "signature": "scale(x: Tensor([m, n], T, align=16, mut), alpha: float32 = 1.0, mask: Optional[Pointer] = None) where T in {float16, float32}, n % 8 == 0",
              "short": "scale(x: Tensor([m, n], T), alpha: float32, mask: Optional[Pointer])",
              "doc": "Multiplies by alpha.\n\nA comment ends with */, a string with \"\"\".\n",
              "args": [
                "x",
                "alpha",
                "mask"
              ],
              "defaults": {
                "alpha": 1.0,
                "mask": null
              },
              "results": [],
              "workspaces": [
                "ws: Tensor([4*m], uint8, align=128)"
              ],
              "launches": [
                {
                  "kernel": "scale_short",
                  "when": [
                    "n <= 64"
                  ],
                  "args": [
                    "x",
                    "ws",
                    "m*n: int32"
                  ],
                  "returns": "int",
                  "source": {
                    "kind": "host"
                  }
                },
                {
                  "kernel": "scale_{T}",
                  "when": [
                    "n > 64"
                  ],
                  "args": [
                    "x",
                    "ws",
                    "m*n: int32"
                  ],
                  "source": {
                    "kind": "host"
                  }
                }
              ]
            },
            {
              "name": "rows",
              "signature": "rows(x: Tensor([m, n], float32)) -> y: Tensor([m], float32)",
              "short": "rows(x: Tensor([m, n], float32)) -> y: Tensor([m], float32)",
              "doc": null,
              "args": [
                "x"
              ],
              "defaults": {},
              "results": [
                "y: Tensor([m], float32)"
              ],
              "workspaces": [],
              "launches": []
            },
            {
              "name": "rows_out",
              "signature": "rows_out(x: Tensor([m, n], float32), y: Tensor([m], float32, mut))",
              "short": "rows_out(x: Tensor([m, n], float32), y: Tensor([m], float32))",
              "doc": null,
              "args": [
                "x",
                "y"
              ],
              "defaults": {},
              "results": [],
              "workspaces": [],
              "launches": []
            }
          ]
        }"#]].assert_eq(&json);
}

#[test]
fn metadata_is_types_and_the_functions_record() {
    let package = norm();
    let metadata = function_metadata(&package.functions[1], &record_of(&package));
    expect![[r#"{"type_schema":"{\"type\":\"ffi.Function\",\"named_args\":{\"return\":[{\"type\":\"ffi.Tensor\"}],\"params\":[{\"type\":\"ffi.Tensor\"}]}}","kernpack":{"format":"1.3","package":"norm","compiler":"0.1.0","targets":["x86_64-linux-gnu"],"sources":"4eb41b28fbea1cf1868ae798c7f93b3dc49b7b25cd9529983bdf718333e71092","name":"rows","signature":"rows(x: Tensor([m, n], float32)) -> y: Tensor([m], float32)","short":"rows(x: Tensor([m, n], float32)) -> y: Tensor([m], float32)","doc":null,"args":["x"],"defaults":{},"results":["y: Tensor([m], float32)"],"workspaces":[],"launches":[]}}"#]].assert_eq(&metadata);
}

#[test]
fn every_kind_has_a_type_that_tvm_ffi_knows() {
    let cases = [
        (
            "f()",
            expect![[
                r#"{"type":"ffi.Function","named_args":{"return":[{"type":"None"}],"params":[]}}"#
            ]],
        ),
        (
            "f(a: bool, b: int8, c: uint64, d: float16, e: EnvStream)",
            expect![[
                r#"{"type":"ffi.Function","named_args":{"return":[{"type":"None"}],"params":[{"type":"bool"},{"type":"int"},{"type":"int"},{"type":"float"}]}}"#
            ]],
        ),
        (
            "f(a: Shape([n, 2]), p: Pointer, s: Stream)",
            expect![[
                r#"{"type":"ffi.Function","named_args":{"return":[{"type":"None"}],"params":[{"type":"ffi.Shape"},{"type":"void*"},{"type":"void*"}]}}"#
            ]],
        ),
        (
            "f(a: Tuple(int8, x: Tuple(), y: Tuple(bool)))",
            expect![[
                r#"{"type":"ffi.Function","named_args":{"return":[{"type":"None"}],"params":[{"type":"Tuple","args":[{"type":"int"},{"type":"Tuple","args":[]},{"type":"Tuple","args":[{"type":"bool"}]}]}]}}"#
            ]],
        ),
        (
            "f(a: Optional[Tensor([n], int8)], b: Optional[3])",
            expect![[
                r#"{"type":"ffi.Function","named_args":{"return":[{"type":"None"}],"params":[{"type":"Optional","args":[{"type":"ffi.Tensor"}]},{"type":"Optional","args":[{"type":"int"}]}]}}"#
            ]],
        ),
        (
            "f(a: None, b: True, c: -1, d: 0.5)",
            expect![[
                r#"{"type":"ffi.Function","named_args":{"return":[{"type":"None"}],"params":[{"type":"None"},{"type":"bool"},{"type":"int"},{"type":"float"}]}}"#
            ]],
        ),
        (
            "f(a: String, b: Optional[String], c: \"relu\", d: DataType) where d in {int8}",
            expect![[
                r#"{"type":"ffi.Function","named_args":{"return":[{"type":"None"}],"params":[{"type":"ffi.String"},{"type":"Optional","args":[{"type":"ffi.String"}]},{"type":"ffi.String"},{"type":"DataType"}]}}"#
            ]],
        ),
        (
            "f(n: int64) -> x: Tensor([n], int8), y: Tensor([n], int8)",
            expect![[
                r#"{"type":"ffi.Function","named_args":{"return":[{"type":"Tuple","args":[{"type":"ffi.Tensor"},{"type":"ffi.Tensor"}]}],"params":[{"type":"int"}]}}"#
            ]],
        ),
    ];
    for (signature, expected) in cases {
        let package = package(vec![function(signature)]);
        let metadata = function_metadata(&package.functions[0], &record_of(&package));
        let metadata: Value = serde_json::from_str(&metadata).unwrap();
        expected.assert_eq(metadata["type_schema"].as_str().unwrap());
    }
}

#[test]
fn the_digest_tells_sources_apart() {
    let digest = |sources: &[&[u8]]| {
        let target = "x86_64-linux-gnu";
        let context =
            RecordContext { target, sources, undefined: &[], libraries: &[], images: &[] };
        record(&norm(), &context).sources
    };
    assert_eq!(digest(&[b"ab", b"c"]), digest(&[b"ab", b"c"]));
    assert_ne!(digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]));
    assert_eq!(digest(&[]).len(), 64);
}

#[test]
fn a_format_is_major_and_minor() {
    assert_eq!(FORMAT.to_string(), "1.3");
    let parse = |text: &str| Format::try_from(text.to_string());
    assert_eq!(parse("2.10"), Ok(Format { major: 2, minor: 10 }));
    for text in ["", "1", "1.", "a.0", "1.0.0", "99999999999.0"] {
        assert!(parse(text).unwrap_err().starts_with(&format!("`{text}` is no format")));
    }
}

#[test]
fn notes_concatenate() {
    let (one, other) = (record_of(&norm()), record_of(&package(vec![function("f(n: int32)")])));
    let section = [note::encode(&one), note::encode(&other)].concat();
    assert_eq!(note::decode(&section), Ok(vec![one, other]));
    assert_eq!(note::decode(&[]), Ok(vec![]));
}

#[test]
fn notes_are_multiples_of_twelve_bytes() {
    for length in 0..24 {
        let mut record = record_of(&norm());
        record.package = "x".repeat(length);
        assert_eq!(note::encode(&record).len() % 12, 0);
    }
}
