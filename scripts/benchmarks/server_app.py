"""One server process of a figure: `tools` is a `ToolServer`, `bare` is plain Starlette.

`signed` is a `ToolServer` that accepts calls of the leader whose key is in a file, and signs its
responses.

All servers do the same work with the same uvicorn settings: they respond to two integers with their
sum or an error. The process prints the URL when it serves requests, and serves until SIGTERM. The
process responds to each input line with the CPU seconds that it has used so far.
"""

import sys
import threading
import time
from pathlib import Path

import uvicorn
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from nexus_tools.tool import KnownKeys, SigningKey
from nexus_tools.tool_server import SignaturePolicy, ToolServer, Variant, run, tool

LEADER = "0x" + "a1" * 32
MOST = 2**63


class Sum(Variant, name="ok"):
    """The sum."""

    result: int


class Overflow(Variant, name="err_overflow"):
    """The sum exceeds 64 bits."""

    reason: str


@tool("xyz.example.math.add@1")
async def add(a: int, b: int) -> Sum | Overflow:
    """Add two 64-bit integers."""
    total = a + b
    if abs(total) >= MOST:
        return Overflow(reason=f"{total} does not fit 64 bits")
    return Sum(result=total)


class Ports(BaseModel):
    """The input of the bare application."""

    model_config = ConfigDict(extra="forbid")

    a: int
    b: int


async def bare_add(request: Request) -> JSONResponse:
    """Serve the same tool without nexus_tools."""
    try:
        ports = Ports.model_validate_json(await request.body())
    except ValidationError as error:
        return JSONResponse({"detail": error.errors(include_url=False)}, 422)
    total = ports.a + ports.b
    if abs(total) >= MOST:
        return JSONResponse({"err_overflow": {"reason": f"{total} does not fit 64 bits"}})
    return JSONResponse({"ok": {"result": total}})


def serve_tools() -> None:
    """Serve as `nexus-tools tool serve` does."""
    run(ToolServer([add]), port=0, on_ready=_say)


def serve_signed() -> None:
    """Serve as `nexus-tools tool serve --leaders … --signing-key …` does."""
    key = SigningKey.load(Path(sys.argv[2]))
    leaders = KnownKeys({LEADER: [key.public_key]})
    signatures = SignaturePolicy("required", leaders, key=key)
    run(ToolServer([add], signatures=signatures), port=0, on_ready=_say)


def serve_bare() -> None:
    """Serve with the settings of `nexus_tools.tool_server.run`."""
    app = Starlette(routes=[Route("/invoke", bare_add, methods=["POST"])])
    config = uvicorn.Config(
        app, port=0, access_log=False, log_config=None, lifespan="on", server_header=False
    )
    _Server(config).run()


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        await super().startup(sockets)  # type: ignore[arg-type]
        port = self.servers[0].sockets[0].getsockname()[1]
        _say(f"http://127.0.0.1:{port}")


def _say(url: str) -> None:
    print(url, flush=True)


def _account() -> None:
    for _ in sys.stdin:
        print(time.process_time(), flush=True)


if __name__ == "__main__":
    threading.Thread(target=_account, daemon=True).start()
    {"tools": serve_tools, "signed": serve_signed, "bare": serve_bare}[sys.argv[1]]()
