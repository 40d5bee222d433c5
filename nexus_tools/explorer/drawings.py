"""Published workflows, and their drawings of bounded size."""

import asyncio
from collections.abc import Hashable, Mapping

from cachetools import LRUCache
from markupsafe import Markup

from nexus_tools.contracts.move_bindings.workflows.dag import Dag
from nexus_tools.explorer.chain import ChainReader
from nexus_tools.registry import PublishedWorkflow, Workflows
from nexus_tools.sui.types.address import Address
from nexus_tools.workflow import Document, VertexState, draw_svg

_MAX_VERTICES = 80
MAX_DRAWING_BYTES = 60_000
_CACHED = 100

_drawings: LRUCache[Hashable, Markup | None] = LRUCache(_CACHED)
_published: LRUCache[tuple[Address, bytes] | None, PublishedWorkflow] = LRUCache(_CACHED)


async def read_published(chain: ChainReader, workflow: Address) -> PublishedWorkflow:
    """Return a published workflow. A version with the same digest is read once.

    Raises `node_unreachable`, `workflow_unknown` or `workflow_mismatch`.
    """
    dag = await chain.decoded(workflow, Dag)
    key = None if dag is None else (workflow, dag.digest)
    found = _published.get(key)
    if found is None:
        workflows = Workflows(chain.client, chain.deployment)
        found = await chain.shared(("workflow", key), lambda: workflows.by_id(workflow))
        _published[key] = found
    return found


async def draw(
    document: Document,
    states: Mapping[str, VertexState] | None = None,
    *,
    max_bytes: int = MAX_DRAWING_BYTES,
) -> Markup | None:
    """Return the drawing of a workflow as SVG, or None if it has more than `max_bytes`.

    Each vertex links to the element `vertex-NUMBER` of the page. The drawing escapes all texts.
    """
    if len(document.vertices) > _MAX_VERTICES:
        return None
    key = (document.digest(), frozenset((states or {}).items()), max_bytes)
    if key in _drawings:
        return _drawings[key]
    hrefs = [f"#vertex-{number}" for number, _ in enumerate(document.vertices)]
    drawn = await asyncio.to_thread(draw_svg, document, states, hrefs=hrefs, styled=False)
    drawing = Markup(drawn) if len(drawn) <= max_bytes else None  # noqa: S704 - escaped by draw_svg
    _drawings[key] = drawing
    return drawing
