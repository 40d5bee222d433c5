"""Fixtures for tests that need a Sui network: `localnet`, `wallet`, `publish` and others.

pytest finds this module by itself once nexus-tools is installed, so it imports nothing that is
heavy before a fixture is used. All fixtures are plain: they serve sync tests, and async ones under
any plugin that runs them. docs/guides/pytest.md is the guide.
"""

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from nexus_tools.settings.directories import cache_directory
from nexus_tools.testing.fixtures import (
    LocalnetFixture,
    PublishedPackage,
    PublishFixture,
    WalletFixture,
)
from nexus_tools.testing.session import WALLET_MIST, Session

if TYPE_CHECKING:
    from nexus_tools.contracts import Deployment
    from nexus_tools.registry import ToolRegistry
    from nexus_tools.sui.client import SuiClient
    from nexus_tools.sui.localnet.framework import Release
    from nexus_tools.testing.move_project import CalledTools

__all__ = [
    "WALLET_MIST",
    "LocalnetFixture",
    "PublishFixture",
    "PublishedPackage",
    "WalletFixture",
]

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
def _nexus_session(request: pytest.FixtureRequest) -> "Iterator[Session]":
    """The network of this process, from the first test that needs it."""
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
def wallet(_nexus_session: Session, localnet: LocalnetFixture) -> WalletFixture:  # noqa: ARG001
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
    _nexus_session: Session,
    wallet: WalletFixture,
    localnet: LocalnetFixture,
    request: pytest.FixtureRequest,
) -> PublishFixture:
    """Publishes a Move package from its folder or from compiled modules."""
    return PublishFixture(_nexus_session.compiled, wallet, localnet, request.path.parent)


@pytest.fixture
def on_chain_tools(
    _nexus_session: Session,
    _deployment: "Deployment",
    wallet: WalletFixture,
    localnet: LocalnetFixture,
    request: pytest.FixtureRequest,
) -> "Callable[[str | os.PathLike[str]], CalledTools]":
    """Publishes the Move package in a folder, and has its on-chain tools called by a Leader.

    They are those whose definitions stand beside `Move.toml`; a relative folder is one beside the
    test's file. It is compiled for each call, which needs the extra `compiler`.
    """
    from nexus_tools.nexus import Nexus
    from nexus_tools.testing.move_project import CalledTools, MoveProject

    def publish(folder: "str | os.PathLike[str]") -> "CalledTools":
        project = MoveProject.read(request.path.parent / folder)
        nexus = Nexus(wallet.client, _nexus_session.deployment())
        return CalledTools(project, nexus, _nexus_session.builder, localnet.run)

    return publish


@pytest.fixture(scope="session")
def _deployment(_nexus_session: Session) -> "Deployment":
    """The registry's package, published before the snapshot of the first test that needs it."""
    return _nexus_session.deployment()


@pytest.fixture
def registry(
    _nexus_session: Session,
    _deployment: "Deployment",
    wallet: WalletFixture,
) -> "ToolRegistry":
    """The registry of tools, used with the key of `wallet`."""
    from nexus_tools.registry import ToolRegistry

    return ToolRegistry(wallet.client, _nexus_session.deployment())
