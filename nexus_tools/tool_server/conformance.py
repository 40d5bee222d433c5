"""The checks of `tool validate`: whether the tool at a URL conforms to the protocol."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from http import HTTPStatus
from time import perf_counter
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import httpx

from nexus_tools.errors import ValidationError
from nexus_tools.tool import (
    InterfaceValidator,
    SchemaDocument,
    ToolDefinition,
    ToolFqn,
    check_input_schema,
    check_output_schema,
    definition_fields,
    example_input,
    parse_json,
    ports_without_text,
    protocol,
    schema_name_in_errors,
)

T = TypeVar("T")

MAX_RESPONSE_BYTES = 10 * 2**20
_GET_TIMEOUT_S = 10.0
# The allowed network latency in addition to the tool's own timeout.
_MARGIN_S = 5.0


class CheckFailedError(Exception):
    """The error for a failed check, with a hint how to fix the tool."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class CheckSkippedError(Exception):
    """The reason why a check is skipped: an earlier check failed, or the rule does not apply.

    The hint names another way to perform the check.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class PassedWithHint(NamedTuple):
    """The result of a passed check, with a hint how to improve the tool."""

    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The response of the tool and its latency in milliseconds."""

    status: int
    body: bytes
    elapsed_ms: float

    def json(self) -> Any:
        """Parse the body. Raises `CheckFailedError` if it is not JSON."""
        try:
            return parse_json(self.body)
        except ValidationError as error:
            raise CheckFailedError(f"the response is not JSON: {error.message}") from error


@dataclass(slots=True)
class ToolProbe:
    """The tool at the base URL `url`, and the results of earlier checks."""

    url: str
    http: httpx.AsyncClient
    health: Reply | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    definition: ToolDefinition | None = None

    def known_meta(self) -> Mapping[str, Any]:
        """Return the document of `/meta`, or raise `CheckSkippedError` if it could not be read."""
        if not self.meta:
            raise CheckSkippedError("the definition could not be read")
        return self.meta

    def known_definition(self) -> ToolDefinition:
        """Return the valid definition, or raise `CheckSkippedError`."""
        if self.definition is None:
            raise CheckSkippedError("the definition is not valid")
        return self.definition

    async def get(self, path: str) -> Reply:
        """Request `{url}{path}`. Redirects are not followed."""
        return await self._send("GET", path, _GET_TIMEOUT_S)

    async def invoke(self, body: bytes) -> Reply:
        """Send a tool call with `body`, and wait for the tool's declared timeout plus a margin."""
        timeout_s = self.known_definition().timeout_ms / 1_000 + _MARGIN_S
        key = str(uuid4())
        headers = {
            "Content-Type": protocol.JSON,
            protocol.INVOCATION_HEADER: key,
            protocol.IDEMPOTENCY_KEY_HEADER: key,
            protocol.TOOL_HEADER: str(self.known_definition().fqn),
        }
        return await self._send("POST", protocol.INVOKE, timeout_s, content=body, headers=headers)

    async def _send(self, method: str, path: str, timeout_s: float, **request: Any) -> Reply:
        started = perf_counter()
        request = {"timeout": timeout_s, "follow_redirects": False, **request}
        request["headers"] = {"Accept-Encoding": "identity", **request.get("headers", {})}
        try:
            async with (
                asyncio.timeout(timeout_s),
                self.http.stream(method, self.url + path, **request) as response,
            ):
                body = await _limited(response)
        except TimeoutError as error:
            raise CheckFailedError(f"{method} {path} took longer than {timeout_s:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            problem = str(error) or type(error).__name__
            raise CheckFailedError(
                f"{method} {path} failed without a response: {problem}",
                "Start the server, and check the URL.",
            ) from error
        return Reply(response.status_code, body, (perf_counter() - started) * 1_000)


async def _limited(response: httpx.Response) -> bytes:
    """Read an uncompressed body in chunks, up to a size limit."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise CheckFailedError(
            "a response is compressed",
            "Send responses uncompressed, because Leaders reject compressed responses.",
        )
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > MAX_RESPONSE_BYTES:
            raise CheckFailedError(f"a response is longer than {MAX_RESPONSE_BYTES} bytes")
    return bytes(body)


# --- The checks


_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_MAX_SHOWN = 200
_MAX_NAMED = 6
_SCHEMAS = ("input_schema", "output_schema")


class Status(StrEnum):
    """The result of a check. After a failed check, checks that depend on it are skipped."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Check:
    """One row of the report: the name of the check, its result, and a hint."""

    name: str
    status: Status
    message: str = ""
    hint: str = ""


CheckFunction = Callable[[ToolProbe], Awaitable[str | PassedWithHint]]


async def check_tool(
    url: str, http: httpx.AsyncClient, *, invoke: bool = True
) -> AsyncIterator[Check]:
    """Check the tool at the base URL `url`, and yield each row as soon as it is known.

    The tool's function runs with an example of a valid input. If `invoke` is False, only health and
    definition are read. `http` provides the trust roots and stays open. Errors of the tool become
    rows and never exceptions. If a row would repeat the message of an earlier row, its check counts
    as skipped.
    """
    probe = ToolProbe(url.rstrip("/"), http)
    reported: set[str] = set()
    for name, check in (_CHECKS | _INVOKING_CHECKS if invoke else _CHECKS).items():
        row = await _row(name, check, probe)
        if row.status is Status.FAILED:
            if row.message in reported:
                row = Check(name, Status.SKIPPED, "an earlier check shows the cause")
            reported.add(row.message)
        yield row


async def _row(name: str, check: CheckFunction, probe: ToolProbe) -> Check:
    try:
        result = await check(probe)
        message, hint = result if isinstance(result, PassedWithHint) else (result, "")
        return Check(name, Status.PASSED, message, hint)
    except CheckSkippedError as reason:
        return Check(name, Status.SKIPPED, str(reason), reason.hint)
    except CheckFailedError as failure:
        return Check(name, Status.FAILED, failure.message, failure.hint)
    except ValidationError as error:
        return Check(name, Status.FAILED, error.message, error.hint)


async def _reachable(probe: ToolProbe) -> str:
    probe.health = await probe.get(protocol.HEALTH)
    return f"responded within {probe.health.elapsed_ms:.0f} ms"


async def _tls(probe: ToolProbe) -> str:
    parts = urlsplit(probe.url)
    if parts.scheme != "https" and parts.hostname in _LOOPBACK:
        raise CheckSkippedError(
            "plain HTTP is allowed on this machine, but elsewhere Leaders require https"
        )
    if parts.scheme != "https":
        raise CheckFailedError(
            "the URL is not https", "Serve the tool over TLS, because Leaders call only https URLs."
        )
    if probe.health is None:
        raise CheckSkippedError("the tool is not reachable")
    return "the certificate is trusted"


async def _healthy(probe: ToolProbe) -> str:
    if probe.health is None:
        raise CheckSkippedError("the tool is not reachable")
    if probe.health.status != HTTPStatus.OK:
        message = f"GET {protocol.HEALTH} responds with {probe.health.status}, not 200"
        raise CheckFailedError(message, "Respond with 200 when the tool can be invoked.")
    reply = await probe.get(protocol.HEALTH)
    return f"200 after {reply.elapsed_ms:.0f} ms"


async def _definition(probe: ToolProbe) -> str:
    if probe.health is None:
        raise CheckSkippedError("the tool is not reachable")
    reply = await probe.get(protocol.META)
    if reply.status != HTTPStatus.OK:
        raise CheckFailedError(f"GET {protocol.META} responds with {reply.status}, not 200")
    document = reply.json()
    # The document is stored before it is checked, so that later checks can report other errors.
    probe.meta = document if isinstance(document, Mapping) else {}
    return f"has {len(definition_fields(document))} fields"


async def _fqn(probe: ToolProbe) -> str:
    return str(ToolFqn.parse(str(probe.known_meta().get("fqn", ""))))


async def _url(probe: ToolProbe) -> str:
    declared = str(probe.known_meta().get("url", "")).rstrip("/")
    if declared == probe.url:
        return "the definition names this URL"
    if declared in _own_urls(probe):
        return f"the definition names the tool's own URL, {declared}"
    message = f"the definition names the URL {declared[:200]}, but the tool is at {probe.url}"
    raise CheckFailedError(
        message, "Set the server's public URL, or the headers that its proxy forwards."
    )


def _own_urls(probe: ToolProbe) -> list[str]:
    """Return the possible URLs of the tool: the FQN's path below or beside the probed URL."""
    path = f"/{probe.known_meta().get('fqn', '')}"
    return [protocol.tool_url(root, path) for root in (probe.url, probe.url.rpartition("/")[0])]


async def _schemas(probe: ToolProbe) -> str:
    for name in _SCHEMAS:
        _checked_schema(probe, name, SchemaDocument.parse)
    return "both are draft 2020-12"


def _checked_schema(probe: ToolProbe, name: str, check: Callable[[object], T]) -> T:
    """Apply a check to a schema of the definition. A `CheckFailedError` names the schema."""
    try:
        with schema_name_in_errors(name.removesuffix("_schema")):
            return check(probe.known_meta().get(name))
    except ValidationError as error:
        raise CheckFailedError(error.message, error.hint) from error


async def _ports(probe: ToolProbe) -> PassedWithHint:
    _checked_schema(probe, "input_schema", check_input_schema)
    output = _checked_schema(probe, "output_schema", check_output_schema)
    hint = hint_for_ports(*(probe.known_meta()[name] for name in _SCHEMAS))
    return PassedWithHint(f"variants: {', '.join(output.variants)}", hint)


def hint_for_ports(input_schema: dict[str, Any], output_schema: dict[str, Any]) -> str:
    """Return a hint that lists ports without a title or description, or an empty string."""
    names = ports_without_text(input_schema, output_schema)
    if not names:
        return ""
    others = " and others" if len(names) > _MAX_NAMED else ""
    return (
        f"Add a title or a description to {', '.join(names[:_MAX_NAMED])}{others}. After the"
        " registration, this needs a new version."
    )


async def _bounds(probe: ToolProbe) -> str:
    probe.definition = ToolDefinition.parse(probe.known_meta())
    return f"timeout {probe.definition.timeout_ms} ms"


async def _valid_input(probe: ToolProbe) -> str:
    definition = probe.known_definition()
    try:
        example = example_input(definition.input_schema)
    except ValidationError as error:
        raise CheckSkippedError(f"{error.message}. {error.hint}") from error
    reply = await probe.invoke(_encoded(example))
    hint = f"To check its answers, request a call with `nexus-tools tool invoke {definition.fqn}`."
    _refuse_unauthorized(reply, hint)
    if reply.status != HTTPStatus.OK:
        call = f"POST {protocol.INVOKE} with {_shown(example)}"
        raise CheckFailedError(
            f"{call} responds with {reply.status}{_cause(reply)}",
            'Return a variant for valid inputs, or add a valid input to "examples" in the schema.',
        )
    answer = InterfaceValidator(definition).check_output(reply.json())
    return f"returned {answer.variant} after {reply.elapsed_ms:.0f} ms"


async def _bad_input(probe: ToolProbe) -> str:
    reply = await probe.invoke(_encoded(_wrong_input(probe.known_definition().input_schema)))
    _refuse_unauthorized(reply)
    if reply.status != HTTPStatus.UNPROCESSABLE_ENTITY:
        call = f"POST {protocol.INVOKE}"
        message = f"expected 422 for an invalid input, but {call} returned {reply.status}"
        raise CheckFailedError(
            message, "Validate the input against the schema before the tool runs."
        )
    return "rejected with 422"


def _shown(example: Any) -> str:
    return json.dumps(example, ensure_ascii=False)[:_MAX_SHOWN]


def _cause(reply: Reply) -> str:
    """Return the detail of a response's problem document after a colon, or an empty string."""
    try:
        problem = parse_json(reply.body)
    except ValidationError:
        return ""
    detail = problem.get("detail") if isinstance(problem, dict) else None
    return f": {detail[:_MAX_SHOWN]}" if isinstance(detail, str) else ""


def _wrong_input(input_schema: dict[str, Any]) -> Any:
    """Return an invalid input: `{}` if the schema requires ports, else an array."""
    return {} if input_schema.get("required") else []


def _refuse_unauthorized(reply: Reply, hint: str = "") -> None:
    if reply.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        raise CheckSkippedError("the tool accepts only signed requests of its leaders", hint)


def _encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


_CHECKS: dict[str, CheckFunction] = {
    "reachable": _reachable,
    "tls": _tls,
    "health": _healthy,
    "definition": _definition,
    "fqn": _fqn,
    "url": _url,
    "schemas": _schemas,
    "ports and variants": _ports,
    "bounds": _bounds,
}
_INVOKING_CHECKS: dict[str, CheckFunction] = {
    "invoke with a valid input": _valid_input,
    "invoke with a bad input": _bad_input,
}
