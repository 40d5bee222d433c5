"""The service `sui.rpc.v2.NameService`. Each look-up fails because a localnet does not have SuiNS.

The service still validates names. Source: `Domain::from_str` in `sui-name-service/src/lib.rs`.
"""

import re

from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.localnet.rpc.backend import Backend, UnaryHandler
from nexus_tools.sui.localnet.rpc.interface import not_found
from nexus_tools.sui.localnet.rpc.requests import address, parsed, required
from nexus_tools.sui.rpc import Message

_MAX_BYTES = 200
_MAX_LABEL_BYTES = 63
_SEPARATORS = ".*"
_TOP_LEVEL = "sui"
_LABEL = re.compile(r"[a-z0-9-]*", re.ASCII)


def _lookup_name(_: Backend, request: Message, __: Message) -> None:
    name = parsed("name", required(request, "name"), parse_domain)
    raise not_found(f"name {name!r} is not registered: this network does not have SuiNS")


def _reverse_lookup_name(_: Backend, request: Message, __: Message) -> None:
    owner = address(request, "address")
    raise not_found(f"{owner} does not have a name: this network does not have SuiNS")


UNARY: dict[str, UnaryHandler] = {
    "LookupName": _lookup_name,
    "ReverseLookupName": _reverse_lookup_name,
}


# --- Names of SuiNS


def parse_domain(text: str) -> str:
    """Return the full form of a name. `a@example` and `a*example*sui` mean `a.example.sui`.

    Raises:
        ValidationError: `domain_name_invalid`.
    """
    if len(text.encode()) > _MAX_BYTES:
        raise _invalid(
            f"String length: {len(text.encode())} exceeds maximum allowed length: {_MAX_BYTES}"
        )
    separators = [separator for separator in _SEPARATORS if separator in text]
    if len(separators) > 1:
        raise _invalid("Domain must include only one separator")
    labels = _labels(text, separators[0] if separators else _SEPARATORS[0])
    for label in labels:
        _check_label(label)
    if len(labels) < 2:
        raise _invalid("Domain must contain at least one label")
    return ".".join(labels)


def _labels(text: str, separator: str) -> list[str]:
    """Split a name into its labels. A name after `@` has one label and omits `sui`."""
    before, at, after = text.partition("@")
    if not at:
        return text.split(separator)
    if not after or "@" in after or separator in after:
        raise _invalid("Domain must include only one separator")
    return [*(before.split(separator) if before else ()), after, _TOP_LEVEL]


def _check_label(label: str) -> None:
    size = len(label.encode())
    if not 1 <= size <= _MAX_LABEL_BYTES:
        raise _invalid(f"String length: {size} outside of valid range: [1, {_MAX_LABEL_BYTES}]")
    if not _LABEL.fullmatch(label):
        raise _invalid("Only lowercase letters, numbers, and hyphens are allowed")
    if label.startswith("-") or label.endswith("-"):
        raise _invalid("Hyphens are not allowed as the first or last character")


def _invalid(message: str) -> ValidationError:
    return ValidationError("domain_name_invalid", f"Name Service: {message}")
