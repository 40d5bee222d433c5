"""The page of a workflow."""

import asyncio
import json
from typing import Any

from msgspec import Struct

from nexus_tools.contracts import dag_id
from nexus_tools.errors import NexusError
from nexus_tools.explorer.context import Page, PageContext
from nexus_tools.explorer.drawings import draw, read_published
from nexus_tools.explorer.formatting import clean
from nexus_tools.explorer.trees import TextBudget
from nexus_tools.index import find_workflow, read_workflow_versions
from nexus_tools.registry import ExecutionCost, Executions, PublishedWorkflow
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolFqn
from nexus_tools.workflow import DEFAULT_GROUP, Document, needed_names

_NEWEST = 10
_MAX_PORTS = 30
_VERTEX_CHARACTERS = 14_000


class ShownVertex(Struct, frozen=True):
    """A vertex as the page lists it, with the edges that lead to it and from it, as texts."""

    number: int
    name: str
    fqn: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]


async def show_workflow(context: PageContext) -> Page:
    """Show a workflow: its drawing, versions, cost and executions. The path has an FQN or an ID."""
    workflow_id = _workflow_id(context)
    indexed = find_workflow(context.connection, workflow_id)
    if indexed is None:
        raise context.not_found("workflow", context.path["fqn"], "FQN or ID")
    executions = context.index.executions(workflow=workflow_id, limit=_NEWEST)
    values: dict[str, Any] = {
        "workflow": indexed,
        "versions": read_workflow_versions(context.connection, workflow_id),
        "executions": executions.items,
        "problem": None,
        "published": None,
    }
    try:
        published = await read_published(context.chain, workflow_id)
    except NexusError as error:
        values["problem"] = error.message
        return Page("workflow.html", indexed.fqn, values)
    document = published.document
    vertices = shown_vertices(document)
    drawing, cost = await asyncio.gather(draw(document), _cost(context, published))
    values |= {
        "published": published,
        "drawing": drawing,
        "vertices": vertices,
        "hidden": len(document.vertices) - len(vertices),
        "groups": [group for group in document.groups() if group.name != DEFAULT_GROUP],
        "cost": cost,
        "command": _command(indexed.fqn, document),
        "program": _program(indexed.fqn, document),
    }
    return Page("workflow.html", indexed.fqn, values)


def _workflow_id(context: PageContext) -> Address:
    """Return the ID that the path names. Raises `fqn_invalid` or `address_invalid`."""
    text = context.path["fqn"]
    if text.startswith("0x"):
        return Address.parse_whole(text)
    registry = context.chain.deployment.dag_registry
    if registry is None:
        raise context.not_found("workflow", text, "FQN")
    return dag_id(registry, ToolFqn.parse(text))


def shown_vertices(document: Document, characters: int = _VERTEX_CHARACTERS) -> list[ShownVertex]:
    """Return the first vertices of a document with their edges, within a limit for their texts."""
    shown: list[ShownVertex] = []
    texts = TextBudget(characters)
    for number, vertex in enumerate(document.vertices):
        if texts.is_spent:
            break
        sources = tuple(
            f"{edge.target.port} ← {edge.source.vertex}.{edge.source.variant}.{edge.source.port}"
            for edge in document.edges
            if edge.target.vertex == vertex.name
        )
        entries = tuple(f"{port} ← caller" for port in vertex.entry_ports)
        defaults = tuple(
            f"{default.target.port} ← default value"
            for default in document.defaults
            if default.target.vertex == vertex.name
        )
        targets = tuple(
            f"{edge.source.variant}.{edge.source.port} → {edge.target.vertex}.{edge.target.port}"
            for edge in document.edges
            if edge.source.vertex == vertex.name
        )
        outputs = tuple(
            f"{output.source.variant}.{output.source.port} → result {output.name}".strip()
            for output in document.outputs
            if output.source.vertex == vertex.name
        )
        inputs, results = (*entries, *sources, *defaults), (*targets, *outputs)
        # Each port and each vertex also needs its tags.
        texts.take("x" * (300 + 30 * len((*inputs[:_MAX_PORTS], *results[:_MAX_PORTS]))))
        name = texts.take(clean(vertex.name, 60))
        ports = (
            tuple(texts.take(clean(port, 160)) for port in side[:_MAX_PORTS])
            for side in (inputs, results)
        )
        shown.append(ShownVertex(number, name, vertex.fqn, *ports))
    return shown


async def _cost(context: PageContext, published: PublishedWorkflow) -> ExecutionCost | None:
    """Return the estimated cost with the first entry group, or None if it cannot be estimated."""
    chain = context.chain
    group = published.document.groups()[0].name
    executions = Executions(chain.client, chain.deployment)
    try:
        return await chain.shared(
            ("cost", published.id), lambda: executions.estimate_cost(published, group=group)
        )
    except NexusError:
        return None


def _inputs(document: Document) -> dict[str, str]:
    return dict.fromkeys(needed_names(document, document.groups()[0]), "…")


def _command(fqn: str, document: Document) -> str:
    inputs = json.dumps(_inputs(document), ensure_ascii=False).replace("'", "'\\''")
    return f"nexus-tools workflow run {fqn} --input '{inputs}'"


def _program(fqn: str, document: Document) -> str:
    inputs = json.dumps(_inputs(document), ensure_ascii=False)
    return f'state = await nexus.run("{fqn}", {inputs})\nprint(state.outputs())'
