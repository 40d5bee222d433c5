"""Published workflows, read from the chain and verified against their documents.

The publisher is untrusted. The document is therefore decompressed only up to a limit, its digest
must equal the on-chain digest, and the on-chain plan must equal the plan of the document.
"""

import asyncio
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeVar

from nexus_tools.contracts import PackageClient, tool_id
from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.contracts.move_bindings.workflows.dag import (
    BlockPageKey,
    ChunkKey,
    Dag,
    DefaultsKey,
    VertexPageKey,
)
from nexus_tools.contracts.move_bindings.workflows.plan import Block, Vertex
from nexus_tools.errors import NexusError, ValidationError
from nexus_tools.registry.workflows.limits import (
    MAX_CHUNKS,
    MAX_DOCUMENT_BYTES,
    PAGE,
    EncodedPlan,
)
from nexus_tools.registry.workflows.plan_encoding import encode_plan
from nexus_tools.registry.workflows.plan_gas import PlanSizes
from nexus_tools.sui.bindings.runtime import MoveStruct
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import dynamic_field_id
from nexus_tools.sui.types.type_tag import TYPE_TAG, Primitive, TypeTag, VectorTag, field_tag
from nexus_tools.tool import ToolFqn
from nexus_tools.workflow import Document, Plan, create_plan, read_document

Entry = TypeVar("Entry", Vertex, Block)


@dataclass(frozen=True, slots=True)
class PublishedWorkflow:
    """A published workflow.

    `tools` are the IDs of its tools, in the order of `fqns`. `name` is the ID of the name object of
    the workflow's unversioned name. `sizes` determines the gas of reading the workflow.
    """

    id: Address
    fqn: ToolFqn
    name: Address
    description: str
    document: Document
    plan: Plan
    tools: tuple[Address, ...]
    sizes: PlanSizes

    @property
    def fqns(self) -> tuple[str, ...]:
        """The FQNs of the workflow's tools, in the order of their numbers."""
        return tuple(dict.fromkeys(vertex.fqn for vertex in self.document.vertices))


async def read_workflow(package: PackageClient, dag: Dag) -> PublishedWorkflow:
    """Return the workflow of an object that was already read. Raises `workflow_mismatch`."""
    text = await _text(package, dag)
    vertices = await _pages(package, dag, VertexPageKey, dag.vertices, Vertex)
    blocks = await _pages(package, dag, BlockPageKey, dag.blocks, Block)
    edges = sum(len(variant.edges) for vertex in vertices for variant in vertex.variants)
    registry = package.deployment.tool_registry
    # Parsing the largest document takes up to two seconds, so do not block the Leader's event loop.
    parsed = await asyncio.to_thread(_parse, registry, dag, text, edges)
    expected = parsed.encoded
    if (dag.tools, dag.groups) != (parsed.tools, expected.groups):
        raise _mismatch(dag, "its tools or entry groups differ from its document")
    if (vertices, blocks) != (expected.vertices, expected.blocks):
        raise _mismatch(dag, "its plan differs from its document")
    keys = [DefaultsKey(number) for number in expected.defaults]
    defaults = await _fields(package, dag, keys, package.deployment.type_of(Ports))
    if defaults != [*expected.defaults.values()]:
        raise _mismatch(dag, "its default values differ from its document")
    fqn = ToolFqn.parse(dag.fqn)
    terms = (dag.id, fqn, dag.name, dag.description)
    return PublishedWorkflow(*terms, parsed.document, parsed.plan, parsed.tools, plan_sizes(dag))


def plan_sizes(dag: Dag) -> PlanSizes:
    """Return the sizes in bytes of a published workflow."""
    vertex_pages = -(-dag.vertices // PAGE)
    pages = dag.page_bytes
    return PlanSizes(dag.head_bytes, pages[:vertex_pages], pages[vertex_pages:])


@dataclass(frozen=True, slots=True)
class _ParsedDocument:
    """A document with its plan, the encoded plan, and the IDs of its tools."""

    document: Document
    plan: Plan
    encoded: EncodedPlan
    tools: tuple[Address, ...]


def _parse(registry: Address, dag: Dag, text: bytes, edges: int) -> _ParsedDocument:
    """Parse a document and create its plan.

    The plan is created only if the document has as many vertices and edges as the publisher paid
    for on chain. An untrusted document therefore cannot cause more work than was paid for.
    """
    with _as_mismatch(dag):
        document, _ = read_document(text)
    if (len(document.vertices), len(document.edges)) != (dag.vertices, edges):
        raise _mismatch(dag, "its numbers of vertices or edges differ from its document")
    with _as_mismatch(dag):
        plan = create_plan(document)
        expected = encode_plan(document, plan)
        tools = tuple(tool_id(registry, ToolFqn.parse(fqn)) for fqn in expected.tools)
    if document.digest() != dag.digest:
        raise _mismatch(dag, "its document is not in canonical form")
    return _ParsedDocument(document, plan, expected, tools)


@contextmanager
def _as_mismatch(dag: Dag) -> Iterator[None]:
    try:
        yield
    except NexusError as error:
        raise _mismatch(dag, f"its document is invalid: {error.message}") from error


async def written_defaults(
    package: PackageClient, dag: Dag, numbers: Sequence[int]
) -> frozenset[int]:
    """Return the numbers of the vertices whose default values are on chain."""
    ids = [_field_id(package, dag, DefaultsKey(number)) for number in numbers]
    objects = await package.client.objects(ids)
    return frozenset(number for number, value in zip(numbers, objects, strict=True) if value)


async def _text(package: PackageClient, dag: Dag) -> bytes:
    if dag.chunks > MAX_CHUNKS:
        raise _mismatch(dag, "its document is too large")
    keys = [ChunkKey(number) for number in range(dag.chunks)]
    chunks = await _fields(package, dag, keys, VectorTag(Primitive.U8))
    decompressor = zlib.decompressobj()
    try:
        text = decompressor.decompress(
            b"".join(chunk or b"" for chunk in chunks), MAX_DOCUMENT_BYTES
        )
    except zlib.error as error:
        raise _mismatch(dag, "its document cannot be decompressed") from error
    if not decompressor.eof:
        raise _mismatch(dag, "its document is too large, or a part of it is missing")
    if sha256(text).digest() != dag.digest:
        raise _mismatch(dag, "the digest of its document differs from the on-chain digest")
    return text


async def _fields(
    package: PackageClient, dag: Dag, keys: Sequence[MoveStruct], value: TypeTag
) -> list[Any]:
    """Return the values of these dynamic field keys, or None for fields that do not exist."""
    deployment = package.deployment
    objects = await package.client.objects([_field_id(package, dag, key) for key in keys])
    return [
        None
        if field is None
        else deployment.decode_entry(field, field_tag(deployment.type_of(type(key)), value))
        for key, field in zip(keys, objects, strict=True)
    ]


def _field_id(package: PackageClient, dag: Dag, key: MoveStruct) -> Address:
    kind = TYPE_TAG.encode(package.deployment.type_of(type(key)))
    codec: Any = key
    return dynamic_field_id(dag.id, kind, codec.bcs.encode(key))


async def _pages(
    package: PackageClient,
    dag: Dag,
    page: type[VertexPageKey] | type[BlockPageKey],
    entries: int,
    kind: type[Entry],
) -> tuple[Entry, ...]:
    """Return the entries of all pages of a kind. Missing pages are skipped."""
    keys = [page(number) for number in range(-(-entries // PAGE))]
    pages = await _fields(package, dag, keys, VectorTag(package.deployment.type_of(kind)))
    return tuple(entry for entries in pages for entry in entries or ())


def _mismatch(dag: Dag, reason: str) -> ValidationError:
    return ValidationError(
        "workflow_mismatch",
        f"{dag.fqn} is inconsistent: {reason}",
        hint="Do not execute the workflow. It was not published with nexus-tools.",
    )
