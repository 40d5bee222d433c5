"""A named network with the package, tools and leaders. Commands of `nexus-tools` set it up."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.chain import SUI
from benchmarks.processes import Process, home, nexus_tools, run
from nexus_tools.contracts import Deployment
from nexus_tools.sui.client import request_sui
from nexus_tools.sui.network import Network
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolFqn

TOOL = ToolFqn.parse("xyz.example.math.divide@1")
SERVE = nexus_tools("tool", "serve", "examples/tools.py", "--bind")
"""The command of a server of the example tools, without the address."""

NETWORK = "bench"


class Stage:
    """The setup commands, which run in threads because the event loop also forwards to the node."""

    def __init__(self, folder: Path, url: str, faucet: Network) -> None:
        self.home = home(folder)
        self._url = url
        self._faucet = faucet

    async def publish(self) -> Deployment:
        """Name the network, create a funded key, and publish the package."""
        await self.command("network", "use", NETWORK, "--url", self._url)
        await self.new_wallet("admin", 100 * SUI)
        await self.command("wallet", "use", "admin")
        return Deployment.parse(await self.command("package", "publish", "--yes"))

    async def new_wallet(self, name: str, amount_mist: int) -> Address:
        """Create a funded key."""
        address = Address.parse((await self.command("wallet", "new", name))["address"])
        await request_sui(self._faucet, address, amount_mist)
        return address

    async def register_tools(self, server: Process, *terms: str, tool: ToolFqn = TOOL) -> None:
        """Register the tools of a server, including `tool`. `terms` are options of the command."""
        # The command prints `✓ xyz.example.math.divide@1 at http://127.0.0.1:…/divide`.
        line = await asyncio.to_thread(server.logged, f"{tool} at ")
        root = line.rpartition(" at ")[2].rpartition("/")[0]
        await self.command("tool", "register", "--url", root, "--all", *terms, "--yes")

    async def register_leader(self, wallet: str, *terms: str) -> None:
        """Register and activate the leader of a key. `terms` are options of the command."""
        named = ("--name", wallet, "--wallet", wallet)
        await self.command("leader", "register", *named, *terms, "--yes")

    def lead(self, wallet: str, *options: str) -> Sequence[str]:
        """Return the command that runs the leader of a key."""
        fixed = ("--wallet", wallet, "--allow-loopback", "--log-format", "json")
        return nexus_tools("leader", "run", *fixed, *options)

    async def command(self, *arguments: str) -> Any:
        """Return the JSON document that a command prints."""
        return await asyncio.to_thread(run, nexus_tools(*arguments, "--json"), self.home)
