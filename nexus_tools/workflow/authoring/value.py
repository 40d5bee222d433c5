"""The placeholders for values that will exist when the workflow runs."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NoReturn

from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.workflow.authoring.sketch import Origin
from nexus_tools.workflow.authoring.source_line import UnknownNameError, caller_line

_TO_BRANCH = (
    "To branch, use a port of a variant. Steps that take the port run only if the tool ends in"
    " this variant."
)
_TO_CALCULATE = "Pass the value to a step that computes the result."
_TO_FORMAT = "Pass the value to a step that builds the string."


class Value:
    """A placeholder for a value of the running workflow. Only the origin of the value is known.

    You can pass the placeholder to a port, `for_each`, `loop`, `collect`, or `output`. You cannot
    test, measure, format or index it, because its content is unknown while the workflow is written.
    """

    __slots__ = ("_origin",)

    def __init__(self, origin: Origin) -> None:
        self._origin = origin

    def __bool__(self) -> NoReturn:
        raise _unknown_yet(self._origin, _TO_BRANCH)

    def __eq__(self, other: object) -> bool:
        # Without this error, `if verdict == "good":` would silently never be true.
        return self is other or self.__bool__()

    __hash__ = object.__hash__

    def __str__(self) -> NoReturn:
        # Without this error, `f"Hello, {name}!"` would contain the name of the placeholder.
        raise _unknown_yet(self._origin, _TO_FORMAT)

    def __format__(self, _: str) -> NoReturn:
        raise _unknown_yet(self._origin, _TO_FORMAT)

    def __lt__(self, _: object) -> NoReturn:
        raise _unknown_yet(self._origin, f"Compare the value in a step. {_TO_BRANCH}")

    __le__ = __gt__ = __ge__ = __contains__ = __lt__

    def __add__(self, _: object) -> NoReturn:
        raise _unknown_yet(self._origin, _TO_CALCULATE)

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __add__
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __add__

    def __int__(self) -> NoReturn:
        raise _unknown_yet(self._origin, _TO_CALCULATE)

    __float__ = __index__ = __round__ = __neg__ = __abs__ = __len__ = __int__

    def __iter__(self) -> NoReturn:
        raise caller_line().of(
            UsageError(
                "value_unknown_yet",
                f"the elements of {self._origin} are known only when the workflow runs",
                hint="Write `with flow.for_each(…) as element:`.",
            )
        )

    def __getitem__(self, key: object) -> NoReturn:
        raise UnknownNameError.of(
            ValidationError(
                "value_unknown_yet",
                f"{self._origin} cannot be indexed before the workflow runs",
                hint="Split the value in a step, and use the ports of that step.",
            )
        )

    # This method is hidden from type checkers, so that they report unknown attributes.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):  # Python looks up these names, and requires an AttributeError
                raise AttributeError(name)
            self[name]

    def __repr__(self) -> str:
        return f"<value {self._origin}>"


def origin_of(value: Value) -> Origin:
    """Return the origin of a value."""
    return value._origin  # noqa: SLF001 - underscores keep it from looking like a part of a value


class IncompleteValue(ABC):
    """An object that is not yet a value and has no string form: a step, a branch, or a block."""

    __slots__ = ()

    @abstractmethod
    def _name(self) -> str:
        """Return the author's name for the object, such as `found`."""

    @abstractmethod
    def _as_a_value(self) -> str:
        """Return a hint, such as `Name a variant and a port: found.ok.papers.`."""

    def __str__(self) -> NoReturn:
        raise _unknown_yet(self._name(), _TO_FORMAT)

    def __format__(self, _: str) -> NoReturn:
        raise _unknown_yet(self._name(), _TO_FORMAT)


def incomplete_value_error(given: IncompleteValue) -> UsageError:
    """Return the error for a step, branch or block that was passed as a value."""
    return UsageError(
        "port_unnamed",
        f"{given._name()} does not name a port",  # noqa: SLF001 - underscores keep it from hiding variants
        hint=given._as_a_value(),  # noqa: SLF001 - as above
    )


def _unknown_yet(what: object, hint: str) -> UsageError:
    """Return the error for reading the content of a value before the workflow runs."""
    message = f"{what} is known only when the workflow runs"
    return caller_line().of(UsageError("value_unknown_yet", message, hint=hint))
