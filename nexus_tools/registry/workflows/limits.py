"""Limits of on-chain workflows, checked before a publication costs anything."""

from collections.abc import Mapping
from dataclasses import dataclass

from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.contracts.move_bindings.workflows.dag import Group
from nexus_tools.contracts.move_bindings.workflows.plan import Block, Vertex
from nexus_tools.errors import ValidationError
from nexus_tools.sui.bcs import vector
from nexus_tools.tool import MAX_DESCRIPTION_BYTES
from nexus_tools.workflow import Document, Plan

PAGE = 64
"""The number of entries of a page of a plan. Source: `dag::PAGE`."""

MAX_DOCUMENT_BYTES = 4 * 1024 * 1024
"""The size limit of a canonical document. Readers stop decompressing at this size."""

MAX_CHUNKS = 300
"""The maximum number of chunks of a document of `MAX_DOCUMENT_BYTES`, for any compression."""

MAX_ARGUMENT_BYTES = 16_000
"""The size limit of a vector argument of a command. Sui's limit for an argument is 16 KiB."""

# The limits of the Move modules `dag` and `plan`.
_MAX_VERTICES = _MAX_BLOCKS = 2_048
_MAX_EDGES = 32_768
_MAX_GROUPS, _MAX_ENTRIES = 256, 128
_MAX_OF_ONE = 32
_ID_BYTES = 32
_MAX_NAME_BYTES = 32

# `dag::MAX_PAGE_BYTES`, the size limit of each page, and of the workflow without its pages.
_MAX_PAGE_BYTES = 64 * 1024
# The maximum total size of the FQN, the description, digests, counts and page sizes.
_HEAD_BYTES = MAX_DESCRIPTION_BYTES + 1_024
# Sui's limit is 250 KiB (`max_move_object_size`), including the key of a dynamic field.
_MAX_OBJECT_BYTES = 250 * 1024 - 1_024


@dataclass(frozen=True, slots=True)
class EncodedPlan:
    """The on-chain form of a plan. `tools` are FQNs. The keys of `defaults` are vertex numbers."""

    tools: tuple[str, ...]
    groups: tuple[Group, ...]
    vertices: tuple[Vertex, ...]
    blocks: tuple[Block, ...]
    defaults: Mapping[int, Ports]


def check_plan(document: Document, plan: Plan) -> None:
    """Raise `workflow_too_large` if the plan cannot be encoded."""
    _at_most(_MAX_VERTICES, len(document.vertices), "vertices")
    _at_most(_MAX_EDGES, len(document.edges), "edges")
    _at_most(_MAX_BLOCKS, len(plan.blocks), "regions and loops")
    _at_most(_MAX_GROUPS, len(plan.groups), "entry groups")
    for vertex in plan.vertices.values():
        _at_most(_MAX_OF_ONE, len(vertex.incoming), "input ports of a vertex")


def check_encoded_plan(plan: EncodedPlan, text: bytes, description: str) -> None:
    """Raise `workflow_too_large` if the chain or readers would reject the workflow."""
    _at_most(MAX_DOCUMENT_BYTES, len(text), "bytes in its document")
    _at_most(MAX_DESCRIPTION_BYTES, len(description.encode()), "bytes in its description")
    names = sum(len(fqn) + 1 for fqn in plan.tools)
    _at_most(MAX_ARGUMENT_BYTES, names, "bytes in the FQNs of its tools")
    for group in plan.groups:
        _at_most(_MAX_ENTRIES, len(group.vertices), f"vertices in the group '{group.name}'")
        _check_name(group.name)
    head = _ID_BYTES * len(plan.tools) + len(vector(Group.bcs).encode(plan.groups))
    _at_most(_MAX_PAGE_BYTES - _HEAD_BYTES, head, "bytes in its tools and entry groups")
    for vertex in plan.vertices:
        _check_vertex(vertex)
    for block in plan.blocks:
        _check_block(block)
    for start in range(0, len(plan.vertices), PAGE):
        size = len(vector(Vertex.bcs).encode(plan.vertices[start : start + PAGE]))
        _at_most(_MAX_PAGE_BYTES, size, f"bytes in vertices {start} to {start + PAGE - 1}")
    for start in range(0, len(plan.blocks), PAGE):
        size = len(vector(Block.bcs).encode(plan.blocks[start : start + PAGE]))
        _at_most(_MAX_PAGE_BYTES, size, f"bytes in blocks {start} to {start + PAGE - 1}")
    for values in plan.defaults.values():
        _at_most(_MAX_OBJECT_BYTES, values.size(), "bytes in the default values of a vertex")


def _check_vertex(vertex: Vertex) -> None:
    _at_most(_MAX_OF_ONE, len(vertex.variants), "variants of a vertex with edges")
    for port in vertex.ports:
        _check_name(port.name)
        _at_most(_MAX_OF_ONE, len(port.sources), f"edges to a port '{port.name}'")
    for variant in vertex.variants:
        _check_name(variant.name)
        _at_most(_MAX_OF_ONE, len(variant.edges), f"edges from a variant '{variant.name}'")
        for edge in variant.edges:
            _check_name(edge.port)


def _check_block(block: Block) -> None:
    kind = "region" if block.is_region else "loop"
    _at_most(_MAX_OF_ONE, len(block.needs), f"ports of a {kind} that get values from outside")
    _at_most(_MAX_OF_ONE, len(block.cursors), "start vertices of an iteration")
    _at_most(_MAX_OF_ONE, len(block.starts), "vertices and regions in a loop")
    _at_most(_MAX_OF_ONE, len(block.collect_edges), "ports that receive the lists of a region")
    for collect in block.collect_edges:
        _at_most(_MAX_OF_ONE, len(collect.sources), "vertices whose values a port collects")


def _check_name(name: str) -> None:
    if not name.isascii() or len(name) > _MAX_NAME_BYTES:
        raise too_large_error(
            f"the name {name[:80]!r} is not ASCII or is longer than {_MAX_NAME_BYTES} characters",
            "Use short ASCII names for ports, variants and entry groups.",
        )


def _at_most(limit: int, count: int, items: str) -> None:
    if count > limit:
        raise too_large_error(
            f"it has {count} {items}, and the limit is {limit}",
            "Split the workflow into several workflows.",
        )


def too_large_error(message: str, hint: str) -> ValidationError:
    """Return the error for a workflow that cannot be published."""
    return ValidationError(
        "workflow_too_large", f"the workflow cannot be published: {message}", hint=hint
    )
