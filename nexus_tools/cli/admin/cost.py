"""The cost of an invocation under the leader settings of a registry."""

from typing import TYPE_CHECKING, Any

from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts.move_bindings.leader_registry import LeaderSettings

_INPUT_BYTES = 100
_OUTCOME_BYTES = 1_000


def cost_document(settings: "LeaderSettings", gas_price: int) -> dict[str, Any]:
    """Return the cost of invocations as JSON, excluding tool prices, at a gas price in MIST."""
    fail_mist = settings.fee_gas_units * gas_price + settings.fee_storage_mist
    inputs_mist = settings.fee_per_input_byte_mist * _INPUT_BYTES
    outcome_mist = settings.fee_per_outcome_byte_mist * _OUTCOME_BYTES
    return {
        "gas_price_mist": gas_price,
        "input_bytes": _INPUT_BYTES,
        "outcome_bytes": _OUTCOME_BYTES,
        "settled_mist": fail_mist + settings.settle_margin_mist + inputs_mist + outcome_mist,
        "failed_mist": fail_mist + inputs_mist,
    }


def cost_in_words(cost: dict[str, Any]) -> str:
    """Return the cost of invocations as a sentence."""
    return (
        f"at a gas price of {cost['gas_price_mist']} MIST, an invocation with"
        f" {cost['input_bytes']} bytes of inputs and an outcome of {cost['outcome_bytes']} bytes"
        f" costs {units.sui(cost['settled_mist'])} plus the tool's price. A failed invocation costs"
        f" {units.sui(cost['failed_mist'])}"
    )
