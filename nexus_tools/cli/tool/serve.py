"""`nexus-tools tool serve`: tools over HTTP."""

import json
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nexus_tools.cli.command import local
from nexus_tools.cli.session import Session
from nexus_tools.errors import NexusError, UsageError

if TYPE_CHECKING:
    from nexus_tools.toolkit import ToolServer

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("target")
@click.option(
    "--bind",
    default="127.0.0.1:8080",
    show_default=True,
    envvar="BIND_ADDR",
    help="Host and port to listen on; port 0 takes a free one. [env: BIND_ADDR]",
)
@click.option("--public-url", help="Where the server is reached from outside.")
@click.option(
    "--tls-cert",
    type=_FILE,
    envvar="NEXUS_TOOL_TLS_CERT_PATH",
    help="Certificate chain, PEM. [env: NEXUS_TOOL_TLS_CERT_PATH]",
)
@click.option(
    "--tls-key",
    type=_FILE,
    envvar="NEXUS_TOOL_TLS_KEY_PATH",
    help="The certificate's key, PEM. [env: NEXUS_TOOL_TLS_KEY_PATH]",
)
@click.option("--meta", is_flag=True, help="Print the definitions, and do not serve.")
@local
def command(
    session: Session,
    *,
    target: str,
    bind: str,
    public_url: str | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    meta: bool,
) -> None:
    """Serve the tools of TARGET until Ctrl-C.

    TARGET is `package.module`, `path/to/file.py`, or one of their attributes: `tools.py:add`.
    """
    from nexus_tools.toolkit import run  # noqa: PLC0415 - not for `--help`

    host, port = _address(bind)
    server = _load(target, public_url)
    if meta:
        root = public_url or f"{'https' if tls_cert else 'http'}://{bind}"
        definitions = [definition.as_json() for definition in server.definitions(root)]
        click.echo(json.dumps(definitions, indent=2, ensure_ascii=False))
        return

    def ready(url: str) -> None:
        for path, tool in server.tools.items():
            session.output.done(f"{tool.fqn} at {(public_url or url).rstrip('/')}{path}")

    run(server, host, port, tls_certificate=tls_cert, tls_key=tls_key, on_ready=ready)


def _load(target: str, public_url: str | None) -> "ToolServer":
    """The server of a target. Raises as `load` does, and `target_broken`."""
    from nexus_tools.toolkit import load  # noqa: PLC0415 - not for `--help`

    try:
        return load(target, public_url=public_url)
    except NexusError:
        raise
    except Exception as error:  # the module is the author's, and may raise anything
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise UsageError(
            "target_broken",
            f"{target} cannot be imported: {type(error).__name__}: {error}",
            hint=f"see {place.filename}, line {place.lineno}",
        ) from error


def _address(text: str) -> tuple[str, int]:
    """Host and port of `host:port`, `[::1]:port`, `:port`."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535:
        raise UsageError("address_invalid", f"{text!r} is no address", hint="write 127.0.0.1:8080")
    return host.strip("[]") or "0.0.0.0", int(port)  # noqa: S104 - as `:port` asks for
