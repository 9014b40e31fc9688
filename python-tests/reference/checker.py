# SPDX-License-Identifier: Apache-2.0
"""The argument checks of `docs/signature.md` and `docs/faults.md`, written a second time and as
plainly as possible.

Nothing is shared with the compiler, whose oracle this is. Arguments are described as JSON values,
see `type_index`.
"""

import math
import re
from collections import namedtuple

from signature import (
    COMPARISONS,
    DTYPES,
    FLOAT_RANGES,
    INT_RANGES,
    DataType,
    Expr,
    Float,
    Literal,
    Optional,
    Pointer,
    Scalar,
    Shape,
    Signature,
    Stream,
    Star,
    String,
    Tensor,
    Tuple,
    fit,
    float_sides,
    is_symbol,
    literal_text,
    may_remain,
    name_expr,
    number_text,
    parts,
    remaining,
    rule_text,
    short,
    shown,
    star_place,
    written,
)

__all__ = ["Fault", "Signature", "check", "find_fault", "short"]

DEVICES = {
    1: "cpu",
    2: "cuda",
    3: "cuda_host",
    4: "opencl",
    7: "vulkan",
    8: "metal",
    9: "vpi",
    10: "rocm",
    11: "rocm_host",
    12: "ext_dev",
    13: "cuda_managed",
    14: "oneapi",
    15: "webgpu",
    16: "hexagon",
    17: "maia",
    18: "trn",
}
TYPE_WORDS = dict(
    enumerate(
        "None int bool float void* dtype Device Tensor str ByteArray RValueRef str bytes".split()
    )
)
TYPE_WORDS |= dict(
    enumerate("Object str bytes Error Function Shape Tensor Array Map Module".split(), 64)
)
TYPE_WORDS |= {74: "a Python object", 75: "List", 76: "Dict", 77: "VisitInterrupt", 78: "BigInt"}
LITERAL_TYPES = {
    type(None): ("None", {0}),
    bool: ("bool", {1, 2}),
    int: ("int", {1, 2}),
    float: ("float", {1, 2, 3}),
    str: ("str", {8, 11, 65}),
}
ORDER_WORDS = {"row": "row-major order", "col": "column-major order"}
TYPE_FAULTS = {"arity", "type", "dtype", "tensor-dtype", "dtype-match", "dtype-combination"}


def choice_text(words):
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def dtype_text(code, bits, lanes):
    name = next(
        (name for name, known in DTYPES.items() if known == (code, bits, 1)),
        f"dtype(code={code}, bits={bits})",
    )
    return name if lanes == 1 else f"{name}x{lanes}"


class Fault(Exception):
    def __init__(self, name, message):
        super().__init__(message)
        self.name, self.kind, self.message = (
            name,
            "TypeError" if name in TYPE_FAULTS else "ValueError",
            message,
        )


class Place(namedtuple("Place", "path arg")):
    """A path, and the argument of the call that it is in. As text: `on argument #i`, `on argument
    #10 (name)`, or `on PATH in argument #i`.
    """

    def __str__(self):
        if not self.path.isidentifier():
            return f"on {self.path} in argument #{self.arg}"
        return f"on argument #{self.arg}" + (f" ({self.path})" if self.arg >= 10 else "")

    @property
    def itself(self):
        return f"{self.path} on argument #{self.arg}"

    def part(self, suffix):
        return Place(self.path + suffix, self.arg)


def type_index(value):
    """Of an argument described as JSON: a dict with one key, which says what it is."""
    [(key, payload)] = value.items()
    if key in ("tensor", "object", "str"):
        return payload["index"] if key == "tensor" else payload[0] if key == "str" else payload
    return {
        "none": 0,
        "dtype": 5,
        "int": 1,
        "bool": 2,
        "float": 3,
        "ptr": 4,
        "shape": 69,
        "array": 71,
        "list": 75,
        "bigint": 78,
    }[key]


def as_argument(literal, kind):
    """A default, as if the caller had passed it."""
    if isinstance(kind, DataType):
        return {"dtype": [*DTYPES[literal]]}
    if isinstance(literal, float):
        return {"float": literal.hex()}
    if isinstance(literal, str):
        return {"str": [65, literal.encode().hex()]}
    return (
        {"none": 1}
        if literal is None
        else {"bool" if isinstance(literal, bool) else "int": int(literal)}
    )


def number_of(value):
    [(key, payload)] = value.items()
    if key == "bigint":  # two's complement, least significant word first
        return sum(
            (word if word is payload[-1] else word % 2**64) << 64 * i
            for i, word in enumerate(payload)
        )
    return float.fromhex(payload) if key == "float" else payload


def text_of(value):
    """The bytes of a string."""
    return bytes.fromhex(value["str"][1])


def received_text(value, as_float):
    if "bigint" in value:
        return "an integer beyond 64 bits"
    return repr(float(number_of(value)) if as_float else number_of(value))


def wrap(number):
    """The signed 64 bits that are left of a number."""
    return (number + 2**63) % 2**64 - 2**63


def row_major(shape):
    return [wrap(math.prod(shape[i + 1 :])) for i in range(len(shape))]


def spread(dims, n_dims):
    """The numbers of the dims that each written one stands for, where there are `n_dims` in all."""
    star = star_place(dims)
    if star is None:
        return [[i] for i in range(n_dims)]
    n_behind = len(dims) - 1 - star
    return [
        *([i] for i in range(star)),
        [*range(star, n_dims - n_behind)],
        *([i] for i in range(n_dims - n_behind, n_dims)),
    ]


def span(tensor):
    """The bytes [start, end) that a tensor's indices reach; False of an empty one; None where these
    or their offsets are beyond 64 bits.
    """
    strides = row_major(tensor["shape"]) if tensor["strides"] is None else tensor["strides"]
    if 0 in tensor["shape"]:
        return False
    bits, reach = (
        math.prod(tensor["dtype"][1:]),
        [(extent - 1) * stride for extent, stride in zip(tensor["shape"], strides)],
    )
    origin = wrap(tensor["data"] + tensor["byte_offset"])
    low = sum(min(r, 0) for r in reach) * bits // 8
    high = -(-(sum(max(r, 0) for r in reach) + 1) * bits // 8)
    return (
        None
        if None in map(fit, (low, high, origin + low, origin + high))
        else (origin + low, origin + high)
    )


def holds_with(rule, values):
    """Whether a rule holds; None where a part that is reached has no value."""
    match rule.op:
        case "not":
            return None if (holds := holds_with(rule.left[0], values)) is None else not holds
        case "and" | "or" as word:
            each = (holds_with(inner, values) for inner in rule.left)
            return next((holds for holds in each if holds is not (word == "and")), word == "and")
        case "dtypes":
            return [values[variable] for variable in rule.left] in rule.right
        case "noalias":
            a, b = span(values[rule.left]), span(values[rule.right])
            return (
                True
                if False in (a, b)
                else None
                if None in (a, b)
                else a[1] <= b[0] or b[1] <= a[0]
            )
        case "aligned":
            tensor = values[rule.left]
            return (
                0 in tensor["shape"] or (tensor["data"] + tensor["byte_offset"]) % rule.right == 0
            )
        case "in":
            return rule.left.value(values) in rule.right
        case "texts":
            return values[rule.left.left] in [text.encode() for text in rule.right]
    if floats := float_sides(rule.left, rule.right, values):
        return COMPARISONS[rule.op](*floats)
    left, right = rule.left.value(values), rule.right.value(values)
    return None if left is None or right is None else COMPARISONS[rule.op](left, right)


Bound = namedtuple(
    "Bound", "dims place field first n_others"
)  # a star: its dims, where they are from, and what is beside them


class StarCheck(namedtuple("StarCheck", "names star dims n_dims place field first n_others")):
    """That a star in front of the one that binds it has the same dims; waits for `names` as the
    check of a dim does.
    """


class Call:
    """The checks of one call, in order."""

    def __init__(self, signature, default_device):
        self.signature, self.default_device = signature, default_device
        self.values = {}  # of symbols and of paths; of a tensor parameter's own path, the tensor
        self.bound_at = {
            **signature.bound_at,
            **{symbol: symbol for symbol in (*signature.stride_uses, *signature.shared)},
        }
        self.pending = []  # checks of dims, strides and integer parameters that wait for a symbol
        self.rules = list(signature.rules)  # those not checked yet
        self.settled = set()  # symbols of strides behind their last use
        self.free = {}  # from a symbol of strides to the compact stride of its first use
        self.dtypes = {}  # from a variable to its dtype's name and its tensor's path
        self.early = []  # dtypes of tensors before the one that binds their variable
        self.stars = {}  # from a star to what binds it
        self.firsts = {}  # from a symbol of strides, or that Optionals share, or "device.index", to the first value that counts, and its place
        self.inside = ()  # the paths of the Optionals around what is checked now
        self.absent = set()  # the paths of the Optionals that are absent
        self.unbound = set()  # the symbols of which no use is given
        self.met = set()  # the bare uses of symbols that Optionals share so far
        self.held = set()  # those of which rules wait for the last use

    def fail(self, name, what, expected, got):
        raise Fault(
            name, f"{what} when calling: `{self.signature.short}`, expected {expected}, got {got}"
        )

    def check(self, args):
        least, most = self.signature.required, len(self.signature.arguments)
        if not least <= len(args) <= most:
            count = (
                f"{least} to {most} arguments"
                if least < most
                else f"{most} argument{'s' * (most != 1)}"
            )
            self.fail("arity", "Mismatched number of arguments", count, len(args))
        for i, param in enumerate(self.signature.arguments):
            default = as_argument(param.default.value, param.type) if i >= len(args) else None
            self.visit(param.type, default or args[i], Place(param.name, i))

    def visit(self, kind, value, place, optional=False):
        [payload] = value.values()
        match kind:
            case Optional(inner):
                self.learn({f"{place.path}.given": int("none" not in value)}, place.part(".given"))
                if "none" not in value:
                    self.inside, outside = (*self.inside, place.path), self.inside
                    self.visit(inner, value, place, optional=True)
                    self.inside = outside
                else:
                    self.leave_out(place.path)
                if not self.inside:
                    self.learn({}, place)
                self.settle(place.path)
            case Tensor():
                self.accept("Tensor", {7, 70}, value, place, optional)
                self.tensor(kind, payload, place)
            case Scalar(dtype):
                word = "bool" if dtype == "bool" else "float" if dtype in FLOAT_RANGES else "int"
                self.accept(
                    word, {1, 2, 78, 3} if word == "float" else {1, 2, 78}, value, place, optional
                )
                self.scalar(dtype, value, place)
            case Shape(dims):
                self.accept("Shape", {69, 71, 75}, value, place, optional)
                self.n_dims(
                    dims,
                    len(payload),
                    place,
                    "shape-size",
                    f"Mismatched Shape {place}",
                    "shape size",
                )
                for k, (dim, numbers) in enumerate(zip(dims, spread(dims, len(payload)))):
                    if "shape" not in value:
                        for number in numbers:
                            text = number if isinstance(dim, Star) else number_text(dims, k)
                            self.accept("int", {1, 2}, payload[number], place.part(f"[{text}]"))
                    found = [
                        payload[number] if "shape" in value else number_of(payload[number])
                        for number in numbers
                    ]
                    self.dim_or_star(dims, k, found, len(payload), place, "")
            case Tuple(elements):
                self.accept("Tuple", {71, 75}, value, place, optional)
                if len(payload) != len(elements):
                    self.fail(
                        "tuple-size",
                        f"Mismatched tuple size {place}",
                        f"tuple size={len(elements)}",
                        len(payload),
                    )
                for k, ((name, inner), element) in enumerate(zip(elements, payload)):
                    self.visit(inner, element, place.part(f".{name}" if name else f"[{k}]"))
            case Pointer(_, nonnull, align):
                self.accept("Pointer", {1, 4} if nonnull else {0, 1, 4}, value, place, optional)
                address = 0 if "none" in value else payload
                if nonnull and address == 0:
                    self.fail(
                        "pointer-null", f"Invalid pointer {place}", "a non-NULL pointer", "NULL"
                    )
                if address % align:
                    rest = f"address % {align} == {address % align}"
                    self.fail(
                        "pointer-alignment",
                        f"Misaligned pointer {place}",
                        f"alignment={align} bytes",
                        rest,
                    )
            case Stream():
                self.accept("Stream", {0, 1, 4}, value, place, optional)
            case String():
                self.accept("str", {8, 11, 65}, value, place, optional)
                self.learn({place.path: text_of(value)}, place)
            case DataType():
                self.accept("dtype", {5, 8, 11, 65}, value, place, optional)
                self.data_type(value, place)
            case Literal(want):
                word, indices = LITERAL_TYPES[type(want)]
                self.accept(word, indices, value, place, optional)
                if isinstance(want, str) and text_of(value) != want.encode():
                    self.fail(
                        "literal",
                        f"Mismatched value {place}",
                        literal_text(want),
                        shown(text_of(value)),
                    )
                if want is not None and not isinstance(want, str) and number_of(value) != want:
                    self.fail(
                        "literal",
                        f"Mismatched value {place}",
                        repr(want),
                        received_text(value, isinstance(want, float)),
                    )

    def accept(self, word, indices, value, place, optional=False):
        index = type_index(value)
        if index not in indices:
            expected = f"{word} or None" if optional or 0 in indices and word != "None" else word
            self.fail(
                "type",
                f"Mismatched type {place}",
                expected,
                TYPE_WORDS.get(index, f"type index {index}"),
            )

    def data_type(self, value, place):
        allowed = self.signature.dtypes[place.path]
        name = next(
            (
                name
                for name in allowed
                if value
                in (
                    {"dtype": [*DTYPES[name]]},
                    {**value, "str": [type_index(value), name.encode().hex()]},
                )
            ),
            None,
        )
        if name is None:
            got = dtype_text(*value["dtype"]) if "dtype" in value else shown(text_of(value))
            self.fail("dtype", f"Mismatched dtype {place}", choice_text(allowed), got)
        self.dtypes[place.path] = name, place.path
        self.match_early()
        self.learn({place.path: name}, place)

    def scalar(self, dtype, value, place):
        number = number_of(value)
        if dtype in FLOAT_RANGES:
            high, overflow = FLOAT_RANGES[dtype]
            low, fits = (
                -high,
                "bigint" not in value and (not math.isfinite(number) or abs(number) < overflow),
            )
        else:
            low, high = INT_RANGES[dtype]
            fits = low <= number <= high and (
                "bigint" not in value or dtype == "uint64" and len(value["bigint"]) == 2
            )
        if not fits:
            self.fail(
                "scalar-range",
                f"Out of bound value {place}",
                f"to be in {dtype} range [{low}, {high}]",
                received_text(value, dtype in FLOAT_RANGES),
            )
        if dtype == "bool" or dtype in FLOAT_RANGES:
            self.learn({place.path: number if dtype == "bool" else Float(number, dtype)}, place)
        if is_symbol(place.path, dtype):
            self.learn(self.bind_or_require("dim", name_expr(place.path), number, place), place)

    def n_dims(self, dims, found, place, fault, what, word):
        """The rank of a tensor, or the size of a Shape."""
        star = star_place(dims)
        if star is None:
            if found != len(dims):
                self.fail(fault, what, f"{word}={len(dims)}", found)
            return
        n_others, bound = len(dims) - 1, self.stars.get(dims[star].name)
        if bound and found != len(bound.dims) + n_others:
            expected = (
                f"{word}={len(bound.dims) + n_others} ({dims[star].name}.ndim is {len(bound.dims)})"
            )
            self.fail(fault, what, expected, found)
        if found < n_others:
            self.fail(fault, what, f"{word}>={n_others}", found)
        if found > 64:
            self.fail(fault, what, f"{word}<=64", found)

    def dim_or_star(self, dims, i, found, n_dims, place, field):
        """What is written at place `i` of the dims, for which the extents `found` stand."""
        if not isinstance(dims[i], Star):
            [extent], n_written = found, len(dims)
            alias = (
                None
                if star_place(dims) is not None
                else place.part(f"{field}[{i - n_written}]").path
            )
            return self.dim(dims[i], extent, place.part(f"{field}[{number_text(dims, i)}]"), alias)
        name, bound = dims[i].name, self.stars.get(dims[i].name)
        check = StarCheck((f"{name}.ndim",), name, found, n_dims, place, field, i, len(dims) - 1)
        if bound:
            return self.same_dims(check)
        for k, extent in enumerate(found):
            if extent < 0:
                self.fail(
                    "negative-dim",
                    f"Invalid {place.part(f'{field}[{i + k}]').itself}",
                    "a non-negative value",
                    extent,
                )
        if name and self.signature.stars[name].path == place.path:
            self.stars[name] = Bound(found, place, field, i, len(dims) - 1)
            self.learn({f"{name}.ndim": len(found)}, Place(f"{name}.ndim", place.arg))
            self.learn({f"{name}.numel": fit(math.prod(found))}, Place(f"{name}.numel", place.arg))
        elif name:
            self.pending.append((check, None, place, None))

    def same_dims(self, check):
        bound = self.stars[check.star]
        for k, (got, want) in enumerate(zip(check.dims, bound.dims)):
            if got != want:
                here = check.place.part(f"{check.field}[{check.first + k}]").itself
                there = bound.place.part(f"{bound.field}[{bound.first + k}]").path
                self.fail(
                    "dim", f"Mismatched {here}", f"to match {there}", f"{got} ({there} is {want})"
                )

    def late_star(self, check):
        """The rank, then the dims, of a star in front of the one that binds it."""
        bound, is_shape = self.stars[check.star], not check.field
        if len(check.dims) != len(bound.dims):
            word, fault = ("shape size", "shape-size") if is_shape else ("ndim", "tensor-rank")
            what = f"Mismatched {'Shape' if is_shape else 'Tensor'} {check.place}"
            expected = f"{word}={len(bound.dims) + check.n_others} ({check.star}.ndim is {len(bound.dims)})"
            self.fail(fault, what, expected, check.n_dims)
        self.same_dims(check)

    def dim(self, dim, extent, place, alias=None):
        """A tensor's dim or a Shape's element: a constant is compared; any other must not be
        negative, then binds or is checked.
        """
        if dim and not dim.names and extent != dim.value({}):
            self.fail("dim", f"Mismatched {place.itself}", f"to be {dim.text()}", extent)
        if extent < 0:
            self.fail("negative-dim", f"Invalid {place.itself}", "a non-negative value", extent)
        names = {path: extent for path in (place.path, alias) if path}
        self.learn(names | self.bind_or_require("dim", dim, extent, place), place)

    def bind_or_require(self, fault, expr, got, place):
        if binding := self.signature.bindings.get(place.path):
            value, rest = divmod(got - binding.shift, binding.scale)
            if binding.solved and (rest or value < 0 or fit(got - binding.shift) is None):
                self.fail(
                    "dim-solve",
                    f"Invalid {place.itself}",
                    f"{expr.text()} with {binding.symbol} >= 0",
                    got,
                )
            return {binding.symbol: value}
        if expr and expr.op == "name" and expr.left in self.signature.shared and fault == "dim":
            symbol, first = expr.left, self.signature.shared[expr.left][0].path
            if symbol not in self.values and place.path != first:
                self.held.add(symbol)
            self.same("dim", f"Mismatched {place.itself}", got, symbol, place, first)
            self.met.add(place.path)
            return {symbol: got}
        if expr and expr.names:
            self.pending.append((expr, got, place, fault))
            self.require_ready()
        return {}

    def origin(self, expr):
        """The path that has the value of a bare symbol. A symbol that was solved for has another
        value than its path.
        """
        path = self.bound_at.get(expr.left) if expr.op == "name" else None
        return (
            None
            if path in self.signature.bindings and self.signature.bindings[path].solved
            else path
        )

    def is_exact(self, expr):
        """Whether that is a name that is no field, and no symbol that was solved for."""
        is_bare = expr.op == "name" and "." not in expr.left
        return is_bare and (expr.left not in self.bound_at or self.origin(expr) is not None)

    def require_ready(self):
        """Makes the pending checks whose symbols all have a value."""
        if not self.pending:
            return
        waits = self.signature.stride_uses.keys() - self.settled

        def is_known(name, place):
            return (
                name in self.values
                and name not in waits
                and self.signature.holders.get((name, place.path)) in {None, *self.met}
            )

        ready = [
            check
            for check in self.pending
            if all(is_known(name, check[2]) for name in check[0].names)
        ]
        self.pending = [check for check in self.pending if check not in ready]
        for expr, got, place, fault in ready:
            if isinstance(expr, StarCheck):
                self.late_star(expr)
                continue
            value = expr.value(self.values)
            if value is None or value != got:
                origin = None if expr.left in self.signature.shared else self.origin(expr)
                overflowed = [name for name in expr.names if self.values[name] is None][:1]
                known = ", ".join(
                    f"{origin or name} is {written(self.values[name])}"
                    for name in overflowed or expr.names
                )
                danger = (
                    f" and {'an overflow' if overflowed else expr.danger()}"
                    if value is None
                    else ""
                )
                self.fail(
                    fault,
                    f"Mismatched {place.itself}",
                    f"to match {origin}" if origin else expr.text(),
                    f"{got}{danger} ({known})",
                )

    def learn(self, values, place):
        """Makes the checks that the values complete: dims as written, then rules as written; the
        latter are reported here.
        """
        self.values |= values
        self.require_ready()
        for rule in self.rules and [rule for rule in self.rules if self.is_complete(rule)]:
            self.rules.remove(rule)
            self.rule(rule, place)

    def leave_out(self, path):
        """An Optional is absent, and so is what stands inside; that it is not given is known."""
        self.absent.add(path)
        for part in self.signature.optionals:
            if part != path and path in self.signature.around[part]:
                self.absent.add(part)
                self.values[f"{part}.given"] = 0

    def is_absent(self, name):
        return not name.endswith(".given") and (
            name in self.unbound or not self.absent.isdisjoint(self.signature.optionals_of(name))
        )

    def is_complete(self, rule):
        if any(name in self.held for name in rule.names) or not all(
            name in self.values or self.is_absent(name) for name in rule.names
        ):
            return False
        if not self.inside or not may_remain(rule):
            return True
        # What remains where an Optional is absent is checked behind it.
        return all(
            not name.endswith(".given") and self.signature.optionals_of(name) == self.inside
            for name in rule.names
        )

    def places(self, rule, place):
        """Where the symbols of a rule are bound, as far as a message about `place` does not say it."""
        said, texts = {place.path, *rule.names}, []
        for name in dict.fromkeys(rule.names):
            if name in self.signature.stride_uses or name in self.signature.shared:
                uses = self.signature.stride_uses.get(name) or self.signature.shared[name]
                if name not in self.settled and uses[0].path not in said:
                    texts.append(f"{name} is {uses[0].path}")
                elif name in self.settled and name != place.path:
                    texts.append(f"{name} is on argument #{self.settled_place(name).arg}")
            elif name in self.signature.bound_at and self.signature.bound_at[name] not in said:
                path = self.signature.bound_at[name]
                scale, shift = self.signature.bindings[path][1:3]
                line = f"{scale}*{name}" if scale != 1 else name
                line += f" {'-' if shift < 0 else '+'} {abs(shift)}" if shift else ""
                texts.append(f"{line} is {path}")
        return f" ({', '.join(texts)})" if texts else ""

    def rule(self, rule, place):
        rest = remaining(rule, self.is_absent)
        if rest is None or (holds := holds_with(rest, self.values)):
            return
        if rule.op == "noalias":
            got = "a byte range beyond 64 bits" if holds is None else "overlapping memory"
            self.fail("alias", f"Invalid Tensor data {place}", rule_text(rule), got)
        if rule.op == "dtypes":
            self.fail(
                "dtype-combination",
                f"Mismatched {place.itself}",
                rule_text(rule),
                f"({', '.join(map(self.values.get, rule.left))})",
            )
        divisible = (
            rule.op == "=="
            and rule.left.op == "%"
            and rule.right == Expr("int", 0)
            and rule.left.right.op == "int"
        )
        if divisible and self.is_exact(rule.left.left):
            got = rule.left.left.text(self.values)
            self.fail(
                "divisibility",
                f"Invalid {place.itself}",
                f"to be divisible by {rule.left.right.text()}",
                got,
            )
        if rule.op == "==" and (pair := self.extents(rule, place)):
            got, other, want = pair
            self.fail(
                "rule",
                f"Mismatched {place.itself}",
                f"to match {other}",
                f"{got} ({other} is {want})",
            )
        if rule.op == "aligned":
            got = self.rest(rule, "address", "==")
        elif rule.op in ("and", "or", "not"):
            texts = [
                *{key: text for part in parts(rule) for key, text in self.known(part)}.values()
            ]
            got = ", ".join(
                texts[
                    : next(
                        (i for i, text in enumerate(texts, 1) if text.endswith("an overflow")), None
                    )
                ]
            )
        else:
            also = (
                f" and {rule.right.text(self.values)}"
                if rule.op not in ("in", "texts") and rule.right.names
                else ""
            )
            got = rule.left.text(self.values) + also
        got += self.places(rule, place)
        self.fail("rule", f"Invalid {place.itself}", rule_text(rule), got)

    def extents(self, rule, place):
        """The extent at a place, and the path and value of another one, where a rule says that they
        are the same.
        """
        sides = [(self.extent(side), side) for side in (rule.right, rule.left)]
        for (own, mine), (other, its) in (sides, sides[::-1]):
            if own == place.path and other not in (None, own):
                return self.values[mine.left], other, self.values[its.left]
        return None

    def extent(self, expr):
        """The path of a tensor's extent, which goes by that or by a symbol."""
        if expr.op != "name" or expr.left in self.signature.shared:
            return None
        path = self.origin(expr) if expr.left in self.bound_at else expr.left
        is_extent = path and ".shape[" in path and "[-" not in path and path.endswith("]")
        return path if is_extent else None

    def rest(self, rule, what, sign):
        tensor = self.values[rule.left]
        return (
            f"{what} % {rule.right} {sign} {(tensor['data'] + tensor['byte_offset']) % rule.right}"
        )

    def known(self, part):
        """What a part of a rule names, with the text that says its value."""
        is_absent = any(self.is_absent(name) for name in part.names)
        if part.op == "noalias":
            holds = None if is_absent else int(holds_with(part, self.values) or 0)
            return [(rule_text(part), f"{rule_text(part)} = {holds}")]
        if part.op == "aligned":
            what = f"address of {part.left}"
            none = f"{what} % {part.right} = None"
            return [(rule_text(part), none if is_absent else self.rest(part, what, "="))]
        return [(name, f"{name} = {self.value_text(name)}") for name in part.names]

    def value_text(self, name):
        if self.is_absent(name):
            return "None"
        value = self.values[name]
        return value if isinstance(value, str) else written(value)

    def settled_place(self, symbol):
        """Where a symbol that several uses share has its value from; without a use that is given,
        the first as written.
        """
        if symbol in self.firsts:
            return self.firsts[symbol][1]
        uses = self.signature.stride_uses.get(symbol) or self.signature.shared[symbol]
        root = re.split(r"[.\[]", uses[0].path)[0]
        names = [param.name for param in self.signature.arguments]
        return Place(uses[0].path, names.index(root))

    def tensor(self, kind, tensor, place):
        shape, strides, empty = tensor["shape"], tensor["strides"], 0 in tensor["shape"]
        self.n_dims(
            kind.dims, len(shape), place, "tensor-rank", f"Mismatched Tensor {place}", "ndim"
        )
        self.dtype(kind.dtype, tuple(tensor["dtype"]), place)
        self.device(kind, *tensor["device"], place)
        if not empty and tensor["data"] == 0:
            self.fail(
                "null-data", f"Invalid Tensor data {place}", "a non-NULL data pointer", "NULL"
            )
        places = spread(kind.dims, len(shape))
        for i, numbers in enumerate(places):
            self.dim_or_star(
                kind.dims, i, [shape[number] for number in numbers], len(shape), place, ".shape"
            )
        self.learn({f"{place.path}.numel": fit(math.prod(shape))}, place.part(".numel"))
        found = [
            self.stride(kind, i, numbers, shape, strides, place) for i, numbers in enumerate(places)
        ]
        for i, stride in enumerate(found):
            if not isinstance(kind.dims[i], Star):
                part = place.part(f".strides[{number_text(kind.dims, i)}]")
                alias = (
                    {}
                    if star_place(kind.dims) is not None
                    else {f"{place.path}.strides[{i - len(found)}]": stride}
                )
                self.learn({part.path: stride, **alias}, part)
        align = kind.align or max(1, (math.prod(tensor["dtype"][1:]) + 7) // 8)
        if not empty and (rest := (tensor["data"] + tensor["byte_offset"]) % align):
            self.fail(
                "alignment",
                f"Misaligned Tensor data {place}",
                f"data alignment={align} bytes",
                f"address % {align} == {rest}",
            )
        if place.path.isidentifier():
            self.learn({place.path: tensor}, place)

    def dtype(self, expected, got, place):
        if expected in DTYPES:
            if DTYPES[expected] != got:
                self.fail(
                    "tensor-dtype",
                    f"Mismatched Tensor {place}",
                    f"dtype={expected}",
                    dtype_text(*got),
                )
        elif expected in self.dtypes:
            self.early.append((expected, got, place))
        else:
            allowed = self.signature.dtypes[expected]
            if got not in [DTYPES[name] for name in allowed]:
                self.fail(
                    "tensor-dtype",
                    f"Mismatched Tensor {place}",
                    f"dtype={choice_text(allowed)}",
                    dtype_text(*got),
                )
            if self.signature.dtype_bindings[expected] == place.path:
                self.dtypes[expected] = (
                    next(name for name in allowed if DTYPES[name] == got),
                    f"{place.path}.dtype",
                )
            else:
                self.early.append((expected, got, place))
        self.match_early()
        if expected in self.dtypes:
            self.learn({expected: self.dtypes[expected][0]}, place.part(".dtype"))

    def match_early(self):
        """Compares the dtypes of tensors with that of their variable, if it has one by now."""
        for variable, dtype, at in self.early:
            if variable in self.dtypes and DTYPES[self.dtypes[variable][0]] != dtype:
                name, path = self.dtypes[variable]
                self.fail(
                    "dtype-match",
                    f"Mismatched {at.part('.dtype').itself}",
                    f"to match {path} ({name})",
                    dtype_text(*dtype),
                )

    def device(self, kind, number, index, place):
        device, allowed = (
            DEVICES.get(number, f"device type {number}"),
            kind.devices or [self.default_device],
        )
        if device not in allowed:
            self.fail(
                "device-type",
                f"Mismatched Tensor {place}",
                f"device_type={choice_text(allowed)}",
                device,
            )
        if device in ("cuda", "cuda_managed") and not kind.peer:
            counting = [
                path
                for path, t in self.signature.tensors
                if not t.peer and {"cuda", "cuda_managed"} & {*(t.devices or [self.default_device])}
            ]
            self.same(
                "device-index",
                f"Mismatched device index {place}",
                index,
                "device.index",
                place.part(".device.index"),
                f"{counting[0]}.device.index",
            )

    def same(self, fault, what, got, name, place, first):
        """Compares what several places share, by name, with the first of them that counts; `first`
        is the path of the first as written.
        """
        value, at = self.firsts.setdefault(name, (got, place))
        if got != value and at.path == first:
            self.fail(fault, what, f"to match {first}", f"{got} ({first} is {value})")
        if got != value:
            self.fail(
                fault, what, f"to match {name} on argument #{at.arg}", f"{got} ({name} is {value})"
            )

    def stride(self, kind, i, numbers, shape, strides, place):
        """The checks of the stride written at place `i`, for the dims of these numbers; returns
        what rules see of it.
        """
        part = place.part(f".strides[{number_text(kind.dims, i)}]")
        given = row_major(shape) if strides is None else strides
        free = [shape[number] == 1 or 0 in shape for number in numbers]
        is_star = isinstance(kind.dims[i], Star)
        parts = [place.part(f".strides[{number}]") if is_star else part for number in numbers]
        if kind.strides is None:
            return self.compact_strides(kind, i, numbers, shape, given, free, parts)
        compact = wrap(
            math.prod(
                shape[numbers[-1] + 1 if numbers else len(shape) - (len(kind.dims) - 1 - i) :]
            )
        )
        if kind.strides == "any":
            for number, is_free, at in zip(numbers, free, parts):
                if kind.mut and strides is not None and not is_free and given[number] == 0:
                    self.fail(
                        "mut-broadcast",
                        f"Invalid {at.itself}",
                        "a non-zero stride for a mutable tensor",
                        0,
                    )
            return None if is_star else compact if free[0] else given[numbers[0]]
        if is_star:
            self.row_major_within(numbers, shape, given, free, parts)
        counting = [number for number, is_free in zip(numbers, free) if not is_free]
        free, got = not counting, given[counting[-1]] if counting else compact
        expr = kind.strides[i]
        if not free:
            if expr and not expr.names and got != expr.value({}):
                self.fail("stride", f"Mismatched {part.itself}", f"to be {expr.text()}", got)
            if got < 0:
                self.fail("negative-stride", f"Invalid {part.itself}", "a non-negative value", got)
            if kind.mut and got == 0:
                self.fail(
                    "mut-broadcast",
                    f"Invalid {part.itself}",
                    "a non-zero stride for a mutable tensor",
                    got,
                )
        self.bind_stride(expr, free, got, part)
        return got

    def compact_strides(self, kind, i, numbers, shape, given, free, parts):
        """Of a compact tensor; a star is one dim of the order, row-major within, or column-major
        under `col`.
        """
        ranks = {"row": range(len(kind.dims), 0, -1), "col": range(len(kind.dims))}.get(
            kind.order, kind.order
        )
        within = 1 if kind.order == "col" else -1
        speeds = [
            (rank, within * number)
            for rank, dims in zip(ranks, spread(kind.dims, len(shape)))
            for number in dims
        ]
        wants = [
            wrap(
                math.prod(extent for extent, speed in zip(shape, speeds) if speed < speeds[number])
            )
            for number in numbers
        ]
        words = ORDER_WORDS.get(kind.order) or f"order ({', '.join(map(str, kind.order))})"
        for k in range(len(numbers))[::within]:
            if not free[k] and given[numbers[k]] != wants[k]:
                self.fail(
                    "stride",
                    f"Mismatched {parts[k].itself}",
                    f"to be {wants[k]} for {words}",
                    given[numbers[k]],
                )
        return wants[0] if wants else None

    def row_major_within(self, numbers, shape, given, free, parts):
        """The dims of a star follow from the innermost above 1, whatever its stride."""
        want = None
        for number, is_free, at in [*zip(numbers, free, parts)][::-1]:
            if not is_free:
                if want is not None and given[number] != want:
                    self.fail(
                        "stride",
                        f"Mismatched {at.itself}",
                        f"to be {want} for row-major order",
                        given[number],
                    )
                want = wrap(given[number] * shape[number])

    def bind_stride(self, expr, free, got, place):
        symbol = (
            expr.left
            if expr and expr.op == "name" and expr.left in self.signature.stride_uses
            else None
        )
        if symbol and free:
            self.free.setdefault(symbol, got)
        elif symbol:
            first = self.signature.stride_uses[symbol][0].path
            self.same("stride", f"Mismatched {place.itself}", got, symbol, place, first)
            if place.path == first:
                self.learn({symbol: got}, place)
        elif expr and not free:
            self.bind_or_require("stride", expr, got, place)
        self.settle(place.path)

    def settle(self, path):
        """Symbols of strides, or that Optionals share, whose last use is there, or in the Optional
        there. If no use counted, one of strides is compact, and meets its rules; one of which no use
        is given is absent, and 0.
        """
        for symbol in self.signature.settled.get(path, []):
            self.settled.add(symbol)
            self.held.discard(symbol)
            value = self.free.get(symbol, 0)
            if symbol in self.firsts:
                value = self.firsts[symbol][0]
            elif symbol in self.free:
                self.rules = [rule for rule in self.rules if symbol not in rule.names]
            else:
                self.unbound.add(symbol)
            self.learn({symbol: value}, Place(symbol, self.settled_place(symbol).arg))


def find_fault(signature, args, default_device="cpu"):
    try:
        Call(signature, default_device).check(args)
    except Fault as fault:
        return fault


def check(signature, args, default_device="cpu"):
    """The outcome of a call: None if it is accepted, else the error's kind and message."""
    fault = find_fault(signature, args, default_device)
    return fault and (fault.kind, fault.message)
