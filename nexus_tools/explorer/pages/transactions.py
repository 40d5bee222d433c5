"""The page of a transaction: its events and changes, and its calls on a localnet."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from msgspec import Struct, to_builtins

from nexus_tools.contracts import explain_abort, parse_event
from nexus_tools.errors import NexusError, RefusedOnChainError
from nexus_tools.explorer.context import Page, PageContext, PageError
from nexus_tools.explorer.formatting import clean
from nexus_tools.explorer.trees import TextBudget, TreeNode, json_tree
from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.client import (
    Executed,
    Label,
    TraceView,
    call_label,
    command_label,
    event_label,
    failure_text,
    fetch_trace,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.effects import Absent, IdOperation, ObjectWrite, PackageWrite
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.execution_status import Success

_MAX_EVENTS = 40
_MAX_OBJECTS = 30
_MAX_COMMANDS = 40
_MAX_CALLS = 120
_CALL_CHARACTERS = 22_000
_MAX_PART = 160
_DEPTH = 8
_HEX = 64
_SHORT = TraceView(_DEPTH)
_PAGES = {
    "invocation::Invocation": "invocations",
    "execution::Execution": "executions",
    "schedule::Schedule": "schedules",
    "leader::Leader": "leaders",
    "dag::Dag": "workflows",
}
"""The pages of objects, by the types of our packages."""


class ChangedObject(Struct, frozen=True):
    """An object that a transaction changed. `href` is its page, or None."""

    id: Address
    change: str
    type: str
    href: str | None


class CallNode(Struct, frozen=True):
    """A command, a call or an event in a trace, as parts of text with classes."""

    parts: Label
    children: tuple["CallNode", ...] = ()
    is_open: bool = False


class Trace(Struct, frozen=True):
    """The calls of a transaction. `hidden` counts the calls that are not shown."""

    commands: tuple[CallNode, ...]
    failure: str
    is_faithful: bool
    hidden: int


async def show_transaction(context: PageContext) -> Page:
    """Show a transaction: its sender, events and changes, and on a localnet also its calls."""
    text = context.path["digest"]
    try:
        digest = Digest.parse(text)
    except NexusError:
        raise _unknown(context, text) from None
    chain = context.chain
    executed = await chain.shared(digest, lambda: chain.client.transaction(digest))
    if executed is None:
        raise _unknown(context, text)
    status = executed.effects.status
    values = {
        "digest": digest,
        "executed": executed,
        "sender": executed.events[0].sender if executed.events else None,
        "succeeded": isinstance(status, Success),
        "error": _failure(context, executed),
        "objects": _objects(context, executed),
        "hidden_objects": max(len(executed.effects.changed_objects) - _MAX_OBJECTS, 0),
        "events": _events(context, executed.events),
        "trace": None,
        "trace_problem": None,
    }
    if chain.client.network.is_localnet:
        try:
            values["trace"] = await chain.shared(("trace", digest), lambda: _trace(context, digest))
        except NexusError as error:
            values["trace_problem"] = error.message
    return Page("transaction.html", f"Transaction {str(digest)[:10]}…", values)


def _unknown(context: PageContext, digest: str) -> PageError:
    return PageError(
        HTTPStatus.NOT_FOUND,
        f"The node does not have the transaction {clean(digest, 80)}",
        hint=(
            "A node receives a new transaction after a few seconds, and may delete old ones: reload"
            " the page. If the transaction is still missing, check the digest, and check that it is"
            f" on the network {context.network}."
        ),
    )


# --- Effects and events


def _failure(context: PageContext, executed: Executed) -> str:
    """Return why a transaction failed, or an empty text."""
    try:
        executed.raise_for_status()
    except RefusedOnChainError as error:
        return explain_abort(error, context.chain.deployment).message
    return ""


def _objects(context: PageContext, executed: Executed) -> list[ChangedObject]:
    ours = {package.original_id for _, package in context.chain.deployment.packages}
    found = []
    for object_id, change in executed.effects.changed_objects[:_MAX_OBJECTS]:
        tag = executed.types.get(object_id)
        output = change.output
        if isinstance(output, PackageWrite):
            kind, name = "published", "package"
        elif isinstance(output, ObjectWrite):
            created = change.operation is IdOperation.CREATED
            kind, name = "created" if created else "changed", ""
        elif isinstance(output, Absent):
            kind, name = "deleted", ""
        else:
            kind, name = "changed", _SHORT.short(f"balance of {output.address}")
        page = None
        if tag is not None and tag.address in ours:
            page = _PAGES.get(f"{tag.module}::{tag.name}")
        href = None if page is None else f"/{page}/{object_id}"
        found.append(
            ChangedObject(object_id, kind, name if tag is None else _SHORT.short(str(tag)), href)
        )
    return found


def _events(context: PageContext, events: Sequence[Event]) -> TreeNode | None:
    """Return the first events as a tree. Events of other packages are shown as bytes."""
    if not events:
        return None
    shown: dict[str, Any] = {}
    for number, event in enumerate(events[:_MAX_EVENTS]):
        value: Any = {"type": str(event.type), "contents": event.contents.hex()[:_HEX]}
        try:
            parsed = parse_event(context.chain.deployment, event)
        except BcsError:
            parsed = None
        if parsed is not None:
            value = to_builtins(parsed, enc_hook=str)
        shown[f"{number} {event.type.name}"] = value
    if len(events) > _MAX_EVENTS:
        shown["more"] = f"{len(events) - _MAX_EVENTS} further events"
    return json_tree("events", shown)


# --- Trace


async def _trace(context: PageContext, digest: Digest) -> Trace:
    """Return the trace of a transaction, which the localnet creates by executing it again."""
    network = context.chain.client.network
    document = await fetch_trace(network, {"digest": str(digest)}, values="text")
    return await asyncio.to_thread(_draw, document)


def _draw(document: Mapping[str, Any]) -> Trace:
    builder = _TraceBuilder(document["status"])
    commands = tuple(builder.command(command) for command in document["commands"][:_MAX_COMMANDS])
    return Trace(
        commands,
        clean(failure_text(document["status"], builder.view)),
        document["is_faithful"],
        builder.hidden + document["left_out"] + len(document["commands"]) - len(commands),
    )


class _TraceBuilder:
    """The remaining size of a drawn trace."""

    def __init__(self, status: Mapping[str, Any]) -> None:
        self.view = TraceView(_DEPTH)
        self.hidden = 0
        self._status = status
        self._left = _MAX_CALLS
        self._texts = TextBudget(_CALL_CHARACTERS)

    def command(self, command: Mapping[str, Any]) -> CallNode:
        """Return the node of a command."""
        label = command_label(command, self._status, self.view)
        return CallNode(self._cleaned(label), tuple(self._steps(command, 1)), is_open=True)

    def _steps(self, parent: Mapping[str, Any], level: int) -> Iterator[CallNode]:
        for step in self.view.steps(parent, level):
            if self._left <= 0 or self._texts.is_spent:
                self.hidden += 1
                continue
            self._left -= 1
            if step["kind"] == "event":
                yield CallNode(self._cleaned(event_label(step, self.view)))
                continue
            label = call_label(step, level, self._status, self.view)
            is_failed = step["status"] == "failed"
            parts = self._cleaned(label)
            children = tuple(self._steps(step, level + 1))
            yield CallNode(parts, children, is_open=is_failed)

    def _cleaned(self, label: Label) -> Label:
        return tuple(
            (self._texts.take(clean(text, _MAX_PART)), style) for text, style in label if text
        )
