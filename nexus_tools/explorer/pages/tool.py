"""The page of a tool: its form, outputs, terms, record, versions, and the author's checklist."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from cachetools import LRUCache

from nexus_tools.contracts.move_bindings.name import Name
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.errors import UnreachableError
from nexus_tools.explorer.charts import call_chart
from nexus_tools.explorer.checklist import checklist
from nexus_tools.explorer.context import Page, PageContext, url_with
from nexus_tools.explorer.definition_changes import describe_changes
from nexus_tools.explorer.forms.commands import call_texts
from nexus_tools.explorer.forms.controls import ROOT
from nexus_tools.explorer.forms.interface import ToolInterface
from nexus_tools.index import IndexedTool, find_tool_name, read_subject_days, read_versions
from nexus_tools.sui.support.allowed_sources import is_loopback
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolFqn

_SHOWN = 10
_DAYS = 30
_SUBMITTED = "filled"
"""The parameter of a submitted form, whose controls may all be empty."""
_interfaces: LRUCache[tuple[Address, int, bytes, bytes], ToolInterface] = LRUCache(200)


async def show_tool(context: PageContext) -> Page:
    """Show a tool. Without a node, the parts that need its definition are missing."""
    fqn = ToolFqn.parse(context.path["fqn"])
    detail = context.index.tool(str(fqn))
    if detail is None:
        raise context.not_found("tool", str(fqn), "FQN")
    tool = detail.tool
    days = read_subject_days(context.connection, tool.id, _DAYS, context.now_ms)
    versions = read_versions(context.connection, fqn.unversioned, context.now_ms)
    values = {
        "fqn": fqn,
        "detail": detail,
        "tool": tool,
        "versions": versions,
        "days": days,
        "chart": call_chart(days, context.now_ms),
        "invocations": context.index.invocations(tool=tool.id, limit=_SHOWN).items,
        "on_chain": None,
    }
    try:
        values |= await _on_chain(context, fqn, tool, versions)
    except UnreachableError as error:
        values["chain_problem"] = error.message
    return Page("tool.html", str(fqn), values)


async def _on_chain(
    context: PageContext, fqn: ToolFqn, indexed: IndexedTool, versions: Sequence[IndexedTool]
) -> Mapping[str, Any]:
    """Return the values that need the tool's object. Raises `node_unreachable`."""
    chain = context.chain
    previous = _previous(fqn, versions)
    name_id = find_tool_name(context.connection, indexed.id)
    ids = (indexed.id, name_id, None if previous is None else previous.id)
    # The next reads find these objects in the cache.
    await chain.objects([item for item in ids if item is not None])
    tool = await chain.decoded(indexed.id, Tool)
    if tool is None:
        return {}
    interface = await _interface(tool)
    name = await chain.decoded(tool.name, Name)
    form = interface.filled(_submitted(context))
    proof = chain.known_proof(fqn.domain, str(indexed.owner))
    proof_state = None if proof is None else proof.state.value
    is_local = is_loopback(chain.client.network.endpoint().host)
    return {
        "on_chain": tool,
        "pending_owner": None if name is None else name.owner.pending_owner,
        "slash": tool.collateral.pending_slash(context.now_ms),
        "interface": interface,
        "form": form,
        "examples": [
            url_with(context.request.url.path, {_SUBMITTED: "1", **texts})
            for texts in interface.examples
        ],
        "calls": call_texts(
            fqn,
            form.inputs,
            url=indexed.url,
            network=context.network,
            is_offchain=tool.definition.function is None,
        ),
        "proof": proof,
        "is_local": is_local,
        "checklist": checklist(tool, interface, proof_state, is_local=is_local),
        "changes": await _changes(context, tool, interface, previous),
    }


async def _interface(tool: Tool) -> ToolInterface:
    """Return the prepared interface of a tool. Preparing it can take some time, so cache it."""
    definition = tool.definition
    key = (tool.id, tool.revision, definition.input_schema, definition.output_schema)
    interface = _interfaces.get(key)
    if interface is None:
        interface = await asyncio.to_thread(ToolInterface, definition)
        _interfaces[key] = interface
    return interface


def _submitted(context: PageContext) -> dict[str, str] | None:
    """Return the texts of the form in the query, or None if the form was not submitted."""
    query = context.request.query_params
    if _SUBMITTED not in query:
        return None
    return {
        name: value
        for name, value in query.multi_items()
        if name == ROOT or name.startswith(f"{ROOT}/")
    }


def _previous(fqn: ToolFqn, versions: Sequence[IndexedTool]) -> IndexedTool | None:
    """Return the tool with the previous version, or None."""
    numbers = {ToolFqn.parse(version.fqn).version: version for version in versions}
    earlier = [number for number in numbers if number < fqn.version]
    return numbers[max(earlier)] if earlier else None


async def _changes(
    context: PageContext, tool: Tool, interface: ToolInterface, previous: IndexedTool | None
) -> Mapping[str, Any] | None:
    """Return the changes since the previous version, or None without one."""
    if previous is None or interface.document is None:
        return None
    old = await context.chain.decoded(previous.id, Tool)
    if old is None:
        return None
    document = (await _interface(old)).document
    if document is None:
        return None
    changes = describe_changes(document, interface.document, old.price_mist, tool.price_mist)
    return {"since": previous.fqn, "items": changes}
