"""`mcp.json`: the declared MCP servers, and how to start or reach each of them.

The file has the common format of MCP clients: `{"mcpServers": {name: server}}`. A server has a
`command` (with `args`, `env`, `cwd`) or a `url` (with `type`, `headers`).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from itertools import chain
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

from nexus_tools.bridges.base import BridgeHost
from nexus_tools.bridges.redaction import SECRET_NAME, Redaction
from nexus_tools.bridges.sandbox import Confinement, is_too_broad, npm_packages
from nexus_tools.errors import ValidationError
from nexus_tools.sui.support.text_file import without_byte_order_mark
from nexus_tools.tool import parse_json

MAX_BYTES = 1 * 2**20

Transport = Literal["http", "sse"]

TRANSPORTS: dict[str, Transport] = {
    "http": "http",
    "streamable-http": "http",
    "streamableHttp": "http",
    "sse": "sse",
}
# RFC 9110, sections 5.1 and 5.5, without obsolete forms.
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")
_DOWNLOADERS = {"npx", "bunx", "pnpx", "uvx", "pipx"}
_PLACEHOLDER = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class StdioServer:
    """A server that is a program: its command, and variables in addition to the usual environment.

    `directory` is the working directory of the server. If `directory` is None, the server runs in
    an empty temporary directory. `variables` lists the shared variables that the server receives.
    `redaction` removes the server's secrets from texts.
    """

    command: tuple[str, ...] = field(repr=False)
    environment: Mapping[str, str] = field(repr=False)
    directory: Path | None
    variables: tuple[str, ...] = ()
    redaction: Redaction = field(default_factory=Redaction)

    def confinement(self, host: BridgeHost) -> Confinement:
        """Return the server's confinement, with its directory and the paths in its arguments.

        If an argument is a file, the confinement includes the file's folder and npm packages.
        """
        absolute_paths = [Path(word) for word in self.command[1:] if word.startswith("/")]
        files = [word for word in absolute_paths if word.is_file()]
        folders = [file if is_too_broad(file.parent) else file.parent for file in files]
        packages = chain.from_iterable(map(npm_packages, files))
        return host.confined(*([self.directory] if self.directory else []), *folders, *packages)

    def lacks_network(self, host: BridgeHost) -> bool:
        """Return whether the command downloads the server but may not connect to any port."""
        confinement = host.confinement
        has_no_ports = confinement.is_on and not confinement.ports
        return has_no_ports and Path(self.command[0]).stem in _DOWNLOADERS


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A server that is reached by HTTP. `sse` selects the transport of MCP 2024-11-05.

    `variables` and `redaction` have the same meaning as in `StdioServer`.
    """

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    transport: Transport
    variables: tuple[str, ...] = ()
    redaction: Redaction = field(default_factory=Redaction)


ServerDeclaration = StdioServer | HttpServer


def read_servers(file: Path) -> dict[str, Any]:
    """Return the unparsed servers of an `mcp.json` by name.

    Raises:
        ValidationError: with code `mcp_json_invalid`.
    """
    try:
        with file.open("rb") as opened:
            text = without_byte_order_mark(
                opened.read(MAX_BYTES + 4)
            )  # a 3-byte byte order mark, and one byte more than allowed
        document = parse_json(text) if len(text) <= MAX_BYTES else None
    except OSError as error:
        raise _invalid(f"cannot read {file}: {error.strerror}") from error
    except ValidationError as error:
        raise _invalid(f"{file}: {error.message}") from error
    servers = document.get("mcpServers") if isinstance(document, dict) else None
    if not isinstance(servers, dict):
        raise _invalid(f"{file} must have an object mcpServers")
    return servers


def parse_server(
    document: object, environment: Mapping[str, str], folder: Path
) -> ServerDeclaration:
    """Return a server with `${NAME}` and `${NAME:-default}` replaced from `environment`.

    `environment` contains only variables that the operator shares with tools, because the file is
    untrusted. A relative `cwd`, and a `command` with a slash, are relative to `folder`.

    Raises:
        ValidationError: with code `mcp_json_invalid`, or `variable_missing` for a `${NAME}` that is
            not in `environment`.
    """
    if not isinstance(document, dict):
        raise _invalid("the server must be an object")
    if document.get("disabled") is True:
        raise _invalid("the server is disabled", hint='Remove "disabled" to use the server.')
    if ("command" in document) == ("url" in document):
        raise _invalid("the server must have either a command or a url")
    fields = _filled(document, environment)
    server = _stdio(fields, folder) if "command" in fields else _http(fields)
    names = {name for name, _ in _placeholders(document)} & environment.keys()
    secrets = [*(environment[name] for name in names), *_secrets(fields)]
    return replace(server, variables=tuple(sorted(names)), redaction=Redaction.of(secrets))


def _secrets(fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield the secrets in a declaration: the URL's query, and values with the names of secrets."""
    query = urlsplit(fields.get("url", "")).query
    yield query
    fields_by_name = {
        **_texts(fields, "env"),
        **_texts(fields, "headers"),
        **dict(parse_qsl(query)),
    }
    for name, value in fields_by_name.items():
        if SECRET_NAME.search(name):
            yield value
            yield value.partition(" ")[2]  # the token after `Bearer`


def _stdio(fields: Mapping[str, Any], folder: Path) -> StdioServer:
    if fields.get("type", "stdio") != "stdio":
        raise _invalid("type must be stdio for a server with a command")
    command = _text(fields, "command")
    if "/" in command:
        command = str(folder / command)
    arguments = fields.get("args", [])
    if not isinstance(arguments, list) or not all(
        isinstance(argument, str) for argument in arguments
    ):
        raise _invalid("args must be a list of strings")
    directory = folder / _text(fields, "cwd") if "cwd" in fields else None
    if directory is not None and not directory.is_dir():
        raise _invalid(f"cwd: {directory} is not a folder")
    if any("\0" in argument for argument in arguments):
        raise _invalid("args contains a NUL character")
    environment = _texts(fields, "env")
    for name, value in environment.items():
        if not name or "=" in name or "\0" in name + value:
            raise _invalid(f"env: {name[:80]!r} is not a valid variable")
    return StdioServer((command, *arguments), environment, directory)


def _http(fields: Mapping[str, Any]) -> HttpServer:
    kind = fields.get("type", "http")
    transport = TRANSPORTS.get(kind) if isinstance(kind, str) else None
    if transport is None:
        raise _invalid("type must be http, streamable-http, or sse")
    url = _text(fields, "url")
    problem = _url_problem(url)
    if problem:
        raise _invalid(problem)
    headers = _texts(fields, "headers")
    for name, value in headers.items():
        if not HEADER_NAME.fullmatch(name) or not HEADER_VALUE.fullmatch(value):
            raise _invalid(f"headers: {name[:80]!r} is not a valid HTTP header")
    return HttpServer(url, headers, transport)


def _url_problem(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError as error:
        return f"the url is malformed: {error}"
    if parts.scheme not in ("http", "https") or not host:
        return "the url must be an absolute http or https URL"
    if "@" in parts.netloc:
        return "the url must not contain a user name or password. Use an Authorization header"
    if parts.scheme == "http" and not _is_loopback(host):
        return "the url must use https, except for a server on this machine"
    return ""


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields[name]
    if not isinstance(value, str) or not value or "\0" in value:
        raise _invalid(f"{name} must be a string that is not empty")
    return value


def _texts(fields: Mapping[str, Any], name: str) -> dict[str, str]:
    values = fields.get(name, {})
    if not isinstance(values, dict) or not all(isinstance(v, str) for v in values.values()):
        raise _invalid(f"{name} must be an object of strings")
    return values


def _filled(value: Any, environment: Mapping[str, str]) -> Any:
    """Return the document with its placeholders replaced.

    Placeholders in replacements are not expanded.
    """
    placeholders = _placeholders(value)
    missing = sorted(
        {name for name, default in placeholders if default is None and name not in environment}
    )
    if missing:
        raise ValidationError(
            "variable_missing",
            f"the server requires {', '.join(missing)}, which is not set or not shared with tools",
            hint="To share it with the tools, pass "
            + " ".join(f"--allow-env {n}" for n in missing)
            + ".",
        )
    return _substituted(value, environment)


def _placeholders(value: Any) -> Iterator[tuple[str, str | None]]:
    """Yield the name and the default of each placeholder."""
    if isinstance(value, str):
        yield from ((match[1], match[2]) for match in _PLACEHOLDER.finditer(value))
    elif isinstance(value, list | dict):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _placeholders(member)


def _substituted(value: Any, environment: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda match: environment.get(match[1]) or match[2] or "", value)
    if isinstance(value, list):
        return [_substituted(member, environment) for member in value]
    if isinstance(value, dict):
        return {name: _substituted(member, environment) for name, member in value.items()}
    return value


def _invalid(problem: str, *, hint: str = "") -> ValidationError:
    return ValidationError("mcp_json_invalid", problem, hint=hint)
