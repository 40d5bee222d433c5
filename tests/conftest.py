"""What every test shares: async tests run on asyncio; the package as its next version might be."""

import asyncio
import re
import signal
import socket
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import settings

CACHE = Path(__file__).parents[1] / ".cache"


def pytest_configure():
    """Draw the same values in each run, however slow the machine is; let programs be interrupted.

    A shell has what it starts in the background ignore interrupts, and that is inherited.
    """
    settings.load_profile("ci")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def anyio_backend():
    return "asyncio"


@asynccontextmanager
async def _served(app):
    """The listening socket is there before the server runs: whoever connects waits for it."""
    import uvicorn

    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="auto", ws="none")
    server = uvicorn.Server(config)
    task = asyncio.create_task(server._serve([listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        listener.close()


@pytest.fixture
async def serve_app():
    """Serve an ASGI application until the test ends; gives its URL."""
    async with AsyncExitStack() as stack:

        async def serve(app):
            return await stack.enter_async_context(_served(app))

        yield serve


@pytest.fixture(scope="session")
def compiler_cache():
    """The folder in which `scripts/move build` has put the Move compiler."""
    from nexus_tools.localnet.compiler.install import WASM_PATH

    if not (CACHE / "sui-move-builder" / "dist" / WASM_PATH).is_file():
        pytest.skip("the Move compiler is not installed: scripts/move build fetches it")
    pytest.importorskip("wasmtime", reason="the extra `compiler` is not installed")
    return CACHE


@pytest.fixture(scope="session")
def move_builder(compiler_cache):
    """The Move compiler."""
    from nexus_tools.localnet.compiler import MoveBuilder

    return MoveBuilder(compiler_cache / "sui-move-builder" / "dist", compiler_cache / "wasmtime")


@pytest.fixture(scope="session")
def deploy(session_localnet):
    """Publishes our package with a key, which gets 1 000 SUI first; gives the deployment."""
    from nexus_tools.client import SuiClient
    from nexus_tools.registry import Publisher, load_package

    async def publish(admin):
        async with SuiClient(session_localnet.network, admin) as client:
            return (await Publisher(client).publish(load_package())).deployment

    def deploy(admin):
        session_localnet.fund(admin.address, 1_000 * 10**9)
        return session_localnet.run(publish(admin))

    return deploy


def _patched(**modules):
    """The package with other modules, by the names that they have."""
    from dataclasses import replace

    from nexus_tools.localnet.bytecode import deserialize
    from nexus_tools.localnet.bytecode.digest import package_digest
    from nexus_tools.registry import load_package

    package = load_package()
    patched = tuple(
        modules.get(deserialize(code).name, lambda code: code)(code) for code in package.modules
    )
    digest = package_digest(patched, package.dependencies)
    return replace(package, modules=patched, digest=digest)


def _with_version_from(place):
    """Makes a registry's code take its `VERSION` from another place of its constant pool.

    It is now at place 1, which it shares with the code of an error: `LdConst 1; Abort` stays.
    """
    uses = rb"\x07\x01(?=\x23\x04|\x21\x04|\x0a\x00\x0f|\x11)"  # <, ==, the write, the event

    def patch(code):
        changed, count = re.subn(uses, bytes([7, place]), code)
        assert count == 4
        return changed

    return patch


@pytest.fixture(scope="session")
def next_package():
    """The package with another `VERSION` in both registries, which have to be migrated then.

    The number is that of the milliseconds of a year, which both have as a constant.
    """
    return _patched(tool_registry=_with_version_from(4), leader_registry=_with_version_from(11))


@pytest.fixture(scope="session")
def fixed_package():
    """The package with another constant somewhere, and the same `VERSION`."""
    day, other = (each.to_bytes(8, "little") for each in (86_400_000, 86_400_001))
    return _patched(tool_registry=lambda code: code.replace(day, other))
