"""The location of a journal in PostgreSQL."""

import re
from dataclasses import dataclass, field

DEFAULT_SCHEMA = "nexus_leader"

_HOST = r"(?:\[[0-9A-Fa-f:.%]+\]|[^@/?#:,\[\]\s]*)(?::[0-9]*)?"
# If a password contains an unescaped `@`, `/` or `?`, libpq reads a part of it as the host or port,
# and shows this part in its errors. The expression does not match these URLs.
_URL = re.compile(
    rf"postgres(?:ql)?://(?:[^@/?#\s]*@)?{_HOST}(?:,{_HOST})*(?:/[^@/?#\s]*)?(?:\?[^#\s]*)?"
)
_SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class PostgresUrl:
    """A URL for libpq, which may contain a password, and the schema with the journal's tables."""

    url: str = field(repr=False)
    schema: str

    @classmethod
    def parse(cls, text: str) -> "PostgresUrl":
        """Parse `postgresql://…`. The parameter `schema`, which libpq does not know, is removed.

        Raises:
            ValueError: The text is not a URL of PostgreSQL. The message does not contain the text.
        """
        if not re.match("postgres(?:ql)?://", text):
            raise ValueError("expected a file or a URL that begins with postgresql://")
        if not _URL.fullmatch(text):
            raise ValueError(
                "expected postgresql://USER@HOST:PORT/DATABASE, with %-encoded special characters"
            )
        base, _, query = text.partition("?")
        parameters = [parameter.partition("=") for parameter in query.split("&") if parameter]
        schemas = [value for name, _, value in parameters if name == "schema"] or [DEFAULT_SCHEMA]
        if len(schemas) > 1 or not _SCHEMA_NAME.fullmatch(schemas[0]):
            raise ValueError(
                "expected one schema of at most 63 lowercase letters, digits and underscores"
            )
        others = "&".join("".join(parts) for parts in parameters if parts[0] != "schema")
        return cls(f"{base}?{others}" if others else base, schemas[0])
