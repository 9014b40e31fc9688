# SPDX-License-Identifier: Apache-2.0
"""Writes pycute.txt: what pycute, NVIDIA's layout algebra in Python, makes of random layouts.

    python -m pip install --no-deps --target /tmp/cutlass nvidia-cutlass==4.2.0.0
    PYTHONPATH=/tmp/cutlass python crates/layout/tests/vectors/make.py > crates/layout/tests/vectors/pycute.txt

A line is an operation, as `kernpack layout` reads it, and its result; or `!` where pycute refuses, or
where its result is not what the operation is documented to be, which is found out by trying all
coordinates. Nothing here decides what is right: the laws are those of CuTe's documentation.
"""

import random
from pycute import (
    ComposedLayout,
    Layout,
    Swizzle,
    coalesce,
    complement,
    composition,
    cosize,
    crd2idx,
    filter,
    flatten,
    idx2crd,
    is_tuple,
    left_inverse,
    logical_divide,
    logical_product,
    product,
    right_inverse,
    size,
    slice_and_offset,
    tiled_divide,
    tiled_product,
    zipped_divide,
    zipped_product,
)

REFUSED = "!"
EXTENTS = [1, 2, 2, 3, 4, 4, 5, 6, 8]


def text(value) -> str:
    if isinstance(value, Layout):
        return f"{text(value.shape)}:{text(value.stride)}"
    if isinstance(value, Tiler):
        return "<" + ",".join(map(text, value.modes)) + ">"
    if is_tuple(value):
        return "(" + ",".join(map(text, value)) + ")"
    return "_" if value is None else str(value)


class Tiler:
    def __init__(self, modes):
        self.modes = tuple(modes)


class Random(random.Random):
    def nested(self, depth):
        if depth == 0 or self.random() < 0.45:
            return self.choice(EXTENTS)
        return tuple(self.nested(depth - 1) for _ in range(self.randint(1, 3)))

    def shape(self, most):
        while True:
            shape = self.nested(2)
            if product(shape) <= most:
                return shape

    def compact(self, shape, step=1):
        """Strides without holes but for a step, in any order of the modes."""
        extents = flatten(shape)
        strides = [0] * len(extents)
        for mode in self.sample(range(len(extents)), len(extents)):
            strides[mode] = step
            step *= extents[mode]
            if self.random() < 0.1:
                step *= self.choice([2, 3])
        return like(shape, iter(strides))

    def layout(self, most=64):
        shape = self.shape(most)
        kind = self.random()
        if kind < 0.3:
            return Layout(shape)
        if kind < 0.75:
            return Layout(shape, self.compact(shape, self.choice([1, 1, 1, 2, 3, 4])))
        return Layout(shape, like(shape, iter(self.choices([0, 1, 2, 3, 4, 6, 8, 12], k=40))))

    def tiler(self, shape):
        """A tiler for each mode of a shape, mostly one that fits."""
        return Tiler(self.part(product(mode)) for mode in modes(shape))

    def part(self, extent):
        divisors = [d for d in range(1, extent + 1) if extent % d == 0]
        count = self.choice(divisors + [2, 3])
        step = self.choice([d for d in divisors if count * d <= extent] or [1])
        return Layout(count, self.choice([1, step, step]))


def like(shape, strides):
    if is_tuple(shape):
        return tuple(like(mode, strides) for mode in shape)
    return next(strides)


def modes(shape):
    return shape if is_tuple(shape) else (shape,)


def images(layout):
    return [layout(i) for i in range(size(layout))]


def is_compatible(a, b):
    if is_tuple(a):
        return is_tuple(b) and len(a) == len(b) and all(map(is_compatible, a, b))
    return a == product(b)


def composes(a, b, result):
    """Whether it is compatible with b, and a(b(c)) for all c, also where b(c) is beyond a."""
    if not is_compatible(b.shape, result.shape):
        return False
    return all(a(at) == index for at, index in zip(images(b), images(result)))


def completes(a, target, result):
    """Whether both together have each index once, from 0 on and as far as the target."""
    both = [i + j for i in images(filter(a)) for j in images(result)]
    return sorted(both) == list(range(len(both))) and len(both) >= target


def composed_of(a, b):
    """Composition, refused where it is none."""
    result = composition(a, b)
    if not composes(a, b, result):
        raise AssertionError
    return result


def require_complement(layout, target):
    if not completes(layout, target, complement(layout, target)):
        raise AssertionError


def require_division(a, b):
    """That the tiler has a complement, and that both compose."""
    if isinstance(b, Tiler):
        for number, mode in enumerate(b.modes):
            require_division(a[number], mode)
        return
    require_complement(b, size(a))
    whole = Layout(
        (b.shape, complement(b, size(a)).shape), (b.stride, complement(b, size(a)).stride)
    )
    composed_of(a, whole)


def require_product(a, b):
    if isinstance(b, Tiler):
        for number, mode in enumerate(b.modes):
            require_product(a[number], mode)
        return
    target = size(a) * cosize(b)
    require_complement(a, target)
    composed_of(complement(a, target), b)


def plain(tiler):
    return tiler.modes if isinstance(tiler, Tiler) else tiler


LINES = {}


def write(call, result):
    try:
        LINES[call] = text(result())
    except (AssertionError, ZeroDivisionError, IndexError):
        LINES[call] = REFUSED


def one_of_one(r):
    a = r.layout()
    kind = r.randrange(6)
    if kind == 0:
        write(f"cosize({text(a)})", lambda: cosize(a))
    elif kind == 1:
        number = r.randrange(size(a))
        write(f"crd2idx({number},{text(a)})", lambda: crd2idx(number, a.shape, a.stride))
    elif kind == 2:
        number = r.randrange(size(a))
        write(f"idx2crd({number},{text(a.shape)})", lambda: idx2crd(number, a.shape))
    elif kind == 3:
        write(f"coalesce({text(a)})", lambda: coalesce(a))
    elif kind == 4:
        profile = tuple(1 for _ in modes(a.shape))
        write(
            f"coalesce({text(a)},{text(profile)})",
            lambda: coalesce(Layout(modes(a.shape), modes(a.stride)), profile),
        )
    else:
        write(f"filter({text(a)})", lambda: filter(a))


def one_slice(r):
    a = r.layout()
    number = r.randrange(size(a))
    coord = free(r, idx2crd(number, a.shape))
    if not is_tuple(coord) or None not in flatten(coord):
        return one_slice(r)
    kept, _ = slice_and_offset(coord, a)
    write(f"slice({text(coord)},{text(a)})", lambda: kept)
    return None


def free(r, coord):
    if r.random() < 0.4:
        return None
    return tuple(free(r, mode) for mode in coord) if is_tuple(coord) else coord


def one_composition(r):
    a = r.layout(96)
    if r.random() < 0.3 and is_tuple(a.shape):
        b = r.tiler(a.shape)

        def by_mode():
            for number, mode in enumerate(b.modes):
                composed_of(a[number], mode)
            return composition(a, plain(b))

        write(f"composition({text(a)},{text(b)})", by_mode)
    else:
        b = r.layout(size(a))
        write(f"composition({text(a)},{text(b)})", lambda: composed_of(a, b))


def one_complement(r):
    a = r.layout(32)
    target = r.choice([size(a), cosize(a), 2 * cosize(a), 24, 96, 100])

    def checked():
        require_complement(a, target)
        return complement(a, target)

    write(f"complement({text(a)},{target})", checked)


def one_inverse(r):
    a = r.layout()
    if len(set(images(a))) < size(a):
        return one_inverse(r)
    if r.random() < 0.5:
        write(f"right_inverse({text(a)})", lambda: right_inverse(a))
    else:

        def inverse():
            result = left_inverse(a)
            if any(result(index) != number for number, index in enumerate(images(a))):
                raise AssertionError
            return result

        write(f"left_inverse({text(a)})", inverse)
    return None


def one_division(r):
    name, divide = r.choice(
        [
            ("logical_divide", logical_divide),
            ("zipped_divide", zipped_divide),
            ("tiled_divide", tiled_divide),
        ]
    )
    a = r.layout(96)
    b = r.tiler(a.shape) if is_tuple(a.shape) and r.random() < 0.7 else r.part(size(a))

    def checked():
        require_division(a, b)
        return divide(a, plain(b))

    write(f"{name}({text(a)},{text(b)})", checked)


def one_product(r):
    name, multiply = r.choice(
        [
            ("logical_product", logical_product),
            ("zipped_product", zipped_product),
            ("tiled_product", tiled_product),
        ]
    )
    a = r.layout(24)
    if is_tuple(a.shape) and r.random() < 0.3:
        b = Tiler(Layout(r.choice([2, 3, 4]), r.choice([1, 1, 2])) for _ in a.shape)
    else:
        b = r.layout(16)

    def checked():
        require_product(a, b)
        return multiply(a, plain(b))

    write(f"{name}({text(a)},{text(b)})", checked)


def one_swizzle(r):
    bits = r.randint(0, 3)
    swizzle = Swizzle(bits, r.randint(0, 4), r.choice([-1, 1]) * r.randint(max(bits, 1), 4))
    a = Layout((8, 8, 4), r.compact((8, 8, 4)))
    composed = ComposedLayout(swizzle, r.choice([0, 0, 8, 64]), a)
    number = r.randrange(size(a))
    name = f"S<{swizzle.bits},{swizzle.base},{swizzle.shift}> o {composed.offset} o {text(a)}"
    write(f"crd2idx({number},{name})", lambda: composed(number))


def main():
    r = Random(20250901)
    kinds = [
        (one_of_one, 700),
        (one_slice, 250),
        (one_composition, 1000),
        (one_complement, 400),
        (one_inverse, 350),
        (one_division, 900),
        (one_product, 700),
        (one_swizzle, 150),
    ]
    print("# What pycute 4.2.0.0 makes of random layouts; written by make.py, which says how.")
    for one, count in kinds:
        before = len(LINES)
        while len(LINES) < before + count:
            one(r)
    for call, result in LINES.items():
        print(f"{call} = {result}")


if __name__ == "__main__":
    main()
