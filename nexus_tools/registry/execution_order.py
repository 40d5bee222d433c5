"""What an execution is begun with: looked at before money moves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nexus_tools.errors import NotFoundError, NotNowError, UsageError, ValidationError
from nexus_tools.package.move.leader import Leader
from nexus_tools.package.move.tool import Tool
from nexus_tools.registry.registration import how_to_revive
from nexus_tools.registry.workflow_reading import PublishedWorkflow
from nexus_tools.units import sui
from nexus_tools.workflow import (
    MAX_EXECUTION_MS,
    EntryGroup,
    InputPort,
    ToolPorts,
    chosen_group,
    entry_values,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """To what the owner of an execution consents; a price that is not named is today's."""

    max_prices_mist: Mapping[str, int]
    max_outcome_bytes: int
    max_steps: int
    lasts_ms: int


def given_values(
    workflow: PublishedWorkflow,
    tools: Mapping[str, Tool],
    inputs: Mapping[str, Any],
    group: str | None,
) -> tuple[EntryGroup, dict[str, dict[str, Any]]]:
    """The entry group, and the values of its entry ports by vertex.

    Raises `UsageError` as `chosen_group` and `entry_values` do, and `ValidationError`
    (`input_invalid`) for a value that a tool's schema refuses.
    """
    chosen = chosen_group(workflow.document, group)
    found: dict[str, dict[str, Any]] = {}
    failures: list[dict[str, str]] = []
    values = entry_values(workflow.document, chosen, inputs)
    facts = {fqn: ToolPorts(tool.definition.parse()) for fqn, tool in tools.items()}
    for target, value in values.items():
        wrong = _mismatch(workflow, facts, target, value)
        if wrong:
            failures.append({"input": str(target), "message": wrong})
        found.setdefault(target.vertex, {})[target.port] = value
    if failures:
        first = failures[0]
        raise ValidationError(
            "input_invalid",
            f"the value for {first['input']} does not fit: {first['message']}",
            hint=f"`nexus-tools workflow show {workflow.fqn}` shows the inputs",
            details={"failures": failures},
        )
    return chosen, found


def _mismatch(
    workflow: PublishedWorkflow, facts: Mapping[str, ToolPorts], target: InputPort, value: Any
) -> str:
    if target.is_order_only:
        return ""
    fqn = workflow.plan.vertices[target.vertex].vertex.fqn
    return facts[fqn].mismatch(target.port, value)


def check_tools(
    workflow: PublishedWorkflow,
    tools: Mapping[str, Tool],
    leaders: Sequence[Leader],
    limits: Limits,
) -> tuple[int, ...]:
    """The highest prices by the number of the tool, if each tool can be invoked so.

    Raises `tool_unknown` for prices of tools that the workflow has not, `tool_not_active`,
    `price_too_high`, `signature_required`, `outcome_limit_too_small` or `no_leader`.
    """
    for fqn in limits.max_prices_mist:
        if fqn not in tools:
            message = f"{workflow.fqn} has no tool {fqn}"
            raise NotFoundError("tool_unknown", message, hint=f"it has {', '.join(tools)}")
    for tool in tools.values():
        _check(tool, leaders, limits)
    return tuple(_max_price(tools[fqn], limits) for fqn in workflow.fqns)


def _check(tool: Tool, leaders: Sequence[Leader], limits: Limits) -> None:
    if not tool.is_active:
        raise NotNowError(
            "tool_not_active",
            f"{tool.fqn} is {tool.state}: it takes no invocation",
            hint=f"its owner has to {how_to_revive(tool, as_owner=False)}",
        )
    if tool.requires_signed_outcome:
        raise ValidationError(
            "signature_required",
            f"{tool.fqn} has its answers signed, and in workflows they cannot be yet",
            hint="take a workflow that does without it, or ask its owner for a version that does",
        )
    most = _max_price(tool, limits)
    if tool.price_mist > most:
        raise NotNowError(
            "price_too_high",
            f"{tool.fqn} costs {sui(tool.price_mist)}, and may cost {sui(most)}",
            hint="raise the highest price of it",
        )
    if tool.min_outcome_bytes > limits.max_outcome_bytes:
        raise ValidationError(
            "outcome_limit_too_small",
            f"{tool.fqn} asks for {tool.min_outcome_bytes} bytes for its answer,"
            f" and may have {limits.max_outcome_bytes}",
            hint="allow larger outcomes: what they do not use comes back",
        )
    if not any(tool.accepts(leader.id) for leader in leaders):
        raise NotNowError(
            "no_leader",
            f"{tool.fqn} accepts none of the leaders that are named",
            hint=f"`nexus-tools leader list --for {tool.fqn}` shows whom it accepts",
        )


def _max_price(tool: Tool, limits: Limits) -> int:
    return limits.max_prices_mist.get(tool.fqn, tool.price_mist)


def check_time(lasts_ms: int) -> None:
    """Raises `lasts_too_long`."""
    if not 0 < lasts_ms <= MAX_EXECUTION_MS:
        raise UsageError("lasts_too_long", "an execution lasts 90 days at most")


def accepted_everywhere(leaders: Sequence[Leader], tools: Mapping[str, Tool]) -> list[Leader]:
    """The leaders that all tools accept; if there are none, those that most do, in that order."""

    def count(leader: Leader) -> int:
        return sum(tool.accepts(leader.id) for tool in tools.values())

    everywhere = [each for each in leaders if count(each) == len(tools)]
    return everywhere or sorted(leaders, key=count, reverse=True)
