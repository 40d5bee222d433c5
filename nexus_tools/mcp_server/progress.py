"""How far a call is, told to the client that made it."""

from typing import Any

from mcp.server.context import ServerRequestContext

from nexus_tools.mcp_server.catalogue.catalogue import Progress


def progress_to(context: ServerRequestContext[Any, Any]) -> Progress:
    """Progress notifications, which the SDK sends if the client gave a token; each counts one."""
    steps = 0

    async def tell(message: str) -> None:
        nonlocal steps
        steps += 1
        await context.session.report_progress(steps, message=message)

    return tell
