"""The Move package as bytes that ship with us, and a deployment of it on some chain."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from nexus_tools.bindings.runtime import Field, MoveStruct, Package
from nexus_tools.client import Executed
from nexus_tools.errors import NexusError, NotFoundError, ValidationError
from nexus_tools.sui.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.bcs import Codec, u8
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.object import MoveObject, Object
from nexus_tools.sui.type_tag import StructTag

K = TypeVar("K")
V = TypeVar("V")
Kind = TypeVar("Kind", bound=MoveStruct)

_COMPATIBLE = 0  # `sui::package::COMPATIBLE`


@dataclass(frozen=True, slots=True)
class CompiledPackage:
    """Modules in the order of their dependencies, and the packages that they are linked to.

    `digest` is the package digest that an upgrade has to name; `sources_digest` and `compiler` say
    what it was made from and with.
    """

    modules: tuple[bytes, ...]
    dependencies: tuple[Address, ...]
    digest: bytes
    sources_digest: str
    compiler: str


@cache
def load_package() -> CompiledPackage:
    """The package that ships with this release. Raises `package_missing`."""
    folder = files("nexus_tools.package") / "bytecode"
    try:
        document = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        modules = tuple((folder / f"{name}.mv").read_bytes() for name in document["modules"])
    except (FileNotFoundError, KeyError) as error:
        raise NotFoundError(
            "package_missing",
            f"the compiled Move package is not installed: {error}",
            hint="install nexus-tools again, or compile the package from its sources",
        ) from error
    return CompiledPackage(
        modules,
        tuple(map(Address.parse, document["dependencies"])),
        bytes.fromhex(document["digest"]),
        document["sources_digest"],
        document["compiler"],
    )


def publish(builder: TransactionBuilder, package: CompiledPackage, admin: Address) -> None:
    """Publish a package and give its `UpgradeCap` to `admin`; the `AdminCap` is the sender's."""
    upgrade_cap = builder.publish(package.modules, package.dependencies)
    builder.transfer_objects([upgrade_cap], admin)


def upgrade(
    builder: TransactionBuilder, package: CompiledPackage, deployment: "Deployment"
) -> None:
    """Publish a package as the next version of the deployed one, which it has to be compatible to.

    Afterwards `Deployment.upgraded` names the new version, and `Publisher.migrate` makes older
    versions stop. Raises `upgrade_cap_unknown`.
    """
    if deployment.upgrade_cap is None:
        raise NotFoundError(
            "upgrade_cap_unknown",
            "the deployment does not say which object is the UpgradeCap",
            hint="add upgrade_cap to the deployment: only its owner can upgrade",
        )
    cap = builder.object(deployment.upgrade_cap)
    policy, digest = builder.pure(u8, _COMPATIBLE), builder.byte_vector(package.digest)
    framework = (SUI_FRAMEWORK, "package")
    ticket = builder.move_call(*framework, "authorize_upgrade", [cap, policy, digest])
    receipt = builder.upgrade(package.modules, package.dependencies, deployment.package_id, ticket)
    builder.move_call(*framework, "commit_upgrade", [cap, receipt])


@dataclass(frozen=True, slots=True)
class Deployment:
    """The package on one chain, with the ids that everyone needs.

    `package_id` is the newest version, whose functions are called; `original_id` the first one,
    which names the types and events. The caps are None where they are not known.
    """

    package_id: Address
    original_id: Address
    tool_registry: Address
    leader_registry: Address
    admin_cap: Address | None
    upgrade_cap: Address | None
    chain_id: str

    @classmethod
    def of(cls, executed: Executed, chain_id: str) -> "Deployment":
        """What a transaction with `publish` has made. Raises `deployment_invalid`."""
        package = executed.published()
        return cls(
            package,
            package,
            _only(executed, "tool_registry", "ToolRegistry"),
            _only(executed, "leader_registry", "LeaderRegistry"),
            _only(executed, "admin", "AdminCap"),
            _only(executed, "package", "UpgradeCap"),
            chain_id,
        )

    def upgraded(self, executed: Executed) -> "Deployment":
        """The deployment after a transaction with `upgrade`. Raises `nothing_published`."""
        return replace(self, package_id=executed.published())

    @classmethod
    def parse(cls, document: object) -> "Deployment":
        """Read what `as_json` gave. Raises `deployment_invalid`."""
        if not isinstance(document, Mapping):
            raise _invalid("it is no JSON object")
        try:
            return cls(
                _address(document, "package_id"),
                _address(document, "original_id"),
                _address(document, "tool_registry"),
                _address(document, "leader_registry"),
                _optional_address(document, "admin_cap"),
                _optional_address(document, "upgrade_cap"),
                str(document["chain_id"]),
            )
        except KeyError as error:
            raise _invalid(f"{error} is missing") from None

    def as_json(self) -> dict[str, str | None]:
        """The deployment as a document of flat texts."""
        return {
            "package_id": str(self.package_id),
            "original_id": str(self.original_id),
            "tool_registry": str(self.tool_registry),
            "leader_registry": str(self.leader_registry),
            "admin_cap": None if self.admin_cap is None else str(self.admin_cap),
            "upgrade_cap": None if self.upgrade_cap is None else str(self.upgrade_cap),
            "chain_id": self.chain_id,
        }

    @property
    def package(self) -> Package:
        """The package, as its bindings take it."""
        return Package(self.package_id, self.original_id)

    def type_of(self, kind: type[MoveStruct]) -> StructTag:
        """The type of a struct of the package."""
        return kind.type_tag(self.package)

    def decode(self, value: Object, kind: type[Kind]) -> Kind:
        """An object as the value that it has to be. Raises `object_of_another_type`."""
        codec: Codec[Kind] = kind.bcs  # type: ignore[attr-defined]  # each generated class has it
        decoded: Kind = self._contents(value, kind.type_tag(self.package), codec)
        return decoded

    def decode_entry(self, value: Object, name: Codec[K], entry: Codec[V], kind: StructTag) -> V:
        """The value of an entry of a table, from the object that it is in.

        `kind` is the type of that object. Raises `object_of_another_type`.
        """
        field: Field[K, V] = self._contents(value, kind, _entry_codec(name, entry))
        return field.value

    def _contents(self, value: Object, expected: StructTag, codec: Codec[Any]) -> Any:
        if not isinstance(value.data, MoveObject) or value.data.type != expected:
            raise ValidationError(
                "object_of_another_type",
                f"{value.id} is a {value.type or 'package'},"
                f" not a {expected.module}::{expected.name}",
                hint="check the id, and that the deployment is the one that made the object",
            )
        return codec.decode(value.data.contents)

    def require_admin_cap(self) -> Address:
        """The `AdminCap`. Raises `admin_cap_unknown`."""
        if self.admin_cap is None:
            raise NotFoundError(
                "admin_cap_unknown",
                "the deployment does not say which object is the AdminCap",
                hint="add admin_cap to the deployment: only its owner can do this",
            )
        return self.admin_cap


@cache  # making a codec costs more than decoding a hundred entries with it
def _entry_codec(name: Codec[Any], entry: Codec[Any]) -> Codec[Any]:
    return Field.bcs(name, entry)


def _only(executed: Executed, module: str, name: str) -> Address:
    found = executed.created_of(module, name)
    if len(found) != 1:
        raise _invalid(f"the transaction made {len(found)} objects of {module}::{name}, not one")
    return found[0]


def _address(document: Mapping[str, Any], name: str) -> Address:
    value = document[name]
    if not isinstance(value, str):
        raise _invalid(f"{name} is no text")
    return Address.parse(value)


def _optional_address(document: Mapping[str, Any], name: str) -> Address | None:
    return None if document.get(name) is None else _address(document, name)


def _invalid(reason: str) -> NexusError:
    return ValidationError("deployment_invalid", f"this is no deployment of the package: {reason}")
