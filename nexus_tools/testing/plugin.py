"""The pytest plugin: its options and fixtures.

pytest loads this module in every run after nexus-tools is installed. Therefore the fixtures contain
the slow imports. All fixtures are synchronous, so they work in sync tests, and in async tests under
any plugin.
"""

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from nexus_tools.settings.directories import cache_directory
from nexus_tools.testing.fixtures import (
    LocalnetFixture,
    PublishFixture,
    WalletFixture,
)
from nexus_tools.testing.session import Session

if TYPE_CHECKING:
    from nexus_tools.contracts import Deployment
    from nexus_tools.registry import ToolRegistry
    from nexus_tools.sui.client import SuiClient
    from nexus_tools.sui.localnet.framework import Release
    from nexus_tools.testing.move_project import InvocableTools

_URL_OPTION = "--localnet-url"
_FRAMEWORK_OPTION = "--localnet-framework-from"
_VERSION_OPTION = "--localnet-protocol-version"


# --- Hooks


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the network."""
    group = parser.getgroup("nexus_tools", "Sui networks for tests (nexus_tools)")
    group.addoption(
        _FRAMEWORK_OPTION,
        metavar="URL|FOLDER",
        help="use the Sui framework of the node at URL, or of the .mv files in FOLDER",
    )
    group.addoption(
        _VERSION_OPTION, metavar="NUMBER", type=int, help="protocol version of the network"
    )
    group.addoption(
        _URL_OPTION,
        metavar="URL",
        help="use the node at URL, which must have a faucet, instead of a network per process."
        " Changes are not reverted, and tests that move the clock are skipped",
    )


def pytest_report_header(config: pytest.Config) -> str | None:
    """Return the header line for tests that share a node, or None."""
    url = config.getoption(_URL_OPTION)
    return url and f"localnet: {url} (shared: changes of tests are not reverted)"


# --- Fixtures


@pytest.fixture(scope="session")
def _nexus_session(request: pytest.FixtureRequest) -> "Iterator[Session]":
    """Provide the network of this process. The network starts before its first use."""
    url = request.config.getoption(_URL_OPTION)
    if url:
        yield Session(LocalnetFixture(url.rstrip("/"), None))
        return
    from nexus_tools.sui.localnet import Origin, ThreadedLocalnet

    release = _release(request.config.getoption(_FRAMEWORK_OPTION))
    origin = Origin(release, request.config.getoption(_VERSION_OPTION))
    with ThreadedLocalnet(origin=origin) as own:
        yield Session(LocalnetFixture(own.url, own), release)


def _release(source: str | None) -> "Release | None":
    if source is None:
        return None
    import asyncio

    from nexus_tools.sui.framework_source import find_release

    return asyncio.run(find_release(source, cache_directory()))


@pytest.fixture(scope="session")
def session_localnet(_nexus_session: Session) -> LocalnetFixture:
    """Provide the network for fixtures with a wider scope, whose changes are never reverted."""
    return _nexus_session.localnet


@pytest.fixture
def localnet(session_localnet: LocalnetFixture) -> Iterator[LocalnetFixture]:
    """Provide a Sui network, and revert the test's changes when the test ends."""
    if not session_localnet.is_own:
        yield session_localnet
        return
    snapshot = session_localnet.snapshot()
    yield session_localnet
    session_localnet.revert(snapshot)


@pytest.fixture
def wallet(_nexus_session: Session, localnet: LocalnetFixture) -> WalletFixture:  # noqa: ARG001
    """Provide a key with 1 000 SUI, and a client that signs with it."""
    names = iter(range(1 << 32))

    def another() -> WalletFixture:
        key, client = _nexus_session.wallet(f"wallet {next(names)}")
        return WalletFixture(key, client, another)

    return another()


@pytest.fixture
def sui_client(wallet: WalletFixture) -> "SuiClient":
    """Provide the client of `wallet`."""
    return wallet.client


@pytest.fixture
def publish(
    _nexus_session: Session,
    wallet: WalletFixture,
    localnet: LocalnetFixture,
    request: pytest.FixtureRequest,
) -> PublishFixture:
    """Provide a function that publishes a Move package from a folder or from compiled modules."""
    return PublishFixture(_nexus_session.compiled, wallet, localnet, request.path.parent)


@pytest.fixture
def on_chain_tools(
    _nexus_session: Session,
    _deployment: "Deployment",
    wallet: WalletFixture,
    localnet: LocalnetFixture,
    request: pytest.FixtureRequest,
) -> "Callable[[str | os.PathLike[str]], InvocableTools]":
    """Provide a function that publishes a Move package and lets a Leader call its on-chain tools.

    The definitions of the tools are the JSON files next to `Move.toml`. A relative folder is
    relative to the test's file. Each call compiles the package, which needs the extra `compiler`.
    """
    from nexus_tools.nexus import Nexus
    from nexus_tools.testing.move_project import InvocableTools, MoveProject

    def publish(folder: "str | os.PathLike[str]") -> "InvocableTools":
        project = MoveProject.read(request.path.parent / folder)
        nexus = Nexus(wallet.client, _nexus_session.deployment())
        return InvocableTools(project, nexus, _nexus_session.builder, localnet.run)

    return publish


@pytest.fixture(scope="session")
def _deployment(_nexus_session: Session) -> "Deployment":
    """Provide the deployment of the registry, published before the first test's snapshot."""
    return _nexus_session.deployment()


@pytest.fixture
def registry(
    _nexus_session: Session,
    _deployment: "Deployment",
    wallet: WalletFixture,
) -> "ToolRegistry":
    """Provide the tool registry. The registry signs with the key of `wallet`."""
    from nexus_tools.registry import ToolRegistry

    return ToolRegistry(wallet.client, _nexus_session.deployment())
