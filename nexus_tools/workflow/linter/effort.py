"""Steps that are too large for a transaction, so that the chain does not publish the workflow."""

from collections.abc import Iterator

from nexus_tools.errors import ValidationError
from nexus_tools.workflow.document import Document
from nexus_tools.workflow.effort import MOST_EFFORT, Step, steps_of
from nexus_tools.workflow.plan import plan_of
from nexus_tools.workflow.violation import Violation


def effort(document: Document) -> Iterator[Violation]:
    """Yield a violation for each step above the limit; a document without a plan has no steps."""
    try:
        plan = plan_of(document)
    except ValidationError:
        return
    for step in steps_of(plan):
        if step.effort > MOST_EFFORT:
            yield Violation("step_too_large", _message(step), f"/edges/{step.edges[0].number}")


def _message(step: Step) -> str:
    source = step.edges[0].source
    variant = f"variant '{source.variant}' of vertex '{source.vertex}'"
    if step.region is None:
        what = f"The step after {variant}"
    else:
        what = f"The step that closes the region with {variant}"
    return (
        f"{what} has an effort of {step.effort}, but the limit is {MOST_EFFORT}. Split the step:"
        " lead fewer edges from it, or let it open fewer regions and start vertices with fewer"
        " input ports."
    )
