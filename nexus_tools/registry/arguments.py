"""What verbs are given, where no type checker looked: told in words before anything is sent."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache, wraps
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from nexus_tools.errors import UsageError
from nexus_tools.package.move.workflows.timing import Timing
from nexus_tools.registry.workflow_reading import PublishedWorkflow
from nexus_tools.sui.address import Address
from nexus_tools.workflow import Document

T = TypeVar("T")

_MAX_U64 = 2**64 - 1
_MAX_SHOWN = 80

_HINTS = {
    Address: 'Address.parse_whole("0x…") reads text',
    Document: "read_document reads text, and a Workflow has a document()",
    PublishedWorkflow: "`await nexus.workflows.get(fqn)` finds it by its FQN",
    Timing: "such as Timing(Plan.Every(3_600_000, first_at_ms, None), None)",
}


def checks_arguments(service: type[T]) -> type[T]:
    """The class, whose public verbs raise `argument_invalid` for what they do not say they take."""
    for name, verb in list(vars(service).items()):
        if inspect.iscoroutinefunction(verb) and not name.startswith("_"):
            setattr(service, name, _checked(verb))
    return service


def _checked(verb: Callable[..., Awaitable[T]]) -> Callable[..., Awaitable[T]]:
    signature = inspect.signature(verb)
    # Later: a module's names need not be there yet, and few of its verbs are ever called.
    kinds = cache(lambda: get_type_hints(verb))

    @wraps(verb)
    async def checked(*args: Any, **kwargs: Any) -> T:
        given = signature.bind(*args, **kwargs).arguments
        for name, kind in kinds().items():
            if name in given and not _is(given[name], kind):
                raise _refusal(verb.__name__, name, given[name], kind)
        return await verb(*args, **kwargs)

    return checked


def _is(value: Any, kind: Any) -> bool:
    """Whether a value is of a kind, as far as it can be seen; a number is one that Move has."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, UnionType):
        return any(_is(value, each) for each in inner)
    if origin is int:
        return type(value) is int and 0 <= value <= _MAX_U64
    if origin is Any or not isinstance(origin, type):
        return True
    return isinstance(value, origin) and _has(value, origin, inner)


def _has(value: Any, origin: Any, inner: Sequence[Any]) -> bool:
    """Whether what is in a list or a mapping is of its kind, and text is no list."""
    if origin is Sequence:
        return not isinstance(value, str) and all(_is(each, inner[0]) for each in value)
    return origin is not Mapping or all(_is(each, inner[1]) for each in value.values())


def _refusal(verb: str, name: str, value: object, kind: Any) -> UsageError:
    shown = repr(value)
    shown = shown if len(shown) <= _MAX_SHOWN else f"a {type(value).__name__}"
    return UsageError(
        "argument_invalid",
        f"{verb} takes {_named(kind)} as {name}, not {shown}",
        hint=_hint(name, kind),
    )


def _named(kind: Any) -> str:
    inner = get_args(kind)
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(map(_named, inner))
    if get_origin(kind) is Sequence:
        return f"a list of {_named(inner[0])}"
    words = {int: "a whole number from 0 to 2^64 - 1", bool: "True or False", type(None): "None"}
    return words.get(kind, str(getattr(kind, "__name__", kind)))


def _hint(name: str, kind: Any) -> str:
    if name.endswith("_mist"):
        return "amounts are in MIST: 1 SUI is 1_000_000_000"
    return next((_HINTS[each] for each in (kind, *get_args(kind)) if each in _HINTS), "")
