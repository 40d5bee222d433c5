"""Where `upgrade_lock` is published on a chain, and whether it is what comes with us."""

from collections.abc import Sequence
from typing import Self

from msgspec import Struct, convert, to_builtins
from msgspec import ValidationError as MsgspecError

from nexus_tools.contracts.compiled import CompiledPackage, compiled_modules, load_package
from nexus_tools.contracts.package_client import Sent, execute_or_simulate
from nexus_tools.contracts.upgrade_lock.move_bindings import TYPES
from nexus_tools.errors import NotAllowedError, NotFoundError, ValidationError
from nexus_tools.sui.bindings.runtime import Decoder, Package, Types
from nexus_tools.sui.client import Executed, SuiClient
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.effects import ObjectWrite
from nexus_tools.sui.types.object import MovePackage, Shared


def load_lock_package() -> CompiledPackage:
    """The package `upgrade_lock` that ships with this release. Raises `package_missing`."""
    return load_package(__package__)


class LockDeployment(Struct, frozen=True):
    """`upgrade_lock` on one chain: its only version, and the object that all locks come from."""

    package_id: Address
    locks: Address
    chain_id: str

    @classmethod
    async def publish(cls, client: SuiClient, *, dry_run: bool = False) -> tuple[Sent, Self | None]:
        """Publish it, immutable from its first moment; None in a dry run. Once for a chain will do.

        Raises as `SuiClient.execute` does.
        """
        package, builder = load_lock_package(), TransactionBuilder()
        cap = builder.publish(package.modules, package.dependencies)
        builder.move_call(SUI_FRAMEWORK, "package", "make_immutable", [cap])
        sent = await execute_or_simulate(client, builder, dry_run=dry_run)
        if not isinstance(sent, Executed):
            return sent, None
        return sent, await cls.of(client, sent)

    @classmethod
    async def of(cls, client: SuiClient, published: Executed) -> Self:
        """Return what the transaction of `publish` made."""
        (locks,) = published.created_of("upgrade_lock", "Locks")
        return cls(published.published(), locks, await client.chain_id())

    @classmethod
    async def find(cls, client: SuiClient, package_id: Address) -> Self:
        """A published one that is to be trusted: our modules, byte for byte, and immutable.

        Raises `package_unknown`, `lock_not_genuine` or `lock_not_immutable`.
        """
        value = await client.object(package_id)
        found = None if value is None else await client.transaction(value.previous_transaction)
        if value is None or found is None or not isinstance(value.data, MovePackage):
            raise NotFoundError(
                "package_unknown",
                f"{client.network.name} knows no package {package_id}",
                hint="check the id, or use a node that keeps the package's transaction",
            )
        ours = load_lock_package().modules
        if compiled_modules(value, package_id) != set(ours) or value.data.version != 1:
            raise NotAllowedError(
                "lock_not_genuine",
                f"the package {package_id} is not the upgrade_lock that comes with nexus-tools",
                hint="it may let its publisher take packages out: do not trust what it locks",
            )
        return cls(package_id, _only_locks(found, package_id), await client.chain_id())

    @classmethod
    def parse(cls, document: object) -> Self:
        """Read what `as_json` gave. Raises `deployment_invalid`."""
        try:
            return convert(document, cls, dec_hook=_address)
        except MsgspecError as error:
            reason = f"this is no deployment of upgrade_lock: {error}"
            raise ValidationError("deployment_invalid", reason) from None

    def as_json(self) -> dict[str, str]:
        """The deployment as a document of flat texts."""
        document: dict[str, str] = to_builtins(self, enc_hook=str)
        return document

    @property
    def package(self) -> Package:
        """The package, as its bindings take it."""
        return Package.at(self.package_id)

    @property
    def packages(self) -> Sequence[tuple[Types, Package]]:
        """The package, with its types and errors."""
        return ((TYPES, self.package),)

    @property
    def decoder(self) -> Decoder:
        """What decodes objects and events of the package."""
        return TYPES.at(self.package)


def _only_locks(executed: Executed, package_id: Address) -> Address:
    """The `Locks` of a transaction that published the package and kept no way to upgrade it.

    A cap that is destroyed in the transaction that made it leaves no trace. One that is kept is
    among the created objects, or inside of one, or inside of an object that was changed: so there
    may be none of these but the `Locks`, which cannot hold it, and the coins that paid.
    """
    locks = [
        each.object_id
        for each in executed.created()
        if each.type.address == package_id
        and (each.type.module, each.type.name) == ("upgrade_lock", "Locks")
        and isinstance(each.owner, Shared)
    ]
    others = [
        object_id
        for object_id, change in executed.effects.changed_objects
        if isinstance(change.output, ObjectWrite) and object_id not in (*locks, *_coins(executed))
    ]
    if len(locks) != 1 or others:
        raise NotAllowedError(
            "lock_not_immutable",
            f"the transaction that published {package_id} did not make it immutable",
            hint="whoever has its UpgradeCap can replace its code: do not trust what it locks",
            details={"objects": [str(each) for each in others]},
        )
    return locks[0]


def _coins(executed: Executed) -> list[Address]:
    framework = SUI_FRAMEWORK
    return [
        object_id
        for object_id, kind in executed.types.items()
        if (kind.address, kind.module, kind.name) == (framework, "coin", "Coin")
    ]


def _address(_kind: type, text: object) -> Address:
    if not isinstance(text, str):
        raise TypeError("an address is a text")  # which `convert` says with the field
    return Address.parse(text)
