"""Every way in which a request to a server fails, told as a `CallFailedError`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import httpx2
import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from nexus_tools.bridges.mcp.call_failed import CallFailedError
from nexus_tools.bridges.mcp.link import ANSWERED_HERE, Link

# How long to wait for the reason, once a connection has ended.
_REASON_S = 3.0

# What the SDK says when the server has forgotten a session that began with `initialize`.
_SESSION_GONE = "Session terminated"
# What it says when the connection has ended.
_CONNECTION_GONE = "Connection closed"


@asynccontextmanager
async def explained(link: Link, seconds: float) -> AsyncIterator[None]:
    """Within a time limit; what fails is raised as a `CallFailedError`."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise CallFailedError.late(seconds) from error
    except MCPError as error:
        raise await _explanation(error, link) from error
    except ValidationError as error:
        problem = f"the protocol does not allow the server's answer: {_in_words(error)}"
        raise CallFailedError(problem) from error


@asynccontextmanager
async def explained_as_a_whole() -> AsyncIterator[None]:
    """Around task groups, which wrap what is raised in groups of exceptions."""
    try:
        yield
    except Exception as error:
        leaf = _leaf(error)
        if isinstance(leaf, CallFailedError):
            raise leaf from error
        if isinstance(leaf, OSError | httpx2.HTTPError | httpx2.InvalidURL):
            raise CallFailedError(f"the server cannot be reached: {leaf}") from error
        raise


def _leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def is_end(error: MCPError) -> bool:
    """Whether the connection has ended; servers use the same code for much else."""
    return error.code == types.CONNECTION_CLOSED and error.message == _CONNECTION_GONE


async def _explanation(error: MCPError, link: Link) -> CallFailedError:
    if is_end(error):
        with suppress(TimeoutError):
            async with asyncio.timeout(_REASON_S):
                await link.closed.wait()
        return CallFailedError.ended(link)
    if error.code == ANSWERED_HERE:
        return CallFailedError(error.message)
    if error.message == _SESSION_GONE:
        link.close("the server has forgotten the session")
    return CallFailedError(f"the server refuses: {error.message}", code=error.code)


def _in_words(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False)[:3]
    return "; ".join(f"{'/'.join(map(str, each['loc']))}: {each['msg']}" for each in problems)
