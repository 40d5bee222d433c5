"""The rule against steps that are too large for a transaction, which the chain rejects."""

from collections import Counter
from collections.abc import Iterator

from nexus_tools.errors import ValidationError
from nexus_tools.workflow.document.document import Document, EdgeKind
from nexus_tools.workflow.document.violation import Violation
from nexus_tools.workflow.semantics.effort import MAX_STEP_EFFORT, Step, flat_effort, steps_of
from nexus_tools.workflow.semantics.plan import create_plan


def effort(document: Document) -> Iterator[Violation]:
    """Yield a violation for each step above the limit.

    An invalid document has no plan, so its steps are not checked.
    """
    if _is_small(document):
        return
    try:
        plan = create_plan(document)
    except ValidationError:
        return
    for step in steps_of(plan):
        if step.effort > MAX_STEP_EFFORT:
            yield Violation("step_too_large", _message(step), f"/edges/{step.edges[0].number}")


def _is_small(document: Document) -> bool:
    """Return whether a simple upper bound proves that all steps are within the limit.

    All steps are within the limit if all edges are normal, each variant has few edges, and each
    vertex has few ports.
    """
    if any(edge.kind is not EdgeKind.NORMAL for edge in document.edges):
        return False
    edges = Counter((edge.source.vertex, edge.source.variant) for edge in document.edges)
    into = Counter(edge.target.vertex for edge in document.edges)
    given = Counter(default.target.vertex for default in document.defaults)
    entries = {vertex.name: len(vertex.entry_ports) for vertex in document.vertices}
    # A vertex has at most one port for each edge to it, entry port and default value.
    ports = max(
        (count + given[name] + entries.get(name, 0) for name, count in into.items()), default=0
    )
    most = max(edges.values(), default=0)
    return flat_effort(most, ports) <= MAX_STEP_EFFORT


def _message(step: Step) -> str:
    source = step.edges[0].source
    variant = f"variant '{source.variant}' of vertex '{source.vertex}'"
    if step.region is None:
        what = f"The step after {variant}"
    else:
        what = f"The step that closes the region with {variant}"
    return (
        f"{what} has an effort of {step.effort}, but the limit is {MAX_STEP_EFFORT}."
        " Split the step:"
        " use fewer edges, open fewer regions, or start vertices with fewer"
        " input ports."
    )
