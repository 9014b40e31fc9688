# SPDX-License-Identifier: Apache-2.0
"""The handler of XLA's custom calls, called with frames that are made here: what needs a GPU
otherwise.
"""

import ctypes
from ctypes import (
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_void_p,
    cast,
)

import numpy as np
import pytest
import tvm_ffi

from kernpack import _xla

CUDA = 2
S64, F32, F4 = 5, 11, 32


class Span(Structure):
    _fields_ = [("data", c_char_p), ("size", c_size_t)]


class Array(Structure):
    _fields_ = [("dtype", c_int32), ("size", c_size_t), ("data", c_void_p)]


class Buffer(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("dtype", c_int32),
        ("data", c_void_p),
        ("rank", c_int64),
        ("dims", POINTER(c_int64)),
    ]


class Buffers(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("size", c_int64),
        ("types", POINTER(c_int32)),
        ("values", POINTER(c_void_p)),
    ]


class Attributes(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("size", c_int64),
        ("types", POINTER(c_int32)),
        ("names", POINTER(POINTER(Span))),
        ("values", POINTER(c_void_p)),
    ]


class Version(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("major", c_int),
        ("minor", c_int),
    ]


class Metadata(Structure):
    _fields_ = [("struct_size", c_size_t), ("version", Version), ("traits", c_uint32)]


class Question(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_int32),
        ("next", c_void_p),
        ("metadata", POINTER(Metadata)),
    ]


class ErrorCreate(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("message", c_char_p),
        ("code", c_int32),
    ]


class Asked(Structure):
    """What is asked of the stream and of the ordinal."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("context", c_void_p),
        ("answer", c_void_p),
    ]


CREATE = ctypes.CFUNCTYPE(c_void_p, POINTER(ErrorCreate))
ASK = ctypes.CFUNCTYPE(c_void_p, POINTER(Asked))


class Api(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("version", Version),
        ("internal", c_void_p),
        ("error_create", CREATE),
        ("others", c_void_p * 3),
        ("stream_get", ASK),
        ("more", c_void_p * 12),
        ("ordinal_get", ASK),
    ]


class Frame(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", POINTER(Question)),
        ("api", POINTER(Api)),
        ("context", c_void_p),
        ("stage", c_int32),
        ("operands", Buffers),
        ("results", Buffers),
        ("attributes", Attributes),
    ]


class Xla:
    """An XLA that runs on a GPU of this number, with this stream."""

    def __init__(self, ordinal=1, stream=0x1230):
        self.errors, self.asked, self.refuses = [], [], None
        self.answers = {"ordinal": ordinal, "stream": stream}
        self.callbacks = CREATE(self.create), ASK(self.ask("stream")), ASK(self.ask("ordinal"))
        create, stream, ordinal = self.callbacks
        version = Version(ctypes.sizeof(Version), None, 0, 4)
        self.api = Api(
            ctypes.sizeof(Api), None, version, None, create, stream_get=stream, ordinal_get=ordinal
        )

    def create(self, asked):
        self.errors.append((asked[0].code, asked[0].message.decode()))
        return 0xE0 + len(self.errors)

    def ask(self, what):
        def answer(asked):
            self.asked.append((what, asked[0].context))
            if self.refuses == what:
                return 0xBAD
            if what == "ordinal":
                cast(asked, POINTER(c_int32))[6] = self.answers[what]
            else:
                asked[0].answer = self.answers[what]
            return None

        return answer

    def call(self, handler, function, plan, operands=(), results=(), stage=3):
        """What the handler answers: None, or the address of an error."""
        frame = Frame(ctypes.sizeof(Frame), None, ctypes.pointer(self.api), 0xC0DE, stage)
        frame.operands, frame.results = buffers(operands), buffers(results)
        key = _xla.key_of(function).encode()
        text = Span(key, len(key))
        words = (c_int64 * len(plan))(*plan)
        array = Array(S64, len(plan), cast(words, c_void_p))
        names = [Span(name, len(name)) for name in (b"key", b"plan")]
        frame.attributes = Attributes(
            ctypes.sizeof(Attributes),
            None,
            2,
            (c_int32 * 2)(4, 1),
            (POINTER(Span) * 2)(*map(ctypes.pointer, names)),
            (c_void_p * 2)(ctypes.addressof(text), ctypes.addressof(array)),
        )
        return invoke(handler, frame)


def buffers(arrays):
    """Buffers of arrays, or of a dtype, an address and extents."""
    rows = [(F32, a.ctypes.data, a.shape) if isinstance(a, np.ndarray) else a for a in arrays]
    made = [
        Buffer(ctypes.sizeof(Buffer), None, dtype, data, len(shape), (c_int64 * len(shape))(*shape))
        for dtype, data, shape in rows
    ]
    count = len(made)
    values = (c_void_p * count)(*map(ctypes.addressof, made))
    found = Buffers(ctypes.sizeof(Buffers), None, count, (c_int32 * count)(*[1] * count), values)
    found.held = made
    HELD.append(made)
    return found


HELD = []


def invoke(handler, frame):
    function = getattr(_xla.library(), handler)
    function.argtypes, function.restype = [POINTER(Frame)], c_void_p
    return function(byref(frame))


@pytest.fixture(autouse=True)
def forget():
    yield
    HELD.clear()


@pytest.fixture
def stream():
    """Tells the environment's stream of a GPU."""
    library = ctypes.CDLL(tvm_ffi.libinfo.find_libtvm_ffi())
    library.TVMFFIEnvGetStream.restype = c_void_p
    library.TVMFFIEnvSetStream.argtypes = [c_int32, c_int32, c_void_p, c_void_p]

    def tell(ordinal):
        return library.TVMFFIEnvGetStream(CUDA, ordinal)

    tell.set = lambda ordinal, value: library.TVMFFIEnvSetStream(CUDA, ordinal, value, None)
    return tell


@pytest.mark.parametrize("before", [None, 0x77])
def test_the_stream_of_a_call_is_the_environments_and_then_no_longer(stream, before):
    seen = []
    function = tvm_ffi.convert(lambda *values: seen.append((stream(1), *values)))
    xla = Xla()
    stream.set(1, before)
    assert xla.call("kernpack_xla_cuda", function, [8]) is None
    assert seen[0][0] == 0x1230 and seen[0][1].value == 0x1230
    assert stream(1) == before and stream(0) is None
    assert xla.asked == [("ordinal", 0xC0DE), ("stream", 0xC0DE)]

    def fail(*_):
        seen.append(stream(1))
        raise ValueError("no")

    assert xla.call("kernpack_xla_cuda_plain", tvm_ffi.convert(fail), []) == 0xE1
    assert seen[-1] == 0x1230 and stream(1) == before
    assert xla.errors == [(3, "ValueError: no")]
    stream.set(1, None)


def test_tensors_are_on_the_device_of_the_program():
    seen = []
    function = tvm_ffi.convert(
        lambda *values: seen.extend(
            (str(x.device), x.shape, x.strides, str(x.dtype)) for x in values
        )
    )
    x, y = np.zeros((2, 3), "float32"), np.zeros((), "float32")
    plan = _xla.Plan()
    plan.view((1, 0), (0, 1))
    plan.operand(0)
    plan.result(0)
    assert Xla(ordinal=3).call("kernpack_xla_cuda", function, plan.words, [x], [y]) is None
    assert seen == [("cuda:3", (3, 2), (2, 1), "float32"), ("cuda:3", (), (), "float32")]


@pytest.mark.parametrize(
    ("modes", "fastest", "shape", "strides"),
    [
        (None, None, (5, 4), (4, 1)),
        ((0, 1), (0, 1), (3, 7), (1, 3)),
        ((1, 0), (1, 0), (4, 5), (1, 4)),
    ],
)
def test_pairs_are_halves_of_the_fastest_dim(modes, fastest, shape, strides):
    seen = []
    function = tvm_ffi.convert(lambda x: seen.append((x.shape, x.strides, str(x.dtype))))
    plan = _xla.Plan()
    if modes:
        plan.view(modes, fastest)
    plan.operand(0)
    assert Xla().call("kernpack_xla_cpu", function, plan.words, [(F4, 64, (5, 7))]) is None
    assert seen == [(shape, strides, "float4_e2m1fnx2")]


@pytest.mark.parametrize("what", ["ordinal", "stream"])
def test_an_error_of_xla_is_passed_on(what):
    called = []
    xla = Xla()
    xla.refuses = what
    assert xla.call("kernpack_xla_cuda", tvm_ffi.convert(lambda: called.append(1)), []) == 0xBAD
    assert called == [] and xla.errors == []


@pytest.mark.parametrize("dtype", [0, 17, 21, 22, 26, 27, 30, 31, 34, -1, 1 << 30])
def test_element_types_without_a_dtype_are_refused(dtype):
    xla = Xla()
    assert (
        xla.call("kernpack_xla_cpu", tvm_ffi.convert(lambda _: None), [1], [(dtype, 64, (1,))])
        == 0xE1
    )
    assert xla.errors == [(3, f"XLA's element type {dtype} has no dtype in TVM-FFI")]


class DLTensor(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device", c_int32 * 2),
        ("ndim", c_int32),
        ("dtype", c_uint32),
        ("shape", POINTER(c_int64)),
        ("strides", c_void_p),
        ("offset", ctypes.c_uint64),
    ]


def allocate(bytes, device=(CUDA, 1)):
    """What a function finds that allocates so many bytes: address, device and extent, or an error's
    message.
    """
    library = ctypes.CDLL(tvm_ffi.libinfo.find_libtvm_ffi())
    prototype = DLTensor(None, (c_int32 * 2)(*device), 1, 0x00010801, (c_int64 * 1)(bytes))
    out = c_void_p()
    if library.TVMFFIEnvTensorAlloc(byref(prototype), byref(out)) == 0:
        view = cast(out.value + 24, POINTER(DLTensor))[0]
        found = view.data, tuple(view.device), view.shape[0]
        library.TVMFFIObjectDecRef(out)
        return found
    error = c_void_p()
    library.TVMFFIErrorMoveFromRaised(byref(error))
    message = cast(error.value + 40, POINTER(Span))[0]
    text = ctypes.string_at(cast(message.data, c_void_p), message.size).decode()
    library.TVMFFIObjectDecRef(error)
    return text


def test_a_workspace_is_on_the_device_of_the_program():
    library = ctypes.CDLL(tvm_ffi.libinfo.find_libtvm_ffi())
    found = []

    def function():
        found.extend(map(allocate, (100, 0, 200)))
        found.append(allocate(1, (1, 0)))
        found.append(allocate(600))

    plan = _xla.Plan()
    plan.workspace(0)
    arena = (6, 0x10010, (1024,))
    library.TVMFFIEnvGetDLPackManagedTensorAllocator.restype = c_void_p
    before = library.TVMFFIEnvGetDLPackManagedTensorAllocator()
    assert (
        Xla().call("kernpack_xla_cuda", tvm_ffi.convert(function), plan.words, [], [arena]) is None
    )
    assert library.TVMFFIEnvGetDLPackManagedTensorAllocator() == before
    # The arena ends at 0x10410.
    assert found == [
        (0x10100, (CUDA, 1), 100),
        (0x10200, (CUDA, 1), 0),
        (0x10200, (CUDA, 1), 200),
        "the workspace of the program has no memory on cpu",
        "the workspace has 272 bytes left, and 600 are needed",
    ]
    assert _xla.workspace_peak() == 0x10300 + 600 - 0x10010


@pytest.mark.parametrize("stage", [1, 2, 4, 7])
def test_other_stages_do_nothing(stage):
    called = []
    assert (
        Xla().call("kernpack_xla_cuda", tvm_ffi.convert(lambda: called.append(1)), [], stage=stage)
        is None
    )
    assert called == []


@pytest.mark.parametrize(
    ("handler", "traits"),
    [("kernpack_xla_cpu", 0), ("kernpack_xla_cuda", 1), ("kernpack_xla_cuda_plain", 0)],
)
@pytest.mark.parametrize("version", [None, (0, 2), (0, 5)])
def test_a_handler_says_what_it_is(handler, traits, version):
    """Before 0.2, a question came without functions."""
    metadata = Metadata(ctypes.sizeof(Metadata), Version(), 77)
    question = Question(ctypes.sizeof(Question), 1, None, ctypes.pointer(metadata))
    frame = Frame(ctypes.sizeof(Frame), ctypes.pointer(question))
    if version:
        xla = Xla()
        xla.api.version.major, xla.api.version.minor = version
        frame.api = ctypes.pointer(xla.api)
    assert invoke(handler, frame) is None
    assert (metadata.version.major, metadata.version.minor) == (version or (0, 1))
    assert metadata.traits == traits


def test_messages_may_have_nul():
    def fail():
        raise RuntimeError("in\0side")

    xla = Xla()
    assert xla.call("kernpack_xla_cpu", tvm_ffi.convert(fail), []) == 0xE1
    assert xla.errors == [(13, "RuntimeError: in\\0side")]


def test_a_handler_that_is_called_by_what_it_calls(stream):
    """As where a function of Python runs a program itself: stream and workspace are the inner
    call's, then the outer's.
    """
    seen = []
    plan = _xla.Plan()
    plan.workspace(0)

    def note():
        seen.append((stream(1), allocate(8)[0]))

    def outer():
        note()
        inner = tvm_ffi.convert(note)
        assert (
            Xla(stream=0x20).call(
                "kernpack_xla_cuda", inner, plan.words, [], [(6, 0x20000, (512,))]
            )
            is None
        )
        note()

    assert (
        Xla(stream=0x10).call(
            "kernpack_xla_cuda", tvm_ffi.convert(outer), plan.words, [], [(6, 0x10000, (512,))]
        )
        is None
    )
    assert seen == [(0x10, 0x10000), (0x20, 0x20000), (0x10, 0x10100)] and stream(1) is None
