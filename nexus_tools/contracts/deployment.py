"""A deployment of the Move packages on some chain."""

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
"""Objects that people have ids of, and the commands that show them."""


class Part(StrEnum):
    """Which of our packages: the one of tools, or the one of workflows, which uses it."""

    TOOLS = "tools"
    WORKFLOWS = "workflows"


class Deployment(Struct, frozen=True):
    """The packages on one chain, with the ids that everyone needs.

    `package_id` is the newest version, whose functions are called; `original_id` the first one,
    which names the types and events. The upgrade cap is None where it is not known. The package of
    workflows has such ids, too: None where it is not published.
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
        """What a transaction has made that published the package of tools.

        Raises `deployment_invalid`.

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

    def with_workflows(self, published: Executed, created: Executed) -> Self:
        """The same, with the package of workflows, and its registry, of two transactions.

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

    def at(self, newest_id: Address, part: Part = Part.TOOLS) -> Self:
        """The deployment with another newest version of one of the packages."""
        return replace(self, **{"package_id" if part is Part.TOOLS else "workflows_id": newest_id})

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
        """The package of tools, as its bindings take it."""
        return Package(self.package_id, self.original_id)

    @property
    def workflows(self) -> Package:
        """The package of workflows, as its bindings take it. Raises `workflows_unknown`."""
        if self.workflows_id is None or self.workflows_original_id is None:
            raise _no_workflows()
        return Package(self.workflows_id, self.workflows_original_id)

    @property
    def packages(self) -> Sequence[tuple[Types, Package]]:
        """The packages that are published, and their types and errors."""
        tools = (TYPES, self.package)
        return (tools, (workflows.TYPES, self.workflows)) if self.workflows_id else (tools,)

    def by_name(self) -> dict[str, Package]:
        """The packages by the names that manifests have for them."""
        return dict(zip(PACKAGE_NAMES, (package for _, package in self.packages), strict=False))

    @property
    def decoder(self) -> Decoder:
        """What decodes objects and events of the packages."""
        return _decoder(*((package.id, package.original_id) for _, package in self.packages))

    def package_of(self, bound: object) -> Package:
        """The package whose bindings a class or function is from. Raises `workflows_unknown`."""
        return self.workflows if is_of_workflows(bound) else self.package

    def type_of(self, kind: type[MoveStruct]) -> StructTag:
        """The type of a struct of the packages. Raises `workflows_unknown`."""
        return kind.type_tag(self.package_of(kind))

    def decode(self, value: Object, kind: type[Kind]) -> Kind:
        """An object as the value that it has to be. Raises `object_of_another_type`."""
        codec: Codec[Kind] = kind.bcs  # type: ignore[attr-defined]  # each generated class has it
        decoded: Kind = self._contents(value, self.type_of(kind), codec)
        return decoded

    def decode_entry(self, value: Object, kind: StructTag) -> Any:
        """The value of an entry of a table, from the object of this type that it is in.

        Raises `object_of_another_type`.
        """
        return self._contents(value, kind, self.decoder.codec(kind)).value

    def _contents(self, value: Object, expected: StructTag, codec: Codec[Any]) -> Any:
        if not isinstance(value.data, MoveObject) or value.data.type != expected:
            raise self._other(value, expected)
        return codec.decode(value.data.contents)

    def _other(self, value: Object, expected: StructTag) -> ValidationError:
        """The error that an object is something else, which may be of ours, too."""
        kind = value.data.type if isinstance(value.data, MoveObject) else None
        is_ours = kind and kind.address in (each.original_id for _, each in self.packages)
        noun, command = _NOUNS.get(kind.name, ("", "")) if kind and is_ours else ("", "")
        wanted, _ = _NOUNS.get(expected.name, (f"{expected.module}::{expected.name}", ""))
        hint = "check the id, and that the deployment is the one that made the object"
        if command:
            hint = f"{command.format(value.id)} shows it"
        is_what = noun or f"of the type {value.type or 'package'}"
        message = f"{value.id} is {is_what}, not {wanted}"
        return ValidationError("object_of_another_type", message, hint=hint)

    def require_dag_registry(self) -> Address:
        """The registry of workflows. Raises `workflows_unknown`."""
        if self.dag_registry is None:
            raise _no_workflows()
        return self.dag_registry

    def part(self, part: Part) -> Package:
        """One of the packages. Raises `workflows_unknown`."""
        return self.package if part is Part.TOOLS else self.workflows

    def require_upgrade_cap(self, part: Part = Part.TOOLS) -> Address:
        """The `UpgradeCap` of one of the packages. Raises `upgrade_cap_unknown`."""
        name = "upgrade_cap" if part is Part.TOOLS else "workflows_upgrade_cap"
        cap: Address | None = getattr(self, name)
        if cap is None:
            raise NotFoundError(
                "upgrade_cap_unknown",
                "the deployment does not say which object is the UpgradeCap",
                hint=f"add {name} to the deployment: only its owner can do this",
            )
        return cap


def is_of_workflows(bound: object) -> bool:
    """Whether a class or function is from the bindings of workflows."""
    return bound.__module__.startswith(f"{workflows.__name__}.")


@cache  # a decoder keeps the codecs that it has made
def _decoder(*ids: tuple[Address, Address]) -> Decoder:
    tools, *more = (Package(*each) for each in ids)
    return TYPES.at(tools, **dict(zip(("workflows",), more, strict=False)))


def _only(executed: Executed, module: str, name: str) -> Address:
    found = executed.created_of(module, name)
    if len(found) != 1:
        raise _invalid(f"the transaction made {len(found)} objects of {module}::{name}, not one")
    return found[0]


def _address(_kind: type, text: object) -> Address:
    if not isinstance(text, str):
        raise TypeError("an address is a text")  # which `convert` says with the field
    return Address.parse(text)


def _no_workflows() -> NexusError:
    return NotFoundError(
        "workflows_unknown",
        "the deployment says of no package of workflows",
        hint="`nexus-tools package publish` publishes it beside that of tools, and"
        " `nexus-tools package use` finds it where it is published",
    )


def _invalid(reason: str) -> NexusError:
    return ValidationError("deployment_invalid", f"this is no deployment of the package: {reason}")
