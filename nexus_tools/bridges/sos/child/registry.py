"""`SOS_TOOL`, the registered tools by namespace and name, and `sos_tool`, which registers them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nexus_tools.bridges.sos.child.signature import RegistrationError, ToolSignature

Function = Callable[..., Any]


class NameTakenError(RegistrationError):
    """The error of a tool whose name is already used in the namespace."""


class ToolObject:
    """A registered tool, which is a callable that calls the function."""

    def __init__(
        self, key: str, namespace: str, function: Function, description: str = "", meta: Any = None
    ) -> None:
        self.key = key
        self.namespace = namespace
        self.function = function
        self.signature = ToolSignature.of(function)
        self.description = description or self.signature.description
        self.meta = dict(meta or {})

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call the function."""
        return self.function(*arguments, **keywords)


class ToolRepo:
    """The tools of one namespace, as attributes."""


class RejectedFunction:
    """A function that could not be registered."""

    def __init__(self, name: str, file: str, reason: str, *, is_taken: bool = False) -> None:
        self.name = name
        self.file = file
        self.reason = reason
        self.is_taken = is_taken


class ToolRoot:
    """All registered tools of a process.

    `overwrite` says whether a function that is registered now may replace another function with the
    same name. `find_more` is called with the namespace of a tool that is not registered yet.
    """

    def __init__(self) -> None:
        self.refused: list[RejectedFunction] = []
        self.overwrite = False
        self.find_more: Callable[[str], None] = lambda _: None
        self._repos: dict[str, ToolRepo] = {}

    def register(
        self,
        function: Function,
        namespace: str | None = None,
        key: str | None = None,
        *,
        description: str = "",
        meta: Any = None,
        overwrite: bool = False,
        validate: bool = True,  # noqa: ARG002 - tools pass it, but every function is checked
    ) -> ToolObject:
        """Register a function.

        Raises:
            RegistrationError: if the function is not a tool or its name is taken.
        """
        namespace = namespace or namespace_of(function)
        key = key or function.__name__
        for word in (namespace, key):
            if not word.isidentifier():
                raise RegistrationError(f"{word!r} is not a Python identifier")
        tool = ToolObject(key, namespace, function, description or "", meta)
        repo = self._repos.setdefault(namespace, ToolRepo())
        if key in vars(repo) and not (overwrite or self.overwrite):
            raise NameTakenError(f"{namespace}.{key} is already registered")
        setattr(repo, key, tool)
        return tool

    def get(self, name: str, default: Any = None) -> Any:
        """Return the tool `namespace.name`, or the `ToolRepo` of a namespace."""
        namespace, _, key = name.partition(".")
        if not namespace.isidentifier():
            return default
        if not self._has(namespace, key):
            self.find_more(namespace)
        if not self._has(namespace, key):
            return default
        repo = self._repos[namespace]
        return vars(repo)[key] if key else repo

    def remove(self, namespace: str) -> None:
        """Remove a namespace.

        Raises:
            KeyError: if the namespace does not exist.
        """
        del self._repos[namespace]

    def tools(self) -> list[ToolObject]:
        """Return every registered tool in the order of registration."""
        members = [member for repo in self._repos.values() for member in vars(repo).values()]
        return [member for member in members if isinstance(member, ToolObject)]

    def _has(self, namespace: str, key: str) -> bool:
        repo = self._repos.get(namespace)
        return repo is not None and (not key or key in vars(repo))

    def why_refused(self, name: str) -> str:
        """Return the reason why a function with that name was refused, or an empty string."""
        return next((refused.reason for refused in self.refused if refused.name == name), "")


SOS_TOOL = ToolRoot()


def sos_tool(function: Function) -> Function:
    """Register the decorated function and return it unchanged, even if it cannot be a tool.

    If the function cannot be a tool, the reason is added to `SOS_TOOL.refused` and printed.
    """
    try:
        SOS_TOOL.register(function)
    except RegistrationError as error:
        name = f"{namespace_of(function)}.{getattr(function, '__name__', '?')}"
        is_taken = isinstance(error, NameTakenError)
        SOS_TOOL.refused.append(
            RejectedFunction(name, file_of(function), str(error), is_taken=is_taken)
        )
        print(f"{name} is not registered: {error}")  # noqa: T201 - for the log of the call
    return function


def file_of(function: Function) -> str:
    """Return the file that defines a function, even if other decorators wrap it."""
    module = sys.modules.get(getattr(function, "__module__", ""))
    file = getattr(module, "__file__", None) or inspect.getfile(inspect.unwrap(function))
    return str(Path(file).resolve())


def namespace_of(function: Function) -> str:
    """Return the name of the folder that contains the function's file."""
    return Path(file_of(function)).parent.name
