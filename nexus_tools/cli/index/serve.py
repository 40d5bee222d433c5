"""The command `nexus-tools index serve`."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import FILE, Session, query_command

if TYPE_CHECKING:
    from nexus_tools.index import IndexIdentity
    from nexus_tools.nexus import Nexus

_DEFAULT_PORT = 8_090
_BURST_S = 5
Options = Mapping[str, Any]


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="IP address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=_DEFAULT_PORT,
    show_default=True,
    help="Port to listen on. Port 0 selects a free port.",
)
@click.option("--run", "follows", is_flag=True, help="Also build the index and keep it current.")
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="Host name that clients may use, such as the name of a proxy. May be repeated.",
)
@click.option(
    "--trusted-proxy",
    multiple=True,
    metavar="ADDRESS",
    help="Address or network of a proxy whose X-Forwarded-For names the client. May be repeated.",
)
@click.option(
    "--rate-limit",
    type=click.FloatRange(min=0.1),
    default=20.0,
    show_default=True,
    metavar="NUMBER",
    help="Maximum average number of requests per second and client.",
)
@click.option(
    "--snapshot",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    metavar="FOLDER",
    help="Folder of `nexus-tools index snapshot`. Others can download its snapshot.",
)
@click.option("--mcp-url", metavar="URL", help="URL of your MCP server, to list at /v0.1/servers.")
@click.option("--tls-cert", type=FILE, help="PEM file with the TLS certificate chain.")
@click.option("--tls-key", type=FILE, help="PEM file with the private key of --tls-cert.")
@query_command
async def command(session: Session, **options: Any) -> None:
    """Serve the index as a read-only HTTP API until Ctrl-C.

    The API has lists, search, statistics and a stream of events. GET /openapi.json describes it.
    The server has no keys and changes nothing. Without --run, it serves the index that
    `nexus-tools index run` keeps current, in this or another process.

    With `--json`, the command prints a document with the URL when the server is ready. Ctrl-C or
    SIGTERM ends the streams and exits with code 0. Exit code 2: an option or the address is
    invalid. Exit code 3: the index does not exist. Exit code 4: with --run, another process writes
    the index.
    """
    from nexus_tools.cli.framework import until_stopped
    from nexus_tools.errors import UsageError
    from nexus_tools.sui.support.logs import log_to_stderr

    if (options["tls_cert"] is None) != (options["tls_key"] is None):
        message = "TLS needs a certificate and a key, but only one of them is set"
        raise UsageError("tls_incomplete", message, hint="Pass --tls-cert and --tls-key.")
    log_to_stderr("json" if session.output.as_json else None)
    follows = options["follows"]
    async with session.nexus(signing=False, keeps_running=follows) as nexus:
        if follows:
            await until_stopped(_follow_and_serve(session, nexus, options))
            return
        from nexus_tools.index import IndexIdentity

        identity = IndexIdentity.of(nexus.deployment)
    never = asyncio.get_running_loop().create_future()
    await until_stopped(_serve(session, identity.path(), identity, options, never))


async def _follow_and_serve(session: Session, nexus: "Nexus", options: Options) -> None:
    """Serve the index while this process writes it."""
    from nexus_tools.cli.index.opening import index_pipeline

    async with index_pipeline(session, nexus) as opened:
        index = opened.index
        await _serve(session, index.path, index.identity, options, opened.pipeline.run())


async def _serve(
    session: Session,
    path: Path,
    identity: "IndexIdentity",
    options: Options,
    work: Awaitable[None],
) -> None:
    """Serve an index while `work` runs."""
    output = session.output
    async with _serving(session, path, identity, options) as url:
        if output.as_json:
            output.document({"url": url, "path": str(path)})
        output.done(f"serving the index at {url}, until Ctrl-C (pid {os.getpid()})")
        await work


@asynccontextmanager
async def _serving(
    session: Session, path: Path, identity: "IndexIdentity", options: Options
) -> AsyncIterator[str]:
    """Serve an index and yield the URL."""
    from contextlib import closing

    from nexus_tools.http.embedded_server import listening_socket, url_of
    from nexus_tools.index.api import (
        ApiLimits,
        IndexApi,
        IndexSource,
        McpServer,
        is_public,
        serve_api,
    )
    from nexus_tools.sui.support.allowed_sources import AllowedSources

    rate = options["rate_limit"]
    mcp_url, hosts, tls = options["mcp_url"], options["allow_host"], options["tls_cert"]
    server = None if mcp_url is None else McpServer.at(mcp_url)
    with closing(IndexSource(path, identity, session.settings.intent_model)) as source:
        state = source.state()  # fail now if the index is missing or damaged
        if state.last_seq == 0 and not options["follows"]:
            session.output.warn("the index is empty. Run `nexus-tools index run` to read events")
        listener = listening_socket(options["host"], options["port"])
        is_open = is_public(listener)
        api = IndexApi(
            source,
            limits=ApiLimits(requests_per_s=rate, burst=max(1, round(rate * _BURST_S))),
            mcp_server=server,
            snapshots=options["snapshot"],
            hosts=None if is_open and not hosts else AllowedSources.of(hosts),
        )
        async with serve_api(
            api,
            listener,
            trusted_proxies=options["trusted_proxy"],
            ssl_certfile=tls,
            ssl_keyfile=options["tls_key"],
        ):
            if is_open:
                session.output.warn(f"anyone who can reach {options['host']} can read this index")
            yield url_of(listener, "http" if tls is None else "https")
