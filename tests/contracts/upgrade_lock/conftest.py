"""A chain with `upgrade_lock`, and a small package of an untrusted publisher."""

from dataclasses import dataclass

import pytest

from nexus_tools.contracts import (
    CompiledPackage,
    LockDeployment,
    Publisher,
    UpgradeLocks,
)
from nexus_tools.sui.bcs import u8
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address

DAY_MS = 86_400_000
SOURCES = "https://code.example.com/vault"

_MANIFEST = '[package]\nname = "vault"\nedition = "2024"\n\n[addresses]\nvault = "0x0"\n'
_CODE = "module vault::vault;\n\npublic fun fee(): {returns} {{ {fee} }}\n"


@pytest.fixture(scope="session")
def vault(move_builder):
    """Return a function that compiles the package: `vault(2)` differs from the first `vault()`."""

    def vault(fee=1, more="", returns="u64"):
        source = _CODE.format(fee=fee, returns=returns)
        sources = {"Move.toml": _MANIFEST, "sources/vault.move": source}
        sources |= {"sources/more.move": more} if more else {}
        built = move_builder.build(sources)
        dependencies = tuple(map(Address, built.dependencies))
        return CompiledPackage(built.modules, dependencies, built.digest, "", "")

    return vault


@dataclass
class World:
    """A world in which `owner` locked the vault, and `user` is another account."""

    owner: SuiClient
    user: SuiClient
    net: object
    deployment: LockDeployment
    package: Address
    vault: object

    def locks(self, client=None):
        return UpgradeLocks(client or self.owner, self.deployment)

    @property
    def lock(self):
        return self.locks().lock_id(self.package)

    def pass_days(self, days):
        self.net.advance_clock(days * DAY_MS)

    async def propose(self, package):
        return await self.locks().propose(self.package, package, SOURCES)

    async def versions(self):
        return await self.owner.package_versions(self.package)


@pytest.fixture
async def deployment(admin):
    """Return `upgrade_lock`, published by an account that locks nothing."""
    _, deployment = await LockDeployment.publish(admin)
    return deployment


@pytest.fixture
async def world(owner, user, localnet, deployment, vault):
    first = vault()
    sent = await Publisher(owner).publish_other(first.modules, first.dependencies, deployment)
    return World(owner, user, localnet, deployment, sent.published(), vault)


@pytest.fixture
async def free(owner, vault):
    """Return the package ID and the `UpgradeCap` of a vault that is not locked."""
    first = vault()
    sent = await Publisher(owner).publish_other(first.modules, first.dependencies)
    (cap,) = sent.created_of("package", "UpgradeCap")
    return sent.published(), cap


@pytest.fixture
def authorized():
    """Return a function that adds an upgrade by the cap itself, and returns the receipt."""

    def authorized(builder, cap, package_id, package):
        policy, digest = builder.pure(u8, 0), builder.byte_vector(package.digest)
        arguments = [builder.object(cap), policy, digest]
        ticket = builder.move_call(SUI_FRAMEWORK, "package", "authorize_upgrade", arguments)
        return builder.upgrade(package.modules, package.dependencies, package_id, ticket)

    return authorized


@pytest.fixture
def builder():
    return TransactionBuilder()
