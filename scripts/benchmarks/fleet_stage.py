"""The setup of one case of `fleet`: localnet, PostgreSQL, tool server and processes of a leader."""

import asyncio
import shutil
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import chain
from benchmarks.fleet_record import Record
from benchmarks.fleet_tools import definitions
from benchmarks.flow_stage import PROTOCOL
from benchmarks.lagging_node import LaggingNode
from benchmarks.node import node
from benchmarks.postgres_server import PostgresServer, find_programs, postgres_folder
from benchmarks.processes import Process, nexus_tools, python, run, started
from benchmarks.proxy import Proxy
from benchmarks.stage import NETWORK, Stage
from benchmarks.weather import Service
from nexus_tools.contracts import Deployment
from nexus_tools.registry import LeaderRegistry, Registration, ToolRegistry
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.network import Network
from nexus_tools.sui.types.address import Address

CALLS = "calls.json"
"""The file in the folder of a case to which the tool server writes the calls."""

_SCHEMA = "nexus_leader"
_DRAIN_S = 40.0


@dataclass(frozen=True, slots=True)
class FleetTerms:
    """The processes of a case.

    `bound` is the maximum number of concurrent calls of one tool in each process. The node of the
    last process lags by `lag_s`. With `through_proxy`, each process reaches PostgreSQL through its
    own TCP proxy.
    """

    processes: int
    bound: int | None = None
    lag_s: float = 0.0
    through_proxy: bool = False


@dataclass(slots=True)
class Fleet:
    """A running fleet.

    `failures` describes processes that ended by themselves, and `faults` counts the faults.
    `proxies` contains the proxy of each process, or is empty.
    """

    network: Network
    deployment: Deployment
    leader: Address
    postgres: PostgresServer
    proxies: list[Proxy]
    tools: Process
    services: list[Service]
    record: Record
    failures: list[str] = field(default_factory=list)
    faults: int = 0

    @property
    def cpu_s(self) -> list[float]:
        """The CPU seconds of each process since its last start, or 0 if it has ended."""
        processes = [service.process for service in self.services]
        return [process.cpu_s if process.is_running else 0.0 for process in processes]

    def restart(self, number: int) -> None:
        """Restart a process as an operator does, and note if its exit code is not 0."""
        service = self.services[number]
        service.process.send(signal.SIGTERM)
        code = service.process.wait(_DRAIN_S)
        if code:
            self.failures.append(f"process {number + 1} ended with {code} after SIGTERM")
        service.end()
        service.start()

    async def stop(self) -> None:
        """Stop all processes as an operator does."""
        await asyncio.gather(*(asyncio.to_thread(service.end) for service in self.services))

    def journal_count(self, rows: str) -> int:
        """Return the number of rows of the journal, for example of `workers`."""
        [(count,)] = self.postgres.execute(f"SELECT count(*) FROM {rows}", schema=_SCHEMA)
        return int(count)

    def find_holder(self) -> int:
        """Return the index of the process that is the holder, or 0 if no process is the holder."""
        statement = "SELECT name FROM holder JOIN workers USING (worker)"
        names = [name for (name,) in self.postgres.execute(statement, schema=_SCHEMA)]
        for number, service in enumerate(self.services):
            # The name of a process ends with its ID.
            if any(name.endswith(f":{service.process.pid}") for name in names):
                return number
        return 0

    def note_ended(self) -> None:
        """Note each process that is not running."""
        for number, service in enumerate(self.services, 1):
            if not service.process.is_running:
                code = service.process.wait(0)
                self.failures.append(f"process {number} ended by itself with {code}")


@asynccontextmanager
async def fleet_stage(folder: Path, terms: FleetTerms) -> AsyncIterator[Fleet]:
    """Run a localnet, PostgreSQL, tools and a fleet until the block ends."""
    await asyncio.to_thread(folder.mkdir)
    async with AsyncExitStack() as stack:
        own = stack.enter_context(node(folder, "--protocol-version", str(PROTOCOL)))
        await asyncio.to_thread(own.start, folder / "state")
        stage = Stage(folder, own.network.url, own.network)
        deployment = await stage.publish()
        names = [f"worker{number}" for number in range(1, terms.processes + 1)]
        for name in names:
            await stage.new_wallet(name, 100 * chain.SUI)
        await stage.register_leader(names[0], *(f"--worker={name}" for name in names))
        record = Record()
        serve = python("fleet_tools", str(folder / CALLS))
        tools = stack.enter_context(started(serve, folder / "tools.log"))
        url = await asyncio.to_thread(tools.line)
        leader = await _register_tools(own.network, deployment, url)
        postgres = stack.enter_context(_postgres())
        proxies = [
            await stack.enter_async_context(Proxy(postgres.socket).running())
            for _ in range(terms.processes if terms.through_proxy else 0)
        ]
        commands = [
            stage.lead(name, "--leader", str(leader), "--journal", url, *_options(terms))
            for name, url in zip(names, _journal_urls(postgres, proxies, terms), strict=True)
        ]
        services = [
            Service(command, folder / f"{name}.log", stage.home)
            for name, command in zip(names, commands, strict=True)
        ]
        if terms.lag_s:
            lagging = LaggingNode(own.network.url, terms.lag_s, record.requested)
            await stack.enter_async_context(lagging.running())
            home = await asyncio.to_thread(_home_behind, stage, folder, lagging.network.url)
            log = folder / f"{names[-1]}.log"
            services[-1] = Service(commands[-1], log, home)
        # The first process becomes the holder. Each process is ready before the next starts.
        for service in services:
            service.start()
            stack.callback(service.end)
            await asyncio.to_thread(service.process.logged, '"works"')
        network = own.network
        yield Fleet(network, deployment, leader, postgres, proxies, tools, services, record)


def _journal_urls(
    postgres: PostgresServer, proxies: Sequence[Proxy], terms: FleetTerms
) -> list[str]:
    """Return the URL of the journal for each process."""
    if not proxies:
        return [postgres.url(_SCHEMA)] * terms.processes
    return [
        f"postgresql://postgres@127.0.0.1:{proxy.port}/postgres?schema={_SCHEMA}"
        for proxy in proxies
    ]


def _options(terms: FleetTerms) -> list[str]:
    return [] if terms.bound is None else ["--max-concurrent-per-tool", str(terms.bound)]


async def _register_tools(network: Network, deployment: Deployment, url: str) -> Address:
    """Register the tools of the server at a URL, and return the ID of the leader."""
    key = await chain.funded_key(network, 1_000 * chain.SUI)
    async with SuiClient(network, key) as client:
        await ToolRegistry(client, deployment).register(*map(Registration, definitions(url)))
        [leader] = (await LeaderRegistry(client, deployment).list()).items
        return leader.id


@contextmanager
def _postgres() -> Iterator[PostgresServer]:
    with postgres_folder() as folder:
        server = PostgresServer(folder, find_programs(), durable=True)
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")


def _home_behind(stage: Stage, folder: Path, url: str) -> dict[str, str]:
    """Return a copy of the command line's environment whose network has another URL."""
    home = {}
    for name, path in stage.home.items():
        copy = folder / "behind" / name
        if Path(path).is_dir():
            shutil.copytree(path, copy)
        home[name] = str(copy)
    run(nexus_tools("network", "use", NETWORK, "--url", url, "--json"), home)
    return home
