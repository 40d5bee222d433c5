"""The state that all tests of a process share: the network, compiled packages, the registry."""

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from nexus_tools.settings.directories import cache_directory
from nexus_tools.sui.support.units import MIST_PER_SUI
from nexus_tools.testing.fixtures import LocalnetFixture

if TYPE_CHECKING:
    from nexus_tools.contracts import Deployment
    from nexus_tools.sui.client import SuiClient
    from nexus_tools.sui.keystore import KeyPair
    from nexus_tools.sui.localnet.compiler import Bundle, MoveBuilder
    from nexus_tools.sui.localnet.framework import Release
    from nexus_tools.sui.types.address import Address

WALLET_MIST = 1_000 * MIST_PER_SUI
"""The initial balance of a wallet, in two coins. The faucet of a shared node may send less."""


class Session:
    """The network, and the objects that are created once per process."""

    def __init__(self, localnet: LocalnetFixture, release: "Release | None" = None) -> None:
        self.localnet = localnet
        self._release = release
        # Our own network has the same keys in each run, so that failures are reproducible. On a
        # shared node, the keys of each process are unique.
        self._seed = b"" if localnet.is_own else os.urandom(32)
        self._compiled: dict[tuple[object, ...], tuple[Sequence[bytes], Sequence[bytes]]] = {}
        self._deployment: Deployment | None = None

    def wallet(self, name: str) -> "tuple[KeyPair, SuiClient]":
        """Derive a key from a name, fund it, and return it with a client that signs with it."""
        from nexus_tools.sui.client import AnyLoopClient
        from nexus_tools.sui.keystore import KeyPair
        from nexus_tools.sui.types.digest import blake2b256

        key = KeyPair.from_bytes(b"\0" + blake2b256(b"pytest wallet", self._seed, name.encode()))
        self.localnet.fund(key.address, WALLET_MIST // 2, WALLET_MIST // 2)
        return key, AnyLoopClient(self.localnet.network, key)

    def compiled(
        self, folder: Path, bundle: "Bundle | None" = None
    ) -> tuple[Sequence[bytes], Sequence[bytes]]:
        """Return the modules of the package in a folder, and the IDs of its dependencies."""
        from nexus_tools.sui.localnet.compiler import build_to_publish, read_package, sources_digest

        others = [folder / dependency.path for dependency in read_package(folder).dependencies]
        key = (bundle, *map(sources_digest, [folder, *others]))
        if key not in self._compiled:
            built = build_to_publish(self.builder, folder, bundle=bundle)
            self._compiled[key] = (built.modules, built.dependencies)
        return self._compiled[key]

    @cached_property
    def builder(self) -> "MoveBuilder":
        """The compiler, installed once."""
        from nexus_tools.sui.localnet.compiler import MoveBuilder
        from nexus_tools.sui.support.private_file import locked

        cache = cache_directory()
        with locked(cache / "compiler"):  # so that only one pytest worker installs the compiler
            return MoveBuilder.installed(cache, release=self._release)

    def deployment(self) -> "Deployment":
        """Return the deployment of the nexus-tools packages, and create it if necessary."""
        if self._deployment is None or not self._exists(self._deployment.package_id):
            self._deployment = self.localnet.run(self._publish_registry())
        return self._deployment

    def _exists(self, package: "Address") -> bool:
        from nexus_tools.sui.client import AnyLoopClient

        client = AnyLoopClient(self.localnet.network)
        return self.localnet.run(client.object(package)) is not None

    async def _publish_registry(self) -> "Deployment":
        from nexus_tools.contracts import Publisher

        _, client = self.wallet("admin of the registry")
        result = await Publisher(client).publish()
        assert result.deployment is not None
        return result.deployment
