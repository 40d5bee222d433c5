"""The reference of errors: each code with what it means and what to do, from where it is raised."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from inspect import getdoc
from pathlib import Path

import nexus_tools
from nexus_tools import errors
from nexus_tools.bindings.runtime import MoveError
from nexus_tools.package import move
from nexus_tools.package.aborts import code_of, kind_of
from nexus_tools.package.upgrade_lock import move as lock_move
from website.commands import cell

HOUSE = Path(nexus_tools.__file__).parent
KINDS = {
    kind.__name__: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.NexusError)
}
INTRODUCTION = """# Error codes

For whoever was refused, and for programs that handle it: each code, what it means and what to do.

Whatever goes wrong is a `NexusError`: its class says what can be done about it and is the exit code
of the command line, its `code` is a stable word for programs. With `--json` the command line prints
both. In braces is what an error fills in.
"""


@dataclass(frozen=True, order=True)
class Raised:
    """An error somewhere in the code."""

    code: str
    means: str
    remedy: str


def page() -> str:
    """The page."""
    raised = raised_by_kind()
    return INTRODUCTION + "".join(
        _section(kind, sorted(raised[name])) for name, kind in KINDS.items()
    )


def _section(kind: type[errors.NexusError], raised: list[Raised]) -> str:
    rows = [f"| `{each.code}` | {cell(each.means)} | {cell(each.remedy)} |" for each in raised]
    head = f"\n## {kind.__name__}: exit code {kind.exit_code}\n\n{getdoc(kind)}\n\n"
    return head + "\n".join(("| code | means | what to do |", "|---|---|---|", *rows)) + "\n"


def raised_by_kind() -> dict[str, set[Raised]]:
    """All errors with a code that is written down, by the name of their class."""
    found: dict[str, set[Raised]] = {name: set() for name in KINDS}
    for path in sorted(HOUSE.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and (raised := _raised(call)):
                found[ast.unparse(call.func)].add(raised)
    for reason in _aborts():
        found[kind_of(reason).__name__].add(Raised(code_of(reason), reason.sentence, ""))
    return found


def _aborts() -> Iterator[MoveError]:
    for package in (move, move.workflows, lock_move):
        for module in package.TYPES.modules:
            yield from getattr(import_module(f"{package.__name__}.{module}"), "ERRORS", ())


def _raised(call: ast.Call) -> Raised | None:
    if not isinstance(call.func, ast.Name) or call.func.id not in KINDS or len(call.args) < 2:
        return None
    code, message = call.args[:2]
    if not (isinstance(code, ast.Constant) and isinstance(code.value, str)):
        return None
    if isinstance(message, ast.Name):  # the sentence is somebody else's
        message = ast.Constant("what was said")
    hints = [each.value for each in call.keywords if each.arg == "hint"]
    return Raised(code.value, "".join(_text(message)), "".join(map("".join, map(_text, hints))))


def _text(node: ast.expr) -> Iterator[str]:
    """What an expression says; an alternative says the first of both."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            for value in values:
                yield from _text(value)
        case ast.FormattedValue(value=value):
            yield f"{{{_name(value)}}}"
        case ast.IfExp(body=body):
            yield from _text(body)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from _text(left)
            yield from _text(right)
        case _:
            yield f"{{{_name(node)}}}"


def _name(node: ast.expr) -> str:
    """The last name in an expression: `self._parent.url` is `url`."""
    names = [
        each.attr if isinstance(each, ast.Attribute) else each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute | ast.Name)
    ]
    return names[0].strip("_").replace("_", " ") if names else "…"
