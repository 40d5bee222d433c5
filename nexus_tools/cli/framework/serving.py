"""A server of tools on a socket: options and run, shared by `tool serve` and `bridge serve`."""

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools import environment
from nexus_tools.cli.framework.output import Output
from nexus_tools.cli.framework.parameters import FILE, LOG_FORMAT
from nexus_tools.embedded_server import host_and_port, listening_socket, url_of
from nexus_tools.errors import UsageError

if TYPE_CHECKING:
    from nexus_tools.toolkit import ToolServer

_OPTIONS = (
    click.option(
        "--bind",
        default="127.0.0.1:8080",
        show_default=True,
        envvar=environment.BIND_ADDR,
        help=f"Host and port to listen on; port 0 takes a free one. [env: {environment.BIND_ADDR}]",
    ),
    click.option("--public-url", help="Where the server is reached from outside."),
    click.option(
        "--tls-cert",
        type=FILE,
        envvar=environment.TLS_CERT_PATH,
        help=f"Certificate chain, PEM. [env: {environment.TLS_CERT_PATH}]",
    ),
    click.option(
        "--tls-key",
        type=FILE,
        envvar=environment.TLS_KEY_PATH,
        help=f"The certificate's key, PEM. [env: {environment.TLS_KEY_PATH}]",
    ),
    click.option(
        "--signatures",
        type=click.Choice(["off", "optional", "required"]),
        envvar=environment.SIGNATURES,
        help="Whether calls are signed by leaders; required if --leaders is given."
        f" [env: {environment.SIGNATURES}]",
    ),
    click.option(
        "--leaders",
        type=FILE,
        envvar=environment.LEADERS_PATH,
        help="The leaders that are accepted: a line each with its id and ed25519:…"
        f" [env: {environment.LEADERS_PATH}]",
    ),
    click.option(
        "--signing-key",
        type=FILE,
        envvar=environment.SIGNING_KEY_PATH,
        help="Key that signs responses to signed calls, PEM: `nexus-tools tool key new` makes one."
        f" [env: {environment.SIGNING_KEY_PATH}]",
    ),
    click.option(
        "--nonces",
        type=click.Path(dir_okay=False, path_type=Path),
        envvar=environment.NONCES_PATH,
        help="SQLite file of the calls that were taken, for several processes of one server."
        f" [env: {environment.NONCES_PATH}]",
    ),
    click.option("--meta", is_flag=True, help="Print the definitions, and do not serve."),
    LOG_FORMAT,
    click.option(
        "--log-calls/--no-log-calls",
        default=None,
        help="Log each call; by default on a terminal.",
    ),
)


@dataclass(frozen=True, slots=True)
class Serving:
    """Where a server listens, how it is reached, and whether it only says what it would serve."""

    bind: str
    public_url: str | None
    tls_cert: Path | None
    tls_key: Path | None
    signatures: str | None
    leaders: Path | None
    signing_key: Path | None
    nonces: Path | None
    meta: bool
    log_format: str | None
    log_calls: bool | None

    def arguments(self) -> list[str]:
        """The same as words of a command line; a free port is chosen here, once."""
        host, port = host_and_port(self.bind)
        with listening_socket(host, port) as listener:
            place = url_of(listener).partition("://")[2]
        given = {
            "--bind": place,
            "--public-url": self.public_url,
            "--tls-cert": self.tls_cert,
            "--tls-key": self.tls_key,
            "--signatures": self.signatures,
            "--leaders": self.leaders,
            "--signing-key": self.signing_key,
            "--nonces": self.nonces,
            "--log-format": self.log_format,
        }
        words = [word for name, value in given.items() if value for word in (name, str(value))]
        if self.log_calls is not None:
            words.append("--log-calls" if self.log_calls else "--no-log-calls")
        return [*words, *(["--meta"] if self.meta else [])]

    def run(self, server: "ToolServer", output: Output) -> None:
        """Serve until Ctrl-C, or print the definitions.

        Raises `address_invalid`, `leaders_missing`, and as what reads the files of keys.
        """
        from nexus_tools.logs import log_to_stderr
        from nexus_tools.tool import protocol
        from nexus_tools.toolkit import run

        host, port = host_and_port(self.bind)
        if self.meta:
            root = self.public_url or f"{'https' if self.tls_cert else 'http'}://{self.bind}"
            definitions = [definition.as_json() for definition in server.definitions(root)]
            output.document(definitions)
            return

        self._set_signatures(server)

        def ready(url: str) -> None:
            for path, tool in server.tools.items():
                output.done(f"{tool.fqn} at {protocol.tool_url(self.public_url or url, path)}")

        form = self.log_format or ("json" if output.as_json else None)
        # An author's module may have configured structlog, and is heard unless it is overruled.
        details = sys.stderr.isatty() if self.log_calls is None else self.log_calls
        log_to_stderr(form, again=self.log_format is not None, details=details)
        tls = {"tls_certificate": self.tls_cert, "tls_key": self.tls_key}
        run(server, host, port, on_ready=ready, **tls)

    def _set_signatures(self, server: "ToolServer") -> None:
        """Treat signed calls as the options say; without any, as the author does."""
        if self.signatures is None and not (self.leaders or self.signing_key or self.nonces):
            return
        mode = self.signatures or "required"
        if self.leaders is None and mode != "off":
            raise UsageError(
                "leaders_missing",
                f"with signatures {mode}, no leader is accepted unless a file names it",
                hint="give --leaders FILE; `nexus-tools leader key show` prints a leader's line",
            )
        from nexus_tools.tool import KnownKeys, KnownKeysFile, SigningKey
        from nexus_tools.toolkit import MemoryNonces, Signatures, SqliteNonces

        server.use_signatures(
            Signatures(
                mode,
                KnownKeysFile(self.leaders) if self.leaders else KnownKeys({}),
                SigningKey.load(self.signing_key) if self.signing_key else None,
                SqliteNonces(self.nonces) if self.nonces else MemoryNonces(),
            )
        )


def serves(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that serves tools: gets a `Serving` as `serving`."""

    @functools.wraps(command)
    def wrapped(
        *args: Any,
        bind: str,
        public_url: str | None,
        tls_cert: Path | None,
        tls_key: Path | None,
        signatures: str | None,
        leaders: Path | None,
        signing_key: Path | None,
        nonces: Path | None,
        meta: bool,
        log_format: str | None,
        log_calls: bool | None,
        **kwargs: Any,
    ) -> Any:
        serving = Serving(
            bind=bind,
            public_url=public_url,
            tls_cert=tls_cert,
            tls_key=tls_key,
            signatures=signatures,
            leaders=leaders,
            signing_key=signing_key,
            nonces=nonces,
            meta=meta,
            log_format=log_format,
            log_calls=log_calls,
        )
        return command(*args, serving=serving, **kwargs)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped
