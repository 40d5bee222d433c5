"""Publication of a workflow in steps, with as many steps as possible in each transaction.

Each step is atomic. The on-chain state shows which steps are done, so an interrupted publication
can resume.
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
    check_encoded_plan,
    too_large_error,
)
from nexus_tools.registry.workflows.plan_encoding import encode_plan
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.transaction import TRANSACTION_KIND, Argument
from nexus_tools.tool import MAX_DESCRIPTION_BYTES, ToolFqn
from nexus_tools.workflow import Document, Plan, create_plan

# Sui's limits for a transaction are 128 KiB and 1 024 commands. The difference to these limits is
# reserved for object references and gas coins.
_MAX_TRANSACTION_BYTES = 110 * 1024
_MAX_COMMANDS = 1_000

_NONE = 0xFFFF

Step = Callable[[TransactionBuilder, Deployment, Argument], None]
"""A function that adds the commands of a step. The last argument is the workflow."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Progress:
    """The numbers of the parts of an unfinished workflow that are already on chain.

    `defaults` contains the numbers of the vertices whose default values are on chain.
    """

    chunks: int = 0
    groups: int = 0
    defaults: Collection[int] = ()
    blocks: int = 0
    vertices: int = 0
    checked: int = 0


@dataclass(frozen=True, slots=True)
class Publication:
    """A workflow that is within all limits and ready to publish."""

    fqn: ToolFqn
    description: str
    document: Document
    plan: Plan
    encoded: EncodedPlan
    chunks: tuple[bytes, ...]

    @classmethod
    def of(cls, document: Document, fqn: ToolFqn, description: str) -> "Publication":
        """Return the publication of a document.

        Raises `workflow_too_large` and the errors of `create_plan`.
        """
        plan = create_plan(document)
        encoded_plan = encode_plan(document, plan)
        text = document.canonical()
        check_encoded_plan(encoded_plan, text, description)
        compressed = zlib.compress(text, 9)
        starts = range(0, len(compressed), MAX_ARGUMENT_BYTES)
        chunks = tuple(compressed[start : start + MAX_ARGUMENT_BYTES] for start in starts)
        return cls(fqn, description, document, plan, encoded_plan, chunks)

    def steps(self, done: Progress) -> Iterator[Step]:
        """Yield the remaining steps in order, except `publish`."""
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
        # Check the pages after all parts, because adding a part makes earlier checks invalid.
        is_all_there = done.vertices == len(plan.vertices)
        for page in range(done.checked if is_all_there else 0, pages):
            yield partial(_check_page, page)

    def draft(
        self, builder: TransactionBuilder, deployment: Deployment, *, has_name: bool
    ) -> Argument:
        """Add the commands that create the draft. The first version of a name creates the name."""
        dags, tools = deployment.require_dag_registry(), deployment.tool_registry
        terms = (str(self.fqn), self.description, self.document.digest(), self.encoded.tools)
        if has_name:
            name = name_id(tools, self.fqn.unversioned)
            return calls.draft_version(builder, deployment.workflows, dags, tools, name, *terms)
        dag, name_object = calls.draft(builder, deployment.workflows, dags, tools, *terms)
        share_name(builder, deployment.package, name_object)
        return dag


def batches(steps: Iterable[Step], deployment: Deployment) -> list[list[Step]]:
    """Return the steps of each transaction, for at least one transaction.

    Raises `workflow_too_large`.
    """
    transactions: list[list[Step]] = [[]]
    free_bytes, free_commands = _MAX_TRANSACTION_BYTES - _DRAFT_BYTES, _MAX_COMMANDS
    for step in steps:
        probe = TransactionBuilder()
        step(probe, deployment, probe.gas)
        size = len(TRANSACTION_KIND.encode(probe.finish()))
        if size > _MAX_TRANSACTION_BYTES or len(probe.commands) > _MAX_COMMANDS:
            raise too_large_error(
                f"one of its parts takes {size} bytes, but the limit of a transaction is"
                f" {_MAX_TRANSACTION_BYTES}",
                "Shorten default values and names, or pass large values as inputs.",
            )
        if size > free_bytes or len(probe.commands) > free_commands:
            transactions.append([])
            free_bytes, free_commands = _MAX_TRANSACTION_BYTES, _MAX_COMMANDS
        transactions[-1].append(step)
        free_bytes -= size
        free_commands -= len(probe.commands)
    return transactions


# The maximum total size of the tools' FQNs, a description, and the creation of a name.
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
    ports = make_ports(builder, deployment.package, values)
    calls.add_defaults(builder, deployment.workflows, dag, number, ports)


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
        [block.enclosing for block in blocks],
        [[need.vertex for need in block.needs] for block in blocks],
        [bytes(need.port for need in block.needs) for block in blocks],
        [block.cursors for block in blocks],
        [block.starts for block in blocks],
    )
    collects = [
        (position, _row(collect.edge), collect.sources)
        for position, block in enumerate(blocks)
        for collect in block.collect_edges
    ]
    for part in _parts(collects, lambda row: 2 * (len(row[1]) + len(row[2])) + 4):
        positions, rows, sources = zip(*part, strict=True)
        calls.add_collect_edges(
            builder, deployment.workflows, dag, page, bytes(positions), rows, sources
        )


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
        (position, port.name, port.is_entry + 2 * port.has_default + 4 * port.is_static)
        for position, vertex in enumerate(vertices)
        for port in vertex.ports
    ]
    for port_rows in _parts(ports, lambda row: len(row[1]) + 2):
        positions, names, flags = zip(*port_rows, strict=True)
        calls.add_ports(
            builder, deployment.workflows, dag, page, bytes(positions), names, bytes(flags)
        )
    sources = [
        (position, number, (source.origin, int(source.is_do_while), *source.rounds))
        for position, vertex in enumerate(vertices)
        for number, port in enumerate(vertex.ports)
        for source in port.sources
    ]
    for source_rows in _parts(sources, lambda row: 2 * len(row[2]) + 2):
        positions, numbers, rows = zip(*source_rows, strict=True)
        calls.add_sources(
            builder, deployment.workflows, dag, page, bytes(positions), bytes(numbers), rows
        )
    edges = [
        (position, variant.name, edge.port, _row(edge))
        for position, vertex in enumerate(vertices)
        for variant in vertex.variants
        for edge in variant.edges
    ]
    for edge_rows in _parts(edges, lambda row: len(row[1]) + len(row[2]) + 2 * len(row[3]) + 4):
        positions, variants, names, rows = zip(*edge_rows, strict=True)
        calls.add_edges(
            builder, deployment.workflows, dag, page, bytes(positions), variants, names, rows
        )


def _check_page(
    page: int, builder: TransactionBuilder, deployment: Deployment, dag: Argument
) -> None:
    calls.check_page(builder, deployment.workflows, dag, page)


def _row(edge: Edge) -> list[int]:
    optional = (
        _NONE if number is None else number
        for number in (edge.scope, edge.element, edge.left_region)
    )
    required = (edge.number, edge.vertex, edge.input, edge.kind, edge.prefix_length, edge.zeros)
    return [*required, *optional, *edge.rounds]


def _parts(rows: Sequence[T], size_of: Callable[[T], int]) -> Iterator[Sequence[T]]:
    """Yield slices of the rows. Each column of a slice fits into one argument."""
    start = size = 0
    for index, row in enumerate(rows):
        row_size = size_of(row)
        if size + row_size > MAX_ARGUMENT_BYTES:
            yield rows[start:index]
            start, size = index, 0
        size += row_size
    if rows:
        yield rows[start:]


def _pages(entries: Sequence[object], done: int) -> range:
    return range(-(-done // PAGE), -(-len(entries) // PAGE))
