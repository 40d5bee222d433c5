"""Example stubs for tools, derived from the use of a tool in a workflow or from its schemas."""

from collections.abc import Mapping
from typing import Any

from nexus_tools.errors import ValidationError
from nexus_tools.tool import Answer, HasSchemas, example_answer
from nexus_tools.workflow.document.document import ERR_EVAL, Document, EdgeKind, OutputPort
from nexus_tools.workflow.simulation.stubs import Stub, StubbedOutcome

_LIST_LENGTH = 2


def example_stub(document: Document, vertex: str, schemas: HasSchemas | None = None) -> Stub:
    """Return a stub that cycles through the variants of a vertex, so that loops end.

    The stub has the variants and ports that the document names. If the `schemas` of the tool are
    known, the values are examples for them. Otherwise a value is the name of its port, such as
    `<judge.good.text>`. If the port has a `for_each` edge, the value is a list of two names.
    """
    variants: dict[str, dict[str, Any]] = {}
    for port, is_split in _ports_of(document, vertex).items():
        variants.setdefault(port.variant, {})[port.port] = _named_value(port, is_split=is_split)
    answers = [_example(schemas, name, ports) for name, ports in variants.items()]
    if not answers:
        answers = [_first_example(schemas)]
    return Stub(tuple(StubbedOutcome(answer, times=1) for answer in answers), cycles=True)


def _ports_of(document: Document, vertex: str) -> dict[OutputPort, bool]:
    """Return the used output ports of a vertex. The values state whether a port needs a list."""
    ports: dict[OutputPort, bool] = {}
    for edge in document.edges:
        is_split = edge.kind is EdgeKind.FOR_EACH
        ports[edge.source] = ports.get(edge.source, False) or is_split
    for output in document.outputs:
        ports.setdefault(output.source, False)
    return {
        port: is_split
        for port, is_split in ports.items()
        if port.vertex == vertex and port.variant != ERR_EVAL
    }


def _named_value(port: OutputPort, *, is_split: bool) -> Any:
    if is_split:
        return [f"<{port}[{index}]>" for index in range(_LIST_LENGTH)]
    return f"<{port}>"


def _example(schemas: HasSchemas | None, variant: str, ports: Mapping[str, Any]) -> Answer:
    if schemas is None:
        return Answer(variant, dict(ports))
    try:
        return example_answer(schemas.output_schema, variant)
    except ValidationError:
        return Answer(variant, dict(ports))


def _first_example(schemas: HasSchemas | None) -> Answer:
    """Return an answer for a vertex whose output ports the document does not use."""
    from nexus_tools.tool import variants  # noqa: PLC0415 - imports native code, needed late

    names = list(variants(schemas.output_schema)) if schemas else ["ok"]
    return _example(schemas, names[0], {})
