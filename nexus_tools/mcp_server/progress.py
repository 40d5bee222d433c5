"""Progress notifications to the client of a call."""

from typing import Any

from mcp.server.context import ServerRequestContext

from nexus_tools.mcp_server.catalogue.catalogue import Progress


def progress_to(context: ServerRequestContext[Any, Any]) -> Progress:
    """Return a function that reports a step of progress if the client sent a progress token."""
    steps = 0

    async def tell(message: str) -> None:
        nonlocal steps
        steps += 1
        await context.session.report_progress(steps, message=message)

    return tell
