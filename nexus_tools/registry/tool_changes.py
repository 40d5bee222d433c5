"""What may change of a registered tool, checked and put into one transaction."""

from dataclasses import dataclass

from nexus_tools.errors import UsageError
from nexus_tools.package import Deployment
from nexus_tools.package.move import tool as calls
from nexus_tools.package.move.tool import Tool
from nexus_tools.registry.registration import check_price
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

    @property
    def need_owner(self) -> bool:
        """Whether an operator may not do this."""
        return self.description is not None or self.payout is not None

    def check(self, tool: Tool) -> None:
        """Raises `nothing_to_update`, `price_too_high`, or as `ToolDefinition.parse` does.

        The chain takes any text as a URL, and leaders would refuse to call it.
        """
        if self == ToolChanges():
            raise UsageError(
                "nothing_to_update",
                f"nothing of {tool.fqn} is to be changed",
                hint="name at least one of url, description, timeout, price, payout",
            )
        fields = {"url": self.url, "description": self.description, "timeout": self.timeout_ms}
        changed = {name: value for name, value in fields.items() if value is not None}
        if changed:
            ToolDefinition.parse(tool.definition.document() | changed)
        if self.price_mist is not None and tool.collateral is not None:
            check_price(self.price_mist, tool.collateral.required_mist, tool.fqn)

    def add(
        self,
        builder: TransactionBuilder,
        deployment: Deployment,
        tool: Address,
        cap: Address,
        *,
        operator: bool,
    ) -> None:
        """All the commands that it takes; `cap` is an `OperatorCap` if `operator` says so."""
        registry = deployment.tool_registry
        of_owner = (builder, deployment.package, tool, cap, registry)
        cap_type = deployment.type_of(calls.OperatorCap if operator else calls.OwnerCap)
        of_either = (builder, deployment.package, cap_type, tool, cap, registry)
        if self.url is not None:
            calls.update_url(*of_either, self.url)
        if self.description is not None:
            calls.update_description(*of_owner, self.description)
        if self.timeout_ms is not None:
            calls.update_timeout(*of_either, self.timeout_ms)
        if self.price_mist is not None:
            calls.update_price(*of_either, self.price_mist)
        if self.payout is not None:
            calls.update_payout(*of_owner, self.payout)
