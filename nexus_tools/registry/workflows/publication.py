"""Publishing a workflow in steps, as many as fit into each transaction.

A step is done as a whole or not at all, and what is on chain tells which ones are: so whoever was
interrupted goes on.
"""

import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from nexus_tools.contracts import Deployment, make_ports, name_id
from nexus_tools.contracts.move_bindings.name import share as share_name
from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.contracts.move_bindings.workflows import dag as calls
from nexus_tools.contracts.move_bindings.workflows.plan import Block, Edge, Vertex
from nexus_tools.registry.workflows.limits import (
    MAX_ARGUMENT_BYTES,
    PAGE,
    EncodedPlan,
    check_written,
    too_large,
)
from nexus_tools.registry.workflows.plan_encoding import encoded
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.transaction import TRANSACTION_KIND, Argument
from nexus_tools.tool import MAX_DESCRIPTION_BYTES, ToolFqn
from nexus_tools.workflow import Document, Plan, plan_of

# A transaction has 128 KiB and 1 024 commands; what is left over is for objects and coins that pay.
_MAX_TRANSACTION_BYTES = 110 * 1024
_MAX_COMMANDS = 1_000

_NONE = 0xFFFF

Step = Callable[[TransactionBuilder, Deployment, Argument], None]
"""Adds the commands of a step to a transaction that has the workflow as this argument."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Progress:
    """What is on chain of a workflow that is being written: `defaults` by number of vertex."""

    chunks: int = 0
    groups: int = 0
    defaults: Collection[int] = ()
    blocks: int = 0
    vertices: int = 0
    checked: int = 0


@dataclass(frozen=True, slots=True)
class Publication:
    """A workflow that is within all limits, as it is to be published."""

    fqn: ToolFqn
    description: str
    document: Document
    plan: Plan
    encoded: EncodedPlan
    chunks: tuple[bytes, ...]

    @classmethod
    def of(cls, document: Document, fqn: ToolFqn, description: str) -> "Publication":
        """What is to be written. Raises `workflow_too_large`, and as `plan_of` does."""
        plan = plan_of(document)
        written = encoded(document, plan)
        text = document.canonical()
        check_written(written, text, description)
        packed = zlib.compress(text, 9)
        starts = range(0, len(packed), MAX_ARGUMENT_BYTES)
        chunks = tuple(packed[start : start + MAX_ARGUMENT_BYTES] for start in starts)
        return cls(fqn, description, document, plan, written, chunks)

    def steps(self, done: Progress) -> Iterator[Step]:
        """What is left to do, in order, `publish` left aside."""
        plan = self.encoded
        for chunk in self.chunks[done.chunks :]:
            yield partial(_add_chunk, chunk)
        for group in plan.groups[done.groups :]:
            yield partial(_add_group, group)
        for number, values in plan.defaults.items():
            if number not in done.defaults:
                yield partial(_add_defaults, number, values)
        for page in _pages(plan.blocks, done.blocks):
            yield partial(_add_blocks, page, plan.blocks[page * PAGE : (page + 1) * PAGE])
        for page in _pages(plan.vertices, done.vertices):
            yield partial(_add_vertices, page, plan.vertices[page * PAGE : (page + 1) * PAGE])
        pages = len(_pages(plan.vertices, 0)) + len(_pages(plan.blocks, 0))
        # What is added after a check undoes it.
        is_all_there = done.vertices == len(plan.vertices)
        for page in range(done.checked if is_all_there else 0, pages):
            yield partial(_check_page, page)

    def draft(
        self, builder: TransactionBuilder, deployment: Deployment, *, has_name: bool
    ) -> Argument:
        """The commands that begin it: the first version of a name makes that, too."""
        dags, tools = deployment.require_dag_registry(), deployment.tool_registry
        terms = (str(self.fqn), self.description, self.document.digest(), self.encoded.tools)
        if has_name:
            name = name_id(tools, self.fqn.unversioned)
            return calls.draft_version(builder, deployment.workflows, dags, tools, name, *terms)
        dag, made = calls.draft(builder, deployment.workflows, dags, tools, *terms)
        share_name(builder, deployment.package, made)
        return dag


def batches(steps: Iterable[Step], deployment: Deployment) -> list[list[Step]]:
    """The steps of each transaction, of one at least. Raises `workflow_too_large`."""
    parts: list[list[Step]] = [[]]
    room, commands = _MAX_TRANSACTION_BYTES - _DRAFT_BYTES, _MAX_COMMANDS
    for step in steps:
        alone = TransactionBuilder()
        step(alone, deployment, alone.gas)
        size = len(TRANSACTION_KIND.encode(alone.finish()))
        if size > _MAX_TRANSACTION_BYTES or len(alone.commands) > _MAX_COMMANDS:
            raise too_large(
                f"a part of it takes {size} bytes, a transaction has {_MAX_TRANSACTION_BYTES}",
                "shorten default values and names, or give large values as inputs",
            )
        if size > room or len(alone.commands) > commands:
            parts.append([])
            room, commands = _MAX_TRANSACTION_BYTES, _MAX_COMMANDS
        parts[-1].append(step)
        room -= size
        commands -= len(alone.commands)
    return parts


# FQNs of tools, a description, and what makes a name.
_DRAFT_BYTES = MAX_ARGUMENT_BYTES + MAX_DESCRIPTION_BYTES + 1_024


# --- The steps


def _add_chunk(
    chunk: bytes, builder: TransactionBuilder, deployment: Deployment, dag: Argument
) -> None:
    calls.add_chunk(builder, deployment.workflows, dag, chunk)


def _add_group(
    group: calls.Group, builder: TransactionBuilder, deployment: Deployment, dag: Argument
) -> None:
    calls.add_group(builder, deployment.workflows, dag, group.name, group.vertices)


def _add_defaults(
    number: int, values: Ports, builder: TransactionBuilder, deployment: Deployment, dag: Argument
) -> None:
    made = make_ports(builder, deployment.package, values)
    calls.add_defaults(builder, deployment.workflows, dag, number, made)


def _add_blocks(
    page: int,
    blocks: Sequence[Block],
    builder: TransactionBuilder,
    deployment: Deployment,
    dag: Argument,
) -> None:
    calls.add_blocks(
        builder,
        deployment.workflows,
        dag,
        [block.is_region for block in blocks],
        [block.around for block in blocks],
        [[need.vertex for need in block.needs] for block in blocks],
        [bytes(need.port for need in block.needs) for block in blocks],
        [block.cursors for block in blocks],
        [block.starts for block in blocks],
    )
    collects = [
        (place, _row(collect.edge), collect.sources)
        for place, block in enumerate(blocks)
        for collect in block.collects
    ]
    for part in _parts(collects, lambda each: 2 * (len(each[1]) + len(each[2])) + 4):
        places, rows, sources = zip(*part, strict=True)
        calls.add_collects(builder, deployment.workflows, dag, page, bytes(places), rows, sources)


def _add_vertices(
    page: int,
    vertices: Sequence[Vertex],
    builder: TransactionBuilder,
    deployment: Deployment,
    dag: Argument,
) -> None:
    calls.add_vertices(
        builder,
        deployment.workflows,
        dag,
        [vertex.tool for vertex in vertices],
        [vertex.blocks for vertex in vertices],
        [vertex.groups for vertex in vertices],
        bytes(vertex.attempts for vertex in vertices),
        [vertex.retry_after_ms for vertex in vertices],
        [vertex.parallel for vertex in vertices],
        [vertex.terminates for vertex in vertices],
    )
    ports = [
        (place, port.name, port.is_entry + 2 * port.is_constant + 4 * port.is_static)
        for place, vertex in enumerate(vertices)
        for port in vertex.ports
    ]
    for named in _parts(ports, lambda each: len(each[1]) + 2):
        places, names, flags = zip(*named, strict=True)
        calls.add_ports(
            builder, deployment.workflows, dag, page, bytes(places), names, bytes(flags)
        )
    sources = [
        (place, number, (source.origin, int(source.is_again), *source.rounds))
        for place, vertex in enumerate(vertices)
        for number, port in enumerate(vertex.ports)
        for source in port.sources
    ]
    for fed in _parts(sources, lambda each: 2 * len(each[2]) + 2):
        places, numbers, rows = zip(*fed, strict=True)
        calls.add_sources(
            builder, deployment.workflows, dag, page, bytes(places), bytes(numbers), rows
        )
    edges = [
        (place, variant.name, edge.port, _row(edge))
        for place, vertex in enumerate(vertices)
        for variant in vertex.variants
        for edge in variant.edges
    ]
    for led in _parts(edges, lambda each: len(each[1]) + len(each[2]) + 2 * len(each[3]) + 4):
        places, variants, names, rows = zip(*led, strict=True)
        calls.add_edges(
            builder, deployment.workflows, dag, page, bytes(places), variants, names, rows
        )


def _check_page(
    page: int, builder: TransactionBuilder, deployment: Deployment, dag: Argument
) -> None:
    calls.check(builder, deployment.workflows, dag, page)


def _row(edge: Edge) -> list[int]:
    maybe = (_NONE if each is None else each for each in (edge.scope, edge.element, edge.left))
    to = (edge.number, edge.vertex, edge.input, edge.kind, edge.keeps, edge.zeros)
    return [*to, *maybe, *edge.rounds]


def _parts(rows: Sequence[T], size_of: Callable[[T], int]) -> Iterator[Sequence[T]]:
    """Rows of which no column is longer than an argument."""
    start = size = 0
    for at, row in enumerate(rows):
        more = size_of(row)
        if size + more > MAX_ARGUMENT_BYTES:
            yield rows[start:at]
            start, size = at, 0
        size += more
    if rows:
        yield rows[start:]


def _pages(entries: Sequence[object], done: int) -> range:
    return range(-(-done // PAGE), -(-len(entries) // PAGE))
