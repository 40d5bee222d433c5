"""Runtime checks of the arguments of public functions, for callers without a type checker.

The annotations define the expected types. The contents of lists and mappings, and the fields of our
dataclasses, are also checked.
"""

import builtins
import inspect
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from types import GenericAlias, UnionType
from typing import Any, NamedTuple, TypeVar, Union, get_args, get_origin

import msgspec

from nexus_tools.sui.errors import UsageError

T = TypeVar("T")

_MAX_U64 = 2**64 - 1
_MAX_SHOWN = 80
_PACKAGE = __name__.partition(".")[0]

_HINTS = {
    "Address": 'Use Address.parse_whole("0x…") for text.',
    "Document": "Parse text with read_document, or call the method document() of a Workflow.",
    "PublishedWorkflow": "Use `await nexus.workflows.get(fqn)` to find a workflow by its FQN.",
    "Timing": "For example: Timing(Plan.Every(3_600_000, first_at_ms, None), None).",
    "Tool": "Use `await nexus.tools.get(fqn)` to find a tool by its FQN.",
    "ToolDefinition": "Call definition(url) of a function with the decorator @tool, or"
    " ToolDefinition.parse for a document.",
}


class _Mismatch(NamedTuple):
    """A value of the wrong type, and its path `place`, such as `leaders` or `tools.price_mist`."""

    place: str
    value: object
    kind: Any


def validate_arguments(service: type[T]) -> type[T]:
    """Make the public methods of a class raise `argument_invalid` for arguments of wrong types."""
    for name, function in list(vars(service).items()):
        if name.startswith("_"):
            continue
        if inspect.isfunction(function):
            setattr(service, name, _checked(function))
        elif isinstance(function, classmethod):
            setattr(service, name, classmethod(_checked(function.__func__)))
    return service


def _checked(function: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(function)
    # Resolve the types later, because the module may not be fully loaded, and most functions are
    # never called.
    kinds = cache(lambda: dict(_kinds(function, signature)))

    def check(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        values = signature.bind(*args, **kwargs).arguments
        for name, kind in kinds().items():
            if name not in values:
                continue
            is_variadic = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
            for value in values[name] if is_variadic else (values[name],):
                for mismatch in _mismatches(value, kind, name):
                    raise _refusal(function.__name__, mismatch)

    if not inspect.iscoroutinefunction(function):

        @wraps(function)
        def checked_call(*args: Any, **kwargs: Any) -> Any:
            check(args, kwargs)
            return function(*args, **kwargs)

        return checked_call

    @wraps(function)
    async def checked_coroutine(*args: Any, **kwargs: Any) -> Any:
        check(args, kwargs)
        awaitable: Awaitable[Any] = function(*args, **kwargs)
        return await awaitable

    return checked_coroutine


def _kinds(function: Callable[..., Any], signature: inspect.Signature) -> Iterator[tuple[str, Any]]:
    """Yield the expected type of each parameter."""
    names = inspect.unwrap(function).__globals__
    for parameter in signature.parameters.values():
        kind = _resolved(parameter.annotation, names)
        if parameter.kind is parameter.VAR_KEYWORD:
            kind = GenericAlias(Mapping, (str, kind))
        yield parameter.name, kind


def _resolved(annotation: Any, names: dict[str, Any]) -> Any:
    if annotation is inspect.Parameter.empty:
        return Any
    if not isinstance(annotation, str):
        return annotation
    return eval(annotation, _KnownNames(names))  # noqa: S307 - the text is from our own source


class _KnownNames(dict[str, Any]):
    """The names in a module. A name that is imported only for type checkers becomes `Any`."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, Any)


def _mismatches(value: Any, kind: Any, path: str) -> Iterator[_Mismatch]:
    """Yield the type errors of a value and, if it is one of our dataclasses, of its fields."""
    if not _matches(value, kind):
        yield _Mismatch(path, value, kind)
        return
    for record in value if isinstance(value, list | tuple) else (value,):
        record_type: Any = type(record)
        for name, field_kind in _fields(record_type):
            field_value = getattr(record, name)
            if not _matches(field_value, field_kind):
                yield _Mismatch(f"{path}.{name}", field_value, field_kind)


@cache
def _fields(record: type) -> tuple[tuple[str, Any], ...]:
    """Return the names and types of a class's fields, or () for a class of another package."""
    if not record.__module__.startswith(_PACKAGE):
        return ()
    if is_dataclass(record):
        names = vars(sys.modules[record.__module__])
        return tuple((item.name, _resolved(item.type, names)) for item in fields(record))
    if issubclass(record, msgspec.Struct) and hasattr(record, "bcs"):
        return tuple((item.name, item.type) for item in msgspec.structs.fields(record))
    return ()


def _matches(value: Any, kind: Any) -> bool:
    """Return whether a value matches a type. An integer must also be in the range of u64."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, UnionType):
        return any(_matches(value, member) for member in inner)
    if origin is int:
        return type(value) is int and 0 <= value <= _MAX_U64
    if origin is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if origin is Any or not isinstance(origin, type) or getattr(origin, "_is_protocol", False):
        return True
    if origin is tuple and inner[1:] == (...,):
        origin = Sequence
    return isinstance(value, origin) and _contents_match(value, origin, inner)


def _contents_match(value: Any, origin: Any, inner: Sequence[Any]) -> bool:
    """Return whether the contents of a list or mapping match the types. A text is not a list."""
    if origin is Sequence:
        if isinstance(value, str | bytes):
            return False
        return not inner or all(_matches(item, inner[0]) for item in value)
    if origin is Mapping and inner:
        return all(
            _matches(key, inner[0]) and _matches(item, inner[1]) for key, item in value.items()
        )
    return True


def _refusal(function: str, mismatch: _Mismatch) -> UsageError:
    shown = repr(mismatch.value)
    shown = shown if len(shown) <= _MAX_SHOWN else f"a {type(mismatch.value).__name__}"
    return UsageError(
        "argument_invalid",
        f"{function}: expected {_type_name(mismatch.kind)} for {mismatch.place}, got {shown}",
        hint=_hint(mismatch),
    )


def _type_name(kind: Any) -> str:
    inner = get_args(kind)
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(map(_type_name, inner))
    if get_origin(kind) in (Sequence, tuple) and inner:
        return f"a list of {_type_name(inner[0])}"
    if get_origin(kind) is Mapping and inner:
        return f"a mapping of {_type_name(inner[0])} to {_type_name(inner[1])}"
    words = {
        int: "an integer from 0 to 2^64 - 1",
        float: "a number",
        str: "text",
        bool: "True or False",
        type(None): "None",
        Any: "anything",
    }
    return words.get(kind, str(getattr(kind, "__name__", kind)))


def _hint(mismatch: _Mismatch) -> str:
    if mismatch.place.endswith("_mist"):
        return "Give the amount in MIST: 1 SUI is 1_000_000_000 MIST."
    return next((_HINTS[name] for name in _names(mismatch.kind) if name in _HINTS), "")


def _names(kind: Any) -> Iterator[str]:
    """Yield the names of a type and its type arguments."""
    yield getattr(kind, "__name__", "")
    for argument in get_args(kind):
        yield from _names(argument)
