"""The document in which a domain lists the owners of its names, and the hosts of the document.

The document lists the addresses that may own names of the domain in a registry. For the tool
`xyz.taluslabs.llm.chat@1`, the document on `llm.taluslabs.xyz` applies. If this host has no
document, the document on `taluslabs.xyz` applies. The hosts are the labels before the tool's name
in reverse order, down to two labels. The party that can publish a document on a host controls its
domain.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from nexus_tools.errors import ValidationError
from nexus_tools.tool.host import is_host
from nexus_tools.tool.strict_json import parse_json

PROOF_PATH = "/.well-known/nexus-tools.json"
MAX_PROOF_BYTES = 65_536
MAX_PROOF_HOSTS = 4
"""The maximum number of hosts per lookup. The domain is untrusted input, which must not cause many
requests."""

_MIN_LABELS = 2
_MAX_LABEL = 63
_FIELDS = {"chain", "registry", "owners"}
# The digest of a checkpoint, 32 bytes in base58.
_CHAIN = re.compile(r"[1-9A-HJ-NP-Za-km-z]{32,44}", re.ASCII)
_ADDRESS = re.compile(r"0x[0-9a-f]{64}", re.ASCII)


def proof_hosts(domain: str) -> tuple[str, ...]:
    """Return the hosts that may list the owners of an FQN's domain, the most specific host first.

    Raises `domain_unprovable` if the domain is not a valid host name (RFC 1035, section 2.3.1).
    """
    labels = domain.split(".")
    for label in labels:
        problem = _label_problem(label)
        if problem:
            raise ValidationError(
                "domain_unprovable", f"{domain} is not a valid internet domain: {label!r} {problem}"
            )
    if not _MIN_LABELS <= len(labels) <= MAX_PROOF_HOSTS + 1:
        raise ValidationError(
            "domain_unprovable",
            f"{domain} has {len(labels)} labels, expected 2 to {MAX_PROOF_HOSTS + 1}",
        )
    lengths = range(len(labels), _MIN_LABELS - 1, -1)
    return tuple(".".join(reversed(labels[:length])) for length in lengths)


def _label_problem(label: str) -> str:
    if "_" in label:
        return "has an underscore"
    if label.endswith("-"):
        return "ends with a hyphen"
    if len(label) > _MAX_LABEL:
        return f"is longer than {_MAX_LABEL} characters"
    return "" if is_host(label) else "is not valid Punycode"


@dataclass(frozen=True, slots=True)
class RegistryOwners:
    """The addresses that may own names of the domain in one registry.

    `chain` is the digest of the chain's first checkpoint in base58. IDs and addresses are written
    with `0x` and all 64 digits in lower case.
    """

    chain: str
    registry: str
    owners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DomainOwners:
    """The document that a domain publishes."""

    registries: tuple[RegistryOwners, ...]

    @classmethod
    def parse(cls, text: bytes) -> "DomainOwners":
        """Parse the document, or raise `ValidationError` with code `proof_invalid`.

        Parsing is strict: unknown members, shortened addresses and duplicate registries are
        rejected.
        """
        if len(text) > MAX_PROOF_BYTES:
            _refuse("", f"the document is longer than {MAX_PROOF_BYTES} bytes")
        try:
            document = parse_json(text)
        except ValidationError as error:
            _refuse("", error.message)
        entries = _list(_members(document, {"registries"}, "")["registries"], "registries")
        owners = cls(tuple(_registry(entry, index) for index, entry in enumerate(entries)))
        registries = {(entry.chain, entry.registry) for entry in owners.registries}
        if len(registries) < len(owners.registries):
            _refuse("registries", "a registry occurs twice")
        return owners

    def owners_in(self, chain: str, registry: str) -> tuple[str, ...]:
        """Return the addresses that may own names in a registry, or `()` if it is not listed."""
        key = (chain, registry)
        return next(
            (entry.owners for entry in self.registries if (entry.chain, entry.registry) == key), ()
        )

    def text(self) -> str:
        """Return the document as JSON text for publishing."""
        registries = [
            {"chain": entry.chain, "registry": entry.registry, "owners": list(entry.owners)}
            for entry in self.registries
        ]
        return json.dumps({"registries": registries}, indent=2)


def _registry(value: object, at: int) -> RegistryOwners:
    where = f"registries[{at}]"
    fields = _members(value, _FIELDS, where)
    owners = _list(fields["owners"], f"{where}.owners")
    return RegistryOwners(
        _matching(_CHAIN, fields["chain"], f"{where}.chain", "the digest of a chain in base58"),
        _matching(
            _ADDRESS, fields["registry"], f"{where}.registry", "an ID of 64 hexadecimal digits"
        ),
        tuple(
            _matching(
                _ADDRESS, owner, f"{where}.owners[{number}]", "an address of 64 hexadecimal digits"
            )
            for number, owner in enumerate(owners)
        ),
    )


def _members(value: object, names: set[str], where: str) -> dict[str, Any]:
    if not isinstance(value, dict) or value.keys() != names:
        _refuse(where, f"expected an object with {', '.join(sorted(names))}")
    return value


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        _refuse(where, "expected a list")
    return value


def _matching(pattern: re.Pattern[str], value: object, where: str, what: str) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        _refuse(where, f"the value is not {what}")
    return value


def _refuse(where: str, problem: str) -> NoReturn:
    place = f" at {where}" if where else ""
    raise ValidationError("proof_invalid", f"not a valid list of owners{place}: {problem}")
