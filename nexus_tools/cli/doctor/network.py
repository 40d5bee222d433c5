"""The checks of the network: the node, clock, package, balance, tools and leaders."""

import asyncio
import shlex
import time
from collections.abc import AsyncIterator, Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from nexus_tools.cli.doctor.finding import Finding, ok, problem, warning
from nexus_tools.cli.framework import Session
from nexus_tools.cli.leader.funds import shortages
from nexus_tools.cli.shared.collateral import find_suspensions
from nexus_tools.cli.shared.tool_health import healths
from nexus_tools.errors import NexusError
from nexus_tools.settings.directories import cache_directory
from nexus_tools.settings.running_localnet import start_command
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts import Deployment
    from nexus_tools.contracts.move_bindings.leader import Leader
    from nexus_tools.sui.client import SuiClient

_NODE_TIMEOUT_S = 4.0
_CHECK_TIMEOUT_S = 5.0
_SKEW_MS = 5_000
_OTHER_NODE = "nexus-tools network use NAME --url URL"
_LITTLE_MIST = 100_000_000
_MAX_TOOLS = 50

Check = Callable[[Session, "SuiClient"], AsyncIterator[Finding]]


async def check_network(session: Session) -> list[Finding]:
    """Run all checks in parallel. If the node does not respond, report only this problem."""
    from nexus_tools.sui.client import RetryPolicy, SuiClient

    try:
        network = session.network()
    except NexusError as error:
        return [problem("network", error.message, "nexus-tools network list")]
    retry_policy = RetryPolicy(attempts=1, call_timeout_s=_NODE_TIMEOUT_S)
    began = perf_counter()
    try:
        async with SuiClient(network, retry_policy=retry_policy) as client:
            chain_id = await client.chain_id()
            ms = (perf_counter() - began) * 1_000
            message = f"{network.name} at {network.url} responds within {ms:.0f} ms"
            found = [ok("network", message), ok("chain", chain_id)]
            checks = (_protocol, _clock, _money, _package)
            groups = await asyncio.gather(*(_collect(check, session, client) for check in checks))
            return sum(groups, found)
    except NexusError as error:
        lacks = session.settings.lacks_localnet(network.name)
        remedy = start_command(network.endpoint().port) if lacks else _OTHER_NODE
        return [problem("network", error.message, remedy)]


async def _collect(check: Check, session: Session, client: "SuiClient") -> list[Finding]:
    """Return the findings of one check. A timeout is also a finding."""
    name = check.__name__.removeprefix("_")
    try:
        async with asyncio.timeout(_CHECK_TIMEOUT_S):
            return [finding async for finding in check(session, client)]
    except NexusError as error:
        return [problem(name, error.message, error.hint)]
    except TimeoutError:
        return [problem(name, "the node did not respond in time", _OTHER_NODE)]


async def _protocol(_: Session, client: "SuiClient") -> AsyncIterator[Finding]:
    yield ok("protocol", f"version {await client.protocol_version()}")


async def _clock(_: Session, client: "SuiClient") -> AsyncIterator[Finding]:
    """Check that the machine's clock matches the chain's clock, which determines deadlines."""
    skew_ms = round(time.time() * 1_000) - await client.now_ms()
    if abs(skew_ms) <= _SKEW_MS:
        yield ok(
            "clock",
            f"this machine's clock is within {units.duration(_SKEW_MS)} of the chain's clock",
        )
        return
    skew = units.duration(abs(skew_ms))
    if client.network.is_localnet and skew_ms < 0:
        yield ok("clock", f"the localnet's clock is {skew} ahead because it was advanced")
        return
    message = (
        f"this machine's clock is {skew} {'ahead of' if skew_ms > 0 else 'behind'}"
        " the chain's clock"
    )
    advance = f"nexus-tools localnet advance-clock '{skew}'"
    yield warning(
        "clock", message, advance if client.network.is_localnet else "timedatectl set-ntp true"
    )


async def _money(session: Session, client: "SuiClient") -> AsyncIterator[Finding]:
    from nexus_tools.sui.client import faucet_command

    try:
        name, address = session.own_name(), session.own_address()
    except NexusError as error:
        yield problem("wallet", error.message, "nexus-tools wallet new")
        return
    balance = await client.balance(address)
    message = f"{name} is the active key and has {units.sui(balance)}"
    if balance >= _LITTLE_MIST:
        yield ok("wallet", message)
        return
    asks = faucet_command(client.network, address)
    remedy = asks or f"send SUI to {address}"
    yield warning("wallet", message, remedy) if balance else problem("wallet", message, remedy)


async def _package(session: Session, client: "SuiClient") -> AsyncIterator[Finding]:
    from nexus_tools.contracts import check_compatibility

    try:
        deployment = await session.deployment(client)
        await check_compatibility(client, deployment, cache_directory())
    except NexusError as error:
        remedy = f"nexus-tools package publish -n {client.network.quoted_name}"
        is_published = error.code == "package_incompatible"
        yield problem("package", error.message, error.hint if is_published else remedy)
        return
    yield ok("package", f"published as {deployment.original_id}")
    yield await _upgrades(session, client, deployment)
    async for finding in _tools(session, client, deployment):
        yield finding


async def _upgrades(session: Session, client: "SuiClient", deployment: "Deployment") -> Finding:
    """Check whether the package's code can change without notice."""
    from nexus_tools.cli.package.lock import upgrades_record
    from nexus_tools.contracts import UpgradeMode

    said = await upgrades_record(session, client, deployment.original_id)
    if said["upgrades"] == UpgradeMode.FREE:
        message = "the package is not locked: the owner of its UpgradeCap can replace the code"
        return warning("upgrades", message, "nexus-tools package lock")
    if "executable_at_ms" in said:
        at = units.utc(said["executable_at_ms"], await client.now_ms())
        message = f"an upgrade is proposed and can be executed from {at}"
        return warning("upgrades", message, "nexus-tools package upgrade show")
    return ok("upgrades", f"the package is {said['upgrades']}, and no upgrade is proposed")


async def _tools(
    session: Session, client: "SuiClient", deployment: "Deployment"
) -> AsyncIterator[Finding]:
    """Check the wallet's tools and leaders for suspensions, and active tools for health."""
    from nexus_tools.registry import LeaderRegistry, ToolRegistry

    try:
        owner = session.own_address()
    except NexusError:
        return  # `_money` reports the error
    tools = (await ToolRegistry(client, deployment).owned_by(owner)).tools
    leaders = LeaderRegistry(client, deployment)
    owned = await leaders.owned_by(owner)
    for suspension in await find_suspensions(leaders, [*tools, *owned]):
        yield problem("suspended", suspension.message, suspension.remedy)
    async for finding in _leaders(client, owned):
        yield finding
    active = [tool for tool in tools if tool.is_active][:_MAX_TOOLS]
    problems = await healths(active)
    for tool, wrong in zip(active, problems, strict=True):
        if wrong:
            remedy = f"nexus-tools tool validate {shlex.quote(tool.definition.url)}"
            yield problem("tool", f"{tool.fqn} at {tool.definition.url} {wrong}", remedy)
    if not active:
        yield ok("tools", "you have no active tools on this network")
    elif not any(problems):
        yield ok("tools", f"you have {units.count(len(active), 'active tool')} that can be invoked")


async def _leaders(client: "SuiClient", owned: "Sequence[Leader]") -> AsyncIterator[Finding]:
    """Check that each leader of the wallet has a worker that can pay for gas."""
    active = [leader for leader in owned if leader.is_active]
    poor = await shortages(client, active)
    for shortage in poor:
        yield problem("leader", shortage.message, shortage.remedy)
    if not active:
        yield ok("leader", "you have no active leaders on this network")
    elif not poor:
        yield ok("leader", f"you have {units.count(len(active), 'leader')} that can pay for gas")
