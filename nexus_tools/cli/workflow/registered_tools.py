"""Lookup of a workflow's tools in the registry."""

from typing import TYPE_CHECKING

from nexus_tools.cli.framework import Session
from nexus_tools.cli.tool.proof import check_domain

if TYPE_CHECKING:
    from nexus_tools.contracts.move_bindings.tool import Tool
    from nexus_tools.nexus import Nexus
    from nexus_tools.workflow import Document, ToolFacts


async def registered_tools(
    session: Session, document: "Document", query_domain: bool | None
) -> "dict[str, ToolFacts]":
    """Return the registered tools of a document by FQN.

    `query_domain` is the value of `--check-domain`. Raises `definition_invalid` if a registered
    definition is invalid.
    """
    found = {}
    async with session.nexus(signing=False) as nexus:
        for fqn in dict.fromkeys(vertex.fqn for vertex in document.vertices):
            with session.output.progress(f"reading {fqn}"):
                tool = await nexus.tools.find(fqn)
            if tool is not None:
                found[fqn] = await _facts(session, nexus, tool, query_domain)
    return found


async def _facts(
    session: Session, nexus: "Nexus", tool: "Tool", query_domain: bool | None
) -> "ToolFacts":
    from nexus_tools.registry import tool_facts
    from nexus_tools.registry.domain_proof import ProofState

    proof = await check_domain(session, nexus, tool, query_domain)
    return tool_facts(tool, is_proven=proof is None or proof.state is ProofState.PROVED)
