"""Changes of a registered tool, checked and combined into one transaction."""

from dataclasses import dataclass, replace

from nexus_tools.contracts import Deployment
from nexus_tools.contracts.move_bindings import tool as calls
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.registry.preconditions import accepts_any_leader_error, signing_key_missing_error
from nexus_tools.registry.tools.registration import (
    Registration,
    check_price,
    make_function,
    publisher_missing_error,
)
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import parse_struct_tag
from nexus_tools.tool import MoveFunction, ToolDefinition


@dataclass(frozen=True, slots=True)
class ToolChanges:
    """The new values of a tool's fields. A field that is None does not change.

    A new function of an on-chain tool must have the same witness, and needs a declaration, which is
    part of `declaring_registration`.
    """

    url: str | None = None
    description: str | None = None
    timeout_ms: int | None = None
    price_mist: int | None = None
    payout: Address | None = None
    min_outcome_bytes: int | None = None
    requires_signed_outcome: bool | None = None
    function: MoveFunction | None = None
    declaring_registration: Registration | None = None

    @property
    def need_the_owner(self) -> bool:
        """Whether only the owner may make these changes."""
        owner_fields = (self.description, self.payout, self.requires_signed_outcome, self.function)
        return any(value is not None for value in owner_fields)

    def check(self, tool: Tool) -> None:
        """Raise an error if the chain or the leaders would reject the changes of a tool.

        The chain accepts any text as a URL, but leaders do not call an invalid URL. Raises
        `nothing_to_update`, `price_too_high`, `accepts_any_leader` or `signing_key_missing`. For a
        function, also raises `incompatible_function` or `publisher_missing`. Also raises the errors
        of `ToolDefinition.parse`.
        """
        if self == ToolChanges():
            raise UsageError(
                "nothing_to_update",
                f"no change to {tool.fqn} was specified",
                hint="Pass at least one of url, description, timeout, price, payout,"
                " min_outcome_bytes, requires_signed_outcome, function.",
            )
        self.definition(tool)
        self._check_function(tool)
        if self.price_mist is not None and not tool.collateral.is_claimed:
            when = "claimed and re-registered"
            check_price(self.price_mist, tool.collateral.required_mist, tool.fqn, when=when)
        if self.price_mist and tool.accepts_any_leader:
            raise accepts_any_leader_error(tool.fqn)
        if self.requires_signed_outcome and not tool.keys.keys:
            hint = f"Add one with `nexus-tools tool key add {tool.fqn} FILE`."
            raise signing_key_missing_error(tool.fqn, hint)

    def definition(self, tool: Tool) -> ToolDefinition:
        """Return the changed definition. Raises `definition_invalid`."""
        fields = {"url": self.url, "description": self.description, "timeout": self.timeout_ms}
        changed = {name: value for name, value in fields.items() if value is not None}
        definition = ToolDefinition.parse(tool.definition.document() | changed)
        return definition if self.function is None else replace(definition, function=self.function)

    def _check_function(self, tool: Tool) -> None:
        if self.function is None:
            return
        former = tool.definition.parse().function
        if former is None or self.function.closable_by_anyone != former.closable_by_anyone:
            raise _other_function(tool)
        if self.declaring_registration is None or self.declaring_registration.declaration is None:
            raise publisher_missing_error(tool.fqn)
        if self.declaring_registration.declaration.witness != parse_struct_tag(former.witness):
            raise _other_function(tool)

    def add(self, builder: TransactionBuilder, deployment: Deployment, tool: Tool) -> None:
        """Add all commands of the changes."""
        registry = deployment.tool_registry
        by_owner = (builder, deployment.package, tool.id, tool.name, registry)
        if self.url is not None:
            calls.update_url(*by_owner, self.url)
        if self.description is not None:
            calls.update_description(*by_owner, self.description)
        if self.timeout_ms is not None:
            calls.update_timeout(*by_owner, self.timeout_ms)
        if self.price_mist is not None:
            calls.update_price(*by_owner, self.price_mist)
        if self.payout is not None:
            calls.update_payout(*by_owner, self.payout)
        if self.min_outcome_bytes is not None:
            calls.update_min_outcome_bytes(*by_owner, self.min_outcome_bytes)
        if self.requires_signed_outcome is not None:
            calls.update_requires_signed_outcome(*by_owner, self.requires_signed_outcome)
        if self.declaring_registration is not None:
            function = make_function(builder, deployment.package, self.declaring_registration)
            calls.update_function(*by_owner, function)


def _other_function(tool: Tool) -> ValidationError:
    return ValidationError(
        "incompatible_function",
        f"a new function of {tool.fqn} must have the same witness and `closable_by_anyone`",
        hint="Register the function as a tool with another name.",
    )
