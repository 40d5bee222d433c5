"""The parser of HTTP Message Signatures (RFC 9421) and digests (RFC 9530), and signature bases.

`signing.py` defines which parts of tool calls are signed. The parser reads a field in every form
that RFC 8941 (RFC 9651) allows. A signature covers the canonical serialization of the field (RFC
9651, section 4.1). For example, additional spaces in a list do not change the signature base.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from hashlib import sha256, sha512
from typing import NamedTuple

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
# Nearly all senders use this form: one signature, whose parameters are integers and strings in
# serialized form. Reading it takes half of the time, because its components can be cached.
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
_SPACE = " \t"

_DIGESTS = {"sha-256": sha256, "sha-512": sha512}


class MalformedError(ValueError):
    """The error for a signature field that violates its RFC. Users see the message."""


@dataclass(frozen=True, slots=True)
class Component:
    """A signed part of a message: a field, or a derived component such as `@method`."""

    name: str
    identifier: str
    parameters: Mapping[str, int | str | bool]

    @property
    def of_request(self) -> bool:
        """Whether the signature of a response covers this component of the request."""
        return self.parameters.get("req") is True


ComponentKey = tuple[str, frozenset[tuple[str, int | str | bool]]]


class CoveredComponents(NamedTuple):
    """The components that a signature covers. `text` is the serialized form of the list.

    `keys` contains the name and the parameters of each component. Components that differ only in
    the order of parameters are equal (RFC 9421, section 2).
    """

    components: tuple[Component, ...]
    keys: frozenset[ComponentKey]
    text: str


class SignatureInput(NamedTuple):
    """The components and parameters that a signature covers. `text` is their serialized form."""

    covered: CoveredComponents
    parameters: Mapping[str, int | str | bool]
    text: str

    @property
    def components(self) -> tuple[Component, ...]:
        """The covered components, in the order of the list."""
        return self.covered.components

    def base(self, value: Callable[[Component], str]) -> bytes:
        """Return the signature base (RFC 9421, section 2.5). Raises `MalformedError`.

        `value` returns the value of a component in the message. A value with a line break is
        rejected, because it could forge the line of another component.
        """
        values = [value(part) for part in self.components]
        all_values = "".join(values)
        # The regular expression takes ten times as long, but only it allows tabs.
        is_visible = all_values.isascii() and all_values.isprintable()
        if not is_visible and _CONTROLS.search(all_values):
            raise MalformedError("a covered value has characters that are not visible ASCII")
        lines = [
            f"{part.identifier}: {text.strip(_SPACE)}"
            for part, text in zip(self.components, values, strict=True)
        ]
        return "\n".join([*lines, f'"@signature-params": {self.text}']).encode("ascii")


def read_input(field: str, label: str) -> SignatureInput | None:
    """Return the member `label` of a `Signature-Input` field, or None.

    Raises `MalformedError`.
    """
    match = _USUAL.match(field) if len(field) <= MAX_FIELD_LENGTH else None
    is_serialized = match is not None and match[1] == label
    if not is_serialized:
        match = _members(_INPUT, field, "Signature-Input").get(label)
    if match is None:
        return None
    covered = _components(match[3])
    parameters = match[4] if is_serialized else _serialized(match[4])
    return SignatureInput(covered, _parameters(parameters), f"({covered.text}){parameters}")


def read_signature(field: str, label: str) -> bytes | None:
    """Return the member `label` of a `Signature` field, or None. Raises `MalformedError`."""
    match = _members(_SIGNATURE, field, "Signature").get(label)
    return None if match is None else _decoded(match[2])


def signature_member(field: str, label: str) -> str:
    """Return the unparsed member `label` of a `Signature` field. Raises `MalformedError`."""
    match = _members(_SIGNATURE, field, "Signature").get(label)
    if match is None:
        raise MalformedError(f"the signature {label} does not exist")
    return match[2]


def content_digest(body: bytes) -> str:
    """Return the `Content-Digest` field of a body (RFC 9530)."""
    return f"sha-256={format_bytes_item(sha256(body).digest())}"


def matches_digest(body: bytes, field: str) -> bool:
    """Return whether all supported digests in a `Content-Digest` field match the body.

    The field must contain a SHA-256 or SHA-512 digest. Raises `MalformedError`.
    """
    if field == content_digest(body):
        return True
    members = _members(_SIGNATURE, field, "Content-Digest")
    known = {name: match for name, match in members.items() if name in _DIGESTS}
    if not known:
        raise MalformedError("Content-Digest has neither sha-256 nor sha-512")
    return all(_DIGESTS[name](body).digest() == _decoded(match[2]) for name, match in known.items())


def read_bytes_item(field: str) -> tuple[bytes, Mapping[str, int | str | bool]]:
    """Parse a field that is a byte sequence with parameters. Raises `MalformedError`."""
    match = _ITEM.fullmatch(field) if len(field) <= MAX_FIELD_LENGTH else None
    if match is None:
        raise MalformedError("a field is not a byte sequence")
    return _decoded(match[1]), _parameters(match[2])


def format_bytes_item(data: bytes) -> str:
    """Serialize bytes as a byte sequence (RFC 9651), for example for the field `Signature`."""
    return f":{b64encode(data).decode('ascii')}:"


def _members(pattern: re.Pattern[str], field: str, name: str) -> dict[str, re.Match[str]]:
    """Return the members of a dictionary field by their keys, which must be unique."""
    if len(field) > MAX_FIELD_LENGTH:
        raise MalformedError(f"{name} is longer than {MAX_FIELD_LENGTH} characters")
    members: dict[str, re.Match[str]] = {}
    position = 0
    while position < len(field):
        match = pattern.match(field, position)
        if match is None or match[1] in members:
            raise MalformedError(f"{name} is not a valid dictionary of RFC 9421")
        members[match[1]] = match
        position = match.end()
    return members


@lru_cache(maxsize=256)
def _components(text: str) -> CoveredComponents:
    """Parse a list of components."""
    if not _ALL_COMPONENTS.fullmatch(text):
        raise MalformedError("the covered components are not a valid list of RFC 9421")
    components = tuple(
        Component(
            _text(match[1]), match[1] + (text_form := _serialized(match[2])), _parameters(text_form)
        )
        for match in _EACH_COMPONENT.finditer(text)
    )
    keys = frozenset((part.name, frozenset(part.parameters.items())) for part in components)
    if len(keys) < len(components):
        raise MalformedError("a component is covered twice")
    if len(components) > MAX_COMPONENTS:
        raise MalformedError(f"more than {MAX_COMPONENTS} components are covered")
    if any(part.name != part.name.lower() for part in components):
        raise MalformedError("the name of a component is not in lower case")
    return CoveredComponents(components, keys, " ".join(part.identifier for part in components))


def _parameters(text: str) -> dict[str, int | str | bool]:
    parameters: dict[str, int | str | bool] = {}
    for name, value in _EACH_PARAMETER.findall(text):
        if name in parameters:
            raise MalformedError(f"the parameter {name[:40]} occurs twice")
        parameters[name] = _bare(value)
    return parameters


def _serialized(parameters: str) -> str:
    """Return parameters in their serialized form (RFC 9651, section 4.1.1.2)."""
    return "".join(
        f";{match[1]}" if match[2] in (None, "?1") else f";{match[1]}={_serialized_bare(match[2])}"
        for match in _EACH_PARAMETER.finditer(parameters)
    )


def _serialized_bare(text: str) -> str:
    if text[0] == ":":
        return format_bytes_item(_decoded(text))
    if not (text[0] == "-" or text[0].isdigit()):
        return text
    if "." not in text:
        return str(int(text))
    # The serialized form has no redundant zeros, but at least one digit after the decimal point.
    number = Decimal(text).normalize()
    return f"{number:f}" if number % 1 else f"{number:.1f}"


def _bare(text: str) -> int | str | bool:
    """Return an integer, string or boolean. Values of other types are not needed and stay text."""
    if not text or text[0] == "?":
        return text != "?0"
    if text[0] == '"':
        return _text(text)
    is_integer = "." not in text and (text[0] == "-" or text[0].isdigit())
    return int(text) if is_integer else text


def _text(quoted: str) -> str:
    return _ESCAPED.sub(r"\1", quoted[1:-1]) if "\\" in quoted else quoted[1:-1]


def _decoded(member: str) -> bytes:
    try:
        return b64decode(member[1:-1], validate=True)
    except ValueError:
        raise MalformedError("a byte sequence is not base64") from None
