"""Fixtures for tests that need a Sui network: `localnet`, `wallet`, `publish` and others.

pytest finds this module by itself once nexus-tools is installed, so it imports nothing that is
heavy before a fixture is used. All fixtures are plain: they serve sync tests, and async ones under
any plugin that runs them. docs/guides/pytest.md is the guide.
"""

import os
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from nexus_tools.directories import cache_directory
from nexus_tools.units import MIST_PER_SUI

if TYPE_CHECKING:
    from nexus_tools.client import Executed, KeyPair, Network, SuiClient
    from nexus_tools.localnet import ThreadedLocalnet
    from nexus_tools.localnet.compiler import Bundle, MoveBuilder
    from nexus_tools.localnet.framework import Release
    from nexus_tools.localnet.ledger import Snapshot
    from nexus_tools.localnet.trace import TransactionTrace
    from nexus_tools.package import Deployment
    from nexus_tools.registry import ToolRegistry
    from nexus_tools.sui.address import Address
    from nexus_tools.sui.digest import Digest
    from nexus_tools.sui.type_tag import StructTag, TypeTag

T = TypeVar("T")

WALLET_MIST = 1_000 * MIST_PER_SUI
"""What each wallet has at first, in two coins; from another node's faucet, what that gives."""

_URL_OPTION = "--localnet-url"
_FRAMEWORK_OPTION = "--localnet-framework-from"
_VERSION_OPTION = "--localnet-protocol-version"
_FRAMEWORK = (1, 2)  # what modules depend on, if nobody says otherwise: 0x1 and 0x2


# --- What tests are given


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
        from nexus_tools.client import Network

        return Network("localnet", self.url, self.url)

    def fund(self, recipient: "Address", *amounts_mist: int) -> None:
        """Send SUI from the faucet to an address: a coin of each amount."""
        if self._own is not None:
            self._own.fund(recipient, *amounts_mist)
            return
        from nexus_tools.client import request_sui

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
        from nexus_tools.sui.type_tag import StructTag

        return StructTag(self.id, module, name, type_params)

    def created(self, module: str, name: str) -> "Address":
        """The one object of a type that was created when the package was published."""
        (object_id,) = self.executed.created_of(module, name)
        return object_id


class PublishFixture:
    """Publishes Move packages with the key of the test's `wallet`, which gets the `UpgradeCap`."""

    def __init__(
        self, session: "_Session", wallet: WalletFixture, localnet: LocalnetFixture, beside: Path
    ) -> None:
        self._session = session
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
        from nexus_tools.sui.address import Address
        from nexus_tools.sui.builder import TransactionBuilder

        if isinstance(package, str | os.PathLike):
            folder = self._beside / package
            modules, ids = self._session.compiled(folder, bundle=bundle)
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


# --- What a process keeps from test to test


class _Session:
    """The network, and what was made for it once: compiled packages, the registry."""

    def __init__(self, localnet: LocalnetFixture, release: "Release | None" = None) -> None:
        self.localnet = localnet
        self._release = release
        # The same keys in each test, so that failures look alike; on a node that others use, new.
        self._seed = b"" if localnet.is_own else os.urandom(32)
        self._compiled: dict[tuple[object, ...], tuple[Sequence[bytes], Sequence[bytes]]] = {}
        self._deployment: Deployment | None = None

    def wallet(self, name: str) -> "tuple[KeyPair, SuiClient]":
        """A key by its name, with SUI, and a client that signs with it."""
        from nexus_tools.client import KeyPair, UnboundClient
        from nexus_tools.sui.digest import blake2b256

        key = KeyPair.from_bytes(b"\0" + blake2b256(b"pytest wallet", self._seed, name.encode()))
        self.localnet.fund(key.address, WALLET_MIST // 2, WALLET_MIST // 2)
        return key, UnboundClient(self.localnet.network, key)

    def compiled(
        self, folder: Path, *, bundle: "Bundle | None" = None
    ) -> tuple[Sequence[bytes], Sequence[bytes]]:
        """The modules of the package in a folder, and the ids of those that it depends on."""
        from nexus_tools.localnet.compiler import build_to_publish, read_package, sources_digest

        others = [folder / each.path for each in read_package(folder).dependencies]
        key = (bundle, *map(sources_digest, [folder, *others]))
        if key not in self._compiled:
            built = build_to_publish(self._builder, folder, bundle=bundle)
            self._compiled[key] = (built.modules, built.dependencies)
        return self._compiled[key]

    @cached_property
    def _builder(self) -> "MoveBuilder":
        from nexus_tools.localnet.compiler import MoveBuilder
        from nexus_tools.private_file import locked

        cache = cache_directory()
        with locked(cache / "compiler"):  # of all workers, one fetches it and makes native code
            return MoveBuilder.installed(cache, release=self._release)

    def deployment(self) -> "Deployment":
        """The Move package of this project, published once; again if that was reverted."""
        if self._deployment is None or not self._exists(self._deployment.package_id):
            self._deployment = self.localnet.run(self._publish_registry())
        return self._deployment

    def _exists(self, package: "Address") -> bool:
        from nexus_tools.client import UnboundClient

        client = UnboundClient(self.localnet.network)
        return self.localnet.run(client.object(package)) is not None

    async def _publish_registry(self) -> "Deployment":
        from nexus_tools.package import Publisher

        _, client = self.wallet("admin of the registry")
        result = await Publisher(client).publish()
        assert result.deployment is not None
        return result.deployment


# --- Hooks


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the network."""
    group = parser.getgroup("nexus_tools", "Sui networks for tests (nexus_tools)")
    group.addoption(
        _FRAMEWORK_OPTION,
        metavar="URL|FOLDER",
        help="take the Sui framework of the node at URL, or one whose .mv files are in FOLDER",
    )
    group.addoption(
        _VERSION_OPTION, metavar="NUMBER", type=int, help="the protocol version whose rules hold"
    )
    group.addoption(
        _URL_OPTION,
        metavar="URL",
        help="use the node at URL, with a faucet there, instead of a network per process;"
        " nothing is reverted, and tests that move the clock are skipped",
    )


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say that tests share a node, if they do."""
    url = config.getoption(_URL_OPTION)
    return url and f"localnet: {url}, which keeps its state: no snapshot before a test, no revert"


# --- Fixtures


@pytest.fixture(scope="session")
def _nexus_session(request: pytest.FixtureRequest) -> "Iterator[_Session]":
    """The network of this process, from the first test that needs it."""
    url = request.config.getoption(_URL_OPTION)
    if url:
        yield _Session(LocalnetFixture(url.rstrip("/"), None))
        return
    from nexus_tools.localnet import Origin, ThreadedLocalnet

    release = _release(request.config.getoption(_FRAMEWORK_OPTION))
    origin = Origin(release, request.config.getoption(_VERSION_OPTION))
    with ThreadedLocalnet(origin=origin) as own:
        yield _Session(LocalnetFixture(own.url, own), release)


def _release(source: str | None) -> "Release | None":
    if source is None:
        return None
    import asyncio

    from nexus_tools.framework_source import find_release

    return asyncio.run(find_release(source, cache_directory()))


@pytest.fixture(scope="session")
def session_localnet(_nexus_session: _Session) -> LocalnetFixture:
    """The network for fixtures of a wider scope: what they do is there for all tests after."""
    return _nexus_session.localnet


@pytest.fixture
def localnet(session_localnet: LocalnetFixture) -> Iterator[LocalnetFixture]:
    """A Sui network as it was before: what a test does to it ends with the test."""
    if not session_localnet.is_own:
        yield session_localnet
        return
    snapshot = session_localnet.snapshot()
    yield session_localnet
    session_localnet.revert(snapshot)


@pytest.fixture
def wallet(_nexus_session: _Session, localnet: LocalnetFixture) -> WalletFixture:  # noqa: ARG001
    """A key that has 1 000 SUI, and a client that signs with it."""
    names = iter(range(1 << 32))

    def another() -> WalletFixture:
        key, client = _nexus_session.wallet(f"wallet {next(names)}")
        return WalletFixture(key, client, another)

    return another()


@pytest.fixture
def sui_client(wallet: WalletFixture) -> "SuiClient":
    """The client of `wallet`."""
    return wallet.client


@pytest.fixture
def publish(
    _nexus_session: _Session,
    wallet: WalletFixture,
    localnet: LocalnetFixture,
    request: pytest.FixtureRequest,
) -> PublishFixture:
    """Publishes a Move package from its folder or from compiled modules."""
    return PublishFixture(_nexus_session, wallet, localnet, request.path.parent)


@pytest.fixture(scope="session")
def _deployment(_nexus_session: _Session) -> "Deployment":
    """The registry's package, published before the snapshot of the first test that needs it."""
    return _nexus_session.deployment()


@pytest.fixture
def registry(
    _nexus_session: _Session,
    _deployment: "Deployment",
    wallet: WalletFixture,
) -> "ToolRegistry":
    """The registry of tools, used with the key of `wallet`."""
    from nexus_tools.registry import ToolRegistry

    return ToolRegistry(wallet.client, _nexus_session.deployment())
