"""A history of real invocations and tools, for the benchmark of growth."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from benchmarks.chain import SUI, funded_key
from benchmarks.processes import nexus_tools, run
from benchmarks.requests import request_many
from nexus_tools.contracts import Deployment
from nexus_tools.registry import Invocations, LeaderRegistry, Registration, ToolRegistry
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.network import Network
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, ToolDefinition

_TOOL = "xyz.example.math.add@1"
_BALANCE_MIST = 1_000_000 * SUI
_PER_TRANSACTION = 100
_CLOSING_BUDGET_MIST = 10 * SUI
_LEADERS = 20
_OWN_SHARE = 10
"""One of this many transactions requests invocations for the wallet of the commands."""


class History:
    """The chain's history. `home` is the environment of the commands.

    The wallet of the commands requests some of the invocations. Another key requests the other
    invocations, and owns all tools. Several leaders close the invocations in turn.
    """

    def __init__(self, network: Network, home: dict[str, str]) -> None:
        self._network = network
        self._home = home
        self._invocations = self._transactions = self._tools = 0
        self._last: Address | None = None
        self._wallet: KeyPair
        self._other: KeyPair
        self._deployment: Deployment
        self._leaders: list[tuple[KeyPair, Address]] = []

    async def prepare(self) -> None:
        """Create the keys, publish the packages, and register the leaders and the invoked tool."""
        self._wallet = await funded_key(self._network, _BALANCE_MIST)
        self._other = await funded_key(self._network, _BALANCE_MIST)
        run(self._command("wallet", "import", "--secret", self._wallet.to_bech32()), self._home)
        self._deployment = Deployment.parse(
            run(self._command("package", "publish", "--yes"), self._home)
        )
        async with self._client(self._other) as client:
            await ToolRegistry(client, self._deployment).register(_definition(_TOOL))
        for number in range(_LEADERS):
            key = await funded_key(self._network, _BALANCE_MIST)
            async with self._client(key) as client:
                leaders = LeaderRegistry(client, self._deployment)
                _, leader = await leaders.register(f"bench {number}", activate=True)
            self._leaders.append((key, leader))
        self._tools = 1

    def commands(self) -> Mapping[str, Sequence[str]]:
        """Return the commands that need the tool or an invocation."""
        assert self._last is not None
        inputs = ("--input", '{"a": 1, "b": 2}')
        return {
            "tool invoke": ("tool", "invoke", _TOOL, *inputs, "--no-wait", "--yes"),
            "outcome --explain": ("tool", "outcome", str(self._last), "--explain"),
        }

    async def invoke_until(self, length: int) -> None:
        """Request and close invocations until the history has this many."""
        async with self._client(self._wallet) as wallet, self._client(self._other) as other:
            tool = await ToolRegistry(other, self._deployment).get(_TOOL)
            while self._invocations < length:
                requester = wallet if self._transactions % _OWN_SHARE == 0 else other
                key, leader = self._leaders[self._transactions % _LEADERS]
                count = min(_PER_TRANSACTION, length - self._invocations)
                inputs = [{"a": 1, "b": 2}] * count
                ids = await request_many(requester, self._deployment, tool, inputs, [leader])
                outcomes = {invocation: Answer("ok", {"total": 3}) for invocation in ids}
                async with self._client(key) as worker:
                    await Invocations(worker, self._deployment).close(
                        leader, outcomes, budget=_CLOSING_BUDGET_MIST
                    )
                self._invocations += count
                self._transactions += 1
                self._last = ids[-1]

    async def register_until(self, length: int) -> None:
        """Register tools until the registry has this many."""
        missing = [
            Registration(_definition(f"xyz.example.many.tool_{number}@1"))
            for number in range(self._tools, length)
        ]
        async with self._client(self._other) as client:
            registry = ToolRegistry(client, self._deployment)
            for start in range(0, len(missing), _PER_TRANSACTION):
                await registry.register(*missing[start : start + _PER_TRANSACTION])
        self._tools = length

    @asynccontextmanager
    async def _client(self, key: KeyPair) -> AsyncIterator[SuiClient]:
        async with SuiClient(self._network, key) as client:
            yield client

    @staticmethod
    def _command(*arguments: str) -> list[str]:
        return nexus_tools(*arguments, "--json")


def _definition(fqn: str) -> ToolDefinition:
    ports = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}
    variant = {"type": "object", "properties": {"ok": ports}, "required": ["ok"]}
    integers = {name: {"type": "integer"} for name in ("a", "b")}
    document: dict[str, Any] = {
        "fqn": fqn,
        "url": "https://tools.example.com/add",
        "description": "Adds two integers.",
        "input_schema": {"type": "object", "properties": integers, "required": [*integers]},
        "output_schema": {"type": "object", "oneOf": [variant]},
    }
    return ToolDefinition.parse(document)
