"""What may change of a registered tool, checked and put into one transaction."""

from dataclasses import dataclass

from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.package import Deployment
from nexus_tools.package.move import tool as calls
from nexus_tools.package.move.tool import Tool
from nexus_tools.registry.registration import check_price, open_to_all
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.tool import ToolDefinition


@dataclass(frozen=True, slots=True)
class ToolChanges:
    """The new values; what is None stays as it is."""

    url: str | None = None
    description: str | None = None
    timeout_ms: int | None = None
    price_mist: int | None = None
    payout: Address | None = None
    min_outcome_bytes: int | None = None
    requires_signed_outcome: bool | None = None

    @property
    def need_owner(self) -> bool:
        """Whether an operator may not do this."""
        of_owner = (self.description, self.payout, self.requires_signed_outcome)
        return any(value is not None for value in of_owner)

    def check(self, tool: Tool) -> None:
        """Raises `nothing_to_update`, `price_too_high`, `open_to_all`, `key_needed`.

        And as `ToolDefinition.parse`: the chain takes any text as a URL, and leaders would refuse
        to call it.
        """
        if self == ToolChanges():
            raise UsageError(
                "nothing_to_update",
                f"nothing of {tool.fqn} is to be changed",
                hint="name at least one of url, description, timeout, price, payout,"
                " min_outcome_bytes, requires_signed_outcome",
            )
        fields = {"url": self.url, "description": self.description, "timeout": self.timeout_ms}
        changed = {name: value for name, value in fields.items() if value is not None}
        if changed:
            ToolDefinition.parse(tool.definition.document() | changed)
        if self.price_mist is not None and not tool.collateral.is_claimed:
            when = "claimed and re-registered"
            check_price(self.price_mist, tool.collateral.required_mist, tool.fqn, when=when)
        if self.price_mist and tool.open:
            raise open_to_all(tool.fqn)
        if self.requires_signed_outcome and not tool.keys.keys:
            raise ValidationError(
                "key_needed",
                f"the answers of {tool.fqn} are to be signed, and it has no key",
                hint=f"`nexus-tools tool key add {tool.fqn} FILE` adds one",
            )

    def add(self, builder: TransactionBuilder, deployment: Deployment, tool: Tool) -> None:
        """All the commands that it takes."""
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
