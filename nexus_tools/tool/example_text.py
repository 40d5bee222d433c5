"""Texts that satisfy `format`, `pattern` and the bounds on length."""

from collections.abc import Iterator
from typing import Any

from nexus_tools.tool.example_pattern import matching_texts

_VARIATIONS = 12
_MAX_LENGTH = 100_000

_FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "PT1H",
    "email": "ada@example.com",
    "idn-email": "ada@example.com",
    "hostname": "example.com",
    "idn-hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "uri-reference": "https://example.com/",
    "iri": "https://example.com/",
    "iri-reference": "https://example.com/",
    "uri-template": "https://example.com/{name}",
    "uuid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "json-pointer": "/name",
    "relative-json-pointer": "0/name",
    "regex": "a+",
    "byte": "YWJj",
    "base64": "YWJj",
    "base64url": "YWJj",
    "json-string": "{}",
    "ipv4network": "192.0.2.0/24",
    "ipv6network": "2001:db8::/32",
    "ipvanyaddress": "192.0.2.1",
    "file-path": "example.txt",
    "directory-path": ".",
}


def text_candidates(schema: dict[str, Any]) -> Iterator[str]:
    """What `format` and `pattern` ask for, then plain words cut or filled to length."""
    if schema.get("format") in _FORMATS:
        yield _FORMATS[schema["format"]]
    shortest = min(schema.get("minLength", 0), _MAX_LENGTH)
    longest = schema.get("maxLength", _MAX_LENGTH)
    if "pattern" in schema:
        yield from matching_texts(schema["pattern"], shortest)
    for number in range(_VARIATIONS):
        suffix = str(number) if number else ""
        word = "example"[: max(0, longest - len(suffix))] + suffix
        yield word.ljust(shortest, "x")
