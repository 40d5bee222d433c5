"""Arguments of public functions, where no type checker looked: refused in words.

What a function takes is read from its annotations. A list, a mapping, and one of our dataclasses
are looked into.
"""

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
_OURS = __name__.partition(".")[0]

_HINTS = {
    "Address": 'Address.parse_whole("0x…") reads text',
    "Document": "read_document reads text, and a Workflow has a document()",
    "PublishedWorkflow": "`await nexus.workflows.get(fqn)` finds it by its FQN",
    "Timing": "such as Timing(Plan.Every(3_600_000, first_at_ms, None), None)",
    "Tool": "`await nexus.tools.get(fqn)` finds it by its FQN",
    "ToolDefinition": "a function with @tool has a definition(url), and ToolDefinition.parse reads"
    " a document",
}


class _Mismatch(NamedTuple):
    """A value that is not of its kind, and where it stands: `leaders`, or `tools.price_mist`."""

    place: str
    value: object
    kind: Any


def checks_arguments(service: type[T]) -> type[T]:
    """Return the class; its public functions raise `argument_invalid` for what they do not take."""
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
    # Later: a module's names need not be there yet, and few of its functions are ever called.
    kinds = cache(lambda: dict(_kinds(function, signature)))

    def check(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given = signature.bind(*args, **kwargs).arguments
        for name, kind in kinds().items():
            if name not in given:
                continue
            several = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
            for value in given[name] if several else (given[name],):
                for mismatch in _mismatches(value, kind, name):
                    raise _refusal(function.__name__, mismatch)

    if not inspect.iscoroutinefunction(function):

        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            check(args, kwargs)
            return function(*args, **kwargs)

        return called

    @wraps(function)
    async def awaited(*args: Any, **kwargs: Any) -> Any:
        check(args, kwargs)
        awaitable: Awaitable[Any] = function(*args, **kwargs)
        return await awaitable

    return awaited


def _kinds(function: Callable[..., Any], signature: inspect.Signature) -> Iterator[tuple[str, Any]]:
    """Yield the kind of each parameter; a name that only a type checker knows says nothing."""
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
    try:
        return eval(annotation, names)  # noqa: S307 - our own source
    except NameError:
        return Any


def _mismatches(value: Any, kind: Any, place: str) -> Iterator[_Mismatch]:
    """Yield what is not of its kind, as far as it can be seen, with the fields of our records."""
    if not _is(value, kind):
        yield _Mismatch(place, value, kind)
        return
    for record in value if isinstance(value, list | tuple) else (value,):
        of: Any = type(record)
        for name, kind_of_field in _fields(of):
            of_field = getattr(record, name)
            if not _is(of_field, kind_of_field):
                yield _Mismatch(f"{place}.{name}", of_field, kind_of_field)


@cache
def _fields(record: type) -> tuple[tuple[str, Any], ...]:
    """Return the fields of one of our dataclasses or Move structs, and their kinds."""
    if not record.__module__.startswith(_OURS):
        return ()
    if is_dataclass(record):
        names = vars(sys.modules[record.__module__])
        return tuple((each.name, _resolved(each.type, names)) for each in fields(record))
    if issubclass(record, msgspec.Struct) and hasattr(record, "bcs"):
        return tuple((each.name, each.type) for each in msgspec.structs.fields(record))
    return ()


def _is(value: Any, kind: Any) -> bool:
    """Whether a value is of a kind; a whole number is one that Move has."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, UnionType):
        return any(_is(value, each) for each in inner)
    if origin is int:
        return type(value) is int and 0 <= value <= _MAX_U64
    if origin is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if origin is Any or not isinstance(origin, type) or getattr(origin, "_is_protocol", False):
        return True
    if origin is tuple and inner[1:] == (...,):
        origin = Sequence
    return isinstance(value, origin) and _has(value, origin, inner)


def _has(value: Any, origin: Any, inner: Sequence[Any]) -> bool:
    """Whether what is in a list or a mapping is of its kind, and text is not a list."""
    if origin is Sequence:
        if isinstance(value, str | bytes):
            return False
        return not inner or all(_is(each, inner[0]) for each in value)
    if origin is Mapping and inner:
        return all(_is(key, inner[0]) and _is(each, inner[1]) for key, each in value.items())
    return True


def _refusal(function: str, mismatch: _Mismatch) -> UsageError:
    shown = repr(mismatch.value)
    shown = shown if len(shown) <= _MAX_SHOWN else f"a {type(mismatch.value).__name__}"
    return UsageError(
        "argument_invalid",
        f"{function} takes {_named(mismatch.kind)} as {mismatch.place}, not {shown}",
        hint=_hint(mismatch),
    )


def _named(kind: Any) -> str:
    inner = get_args(kind)
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(map(_named, inner))
    if get_origin(kind) in (Sequence, tuple) and inner:
        return f"a list of {_named(inner[0])}"
    if get_origin(kind) is Mapping and inner:
        return f"a mapping of {_named(inner[0])} to {_named(inner[1])}"
    words = {
        int: "a whole number from 0 to 2^64 - 1",
        float: "a number",
        str: "text",
        bool: "True or False",
        type(None): "None",
        Any: "anything",
    }
    return words.get(kind, str(getattr(kind, "__name__", kind)))


def _hint(mismatch: _Mismatch) -> str:
    if mismatch.place.endswith("_mist"):
        return "amounts are in MIST: 1 SUI is 1_000_000_000"
    return next((_HINTS[name] for name in _names(mismatch.kind) if name in _HINTS), "")


def _names(kind: Any) -> Iterator[str]:
    """Yield the names of the types in a kind."""
    yield getattr(kind, "__name__", "")
    for each in get_args(kind):
        yield from _names(each)
