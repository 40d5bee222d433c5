"""Selection of the definitions to export, from the registry or a file."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nexus_tools.cli.framework import Session, ToolSelection, read_json
from nexus_tools.contracts import ToolState
from nexus_tools.errors import NotFoundError, UsageError, ValidationError
from nexus_tools.tool import ToolDefinition, ToolFqn

if TYPE_CHECKING:
    from nexus_tools.contracts.move_bindings.tool import Tool


async def registered(
    session: Session, fqns: Sequence[str], selection: ToolSelection, *, all_tools: bool
) -> tuple[ToolDefinition, ...]:
    """Return the definitions of the named tools, or of the selected active tools.

    Raises `tool_unknown`, or a usage error if the selection is ambiguous. An invalid
    definition of a named tool raises an error. An invalid selected tool is skipped with a warning.
    """
    wanted = [ToolFqn.parse(fqn) for fqn in fqns]
    if bool(wanted) + bool(selection) + all_tools != 1:
        raise UsageError(
            "selection_ambiguous",
            "expected exactly one of FQNs, selection options, and --all",
            hint="Pass FQNs, or options such as --domain and --only, or --all.",
        )
    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading the registry"):
            if wanted:
                found = await asyncio.gather(*(nexus.tools.get(fqn) for fqn in wanted))
                _warn_of_state(session, found)
                return tuple(tool.definition.parse() for tool in found)
            tool_filter = selection.tool_filter(session, ToolState.ACTIVE)
            chosen = [tool async for tool in nexus.tools.iterate(tool_filter)]
    return tuple(_readable(session, chosen))


def file_definitions(
    name: str, fqns: Sequence[str], selection: ToolSelection
) -> tuple[ToolDefinition, ...]:
    """Return the definitions in a file that have one of the FQNs, or that match the selection.

    Raises `tool_unknown`, or the errors of `ToolDefinition.parse`.
    """
    if selection.needs_registry or (fqns and selection):
        hint = "Pass FQNs, or --only and --exclude, or neither to export all."
        message = "--domain, --owner and --search cannot be used with a file"
        raise UsageError("selection_ambiguous", message, hint=hint)
    document = read_json(name)
    documents = document if isinstance(document, list) else [document]
    definitions = {item.fqn: item for item in map(ToolDefinition.parse, documents)}
    wanted = [ToolFqn.parse(fqn) for fqn in fqns] or list(
        filter(selection.patterns.admit, definitions)
    )
    missing = [str(fqn) for fqn in wanted if fqn not in definitions]
    if missing:
        raise NotFoundError("tool_unknown", f"{name} does not define {', '.join(missing)}")
    return tuple(definitions[fqn] for fqn in wanted)


def _warn_of_state(session: Session, tools: "Sequence[Tool]") -> None:
    for tool in tools:
        if not tool.is_active:
            session.output.warn(f"{tool.fqn} is {tool.state}: it does not accept invocations")


def _readable(session: Session, tools: "Sequence[Tool]") -> list[ToolDefinition]:
    definitions = []
    for tool in tools:
        try:
            definitions.append(tool.definition.parse())
        except ValidationError as error:
            session.output.warn(f"{tool.fqn} is skipped: {error.message}")
    return definitions
