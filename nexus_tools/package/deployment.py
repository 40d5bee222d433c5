"""A deployment of the Move package on some chain."""

from functools import cache
from typing import Any, Self, TypeVar

from msgspec import Struct, convert, to_builtins
from msgspec import ValidationError as MsgspecError
from msgspec.structs import replace

from nexus_tools.bindings.runtime import Decoder, MoveStruct, Package, Types
from nexus_tools.client import Executed
from nexus_tools.errors import NexusError, NotFoundError, ValidationError
from nexus_tools.package.move import TYPES
from nexus_tools.sui.address import Address
from nexus_tools.sui.bcs import Codec
from nexus_tools.sui.object import MoveObject, Object
from nexus_tools.sui.type_tag import StructTag

Kind = TypeVar("Kind", bound=MoveStruct)


class Deployment(Struct, frozen=True):
    """The package on one chain, with the ids that everyone needs.

    `package_id` is the newest version, whose functions are called; `original_id` the first one,
    which names the types and events. The upgrade cap is None where it is not known.
    """

    package_id: Address
    original_id: Address
    tool_registry: Address
    leader_registry: Address
    admin: Address
    chain_id: str
    upgrade_cap: Address | None = None

    @classmethod
    def of(cls, executed: Executed, chain_id: str) -> Self:
        """What a transaction that published it has made. Raises `deployment_invalid`.

        It has no `UpgradeCap` if the transaction locked it away, or destroyed it.
        """
        package = executed.published()
        return cls(
            package,
            package,
            _only(executed, "tool_registry", "ToolRegistry"),
            _only(executed, "leader_registry", "LeaderRegistry"),
            _only(executed, "admin", "Admin"),
            chain_id,
            next(iter(executed.created_of("package", "UpgradeCap")), None),
        )

    def at(self, package_id: Address) -> Self:
        """The deployment with another newest version."""
        return replace(self, package_id=package_id)

    @classmethod
    def parse(cls, document: object) -> Self:
        """Read what `as_json` gave. Raises `deployment_invalid` or `address_invalid`."""
        try:
            return convert(document, cls, dec_hook=_address)
        except MsgspecError as error:
            raise _invalid(str(error)) from None

    def as_json(self) -> dict[str, str | None]:
        """The deployment as a document of flat texts."""
        document: dict[str, str | None] = to_builtins(self, enc_hook=str)
        return document

    @property
    def package(self) -> Package:
        """The package, as its bindings take it."""
        return Package(self.package_id, self.original_id)

    @property
    def types(self) -> Types:
        """The types and errors of the package, as its bindings have them."""
        return TYPES

    @property
    def decoder(self) -> Decoder:
        """What decodes objects and events of the package."""
        return _decoder(self.package_id, self.original_id)

    def type_of(self, kind: type[MoveStruct]) -> StructTag:
        """The type of a struct of the package."""
        return kind.type_tag(self.package)

    def decode(self, value: Object, kind: type[Kind]) -> Kind:
        """An object as the value that it has to be. Raises `object_of_another_type`."""
        codec: Codec[Kind] = kind.bcs  # type: ignore[attr-defined]  # each generated class has it
        decoded: Kind = self._contents(value, kind.type_tag(self.package), codec)
        return decoded

    def decode_entry(self, value: Object, kind: StructTag) -> Any:
        """The value of an entry of a table, from the object of this type that it is in.

        Raises `object_of_another_type`.
        """
        return self._contents(value, kind, self.decoder.codec(kind)).value

    def _contents(self, value: Object, expected: StructTag, codec: Codec[Any]) -> Any:
        if not isinstance(value.data, MoveObject) or value.data.type != expected:
            raise ValidationError(
                "object_of_another_type",
                f"{value.id} is of the type {value.type or 'package'},"
                f" not {expected.module}::{expected.name}",
                hint="check the id, and that the deployment is the one that made the object",
            )
        return codec.decode(value.data.contents)

    def require_upgrade_cap(self) -> Address:
        """The `UpgradeCap`. Raises `upgrade_cap_unknown`."""
        if self.upgrade_cap is None:
            raise NotFoundError(
                "upgrade_cap_unknown",
                "the deployment does not say which object is the UpgradeCap",
                hint="add upgrade_cap to the deployment: only its owner can do this",
            )
        return self.upgrade_cap


@cache  # a decoder keeps the codecs that it has made
def _decoder(package_id: Address, original_id: Address) -> Decoder:
    return TYPES.at(Package(package_id, original_id))


def _only(executed: Executed, module: str, name: str) -> Address:
    found = executed.created_of(module, name)
    if len(found) != 1:
        raise _invalid(f"the transaction made {len(found)} objects of {module}::{name}, not one")
    return found[0]


def _address(_kind: type, text: object) -> Address:
    if not isinstance(text, str):
        raise TypeError("an address is a text")  # which `convert` says with the field
    return Address.parse(text)


def _invalid(reason: str) -> NexusError:
    return ValidationError("deployment_invalid", f"this is no deployment of the package: {reason}")
