"""A deployment of the Move packages on a chain."""

from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from typing import Any, Self, TypeVar

from msgspec import Struct, convert, to_builtins
from msgspec import ValidationError as MsgspecError
from msgspec.structs import replace

from nexus_tools.contracts.compiled import PACKAGE_NAMES
from nexus_tools.contracts.move_bindings import TYPES, workflows
from nexus_tools.errors import NexusError, NotFoundError, ValidationError
from nexus_tools.sui.bcs import Codec
from nexus_tools.sui.bindings.runtime import Decoder, MoveStruct, Package, Types
from nexus_tools.sui.client import Executed
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MoveObject, Object
from nexus_tools.sui.types.type_tag import StructTag

Kind = TypeVar("Kind", bound=MoveStruct)


_NOUNS = {
    "Tool": ("a tool", "`nexus-tools tool list`"),
    "Leader": ("a leader", "`nexus-tools leader list`"),
    "Invocation": ("an invocation", "`nexus-tools tool outcome {}`"),
    "Dag": ("a workflow", "`nexus-tools workflow show {}`"),
    "Execution": ("an execution", "`nexus-tools workflow show {}`"),
    "Schedule": ("a schedule", "`nexus-tools schedule show {}`"),
}
"""Names of the types of objects whose IDs users know, and the commands that show the objects."""


class PackageKind(StrEnum):
    """The kinds of packages. The package of workflows depends on the package of tools."""

    TOOLS = "tools"
    WORKFLOWS = "workflows"


class Deployment(Struct, frozen=True):
    """The packages on one chain, with the IDs that every client needs.

    `package_id` is the newest version of the package of tools, which clients call. `original_id` is
    the first version of that package, which is part of the names of types and events. `upgrade_cap`
    is None if it is unknown. The fields `workflows_…` are the corresponding IDs of the package of
    workflows, or None if the package of workflows is not published.
    """

    package_id: Address
    original_id: Address
    tool_registry: Address
    leader_registry: Address
    admin: Address
    chain_id: str
    upgrade_cap: Address | None = None
    workflows_id: Address | None = None
    workflows_original_id: Address | None = None
    dag_registry: Address | None = None
    workflows_upgrade_cap: Address | None = None

    @classmethod
    def of(cls, executed: Executed, chain_id: str) -> Self:
        """Return the deployment of a transaction that published the package of tools.

        `upgrade_cap` is None if the transaction locked or destroyed the `UpgradeCap`. Raises
        `deployment_invalid`.
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

    def with_workflows(self, published: Executed, created: Executed) -> Self:
        """Return the deployment with the package of workflows and its registry.

        The transaction `published` published the package, and `created` created the registry.
        Raises `deployment_invalid`.
        """
        package = published.published()
        return replace(
            self,
            workflows_id=package,
            workflows_original_id=package,
            dag_registry=_only(created, "dag_registry", "DagRegistry"),
            workflows_upgrade_cap=next(iter(published.created_of("package", "UpgradeCap")), None),
        )

    def with_newest(self, newest_id: Address, part: PackageKind = PackageKind.TOOLS) -> Self:
        """Return the deployment with `newest_id` as the newest version of one of the packages."""
        return replace(
            self, **{"package_id" if part is PackageKind.TOOLS else "workflows_id": newest_id}
        )

    @classmethod
    def parse(cls, document: object) -> Self:
        """Parse the result of `as_json`. Raises `deployment_invalid` or `address_invalid`."""
        try:
            return convert(document, cls, dec_hook=_address)
        except MsgspecError as error:
            raise _invalid_error(str(error)) from None

    def as_json(self) -> dict[str, str | None]:
        """Return the deployment as a flat JSON document of strings."""
        document: dict[str, str | None] = to_builtins(self, enc_hook=str)
        return document

    @property
    def package(self) -> Package:
        """The IDs of the package of tools, in the form that its bindings expect."""
        return Package(self.package_id, self.original_id)

    @property
    def workflows(self) -> Package:
        """The IDs of the package of workflows, for its bindings. Raises `workflows_unknown`."""
        if self.workflows_id is None or self.workflows_original_id is None:
            raise _workflows_unknown_error()
        return Package(self.workflows_id, self.workflows_original_id)

    @property
    def packages(self) -> Sequence[tuple[Types, Package]]:
        """The bindings and the IDs of each published package."""
        tools = (TYPES, self.package)
        return (tools, (workflows.TYPES, self.workflows)) if self.workflows_id else (tools,)

    def by_name(self) -> dict[str, Package]:
        """Return the published packages by the names in their manifests."""
        return dict(zip(PACKAGE_NAMES, (package for _, package in self.packages), strict=False))

    @property
    def decoder(self) -> Decoder:
        """The decoder for objects and events of the packages."""
        return _decoder(*((package.id, package.original_id) for _, package in self.packages))

    def package_of(self, bound: object) -> Package:
        """Return the package of a generated class or function. Raises `workflows_unknown`."""
        return self.workflows if is_workflows_binding(bound) else self.package

    def type_of(self, kind: type[MoveStruct]) -> StructTag:
        """Return the type of a struct of the packages. Raises `workflows_unknown`."""
        return kind.type_tag(self.package_of(kind))

    def decode(self, value: Object, kind: type[Kind]) -> Kind:
        """Decode an object of the expected type. Raises `object_of_another_type`."""
        codec: Codec[Kind] = kind.bcs  # type: ignore[attr-defined]  # each generated class has it
        decoded: Kind = self._contents(value, self.type_of(kind), codec)
        return decoded

    def decode_entry(self, value: Object, kind: StructTag) -> Any:
        """Decode the value of a table entry from its field object, which has the type `kind`.

        Raises `object_of_another_type`.
        """
        return self._contents(value, kind, self.decoder.codec(kind)).value

    def _contents(self, value: Object, expected: StructTag, codec: Codec[Any]) -> Any:
        if not isinstance(value.data, MoveObject) or value.data.type != expected:
            raise self._other_type_error(value, expected)
        return codec.decode(value.data.contents)

    def _other_type_error(self, value: Object, expected: StructTag) -> ValidationError:
        """Return the error for an object of an unexpected type."""
        type_tag = value.data.type if isinstance(value.data, MoveObject) else None
        is_ours = type_tag and type_tag.address in (
            package.original_id for _, package in self.packages
        )
        actual_noun, command = (
            _NOUNS.get(type_tag.name, ("", "")) if type_tag and is_ours else ("", "")
        )
        expected_noun, _ = _NOUNS.get(expected.name, (f"{expected.module}::{expected.name}", ""))
        hint = "Check the ID, and whether the object belongs to this deployment."
        names = expected.module, expected.name
        if type_tag and not is_ours and (type_tag.module, type_tag.name) == names:
            message = f"{value.id} is {expected_noun} of another package, {type_tag.address}"
            hint = "Run `nexus-tools package show` to see the package that commands use."
            return ValidationError("object_of_another_type", message, hint=hint)
        if command:
            hint = f"Run {command.format(value.id)} to see it."
        actual = actual_noun or f"of the type {value.type or 'package'}"
        message = f"{value.id} is {actual}, not {expected_noun}"
        return ValidationError("object_of_another_type", message, hint=hint)

    def require_dag_registry(self) -> Address:
        """Return the ID of the registry of workflows. Raises `workflows_unknown`."""
        if self.dag_registry is None:
            raise _workflows_unknown_error()
        return self.dag_registry

    def package_of_kind(self, part: PackageKind) -> Package:
        """Return the IDs of one of the packages. Raises `workflows_unknown`."""
        return self.package if part is PackageKind.TOOLS else self.workflows

    def require_upgrade_cap(self, part: PackageKind = PackageKind.TOOLS) -> Address:
        """Return the ID of the `UpgradeCap` of a package. Raises `upgrade_cap_unknown`."""
        name = "upgrade_cap" if part is PackageKind.TOOLS else "workflows_upgrade_cap"
        cap: Address | None = getattr(self, name)
        if cap is None:
            raise NotFoundError(
                "upgrade_cap_unknown",
                "the deployment has no UpgradeCap",
                hint=f"Add {name} to the deployment. Only the owner of the UpgradeCap can upgrade.",
            )
        return cap


def is_workflows_binding(bound: object) -> bool:
    """Return whether a class or function is from the bindings of workflows."""
    return bound.__module__.startswith(f"{workflows.__name__}.")


@cache  # one decoder for each deployment, because a decoder caches its codecs
def _decoder(*ids: tuple[Address, Address]) -> Decoder:
    tools, *others = (Package(*pair) for pair in ids)
    return TYPES.at(tools, **dict(zip(("workflows",), others, strict=False)))


def _only(executed: Executed, module: str, name: str) -> Address:
    ids = executed.created_of(module, name)
    if len(ids) != 1:
        raise _invalid_error(
            f"the transaction created {len(ids)} objects of type {module}::{name}, expected one"
        )
    return ids[0]


def _address(_kind: type, text: object) -> Address:
    if not isinstance(text, str):
        raise TypeError("expected a string for an address")  # `convert` adds the field's name
    return Address.parse(text)


def _workflows_unknown_error() -> NexusError:
    return NotFoundError(
        "workflows_unknown",
        "the deployment does not have a workflow package",
        hint="Publish it with `nexus-tools package publish`, or find a published one with"
        " `nexus-tools package use`.",
    )


def _invalid_error(reason: str) -> NexusError:
    return ValidationError(
        "deployment_invalid", f"not a valid deployment of the packages: {reason}"
    )
