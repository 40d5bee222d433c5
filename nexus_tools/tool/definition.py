"""The definition that an author declares: name, type, URL, timeout and two schemas."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal
from urllib.parse import urlsplit

from nexus_tools.errors import ValidationError
from nexus_tools.sui.support.json_schema import SCHEMA_KEY
from nexus_tools.tool.fqn import ToolFqn
from nexus_tools.tool.host import is_host
from nexus_tools.tool.move_function import MAX_TIMEOUT_DAYS_CLOSABLE_BY_ANYONE, MoveFunction
from nexus_tools.tool.schemas.schema import check_input_schema, check_output_schema
from nexus_tools.tool.strict_json import canonical_json

MAX_URL_BYTES = 2_048
MAX_DESCRIPTION_BYTES = 4_096
MIN_TIMEOUT_MS = 1_000
MAX_TIMEOUT_MS = 120_000
MAX_TIMEOUT_FOR_ANYONE_MS = MAX_TIMEOUT_DAYS_CLOSABLE_BY_ANYONE * 24 * 60 * 60 * 1000
DEFAULT_TIMEOUT_MS = 10_000

REQUIRED = ("fqn", "url", "input_schema", "output_schema")
OPTIONAL = ("type", "description", "timeout", "function")

_IDENTIFIER = r"(?:[a-zA-Z][a-zA-Z0-9_]*|_[a-zA-Z0-9_]+)"
MOVE_FUNCTION = re.compile(rf"0x[0-9a-f]{{1,64}}::{_IDENTIFIER}::{_IDENTIFIER}", re.ASCII)
# The characters that RFC 3986 allows in the scheme, host, port and path of a URL.
URL_CHARACTERS = re.compile(r"[A-Za-z0-9._~:/\[\]@!$&'()*+,;=%-]+", re.ASCII)


class ToolType(StrEnum):
    """The kind of a tool: an HTTP server, or a Move function."""

    OFFCHAIN = "offchain"
    ONCHAIN = "onchain"


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A valid definition of a tool.

    `url` is the base URL of an off-chain tool, or `package::module::function` of an on-chain tool.
    Only an on-chain tool has a `function`.
    """

    fqn: ToolFqn
    type: ToolType
    url: str
    description: str
    timeout_ms: int
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    function: MoveFunction | None = None

    @classmethod
    def parse(cls, document: object, *, check_schemas: bool = True) -> "ToolDefinition":
        """Parse a JSON document and validate it against every rule.

        A document without `type` defines an off-chain tool. Most of the time is spent on checking
        the schemas. Set `check_schemas` to False only if both schemas have already been checked.

        Raises:
            ValidationError: With code `definition_invalid`, `fqn_invalid` or, for the schemas,
                `schema_invalid`.
        """
        fields = definition_fields(document)
        _text(fields, SCHEMA_KEY)
        kind = _type(fields.get("type", ToolType.OFFCHAIN.value))
        function = _function(fields, kind)
        return cls(
            fqn=ToolFqn.parse(_text(fields, "fqn")),
            type=kind,
            url=_url(_text(fields, "url"), kind),
            description=_description(_text(fields, "description")),
            timeout_ms=_timeout(fields.get("timeout", DEFAULT_TIMEOUT_MS), function),
            input_schema=_schema(fields, "input_schema", check_schemas and check_input_schema),
            output_schema=_schema(fields, "output_schema", check_schemas and check_output_schema),
            function=function,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the document of `/meta` with all fields. `timeout` is in milliseconds."""
        function = {"function": self.function.as_json()} if self.function else {}
        return {
            "fqn": str(self.fqn),
            "type": self.type.value,
            "url": self.url,
            "description": self.description,
            "timeout": self.timeout_ms,
            "input_schema": self.input_schema,
            "output_schema": self.output_schema,
            **function,
        }

    def has_same_interface(self, other: "ToolDefinition") -> bool:
        """Return whether both definitions have the same two schemas in canonical JSON."""
        return all(
            canonical_json(mine) == canonical_json(theirs)
            for mine, theirs in (
                (self.input_schema, other.input_schema),
                (self.output_schema, other.output_schema),
            )
        )


def definition_fields(document: object) -> Mapping[str, Any]:
    """Return the fields of a definition document.

    The field names are checked, but the values are not.
    """
    if not isinstance(document, Mapping):
        raise _invalid("expected a JSON object")
    missing = [name for name in REQUIRED if name not in document]
    if missing:
        raise _invalid(f"{_listed(missing)} missing")
    known = (SCHEMA_KEY, *REQUIRED, *OPTIONAL)
    unknown = [str(name)[:80] for name in document if name not in known]
    if unknown:
        raise _invalid(
            f"{_listed(unknown)} unknown", hint=f"Known fields: {', '.join(REQUIRED + OPTIONAL)}."
        )
    return document


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:10])} {'is' if len(names) == 1 else 'are'}"


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise _invalid(f"{name} is not a string")
    return value


def _type(value: object) -> ToolType:
    if value not in list(ToolType):
        raise _invalid("type must be 'offchain' or 'onchain'")
    return ToolType(str(value))


def _function(fields: Mapping[str, Any], kind: ToolType) -> MoveFunction | None:
    has_one = fields.get("function") is not None
    if has_one != (kind is ToolType.ONCHAIN):
        raise _invalid("an on-chain tool must have a function, and an off-chain tool must not")
    return MoveFunction.parse(fields["function"]) if has_one else None


def _url(url: str, kind: ToolType) -> str:
    if len(url.encode("utf-8", "replace")) > MAX_URL_BYTES:
        raise _invalid(f"the URL is longer than {MAX_URL_BYTES} bytes")
    if kind is ToolType.ONCHAIN:
        if not MOVE_FUNCTION.fullmatch(url):
            raise _invalid("the URL must be package::module::function, for example 0x2::math::add")
        return url
    problem = http_url_problem(url)
    if problem:
        raise _invalid(problem, hint="Write a URL such as https://tools.example.com/add.")
    return url


def http_url_problem(url: str) -> str:
    """Return the reason why a text is not a valid URL of an off-chain tool, or an empty string."""
    if "?" in url or "#" in url:
        return "the URL has a query or a fragment"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        return f"the URL is malformed: {error}"
    rules = (
        (URL_CHARACTERS.fullmatch(url), "the URL has invalid characters"),
        (parts.scheme in ("http", "https"), "the URL must be an absolute http or https URL"),
        (parts.hostname, "the URL has no host"),
        (is_host(parts.hostname or ""), "the URL's host is neither an address nor a valid name"),
        ("@" not in parts.netloc, "the URL has a user name or password"),
        (port != 0 and not parts.netloc.endswith(":"), "the URL has an invalid port"),
    )
    return next((problem for holds, problem in rules if not holds), "")


def _description(text: str) -> str:
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise _invalid("the description contains a lone surrogate") from error
    if size > MAX_DESCRIPTION_BYTES:
        raise _invalid(f"expected at most {MAX_DESCRIPTION_BYTES} bytes of description, got {size}")
    return text


def _timeout(value: object, function: MoveFunction | None) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _invalid("the timeout must be an integer number of milliseconds")
    longest = (
        MAX_TIMEOUT_FOR_ANYONE_MS if function and function.closable_by_anyone else MAX_TIMEOUT_MS
    )
    if not MIN_TIMEOUT_MS <= value <= longest:
        raise _invalid(f"expected a timeout of {MIN_TIMEOUT_MS} to {longest} ms, got {value}")
    return value


def _schema(
    fields: Mapping[str, Any], name: str, check: Callable[[object], object] | Literal[False]
) -> dict[str, Any]:
    schema = fields[name]
    try:
        if check:
            check(schema)
    except ValidationError as error:
        raise ValidationError(
            error.code,
            error.message,
            hint=error.hint,
            details={"field": name, **error.details},
        ) from error
    return dict(schema)


def _invalid(problem: str, *, hint: str = "") -> ValidationError:
    return ValidationError("definition_invalid", f"the definition is invalid: {problem}", hint=hint)
