"""What an on-chain tool says of its Move function beyond where it is."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.errors import ValidationError

MAX_GAS_MIST = 50_000_000
MAX_DAYS_FOR_ANYONE = 90

_MAX_OBJECTS = 16
_MAX_TYPE_ARGUMENTS = 8
_MAX_TYPE_BYTES = 512
_DEFAULT_GAS_MIST = 10_000_000
_FIELDS = ("witness", "type_arguments", "objects", "gas", "closed_by")
_CLOSERS = ("leaders", "anyone")

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{1,64}", re.ASCII)
_IDENTIFIER = r"(?:[a-zA-Z][a-zA-Z0-9_]*|_[a-zA-Z0-9_]+)"
_NAMED_TYPE = rf"0x[0-9a-fA-F]{{1,64}}::{_IDENTIFIER}::{_IDENTIFIER}"
_WITNESS = re.compile(rf"{_NAMED_TYPE}(?:<[0-9a-zA-Z_:<>, ]+>)?", re.ASCII)
_OF_PACKAGE = re.compile(rf"0x0::{_IDENTIFIER}::{_IDENTIFIER}", re.ASCII)
_TYPE = re.compile(r"[0-9a-zA-Z_:<>, ]+", re.ASCII)
# An address at the head of a type; Move writes it without `0x`.
_PREFIX = re.compile(r"(?<![\w:])(?:0x)?([0-9a-fA-F]{1,64})(?=::)", re.ASCII)


@dataclass(frozen=True, slots=True)
class MoveFunction:
    """What the function takes, what shows that its answer is its own, and who calls it.

    `witness` is the type of the witness by the original id of its package, types are in canonical
    form: addresses of 64 digits. `objects`, shared or immutable ones, follow the `Call` in the
    function's parameters; until the package is published, they may be named by their types, as
    `0x0::badge::Collection`. `gas_mist` goes to whoever closes an invocation.
    """

    witness: str
    type_arguments: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    gas_mist: int = _DEFAULT_GAS_MIST
    for_anyone: bool = False

    @classmethod
    def parse(cls, document: object) -> "MoveFunction":
        """Read `function` of a definition document. Raises `definition_invalid`."""
        if not isinstance(document, Mapping) or "witness" not in document:
            raise _invalid("is no JSON object with the type of a witness")
        unknown = [str(name)[:80] for name in document if name not in _FIELDS]
        if unknown:
            raise _invalid(f"has unknown fields: {', '.join(unknown[:10])}")
        closed_by = document.get("closed_by", _CLOSERS[0])
        if closed_by not in _CLOSERS:
            raise _invalid("is closed_by neither 'leaders' nor 'anyone'")
        return cls(
            _type(document["witness"], _WITNESS),
            tuple(_type(each, _TYPE) for each in _list(document, "type_arguments")),
            tuple(_object(each) for each in _list(document, "objects")),
            _gas_mist(document.get("gas", _DEFAULT_GAS_MIST)),
            closed_by == _CLOSERS[1],
        )

    @property
    def type_name(self) -> str:
        """The witness as Move writes types: without `0x`."""
        return _PREFIX.sub(lambda match: match[1], self.witness)

    def as_json(self) -> dict[str, Any]:
        """The document that `parse` reads: every field, `gas` in MIST."""
        return {
            "witness": self.witness,
            "type_arguments": list(self.type_arguments),
            "objects": list(self.objects),
            "gas": self.gas_mist,
            "closed_by": _CLOSERS[self.for_anyone],
        }


_MOST = {"type_arguments": _MAX_TYPE_ARGUMENTS, "objects": _MAX_OBJECTS}


def _list(document: Mapping[str, Any], name: str) -> list[Any]:
    found = document.get(name, [])
    if not isinstance(found, list) or len(found) > _MOST[name]:
        raise _invalid(f"has {name} that are no list of at most {_MOST[name]}")
    return found


def _type(text: object, form: re.Pattern[str]) -> str:
    if not isinstance(text, str) or not form.fullmatch(text) or len(text) > _MAX_TYPE_BYTES:
        raise _invalid("has something that is no type, as 0x2::sui::SUI is one")
    return _PREFIX.sub(lambda match: _canonical(match[1]), text)


def _object(text: object) -> str:
    if isinstance(text, str) and _OF_PACKAGE.fullmatch(text):
        return text
    if not isinstance(text, str) or not _ADDRESS.fullmatch(text):
        raise _invalid("has an object that is no address, as 0x6 is one")
    return _canonical(text.removeprefix("0x"))


def _canonical(digits: str) -> str:
    return f"0x{digits.lower():0>64}"


def _gas_mist(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_GAS_MIST:
        raise _invalid(f"has gas that is no whole number of MIST up to {MAX_GAS_MIST}")
    return value


def _invalid(problem: str) -> ValidationError:
    return ValidationError("definition_invalid", f"the definition is invalid: function {problem}")
