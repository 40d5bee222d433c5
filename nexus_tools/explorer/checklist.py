"""The checklist for the author of a tool: what helps users and agents to find and trust it."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from nexus_tools.contracts import ToolState
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.explorer.forms.interface import ToolInterface
from nexus_tools.tool import ToolDefinition, ports_without_text

_MIN_DESCRIPTION = 40
_NEW_VERSION = "Schemas never change, so this needs a new version."
_MAX_NAMED = 6


class CheckItem(Struct, frozen=True):
    """An item of the checklist. `advice` says how to complete it.

    `command` is one command, or several commands on separate lines.
    """

    name: str
    is_done: bool
    advice: str
    command: str = ""


def checklist(
    tool: Tool, interface: ToolInterface, proof_state: str | None, *, is_local: bool
) -> list[CheckItem]:
    """Return the items for a tool. `proof_state` is that of its domain, or None if unknown.

    The list for a local network omits the domain, because no domain can list a local network.
    """
    return [
        *_texts(tool, interface.document, interface),
        *(() if is_local else _domain(tool, proof_state)),
        *(_signing(tool) if tool.definition.function is None else ()),
        *_availability(tool),
    ]


def _texts(
    tool: Tool, definition: ToolDefinition | None, interface: ToolInterface
) -> Iterator[CheckItem]:
    yield CheckItem(
        "Valid definition",
        not interface.problem,
        "Leaders refuse an invalid definition. Validate it before you register a new version.",
        f"nexus-tools tool validate URL/{tool.fqn}",
    )
    yield CheckItem(
        "Description",
        len(tool.definition.description.strip()) >= _MIN_DESCRIPTION,
        f"Describe the purpose, the use and the limits of the tool, in at least {_MIN_DESCRIPTION}"
        " characters. Searches use this text.",
        f"nexus-tools tool update {tool.fqn} --description TEXT",
    )
    schema = definition.input_schema if definition is not None else {}
    yield CheckItem(
        "Examples",
        _has_examples(schema),
        "Add examples to the input schema, or to each port. Forms and agents start with them."
        f" {_NEW_VERSION}",
    )
    is_valid = definition is not None and not interface.problem
    lacking = (
        ports_without_text(definition.input_schema, definition.output_schema)
        if definition is not None and is_valid
        else []
    )
    yield CheckItem(
        "Titles or descriptions of all ports",
        is_valid and not lacking,
        f"Describe {_listed(lacking)}. {_NEW_VERSION}"
        if lacking
        else f"Describe each port in the schemas. {_NEW_VERSION}",
    )
    yield CheckItem(
        "Error variant",
        any(variant.is_error for variant in interface.outputs),
        "Add an output variant whose name starts with err, so that workflows can handle failures."
        f" {_NEW_VERSION}",
    )


def _domain(tool: Tool, proof_state: str | None) -> Iterator[CheckItem]:
    unknown = " The state is not known here." if proof_state is None else ""
    yield CheckItem(
        "Domain proof",
        proof_state == "proved",
        f"Publish the list of owners on your domain, so that users know who you are.{unknown}",
        f"nexus-tools tool proof {tool.fqn}",
    )


def _signing(tool: Tool) -> Iterator[CheckItem]:
    """Return the items for signed answers. Their commands are in the order that loses no call."""
    yield CheckItem(
        "Signing key",
        bool(tool.keys.keys),
        "Leaders can then verify that answers come from your server. First create the key, and"
        " serve the tool with it. A leader that does not sign its calls cannot call a tool with a"
        " key. See docs/guides/tools.md.",
        "\n".join(
            (
                "nexus-tools tool key new KEY.pem",
                "nexus-tools tool serve FILE --network NAME --signing-key KEY.pem",
                f"nexus-tools tool key add {tool.fqn} KEY.pem",
            )
        ),
    )
    yield CheckItem(
        "Signed outcomes",
        tool.requires_signed_outcome,
        "After you add a key, require its signature on chain. Otherwise a leader can settle"
        " without it, and a proof of an invocation does not need the signature.",
        f"nexus-tools tool update {tool.fqn} --require-signed-outcome",
    )


def _availability(tool: Tool) -> Iterator[CheckItem]:
    yield CheckItem(
        "Accepted leaders",
        tool.accepts_any_leader or bool(tool.leaders.entries),
        "The tool accepts no leader, so no one can call it.",
        f"nexus-tools tool leaders add {tool.fqn} LEADER",
    )
    yield CheckItem(
        "Active",
        tool.is_active,
        "Only active tools accept invocations.",
        f"nexus-tools tool {_ACTIVATION.get(tool.state, 'show')} {tool.fqn}",
    )


_ACTIVATION = {
    ToolState.SUSPENDED: "top-up",
    ToolState.UNREGISTERED: "cancel-unregister",
    ToolState.CLAIMED: "re-register",
}
"""The subcommands that make a tool in these states active."""


def _listed(names: list[str]) -> str:
    others = " and others" if len(names) > _MAX_NAMED else ""
    return f"{', '.join(names[:_MAX_NAMED])}{others}"


def _has_examples(schema: Mapping[str, Any]) -> bool:
    """Return whether the schema, or each of its required ports, has an example or a default."""
    if schema.get("examples"):
        return True
    ports = schema.get("properties", {})
    required = [ports[name] for name in schema.get("required", ()) if name in ports]
    return all(
        isinstance(port, Mapping) and any(key in port for key in ("examples", "default", "enum"))
        for port in required
    )
