"""The search for a module's tools: objects, functions, classes, docks, and tools of a `Pocket`."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from nexus_tools.bridges.hyperpocket.child.pocket import Pocket

_MARKS = ("__model__", "__auth__", "__vars__")
# Module variables with these names list tools, including functions without a decorator.
_LISTS = ("tools", "dock", "docks")


class Finding:
    """The tools of a module in the order in which they were found, without duplicates.

    `refused` contains the names of refused objects with reasons. `requested` contains paths of
    packaged tools that the module requests.
    """

    def __init__(self) -> None:
        self.tools: list[Any] = []
        self.refused: list[tuple[str, str]] = []
        self.requested: list[str] = []
        self._seen: dict[int, Any] = {}
        self.tool_type: type[Any] = import_module("hyperpocket.tool").Tool
        self.function_type: type[Any] = import_module("hyperpocket.tool.function").FunctionTool

    def add(self, value: Any) -> None:
        """Add one `ToolLike`: a tool, a function, or the path of a packaged tool."""
        if id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if isinstance(value, self.tool_type):
            self.tools.append(value)
        elif isinstance(value, (str, tuple)) or hasattr(value, "tool_source"):
            self.requested.append(_place(value))
        elif callable(value):
            self._try(getattr(value, "__name__", repr(value)), lambda: self._dock(value))

    def add_class(self, cls: type[Any]) -> None:
        """Add the tools of a `Tool` class, from its factory methods or else its constructor."""
        if any(type(tool) is cls for tool in self.tools):
            return
        factories = [*_factories(cls)]
        for factory in factories:
            self._try(cls.__name__, lambda: self.add(factory()))  # noqa: B023 - called at once
        if not factories:
            self._try(cls.__name__, lambda: self._instance(cls))

    def add_dock(self, initialize: Callable[[], Any]) -> None:
        """Add the tools that a dock's `initialize_dock` returns."""
        self._try("initialize_dock", lambda: self.add_all(initialize()))

    def add_all(self, values: Iterable[Any]) -> None:
        """Add several `ToolLike`s."""
        for value in values:
            self.add(value)

    def _instance(self, cls: type[Any]) -> None:
        fields = getattr(cls, "model_fields", {})
        missing = [name for name, field in fields.items() if field.is_required()]
        if missing:
            message = (
                f"the class has neither a factory method nor a default for {', '.join(missing)}"
            )
            raise TypeError(message)
        self.add(cls())

    def _dock(self, function: Callable[..., Any]) -> None:
        # The package requires a description, but not every function has a docstring.
        function.__doc__ = function.__doc__ or function.__name__
        self.tools += self.function_type.from_dock([function])

    def _try(self, name: str, take: Callable[[], object]) -> None:
        try:
            take()
        except Exception as error:  # noqa: BLE001 - untrusted code may raise anything
            self.refused.append((name, f"{type(error).__name__}: {error}"))


def find_tools(modules: list[ModuleType]) -> Finding:
    """Return the tools of the modules, without duplicates.

    Objects are inspected before classes, so that a class with an existing instance is not
    instantiated again.
    """
    finding = Finding()
    for module in modules:
        for name, value in _public(module):
            _take(finding, name, value)
    for module in modules:
        for _, value in _public(module):
            if _is_tool_class(finding, module, value):
                finding.add_class(value)
    return finding


def _public(module: ModuleType) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in vars(module).items() if not name.startswith("_")]


def _take(finding: Finding, name: str, value: Any) -> None:
    if isinstance(value, finding.tool_type) or _is_marked(value):
        finding.add(value)
    elif isinstance(value, Pocket):
        finding.add_all(value.tool_likes)
    elif name == "initialize_dock" and callable(value):
        finding.add_dock(value)
    elif isinstance(value, list) and _holds_tools(finding, name, value):
        finding.add_all(value)


def _is_marked(value: Any) -> bool:
    return inspect.isroutine(value) and any(hasattr(value, mark) for mark in _MARKS)


def _holds_tools(finding: Finding, name: str, values: list[Any]) -> bool:
    return name.lower() in _LISTS or any(
        isinstance(value, finding.tool_type) or _is_marked(value) for value in values
    )


def _is_tool_class(finding: Finding, module: ModuleType, value: Any) -> bool:
    return (
        inspect.isclass(value)
        and issubclass(value, finding.tool_type)
        and not inspect.isabstract(value)
        and value.__module__ == module.__name__
    )


def _factories(cls: type[Any]) -> Iterator[Callable[[], Any]]:
    """Yield the class's own methods that need no argument and are annotated to return the class."""
    for name, member in vars(cls).items():
        if name.startswith("_") or not isinstance(member, (classmethod, staticmethod)):
            continue
        method = getattr(cls, name)
        parameters = inspect.signature(method).parameters.values()
        optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        required = [parameter for parameter in parameters if parameter.default is parameter.empty]
        if all(parameter.kind in optional for parameter in required) and _gives(cls, method):
            yield method


def _gives(cls: type[Any], method: Callable[..., Any]) -> bool:
    annotation = inspect.signature(method).return_annotation
    names = {base.__name__ for base in cls.__mro__ if base is not object} | {"Self"}
    if isinstance(annotation, str):
        return annotation.rpartition(".")[2].strip("'\"") in names
    return annotation is getattr(typing, "Self", cls) or annotation in cls.__mro__[:-1]


def _place(value: Any) -> str:
    """Return the path or URL of a packaged tool from a string, a pair, or a request."""
    source = value[0] if isinstance(value, tuple) else value
    return str(getattr(source, "tool_source", source))
