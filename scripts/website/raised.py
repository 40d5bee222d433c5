"""The errors that the code raises: class, code, message and hint, read from the syntax trees."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nexus_tools
from nexus_tools.sui import errors

PACKAGE = Path(nexus_tools.__file__).parent
KINDS = {
    kind.__name__: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.NexusError)
}

_DEPTH = 6
_CODE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_CONCERNED = re.compile(rf"\b(?:{'|'.join(KINDS)}|hint)\b")
"""Modules without any of these words neither raise errors nor provide texts of errors."""
_PASSED_ON = ("with_typed_options", "plain", "str", "with_wallets")
"""Functions that return the text of their first argument."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = dict[str, "tuple[ast.expr, Scope]"]
"""Names with their expressions. Each expression has the scope in which it is evaluated."""


@dataclass(frozen=True, order=True)
class RaisedError:
    """An error in the code. A text is empty if it is known only at run time."""

    code: str
    message: str
    hint: str


@cache
def raised_by_kind() -> dict[str, frozenset[RaisedError]]:
    """Return all errors whose code is in the source, by the name of their class."""
    found: dict[str, set[RaisedError]] = {name: set() for name in KINDS}
    texts = (path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py")))
    modules = [_Module(ast.parse(text)) for text in texts if _CONCERNED.search(text)]
    defined = Counter(name for module in modules for name in module.callable_names())
    calls: dict[str, list[_Call]] = {}
    for call in (call for module in modules for call in module.calls):
        if defined[_name(call.node.func)] == 1:
            calls.setdefault(_name(call.node.func), []).append(call)
    for module in modules:
        for kind, raised in module.raised(calls):
            found[kind].add(raised)
    return {kind: frozenset(raised) for kind, raised in found.items()}


@dataclass(frozen=True)
class _Call:
    """A call with its enclosing function and its scope."""

    node: ast.Call
    function: Function | None
    scope: Scope


class _Module:
    """The functions and calls of a module, and the text values of its expressions."""

    def __init__(self, tree: ast.Module) -> None:
        self.functions = {node.name: node for node in ast.walk(tree) if isinstance(node, Function)}
        self._constants: dict[str, tuple[ast.expr, Scope]] = {}
        self._constants |= _assigned(tree.body, self._constants)
        self.calls = list(self._calls_in(tree, None, self._constants))
        self._kinds = _kinds_of_constructors(tree)
        self._classes = _classes_of_constructors(tree)

    def callable_names(self) -> list[str]:
        """Return the names of the functions, and of the classes with a constructor."""
        return [*self.functions, *self._classes.values()]

    def raised(self, elsewhere: Mapping[str, list[_Call]]) -> Iterator[tuple[str, RaisedError]]:
        """Yield each error, once for each caller if the function receives its texts as arguments.

        `elsewhere` contains calls in other modules, by names that belong to exactly one function.
        """
        for call in self.calls:
            kind, arguments = self._kinds.get(call.node, _name(call.node.func)), call.node.args
            if kind not in KINDS or len(arguments) < 2:
                continue
            code, message = arguments[:2]
            hint = _keyword(call.node, "hint") or ast.Constant("")
            for scope in self._scopes(call, elsewhere, code, message, hint):
                texts = (self._whole(one, scope) for one in (message, hint))
                word = self._text(code, scope, _DEPTH)
                if _CODE.fullmatch(word):
                    yield kind, RaisedError(word, *texts)

    def _scopes(
        self, call: _Call, elsewhere: Mapping[str, list[_Call]], *texts: ast.expr
    ) -> Iterator[Scope]:
        names = {node.id for text in texts for node in ast.walk(text) if isinstance(node, ast.Name)}
        function = call.function
        callers = []
        if function is not None and names & {*_parameters(function)} - call.scope.keys():
            name = self._classes.get(function, function.name)
            callers = [call for call in self.calls if _name(call.node.func) == name]
            callers = callers or elsewhere.get(name, [])
        yield from (_bound(function, caller) | call.scope for caller in callers if function)
        if not callers:
            yield call.scope

    def _calls_in(
        self, parent: ast.AST, function: Function | None, scope: Scope
    ) -> Iterator[_Call]:
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, Function):
                yield from self._calls_in(node, node, self._inside(node, scope))
            else:
                if isinstance(node, ast.Call):
                    yield _Call(node, function, scope)
                yield from self._calls_in(node, function, scope)

    def _inside(self, function: Function, outer: Scope) -> Scope:
        """Return the scope of a function. Names of the function hide names of the outer scope."""
        own = {*_parameters(function)}
        scope = {name: value for name, value in outer.items() if name not in own}
        scope |= _assigned(list(ast.walk(function)), scope)
        return scope

    # --- Texts

    def _whole(self, node: ast.expr, scope: Scope) -> str:
        """Return the text of an expression, or an empty string if it has no constant part."""
        text = self._text(node, scope, _DEPTH)
        words = re.sub(r"\{[^{}]*\}", "", text)
        return text if re.search(r"\w\w", words.replace("and", "")) else ""

    def _text(self, node: ast.expr, scope: Scope, depth: int) -> str:
        """Return the text of an expression, or of the first alternative if it has several."""
        text = f"{{{_words(node)}}}"
        match node:
            case ast.Constant(value=str(value) | int(value) | float(value)):
                text = str(value)
            case ast.JoinedStr(values=values):
                text = "".join(self._text(value, scope, depth) for value in values)
            case ast.FormattedValue(value=value):
                text = self._placed(value, scope, depth)
            case ast.IfExp(body=first) | ast.BoolOp(values=[first, *_]):
                text = self._text(first, scope, depth)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                text = self._text(left, scope, depth) + self._text(right, scope, depth)
            case ast.Name(id=name) if depth and name in scope:
                text = self._text(*scope[name], depth - 1)
            case ast.Call() if depth:
                text = self._result(node, scope, depth - 1)
        return text

    def _placed(self, value: ast.expr, scope: Scope, depth: int) -> str:
        """Return the text of a placeholder: its value if it is constant, else a name in braces."""
        known = scope.get(value.id) if isinstance(value, ast.Name) else None
        if known is not None and isinstance(known[0], ast.Constant):
            return self._text(value, scope, depth)
        return f"{{{_words(value)}}}"

    def _result(self, call: ast.Call, scope: Scope, depth: int) -> str:
        """Return the text that a call returns, from the function or from its first argument."""
        name = _name(call.func)
        if name == "suggestion" and (otherwise := _keyword(call, "otherwise")):
            return self._text(otherwise, scope, depth)
        if name in _PASSED_ON and call.args:
            return self._text(call.args[0], scope, depth)
        function = self.functions.get(name)
        returns = [] if function is None else _returned(function)
        if function is None or not returns:
            return f"{{{_words(call)}}}"
        inner = self._inside(function, scope) | _bound(function, _Call(call, None, scope))
        return self._text(returns[0], inner, depth)


def _kinds_of_constructors(tree: ast.Module) -> dict[ast.AST, str]:
    """Return the name of the base class for each call `super().__init__(…)` in an error class."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.bases]
    return {
        call: _name(definition.bases[0])
        for definition in classes
        for call in ast.walk(definition)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "super().__init__"
    }


def _classes_of_constructors(tree: ast.Module) -> dict[ast.AST, str]:
    """Return the name of the class for each function `__init__`, which calls of the class run."""
    return {
        member: definition.name
        for definition in ast.walk(tree)
        if isinstance(definition, ast.ClassDef)
        for member in definition.body
        if isinstance(member, ast.FunctionDef) and member.name == "__init__"
    }


def _assigned(statements: list[ast.stmt] | list[ast.AST], scope: Scope) -> Scope:
    """Return the first value of each assigned name, including names in `a, b = 1, 2`."""
    found: dict[str, tuple[ast.expr, Scope]] = {}
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found.setdefault(name, (value, scope))
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                for target, value in zip(names, values, strict=False):
                    found.setdefault(_name(target), (value, scope))
    return found


def _bound(function: Function, call: _Call) -> dict[str, tuple[ast.expr, Scope]]:
    """Return the arguments of a call by parameter name."""
    names = [name for name in _parameters(function) if name not in ("self", "cls")]
    given = dict(zip(names, call.node.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.node.keywords if keyword.arg in names}
    return {name: (value, call.scope) for name, value in given.items()}


def _parameters(function: Function) -> Iterator[str]:
    arguments = function.args
    for kwonlyarg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        yield kwonlyarg.arg


def _returned(function: Function) -> list[ast.expr]:
    return [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and node.value is not None
    ]


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _name(node: ast.expr) -> str:
    """Return the last name of a function or a target; empty if it has none."""
    return getattr(node, "attr", None) or getattr(node, "id", None) or ""


def _words(node: ast.expr) -> str:
    """Return the last name in an expression as words. `self._parent_url` becomes `parent url`."""
    if isinstance(node, ast.Call) and _name(node.func) in ("len", "min", "max", "sum", "count"):
        return "number"
    names = [_name(part) for part in ast.walk(node) if isinstance(part, ast.Attribute | ast.Name)]
    return names[0].strip("_").replace("_", " ") if names else "number"
