# SPDX-License-Identifier: Apache-2.0
"""The signature language of `docs/signature.md`, as far as valid signatures need it: text, kinds,
and where a symbol gets its value.

A *path* such as `p.x.shape[1]` names one thing that a call is checked for. Absent: diagnostics
worth reading, launches.
"""

import ast
import itertools
import math
import operator
import re
from collections import namedtuple

SIZES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
EXOTIC = [
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float4_e2m1fn",
]
DTYPES = {
    "bool": (6, 8, 1),
    "int4": (0, 4, 1),
    **{name: (int(name[0] == "u"), int(name.strip("uint")), 1) for name in SIZES},
    "float16": (2, 16, 1),
    "float32": (2, 32, 1),
    "float64": (2, 64, 1),
    "bfloat16": (4, 16, 1),
    "complex64": (5, 64, 1),
    "complex128": (5, 128, 1),
    **{name: (7 + i, int(name[5]), 1) for i, name in enumerate(EXOTIC)},
    "float4_e2m1fnx2": (17, 4, 2),
}
INT_RANGES = {
    name: (0, 2 ** DTYPES[name][1] - 1)
    if name[0] == "u"
    else (-(2 ** (DTYPES[name][1] - 1)), 2 ** (DTYPES[name][1] - 1) - 1)
    for name in SIZES
} | {"bool": (0, 1)}
# The largest finite value, and the least one that rounds beyond it.
FLOAT_RANGES = {
    "float16": (65504.0, 65520.0),
    "bfloat16": ((2 - 2.0**-7) * 2.0**127, (2 - 2.0**-8) * 2.0**127),
    "float32": ((2 - 2.0**-23) * 2.0**127, (2 - 2.0**-24) * 2.0**127),
    "float64": (1.7976931348623157e308, math.inf),
}
RESERVED = {
    *DTYPES,
    *"Tensor Shape Tuple Optional String DataType Pointer Stream EnvStream where noalias aligned ceildiv min max _".split(),
}
CALLS = {"ceildiv": lambda a, b: -(-a // b), "min": min, "max": max}
INFIX = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
}
COMPARISONS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
SIGNS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}

Tensor = namedtuple(
    "Tensor", "dims dtype order strides align devices peer mut"
)  # order: a word or a tuple; strides: None, "any" or Exprs
Scalar = namedtuple("Scalar", "dtype")
Shape = namedtuple("Shape", "dims")
Tuple = namedtuple("Tuple", "elements")  # of (name or None, type)
Optional = namedtuple("Optional", "inner")
Pointer = namedtuple("Pointer", "dtype nonnull align")
Stream = namedtuple("Stream", "word")
String = namedtuple("String", "word")
DataType = namedtuple("DataType", "word")
Literal = namedtuple("Literal", "value")
Param = namedtuple("Param", "name type default")  # default: None, or a Literal
# op: a comparison, "in", "texts" (a String is one of some), "dtypes" (a list of variables is one of
# several lists of dtypes), "noalias", "aligned", "and", "or", "not" (left: rules)
Rule = namedtuple("Rule", "op left right names")
Use = namedtuple(
    "Use", "expr path role optionals"
)  # role: "dim", "param", "stride"; optionals: the paths of the Optionals around it
Binding = namedtuple("Binding", "symbol scale shift solved")
Star = namedtuple("Star", "name")  # of any number of dims; None: without a name
StarUse = namedtuple("StarUse", "name path optionals")


def fit(value):
    """A 64-bit value; None stands for one that overflowed, or was divided by what is not positive."""
    return value if -(2**63) <= value < 2**63 else None


def written(value):
    return (
        "an overflow" if value is None else shown(value) if isinstance(value, bytes) else str(value)
    )


# What stands in a text for a character of its own.
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def shown(text):
    """What a message shows of the bytes of a text."""
    characters, n_shown = (
        [
            ESCAPES.get(chr(byte), chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}")
            for byte in text
        ],
        0,
    )
    while n_shown < len(characters) and len("".join(characters[: n_shown + 1])) <= 26:
        n_shown += 1
    return f'"{"".join(characters[:n_shown])}"' + "..." * (n_shown < len(characters))


def literal_text(value):
    return (
        f'"{"".join(ESCAPES.get(c, c) for c in value)}"' if isinstance(value, str) else repr(value)
    )


def nearest(number, dtype):
    """The float of a dtype that is nearest to a number, ties to even."""
    if not math.isfinite(number) or number == 0 or dtype == "float64":
        return float(number)
    digits, least, most = {
        "float16": (11, -14, 15),
        "bfloat16": (8, -126, 127),
        "float32": (24, -126, 127),
    }[dtype]
    unit = 2.0 ** (max(math.frexp(number)[1] - 1, least) - digits + 1)
    rounded = round(number / unit) * unit  # a power of two divides without an error
    return rounded if abs(rounded) < 2.0**most * 2 else math.copysign(math.inf, number)


class Float(namedtuple("Float", "received dtype")):
    """A float parameter: what arrived, and the dtype whose nearest float is its value."""

    def __str__(self):
        return repr(float(self.received))


def float_sides(left, right, values):
    """The numbers that a comparison of floats compares; None of any other."""
    known = [values.get(side.left) if side.op == "name" else None for side in (left, right)]
    dtypes = [value.dtype for value in known if isinstance(value, Float)]
    if not dtypes:
        return None
    return [
        nearest(value.received, value.dtype)
        if isinstance(value, Float)
        else nearest(side.left, dtypes[0])
        for side, value in zip((left, right), known)
    ]


class Expr(namedtuple("Expr", "op left right names", defaults=(None, ()))):
    """op: "int", "float", "name" (a symbol, or a field such as x.shape[0]), or one of INFIX and
    CALLS. names: in order of first appearance.
    """

    def value(self, values):
        if self.op in ("int", "name"):
            return fit(self.left) if self.op == "int" else values[self.left]
        left, right = self.left.value(values), self.right.value(values)
        fails = left is None or right is None or (self.op in ("//", "%", "ceildiv") and right <= 0)
        return None if fails else fit((INFIX | CALLS)[self.op](left, right))

    def linear(self):
        """(a, c) of an expression over one symbol that is a*s + c in any arrangement, a > 0; None
        of any other.
        """
        found = self.collected() if len(self.names) == 1 else None
        return found if found and found[0] > 0 else None

    def collected(self):
        """(a, c) of an expression over at most one symbol that is a*s + c: constants are folded,
        then terms are added up.
        """
        if not self.names:
            return None if self.value({}) is None else (0, self.value({}))
        if self.op == "name":
            return 1, 0
        left, right = self.left.collected(), self.right.collected()
        if (
            not left
            or not right
            or self.op not in ("+", "-", "*")
            or self.op == "*"
            and self.left.names
            and self.right.names
        ):
            return None
        (a, c), (b, d) = left, right
        a, c = (
            (a * d + b * c, c * d)
            if self.op == "*"
            else (INFIX[self.op](a, b), INFIX[self.op](c, d))
        )
        return None if fit(a) is None or fit(c) is None else (a, c)

    def danger(self):
        """Why the expression may have no value, as a message says it."""
        overflow = ["an overflow"] * bool(self.operators() & {"+", "-", "*"})
        return " or ".join(overflow + ["a divisor that is not positive"] * self.divides_by_names())

    def divides_by_names(self):
        here = self.op in ("//", "%", "ceildiv") and bool(self.right.names)
        return (
            here
            or self.op not in ("int", "name")
            and (self.left.divides_by_names() or self.right.divides_by_names())
        )

    def operators(self):
        return (
            {self.op}
            if self.op in ("int", "float", "name")
            else {self.op} | self.left.operators() | self.right.operators()
        )

    def text(self, values=None, around=0):
        """`values` go in for names, if given. `around`: the least precedence that needs no
        parentheses here; 0 outside of operators.
        """
        if self.op in ("int", "float", "name"):
            return (
                self.left
                if self.op == "name" and values is None
                else written(values[self.left] if self.op == "name" else self.left)
            )
        if self.op in CALLS:
            return f"{self.op}({self.left.text(values)}, {self.right.text(values)})"
        level = 1 if self.op in ("+", "-") else 2
        space = " " if level == 1 or (around == 0 and self.op != "*") else ""
        text = f"{self.left.text(values, level)}{space}{self.op}{space}{self.right.text(values, level + 1)}"
        return f"({text})" if level < around else text


def dim_text(dim):
    return f"*{dim.name or '_'}" if isinstance(dim, Star) else dim.text() if dim else "_"


def dims_text(dims):
    return f"[{', '.join(map(dim_text, dims))}]"


def star_place(dims):
    """Where the star stands among dims; None without one."""
    return next((i for i, dim in enumerate(dims) if isinstance(dim, Star)), None)


def number_text(dims, i):
    """How the dim written at place `i` is counted: from the left, and behind a star from the right."""
    star = star_place(dims)
    return dim_text(dims[i]) if i == star else i - len(dims) if star is not None and i > star else i


def dim_numbers(dims):
    """The numbers by which the dims may be counted, from the left and from the right."""
    star = star_place(dims)
    before, behind = (len(dims), len(dims)) if star is None else (star, len(dims) - star - 1)
    return range(-behind, before)


def type_text(kind):
    match kind:
        case Tensor(dims, dtype):
            return f"Tensor({dims_text(dims)}, {dtype})"
        case Shape(dims):
            return f"Shape({dims_text(dims)})"
        case Tuple(elements):
            return f"Tuple({', '.join((f'{name}: ' if name else '') + type_text(t) for name, t in elements)})"
        case Optional(inner):
            return f"Optional[{type_text(inner)}]"
        case Pointer(dtype):
            return f"Pointer({dtype})" if dtype else "Pointer"
        case Literal(value):
            return literal_text(value)
    return kind[0]  # a Scalar's dtype, the word of another kind


def short(signature):
    def list_text(params):
        return ", ".join(f"{param.name}: {type_text(param.type)}" for param in params)

    results = f" -> {list_text(signature.results)}" if signature.results else ""
    return f"{signature.name}({list_text(signature.arguments)}){results}"


def parse(text):
    """(name, params, results, rules), by Python's own parser: with `@` for `:` and `=`, the parts
    of a signature are expressions. Texts are spelled in a way that none of these characters is in
    them.
    """

    def plain(found):
        return (
            '"' + "".join(f"\\U{ord(c):08x}" for c in ast.literal_eval(found[0])) + '"'
            if found[0][0] == '"'
            else ""
        )

    text = re.sub(r'"(?:\\.|[^"\\])*"|#.*', plain, text)
    pythonic = re.sub(r"(?<![=!<>])=(?!=)|:", "@", text)
    head, results, rules = re.fullmatch(
        r"(.*?)(?:->(.*?))?(?:\bwhere\b(.*))?", pythonic, re.DOTALL
    ).groups()
    parts = [head, f"{results}," if results else "", f"{rules}," if rules else ""]
    try:
        head, results, rules = (
            ast.parse(f"({part.strip()}\n)", mode="eval").body for part in parts
        )
        match head:
            case ast.Call(ast.Name(name), params, []):
                return (
                    name,
                    [parse_param(p) for p in params],
                    [parse_param(r) for r in results.elts],
                    [parse_rule(r) for r in rules.elts],
                )
        refuse(head)
    except (SyntaxError, AttributeError, TypeError) as error:
        raise ValueError(f"cannot parse `{text}`: {error}") from None


def refuse(node):
    raise ValueError(f"cannot parse `{ast.unparse(node)}`")


def parse_param(node):
    match node:
        case ast.BinOp(ast.BinOp(ast.Name(name), ast.MatMult(), kind), ast.MatMult(), default):
            return Param(
                name,
                parse_type(kind),
                Literal(default.id if isinstance(default, ast.Name) else ast.literal_eval(default)),
            )
        case ast.BinOp(ast.Name(name), ast.MatMult(), kind):
            return Param(name, parse_type(kind), None)
    refuse(node)


def parse_type(node):
    match node:
        case ast.Name("Stream" | "EnvStream" as word):
            return Stream(word)
        case ast.Name("String" as word):
            return String(word)
        case ast.Name("DataType" as word):
            return DataType(word)
        case ast.Name("Pointer"):
            return Pointer(None, False, 1)
        case ast.Name(name) if name in INT_RANGES or name in FLOAT_RANGES:
            return Scalar(name)
        case ast.Constant() | ast.UnaryOp(ast.USub(), ast.Constant()):
            return Literal(ast.literal_eval(node))
        case ast.Subscript(ast.Name("Optional"), inner):
            return Optional(parse_type(inner))
        case ast.Call(ast.Name("Shape"), [ast.List(dims)]):
            return Shape(parse_dims(dims))
        case ast.Call(ast.Name("Tuple"), elements):
            return Tuple(
                [
                    parse_param(e)[:2] if isinstance(e, ast.BinOp) else (None, parse_type(e))
                    for e in elements
                ]
            )
        case ast.Call(ast.Name("Pointer" | "Tensor" as word), arguments):
            options = {a.left.id: a.right for a in arguments if isinstance(a, ast.BinOp)}
            options |= {a.id: a for a in arguments if isinstance(a, ast.Name)}
            align = ast.literal_eval(options["align"]) if "align" in options else None
        case _:
            refuse(node)
    match word, arguments:
        case "Pointer", [ast.Name(dtype), *_] if dtype in DTYPES:
            return Pointer(dtype, "nonnull" in options, align or 1)
        case "Tensor", [ast.List(dims), ast.Name(dtype), *_]:
            order, strides, device = (
                options.get("order", ast.Name("row")),
                options.get("strides"),
                options.get("device"),
            )
            order = (
                order.id
                if isinstance(order, ast.Name)
                else ast.literal_eval(ast.Tuple(getattr(order, "elts", [order])))
            )
            strides = (
                parse_dims(strides.elts)
                if isinstance(strides, ast.List)
                else strides and strides.id
            )
            return Tensor(
                parse_dims(dims),
                dtype,
                order,
                strides,
                align,
                device and [d.id for d in getattr(device, "elts", [device])],
                "peer" in options,
                "mut" in options,
            )
    refuse(node)


def parse_dims(nodes):
    return [parse_dim(node) for node in nodes]


def parse_dim(node):
    match node:
        case ast.Name("_"):
            return None
        case ast.Starred(ast.Name(name)):
            return Star(None if name == "_" else name)
    return parse_expr(node)


def name_expr(name):
    return Expr("name", name, None, (name,))


def parse_int(node):
    number = int(ast.literal_eval(node))
    if fit(number) is None:
        raise ValueError(f"{number} does not fit 64 bits")
    return number


def parse_expr(node):
    match node:
        case ast.Constant(int()) | ast.UnaryOp(ast.USub(), ast.Constant(int())):
            return Expr("int", parse_int(node))  # True and False are 1 and 0
        case ast.Constant(float()) | ast.UnaryOp(ast.USub(), ast.Constant(float())):
            return Expr("float", ast.literal_eval(node))
        case (
            ast.Name()
            | ast.Attribute(_, "given")
            | ast.Attribute(ast.Name())
            | ast.Subscript(
                ast.Name() | ast.Attribute(ast.Name()),
                ast.Constant() | ast.UnaryOp(ast.USub(), ast.Constant()),
            )
        ):
            return name_expr(ast.unparse(node))
        case ast.Call(ast.Name(op), [left, right]) if op in CALLS:
            pass
        case ast.BinOp(left, sign, right) if SIGNS.get(type(sign)) in INFIX:
            op = SIGNS[type(sign)]
        case _:
            refuse(node)
    left, right = parse_expr(left), parse_expr(right)
    return Expr(op, left, right, tuple(dict.fromkeys(left.names + right.names)))


def parse_rule(node):
    match node:
        case ast.BoolOp(op, nodes):
            return joined("and" if isinstance(op, ast.And) else "or", nodes)
        case ast.UnaryOp(ast.Not(), inner):
            return joined("not", [inner])
        case ast.Call(ast.Name("noalias"), [ast.Name(a), ast.Name(b)]):
            return Rule("noalias", a, b, (a, b))
        case ast.Call(ast.Name("aligned"), [ast.Name(tensor), ast.Constant(int(size))]):
            return Rule("aligned", tensor, size, (tensor,))
        case ast.Compare(left, [ast.In()], [ast.Set([ast.Name() | ast.Tuple(), *_] as choices)]):
            variables, *choices = (
                [part.id for part in getattr(side, "elts", [side])] for side in (left, *choices)
            )
            return Rule("dtypes", variables, choices, tuple(variables))
        case ast.Compare(ast.Name(name), [ast.Eq() | ast.NotEq() as sign], [ast.Name(dtype)]) if (
            dtype in DTYPES
        ):
            rule = Rule("dtypes", [name], [[dtype]], (name,))
            return rule if isinstance(sign, ast.Eq) else Rule("not", [rule], None, rule.names)
        case ast.Compare(
            ast.Name(name), [ast.Eq() | ast.NotEq() as sign], [ast.Constant(str(text))]
        ):
            rule = Rule("texts", name_expr(name), [text], (name,))
            return rule if isinstance(sign, ast.Eq) else Rule("not", [rule], None, rule.names)
        case ast.Compare(ast.Name(name), [ast.In()], [ast.Set([ast.Constant(str()), *_] as texts)]):
            return Rule("texts", name_expr(name), [text.value for text in texts], (name,))
        case ast.Compare(ast.Name(name), [ast.In()], [ast.Set(ints)]):
            return Rule("in", name_expr(name), [parse_int(i) for i in ints], (name,))
        case ast.Compare(left, [sign], [right]) if SIGNS.get(type(sign)) in COMPARISONS:
            left, right = parse_expr(left), parse_expr(right)
            return Rule(SIGNS[type(sign)], left, right, left.names + right.names)
    refuse(node)


def joined(op, nodes):
    rules = [parse_rule(node) for node in nodes]
    return Rule(
        op, rules, None, tuple(dict.fromkeys(name for rule in rules for name in rule.names))
    )


def parts(rule):
    """What `and`, `or` and `not` join, in order."""
    return (
        [part for inner in rule.left for part in parts(inner)]
        if rule.op in ("and", "or", "not")
        else [rule]
    )


def may_remain(rule):
    """Whether something may remain of a rule where something that it names is absent."""
    return rule.op in ("and", "or", "not") or any(name.endswith(".given") for name in rule.names)


def remaining(rule, is_absent, negated=False):
    """What remains of a rule, or of its opposite, where something that it names is absent: negation
    is carried inward to the comparisons, and those over what is absent are left out. None where
    nothing remains.
    """
    match rule.op:
        case "not":
            return remaining(rule.left[0], is_absent, not negated)
        case "and" | "or" as word:
            left = [remaining(inner, is_absent, negated) for inner in rule.left]
            left = [inner for inner in left if inner]
            word = {"and": "or", "or": "and"}[word] if negated else word
            return Rule(word, left, None, rule.names) if left else None
    if any(is_absent(name) for name in rule.names):
        return None
    return Rule("not", [rule], None, rule.names) if negated else rule


def rule_text(rule, brackets=()):
    """`brackets`: the words of joined rules that need them here."""
    match rule:
        case Rule("noalias", a, b):
            return f"noalias({a}, {b})"
        case Rule("aligned", tensor, size):
            return f"aligned({tensor}, {size})"
        case Rule("dtypes", [variable], choices):
            return f"{variable} in {{{', '.join(choice for [choice] in choices)}}}"
        case Rule("dtypes", variables, choices):
            variables, *choices = (f"({', '.join(names)})" for names in (variables, *choices))
            return f"{variables} in {{{', '.join(choices)}}}"
        case Rule("in", left, values):
            return f"{left.text()} in {{{', '.join(map(str, values))}}}"
        case Rule("texts", name, [text]):
            return f"{name.text()} == {literal_text(text)}"
        case Rule("texts", name, texts):
            return f"{name.text()} in {{{', '.join(map(literal_text, texts))}}}"
        case Rule("not", [Rule("dtypes", [variable], [[dtype]])]):
            return f"{variable} != {dtype}"
        case Rule("not", [Rule("texts", name, [text])]):
            return f"{name.text()} != {literal_text(text)}"
        case Rule("not", [inner]):
            return f"not {rule_text(inner, ('and', 'or'))}"
        case Rule("and" | "or" as word, rules):
            text = f" {word} ".join(
                rule_text(inner, ("and", "or") if word == "and" else ("or",)) for inner in rules
            )
            return f"({text})" if word in brackets else text
        case Rule(op, left, right):
            return f"{left.text()} {op} {right.text()}"


def outcomes(rule, dtypes):
    """What may come of a rule with these dtypes, whatever else a call has: True, False, and None
    where it has no value.
    """
    match rule.op:
        case "dtypes":
            fitting = [
                choice
                for choice in rule.right
                if all(dtypes.get(v, dtype) == dtype for v, dtype in zip(rule.left, choice))
            ]
            return (
                {False} if not fitting else {True} if {*rule.left} <= {*dtypes} else {True, False}
            )
        case "not":
            return {
                None if result is None else not result for result in outcomes(rule.left[0], dtypes)
            }
        case "and" | "or" as word:
            going_on, results = word == "and", {word == "and"}
            for inner in rule.left:
                if going_on in results:
                    results = results - {going_on} | outcomes(inner, dtypes)
            return results
    return {True, False, None}


def listed(rule, variable):
    """The dtypes that a rule lists for a variable; None where it lists none."""
    match rule.op:
        case "dtypes" if variable in rule.left:
            return list(dict.fromkeys(choice[rule.left.index(variable)] for choice in rule.right))
        case "and":
            return next(
                (dtypes for inner in rule.left if (dtypes := listed(inner, variable))), None
            )
        case "or":
            each = [listed(inner, variable) for inner in rule.left]
            return (
                None
                if None in each
                else list(dict.fromkeys(dtype for dtypes in each for dtype in dtypes))
            )


def is_symbol(path, dtype):
    """An integer parameter is the symbol of its name; parts of tuples and uint64 are not."""
    return path.isidentifier() and dtype in SIZES and dtype != "uint64"


def given_with(use, other):
    """Whether a use is given wherever another one is: each Optional around it is around that too."""
    return other.optionals[: len(use.optionals)] == use.optionals


class Signature:
    """A parsed signature, and where each symbol and each dtype variable gets its value."""

    def __init__(self, text):
        self.name, self.params, self.results, rules = parse(text)
        self.arguments = [param for param in self.params if param.type != Stream("EnvStream")]
        self.required = next(
            (i for i, param in enumerate(self.arguments) if param.default), len(self.arguments)
        )
        self.short = short(self)
        self.variables = {
            v for rule in rules for part in parts(rule) if part.op == "dtypes" for v in part.left
        }
        self.dtypes = {
            v: self.dtypes_of(v, rules) for v in sorted(self.variables)
        }  # what each may be
        rows = (dict(zip(self.dtypes, row)) for row in itertools.product(*self.dtypes.values()))
        self.combinations = [
            row for row in rows if all(True in outcomes(rule, row) for rule in rules)
        ]
        # A rule over one dtype variable alone is a part of its binding.
        self.rules = [
            rule for rule in rules if len({*rule.names}) > 1 or not {*rule.names} <= self.variables
        ]
        self.around = {}  # from the path of a parameter or a part of one to the Optionals around what is there
        self.optionals = []  # their paths
        self.uses = []
        self.dtype_bindings = {}  # from a variable to the path of the tensor that binds it
        self.bindings = {}  # from a path to its Binding
        self.bound_at = {}  # from a symbol to the path that binds it
        self.stride_uses = {}  # from a symbol that only strides bind to its bare uses
        self.shared = {}  # from a symbol that Optionals share to its bare uses
        self.holders = {}  # from such a symbol and the path of a use to its first bare use that is given wherever that is
        self.settled = {}  # from a path to symbols of the last two sorts whose last use is there, or in the Optional there
        self.tensors = []  # the path of each, and its type
        self.star_uses = []
        self.stars = {}  # from a star to its use that binds it
        for param in self.arguments:
            self.collect_uses(param.type, param.name, ())
        for star in dict.fromkeys(use.name for use in self.star_uses if use.name):
            self.bind_star(star)
        for symbol in dict.fromkeys(
            name for use in self.uses if use.expr for name in use.expr.names if "." not in name
        ):
            self.bind(symbol)
        for use in sorted(
            (uses[-1] for uses in (*self.stride_uses.values(), *self.shared.values())),
            key=self.uses.index,
        ):
            self.settled.setdefault((*use.optionals, use.path)[0], []).append(use.expr.left)
        self.diagnose()

    @staticmethod
    def dtypes_of(variable, rules):
        dtypes = next((dtypes for rule in rules if (dtypes := listed(rule, variable))), [])
        return [
            dtype
            for dtype in dtypes
            if all(True in outcomes(rule, {variable: dtype}) for rule in rules)
        ]

    def collect_uses(self, kind, path, optionals):
        self.around[path] = optionals
        match kind:
            case Tensor(dims, dtype, order, strides):
                strides = strides if isinstance(strides, list) else []
                if (
                    strides
                    and len(strides) != len(dims)
                    or isinstance(order, tuple)
                    and sorted(order) != [*range(len(dims))]
                ):
                    raise ValueError(
                        f"`{path}` has {len(dims)} dims, and another number of strides or ranks"
                    )
                self.tensors.append((path, kind))
                self.collect_dims(dims, path, ".shape", optionals)
                self.uses += [
                    Use(stride, f"{path}.strides[{number_text(dims, i)}]", "stride", optionals)
                    for i, stride in enumerate(strides)
                ]
                if (
                    dtype not in DTYPES
                    and not optionals
                    and self.dtype_bindings.get(dtype) != dtype
                ):
                    self.dtype_bindings.setdefault(dtype, path)
            case Shape(dims):
                self.collect_dims(dims, path, "", optionals)
            case DataType():
                self.dtype_bindings[path] = path
            case Scalar(dtype) if is_symbol(path, dtype):
                self.uses.append(Use(name_expr(path), path, "param", optionals))
            case Tuple(elements):
                for i, (name, inner) in enumerate(elements):
                    self.collect_uses(
                        inner, f"{path}.{name}" if name else f"{path}[{i}]", optionals
                    )
            case Optional(inner):
                self.optionals.append(path)
                self.collect_uses(inner, path, (*optionals, path))

    def optionals_of(self, name):
        """The Optionals around what has the value of a name in a rule."""
        if name in {*self.stride_uses, *self.shared, *self.variables}:
            return ()
        path = self.bound_at.get(name, name)
        star = path.split(".")[0]
        if star in self.stars:
            return self.stars[star].optionals
        while path not in self.around:
            path = path[: max(path.rfind("."), path.rfind("["))]
        return self.around[path]

    def collect_dims(self, dims, path, field, optionals):
        for i, dim in enumerate(dims):
            if isinstance(dim, Star):
                self.star_uses.append(StarUse(dim.name, path, optionals))
            else:
                self.uses.append(
                    Use(dim, f"{path}{field}[{number_text(dims, i)}]", "dim", optionals)
                )

    def bind_star(self, star):
        uses = [use for use in self.star_uses if use.name == star]
        binding = min(uses, key=lambda use: bool(use.optionals))
        fields = {f"{star}.numel", f"{star}.ndim"}
        around = [use.optionals for use in uses] + [
            use.optionals for use in self.uses if use.expr and fields & {*use.expr.names}
        ]
        inside = all(
            optionals[: len(binding.optionals)] == binding.optionals for optionals in around
        )
        if not inside:
            raise ValueError(f"`{star}` has its dims only inside an `Optional`")
        self.stars[star] = binding

    def bind(self, symbol):
        uses = [use for use in self.uses if use.expr and symbol in use.expr.names]
        bare, strides = (
            [use for use in uses if use.expr.op == "name" and (use.role == "stride") == wanted]
            for wanted in (False, True)
        )
        solved = [use for use in uses if use.role == "dim" and use.expr.linear()]
        candidates = bare or solved or strides
        if not candidates:
            raise ValueError(f"nothing gives `{symbol}` its value")
        if candidates is strides:
            self.stride_uses[symbol] = strides
            return
        around = [use for use in candidates if all(given_with(use, other) for other in uses)]
        if not around and candidates is bare and all(self.holder(symbol, use) for use in uses):
            self.shared[symbol] = bare
            self.holders |= {(symbol, use.path): self.holder(symbol, use) for use in uses}
            return
        if not around:
            raise ValueError(f"`{symbol}` has its value only inside an `Optional`")
        binding = min(
            around, key=lambda use: bool(use.optionals)
        )  # the first one, required ones before others
        self.bindings[binding.path] = Binding(symbol, *binding.expr.linear(), candidates is solved)
        self.bound_at[symbol] = binding.path

    def holder(self, symbol, use):
        """The path of the first bare use of a symbol that is given wherever `use` is."""
        bare = [
            other
            for other in self.uses
            if other.role != "stride"
            and other.expr
            and other.expr.op == "name"
            and other.expr.left == symbol
        ]
        return next((other.path for other in bare if given_with(other, use)), None)

    def diagnose(self):
        kinds, symbols = (
            {param.name: param.type for param in self.params},
            {*self.bound_at, *self.stride_uses, *self.shared},
        )
        integers, variables = {use.path for use in self.uses if use.role == "param"}, self.variables
        dtypes = {name for name, kind in kinds.items() if isinstance(kind, DataType)}
        if (
            len(kinds) < len(self.params)
            or ((symbols - integers) | variables - dtypes) & {*kinds}
            or symbols & variables
        ):
            raise ValueError("one name for two things")
        if {*self.stars} & (symbols | variables | {*kinds}):
            raise ValueError("a star of another thing's name")
        fields = {name for use in self.uses if use.expr for name in use.expr.names if "." in name}
        if not fields <= {f"{star}.{field}" for star in self.stars for field in ("numel", "ndim")}:
            raise ValueError("a dim over fields that are no star's")
        if variables != {*self.dtype_bindings} or RESERVED & (symbols | variables | {*kinds}):
            raise ValueError(
                "a reserved name, or a dtype variable without a rule or a required tensor"
            )
        if variables and not 0 < len(self.combinations) <= 64:
            raise ValueError("no combination of dtypes, or too many")
        if any(
            param.default
            and param.name in dtypes
            and param.default.value not in self.dtypes[param.name]
            for param in self.arguments
        ):
            raise ValueError("a default that no call could have")
        if None in [param.default for param in self.arguments[self.required :]]:
            raise ValueError("a parameter without a default after one with")
        tensors = {
            name for name, kind in kinds.items() if isinstance(getattr(kind, "inner", kind), Tensor)
        }
        shapes = {
            name: kind.dims
            for name, kind in ((name, getattr(kind, "inner", kind)) for name, kind in kinds.items())
            if isinstance(kind, Shape)
        }
        floats = {
            name
            for name, kind in kinds.items()
            if getattr(getattr(kind, "inner", kind), "dtype", None) in FLOAT_RANGES
            and isinstance(getattr(kind, "inner", kind), Scalar)
        }
        strings = {
            name for name, kind in kinds.items() if isinstance(getattr(kind, "inner", kind), String)
        }
        values = floats | {
            name for name, kind in kinds.items() if getattr(kind, "inner", kind) == Scalar("bool")
        }
        values |= {
            f"{name}[{number}]" for name, dims in shapes.items() for number in dim_numbers(dims)
        }
        values |= {f"{path}.given" for path in self.optionals}
        for rule in (part for rule in self.rules for part in parts(rule)):
            over = (
                tensors
                if rule.op in ("noalias", "aligned")
                else variables
                if rule.op == "dtypes"
                else strings
                if rule.op == "texts"
                else symbols | values
            )
            known = [
                name in over or "." in name and name.split(".")[0] in tensors | {*self.stars}
                for name in rule.names
            ]
            if not known or not all(known):
                raise ValueError(f"a rule over {rule.names}")
            sides = [rule.left, rule.right] if rule.op in COMPARISONS else []
            if floats & {*rule.names} or any(side.op == "float" for side in sides):
                if not sides or not all(
                    side.op in ("int", "float") or side.op == "name" and side.left in floats
                    for side in sides
                ):
                    raise ValueError("no comparison of floats")
