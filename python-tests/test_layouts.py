# SPDX-License-Identifier: Apache-2.0
"""Layouts in Python: the functions that kernels have, as values, and their pictures."""

import copy
import inspect
import pickle
import re
import timeit
import xml.etree.ElementTree as ET

import numpy
import pytest

import kernpack as kp
from conftest import REPOSITORY

SVG = "{http://www.w3.org/2000/svg}"
L = kp.Layout
m, n = kp.sym_int("m"), kp.sym_int("n", divisibility=32)
SWIZZLED = kp.make_composed_layout(kp.make_swizzle(2, 0, 2), 0, L("(4,4):(4,1)"))


def cells(svg):
    """The cells of a picture, and those of them that are marked."""
    root = ET.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    found = [each for each in root.iter(f"{SVG}rect") if "cell" in each.get("class", "")]
    return found, [each for each in found if "mark" in each.get("class")]


def texts(svg):
    return [each.text for each in ET.fromstring(svg).iter(f"{SVG}text")]


# Functions


def in_language():
    """The functions of layouts that kernels have, with their parameters."""
    text = (REPOSITORY / "docs/language.md").read_text()
    section = text.partition("### Layouts\n")[2].partition("\n### ")[0]
    return re.findall(r"^\| `kp\.(\w+)\((.*?)\)` \|", section, re.MULTILINE)


def test_every_function_of_kernels_is_here_with_its_parameters():
    rows = in_language()
    assert len(rows) > 35
    for name, params in rows:
        taken = inspect.signature(getattr(kp, name)).parameters.values()
        shown = [
            each.name if each.default is inspect.Parameter.empty else f"{each.name}=…"
            for each in taken
        ]
        assert ", ".join(shown) == params, name


# A call of each, with what CuTe's documentation or `docs/layouts.md` has for it.
RESULTS = [
    (lambda: kp.make_layout((4, 8)), "(4,8):(1,4)"),
    (lambda: kp.make_layout((4, 8), stride=(8, 1)), "(4,8):(8,1)"),
    (lambda: kp.make_layout([4, [2, 3]]), "(4,(2,3)):(1,(4,8))"),
    (lambda: kp.make_layout(8), "8:1"),
    (lambda: kp.make_layout((8,)), "(8):(1)"),
    (lambda: kp.make_layout(()), "():()"),
    (lambda: kp.make_layout(numpy.int64(8), numpy.int32(2)), "8:2"),
    (lambda: kp.make_layout(L("(4,2):(2,1)")), "(4,2):(1,4)"),
    (lambda: kp.make_ordered_layout((4, 8, 2), order=(1, 0, 2)), "(4,8,2):(8,1,32)"),
    (lambda: kp.make_identity_layout((4, (2, 3))), "(4,(2,3)):(1@0,(1@0@1,1@1@1))"),
    (lambda: kp.make_swizzle(3, 4, 3), "S<3,4,3>"),
    (lambda: SWIZZLED, "S<2,0,2> o 0 o (4,4):(4,1)"),
    (lambda: kp.make_composed_layout(kp.make_swizzle(3, 4, 3), 8, 64), "S<3,4,3> o 8 o 64:1"),
    (
        lambda: kp.make_layout_tv(L("(2,4):(4,1)"), L("(2,2):(2,1)")),
        "((4, 8), ((4,2),(2,2)):((8,2),(4,1)))",
    ),
    (lambda: kp.tile_to_shape(L("(2,2):(1,2)"), (8, 8)), "((2,4),(2,4)):((1,4),(2,16))"),
    (
        lambda: kp.tile_to_shape(L("(2,2):(1,2)"), (8, 8), order=(1, 0)),
        "((2,4),(2,4)):((1,16),(2,4))",
    ),
    (lambda: kp.size(L("(4,8):(16,1)")), "32"),
    (lambda: kp.size(((4, 2), 8), mode=[0, 1]), "2"),
    (lambda: kp.size((4, 8), 1), "8"),
    (lambda: kp.cosize(L("(4,8):(16,1)")), "56"),
    (lambda: kp.rank(((2, 2), 4)), "2"),
    (lambda: kp.depth(((2, 2), 4)), "2"),
    (lambda: kp.shape(L("((4,(2)),8)")), "((4, 2), 8)"),
    (lambda: kp.shape(L("8:1")), "(8,)"),
    (lambda: kp.get(L("((2,2),4):((1,8),2)"), [0, 1]), "2:8"),
    (lambda: kp.get(L("((2,2),4):((1,8),2)"), mode=0), "(2,2):(1,8)"),
    (lambda: kp.select((2, 3, 4), mode=(2, 0)), "(4,2):(6,1)"),
    (lambda: kp.group_modes((2, 3, 4), 0, 2), "((2,3),4):((1,2),6)"),
    (lambda: kp.group_modes((2, 3, 4), 1), "(2,(3,4)):(1,(2,6))"),
    (lambda: kp.coalesce(L("(2,(1,6)):(1,(6,2))")), "12:1"),
    (lambda: kp.filter(L("(4,2,3):(1,0,4)")), "12:1"),
    (lambda: kp.flatten(((2, 2), 4)), "(2,2,4):(1,2,4)"),
    (lambda: kp.right_inverse(L("(2,4):(4,1)")), "(4,2):(2,1)"),
    (lambda: kp.left_inverse(L("(4,2):(2,16)")), "(2,8,2):(0,1,4)"),
    (lambda: kp.complement(L("4:2"), cotarget=24), "(2,3):(1,8)"),
    (lambda: kp.complement(L("(2,2):(4,1)")), "2:2"),
    (lambda: kp.composition(L("(6,2):(8,2)"), L("(4,3):(3,1)")), "((2,2),3):((24,2),8)"),
    (
        lambda: kp.composition(L("(12,(4,8)):(59,(13,1))"), (L("3:4"), L("8:2"))),
        "(3,(2,4)):(236,(26,1))",
    ),
    (
        lambda: kp.logical_divide(L("(8,16):(16,1)"), (4, 4)),
        "((4,2),(4,4)):((16,64),(1,4))",
    ),
    (lambda: kp.zipped_divide(L("(8,16):(16,1)"), (4, 4)), "((4,4),(2,4)):((16,1),(64,4))"),
    (lambda: kp.zipped_divide((8, 16), (4, None)), "((4,1),(2,16)):((1,0),(4,8))"),
    (lambda: kp.tiled_divide(L("(8,16):(16,1)"), (4, 4)), "((4,4),2,4):((16,1),64,4)"),
    (lambda: kp.flat_divide(L("(8,16):(16,1)"), (4, 4)), "(4,4,2,4):(16,1,64,4)"),
    (lambda: kp.logical_product(L("(2,2):(4,1)"), L("6:1")), "((2,2),(2,3)):((4,1),(2,8))"),
    (
        lambda: kp.zipped_product(L("(2,5):(5,1)"), (L("3:5"), L("4:6"))),
        "((2,5),(3,4)):((5,1),(10,30))",
    ),
    (
        lambda: kp.tiled_product(L("(3,4):(4,1)"), L("(2,5):(1,2)")),
        "((3,4),2,5):((4,1),12,24)",
    ),
    (lambda: kp.flat_product(L("(3,4):(4,1)"), L("(2,5):(1,2)")), "(3,4,2,5):(4,1,12,24)"),
    (
        lambda: kp.blocked_product(L("(3,4):(4,1)"), (2, 5)),
        "((3,2),(4,5)):((4,12),(1,24))",
    ),
    (lambda: kp.raked_product(L("(3,4):(4,1)"), (2, 5)), "((2,3),(5,4)):((12,4),(24,1))"),
    (lambda: kp.local_tile(L("(8,16):(16,1)"), (4, 4), (1, 2)), "(4,4):(16,1) at 72"),
    (lambda: kp.local_tile(L("(8,16):(16,1)"), (4, 4), (0, 0)), "(4,4):(16,1)"),
    (lambda: kp.local_tile(L("(8,16):(16,1)"), (4, 4), (1, None)), "(4,4,4):(16,1,4) at 64"),
    (
        lambda: kp.local_tile(L("(8,16):(16,1)"), (4, 4, 2), (1, 2, 0), proj=(1, 1, None)),
        "(4,4):(16,1) at 72",
    ),
    (
        lambda: kp.local_partition(L("(8,16):(16,1)"), L("(2,4):(4,1)"), 5),
        "(4,4):(32,4) at 17",
    ),
    (lambda: kp.domain_offset((1, 2), L("(8,16):(16,1)")), "(8,16):(16,1) at 18"),
    (lambda: kp.crd2idx((1, 5), L("(4,8):(8,1)")), "13"),
    (lambda: kp.crd2idx((1, 2), L("(4,8):(1@0,1@1)")), "(1, 2)"),
    (lambda: kp.idx2crd(13, (4, 8)), "(1, 3)"),
    (lambda: kp.idx2crd(3, 8), "(3,)"),
    (lambda: kp.elem_less((1, 2), (2, 3)), "True"),
    (lambda: kp.elem_less((1, (2, 3)), (2, (3, 3))), "False"),
    (lambda: kp.ceil_div(7, 2), "4"),
]


@pytest.mark.parametrize(("call", "expected"), RESULTS)
def test_results(call, expected):
    assert str(call()) == expected


def test_each_function_has_a_result():
    called = {name for call, _ in RESULTS for name in call.__code__.co_names}
    assert {name for name, _ in in_language()} - called == set()


def test_operations_of_the_document():
    """What the tables of `docs/layouts.md` show, evaluated from Python."""
    text = (REPOSITORY / "docs/layouts.md").read_text()
    rows = re.findall(r"^\| `(\w+\(.*?\))` \| `([^`]*)` ", text, re.MULTILINE)
    layouts = [(call, result) for call, result in rows if ":" in result and " in " not in result]
    assert len(layouts) > 40
    for call, result in layouts:
        # What is known of names stands in the text.
        assert re.sub(r"\{[^}]*\}", "", str(L(call))) == result, call


def test_a_part_adds_its_offset():
    tile = kp.local_tile(L("(8,16):(16,1)"), (4, 4), (1, 2))
    mine = kp.local_partition(tile, (2, 2), 3)
    assert str(mine) == "(2,2):(32,2) at 89"
    assert [mine((i, j)) for i in (0, 1) for j in (0, 1)] == [89, 91, 121, 123]
    assert str(kp.zipped_divide(tile, (2, 2))) == "((2,2),(2,2)):((16,1),(32,2)) at 72"


# Values


def test_attributes():
    of = L("((2,2),4):((1,8),2)")
    assert (of.shape, of.stride) == (((2, 2), 4), ((1, 8), 2))
    assert (of.size, of.cosize, of.rank, of.depth, len(of)) == (16, 16, 2, 2, 2)
    assert (of.inner, of.offset, of.outer) == (of, 0, None)
    assert [str(mode) for mode in of] == ["(2,2):(1,8)", "4:2"] == [str(of[0]), str(of[1])]
    assert kp.make_layout(of.shape, of.stride) == of


def test_calls():
    of = L("((2,2),4):((1,8),2)")
    assert of(15) == of((3, 3)) == of(((1, 1), 3)) == of([3, 3]) == 15
    assert str(of((None, 2))) == "((2,2)):((1,8)) at 4"
    assert of((None, 2)).offset == 4
    assert str(of[None, 2]) == "((2,2)):((1,8))"
    assert L("(2,3):(1@0,1@1)")((1, 2)) == (1, 2)
    assert isinstance(L("(4,8):(8,1)")((kp.sym_int("row_of"), 2)), kp.SymInt)


def test_composed_layouts():
    assert (SWIZZLED.outer, SWIZZLED.offset) == (kp.Swizzle("S<2,0,2>"), 0)
    assert (str(SWIZZLED.inner), SWIZZLED.shape, SWIZZLED.size) == ("(4,4):(4,1)", (4, 4), 16)
    assert [SWIZZLED((1, j)) for j in range(4)] == [5, 4, 7, 6]
    assert str(SWIZZLED((1, None))) == "S<2,0,2> o 4 o (4):(1)"
    assert str(kp.zipped_divide(SWIZZLED, (2, 2))).startswith("S<2,0,2> o 0 o ((2,2),(2,2))")
    swizzle = kp.make_swizzle(2, 0, 2)
    assert (swizzle.bits, swizzle.base, swizzle.shift, swizzle(5)) == (2, 0, 2, 4)


def test_identity_layouts():
    of = kp.make_identity_layout((2, 5))
    tile = kp.local_tile(of, (2, 4), (0, 1))
    assert str(tile) == "(2,4):(1@0,1@1) at (0,4)"
    assert (tile.offset, tile((1, 3)), of.stride) == ((0, 4), (1, 7), ("1@0", "1@1"))
    assert kp.make_layout(of.shape, of.stride) == of
    assert kp.elem_less(tile((1, 0)), of.shape)
    assert not kp.elem_less(tile((1, 3)), of.shape)


VALUES = [
    L("((2,2),4):((1,8),2)"),
    L("(4,4):(16,1) at 72"),
    SWIZZLED,
    kp.make_identity_layout((2, 5)),
    kp.make_layout((m, n), (n, 1)),
    kp.make_swizzle(3, 4, 3),
]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_values_are_what_their_text_is(value):
    kind = type(value)
    again = kind(str(value))
    assert again == value and hash(again) == hash(value) and repr(again) == str(value)
    assert pickle.loads(pickle.dumps(value)) == value == copy.deepcopy(value)
    assert {value: 1}[again] == 1
    assert value != str(value) and value != L("7:3")
    with pytest.raises(AttributeError, match="does not change"):
        value.text = "1:0"
    with pytest.raises(AttributeError, match="does not change"):
        value._text = "1:0"


def test_layouts_of_a_text():
    assert str(L("(4,8)")) == "(4,8):(1,4)" == str(L("make_layout((4,8))"))
    assert str(L(" ( 4 , 8 ) : ( 8 , 1 ) ")) == "(4,8):(8,1)"
    assert str(L("size((4,8))")) == "32:1", "a number is a shape"


# Symbols


def test_symbols_say_what_is_known_of_them():
    of = kp.make_layout((m, n), stride=(n, 1))
    assert str(of) == "(m,n{div=32}):(n{div=32},1)"
    assert str(kp.make_layout(kp.sym_int("k", divisibility=2))) == "k{div=2}:1"
    assert of.shape == (m, n) and of.shape[1].divisibility == 32
    tiles = kp.zipped_divide(of, (1, 32))
    assert str(tiles) == "((1,32),(m,n{div=32}//32)):((0,1),(n{div=32},32))"
    assert L(str(tiles)) == tiles
    # A result is an extent again.
    assert str(kp.make_layout(tiles.shape[1])) == "(m,n{div=32}//32):(1,m)"
    halves = kp.zipped_divide(of, (1, 16)).shape[1]
    assert str(kp.make_layout(halves)) == "(m,n{div=32}//16):(1,m)"
    assert isinstance(of.size, kp.SymInt) and of.size.divisibility == 32
    assert str(kp.composition(kp.make_layout((n, m), (m, 1)), 4)) == "4:m"
    assert kp.signature("f", x=kp.fake_tensor(kp.float32, of.shape)) == (
        "f(x: Tensor([m, n], float32)) where n % 32 == 0"
    )


def test_symbols_of_one_name_are_one():
    assert kp.sym_int("n") == kp.sym_int("n") != kp.sym_int("m")
    assert kp.sym_int("n") != kp.sym_int("n", divisibility=2)
    unnamed = kp.sym_int()
    assert unnamed == unnamed != kp.sym_int()
    assert len({kp.sym_int("n"), kp.sym_int("n"), kp.sym_int(), kp.sym_int()}) == 3
    with pytest.raises(ValueError, match="is said to be something else, too"):
        kp.make_layout((kp.sym_int("n", divisibility=4), n))


def test_what_is_not_known_is_refused():
    with pytest.raises(ValueError, match="`4` elements are not known to be a multiple"):
        kp.composition(kp.make_layout((m, n), (n, 1)), 4)
    with pytest.raises(ValueError, match="whether `m` is less than `8` is not known"):
        kp.elem_less((m,), (8,))
    assert not kp.elem_less((m, 8), (m, 9))


# Mistakes


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: L("(4"), ValueError, "expected `,` or `)`, found the end"),
        (lambda: L("S<3,4,3>"), ValueError, "expected a layout, found `S<3,4,3>`"),
        (lambda: L("(4:1,2:1)"), ValueError, "expected a layout, found a tiler"),
        (lambda: kp.Swizzle("4:1"), ValueError, "expected a swizzle, found `4:1`"),
        (lambda: kp.make_layout((4, -1)), ValueError, "the extent `-1` is negative"),
        (lambda: kp.make_layout((4, 8), (1,)), ValueError, "are not nested alike"),
        (lambda: kp.make_layout("x"), TypeError, "expected an integer, found 'x'"),
        (lambda: kp.make_layout((4, 8), ("8@0,1", 1)), TypeError, "expected an integer"),
        (lambda: kp.make_layout(4.0), TypeError, "expected an integer, found 4.0"),
        (lambda: kp.make_layout(True), TypeError, "expected an integer, found True"),
        (lambda: kp.make_layout(1 << 70), ValueError, "exceeds 64 bits"),
        (lambda: kp.make_layout((kp.sym_int(), 2)), ValueError, "a symbol of a layout has a name"),
        (lambda: kp.make_swizzle(3, 0, 1), ValueError, "`S<3,0,1>` is no swizzle"),
        (lambda: kp.make_composed_layout(4, 0, 8), TypeError, "expected a swizzle, found 4"),
        (lambda: L("(4,8)")[2], ValueError, "`(4,8):(1,4)` has 2 modes, and no mode 2"),
        (lambda: L("(4,8)")[1, 1], ValueError, "a layout has modes by number"),
        (lambda: L("(4,8)")((1, 2, 3)), ValueError, "the coordinate `(1,2,3)` does not fit"),
        (lambda: SWIZZLED[1, None], ValueError, "with a swizzle, S<2,0,2>, is no plain layout"),
        (lambda: kp.right_inverse(SWIZZLED), ValueError, "found a composed layout"),
        (lambda: kp.right_inverse(L("8:1 at 3")), ValueError, "found a part of a layout"),
        (lambda: kp.elem_less((1, 2), (3,)), ValueError, "2 numbers are compared with 1"),
        (lambda: kp.ceil_div(1, 0), ValueError, "by 0"),
        (lambda: kp.group_modes((2, 3), 1, 1), ValueError, "no range 1 to 1"),
    ],
)
def test_mistakes(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()


def test_calls_take_microseconds():
    of = L("(8,16):(16,1)")
    kp.zipped_divide(of, (4, 4))
    taken = min(timeit.repeat(lambda: kp.zipped_divide(of, (4, 4)), number=100, repeat=5))
    assert taken / 100 < 200e-6


# Pictures


def test_notebooks_show_a_picture():
    svg = L("((2,2),4):((1,8),2)")._repr_svg_()
    found, marked = cells(svg)
    assert len(found) == 16 and not marked
    assert {str(number) for number in range(16)} <= set(texts(svg))
    assert svg == L("((2,2),4):((1,8),2)")._repr_svg_(), "the same each time"
    assert "prefers-color-scheme:dark" in svg and "http" not in svg.replace(SVG[1:-1], "")
    assert len(cells(SWIZZLED._repr_svg_())[0]) == 16
    assert "(1,2)" in texts(kp.make_identity_layout((2, 3))._repr_svg_())
    for undrawn in ("(m,4)", "(65,2)", "(2,2,2)"):
        assert L(undrawn)._repr_svg_() is None


def test_a_picture_goes_to_a_file(tmp_path):
    path = tmp_path / "a.svg"
    kp.draw((4, 8), path)
    assert len(cells(path.read_text())[0]) == 32
    tv = kp.make_layout_tv(L("(2,4):(4,1)"), L("(2,2):(2,1)"))
    kp.draw(tv, str(path))
    svg = path.read_text()
    assert len(cells(svg)[0]) == 32 and {"T0V0", "T7V3"} <= set(texts(svg))
    of_thread = {each.get("fill") for each in cells(svg)[0]}
    assert len(of_thread) == 8, "a colour for each thread"
    # A shape of one mode, and of two of which one is a layout.
    for shape, n_cells in (((4,), 4), ((4, L("8:2")), 32)):
        kp.draw(shape, path)
        assert len(cells(path.read_text())[0]) == n_cells
    assert [each.name for each in tmp_path.iterdir()] == ["a.svg"]


def test_banks(tmp_path):
    path = tmp_path / "a.svg"
    rows = L("(32,32):(32,1)")
    kp.draw(rows, path, banks=4)
    found, marked = cells(path.read_text())
    assert (len(found), len(marked)) == (1024, 32)
    assert "32 threads (t): 32-way conflict" in texts(path.read_text())
    kp.draw(rows, path, banks=4, threads=L("32:32"))
    assert "32 threads (t): no conflict" in texts(path.read_text())
    kp.draw(kp.make_composed_layout(kp.make_swizzle(5, 0, 5), 0, rows), path, banks=4)
    assert not cells(path.read_text())[1]
    kp.draw(L("32:1"), path, banks=1)
    assert not cells(path.read_text())[1]


def test_what_is_not_drawn_is_not_written(tmp_path):
    path = tmp_path / "a.svg"
    path.write_text("old")
    mistakes = [
        ({"layout": (65, 2)}, "has 65 rows and 2 columns, and a picture has 64 of each at most"),
        ({"layout": (m, 2)}, "not all of its numbers are known"),
        ({"layout": (2, 2, 2)}, "has 3 modes, and a picture shows one or two"),
        ({"layout": 8, "banks": 3}, "an element has 1, 2, 4, 8 or 16 bytes"),
        ({"layout": 8, "banks": 0}, "`banks` is the bytes of an element"),
        ({"layout": 8, "threads": 8}, "pass `banks`, too"),
        ({"layout": 8, "banks": 4, "threads": 16}, "thread 8 of `16:1` accesses coordinate 8"),
    ]
    for arguments, message in mistakes:
        with pytest.raises(ValueError, match=re.escape(message)):
            kp.draw(**arguments, path=path)
    with pytest.raises(ValueError, match=r"the name must end in .svg$"):
        kp.draw(8, tmp_path / "a.png")
    with pytest.raises(OSError, match="there is no folder"):
        kp.draw(8, tmp_path / "nowhere/a.svg")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.svg"]
