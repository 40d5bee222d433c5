"""The command `nexus-tools status`: an overview of a wallet on a network."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    Output,
    Session,
    network_command,
    with_current_options,
)
from nexus_tools.cli.leader.funds import Shortage, shortages
from nexus_tools.cli.shared.collateral import (
    Suspension,
    collateral_document,
    describe_collateral,
    find_suspensions,
)
from nexus_tools.cli.shared.offer import list_offers
from nexus_tools.errors import NotFoundError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts.move_bindings.invocation import Invocation
    from nexus_tools.contracts.move_bindings.tool import Tool
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import Invocations, OwnedTools, Step
    from nexus_tools.sui.types.address import Address

_LAST = 5
_MAX_TOOLS = 50
_FIRST_SUI = "run `nexus-tools localnet faucet` to get SUI on a network with a faucet"
_FIRST_TOOL = (
    "run `nexus-tools tool list` to see tools to invoke,"
    " or `nexus-tools tool new NAME` to create a tool"
)
_MONEY = ("balance_mist", "locked_mist", "prepaid_mist")
_LISTS = ("tools", "pending", "closed", "leaders", "offers")
_NOTHING: dict[str, Any] = {
    "next": None,
    "money": dict.fromkeys(_MONEY, 0),
    **{name: [] for name in _LISTS},
}
_TOOL_COLUMNS = {
    "fqn": "Tool",
    "state": "State",
    "health": "Health",
    "price": "Price",
    "collateral": "Collateral",
    "claimable": "Claimable",
    "slash": "Pending slash",
}
_PENDING_COLUMNS = {
    "invocation": "Pending",
    "fqn": "Tool",
    "state": "State",
    "deadline": "Deadline",
    "payment": "Prepaid",
}
_CLOSED_COLUMNS = {
    "invocation": "Last closed",
    "fqn": "Tool",
    "state": "State",
    "outcome": "Outcome",
    "closed": "When",
}
_LEADER_COLUMNS = {
    "leader": "Leader",
    "name": "Name",
    "state": "State",
    "collateral": "Collateral",
    "claimable": "Claimable",
    "slash": "Pending slash",
}
_OFFER_COLUMNS = {
    "kind": "Offered to you",
    "name": "Name",
    "accept": "Command to accept",
}


@click.command()
@network_command
async def command(session: Session) -> None:
    """Show your newest tools, invocations, leaders and balance on the network.

    The command queries the servers of active tools for their health. It shows at most 50 tools.

    With --json, the fields are `network`, `wallet`, `address`, `money`, `tools`, `pending`,
    `closed`, `leaders`, `offers` (for you to accept), and `next` (a recommended command, for
    example to claim collateral). `money` has `balance_mist` (coins and the address balance),
    `locked_mist` (collateral), and `prepaid_mist` (pending invocations).
    """
    warnings: Sequence[Suspension | Shortage | str] = ()
    document = {"network": session.network().name, "wallet": None, "address": None} | _NOTHING
    try:
        name, address = session.own_name(), session.own_address()
        document |= {"wallet": name, "address": str(address)}
        async with session.nexus(signing=False) as nexus:
            with session.output.progress("reading the registries"):
                now_ms = await nexus.client.now_ms()
                found, warnings = await _read(nexus, address, now_ms)
                document |= found
    except NotFoundError as error:
        if error.code not in ("wallet_empty", "package_not_published"):
            raise
        async with session.client() as client:
            await session.check_own_node(client)
            now_ms = await client.now_ms()
            if document["wallet"] is not None:
                balance = await client.balance(session.own_address())
                document["money"] = document["money"] | {"balance_mist": balance}
        document["next"] = f"{error.message}. {error.hint}"
    if session.output.as_json:
        session.output.document(document)
    else:
        _print(session.output, document, warnings, now_ms)


async def _read(
    nexus: "Nexus", address: "Address", now_ms: int
) -> tuple[dict[str, Any], Sequence[Suspension | Shortage | str]]:
    """Read everything in parallel, and find suspended services and leaders without gas."""
    from nexus_tools.cli.invocation import invocation_document
    from nexus_tools.cli.leader.record import leader_document

    invocations = nexus.invocations
    balance, owned, own_leaders, pending, closings, offers = await asyncio.gather(
        nexus.client.balance(address),
        nexus.tools.owned_by(address),
        nexus.leaders.owned_by(address),
        _pending(invocations, address),
        invocations.recent_closings(address, _LAST),
        list_offers(nexus, address),
    )
    tools, slashed, poor = await asyncio.gather(
        _tools(owned.tools[:_MAX_TOOLS], now_ms),
        find_suspensions(nexus.tools, [*owned.tools, *own_leaders]),
        shortages(nexus.client, own_leaders),
    )
    leaders = [leader_document(leader, now_ms) for leader in own_leaders]
    claims = [
        *(f"nexus-tools tool claim {row['fqn']}" for row in tools if row["claimable_in_ms"] == 0),
        *(
            f"nexus-tools leader claim --leader {row['leader']}"
            for row in leaders
            if row["claimable_in_ms"] == 0
        ),
    ]
    is_new = not (tools or leaders or pending or closings or offers)
    document = {
        "next": (_FIRST_TOOL if balance else _FIRST_SUI) if is_new else _claiming(claims),
        "money": {
            "balance_mist": balance,
            "locked_mist": sum(tool.collateral.balance_mist for tool in owned.tools)
            + sum(leader.collateral.balance_mist for leader in own_leaders),
            "prepaid_mist": sum(invocation.payment_mist for invocation in pending),
        },
        "tools": tools,
        "pending": [invocation_document(invocation, now_ms) for invocation in pending],
        "closed": [_closed(step) for step in closings],
        "leaders": leaders,
        "offers": offers,
    }
    return document, (*slashed, *poor, *_omissions(owned, address))


def _omissions(owned: "OwnedTools", address: "Address") -> list[str]:
    """Return which tools the overview omits."""
    omissions = []
    if len(owned.tools) > _MAX_TOOLS:
        omissions.append(f"only the newest {_MAX_TOOLS} of your {len(owned.tools)} tools are shown")
    if not owned.is_complete:
        omissions.append("old tools may be missing, because the node lacks events of your account")
    lists_all = with_current_options(f"nexus-tools tool list --owner {address} --all")
    return [f"{text}. Run `{lists_all}` to see all" for text in omissions]


async def _pending(invocations: "Invocations", address: "Address") -> "list[Invocation]":
    """Return the newest invocations that are not closed yet, newest first."""
    found, attempts = await asyncio.gather(
        invocations.owned_by(address, closed=False), invocations.pending_attempts(address)
    )
    pending = [*found.items, *attempts]
    return sorted(pending, key=lambda invocation: invocation.requested_at_ms, reverse=True)


def _claiming(claims: Sequence[str]) -> str | None:
    """Return the commands that claim collateral, or None if no collateral is claimable."""
    named = ", ".join(f"`{claim}`" for claim in claims)
    return f"run {named} to claim collateral" if claims else None


async def _tools(tools: "Sequence[Tool]", now_ms: int) -> list[dict[str, Any]]:
    active = [tool for tool in tools if tool.is_active]
    health = await _healths(active) if active else {}
    return [_tool(tool, health.get(tool.fqn), now_ms) for tool in tools]


async def _healths(tools: "Sequence[Tool]") -> dict[str, str]:
    """Return the problem of each tool by FQN, or an empty string for a healthy tool."""
    from nexus_tools.cli.shared.tool_health import healths  # imports an HTTP client

    return dict(zip((tool.fqn for tool in tools), await healths(tools), strict=True))


def _tool(tool: "Tool", problem: str | None, now_ms: int) -> dict[str, Any]:
    """Return a tool as JSON. `healthy` is None for an inactive tool, which is never called."""
    return {
        "fqn": tool.fqn,
        "state": tool.state.value,
        "healthy": None if problem is None else not problem,
        "problem": problem or None,
        "price_mist": tool.price_mist,
        **collateral_document(tool.collateral, now_ms),
    }


def _closed(step: "Step") -> dict[str, Any]:
    event: Any = step.event
    return {
        "invocation": str(event.invocation),
        "fqn": event.fqn,
        "state": type(event).__name__.removeprefix("Invocation").lower(),
        "outcome": getattr(event, "variant", None) or getattr(event, "reason", None),
        "closed_at_ms": step.at_ms,
    }


# --- Text output


def _print(
    output: Output,
    document: dict[str, Any],
    warnings: Sequence[Suspension | Shortage | str],
    now_ms: int,
) -> None:
    head = {key: document[key] for key in ("network", "wallet", "address")}
    output.record(head | units.in_words(document["money"]))
    tables = [
        ([_for_people(row, now_ms) for row in rows], columns, empty)
        for rows, columns, empty in (
            (document["tools"], _TOOL_COLUMNS, "you do not own any tools"),
            (document["pending"], _PENDING_COLUMNS, "no pending invocations"),
            (document["closed"], _CLOSED_COLUMNS, "no closed invocations"),
            (document["leaders"], _LEADER_COLUMNS, "you do not own any leaders"),
            (document["offers"], _OFFER_COLUMNS, "no offers"),
        )
    ]
    as_records = not all(output.has_room(rows, columns) for rows, columns, _ in tables)
    for rows, columns, empty in tables:
        output.note("")
        output.table(rows, columns, empty=empty, as_records=as_records)
    for warning in warnings:
        output.warn(str(warning))
    if document["next"]:
        output.note("")
        output.note(f"next: {document['next']}")


def _for_people(row: dict[str, Any], now_ms: int) -> dict[str, Any]:
    words = units.in_words(row)
    if "pending_slash" in row:
        words |= describe_collateral(row)
    if "healthy" in row:
        words["health"] = "healthy" if row["healthy"] else row["problem"]
    if "expires_at_ms" in row:
        words["deadline"] = units.utc(row["expires_at_ms"], now_ms)
        words["state"] = "expired" if row["expired"] else row["state"]
    return words
