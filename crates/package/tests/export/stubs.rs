// SPDX-License-Identifier: Apache-2.0
//! The stub file.

use crate::{function, norm, package, python, run};
use expect_test::expect;
use kernpack_package::Package;
use kernpack_package::export::stubs;

/// The stub file, once Python has compiled it.
fn compiled(package: &Package) -> String {
    let text = stubs(package);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stubs.pyi");
    std::fs::write(&path, &text).unwrap();
    run(python(), &["-m", "py_compile", path.to_str().unwrap()]);
    text
}

#[test]
fn functions_have_types_defaults_and_docs() {
    expect![[r##"
        # The functions of `norm`, packaged by kernpack 0.1.0.

        from ctypes import c_void_p
        from typing import Any, Protocol, TypeAlias

        class _Tensor(Protocol):
            """Any array that speaks DLPack: of PyTorch, NumPy, JAX, or a tvm_ffi.Tensor."""

            def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...
            def __dlpack_device__(self) -> tuple[Any, Any]: ...

        # Made by the environment's allocator: a torch.Tensor where the call had one among its arguments.
        _Result: TypeAlias = Any

        # An address.
        _Pointer: TypeAlias = int | c_void_p | None

        def scale(x: _Tensor, alpha: float = 1.0, mask: _Pointer | None = None) -> None:
            """Multiplies by alpha.

            A comment ends with */, a string with \"\"\".

            scale(x: Tensor([m, n], T, align=16, mut), alpha: float32 = 1.0, mask: Optional[Pointer] = None) where T in {float16, float32}, n % 8 == 0
            """
            ...

        def rows(x: _Tensor) -> _Result:
            """rows(x: Tensor([m, n], float32)) -> y: Tensor([m], float32)"""
            ...

        def rows_out(x: _Tensor, y: _Tensor) -> None:
            """rows_out(x: Tensor([m, n], float32), y: Tensor([m], float32, mut))"""
            ...
    "##]].assert_eq(&compiled(&norm()));
}

#[test]
fn every_kind_has_a_type() {
    let functions = vec![
        function("f()"),
        function("g(a: bool, b: int8, d: float16, e: EnvStream, p: Pointer, s: Stream)"),
        function("h(a: Shape([n, 2]), b: Tuple(int8, x: Tuple(), y: Optional[bool]))"),
        function("i(a: None, b: True, c: -1, d: 0.5)"),
        function("j(n: int64) -> x: Tensor([n], int8), y: Tensor([n], int8)"),
        function(r#"k(a: String, b: "c\"\\", d: Optional[String] = "\n") where a != "relu""#),
        function("l(out: DataType = float16) where out in {float16}"),
        function("m() -> _x: Tensor([2], int8), y: Tensor([2], int8)"),
    ];
    expect![[r##"
        # The functions of `norm`, packaged by kernpack 0.1.0.

        from collections.abc import Sequence
        from ctypes import c_void_p
        from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

        class _Tensor(Protocol):
            """Any array that speaks DLPack: of PyTorch, NumPy, JAX, or a tvm_ffi.Tensor."""

            def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...
            def __dlpack_device__(self) -> tuple[Any, Any]: ...

        # Made by the environment's allocator: a torch.Tensor where the call had one among its arguments.
        _Result: TypeAlias = Any

        # An address.
        _Pointer: TypeAlias = int | c_void_p | None

        # A stream's handle, or an object that has `__cuda_stream__`.
        _Stream: TypeAlias = Any

        # A dtype of PyTorch, NumPy or tvm_ffi, or its name.
        _DType: TypeAlias = Any

        def f() -> None:
            """f()"""
            ...

        def g(a: bool, b: int, d: float, p: _Pointer, s: _Stream) -> None:
            """g(a: bool, b: int8, d: float16, e: EnvStream, p: Pointer, s: Stream)"""
            ...

        def h(a: Sequence[int], b: tuple[int, tuple[()], bool | None]) -> None:
            """h(a: Shape([n, 2]), b: Tuple(int8, x: Tuple(), y: Optional[bool]))"""
            ...

        def i(a: None, b: Literal[True], c: Literal[-1], d: float) -> None:
            """i(a: None, b: True, c: -1, d: 0.5)"""
            ...

        class _results_of_j(NamedTuple):
            x: _Result
            y: _Result

        def j(n: int) -> _results_of_j:
            """j(n: int64) -> x: Tensor([n], int8), y: Tensor([n], int8)"""
            ...

        def j_out(n: int, x: _Tensor, y: _Tensor) -> None:
            """j_out(n: int64, x: Tensor([n], int8, mut), y: Tensor([n], int8, mut))"""
            ...

        def k(a: str, b: Literal["c\"\\"], d: str | None = "\n") -> None:
            """k(a: String, b: "c\\"\\\\", d: Optional[String] = "\\n") where a != "relu"
            """
            ...

        def l(out: _DType = "float16") -> None:
            """l(out: DataType = float16) where out in {float16}"""
            ...

        def m() -> tuple[_Result, _Result]:
            """m() -> _x: Tensor([2], int8), y: Tensor([2], int8)"""
            ...

        def m_out(_x: _Tensor, y: _Tensor) -> None:
            """m_out(_x: Tensor([2], int8, mut), y: Tensor([2], int8, mut))"""
            ...
    "##]]
    .assert_eq(&compiled(&package(functions)));
}

#[test]
fn words_of_python_give_way() {
    let functions = vec![function("lambda(n: int32)"), function("f(class: int32)")];
    expect![[r##"
        # The functions of `norm`, packaged by kernpack 0.1.0.

        # `lambda` is a word of Python: call `module["lambda"]`.

        def f(class_: int) -> None:
            """f(class: int32)"""
            ...
    "##]]
    .assert_eq(&compiled(&package(functions)));
}
