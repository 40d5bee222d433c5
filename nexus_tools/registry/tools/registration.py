"""Planning registrations: what has to be done for one or many definitions, in one transaction."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from msgspec.structs import astuple

from nexus_tools.contracts import Deployment, ToolState, require_owner
from nexus_tools.contracts.move_bindings import function as functions
from nexus_tools.contracts.move_bindings import tool as calls
from nexus_tools.contracts.move_bindings.definition import Definition, define, define_on_chain
from nexus_tools.contracts.move_bindings.function import Function
from nexus_tools.contracts.move_bindings.name import Name
from nexus_tools.contracts.move_bindings.name import share as share_name
from nexus_tools.contracts.move_bindings.tool_registry import ToolSettings
from nexus_tools.errors import NexusError, NotNowError, ValidationError
from nexus_tools.registry.preconditions import check_key, check_terms
from nexus_tools.sui.bindings.runtime import Package
from nexus_tools.sui.support import units
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.transaction import Argument, Result
from nexus_tools.sui.types.type_tag import TypeTag
from nexus_tools.tool import MoveFunction, ToolDefinition, ToolFqn, canonical_json


class Declaration(NamedTuple):
    """By which object, a `0x2::package::Publisher`, and with which witness a function is a tool."""

    publisher: Address
    witness: TypeTag


@dataclass(frozen=True, slots=True)
class Registration:
    """What is to be registered, and under which terms.

    `price_mist` is the price of one invocation: at most half of the collateral, and only with
    `leaders` to whom alone the tool gives its answers. Without `collateral_mist` it is the least
    that the registry takes. The owner consents to an unregister delay of `max_delay_ms`: without
    it, to that of the moment of sending. `keys` are the Ed25519 keys, of 32 bytes each, that sign
    the tool's responses. An on-chain tool has a `declaration`, which `ToolRegistry` finds in the
    wallet. What else there is is as of `Tool`.
    """

    definition: ToolDefinition
    price_mist: int = 0
    collateral_mist: int | None = None
    max_delay_ms: int | None = None
    leaders: tuple[Address, ...] = ()
    keys: tuple[bytes, ...] = ()
    min_outcome_bytes: int = 0
    requires_signed_outcome: bool = False
    declaration: Declaration | None = None

    @property
    def fqn(self) -> ToolFqn:
        """The FQN."""
        return self.definition.fqn

    def locks_mist(self, settings: ToolSettings) -> int:
        """The collateral that is locked under these settings."""
        return settings.collateral_mist if self.collateral_mist is None else self.collateral_mist

    def delay_ms(self, settings: ToolSettings) -> int:
        """The unregister delay to which the owner consents."""
        return settings.unregister_delay_ms if self.max_delay_ms is None else self.max_delay_ms

    def on_chain(self) -> Definition:
        """The definition as the chain keeps it: schemas in canonical JSON."""
        definition = self.definition
        return Definition(
            str(definition.fqn),
            definition.type.value,
            definition.url,
            definition.description,
            canonical_json(definition.input_schema),
            canonical_json(definition.output_schema),
            definition.timeout_ms,
            None if definition.function is None else _function(definition.function),
        )


def _function(function: MoveFunction) -> Function:
    """As the chain keeps it: Move writes types without `0x`."""
    return Function(
        function.type_name,
        function.type_arguments,
        tuple(map(Address.parse, function.objects)),
        function.gas_mist,
        function.for_anyone,
    )


@dataclass(frozen=True, slots=True)
class RegistryView:
    """What the chain has of these names: tools by FQN, and the unversioned names."""

    settings: ToolSettings
    tools: Mapping[ToolFqn, calls.Tool]
    names: Mapping[str, Name]


def registrations_to_send(
    registrations: Sequence[Registration], view: RegistryView, sender: Address
) -> tuple[Registration, ...]:
    """Those that are not registered yet.

    Raises, in words, what the chain would refuse: `fqn_repeated`, `definition_too_large`,
    `timeout_out_of_range`, `publisher_missing`, `collateral_too_small`, `delay_too_long`,
    `price_too_high`, `open_to_all`, `key_needed`, `public_key_invalid`, `not_accepting`,
    `name_taken`, `definition_differs`, `tool_not_active`.
    """
    missing = []
    seen: set[ToolFqn] = set()
    for registration in registrations:
        if registration.fqn in seen:
            raise ValidationError("fqn_repeated", f"{registration.fqn} is to be registered twice")
        seen.add(registration.fqn)
        _check_settings(registration, view.settings)
        _check_owner(registration.fqn, view, sender)
        existing = view.tools.get(registration.fqn)
        if existing is None:
            _check_terms(registration, view.settings)
            missing.append(registration)
        else:
            _check_same(registration, existing)
    return tuple(missing)


# A transaction has at most 128 KiB, 512 arguments to a command and 1 000 new fields of objects, of
# which a tool makes three (`max_tx_size_bytes`, `max_arguments`,
# `object_runtime_max_num_store_entries`). Its commands take about 600 bytes; what is left over of
# the 128 KiB is for the coins that pay.
_BATCH_BYTES = 96 * 1024
_BATCH_TOOLS = 100
_BYTES_OF_COMMANDS = 700


def batches(registrations: Iterable[Registration]) -> list[tuple[Registration, ...]]:
    """Parts that fit into one transaction each.

    The versions of a name stay together: the later ones need the name that the first makes.
    """
    parts: list[list[Registration]] = []
    room = 0
    names: defaultdict[str, list[Registration]] = defaultdict(list)
    for registration in registrations:
        names[registration.fqn.unversioned].append(registration)
    for versions in names.values():
        size = sum(map(_size, versions))
        if size > room or len(parts[-1]) + len(versions) > _BATCH_TOOLS:
            parts.append([])
            room = _BATCH_BYTES
        parts[-1] += versions
        room -= size
    return [tuple(part) for part in parts]


def _size(registration: Registration) -> int:
    """About how many bytes of a transaction it takes."""
    texts = (part for part in astuple(registration.on_chain()) if isinstance(part, str | bytes))
    return _BYTES_OF_COMMANDS + sum(
        len(text.encode() if isinstance(text, str) else text) for text in texts
    )


def add_registrations(
    builder: TransactionBuilder,
    deployment: Deployment,
    registrations: Sequence[Registration],
    view: RegistryView,
) -> None:
    """All the commands that register these tools; new names become the sender's."""
    package, registry = deployment.package, deployment.tool_registry
    settings = view.settings
    locked = [registration.locks_mist(settings) for registration in registrations]
    coins = builder.split_coins(builder.gas, locked)
    names: dict[str, Address | Argument] = {name: found.id for name, found in view.names.items()}
    new_names: list[Argument] = []
    for index, registration in enumerate(registrations):
        unversioned = registration.fqn.unversioned
        definition = _define(builder, package, registration)
        terms = (
            coins[index],
            registration.delay_ms(settings),
            definition,
            registration.price_mist,
            registration.leaders,
        )
        tool: Argument
        if unversioned in names:
            tool = calls.register_version(builder, package, registry, names[unversioned], *terms)
        else:
            tool, name = calls.register(builder, package, registry, *terms)
            names[unversioned] = name
            new_names.append(name)
        _add_signing(builder, deployment, registration, tool, names[unversioned])
        calls.share(builder, package, tool)
    for name in new_names:
        share_name(builder, package, name)


def _define(builder: TransactionBuilder, package: Package, registration: Registration) -> Result:
    """The command that makes the definition; an on-chain one needs the function before."""
    fqn, kind, *rest, function = astuple(registration.on_chain())
    if function is None:
        return define(builder, package, fqn, kind, *rest)
    made = make_function(builder, package, registration)
    return define_on_chain(builder, package, fqn, made, *rest)


def make_function(
    builder: TransactionBuilder, package: Package, registration: Registration
) -> Result:
    """The command that makes the function of an on-chain tool that is declared."""
    function, declaration = registration.on_chain().function, registration.declaration
    assert function is not None
    assert declaration is not None
    publisher, witness = declaration
    return functions.of(builder, package, witness, publisher, *astuple(function)[1:])


def _add_signing(
    builder: TransactionBuilder,
    deployment: Deployment,
    registration: Registration,
    tool: Argument,
    name: Address | Argument,
) -> None:
    """The commands that give a tool that is not shared yet its keys and terms of answers."""
    by_owner = (builder, deployment.package, tool, name)
    registry = deployment.tool_registry
    for key in registration.keys:
        calls.add_key(*by_owner, registry, key)
    if registration.requires_signed_outcome:
        calls.update_requires_signed_outcome(*by_owner, registry, True)
    if registration.min_outcome_bytes:
        calls.update_min_outcome_bytes(*by_owner, registry, registration.min_outcome_bytes)


def same_definition(definition: ToolDefinition, on_chain: Definition) -> bool:
    """Whether a definition is the one on chain, however its schemas are spelled there."""
    try:
        registered = on_chain.parse()
    except NexusError:
        return False
    return definition.has_interface_of(registered) and (
        definition.type,
        definition.url,
        definition.description,
        definition.timeout_ms,
        definition.function,
    ) == (
        registered.type,
        registered.url,
        registered.description,
        registered.timeout_ms,
        registered.function,
    )


def _check_settings(registration: Registration, settings: ToolSettings) -> None:
    fqn, definition = registration.fqn, registration.on_chain()
    size = max(len(definition.input_schema), len(definition.output_schema))
    if size > settings.max_schema_bytes:
        raise ValidationError(
            "schema_too_large",
            f"{fqn} has a schema of {size} bytes, the registry takes {settings.max_schema_bytes}",
            hint="shorten descriptions in the schema, or simplify it",
        )
    is_for_anyone = definition.function is not None and definition.function.for_anyone
    longest_ms = definition.timeout_ms if is_for_anyone else settings.max_timeout_ms
    if not settings.min_timeout_ms <= definition.timeout_ms <= longest_ms:
        raise ValidationError(
            "timeout_out_of_range",
            f"{fqn} has a timeout of {definition.timeout_ms} ms, the registry takes"
            f" {settings.min_timeout_ms} to {settings.max_timeout_ms} ms",
        )


def _check_terms(registration: Registration, settings: ToolSettings) -> None:
    fqn, locked_mist = registration.fqn, registration.locks_mist(settings)
    check_terms(settings, locked_mist, registration.delay_ms(settings), str(fqn))
    check_price(registration.price_mist, locked_mist, fqn)
    function = registration.definition.function
    if registration.price_mist and not registration.leaders and function is None:
        raise open_to_all(fqn)
    if function is not None and registration.declaration is None:
        raise publisher_missing(fqn)
    for key in registration.keys:
        check_key(key)
    if registration.requires_signed_outcome and not registration.keys:
        raise ValidationError(
            "key_needed",
            f"the answers of {fqn} are to be signed, and it has no key",
            hint="`nexus-tools tool key new` makes one",
        )


def publisher_missing(fqn: ToolFqn | str) -> ValidationError:
    """The error for an on-chain tool that is not declared by whoever published its module."""
    return ValidationError(
        "publisher_missing",
        f"the wallet has no Publisher of the module that {fqn} is in",
        hint="use the wallet that published the module, whose `init` keeps one:"
        " `package::claim_and_keep(otw, ctx)`",
    )


def open_to_all(fqn: ToolFqn | str) -> ValidationError:
    """The error for a tool that is to have a price and is open to all leaders."""
    return ValidationError(
        "open_to_all",
        f"{fqn} is to have a price, and is open to all leaders: it gives answers before it is paid",
        hint="name leaders that you trust: `nexus-tools leader list` shows the record of each",
    )


def check_price(
    price_mist: int, collateral_mist: int, fqn: ToolFqn | str, *, when: str = "registered"
) -> None:
    """Raises `price_too_high` for what is more than half of the collateral.

    `when` is at which verb more collateral can be locked.
    """
    if price_mist > collateral_mist // 2:
        raise ValidationError(
            "price_too_high",
            f"an invocation of {fqn} costs at most half of its collateral:"
            f" {units.sui(collateral_mist // 2)}, not {units.sui(price_mist)}",
            hint=f"ask for less, or lock more collateral when it is {when}",
        )


def _check_owner(fqn: ToolFqn, view: RegistryView, sender: Address) -> None:
    name = view.names.get(fqn.unversioned)
    if name is not None:
        hint = "choose another domain or name, or sign with the wallet that owns it"
        right = f"the name {fqn.unversioned}"
        require_owner(sender, name.owner.owner, right, "name_taken", hint)


def _check_same(registration: Registration, existing: calls.Tool) -> None:
    if not same_definition(registration.definition, existing.definition):
        raise ValidationError(
            "definition_differs",
            f"{registration.fqn} is registered with another definition",
            hint="register it as the next version, or update what may change:"
            " url, description, timeout",
        )
    if existing.state is not ToolState.ACTIVE:
        raise NotNowError(
            "tool_not_active",
            f"{registration.fqn} is registered already, but {existing.state}",
            hint=how_to_revive(existing),
        )


_REVIVAL = {
    ToolState.ACTIVE: "",
    ToolState.SUSPENDED: "top its collateral up: `nexus-tools tool top-up {}`",
    ToolState.UNREGISTERED: "cancel the unregistration: `nexus-tools tool cancel-unregister {}`",
    ToolState.CLAIMED: "re-register it: `nexus-tools tool re-register {}`",
}


def how_to_revive(tool: calls.Tool, *, as_owner: bool = True) -> str:
    """What makes a tool active again, for its owner or for somebody who has to ask for it."""
    return _REVIVAL[tool.state].format(tool.fqn if as_owner else f"{tool.fqn} --wallet OWNER")
