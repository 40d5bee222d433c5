"""The waiting tools of the Move package, for authors.

All networks have the same tool interfaces.
"""

from collections.abc import Mapping
from typing import Any

from nexus_tools.tool import ASK, WAIT, WAITING_MARGIN_MS, ask_definition, wait_definition
from nexus_tools.workflow.document.document import Document, InputPort

_ANYWHERE = "0x0"

ask = ask_definition(_ANYWHERE)
"""A tool that asks `answerer` a `question` and ends in `approved`, `rejected` or `expired`.
"""

wait = wait_definition(_ANYWHERE)
"""A tool that waits until `until_ms` or for `duration_ms`, and then ends in `over`."""

WAITING_TOOLS = {ASK: ask, WAIT: wait}
"""The tools `ask` and `wait` by FQN. Every workflow may use them."""

_AT_MOST_MS = ask.timeout_ms - WAITING_MARGIN_MS
_TIMES = {ASK: "timeout_ms", WAIT: "duration_ms"}


def max_waiting_ms(document: Document, values: Mapping[InputPort, Any]) -> dict[str, int]:
    """Return the maximum waiting time in ms of each vertex that uses `ask` or `wait`.

    `values` are the values of entry ports. A question without a time is open for 89 days. A vertex
    is left out if its time comes from another vertex, because the time is unknown.
    """
    said = {default.target: default.data for default in document.defaults} | dict(values)
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
