"""The deployment of `upgrade_lock` on a chain, and the verification of a published one."""

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
    """Return the package `upgrade_lock` that ships with this release. Raises `package_missing`."""
    return load_package(__package__)


class LockDeployment(Struct, frozen=True):
    """The package `upgrade_lock` on one chain.

    `package_id` is its only version, and `locks` is the object that creates all locks.
    """

    package_id: Address
    locks: Address
    chain_id: str

    @classmethod
    async def publish(cls, client: SuiClient, *, dry_run: bool = False) -> tuple[Sent, Self | None]:
        """Publish `upgrade_lock` as an immutable package. One publication per chain is enough.

        In a dry run, the deployment is None. Raises the errors of `SuiClient.execute`.
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
        """Return the deployment that the transaction of `publish` created."""
        (locks,) = published.created_of("upgrade_lock", "LockRegistry")
        return cls(published.published(), locks, await client.chain_id())

    @classmethod
    async def find(cls, client: SuiClient, package_id: Address) -> Self:
        """Return a published deployment. Verify that its modules are genuine and immutable.

        Raises `package_unknown`, `lock_not_genuine` or `lock_not_immutable`.
        """
        value = await client.object(package_id)
        publication = (
            None if value is None else await client.transaction(value.previous_transaction)
        )
        if value is None or publication is None or not isinstance(value.data, MovePackage):
            raise NotFoundError(
                "package_unknown",
                f"the package {package_id} does not exist on {client.network.name}",
                hint="Check the ID, or use a node that has the package's transaction.",
            )
        ours = load_lock_package().modules
        if compiled_modules(value, package_id) != set(ours) or value.data.version != 1:
            raise NotAllowedError(
                "lock_not_genuine",
                f"the package {package_id} is not the upgrade_lock of this nexus-tools release",
                hint="Do not trust its locks. Its publisher may be able to unlock packages.",
            )
        return cls(package_id, _only_locks(publication, package_id), await client.chain_id())

    @classmethod
    def parse(cls, document: object) -> Self:
        """Parse the result of `as_json`. Raises `deployment_invalid`."""
        try:
            return convert(document, cls, dec_hook=_address)
        except MsgspecError as error:
            reason = f"not a valid deployment of upgrade_lock: {error}"
            raise ValidationError("deployment_invalid", reason) from None

    def as_json(self) -> dict[str, str]:
        """Return the deployment as a flat JSON document of strings."""
        document: dict[str, str] = to_builtins(self, enc_hook=str)
        return document

    @property
    def package(self) -> Package:
        """The ID of the package, in the form that its bindings expect."""
        return Package.at(self.package_id)

    @property
    def packages(self) -> Sequence[tuple[Types, Package]]:
        """The bindings of the package, with its types and errors, and its ID."""
        return ((TYPES, self.package),)

    @property
    def decoder(self) -> Decoder:
        """The decoder for objects and events of the package."""
        return TYPES.at(self.package)


def _only_locks(executed: Executed, package_id: Address) -> Address:
    """Return the `LockRegistry` of the publishing transaction, if no `UpgradeCap` can still exist.

    If the transaction destroyed the cap, its effects do not show the cap. A cap that still exists
    is a created object, or is wrapped in a created or changed object. So the transaction may write
    only the `LockRegistry`, which cannot wrap the cap, and the coins that paid for the transaction.
    """
    locks = [
        created.object_id
        for created in executed.created()
        if created.type.address == package_id
        and (created.type.module, created.type.name) == ("upgrade_lock", "LockRegistry")
        and isinstance(created.owner, Shared)
    ]
    survivors = [
        object_id
        for object_id, change in executed.effects.changed_objects
        if isinstance(change.output, ObjectWrite) and object_id not in (*locks, *_coins(executed))
    ]
    if len(locks) != 1 or survivors:
        raise NotAllowedError(
            "lock_not_immutable",
            f"the transaction that published {package_id} did not make it immutable",
            hint="Do not trust its locks. The owner of its UpgradeCap can replace its code.",
            details={"objects": [str(address) for address in survivors]},
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
        raise TypeError("expected a string for an address")  # `convert` adds the field's name
    return Address.parse(text)
