"""HTTP Message Signatures (RFC 9421) and digests (RFC 9530): fields read, signature bases built.

`signing.py` says what is signed of tool calls, and by whom. A field is read in every form that
RFC 8941 (RFC 9651) allows. The signed text is the field in its one serialized form (RFC 9651,
section 4.1): spaces in a list, for example, change nothing.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from hashlib import sha256, sha512

MAX_FIELD_LENGTH = 8_192
MAX_COMPONENTS = 32

_KEY = r"[a-z*][a-z0-9_.*-]*"
_STRING = r'"[ !#-\[\]-~]*(?:\\["\\][ !#-\[\]-~]*)*"'
_WORD = r"[A-Za-z*][A-Za-z0-9:/!#$%&'*+.^_`|~-]*"
_BYTES = r":[A-Za-z0-9+/]*={0,2}:"
_NUMBER = r"-?[0-9]{1,15}(?:\.[0-9]{1,3})?"
_BARE = rf"(?:{_STRING}|{_NUMBER}|\?[01]|{_BYTES}|{_WORD})"
_PARAMETERS = rf"(?:; *{_KEY}(?:={_BARE})?)*"
_COMPONENT = rf"{_STRING}{_PARAMETERS}"

_COMPONENTS = rf" *(?:{_COMPONENT}(?: +{_COMPONENT})* *)?"
_AFTER = r"(?:\Z|[ \t]*,[ \t]*(?!\Z))"

_INPUT = re.compile(rf"({_KEY})=(\(({_COMPONENTS})\)({_PARAMETERS})){_AFTER}")
# The form of nearly all senders: one signature, with parameters of two kinds, which are serialized
# already. It is read in half of the time, because the components are the same each time.
_USUAL = re.compile(
    rf"({_KEY})=(\(([^()]*)\)((?:;{_KEY}=(?:0|[1-9][0-9]{{0,14}}|\"[ !#-\[\]-~]*\"))*))\Z"
)
_SIGNATURE = re.compile(rf"({_KEY})=({_BYTES})(?:{_PARAMETERS}){_AFTER}")
_ITEM = re.compile(rf"({_BYTES})({_PARAMETERS})")
_ALL_COMPONENTS = re.compile(_COMPONENTS)
_EACH_COMPONENT = re.compile(rf"({_STRING})({_PARAMETERS})")
_EACH_PARAMETER = re.compile(rf"; *({_KEY})(?:=({_BARE}))?")
_ESCAPED = re.compile(r'\\(["\\])')
_CONTROLS = re.compile(r"[^\t -~]")

_DIGESTS = {"sha-256": sha256, "sha-512": sha512}


class MalformedError(ValueError):
    """A field of a signature breaks the rules of its RFC. The message is for people."""


@dataclass(frozen=True, slots=True)
class Component:
    """A part of a message that a signature covers: the name of a field, or `@method` and others."""

    name: str
    identifier: str
    parameters: Mapping[str, int | str | bool]

    @property
    def of_request(self) -> bool:
        """Whether it is a part of the request, in the signature of its response."""
        return self.parameters.get("req") is True


@dataclass(frozen=True, slots=True)
class SignatureInput:
    """What a signature covers, and what else is signed: `text` in its serialized form."""

    components: tuple[Component, ...]
    parameters: Mapping[str, int | str | bool]
    text: str

    def base(self, value: Callable[[Component], str]) -> bytes:
        """What is signed (RFC 9421, section 2.5). Raises `MalformedError`.

        `value` gives what a component is in the message. A value of several lines would forge the
        lines of other components, so there is none.
        """
        lines = [f"{each.identifier}: {_line(value(each))}" for each in self.components]
        return "\n".join([*lines, f'"@signature-params": {self.text}']).encode("ascii")


def read_input(field: str, label: str) -> SignatureInput | None:
    """The member `label` of a field `Signature-Input`, if there is one. Raises `MalformedError`."""
    found = _USUAL.match(field) if len(field) <= MAX_FIELD_LENGTH else None
    is_serialized = found is not None and found[1] == label
    if not is_serialized:
        found = _members(_INPUT, field, "Signature-Input").get(label)
    if found is None:
        return None
    components, covered = _components(found[3])
    parameters = found[4] if is_serialized else _serialized(found[4])
    return SignatureInput(components, _parameters(parameters), f"({covered}){parameters}")


def read_signature(field: str, label: str) -> bytes | None:
    """The member `label` of a field `Signature`, if there is one. Raises `MalformedError`."""
    found = _members(_SIGNATURE, field, "Signature").get(label)
    return None if found is None else _decoded(found[2])


def signature_member(field: str, label: str) -> str:
    """The member `label` of a field `Signature` as it is written. Raises `MalformedError`."""
    found = _members(_SIGNATURE, field, "Signature").get(label)
    if found is None:
        raise MalformedError(f"there is no signature {label}")
    return found[2]


def content_digest(body: bytes) -> str:
    """The field `Content-Digest` of a body (RFC 9530)."""
    return f"sha-256={written_bytes(sha256(body).digest())}"


def has_digest(body: bytes, field: str) -> bool:
    """Whether all digests of a field `Content-Digest` that are known are the body's.

    At least one has to be: SHA-256 or SHA-512. Raises `MalformedError`.
    """
    if field == content_digest(body):
        return True
    members = _members(_SIGNATURE, field, "Content-Digest")
    known = {name: found for name, found in members.items() if name in _DIGESTS}
    if not known:
        raise MalformedError("Content-Digest has neither sha-256 nor sha-512")
    return all(_DIGESTS[name](body).digest() == _decoded(found[2]) for name, found in known.items())


def read_bytes_item(field: str) -> tuple[bytes, Mapping[str, int | str | bool]]:
    """The bytes and parameters of a field that is one byte sequence. Raises `MalformedError`."""
    found = _ITEM.fullmatch(field) if len(field) <= MAX_FIELD_LENGTH else None
    if found is None:
        raise MalformedError("a field is no byte sequence")
    return _decoded(found[1]), _parameters(found[2])


def written_bytes(data: bytes) -> str:
    """Bytes as fields have them: a member of `Signature`, or an item."""
    return f":{b64encode(data).decode('ascii')}:"


def _members(pattern: re.Pattern[str], field: str, name: str) -> dict[str, re.Match[str]]:
    """The members of a dictionary by their keys; none may be there twice."""
    if len(field) > MAX_FIELD_LENGTH:
        raise MalformedError(f"{name} is longer than {MAX_FIELD_LENGTH} characters")
    members: dict[str, re.Match[str]] = {}
    place = 0
    while place < len(field):
        found = pattern.match(field, place)
        if found is None or found[1] in members:
            raise MalformedError(f"{name} is no dictionary of the form that RFC 9421 asks for")
        members[found[1]] = found
        place = found.end()
    return members


@lru_cache(maxsize=256)
def _components(text: str) -> tuple[tuple[Component, ...], str]:
    """Return the components of a list, and the list in its serialized form."""
    if not _ALL_COMPONENTS.fullmatch(text):
        raise MalformedError("what the signature covers is no list of the form of RFC 9421")
    components = tuple(
        Component(_text(found[1]), found[1] + (given := _serialized(found[2])), _parameters(given))
        for found in _EACH_COMPONENT.finditer(text)
    )
    # The order of parameters makes no other component (RFC 9421, section 2).
    known = {(each.name, frozenset(each.parameters.items())) for each in components}
    if len(known) < len(components):
        raise MalformedError("a component is covered twice")
    if len(components) > MAX_COMPONENTS:
        raise MalformedError(f"more than {MAX_COMPONENTS} components are covered")
    if any(each.name != each.name.lower() for each in components):
        raise MalformedError("the name of a component is not in lower case")
    return components, " ".join(each.identifier for each in components)


def _parameters(text: str) -> dict[str, int | str | bool]:
    parameters: dict[str, int | str | bool] = {}
    for found in _EACH_PARAMETER.finditer(text):
        if found[1] in parameters:
            raise MalformedError(f"the parameter {found[1][:40]} is there twice")
        parameters[found[1]] = _bare(found[2])
    return parameters


def _serialized(parameters: str) -> str:
    """Return parameters in their serialized form (RFC 9651, section 4.1.1.2)."""
    return "".join(
        f";{found[1]}" if found[2] in (None, "?1") else f";{found[1]}={_serialized_bare(found[2])}"
        for found in _EACH_PARAMETER.finditer(parameters)
    )


def _serialized_bare(text: str) -> str:
    if text[0] == ":":
        return written_bytes(_decoded(text))
    if not (text[0] == "-" or text[0].isdigit()):
        return text
    if "." not in text:
        return str(int(text))
    # No zeros before the integer and at the end, but one digit behind the point.
    number = Decimal(text).normalize()
    return f"{number:f}" if number % 1 else f"{number:.1f}"


def _bare(text: str | None) -> int | str | bool:
    """An integer, text or truth; other kinds mean nothing here and stay as they are written."""
    if text is None or text[0] == "?":
        return text != "?0"
    if text[0] == '"':
        return _text(text)
    is_integer = "." not in text and (text[0] == "-" or text[0].isdigit())
    return int(text) if is_integer else text


def _text(quoted: str) -> str:
    return _ESCAPED.sub(r"\1", quoted[1:-1]) if "\\" in quoted else quoted[1:-1]


def _line(value: str) -> str:
    if _CONTROLS.search(value):
        raise MalformedError("a covered value has characters beyond visible ASCII")
    return value.strip(" \t")


def _decoded(member: str) -> bytes:
    try:
        return b64decode(member[1:-1], validate=True)
    except ValueError:
        raise MalformedError("a byte sequence is not base64") from None
