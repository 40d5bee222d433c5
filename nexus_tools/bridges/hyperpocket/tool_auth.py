"""A tool's declaration: its name, its schema, and the authentication that it needs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.errors import ValidationError

# Providers with other variables than `<PROVIDER>_TOKEN`. A key with a handler takes precedence.
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
    """A tool's declared authentication: `provider` in lower case, `handler` or "", and `scopes`."""

    provider: str
    handler: str = ""
    scopes: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, document: object) -> "ToolAuth | None":
        """Parse a tool's `auth`, or return None if the tool does not require authentication.

        Raises:
            ValidationError: with code `auth_invalid`.
        """
        if document is None:
            return None
        if not isinstance(document, Mapping) or not document.keys() <= _FIELDS:
            raise _invalid(f"auth must be an object with {', '.join(sorted(_FIELDS))}")
        provider, handler = (
            _plain(document.get(field), field) for field in ("auth_provider", "auth_handler")
        )
        scopes = document.get("scopes") or []
        if not isinstance(scopes, list) or not all(isinstance(scope, str) for scope in scopes):
            raise _invalid("scopes must be a list of strings")
        return cls(provider.lower(), handler, frozenset(scopes)) if provider else None

    @property
    def names(self) -> tuple[str, ...]:
        """The environment variables in which tools of this provider read credentials."""
        known_names = _NAMES.get(self.qualified) or _NAMES.get(self.provider)
        return known_names or (f"{_OTHER.sub('_', self.provider.upper())}_TOKEN",)

    @property
    def qualified(self) -> str:
        """The provider name followed by the handler, for example `linkedin/linkedin-basicauth`."""
        return f"{self.provider}/{self.handler}" if self.handler else self.provider


def _plain(value: Any, field: str) -> str:
    if value is None or value == "":
        return ""
    if not isinstance(value, str) or not _PLAIN.fullmatch(value):
        raise _invalid(f"{field} is not a valid name")
    return value


def _invalid(problem: str) -> ValidationError:
    return ValidationError("auth_invalid", f"the tool's auth is not valid: {problem}")


@dataclass(frozen=True, slots=True)
class Declaration:
    """The declared fields of a `Tool`, and its variables.

    `schema` is the `argument_json_schema`. If `schema` is None, the tool has no arguments.
    """

    name: str
    description: str
    schema: Mapping[str, Any] | None
    auth: ToolAuth | None
    variables: Mapping[str, str]
