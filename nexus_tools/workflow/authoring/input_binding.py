"""The binding of values to input ports. Errors name the line where the author binds a value."""

from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.sui.support.suggestions import suggestion
from nexus_tools.tool import measure
from nexus_tools.workflow.authoring.connections import check_edges_to
from nexus_tools.workflow.authoring.sketch import Binding, Constant, Draft, Origin, Sketch
from nexus_tools.workflow.authoring.source_line import Line
from nexus_tools.workflow.authoring.value import (
    IncompleteValue,
    Value,
    incomplete_value_error,
    origin_of,
)
from nexus_tools.workflow.document.document import InputPort
from nexus_tools.workflow.interfaces import ToolPorts


def to_origin(sketch: Sketch, given: object) -> Origin:
    """Return the origin of a workflow value, or a constant for any other value.

    Raises `UsageError` (`value_of_another_workflow`, `port_unnamed`, `value_in_constant`), or
    `ValidationError` (`json_invalid`) for a constant that is not JSON.
    """
    inner = _value_in(given)
    if isinstance(inner, IncompleteValue):
        raise incomplete_value_error(inner)
    if inner is None:
        measure(given)
        return sketch.constant(given)
    origin = origin_of(inner)
    if inner is not given:
        raise UsageError(
            "value_in_constant",
            f"{origin} is inside a constant ({type(given).__name__})",
            hint="Pass values to ports directly. Unpack inputs: [topic] = flow.inputs(topic=str).",
        )
    if origin.sketch is not sketch:
        raise UsageError(
            "value_of_another_workflow",
            f"{origin} is a value of another workflow",
            hint="Use only values of this Workflow's steps and inputs.",
        )
    return origin


def _value_in(given: object) -> Value | IncompleteValue | None:
    """Return the first workflow value inside a constant, or None."""
    if isinstance(given, Value | IncompleteValue):
        return given
    if isinstance(given, dict):
        given = list(given.values())
    if not isinstance(given, list | tuple):
        return None
    return next((found for element in given if (found := _value_in(element)) is not None), None)


def bind_input(sketch: Sketch, draft: Draft, port: str, given: object, line: Line) -> None:
    """Bind a value to a port of a step.

    Raises the errors of `to_origin` and `connections`, and `ValidationError` (`port_unknown`,
    `value_mismatches`).
    """
    value = to_origin(sketch, given)
    check_edges_to(value, draft.block)  # the type of an unavailable value does not matter
    check_types(draft, port, value)
    draft.bindings[port] = Binding(value, line)


def check_types(draft: Draft, port: str, value: Origin) -> None:
    """Check that a port accepts a value, as far as the schemas define their types."""
    if draft.ports is None or InputPort(draft.name, port).is_order_only:
        return
    known = draft.ports.inputs.get(port)
    if known is None:
        raise ValidationError(
            "port_unknown",
            f"the tool {draft.fqn} has no input port {port!r}",
            hint=suggestion(port, draft.ports.inputs.named, otherwise=_listed(draft.ports)),
        )
    for leaf in value.leaves():
        if isinstance(leaf, Constant):
            problem = draft.ports.mismatch(port, leaf.data)
        else:
            problem = "" if leaf.shape.may_be(known.types) else f"it is {leaf.shape}"
        if problem:
            raise ValidationError(
                "value_mismatches",
                f"{leaf} is invalid for the port {port!r} of {draft.display_name}: {problem}",
                hint=f"The tool {draft.fqn} accepts {known.types}.",
            )


def _listed(ports: ToolPorts) -> str:
    return f"Its input ports are {', '.join(ports.inputs.named) or 'none'}."
