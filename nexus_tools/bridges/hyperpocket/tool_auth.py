"""What a tool says of itself: its name, and the authorisation that it needs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.errors import ValidationError

# Providers whose credentials tools read by another name than `<PROVIDER>_TOKEN`; first by handler.
_NAMES: dict[str, tuple[str, ...]] = {
    "linkedin/linkedin-basicauth": ("LINKEDIN_BASIC_AUTH",),
    "apitoken": ("API_TOKEN",),
    "basicauth": ("BASIC_AUTH",),
    "kraken": ("KRAKEN_API_KEY", "KRAKEN_API_SECRET"),
    "reddit": ("REDDIT_BOT_TOKEN",),
    "slack": ("SLACK_BOT_TOKEN",),
    "valyu": ("VALYU_API_KEY",),
    "x": ("X_AUTH_TOKEN",),
}

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_OTHER = re.compile(r"[^A-Z0-9]+")
_FIELDS = {"auth_provider", "auth_handler", "scopes"}


@dataclass(frozen=True, slots=True)
class ToolAuth:
    """What a tool declares: `provider` in lower case, the `handler` of it or "", its `scopes`."""

    provider: str
    handler: str = ""
    scopes: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, document: object) -> "ToolAuth | None":
        """Read `auth` of a tool; None if it names no provider, as it needs no authentication then.

        Raises `ValidationError` with code `auth_invalid`.
        """
        if document is None:
            return None
        if not isinstance(document, Mapping) or not document.keys() <= _FIELDS:
            raise _invalid(f"it is an object of {', '.join(sorted(_FIELDS))}")
        provider, handler = (
            _plain(document.get(field), field) for field in ("auth_provider", "auth_handler")
        )
        scopes = document.get("scopes") or []
        if not isinstance(scopes, list) or not all(isinstance(scope, str) for scope in scopes):
            raise _invalid("scopes is no list of texts")
        return cls(provider.lower(), handler, frozenset(scopes)) if provider else None

    @property
    def names(self) -> tuple[str, ...]:
        """The environment variables in which tools of this provider look for credentials."""
        special = _NAMES.get(self.qualified) or _NAMES.get(self.provider)
        return special or (f"{_OTHER.sub('_', self.provider.upper())}_TOKEN",)

    @property
    def qualified(self) -> str:
        """The provider with the handler, as in `linkedin/linkedin-basicauth`."""
        return f"{self.provider}/{self.handler}" if self.handler else self.provider


def _plain(value: Any, field: str) -> str:
    if value is None or value == "":
        return ""
    if not isinstance(value, str) or not _PLAIN.fullmatch(value):
        raise _invalid(f"{field} is no plain name")
    return value


def _invalid(problem: str) -> ValidationError:
    return ValidationError("auth_invalid", f"the tool's auth is wrong: {problem}")


@dataclass(frozen=True, slots=True)
class Declaration:
    """The fields of the document's `Tool`, and the variables that its kinds have besides.

    `schema` is its `argument_json_schema`; None means that it takes no arguments.
    """

    name: str
    description: str
    schema: Mapping[str, Any] | None
    auth: ToolAuth | None
    variables: Mapping[str, str]
