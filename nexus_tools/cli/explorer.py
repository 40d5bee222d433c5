"""The command `nexus-tools explorer`."""

import asyncio
import os
import socket
from collections.abc import Callable, Mapping
from errno import EADDRINUSE
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Session, plain, query_command

if TYPE_CHECKING:
    from nexus_tools.explorer import ChainReader, Explorer
    from nexus_tools.index.api import IndexSource
    from nexus_tools.nexus import Nexus

DEFAULT_PORT = 8_091
_RETRY_S = 1.0
_CHAIN_CHECK_S = 5.0
Options = Mapping[str, Any]


@click.command()
@click.option("--open", "opens", is_flag=True, help="Open the explorer in your browser.")
@click.option("--host", default="127.0.0.1", show_default=True, help="IP address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=DEFAULT_PORT,
    show_default=True,
    help="Port to listen on. Port 0 selects a free port.",
)
@click.option(
    "--run/--no-run",
    "follows",
    default=True,
    show_default=True,
    help="Build the index and keep it current, unless another process does.",
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="Host name that clients may use, such as the name of a proxy. May be repeated.",
)
@click.option("--until-stdin-ends", is_flag=True, hidden=True)
@query_command
async def command(session: Session, **options: Any) -> None:
    """Show tools, leaders, invocations and workflows in the browser until Ctrl-C.

    The explorer reads the index, which this command also keeps current, and the chain. It has no
    keys and changes nothing. The same server has the API of `nexus-tools index serve`.

    The explorer starts even if the network or the package does not exist yet. Its pages then
    say what to do next, and continue by themselves.

    With `--json`, the command prints a document with the URL when the server is ready. Exit code 2:
    an option or the address is invalid.
    """
    from nexus_tools.cli.framework import until_stopped
    from nexus_tools.sui.support.logs import log_to_stderr

    log_to_stderr("json" if session.output.as_json else None)
    await until_stopped(_run(session, options))


async def _run(session: Session, options: Options) -> None:
    from nexus_tools.explorer import Explorer
    from nexus_tools.http.embedded_server import url_of
    from nexus_tools.index.api import ApiLimits, is_public, serve_api
    from nexus_tools.sui.support.allowed_sources import AllowedSources

    network, output, hosts = session.network(), session.output, options["allow_host"]
    listener = _listener(options)
    is_open = is_public(listener)
    explorer = Explorer(
        network.name,
        hosts=None if is_open and not hosts else AllowedSources.of(hosts),
        limits=ApiLimits() if is_open else _local_limits(),
        is_public=is_open,
    )
    url = url_of(listener)
    async with serve_api(explorer, listener):
        if is_open:
            output.warn(f"anyone who can reach {options['host']} can read this explorer")
        if output.as_json:
            output.document({"url": url, "network": network.name, "pid": os.getpid()})
        output.done(f"the explorer is at {url}, until Ctrl-C (pid {os.getpid()})")
        if options["opens"]:
            await _open_browser(session, url)
        work = _keep_open(session, explorer, follows=options["follows"])
        if options["until_stdin_ends"]:
            await _until_stdin_ends(work)
        else:
            await work


def _listener(options: Options) -> socket.socket:
    """Return the listening socket. If the port is in use, the error names the option `--port`."""
    from nexus_tools.errors import UsageError
    from nexus_tools.http.embedded_server import listening_socket

    try:
        return listening_socket(options["host"], options["port"])
    except UsageError as error:
        cause = error.__cause__
        if isinstance(cause, OSError) and cause.errno == EADDRINUSE:
            error.message = (
                f"another server, for example another explorer, already uses"
                f" {options['host']}:{options['port']}"
            )
            error.hint = "Use that server, or pass --port 0 to use a free port."
        raise


def _local_limits() -> Any:
    """Return the limits of a server for this machine, whose browsers are all one client."""
    from nexus_tools.index.api import ApiLimits

    return ApiLimits(requests_per_s=1_000, burst=2_000, streams_per_client=200)


async def _open_browser(session: Session, url: str) -> None:
    import webbrowser

    if not await asyncio.to_thread(webbrowser.open, url):
        session.output.note(f"no browser was found: open {url}")


async def _until_stdin_ends(work: Any) -> None:
    """Run until stdin ends, so that this process ends with the process that started it."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()

    def read() -> None:
        if not os.read(0, 4_096):
            ended.set()

    loop.add_reader(0, read)
    tasks = [asyncio.ensure_future(work), asyncio.ensure_future(ended.wait())]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        loop.remove_reader(0)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def _keep_open(session: Session, explorer: "Explorer", *, follows: bool) -> None:
    """Show the index of the network. After an error, show the error and try again."""
    from nexus_tools.errors import NexusError
    from nexus_tools.settings.settings import Settings

    report = _Report(session.output.note)
    while True:
        try:
            session.settings = Settings.load()  # another process may have published the package
            async with session.nexus(signing=False):
                pass  # fail soon if the node is unreachable, because the next client waits for it
            async with session.nexus(signing=False, keeps_running=True) as nexus:
                report.clear()
                await _show(session, nexus, explorer, follows=follows)
        except NexusError as error:
            explorer.suspend(error)
            report(error.code, plain(str(error)))
        await asyncio.sleep(_RETRY_S)


async def _show(session: Session, nexus: "Nexus", explorer: "Explorer", *, follows: bool) -> None:
    """Show the index of a deployment until its chain is replaced."""
    from contextlib import closing

    from nexus_tools.errors import WrongStateError
    from nexus_tools.index import IndexIdentity
    from nexus_tools.index.api import IndexSource

    identity = IndexIdentity.of(nexus.deployment)
    source = IndexSource(identity.path(), identity, session.settings.intent_model)
    with closing(source):
        explorer.open(source, _chain_reader(session, nexus))
        watch = asyncio.create_task(_watch_freshness(nexus, source, explorer))
        try:
            while True:
                try:
                    await (_index(session, nexus) if follows else _check_chain(nexus))
                except WrongStateError as error:
                    if error.code not in ("index_locked", "index_taken_over"):
                        raise
                    await _check_chain(nexus)  # another process writes the index
        finally:
            watch.cancel()
            explorer.suspend()


def _chain_reader(session: Session, nexus: "Nexus") -> "ChainReader":
    """Return a reader of the chain that knows the cached proofs of domains."""
    from nexus_tools.explorer import ChainReader
    from nexus_tools.registry.domain_proof import read_cached_proof

    folder = session.settings.cache_directory / "domains"
    place = nexus.deployment.chain_id, str(nexus.deployment.tool_registry)
    return ChainReader(
        nexus.client,
        nexus.deployment,
        lambda domain, owner: read_cached_proof(folder, domain, owner, *place),
    )


async def _index(session: Session, nexus: "Nexus") -> None:
    """Keep the index current. Raises the errors of `IndexPipeline.run` and `index_locked`."""
    from nexus_tools.cli.index.opening import index_pipeline

    async with index_pipeline(session, nexus) as opened:
        await opened.pipeline.run()


async def _watch_freshness(nexus: "Nexus", source: "IndexSource", explorer: "Explorer") -> None:
    """Show a notice while the index is behind the chain, for example while it is built."""
    from nexus_tools.errors import NexusError
    from nexus_tools.index import check_checkpoint

    while True:
        try:
            await check_checkpoint(nexus.client, source.state().checkpoint)
            explorer.notice = ""
        except NexusError as error:
            if error.code == "index_stale":
                explorer.notice = f"Newer events are missing, because {error.message}."
        await asyncio.sleep(_CHAIN_CHECK_S)


async def _check_chain(nexus: "Nexus") -> None:
    """Wait a few seconds. Raises `chain_replaced` if the node has another chain afterwards."""
    from nexus_tools.errors import UnreachableError, WrongStateError

    await asyncio.sleep(_CHAIN_CHECK_S)
    try:
        chain_id = await nexus.client.chain_id()
    except UnreachableError:
        return
    if chain_id != nexus.deployment.chain_id:
        raise WrongStateError("chain_replaced", "the network has a new chain")


class _Report:
    """Messages about problems, each only once until it is solved."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._code: str | None = None

    def __call__(self, code: str, text: str) -> None:
        """Report a problem unless it is the last one."""
        if code != self._code:
            self._note(text)
        self._code = code

    def clear(self) -> None:
        """Forget the last problem."""
        self._code = None
