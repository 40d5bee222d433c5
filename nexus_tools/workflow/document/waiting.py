"""The waiting tools of the Move package, for authors; their interfaces are the same everywhere."""

from collections.abc import Mapping
from typing import Any

from nexus_tools.tool import ASK, WAIT, WAITING_MARGIN_MS, ask_definition, wait_definition
from nexus_tools.workflow.document.document import Document, InputPort

_ANYWHERE = "0x0"

ask = ask_definition(_ANYWHERE)
"""Asks `answerer` a `question`: `approved` or `rejected`, with a `note`, or `expired`."""

wait = wait_definition(_ANYWHERE)
"""Waits `until_ms`, or `duration_ms`: then it is `over`."""

WAITING_TOOLS = {ASK: ask, WAIT: wait}
"""Both tools by FQN, which every workflow may use."""

_AT_MOST_MS = ask.timeout_ms - WAITING_MARGIN_MS
_TIMES = {ASK: "timeout_ms", WAIT: "duration_ms"}


def max_waiting_ms(document: Document, values: Mapping[InputPort, Any]) -> dict[str, int]:
    """Return the maximum waiting time of each vertex that asks or waits, in ms, as far as known.

    `values` are those of entry ports. A question without a time is open for 89 days. The time of
    another tool's answer is unknown.
    """
    said = {each.target: each.data for each in document.defaults} | dict(values)
    told = {edge.target for edge in document.edges}
    found: dict[str, int] = {}
    for vertex in document.vertices:
        port = InputPort(vertex.name, _TIMES.get(vertex.fqn, ""))
        if not port.port or port in told:
            continue
        time = said.get(port, _AT_MOST_MS if vertex.fqn == ASK else None)
        if isinstance(time, int):
            found[vertex.name] = min(time, _AT_MOST_MS)
    return found
