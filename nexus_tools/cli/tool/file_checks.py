"""Checks of tools in files: Python tools, which this process serves, and definition files."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from nexus_tools.cli.framework import Session, read_json
from nexus_tools.errors import ValidationError
from nexus_tools.sui.support.logs import log_to_stderr

if TYPE_CHECKING:
    from nexus_tools.tool_server import Check

Row = tuple[str, "Check"]
"""The name of a tool or a file, and the check."""


async def check_python_tools(session: Session, target: str) -> "AsyncIterator[Row]":
    """Serve the tools of a Python file on a free port, and check each of them with real calls.

    Raises the errors of `load`.
    """
    from nexus_tools.cli.tool.registered_schemas import compare_with_chain
    from nexus_tools.cli.tool.served_definitions import open_http, served_urls
    from nexus_tools.tool_server import check_tool, load, serving

    server = load(target)
    log_to_stderr("text", again=False)
    async with serving(server) as root, open_http(None) as http:
        for url in await served_urls(http, root):
            name = url.removeprefix(root).strip("/")
            async for check in check_tool(url, http):
                yield name, check
        async for row in compare_with_chain(session, server.definitions(root)):
            yield row


async def check_definitions(name: str) -> "AsyncIterator[Row]":
    """Check the definitions in a JSON file without a call.

    Raises the errors of `read_json`.
    """
    from nexus_tools.tool import ToolDefinition, check_output_schema
    from nexus_tools.tool_server import Check, Status, hint_for_ports

    document = read_json(name)
    for item in document if isinstance(document, list) and document else [document]:
        try:
            definition = ToolDefinition.parse(item)
        except ValidationError as error:
            yield name, Check("definition", Status.FAILED, error.message, error.hint)
            continue
        variants = ", ".join(check_output_schema(definition.output_schema).variants)
        message = f"{definition.fqn}, with variants: {variants}"
        hint = hint_for_ports(definition.input_schema, definition.output_schema)
        yield name, Check("definition", Status.PASSED, message, hint)
