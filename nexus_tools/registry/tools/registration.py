"""The choice of the tools that are not registered yet, and the commands that register them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from msgspec.structs import astuple

from nexus_tools.contracts import Deployment, Sent, ToolState, require_owner
from nexus_tools.contracts.move_bindings import function as functions
from nexus_tools.contracts.move_bindings import tool as calls
from nexus_tools.contracts.move_bindings.definition import Definition, define, define_on_chain
from nexus_tools.contracts.move_bindings.function import Function
from nexus_tools.contracts.move_bindings.name import Name
from nexus_tools.contracts.move_bindings.name import share as share_name
from nexus_tools.contracts.move_bindings.tool_registry import ToolSettings
from nexus_tools.errors import NexusError, ValidationError, WrongStateError
from nexus_tools.registry.preconditions import (
    accepts_any_leader_error,
    check_key,
    check_registration_terms,
    signing_key_missing_error,
)
from nexus_tools.sui.bindings.runtime import Package
from nexus_tools.sui.support import units
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.transaction import Argument, Result
from nexus_tools.sui.types.type_tag import TypeTag
from nexus_tools.tool import MoveFunction, ToolDefinition, ToolFqn, canonical_json


class Declaration(NamedTuple):
    """The `0x2::package::Publisher` object and the witness that declare a function as a tool."""

    publisher: Address
    witness: TypeTag


@dataclass(frozen=True, slots=True)
class Registration:
    """A tool to register, and its terms.

    `price_mist` is the price of one invocation, at most half of the collateral. The price must be 0
    unless `leaders` lists the accepted leaders or the tool is on chain. The default of
    `collateral_mist` is the required minimum. `max_delay_ms` is the longest unregister delay to
    which the owner consents, by default the current delay. `keys` are Ed25519 public keys of 32
    bytes that verify the tool's responses. An on-chain tool has a `declaration`, which
    `ToolRegistry` creates from the wallet's objects. `Tool` describes the other fields.
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
        """The FQN of the tool."""
        return self.definition.fqn

    def required_collateral_mist(self, settings: ToolSettings) -> int:
        """Return the collateral in MIST that is locked under these settings."""
        return settings.collateral_mist if self.collateral_mist is None else self.collateral_mist

    def delay_ms(self, settings: ToolSettings) -> int:
        """Return the unregister delay in ms to which the owner consents."""
        return settings.unregister_delay_ms if self.max_delay_ms is None else self.max_delay_ms

    def on_chain_definition(self) -> Definition:
        """Return the definition as the chain stores it, with schemas in canonical JSON."""
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
    """Return the on-chain form of the function, in which type names do not start with `0x`."""
    return Function(
        function.type_name,
        function.type_arguments,
        tuple(map(Address.parse, function.objects)),
        function.gas_mist,
        function.closable_by_anyone,
    )


@dataclass(frozen=True, slots=True)
class RegisteredTool:
    """A tool after a call of `register`. `is_new` is whether that call registered the tool.

    `price_mist` is the price of an invocation. If the tool was already registered, its price does
    not change. Use `update` to change the price.
    """

    fqn: ToolFqn
    tool: Address
    is_new: bool
    price_mist: int


@dataclass(frozen=True, slots=True)
class RegisterResult:
    """The result of `register`. `sent` is None if all tools were already registered."""

    tools: tuple[RegisteredTool, ...]
    sent: Sent | None


@dataclass(frozen=True, slots=True)
class RegistrySnapshot:
    """The on-chain state of some tools by FQN, and of their unversioned names."""

    settings: ToolSettings
    tools: Mapping[ToolFqn, calls.Tool]
    names: Mapping[str, Name]


def missing_registrations(
    registrations: Sequence[Registration], view: RegistrySnapshot, sender: Address
) -> tuple[Registration, ...]:
    """Return the tools that are not registered yet.

    Raises an error if the chain would refuse a tool: `fqn_duplicate`, `schema_too_large`,
    `timeout_out_of_range`, `publisher_missing`, `collateral_too_small`, `delay_too_long`,
    `price_too_high`, `accepts_any_leader`, `signing_key_missing`, `public_key_invalid`,
    `not_accepting`, `name_taken`, `definition_differs` or `tool_not_active`.
    """
    results = []
    seen: set[ToolFqn] = set()
    for registration in registrations:
        if registration.fqn in seen:
            raise ValidationError("fqn_duplicate", f"{registration.fqn} is listed twice")
        seen.add(registration.fqn)
        _check_settings(registration, view.settings)
        _check_owner(registration.fqn, view, sender)
        existing = view.tools.get(registration.fqn)
        if existing is None:
            _check_terms(registration, view.settings)
            results.append(registration)
        else:
            _check_same(registration, existing)
    return tuple(results)


# A transaction has at most 128 KiB (`max_tx_size_bytes`), 512 arguments to a command
# (`max_arguments`), and 1 000 new dynamic fields (`object_runtime_max_num_store_entries`). A tool
# creates three fields, and its commands need about 600 bytes. The remaining bytes are for gas
# coins.
_BATCH_BYTES = 96 * 1024
_BATCH_TOOLS = 100
_COMMAND_BYTES = 700


def batches(registrations: Iterable[Registration]) -> list[tuple[Registration, ...]]:
    """Return groups of registrations that fit into one transaction each.

    All versions of a name stay in one group, because the first version creates the name object that
    later versions need.
    """
    groups: list[list[Registration]] = []
    free_bytes = 0
    names: defaultdict[str, list[Registration]] = defaultdict(list)
    for registration in registrations:
        names[registration.fqn.unversioned].append(registration)
    for versions in names.values():
        size = sum(map(_size, versions))
        if size > free_bytes or len(groups[-1]) + len(versions) > _BATCH_TOOLS:
            groups.append([])
            free_bytes = _BATCH_BYTES
        groups[-1] += versions
        free_bytes -= size
    return [tuple(group) for group in groups]


def _size(registration: Registration) -> int:
    """Return the approximate size of a registration in a transaction, in bytes."""
    texts = (
        part
        for part in astuple(registration.on_chain_definition())
        if isinstance(part, str | bytes)
    )
    return _COMMAND_BYTES + sum(
        len(text.encode() if isinstance(text, str) else text) for text in texts
    )


def add_registrations(
    builder: TransactionBuilder,
    deployment: Deployment,
    registrations: Sequence[Registration],
    view: RegistrySnapshot,
) -> None:
    """Add the commands that register these tools. New names belong to the sender."""
    package, registry = deployment.package, deployment.tool_registry
    settings = view.settings
    locked = [registration.required_collateral_mist(settings) for registration in registrations]
    coins = builder.split_coins(builder.gas, locked)
    names: dict[str, Address | Argument] = {name: owned.id for name, owned in view.names.items()}
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
    """Add the command that creates the definition. For an on-chain tool, first add its function."""
    fqn, tool_type, *fields, function = astuple(registration.on_chain_definition())
    if function is None:
        return define(builder, package, fqn, tool_type, *fields)
    function_argument = make_function(builder, package, registration)
    return define_on_chain(builder, package, fqn, function_argument, *fields)


def make_function(
    builder: TransactionBuilder, package: Package, registration: Registration
) -> Result:
    """Add the command that creates the function of a declared on-chain tool."""
    function, declaration = registration.on_chain_definition().function, registration.declaration
    assert function is not None
    assert declaration is not None
    publisher, witness = declaration
    return functions.new(builder, package, witness, publisher, *astuple(function)[1:])


def _add_signing(
    builder: TransactionBuilder,
    deployment: Deployment,
    registration: Registration,
    tool: Argument,
    name: Address | Argument,
) -> None:
    """Add the commands that set the keys and answer requirements of a tool before it is shared."""
    by_owner = (builder, deployment.package, tool, name)
    registry = deployment.tool_registry
    for key in registration.keys:
        calls.add_key(*by_owner, registry, key)
    if registration.requires_signed_outcome:
        calls.update_requires_signed_outcome(*by_owner, registry, True)
    if registration.min_outcome_bytes:
        calls.update_min_outcome_bytes(*by_owner, registry, registration.min_outcome_bytes)


def is_same_definition(definition: ToolDefinition, on_chain: Definition) -> bool:
    """Return whether a definition equals the on-chain definition, except for JSON formatting."""
    try:
        registered = on_chain.parse()
    except NexusError:
        return False
    return definition.has_same_interface(registered) and (
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
    fqn, definition = registration.fqn, registration.on_chain_definition()
    size = max(len(definition.input_schema), len(definition.output_schema))
    if size > settings.max_schema_bytes:
        raise ValidationError(
            "schema_too_large",
            f"{fqn} has a schema of {size} bytes, but the limit is {settings.max_schema_bytes}",
            hint="Shorten descriptions in the schema, or simplify it.",
        )
    is_closable_by_anyone = (
        definition.function is not None and definition.function.closable_by_anyone
    )
    shortest_ms, longest_ms = settings.min_timeout_ms, settings.max_timeout_ms
    expected = f"{shortest_ms} to {longest_ms} ms"
    if is_closable_by_anyone:
        longest_ms, expected = definition.timeout_ms, f"at least {shortest_ms} ms"
    if not shortest_ms <= definition.timeout_ms <= longest_ms:
        raise ValidationError(
            "timeout_out_of_range",
            f"{fqn} has a timeout of {definition.timeout_ms} ms, expected {expected}",
        )


def _check_terms(registration: Registration, settings: ToolSettings) -> None:
    fqn, locked_mist = registration.fqn, registration.required_collateral_mist(settings)
    check_registration_terms(settings, locked_mist, registration.delay_ms(settings), str(fqn))
    check_price(registration.price_mist, locked_mist, fqn)
    function = registration.definition.function
    if registration.price_mist and not registration.leaders and function is None:
        raise accepts_any_leader_error(str(fqn))
    if function is not None and registration.declaration is None:
        raise publisher_missing_error(fqn)
    for key in registration.keys:
        check_key(key)
    if registration.requires_signed_outcome and not registration.keys:
        raise signing_key_missing_error(str(fqn), "Create one with `nexus-tools tool key new`.")


def publisher_missing_error(fqn: ToolFqn | str) -> ValidationError:
    """Return the error for an on-chain tool whose module the wallet did not publish."""
    return ValidationError(
        "publisher_missing",
        f"the wallet does not own the Publisher object of the module of {fqn}",
        hint="Use the wallet that published the module. The module's `init` must call"
        " `package::claim_and_keep(otw, ctx)`.",
    )


def required_collateral_mist(settings: ToolSettings, price_mist: int) -> int:
    """Return the minimum collateral in MIST of a tool with this price."""
    return max(settings.collateral_mist, 2 * price_mist)


def check_price(
    price_mist: int, collateral_mist: int, fqn: ToolFqn | str, *, when: str = "registered"
) -> None:
    """Raise `price_too_high` for a price of more than half of the collateral.

    `when` is the part of the hint that says when the owner can lock more collateral.
    """
    if price_mist > collateral_mist // 2:
        raise ValidationError(
            "price_too_high",
            f"the price of {fqn} is too high: expected at most half of its collateral,"
            f" {units.sui(collateral_mist // 2)}, got {units.sui(price_mist)}",
            hint=f"Lower the price, or lock more collateral when the tool is {when}.",
        )


def _check_owner(fqn: ToolFqn, view: RegistrySnapshot, sender: Address) -> None:
    name = view.names.get(fqn.unversioned)
    if name is not None:
        hint = "Choose another domain or name, or sign with the wallet that owns it."
        subject = f"the name {fqn.unversioned}"
        require_owner(sender, name.owner.owner, subject, "name_taken", hint)


def _check_same(registration: Registration, existing: calls.Tool) -> None:
    if not is_same_definition(registration.definition, existing.definition):
        raise ValidationError(
            "definition_differs",
            f"{registration.fqn} is registered with a different definition",
            hint="Register it as the next version, or update its URL, description or timeout.",
        )
    if existing.state is not ToolState.ACTIVE:
        raise WrongStateError(
            "tool_not_active",
            f"{registration.fqn} is registered, but its state is {existing.state}",
            hint=f"To use the tool, {reactivation_hint(existing)}.",
        )


_REACTIVATION = {
    ToolState.ACTIVE: "",
    ToolState.SUSPENDED: "restore its collateral with `nexus-tools tool top-up {}`",
    ToolState.UNREGISTERED: "cancel the unregistration with"
    " `nexus-tools tool cancel-unregister {}`",
    ToolState.CLAIMED: "re-register it with `nexus-tools tool re-register {}`",
}


def reactivation_hint(tool: calls.Tool, *, as_owner: bool = True) -> str:
    """Return the instruction that makes a tool active again, for its owner or for others."""
    return _REACTIVATION[tool.state].format(tool.fqn if as_owner else f"{tool.fqn} --wallet OWNER")
