"""Transfers, calls and start-up in one process, compared with eth-tester on py-evm.

Both networks execute signed transactions, each in its own block or checkpoint. The benchmark uses
no network connection, because eth-tester has none. A call increases a counter on chain.
"""

import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import perf_counter

from benchmarks.compiled import compiled
from benchmarks.figure import Figure, at_least_of_peer, at_most, compared
from benchmarks.processes import ROOT, SCRIPTS, Process, home, nexus_tools, started
from benchmarks.rounds import interleaved
from benchmarks.signed import COIN_MIST, Content, call_of, signed, transfer
from nexus_tools.contracts import load_package, publish
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.localnet.ledger import ExecutedTransaction
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.signature import SignatureScheme
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.execution_status import Success
from nexus_tools.sui.types.object import AddressOwner, MovePackage, ObjectReference, Shared
from nexus_tools.sui.types.transaction import SharedObject

ROUNDS = 5
EACH = 100
STARTS = 3
START_S = 0.5
PACKAGE_MIST = 1_000_000_000

_PEER = "eth-tester"
# coincurve makes the signatures of eth-tester fast.
_REQUIREMENTS = ("eth-tester[py-evm]==0.14.0b1", "coincurve")
_NOTE = f"one process, {EACH} signed transactions per round, each final before the next starts"


def measure(folder: Path) -> Iterator[Figure]:
    """Yield the figures of start-up, transfers and calls."""
    peer_command = [str(_peer_python()), str(SCRIPTS / "benchmarks" / "ethereum_peer.py")]
    yield _start(folder, peer_command)
    ours = InProcess()
    with started(peer_command, folder / "eth-tester.log") as peer:
        peer.line()
        for name in ("transfer", "call"):
            rates = interleaved(
                ROUNDS,
                {
                    "ours": partial(ours.rate, name),
                    "peer": partial(_peer_rate, peer, name),
                },
            )
            yield compared(
                f"ethereum {name}",
                "tx/s",
                rates["ours"],
                {_PEER: rates["peer"]},
                target=at_least_of_peer(1),
                note=_NOTE,
            )


def _peer_python() -> Path:
    """Return the interpreter of an environment with eth-tester, which is created if necessary."""
    folder = ROOT / ".cache" / "eth-tester"
    python = folder / "bin" / "python"
    stamp = folder / "installed"
    wanted = " ".join((*_REQUIREMENTS, sys.version))
    if not stamp.is_file() or stamp.read_text() != wanted:
        venv.create(folder, clear=True, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *_REQUIREMENTS], check=True, stdout=sys.stderr)
        stamp.write_text(wanted)
    return python


# --- Start-up


def _start(folder: Path, peer_command: list[str]) -> Figure:
    """Measure the time from the start of the process until it accepts transactions."""
    ours = nexus_tools("localnet", "start", "--port", "0", "--json")
    times = interleaved(
        STARTS,
        {
            "ours": lambda: _seconds_to_start(ours, folder),
            "peer": lambda: _seconds_to_start(peer_command, folder),
        },
    )
    return compared(
        "ethereum start",
        "s",
        times["ours"],
        {_PEER: times["peer"]},
        target=at_most(START_S),
        note="the localnet is ready when it responds over gRPC",
    )


def _seconds_to_start(command: list[str], folder: Path) -> float:
    begin = perf_counter()
    with started(command, folder / "start.log", home(folder)) as process:
        process.line()
        return perf_counter() - begin


# --- Transactions


def _peer_rate(peer: Process, name: str) -> float:
    return EACH / float(peer.ask([name, EACH]))


def _publish_package(builder: TransactionBuilder, recipient: Address) -> None:
    package = load_package()
    publish(builder, package.modules, package.dependencies, recipient)


class InProcess:
    """A node in this process, and a key with coins on it."""

    def __init__(self) -> None:
        self._node = Node.open()
        self._key = KeyPair.from_secret(SignatureScheme.ED25519, os.urandom(32))
        self._contents: dict[str, Content] = {"transfer": transfer, "call": self._publish()}

    def rate(self, name: str) -> float:
        """Return the transactions per second. Signing is not part of the measured time."""
        transactions = list(signed(self._key, self._coins(EACH), self._contents[name]))
        begin = perf_counter()
        for data, signature in transactions:
            self._execute(data, signature)
        return EACH / (perf_counter() - begin)

    def _coins(self, count: int, mist: int = COIN_MIST) -> list[ObjectReference]:
        given = self._node.fund(self._key.address, *[mist] * count)
        own = AddressOwner(self._key.address)
        return [value.reference() for value in given.output_objects if value.owner == own]

    def _publish(self) -> Content:
        """Publish the counter. Return the call that increases the counter."""

        def publish_counter(builder: TransactionBuilder) -> None:
            cap = builder.publish([compiled("counter")], [MOVE_STDLIB, SUI_FRAMEWORK])
            builder.transfer_objects([cap], self._key.address)

        written = self._send(publish_counter).output_objects
        [package] = [value.id for value in written if isinstance(value.data, MovePackage)]
        [counter] = [value for value in written if isinstance(value.owner, Shared)]
        return call_of(package, SharedObject(counter.id, counter.version, mutable=True))

    def transfer(self) -> None:
        """Execute one transfer."""
        self._send(self._contents["transfer"])

    def publish_package(self) -> None:
        """Publish the nexus-tools package, without registering anything."""
        [coin] = self._coins(1, PACKAGE_MIST)
        content = partial(_publish_package, recipient=self._key.address)
        [(data, signature)] = signed(self._key, [coin], content, PACKAGE_MIST)
        self._execute(data, signature)

    def _send(self, content: Content) -> ExecutedTransaction:
        [(data, signature)] = signed(self._key, self._coins(1), content)
        return self._execute(data, signature)

    def _execute(self, data: bytes, signature: bytes) -> ExecutedTransaction:
        executed = self._node.execute(data, [signature])
        if executed.effects.status != Success():
            raise RuntimeError(f"a transaction failed: {executed.effects.status}")
        return executed
