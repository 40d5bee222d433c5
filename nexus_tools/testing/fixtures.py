"""The types of the plugin's fixtures."""

import os
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from nexus_tools.sui.client import Executed, SuiClient
    from nexus_tools.sui.keystore import KeyPair
    from nexus_tools.sui.localnet import ThreadedLocalnet
    from nexus_tools.sui.localnet.compiler import Bundle
    from nexus_tools.sui.localnet.ledger import Snapshot
    from nexus_tools.sui.localnet.trace import TransactionTrace
    from nexus_tools.sui.network import Network
    from nexus_tools.sui.types.address import Address
    from nexus_tools.sui.types.digest import Digest
    from nexus_tools.sui.types.type_tag import StructTag, TypeTag

T = TypeVar("T")

Compiled = Callable[[Path, "Bundle | None"], tuple[Sequence[bytes], Sequence[bytes]]]
"""A function that compiles the package in a folder.

The function returns the modules, and the IDs of the dependencies."""

_FRAMEWORK = (1, 2)  # the default dependencies of modules: 0x1 and 0x2


class LocalnetFixture:
    """The network of a test: a localnet in this process, or the node at `--localnet-url`.

    The network runs in a separate thread, so any thread may call its methods, even while the test's
    event loop runs.
    """

    def __init__(self, url: str, own: "ThreadedLocalnet | None") -> None:
        self.url = url
        self._own = own

    @property
    def is_own(self) -> bool:
        """Whether the network runs in this process. If so, tests can change its clock and state."""
        return self._own is not None

    @cached_property
    def network(self) -> "Network":
        """The network for a `SuiClient`."""
        from nexus_tools.sui.network import Network

        return Network("localnet", self.url, self.url)

    def fund(self, recipient: "Address", *amounts_mist: int) -> None:
        """Send SUI from the faucet to an address, one coin for each amount."""
        if self._own is not None:
            self._own.fund(recipient, *amounts_mist)
            return
        from nexus_tools.sui.client import request_sui

        for amount in amounts_mist:
            self.run(request_sui(self.network, recipient, amount))

    def advance_clock(self, milliseconds: int) -> int:
        """Advance the clock and return the new time in ms.

        With `--localnet-url`, all methods for clock, epochs, seeds, snapshots and traces skip the
        test.
        """
        return self._require_own("cannot advance its clock").advance_clock(milliseconds)

    def advance_epoch(self) -> int:
        """End the epoch, start the next one, and return its number."""
        return self._require_own("cannot end its epoch").advance_epoch()

    def seed_randomness(self, seed: bytes) -> None:
        """Derive all random bytes of the network from a seed, from now until the test ends."""
        self._require_own("cannot seed its randomness").seed_randomness(seed)

    def snapshot(self) -> "Snapshot":
        """Return a snapshot of the current state. This test can revert the network to it."""
        return self._require_own("cannot revert it to a snapshot").snapshot()

    def revert(self, snapshot: "Snapshot") -> None:
        """Revert the network to a snapshot."""
        self._require_own("cannot revert it to a snapshot").revert(snapshot)

    def trace(self, digest: "Digest") -> "TransactionTrace":
        """Return the trace of a transaction, with each of its calls."""
        return self._require_own("cannot trace its transactions").trace(digest)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in a separate thread and return its result.

        Sync tests use this method to call async clients.
        """
        import asyncio
        from concurrent.futures import Future
        from threading import Thread

        future: Future[T] = Future()

        def work() -> None:
            try:
                future.set_result(asyncio.run(coroutine))
            except BaseException as error:  # noqa: BLE001 - raised in the thread that waits
                future.set_exception(error)

        Thread(target=work, name="localnet-run", daemon=True).start()
        return future.result()

    def _require_own(self, reason: str) -> "ThreadedLocalnet":
        if self._own is None:
            pytest.skip(f"{self.url} belongs to another process, so the test {reason}")
        return self._own


@dataclass(frozen=True, slots=True)
class WalletFixture:
    """A key with SUI, and a client that signs with the key and needs no `async with`."""

    key: "KeyPair"
    client: "SuiClient"
    another: "Callable[[], WalletFixture]"
    """The function that creates another wallet, with a new key and the same balance."""

    @property
    def address(self) -> "Address":
        """The key's address."""
        return self.key.address


@dataclass(frozen=True, slots=True)
class PublishedPackage:
    """A package that the fixture `publish` published.

    `executed` is the publishing transaction, with the objects that `init` created.
    """

    id: "Address"
    upgrade_cap: "Address"
    executed: "Executed" = field(repr=False)

    def type(self, module: str, name: str, *type_params: "TypeTag") -> "StructTag":
        """Return a type of the package."""
        from nexus_tools.sui.types.type_tag import StructTag

        return StructTag(self.id, module, name, type_params)

    def created(self, module: str, name: str) -> "Address":
        """Return the ID of the only object of a type that the publication created."""
        (object_id,) = self.executed.created_of(module, name)
        return object_id


class PublishFixture:
    """A publisher of Move packages. The test's `wallet` pays, and receives the `UpgradeCap`."""

    def __init__(
        self, compiled: "Compiled", wallet: WalletFixture, localnet: LocalnetFixture, beside: Path
    ) -> None:
        self._compiled = compiled
        self._wallet = wallet
        self._localnet = localnet
        self._beside = beside

    def __call__(
        self,
        package: "str | os.PathLike[str] | Sequence[bytes]",
        dependencies: "Sequence[Address] | None" = None,
        *,
        bundle: "Bundle | None" = None,
    ) -> PublishedPackage:
        """Publish the package in a folder with `Move.toml`, or compiled modules.

        A relative folder is relative to the test's file. Compiled modules must be in dependency
        order. `dependencies` are the packages that the modules use, by default the framework.

        Sources are compiled once per process unless they change, which needs the extra `compiler`.
        The dependencies of sources must be published, unless `bundle` includes them in the package.
        Raises the errors of `build_to_publish` and `SuiClient.execute`.
        """
        from nexus_tools.sui.transaction_builder import TransactionBuilder
        from nexus_tools.sui.types.address import Address

        if isinstance(package, str | os.PathLike):
            folder = self._beside / package
            modules, ids = self._compiled(folder, bundle)
            dependencies = [Address(id_) for id_ in ids]
        else:
            modules = tuple(package)
        if dependencies is None:
            dependencies = [Address.of(number) for number in _FRAMEWORK]
        builder = TransactionBuilder()
        upgrade_cap = builder.publish(modules, dependencies)
        builder.transfer_objects([upgrade_cap], self._wallet.address)
        executed = self._localnet.run(self._wallet.client.execute(builder))
        (cap,) = executed.created_of("package", "UpgradeCap")
        return PublishedPackage(executed.published(), cap, executed)
