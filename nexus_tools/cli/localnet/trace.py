"""The command `nexus-tools localnet trace`, which fetches and prints a trace."""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

import click

from nexus_tools.cli.framework import (
    Output,
    Session,
    complete_files,
    print_tree,
    query_command,
    read_bytes,
)
from nexus_tools.cli.localnet.trace_tree import command_tree
from nexus_tools.errors import ValidationError
from nexus_tools.sui.client import TraceView, failure_text, fetch_trace
from nexus_tools.sui.support import units

Document = Mapping[str, Any]
Subject = Mapping[str, str]

_COSTS = ("computation_mist", "storage_mist", "rebate_mist", "net_mist")
_PACKAGES = {"published": "package"}
_COLUMNS = {
    "change": "Object",
    "id": "Id",
    "type": "Type",
    "version": "Version",
    "owner": "Owner",
}


@click.command()
@click.argument("digest", required=False)
@click.option(
    "--simulate",
    metavar="FILE",
    shell_complete=complete_files,
    help="Simulate and trace the transaction in FILE (- for stdin), as BCS bytes in base64.",
)
@click.option(
    "--depth",
    type=click.IntRange(1),
    default=12,
    show_default=True,
    help="Maximum depth of calls to show below a command.",
)
@click.option("--natives", is_flag=True, help="Show native functions.")
@click.option("--framework", is_flag=True, help="Show calls between functions of 0x1, 0x2 and 0x3.")
@click.option("--full", is_flag=True, help="Show full values and addresses.")
@query_command
async def command(
    session: Session,
    digest: str | None,
    simulate: str | None,
    *,
    depth: int,
    natives: bool,
    framework: bool,
    full: bool,
) -> None:
    """Trace the transaction DIGEST call by call, or simulate and trace a transaction from a file.

    With --json, the command prints the whole trace and ignores --depth, --natives, --framework and
    --full.
    """
    traced = _subject(digest, simulate)
    if session.output.as_json:
        session.output.document(await fetch_trace(session.network(), traced, values="json"))
        return
    with session.output.progress("executing the transaction"):
        document = await fetch_trace(session.network(), traced, values="text")
    show_trace(session.output, document, TraceView(depth, natives, framework, full))


def _subject(digest: str | None, file: str | None) -> Subject:
    """Return the transaction to trace, by its digest or from a file.

    Raises `digest_invalid`, `output_file_unreadable` or `transaction_invalid`.
    """
    from nexus_tools.sui.types.digest import Digest

    if digest is not None and file is None:
        return {"digest": str(Digest.parse(digest))}
    if digest is None and file is not None:
        return _unsent(file)
    raise click.UsageError("Expected either DIGEST or --simulate FILE.")


def _unsent(name: str) -> Subject:
    from nexus_tools.sui.types.transaction import TRANSACTION_DATA

    try:
        data = b64decode(b"".join(read_bytes(name).split()), validate=True)
        TRANSACTION_DATA.decode(data)
    except (ValueError, ValidationError) as error:
        raise ValidationError(
            "transaction_invalid",
            f"{'stdin' if name == '-' else name} does not contain a valid transaction: {error}",
            hint="Pass the BCS bytes of `TransactionData` in base64, without signatures.",
        ) from None
    return {"transaction": b64encode(data).decode()}


def show_trace(output: Output, trace: Document, view: TraceView) -> None:
    """Print a trace with text values: its head, commands, objects and costs."""
    if not trace["is_faithful"]:
        output.warn("the trace is unreliable: its effects differ from the effects on the chain")
    what = "simulation of transaction" if trace["is_simulated"] else "transaction"
    output.record(_head(trace, view), title=f"{what} {trace['digest']}")
    for command in trace["commands"]:
        print_tree(command_tree(command, trace["status"], view))
    if trace["left_out"]:
        output.note(f"{trace['left_out']} calls exceed the limits of the trace and are omitted")
    output.table([_object_row(object_, view) for object_ in trace["objects"]], _COLUMNS, empty="")
    output.record(units.in_words({key: trace["gas"][key] for key in _COSTS}), title="gas")


def _head(trace: Document, view: TraceView) -> dict[str, Any]:
    return {
        "status": _status(trace["status"], view),
        "sender": view.short(trace["sender"]),
        "kind": trace["kind"],
        "checkpoint": trace["checkpoint"],
        "time": units.utc(trace["timestamp_ms"]),
    }


def _status(status: Document, view: TraceView) -> str:
    if status["success"]:
        return "succeeded"
    command = "" if status["command"] is None else f" in command {status['command']}"
    return f"failed{command}: {failure_text(status, view)}"


def _object_row(changed: Document, view: TraceView) -> dict[str, Any]:
    owners = [_owner(changed[key], view) for key in ("owner_before", "owner")]
    versions = [changed[key] for key in ("version_before", "version")]
    return {
        "change": changed["change"].replace("_", " "),
        "id": view.short(changed["id"]),
        "type": view.short(changed["type"] or _PACKAGES.get(changed["change"], "")),
        "version": _before_and_after(versions),
        "owner": _before_and_after(owners),
    }


def _before_and_after(values: list[Any]) -> str:
    known = [str(value) for value in values if value is not None]
    return " → ".join(dict.fromkeys(known))


def _owner(owner: Document | None, view: TraceView) -> str | None:
    if owner is None:
        return None
    kind = owner["kind"].replace("_", " ")
    if "address" not in owner:
        return str(kind)
    address = view.short(owner["address"])
    return address if kind == "address" else f"{kind} {address}"
