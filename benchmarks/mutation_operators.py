"""The operators of the mutation score: from a node to the nodes, or lists of statements, that may stand in its place.

What does not run or is only read by people is left alone: annotations, docstrings, decorators, and what is raised.
The standard library's `ast` is enough for it; the mutation tools there are change files and run a test suite on them.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any

Change = ast.AST | list[ast.stmt]
Place = tuple[
    tuple[str, int | None], ...
]  # the way from the root to a node: fields, with an index into lists


def places(node: ast.AST, way: Place) -> Iterator[tuple[Place, ast.AST]]:
    """Every node below that may be changed, and the way there; `way` leads to the node itself."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "ctx", "exc"):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and not is_docstring(child):
                here = (*way, (field, index))
                yield here, child
                yield from places(child, here)


def is_docstring(node: ast.AST) -> bool:
    """Whether it is a text that stands alone."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def replaced(node: ast.AST, place: Place, change: Change) -> Any:
    """The tree with another node, or statements, in that place; what lies beside the way there is shared."""
    (field, index), *rest = place
    value = getattr(node, field)
    child = value if index is None else value[index]
    new = replaced(child, tuple(rest), change) if rest else change
    if index is not None:
        new = [*value[:index], *(new if isinstance(new, list) else [new]), *value[index + 1 :]]
        if not new and field == "body":
            new = [ast.Pass()]
    return copied(node, **{field: new})


def copied(node: ast.AST, **fields: object) -> Any:
    """The same node with other values in these fields; what it holds is shared."""
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


# --- the operators ----------------------------------------------------------------------------------------

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip


def comparison(node: ast.Compare) -> Iterator[Change]:
    """`<` for `<=`, `>=` for `<`; of a chain, one comparison less; whether it is true for whether it is not None."""
    for index, operator in enumerate(node.ops):
        for other in COMPARISONS[type(operator)]:
            yield copied(node, ops=[*node.ops[:index], other(), *node.ops[index + 1 :]])
    if isinstance(node.ops[0], ast.IsNot):
        yield node.left
    if isinstance(node.ops[0], ast.Is):
        yield ast.UnaryOp(ast.Not(), node.left)
    if len(node.ops) > 1:
        values = [node.left, *node.comparators]
        yield ast.Compare(values[0], node.ops[:-1], values[1:-1])
        yield ast.Compare(values[1], node.ops[1:], values[2:])


def boolean(node: ast.BoolOp) -> Iterator[Change]:
    """`or` for `and`; one operand less."""
    yield copied(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    for index in range(len(node.values)):
        rest = node.values[:index] + node.values[index + 1 :]
        yield rest[0] if len(rest) == 1 else copied(node, values=rest)


ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.MatMult: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


def arithmetic(node: ast.BinOp) -> Iterator[Change]:
    """`-` for `+`, `/` for `*`, `//` for `/`; one operand alone; the operands in the other order where that matters."""
    yield copied(node, op=ARITHMETIC[type(node.op)]())
    if isinstance(node.op, ast.Div):
        yield copied(node, op=ast.FloorDiv())
    yield from (node.left, node.right)
    commutes = isinstance(node.op, ast.Mult | ast.BitAnd | ast.BitOr | ast.Add)
    if not commutes or (isinstance(node.op, ast.Add) and _may_be_sequences(node)):
        yield ast.BinOp(node.right, node.op, node.left)


def _may_be_sequences(node: ast.BinOp) -> bool:
    def may_be(it: ast.expr) -> bool:
        sliced = isinstance(it, ast.Subscript) and isinstance(it.slice, ast.Slice)
        repeated = isinstance(it, ast.BinOp) and isinstance(it.left, ast.List)
        return isinstance(it, ast.List) or sliced or repeated

    return may_be(node.left) or may_be(node.right)


def assignment(node: ast.AugAssign) -> Iterator[Change]:
    """`-=` for `+=`, and the plain `=`."""
    yield copied(node, op=ARITHMETIC[type(node.op)]())
    yield ast.Assign([node.target], node.value)


def unary(node: ast.UnaryOp) -> Iterator[Change]:
    """Without `not`, without the minus."""
    yield node.operand


def condition(node: ast.If | ast.While | ast.IfExp) -> Iterator[Change]:
    """The condition negated, always true, never true."""
    if not isinstance(node.test, ast.Compare | ast.UnaryOp):
        yield copied(node, test=ast.UnaryOp(ast.Not(), node.test))
    yield copied(node, test=ast.Constant(True))
    yield copied(node, test=ast.Constant(False))


def filtering(node: ast.comprehension) -> Iterator[Change]:
    """A comprehension without its `if`."""
    for index in range(len(node.ifs)):
        yield copied(node, ifs=node.ifs[:index] + node.ifs[index + 1 :])


OTHER_TEXTS = {"sum": ("mean",), "-inf": ("inf", "0", "-1e4")}


def constant(node: ast.Constant) -> Iterator[Change]:
    """One more, one less; a tenth more, a tenth less, 0; the other truth value; of a string the case, or a letter less.

    A longer string loses no letter: what is left would often be found where the whole is.
    """
    value = node.value
    others: list[bool | int | float | str] = []
    if isinstance(value, bool):
        others = [not value]
    elif isinstance(value, int):
        others = [value + 1, value - 1]
    elif isinstance(value, float):
        others = [round(value * 1.1, 6), round(value * 0.9, 6), 0.0 if value else 1.0]
    elif isinstance(value, str):
        others = [*OTHER_TEXTS.get(value, (value.swapcase(),))]
        others += [value[1:], value[:-1]] if 0 < len(value) < 3 else []
    yield from (ast.Constant(other) for other in others if other != value)


def negative(node: ast.UnaryOp) -> Iterator[Change]:
    """-1 is a constant too: -2 and 0."""
    number = getattr(node.operand, "value", None)
    if isinstance(node.op, ast.USub) and isinstance(number, int):
        yield from (ast.Constant(-number + step) for step in (1, -1))


def bound(node: ast.Slice) -> Iterator[Change]:
    """A slice that begins or ends one place off, or has no such end."""
    for field in ("lower", "upper"):
        if (value := getattr(node, field)) is not None:
            yield copied(node, **{field: None})
            yield from (copied(node, **{field: off}) for off in _one_off(value))


def place(node: ast.Subscript) -> Iterator[Change]:
    """The place before and the one behind."""
    if isinstance(node.ctx, ast.Load) and isinstance(node.slice, ast.Name):
        yield from (copied(node, slice=off) for off in _one_off(node.slice))


def _one_off(value: ast.expr) -> Iterator[ast.expr]:
    if not isinstance(value, ast.Constant):
        yield ast.BinOp(value, ast.Add(), ast.Constant(1))
        yield ast.BinOp(value, ast.Sub(), ast.Constant(1))


OTHER_NAMES = {
    "min": "max", "max": "min", "any": "all", "all": "any", "round": "int", "sum": "max", "set": "list",
    "mean": "sum", "fmean": "median", "stdev": "pstdev", "log": "log2", "startswith": "endswith",
    "partition": "rpartition", "train": "eval", "parameters": "buffers", "named_parameters": "named_buffers",
    "endswith": "startswith", "rand": "randn", "flatten": "squeeze", "shuffle": "sort", "zeros": "ones",
    "append": "extend", "add": "update", "choice": "choices", "items": "keys", "stack": "cat",
}  # fmt: skip


def call(node: ast.Call) -> Iterator[Change]:
    """Another function, the argument itself, one argument less, two exchanged, a bound of `range` one off."""
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    if name in OTHER_NAMES:
        field = "id" if isinstance(node.func, ast.Name) else "attr"
        yield copied(node, func=copied(node.func, **{field: OTHER_NAMES[name]}))
    if len(node.args) == 1 and not node.keywords:
        yield node.args[0]
    if isinstance(node.func, ast.Attribute) and not _is_module(node.func.value):
        yield node.func.value  # without `.clone()`, `.item()`, `.clamp(min=1)`
    for index in range(len(node.keywords)):
        yield copied(node, keywords=node.keywords[:index] + node.keywords[index + 1 :])
    if len(node.args) > 1:
        for index in range(len(node.args)):
            yield copied(node, args=node.args[:index] + node.args[index + 1 :])
    if name not in ("min", "max"):
        yield from _exchanged(node, "args")
    if name in ("range", "randrange"):
        for index, value in enumerate(node.args):
            for off in _one_off(value):
                yield copied(node, args=[*node.args[:index], off, *node.args[index + 1 :]])


def _is_module(node: ast.expr) -> bool:
    return ast.unparse(node).split(".")[0] in ("torch", "nn", "math", "statistics", "random", "dict")


def display(node: ast.Tuple | ast.List) -> Iterator[Change]:
    """Two elements exchanged, one less."""
    if isinstance(node.ctx, ast.Load):
        yield from _exchanged(node, "elts")
        for index in range(len(node.elts)):
            yield copied(node, elts=node.elts[:index] + node.elts[index + 1 :])


def mapping(node: ast.Dict) -> Iterator[Change]:
    """Two values exchanged, one entry less."""
    yield from _exchanged(node, "values")
    for index in range(len(node.keys)):
        keys, values = ([*it[:index], *it[index + 1 :]] for it in (node.keys, node.values))
        yield copied(node, keys=keys, values=values)


def order(node: ast.FunctionDef | ast.For | ast.While | ast.If) -> Iterator[Change]:
    """Two statements exchanged, where that may change something."""
    for index in range(int(is_docstring(node.body[0])), len(node.body) - 1):
        one, other = node.body[index : index + 2]
        sets, sets_too = _set_by(one), _set_by(other)
        if sets is None or sets_too is None or sets & _names(other) or sets_too & _names(one):
            yield copied(node, body=[*node.body[:index], other, one, *node.body[index + 2 :]])


def _set_by(node: ast.stmt) -> set[str] | None:
    """The names that an assignment sets, none for a condition that only leaves; None for what may do anything."""
    if isinstance(node, ast.If) and all(
        isinstance(it, ast.Raise | ast.Return) for it in node.body + node.orelse
    ):
        return set()
    if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        return None
    return {it.id for it in ast.walk(node) if isinstance(it, ast.Name) and isinstance(it.ctx, ast.Store)}


def _names(node: ast.stmt) -> set[str]:
    return {it.id for it in ast.walk(node) if isinstance(it, ast.Name)}


def _exchanged(node: ast.AST, field: str) -> Iterator[ast.AST]:
    items = getattr(node, field)
    for index in range(len(items) - 1):
        one, other = items[index : index + 2]
        yield copied(node, **{field: [*items[:index], other, one, *items[index + 2 :]]})


def statement(node: ast.stmt) -> Iterator[Change]:
    """Dropped."""
    if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Pass):
        yield []


def leaving(node: ast.Break | ast.Continue) -> Iterator[Change]:
    """`continue` for `break`."""
    yield ast.Continue() if isinstance(node, ast.Break) else ast.Break()


def looping(node: ast.For | ast.While) -> Iterator[Change]:
    """A loop that ends with its first round."""
    yield copied(node, body=[*node.body, ast.Break()])


def returning(node: ast.FunctionDef) -> Iterator[Change]:
    """The last `return` inside the loop before it: an indentation too many."""
    if isinstance(node.body[-1], ast.Return):
        for index, child in enumerate(node.body):
            if isinstance(child, ast.For | ast.While):
                loop = copied(child, body=[*child.body, node.body[-1]])
                yield copied(node, body=[*node.body[:index], loop, *node.body[index + 1 :]])


def another_argument(node: ast.FunctionDef) -> Iterator[Change]:
    """Where an argument is used: another one of the same type, or its own default whatever was given."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    positional = [*node.args.posonlyargs, *node.args.args]
    with_defaults = positional[len(positional) - len(node.args.defaults) :] + node.args.kwonlyargs
    defaults = dict(
        zip((it.arg for it in with_defaults), [*node.args.defaults, *node.args.kw_defaults], strict=True)
    )
    for argument in arguments:
        others: list[ast.expr] = [
            ast.Name(it.arg, ast.Load())
            for it in arguments
            if it is not argument and _annotation(it) == _annotation(argument) != ""
        ]
        if default := defaults.get(argument.arg):
            others.append(default)
        for way, use in places(node, ()):
            if isinstance(use, ast.Name) and use.id == argument.arg and isinstance(use.ctx, ast.Load):
                yield from (replaced(node, way, other) for other in others)


def _annotation(argument: ast.arg) -> str:
    return ast.unparse(argument.annotation) if argument.annotation else ""


OPERATORS: dict[type[ast.AST], tuple[Callable[..., Iterator[Change]], ...]] = {
    ast.Compare: (comparison,),
    ast.BoolOp: (boolean,),
    ast.BinOp: (arithmetic,),
    ast.AugAssign: (assignment,),
    ast.UnaryOp: (unary, negative),
    ast.If: (condition, order),
    ast.While: (condition, looping, order),
    ast.For: (looping, order),
    ast.IfExp: (condition,),
    ast.comprehension: (filtering,),
    ast.Constant: (constant,),
    ast.Slice: (bound,),
    ast.Subscript: (place,),
    ast.Call: (call,),
    ast.Tuple: (display,),
    ast.List: (display,),
    ast.Dict: (mapping,),
    ast.Break: (leaving,),
    ast.Continue: (leaving,),
    ast.FunctionDef: (order, returning, another_argument),
    ast.stmt: (statement,),
}
