"""The Move function of an on-chain tool: its witness, arguments, gas, and who may call it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.errors import ValidationError

MAX_GAS_MIST = 50_000_000
MAX_TIMEOUT_DAYS_CLOSABLE_BY_ANYONE = 90

MAX_OBJECTS = 16
MAX_TYPE_ARGUMENTS = 8
MAX_TYPE_BYTES = 512
DEFAULT_GAS_MIST = 10_000_000
FIELDS = ("witness", "type_arguments", "objects", "gas", "closed_by")
CLOSERS = ("leaders", "anyone")

ADDRESS = re.compile(r"0x[0-9a-fA-F]{1,64}", re.ASCII)
_IDENTIFIER = r"(?:[a-zA-Z][a-zA-Z0-9_]*|_[a-zA-Z0-9_]+)"
_NAMED_TYPE = rf"0x[0-9a-fA-F]{{1,64}}::{_IDENTIFIER}::{_IDENTIFIER}"
WITNESS = re.compile(rf"{_NAMED_TYPE}(?:<[0-9a-zA-Z_:<>, ]+>)?", re.ASCII)
OF_PACKAGE = re.compile(rf"0x0::{_IDENTIFIER}::{_IDENTIFIER}", re.ASCII)
TYPE = re.compile(r"[0-9a-zA-Z_:<>, ]+", re.ASCII)
# The address at the start of a type, which Move writes without `0x`.
_PREFIX = re.compile(r"(?<![\w:])(?:0x)?([0-9a-fA-F]{1,64})(?=::)", re.ASCII)


@dataclass(frozen=True, slots=True)
class MoveFunction:
    """The arguments of the function, the witness that proves its answer, and its callers.

    `witness` is the type of the witness, with the original ID of its package. Types are in
    canonical form, with addresses of 64 digits. `objects` are the shared or immutable objects that
    follow the `Call` argument. Until the package is published, an element may be a type such as
    `0x0::badge::Collection` instead of an object ID. `gas_mist` is paid to the account that closes
    an invocation. If `closable_by_anyone` is true, anyone may call the function, and not only
    leaders.
    """

    witness: str
    type_arguments: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    gas_mist: int = DEFAULT_GAS_MIST
    closable_by_anyone: bool = False

    @classmethod
    def parse(cls, document: object) -> "MoveFunction":
        """Parse `function` of a definition document. Raises `definition_invalid`."""
        if not isinstance(document, Mapping) or "witness" not in document:
            raise _invalid("the function must be a JSON object with the type of a witness")
        unknown = [str(name)[:80] for name in document if name not in FIELDS]
        if unknown:
            raise _invalid(f"the function has unknown fields: {', '.join(unknown[:10])}")
        closed_by = document.get("closed_by", CLOSERS[0])
        if closed_by not in CLOSERS:
            raise _invalid("closed_by must be 'leaders' or 'anyone'")
        return cls(
            _type(document["witness"], WITNESS),
            tuple(_type(text, TYPE) for text in _list(document, "type_arguments")),
            tuple(_object(text) for text in _list(document, "objects")),
            _gas_mist(document.get("gas", DEFAULT_GAS_MIST)),
            closed_by == CLOSERS[1],
        )

    @property
    def type_name(self) -> str:
        """The witness type as Move's `type_name` writes it, without `0x`."""
        return _PREFIX.sub(lambda match: match[1], self.witness)

    def as_json(self) -> dict[str, Any]:
        """Return the document that `parse` reads, with all fields. `gas` is in MIST."""
        return {
            "witness": self.witness,
            "type_arguments": list(self.type_arguments),
            "objects": list(self.objects),
            "gas": self.gas_mist,
            "closed_by": CLOSERS[self.closable_by_anyone],
        }


_MAX_LENGTHS = {"type_arguments": MAX_TYPE_ARGUMENTS, "objects": MAX_OBJECTS}


def _list(document: Mapping[str, Any], name: str) -> list[Any]:
    items = document.get(name, [])
    if not isinstance(items, list) or len(items) > _MAX_LENGTHS[name]:
        raise _invalid(f"expected a list of at most {_MAX_LENGTHS[name]} {name}")
    return items


def _type(text: object, form: re.Pattern[str]) -> str:
    if not isinstance(text, str) or not form.fullmatch(text) or len(text) > MAX_TYPE_BYTES:
        raise _invalid("the function has an invalid type, expected a type such as 0x2::sui::SUI")
    return _PREFIX.sub(lambda match: _canonical(match[1]), text)


def _object(text: object) -> str:
    if isinstance(text, str) and OF_PACKAGE.fullmatch(text):
        return text
    if not isinstance(text, str) or not ADDRESS.fullmatch(text):
        raise _invalid("the function has an invalid object, expected an address such as 0x6")
    return _canonical(text.removeprefix("0x"))


def _canonical(digits: str) -> str:
    return f"0x{digits.lower():0>64}"


def _gas_mist(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_GAS_MIST:
        raise _invalid(f"gas must be an integer from 0 to {MAX_GAS_MIST} MIST")
    return value


def _invalid(problem: str) -> ValidationError:
    return ValidationError("definition_invalid", f"the definition is invalid: {problem}")
