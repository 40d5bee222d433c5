"""What the fixtures of the plugin give to a test."""

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
"""Gives the modules of the package in a folder, and the ids of those that it depends on."""

_FRAMEWORK = (1, 2)  # what modules depend on, if nobody says otherwise: 0x1 and 0x2


class LocalnetFixture:
    """The network of a test: the one of this process, or the one at `--localnet-url`.

    Methods may be called in any thread, also while the test's event loop runs: the network has a
    thread of its own.
    """

    def __init__(self, url: str, own: "ThreadedLocalnet | None") -> None:
        self.url = url
        self._own = own

    @property
    def is_own(self) -> bool:
        """Whether the network is of this process, so that its clock and state can be moved."""
        return self._own is not None

    @cached_property
    def network(self) -> "Network":
        """The network for a `SuiClient`."""
        from nexus_tools.sui.network import Network

        return Network("localnet", self.url, self.url)

    def fund(self, recipient: "Address", *amounts_mist: int) -> None:
        """Send SUI from the faucet to an address: a coin of each amount."""
        if self._own is not None:
            self._own.fund(recipient, *amounts_mist)
            return
        from nexus_tools.sui.client import request_sui

        for amount in amounts_mist:
            self.run(request_sui(self.network, recipient, amount))

    def advance_clock(self, milliseconds: int) -> int:
        """Move the clock forwards at once; gives the time in ms that it shows then.

        Skips the test with `--localnet-url`, as do the methods below.
        """
        return self._require_own("its clock is not ours to move").advance_clock(milliseconds)

    def advance_epoch(self) -> int:
        """End the epoch, and begin the next one; gives its number."""
        return self._require_own("its epochs are not ours to end").advance_epoch()

    def seed_randomness(self, seed: bytes) -> None:
        """Let the random bytes of all rounds to come follow from a seed, in this test."""
        self._require_own("its randomness is not ours").seed_randomness(seed)

    def snapshot(self) -> "Snapshot":
        """The present, to come back to within this test."""
        return self._require_own("it cannot go back to a snapshot").snapshot()

    def revert(self, snapshot: "Snapshot") -> None:
        """Go back to a snapshot: whatever happened since did not happen."""
        self._require_own("it cannot go back to a snapshot").revert(snapshot)

    def trace(self, digest: "Digest") -> "TransactionTrace":
        """What a transaction did, call by call."""
        return self._require_own("its transactions cannot be traced").trace(digest)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Wait for a coroutine, in a thread of its own: how sync tests use async clients."""
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
            pytest.skip(f"{self.url} is another process's network: {reason}")
        return self._own


@dataclass(frozen=True, slots=True)
class WalletFixture:
    """A key that has SUI; `client` signs with it, and needs no `async with`."""

    key: "KeyPair"
    client: "SuiClient"
    another: "Callable[[], WalletFixture]"
    """Makes a further wallet, with another key and as much SUI."""

    @property
    def address(self) -> "Address":
        """The key's address."""
        return self.key.address


@dataclass(frozen=True, slots=True)
class PublishedPackage:
    """A package that `publish` published; `executed` tells what its `init` created."""

    id: "Address"
    upgrade_cap: "Address"
    executed: "Executed" = field(repr=False)

    def type(self, module: str, name: str, *type_params: "TypeTag") -> "StructTag":
        """A type of the package."""
        from nexus_tools.sui.types.type_tag import StructTag

        return StructTag(self.id, module, name, type_params)

    def created(self, module: str, name: str) -> "Address":
        """The one object of a type that was created when the package was published."""
        (object_id,) = self.executed.created_of(module, name)
        return object_id


class PublishFixture:
    """Publishes Move packages with the key of the test's `wallet`, which gets the `UpgradeCap`."""

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

        A relative folder is one beside the test's file. Modules come in the order of their
        dependencies; the packages that they use are the framework's unless `dependencies` names
        them. Sources are compiled once per process as long as they stay the same, which needs the
        extra `compiler`; what they depend on is published, or in `bundle`, which makes it a
        part of the package. Raises as `build_to_publish` and `SuiClient.execute`.
        """
        from nexus_tools.sui.transaction_builder import TransactionBuilder
        from nexus_tools.sui.types.address import Address

        if isinstance(package, str | os.PathLike):
            folder = self._beside / package
            modules, ids = self._compiled(folder, bundle)
            dependencies = [Address(each) for each in ids]
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
