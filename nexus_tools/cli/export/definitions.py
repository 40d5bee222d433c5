"""The definitions to export: of the registry, or of a file."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nexus_tools.cli.framework import Selection, Session, read_json
from nexus_tools.contracts import ToolState
from nexus_tools.errors import NotFoundError, UsageError, ValidationError
from nexus_tools.tool import ToolDefinition, ToolFqn

if TYPE_CHECKING:
    from nexus_tools.contracts.move_bindings.tool import Tool


async def registered(
    session: Session, fqns: Sequence[str], selection: Selection, *, every: bool
) -> tuple[ToolDefinition, ...]:
    """The definitions of the tools that are named, or that are active and chosen.

    Raises `tool_unknown`, or a usage error if it is not said which tools are meant. A definition
    that breaks the rules is an error if its tool is named, else a warning.
    """
    wanted = [ToolFqn.parse(fqn) for fqn in fqns]
    if bool(wanted) + bool(selection) + every != 1:
        raise UsageError(
            "selection_unclear",
            "it is not clear which tools are meant",
            hint="name FQNs, or choose by --domain, --only and the like, or pass --all alone",
        )
    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading the registry"):
            if wanted:
                found = await asyncio.gather(*(nexus.tools.get(fqn) for fqn in wanted))
                _warn_of_state(session, found)
                return tuple(tool.definition.parse() for tool in found)
            chosen = await nexus.tools.list(selection.tool_filter(session, ToolState.ACTIVE))
    return tuple(_readable(session, chosen))


def file_definitions(
    name: str, fqns: Sequence[str], selection: Selection
) -> tuple[ToolDefinition, ...]:
    """The definitions of a file, or those of them that are named.

    Raises as `ToolDefinition.parse` does, or `tool_unknown`.
    """
    if selection.asks_the_registry or (fqns and selection):
        hint = "name FQNs, or choose by --only and --exclude, or leave both away for all"
        raise UsageError("selection_unclear", "a file is not searched by options", hint=hint)
    document = read_json(name)
    documents = document if isinstance(document, list) else [document]
    definitions = {each.fqn: each for each in map(ToolDefinition.parse, documents)}
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
            session.output.warn(f"{tool.fqn} is {tool.state}: it takes no invocation")


def _readable(session: Session, tools: "Sequence[Tool]") -> list[ToolDefinition]:
    definitions = []
    for tool in tools:
        try:
            definitions.append(tool.definition.parse())
        except ValidationError as error:
            session.output.warn(f"{tool.fqn} is skipped: {error.message}")
    return definitions
