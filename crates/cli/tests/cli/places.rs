// SPDX-License-Identifier: Apache-2.0
//! Packages that are refused, and where: each problem has a code that the documents list, and
//! stands at the piece of the package file that it is about. All of them are told at once, and
//! nothing that follows from another.
//!
//! A row of a table is a package file, `;;` standing for the end of a line, and what is told of it:
//! the code of each problem with the text under its first label.

use crate::bench::Bench;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Signatures.
const SIGNATURES: &str = r"
f(x: Tensor([n], flot32)) => unknown-dtype: flot32
f(x) => syntax: )
f(x: Tensor([n], float32) => syntax: '
é(x: int32) => bad-character: é
f(x: Tensor([n+], int8)) => syntax: ]
f(x: int32 = 99999999999999999999) => bad-number: 99999999999999999999
f(x: int32 = 12ab) => bad-number: 12ab
f(x: int32, x: int8) => name-clash: x
kind(x: int32) => reserved-name: kind
f(int32: int32) => reserved-name: int32
f(x: int32) where m > 1 => unbound-symbol: m
f(x: Tensor([*a, *b], int8)) => two-stars: [
f(n: int32) where abs(n) > 1 => unknown-function: abs
f(x: Tensor([n], int8)) where x.shape[2] > 1 => unknown-field: x.shape[2]
f(n: int32) where noalias(n, n) => unknown-tensor: noalias(n, n)
f(x: complex64) => scalar-dtype: complex64
f(x: Tensor([n], T)) => dtype-variable: T
f(x: Tensor([n], int8)) where T in {int8} => unused-dtype-variable: T in {int8}
f(x: Tensor([n], T)) where T in {int8}, T in {int16} => dtype-rules: T in {int8}
f(x: Tensor([n], T), y: Tensor([n], U)) where (T, U) in {(int8, int8, int8)} => bad-combination: {
f(x: Tensor([n], int8, strides=[1, 2])) => tensor-options: Tensor([n], int8, strides=[1, 2])
f(x: Tensor([n], int8, align=2, align=4)) => repeated-option: align
f(x: Tensor([n], int8, align=12)) => bad-alignment: 12
f(x: Tensor([-1], int8)) => negative-dim: -
f(x: Optional[EnvStream]) => optional: EnvStream]
f(x: Tuple[EnvStream]) => syntax: [
f(x: int8 = 300) => default: x
f(x: int8 = 1, y: int8) => default: y
f(x: Tensor([n], int8)) -> y: Tensor([n], int8, order=col) => result: y
f(n: int32) where n in {} => impossible-rule: {
f(n: int32) where 1 < 2 => constant-rule: 1 < 2
f(n: int32) where n % 0 == 0 => bad-divisor: 0
f(e: float32, n: int32) where e > n => float-rule: e
f(x: Tensor([n], int8, {})) => syntax: {
f() -> y: Tensor([4], int8) => unwritten-result: y
f(x: Tensor([n], int8) where n > 1 => syntax: where
f(x: Optional[Tensor([k], float32)], y: Tensor([2*k], float32)) => optional-symbol: k
f(a: Tensor([m, n], float32, strides=[s, 1]), b: Tensor([s*2 - m], float32)) => stride-symbol: s
f(p: Tuple(EnvStream)) => tuple-element: EnvStream
f(x: Tensor([n], int8, device={cuda, cuda})) => bad-device: {
f(x: Tensor([n], T), y: Tensor([n], U)) where T in {int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool}, U in {int8, int16, int32, int64, uint8, uint16, uint32, uint64} => too-many-dtypes: T
f(x: Tensor([n], int8, {cpu, cpu})) => syntax: {
f(x: Tensor([n], int8, cpu, peer)) => syntax: cpu
f(n: int32, x: Tensor([n/2], int8), m: int32) where n < 0, m == m => bad-character: /
";

/// Whole files.
const WHOLE: &str = r"
[package] => missing-key: [package] | empty-package: package
x = 1 => missing-key: x | empty-package: x | unknown-key: x
[package] ;; name = 'p => toml: \n
PACKAGE => empty-package: package
PACKAGE ;; function = 1 => empty-package: package | unknown-key: function
PACKAGE ;; functions = 1 => empty-package: package | unknown-key: functions
[package] ;; name = 1 ;; FUNCTION => value-type: 1
[package] ;; name = 'my p' ;; FUNCTION => bad-name: 'my p'
[package] ;; name = 'kernpack' ;; FUNCTION => reserved-name: 'kernpack'
PACKAGE ;; link = 'x' ;; FUNCTION => value-type: 'x'
PACKAGE ;; link = ['a/b'] ;; FUNCTION => bad-name: 'a/b'
PACKAGE ;; link = [''] ;; FUNCTION => bad-name: ''
PACKAGE ;; link = [1] ;; FUNCTION => value-type: 1
PACKAGE ;; submit = 'graf' ;; FUNCTION => bad-value: 'graf'
PACKAGE ;; submit = true ;; FUNCTION => value-type: true
PACKAGE ;; FUNCTION ;; submit = 'plain' => conflict: submit
PACKAGE ;; FUNCTION ;; submit = 'plain' ;; lanch = { grid = [1] } => unknown-key: lanch
PACKAGE ;; FUNCTION ;; submits = 'plain' => unknown-key: submits
[package] ;; nam = 'p' ;; name = 'p' ;; FUNCTION => unknown-key: nam
PACKAGE ;; [[function]] => missing-key: [[function]]
PACKAGE ;; [[function]] ;; signature = 1 => value-type: 1
PACKAGE ;; FUNCTION ;; doc = 1 => value-type: 1
PACKAGE ;; FUNCTION ;; workspace = { w = 'Tensor([n], int8)' } ;; workspaces = 1 => unknown-key: workspaces
PACKAGE ;; FUNCTION ;; workspace = { w = 'Tensor([k], int8)' } => unbound-symbol: k
PACKAGE ;; FUNCTION ;; workspace = 'w' => value-type: 'w'
PACKAGE ;; FUNCTION ;; workspace = { '1w' = 'Tensor([n], int8)' } => bad-name: '1w'
PACKAGE ;; FUNCTION ;; workspace = { w = 'Tensor([n], int8, order=col)' } => workspace: 'Tensor([n], int8, order=col)'
PACKAGE ;; FUNCTION ;; FUNCTION => name-clash: f
PACKAGE ;; FUNCTION ;; launch = 1 => value-type: 1
PACKAGE ;; FUNCTION ;; launch = { grid = [1] } => missing-key: launch
PACKAGE ;; FUNCTION ;; grid = [1] => unknown-key: grid
PACKAGE ;; [[function]] ;; signature = 'f(x: Tensor([n], float32)) -> y: Tensor([n], float32)' ;; [[function]] ;; signature = 'f_out(n: int32)' => unwritten-result: y | name-clash: f_out
PACKAGE ;; [[function]] ;; signature = 'f(x: Tensor([n], T)) where T in {int4, int8}' ;; source = { cuda = 'ok.cu' } ;; kernel = 'ok<{T}>' ;; args = ['x'] ;; LAYOUT => dtype-name: T
PACKAGE ;; [[function]] ;; signature = 'f(x: Tensor([*b, n], float32, strides=any))' ;; source = { host = 'ok.c' } ;; kernel = 'ok' ;; args = ['x', 'b.numel'] => strided-star: 'b.numel'
PACKAGE ;; [[function]] ;; signature = 'f(s: Shape([n]))' ;; source = { host = 'ok.c' } ;; kernel = 'ok' => missing-key: [[function]]
PACKAGE ;; FUNCTION ;; source = { cubin = 'three.cubin' } ;; kernel = 'none' ;; LAYOUT => kernel-params: [[function]]
PACKAGE ;; FUNCTION ;; kernel = 'ok' => missing-key: [[function]]
PACKAGE ;; FUNCTION ;; [[function.launch]] ;; source = { host = 'ok.c' } ;; kernel = 'ok' ;; args = ['x'] ;; [[function.launch]] ;; source = { host = 'ok.c' } ;; kernel = 'none' ;; args = ['x'] => missing-kernel: 'none'
PACKAGE ;; FUNCTION ;; source = { host = 'bad.c' } ;; kernel = 'ok' ;; args = ['x'] ;; [[function]] ;; signature = 'g(x: int33)' ;; source = { host = 'missing.c' } ;; kernel = 'g' ;; args = ['x'] => c-compiler: 'bad.c' | syntax: int33 | source-file: 'missing.c'
PACKAGE ;; FUNCTION ;; source = { host = 'lost.c' } ;; kernel = 'ok' ;; args = ['x'] ;; [[function]] ;; signature = 'g(x: int32)' ;; args = [] => undefined-symbol: 'lost.c' | missing-key: [[function]] | missing-key: [[function]]
PACKAGE ;; FUNCTION ;; source = { host = 'lost.c' } ;; kernel = 'ok' ;; args = ['x'] ;; [[function]] ;; signature = 'g(n: int32)' ;; source = { host = 'missing.c' } ;; kernel = 'ok' ;; args = [] => undefined-symbol: 'lost.c' | source-file: 'missing.c'
PACKAGE ;; FUNCTION ;; source = { host = 'own.c' } ;; kernel = 'ok' ;; args = ['x'] ;; [[function]] ;; signature = 'g(n: int32)' ;; source = { host = 'ok.c' } ;; kernel = 'no' ;; args = [] => undefined-symbol: 'own.c' | missing-kernel: 'no'
PACKAGE ;; FUNCTION ;; source = { host = 'later.c' } ;; kernel = 'ok' ;; args = ['x'] ;; [[function]] ;; signature = 'g(n: int32)' ;; source = { host = 'bad.c' } ;; kernel = 'no' ;; args = [] => later-symbol: 'later.c' (warning) | c-compiler: 'bad.c'
[package] ;; name = 'a b' ;; FUNCTION ;; source = { ptx = 'one.ptx' } ;; kernel = 'two' ;; LAYOUT => bad-name: 'a b' | missing-kernel: 'two'
[package] ;; name = 'a b' ;; FUNCTION ;; source = { host = 'lost.c' } ;; kernel = 'ok' ;; args = ['x'] => bad-name: 'a b' | undefined-symbol: 'lost.c'
FUNCTION ;; source = { host = 'lost.c' } ;; kernel = 'ok' ;; args = ['x'] ;; [[function]] ;; signature = 'g(x: Tensor([n], float32, mut))' ;; source = { ptx = 'one.ptx' } ;; kernel = 'one' ;; args = [] ;; LAYOUT => missing-key: [ | kernel-params: 'one'
PACKAGE ;; FUNCTION ;; source = { host = 'ok.c' } ;; kernel = 'ok' ;; args = ['x'] ;; FUNCTION ;; source = { ptx = 'one.ptx' } ;; kernel = 'two' ;; args = [] ;; LAYOUT => name-clash: f
PACKAGE ;; link = ['libnone.so.1', 'a/b'] ;; FUNCTION ;; source = { host = 'lost.c' } ;; kernel = 'ok' ;; args = ['x'] => bad-name: 'a/b'
";

/// Sources of host functions, with what stands beside `source` where that matters.
const HOST: &str = r"
1 => value-type: 1
{} => missing-key: {}
[] => bad-value: []
{ host = [] } => bad-value: []
{ host = ['ok.c', 'ok.c'] } => conflict: 'ok.c'
{ host = 'ok.c', cuda = 'ok.cu' } => conflict: cuda
{ host = 'good.o', define = { W = '1' } } => conflict: define
{ host = 'ok.c', options = ['-flto'] } => bad-value: '-flto'
{ host = 'ok.c', options = ['-m32'] } => bad-value: '-m32'
{ host = 'ok.c', define = { '1' = '1' } } => bad-name: '1'
{ host = 'ok.c', kernel = 'ok' } => unknown-key: kernel
{ host = 'ok.c', arch = 'sm_80' } => unknown-key: arch
{ host = 'missing.c' } => source-file: 'missing.c'
{ host = ['ok.c', 'missing.o'] } => source-file: 'missing.o'
{ host = 'none.cpp' } => source-file: 'none.cpp'
{ host = 'empty.o' } => source-file: 'empty.o'
{ host = 'empty.a' } => source-file: 'empty.a'
{ host = 'junk.o' } => host-object: 'junk.o'
{ host = ['ok.c', 'junk.a'] } => host-object: 'junk.a'
{ host = 'bad.c' } => c-compiler: 'bad.c'
{ host = ['ok.c', 'bad.c'] } => c-compiler: 'bad.c'
{ host = 'other.o' } => host-object: 'other.o'
{ host = ['ok.c', 'two.c'] } => host-object: 'ok.c'
{ host = ['warned.c', 'lost.c'] } ;; kernel = 'lost' ;; args = [] => missing-kernel: 'lost'
{ host = 'lost.c' } => undefined-symbol: 'lost.c'
{ host = 'own.c' } => undefined-symbol: 'own.c'
{ host = 'ok.c', options = ['--no-such-option'] } => c-compiler: 'ok.c'
{ host = 'ok.c' } ;; kernel = 'none' ;; args = ['x'] => missing-kernel: 'none'
{ host = 'ok.c' } ;; symbol = 'none' ;; args = ['x'] => missing-kernel: 'none'
{ host = 'ok.c' } ;; args = ['x'] => missing-key: [[function]]
{ host = 'ok.c' } ;; kernel = 'ok' ;; symbol = 'ok' ;; args = ['x'] => conflict: symbol
{ host = 'ok.c' } ;; kernel = 'o k' ;; args = ['x'] => bad-name: 'o k'
{ host = 'ok.c' } ;; kernel = 'ok_{T}' ;; args = ['x'] => kernel-template: T
{ host = 'ok.c' } ;; kernel = 'ok_{' ;; args = ['x'] => kernel-template: {
{ host = 'ok.c' } ;; kernel = 'ok' ;; args = 'x' => value-type: 'x'
{ host = 'ok.c' } ;; kernel = 'ok' ;; args = ['z'] => unbound-symbol: z
{ host = 'ok.c' } ;; kernel = 'ok' ;; args = ['n: int33'] => syntax: int33
{ host = 'ok.c' } ;; kernel = 'ok' ;; args = ['x: int32'] => unbound-symbol: x
{ host = 'ok.c' } ;; kernel = 'ok' ;; args = ['x'] ;; returns = 'float' => bad-value: 'float'
{ host = 'ok.c' } ;; kernel = 'ok' ;; args = ['x'] ;; launch = { grid = [1] } => conflict: grid
{ host = 'ok.c' } ;; kernel = 'ok' ;; args = ['x'] ;; submit = 'auto' => conflict: submit
{ host = 'ok.c' } ;; kernel = 'ok' ;; args = ['tma(x, box=[8])'] => tensor-map: 'tma(x, box=[8])'
";

/// Sources of GPU code.
const GPU: &str = r"
{ ptx = 'missing.ptx' } => source-file: 'missing.ptx'
[{ ptx = 'one.ptx' }, { cubin = 'missing.cubin' }] => source-file: 'missing.cubin'
{ ptx = 'empty.ptx' } => gpu-image: 'empty.ptx'
{ kernel = 'k.py' } => source-file: 'k.py'
{ kernel = 'k.py', cuda = 'ok.cu' } => unknown-key: kernel
{ cubin = 'junk.cubin' } => gpu-image: 'junk.cubin'
{ fatbin = 'junk.fatbin' } => gpu-image: 'junk.fatbin'
{ ptx = 'junk.ptx' } => gpu-image: 'junk.ptx'
{ ptx = 'bad.ptx' } => gpu-image: 'bad.ptx'
{ cubin = 'short.cubin' } => gpu-image: 'short.cubin'
{ cubin = 'good.o' } => gpu-image: 'good.o'
{ cubin = 'one.ptx' } => source-file: 'one.ptx'
{ ptx = 'three.cubin' } => source-file: 'three.cubin'
{ cubin = 'three.cubin', arch = 'sm_80' } => source-file: 'sm_80'
{ cubin = 'three.cubin', arch = 'sm90' } => bad-value: 'sm90'
[{ ptx = 'one.ptx' }, { ptx = 'same.ptx' }] => source-file: 'same.ptx'
[{ ptx = 'one.ptx' }, { host = 'ok.c' }] => value-type: { host = 'ok.c' }
{ cubin = 'three.cubin' } ;; kernel = 'two' ;; args = ['x'] ;; LAYOUT => missing-kernel: 'two'
{ ptx = 'one.ptx' } ;; kernel = 'two' ;; args = ['x'] ;; LAYOUT => missing-kernel: 'two'
{ fatbin = 'three.fatbin' } ;; kernel = 'one<int>' ;; args = ['x'] ;; LAYOUT => kernel-name: 'one<int>'
{ cubin = 'three.cubin' } ;; kernel = 'one' ;; args = [] ;; LAYOUT => kernel-params: 'one'
{ cubin = 'three.cubin' } ;; kernel = 'one' ;; args = ['n: int32'] ;; LAYOUT => kernel-params: 'n: int32'
{ cubin = 'three.cubin' } ;; kernel = 'one' ;; args = ['x', 'n'] ;; LAYOUT => kernel-params: 'x', 'n'
{ cubin = 'three.cubin' } ;; kernel = 'map' ;; args = ['tma(x, box=[8])', 'n'] ;; LAYOUT => kernel-params: 'n'
{ cuda = 'missing.cu' } ;; kernel = 'ok' ;; args = ['x'] ;; LAYOUT => source-file: 'missing.cu'
{ cuda = 'bad.cu' } ;; kernel = 'ok' ;; args = ['x'] ;; LAYOUT => cuda-compiler: 'bad.cu'
{ cuda = 'ok.cu' } ;; kernel = 'no' ;; args = ['x'] ;; LAYOUT => missing-kernel: 'no'
{ cuda = 'ok.cu' } ;; kernel = 'ok' ;; args = ['x', 'n'] ;; LAYOUT => kernel-params: 'x', 'n'
{ cuda = 'ok.cu', arch = ['sm_80', 'sm_60'] } ;; kernel = 'ok' ;; args = ['x'] ;; LAYOUT => cuda-compiler: 'sm_60'
{ cuda = 'ok.cu', arch = [] } ;; kernel = 'ok' ;; args = ['x'] ;; LAYOUT => bad-value: []
{ cuda = 'ok.cu', arch = ['sm_80', 'sm_80'] } ;; kernel = 'ok' ;; args = ['x'] ;; LAYOUT => conflict: 'sm_80'
{ cuda = 'ok.cu', arch = ['compute_9'] } ;; kernel = 'ok' ;; args = ['x'] ;; LAYOUT => bad-value: 'compute_9'
{ cuda = 'ok.cu', options = ['-use_fast_math', '-arch=sm_80'] } ;; kernel = 'ok' ;; args = ['x'] ;; LAYOUT => cuda-compiler: '-arch=sm_80'
{ cuda = 'ok.cu', options = ['--no-such'] } ;; kernel = 'ok' ;; args = ['x'] ;; LAYOUT => cuda-compiler: 'ok.cu'
{ cuda = 'nul.cu' } ;; kernel = 'ok' ;; args = ['x'] ;; LAYOUT => cuda-compiler: 'nul.cu'
{ cuda = 'ok.cu', line_info = 1 } ;; kernel = 'ok' ;; args = ['x'] ;; LAYOUT => value-type: 1
{ ptx = 'one.ptx' } ;; kernel = 'one' ;; args = ['x'] => missing-key: [[function]]
{ ptx = 'one.ptx' } ;; kernel = 'one' ;; args = ['x'] ;; launch = { grid = [1] } => missing-key: { grid = [1] }
{ ptx = 'one.ptx' } ;; kernel = 'one' ;; args = ['x'] ;; launch = { grid = [1], block = [0] } => launch-range: 0
{ ptx = 'one.ptx' } ;; kernel = 'one' ;; args = ['x'] ;; launch = { grid = [1], block = [64, 64] } => launch-range: 64, 64
{ ptx = 'one.ptx' } ;; kernel = 'one' ;; args = ['x'] ;; launch = { grid = [1, 1, 1, 1], block = [1] } => bad-value: [1, 1, 1, 1]
{ ptx = 'one.ptx' } ;; kernel = 'one' ;; args = ['x'] ;; launch = { grid = ['k'], block = [1] } => unbound-symbol: k
{ ptx = 'one.ptx' } ;; kernel = 'one' ;; args = ['x'] ;; launch = { grid = [1], block = [1], attr = { stream = 's' } } => launch: 's'
{ ptx = 'one.ptx' } ;; kernel = 'one' ;; args = ['x'] ;; returns = 'int' ;; LAYOUT => conflict: returns
{ ptx = 'one.ptx' } ;; kernel = 'one' ;; args = ['x'] ;; submit = 'graphs' ;; LAYOUT => bad-value: 'graphs'
{ ptx = 'one.ptx' } ;; kernel = 'one' ;; args = ['x'] ;; submit = ['graph'] ;; LAYOUT => value-type: ['graph']
{ ptx = 'one.ptx', submit = 'graph' } ;; kernel = 'one' ;; args = ['x'] ;; LAYOUT => unknown-key: submit
{ ptx = 'one.ptx' } ;; kernel = 'one' ;; args = ['x'] ;; launch = { grid = [1], block = [1], submit = 'graph' } => unknown-key: submit
{ ptx = 'one.ptx' } ;; kernel = 'one' ;; args = ['tma(x, box=[3000])'] ;; LAYOUT => tensor-map: 3000
";

/// Files of Triton's.
const TRITON: &str = r"
{ triton = 'missing.cubin' } ;; args = ['x'] ;; launch = { grid = [1] } => source-file: 'missing.cubin'
{ triton = 'alone.cubin' } ;; args = ['x'] ;; launch = { grid = [1] } => triton: 'alone.cubin'
{ triton = 'add.cubin', json = 'missing.json' } ;; args = ['x'] ;; launch = { grid = [1] } => triton: 'missing.json'
{ triton = 'add.cubin', json = 'junk.json' } ;; args = ['x'] ;; launch = { grid = [1] } => triton: 'junk.json'
{ triton = 'add.cubin', json = 'list.json' } ;; args = ['x'] ;; launch = { grid = [1] } => triton: 'list.json'
{ triton = 'add.cubin', json = 'warps.json' } ;; args = ['x'] ;; launch = { grid = [1] } => triton: 'warps.json'
{ triton = 'add.cubin', json = 'old.json' } ;; args = ['x'] ;; launch = { grid = [1] } => triton: 'old.json'
{ triton = 'add.cubin', json = 'profile.json' } ;; args = ['x', 'x', 'n: int32'] ;; launch = { grid = [1] } => triton: 'profile.json'
{ triton = 'add.cubin' } ;; args = ['x', 'x'] ;; launch = { grid = [1] } => kernel-params: 'x', 'x'
{ triton = 'add.cubin' } ;; kernel = 'plus' ;; args = ['x', 'x', 'n: int32'] ;; launch = { grid = [1] } => triton: 'plus'
{ triton = 'add.cubin', arch = 'sm_80' } ;; args = ['x', 'x', 'n: int32'] ;; launch = { grid = [1] } => source-file: 'sm_80'
{ triton = 'add.cubin' } ;; args = ['x', 'tma(x)', 'n: int32'] ;; launch = { grid = [1] } => triton: 'tma(x)'
{ triton = 'shift.cubin' } ;; args = ['x', 'x', 'n'] ;; launch = { grid = [1] } => triton: 'x'
{ triton = 'shift.cubin', json = 'add.json' } ;; args = ['x', 'x', 'n'] ;; launch = { grid = [1] } => missing-kernel: 'add.json'
{ triton = 'add.cubin' } ;; args = ['x', 'x', 'n: int32'] ;; LAYOUT => conflict: block
{ triton = 'add.cubin', json = 1 } ;; args = ['x'] ;; launch = { grid = [1] } => value-type: 1
";

/// Conditions.
const WHEN: &str = r"
when = 'k > 1' => unbound-symbol: k
when = 'n >' => syntax: '
when = 'otherwise' => otherwise: otherwise
when = 'noalias(x, x)' => launch: noalias(x, x)
when = 'n < 0' => impossible-rule: n < 0
when = 1 => value-type: 1
";

/// Packages that are accepted, and one that is not, with what a compiler or we warn of.
const WARNED: &str = r"
PACKAGE ;; FUNCTION ;; source = { host = 'later.c' } ;; kernel = 'ok' ;; args = ['x'] => later-symbol: 'later.c' (warning)
PACKAGE ;; link = ['libnone.so.1'] ;; FUNCTION ;; source = { host = 'lost.c' } ;; kernel = 'ok' ;; args = ['x'] => missing-library: 'libnone.so.1' (warning)
PACKAGE ;; FUNCTION ;; source = { host = 'warned.c' } ;; kernel = 'ok' ;; args = ['x'] => compiler-warning: 'warned.c' (warning)
PACKAGE ;; FUNCTION ;; source = { host = ['none.c', 'warned.c'] } ;; kernel = 'ok' ;; args = ['x'] => source-file: 'none.c'
PACKAGE ;; FUNCTION ;; source = { cuda = 'warned.cu' } ;; kernel = 'ok' ;; args = ['x'] ;; LAYOUT => compiler-warning: 'warned.cu' (warning)
PACKAGE ;; FUNCTION ;; source = { host = 'warned.c' } ;; kernel = 'ok' ;; args = ['x'] ;; [[function]] ;; signature = 'g(k: int33)' => compiler-warning: 'warned.c' (warning) | syntax: int33
";

/// The texts that the words of tables stand for.
const WORDS: &[(&str, &str)] = &[
    (" ;; ", "\n"),
    ("PACKAGE", "[package]\nname = 'p'"),
    ("FUNCTION", "[[function]]\nsignature = 'f(x: Tensor([n], float32, mut))'"),
    ("LAYOUT", "launch = { grid = [1], block = [1] }"),
];

const PTX: &str =
    ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry one(.param .u64 a) { ret; }\n";

/// The files that sources name, those of other tests among them.
fn files() -> Bench {
    let bench = Bench::new()
        .and("ok.c", "void ok(float *x) { *x = 1; }\n")
        .and("two.c", "void ok(float *x) { *x = 2; }\n")
        .and("bad.c", "void ok(float *x) { return x }\n")
        .and("lost.c", "void lost(void); void ok(float *x) { lost(); *x = 1; }\n")
        .and(
            "own.c",
            "void kernpack_rt_refuse(void); void ok(float *x) { kernpack_rt_refuse(); }\n",
        )
        .and("warned.c", "#warning old\nvoid ok(float *x) { *x = 1; }\n")
        .and("later.c", "long getrandom(); void ok(float *x) { *x = getrandom(); }\n")
        .and("none.cpp", "")
        .and("ok.cu", "__global__ void ok(float *x) { x[0] = 1; }\n")
        .and("bad.cu", "__global__ void ok(float *x) { x[0] = ; }\n")
        .and("nul.cu", "__global__ void ok(float *x) {}\n\0")
        .and("warned.cu", "__global__ void ok(float *x) { int unused; x[0] = 1; }\n")
        .and("one.ptx", PTX)
        .and("same.ptx", PTX)
        .and("bad.ptx", PTX.replace(".u64", ".n"));
    let endings = ["o", "a", "ptx", "cubin", "fatbin", "json"];
    let bench = endings.iter().fold(bench, |bench, ending| {
        bench.and(&format!("empty.{ending}"), "").and(&format!("junk.{ending}"), "of no kind")
    });
    with_triton(with_objects(bench))
}

/// Objects of a compiler's, one as for another machine, and images.
fn with_objects(bench: Bench) -> Bench {
    let mut compiler = Command::new("cc");
    compiler.arg("-c").arg(bench.path("ok.c")).arg("-o").arg(bench.path("good.o"));
    assert!(compiler.status().expect("a C compiler").success());
    let mut other = std::fs::read(bench.path("good.o")).expect("it was written");
    // The machine stands behind 18 bytes: 183 is aarch64, 62 is x86-64.
    other[18] = if other[18] == 62 { 183 } else { 62 };
    let cubin = std::fs::read(image("images/three.cubin")).expect("it is there");
    let fatbin = std::fs::read(image("images/three.fatbin")).expect("it is there");
    let short = cubin[..40].to_vec();
    let bench = bench.and("other.o", other).and("short.cubin", short);
    bench.and("three.cubin", cubin).and("three.fatbin", fatbin)
}

/// Triton's files, and JSON with some keys changed.
fn with_triton(mut bench: Bench) -> Bench {
    for (name, file) in [("add", "add_3.6.0"), ("shift", "shift_3.6.0"), ("alone", "add_3.6.0")] {
        let cubin = std::fs::read(image(&format!("triton/{file}.cubin"))).expect("it is there");
        bench = bench.and(&format!("{name}.cubin"), cubin);
        if name != "alone" {
            let text = std::fs::read(image(&format!("triton/{file}.json"))).expect("it is there");
            bench = bench.and(&format!("{name}.json"), text);
        }
    }
    let text = std::fs::read(bench.path("add.json")).expect("it was written");
    let changed = |key: &str, value: Value| {
        let mut json: Value = serde_json::from_slice(&text).expect("JSON");
        json[key] = value;
        json.to_string()
    };
    let target = json!({"backend": "cuda", "arch": 80, "warp_size": 32});
    bench
        .and("list.json", "[]")
        .and("warps.json", changed("num_warps", json!(64)))
        .and("old.json", changed("target", target))
        .and("profile.json", changed("profile_scratch_size", json!(64)))
}

/// A file of the tests.
fn image(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name)
}

/// The diagnostics that `check` tells of a package: errors, or warnings of one that is accepted.
fn told(bench: &Bench, args: &[&str]) -> Vec<Value> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    let python = std::env::var("KERNPACK_PYTHON").unwrap_or(own.display().to_string());
    let mut command = bench.command(crate::bench::KERNPACK);
    command.env("KERNPACK_PYTHON", python).args(["check", "--json", "p.toml"]).args(args);
    let ran: crate::bench::Ran = command.output().expect("the program runs").into();
    let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let told = match ran.code {
        Some(0) => &answer["warnings"],
        _ => &answer["error"]["diagnostics"],
    };
    told.as_array().unwrap_or_else(|| panic!("{ran}")).clone()
}

/// A diagnostic in short, once it has been found to have all that one has.
fn shown(diagnostic: &Value, text: &str) -> String {
    let documented = include_str!("../../../../docs/diagnostics.md");
    let field = |key: &str| diagnostic[key].as_str().unwrap_or_else(|| panic!("{diagnostic:#}"));
    let (code, severity) = (field("code"), field("severity"));
    let listed =
        documented.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let listed: Vec<_> = listed.flat_map(|names| names.split('`')).collect();
    assert!(listed.contains(&code), "{code} is not documented");
    assert!(["error", "warning"].contains(&severity), "{diagnostic:#}");
    assert!(!field("message").is_empty() && !field("message").contains('\n'), "{diagnostic:#}");
    let label = &diagnostic["labels"][0];
    let number =
        |key: &str| label[key].as_u64().unwrap_or_else(|| panic!("{diagnostic:#}")) as usize;
    assert_eq!(label["file"], "p.toml", "{diagnostic:#}");
    let (start, end) = (number("start"), number("end"));
    assert!(start < end, "{diagnostic:#}");
    let line = text[..start].matches('\n').count();
    let column = text[..start].chars().rev().take_while(|c| *c != '\n').count();
    assert_eq!((number("line"), number("column")), (line + 1, column + 1), "{diagnostic:#}");
    let severity = if severity == "error" { "" } else { " (warning)" };
    format!("{code}: {}{severity}", text[start..end].replace('\n', "\\n"))
}

/// Compares what is told of each package of a table; `package` makes the file of a row.
fn expect_table(table: &str, n_rows: usize, package: impl Fn(&str) -> String) {
    let mut bench = files();
    let mut wrong = Vec::new();
    let rows: Vec<_> = table.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(rows.len(), n_rows, "rows are not lost");
    for row in rows {
        let (written, expected) = row.rsplit_once(" => ").expect("what is told");
        let text = package(written);
        let text = WORDS.iter().fold(text, |text, (word, whole)| text.replace(word, whole)) + "\n";
        bench = bench.and("p.toml", &text);
        let told = told(&bench, &[]);
        assert!(!told.is_empty(), "{row}");
        let found: Vec<_> = told.iter().map(|diagnostic| shown(diagnostic, &text)).collect();
        if found.join(" | ") != expected {
            wrong.push(format!("{row}\n  found {}", found.join(" | ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The package of a source, with what stands beside it: `beside` where the row does not say.
fn with_source(row: &str, beside: &str) -> String {
    let (source, beside) = row.split_once(" ;; ").unwrap_or((row, beside));
    format!("PACKAGE ;; FUNCTION ;; source = {source} ;; {beside}")
}

#[test]
fn what_is_too_long_or_too_deep_is_refused_at_the_first_word_of_it() {
    let package = |row: &str| {
        let row = row.replace("DEEP", &"(".repeat(65)).replace("LONG", &"_, ".repeat(65));
        format!("PACKAGE ;; [[function]] ;; signature = '{row}'")
    };
    let table =
        "f(n: int32) where DEEPn > 1 => too-deep: n\nf(x: Tensor([LONG], int8)) => too-long: [\n";
    expect_table(table, 2, package);
}

#[test]
fn signatures_are_refused_at_the_word() {
    let package = |row: &str| format!("PACKAGE ;; [[function]] ;; signature = '{row}'");
    expect_table(SIGNATURES, 44, package);
}

#[test]
fn warnings_stand_where_errors_would() {
    expect_table(WARNED, 6, str::to_string);
}

/// The linker sees one object of all sources: which of them it means is found out.
#[test]
#[cfg(target_arch = "x86_64")]
fn an_object_at_a_fixed_address_is_refused_at_its_path() {
    let code = "static int t[4]; void ok(float *x) { *x = t[(long)x & 3]; t[(long)x & 1] = 1; }\n";
    let bench = files().and("fixed.c", code);
    let mut compiler = bench.command("cc");
    compiler.args(["-c", "-O1", "-fno-pic", "fixed.c", "-o", "fixed.o"]);
    assert!(compiler.status().expect("a C compiler").success());
    let function = |name: &str, file: &str| {
        format!(
            "[[function]]\nsignature = '{name}(x: Tensor([n], float32, mut))'\nsource = {{ host = '{file}' }}\nkernel = 'ok'\nargs = ['x']\n"
        )
    };
    let package = "[package]\nname = 'p'\n".to_string();
    let text = package + &function("f", "ok.c") + &function("g", "fixed.o");
    let bench = bench.and("p.toml", &text);
    let told = told(&bench, &[]);
    assert_eq!((told.len(), &shown(&told[0], &text)[..]), (1, "host-object: 'fixed.o'"));
    let message = told[0]["message"].as_str().expect("text");
    assert!(message.starts_with("cannot link `fixed.o`: relocation R_X86_64_32"), "{message}");
}

#[test]
fn what_is_no_text_is_refused_at_the_first_byte() {
    let bench = Bench::new().and("p.toml", b"[package] # \xff\nname = '\xe9'\n");
    let told = told(&bench, &[]);
    let shown = shown(&told[0], "[package] # \u{fffd}\nname = '\u{fffd}'\n");
    assert_eq!((told.len(), &shown[..]), (1, "encoding: \u{fffd}"));
    assert_eq!(told[0]["labels"][0]["text"], "byte 12 is 0xff");
}

#[test]
fn files_are_refused_at_the_key_or_value() {
    expect_table(WHOLE, 48, str::to_string);
}

#[test]
fn sources_of_host_functions_are_refused_at_the_path_or_the_kernel() {
    expect_table(HOST, 42, |row| with_source(row, "kernel = 'ok' ;; args = ['x']"));
}

#[test]
fn sources_of_gpu_code_are_refused_at_the_path_the_kernel_or_the_arguments() {
    let beside = "kernel = 'one' ;; args = ['x'] ;; LAYOUT";
    expect_table(GPU, 49, |row| with_source(row, beside));
}

#[test]
fn files_of_tritons_are_refused_at_the_json_or_the_arguments() {
    expect_table(TRITON, 16, |row| with_source(row, "args = ['x'] ;; launch = { grid = [1] }"));
}

#[test]
fn conditions_are_refused_at_the_word() {
    let launch = "source = { host = 'ok.c' } ;; kernel = 'ok' ;; args = ['x']";
    let package =
        |row: &str| format!("PACKAGE ;; FUNCTION ;; [[function.launch]] ;; {row} ;; {launch}");
    expect_table(WHEN, 6, package);
}
