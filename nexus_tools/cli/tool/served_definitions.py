"""Clients of tool servers, which read definitions and health."""

import shlex
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from nexus_tools.cli.framework import Session, plain
from nexus_tools.errors import NexusError, UnreachableError, UsageError, ValidationError
from nexus_tools.tool import ToolDefinition, ToolFqn, protocol
from nexus_tools.tool_server import CheckFailedError, ToolProbe

_MAX_TOOLS, _MAX_NAMED = 10_000, 5
_TIMEOUT_S = 5.0


def check_tool_url(session: Session, url: str) -> None:
    """Raise `url_invalid` for a URL without a scheme, or for the URL of the network's node."""
    _check_scheme(url)
    try:
        network = session.network()
    except NexusError:
        return  # without a network, the URL cannot be the network's node
    if _host_and_port(url) == _host_and_port(network.url):
        raise UsageError(
            "url_invalid",
            f"{url[:200]} is the Sui node of the network {network.name}, not a tool server",
            hint="Use the URL that `nexus-tools tool serve` prints.",
        )


async def accepts_unsigned_calls(http: httpx.AsyncClient, url: str) -> bool:
    """Return whether a server accepts calls without a signature.

    The request has no inputs, so it does not run the tool's function.
    """
    try:
        headers = {"Content-Type": protocol.JSON}
        reply = await http.post(f"{url}{protocol.INVOKE}", headers=headers, timeout=_TIMEOUT_S)
    except httpx.HTTPError:
        return False
    refusals = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
    return reply.status_code not in refusals and not reply.is_server_error


def _check_scheme(url: str) -> None:
    if "://" not in url:
        message = f"{url[:200]!r} is not a URL: the scheme is missing"
        hint = f"Write http://{url[:200]}, or https."
        if Path(url).is_dir():
            message = f"the folder {url[:200]} is not a Move package, because it has no Move.toml"
            file = Path(url) / "tools.py"
            hint = (
                f"Did you mean {file}?"
                if file.is_file()
                else "Pass a Python file with tools, a JSON file with definitions, or a folder with"
                " Move.toml."
            )
        elif Path(url).exists():
            serve = f"nexus-tools tool serve {shlex.quote(url)}"
            hint = f"Run `{serve}` to serve the tools of the file and print their URLs."
        raise UsageError("url_invalid", message, hint=hint)


def _host_and_port(url: str) -> str:
    return urlsplit(url).netloc.replace("localhost", "127.0.0.1")


@asynccontextmanager
async def open_http(ca_file: Path | None) -> AsyncIterator[httpx.AsyncClient]:
    """Open a client that trusts the system's certificates and the certificates in `ca_file`.

    Raises `ca_file_invalid`.
    """
    context = _system_authorities()
    if ca_file is not None:
        context = ssl.create_default_context()
        try:
            context.load_verify_locations(ca_file)
        except (OSError, ssl.SSLError) as error:
            message = f"{ca_file} does not contain valid PEM certificates: {error}"
            raise UsageError("ca_file_invalid", message) from error
    async with httpx.AsyncClient(verify=context) as http:
        yield http


@cache
def _system_authorities() -> ssl.SSLContext:
    """Return the trust in the system's certificates. Loading them takes 50 ms."""
    return ssl.create_default_context()


async def served_definitions(
    http: httpx.AsyncClient, url: str, *, all_tools: bool
) -> dict[str, ToolDefinition]:
    """Return the definition of the tool at `url`, or of all tools of that server, by URL.

    Raises `url_invalid`, `tool_unreachable`, `not_a_tool`, or the errors of `ToolDefinition.parse`.
    """
    root = url.rstrip("/")
    urls = await served_urls(http, root) if all_tools else [root]
    return {item: await _definition(http, item) for item in urls}


async def served_urls(http: httpx.AsyncClient, url: str) -> list[str]:
    """Return the URLs of a server's tools. Raises `tool_unreachable` or `not_a_tool`."""
    root = url.rstrip("/")
    return [protocol.tool_url(root, path) for path in await _paths(http, root)]


async def health_problems(
    http: httpx.AsyncClient, definitions: Sequence[ToolDefinition]
) -> dict[ToolFqn, str]:
    """Return the problem of each tool that is not ready to be invoked."""
    problems = {
        definition.fqn: await _health_problem(http, str(definition.url))
        for definition in definitions
    }
    return {fqn: problem for fqn, problem in problems.items() if problem}


async def _health_problem(http: httpx.AsyncClient, url: str) -> str:
    try:
        reply = await ToolProbe(url, http).get(protocol.HEALTH)
        document = None if reply.status == HTTPStatus.OK else reply.json()
    except CheckFailedError as error:
        return error.message
    if reply.status == HTTPStatus.OK:
        return ""
    checks = document.get("checks") if isinstance(document, dict) else None
    failing = (
        [name for name, passes in checks.items() if passes is not True]
        if isinstance(checks, dict)
        else []
    )
    named = f" ({', '.join(failing)})" if failing else ""
    return f"GET {protocol.HEALTH} responds with {reply.status}{named}"


async def _paths(http: httpx.AsyncClient, root: str) -> list[str]:
    paths = await _get(http, root, protocol.TOOLS, "Check that the URL is the root of the server.")
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise ValidationError("not_a_tool", f"{root}{protocol.TOOLS} is not a list of paths")
    if not 0 < len(paths) <= _MAX_TOOLS:
        raise ValidationError(
            "not_a_tool", f"expected 1 to {_MAX_TOOLS} tools at {root}, got {len(paths)}"
        )
    return paths


async def _definition(http: httpx.AsyncClient, url: str) -> ToolDefinition:
    hint = "Pass the URL of one tool, or --all for every tool of a server."
    try:
        return ToolDefinition.parse(await _get(http, url, protocol.META, hint))
    except ValidationError as error:
        if error.code == "not_a_tool":
            error.hint += await _tools_there(http, url)
        raise


async def _tools_there(http: httpx.AsyncClient, url: str) -> str:
    """Return the URLs of the server's tools as a suffix of a hint, or an empty string."""
    parts = urlsplit(url)
    try:
        urls = await served_urls(http, f"{parts.scheme}://{parts.netloc}")
    except NexusError:
        return ""
    more = f" and {len(urls) - _MAX_NAMED} others" if len(urls) > _MAX_NAMED else ""
    return f": {', '.join(plain(item) for item in urls[:_MAX_NAMED])}{more}"


async def _get(http: httpx.AsyncClient, url: str, path: str, hint: str) -> Any:
    _check_scheme(url)
    try:
        reply = await ToolProbe(url, http).get(path)
        if reply.status == HTTPStatus.OK:
            return reply.json()
    except CheckFailedError as error:
        message, hint = f"{url}: {error.message}", error.hint
        if urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1"):
            hint = "Check the URL, or run `nexus-tools tool serve FILE` to start a server."
        raise UnreachableError("tool_unreachable", message, hint=hint) from error
    raise ValidationError("not_a_tool", f"GET {url}{path} responds with {reply.status}", hint=hint)
