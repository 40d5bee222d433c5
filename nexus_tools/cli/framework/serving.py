"""A server of tools on a socket: options and run, shared by `tool serve` and `bridge serve`."""

import functools
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework.input.completion import complete_networks
from nexus_tools.cli.framework.input.parameters import FILE, LOG_FORMAT
from nexus_tools.cli.framework.output.output import Output
from nexus_tools.errors import UsageError
from nexus_tools.http.embedded_server import host_and_port, listening_socket, url_of
from nexus_tools.settings import environment
from nexus_tools.settings.directories import cache_directory

if TYPE_CHECKING:
    from nexus_tools.cli.framework.session import Session
    from nexus_tools.sui.types.address import Address
    from nexus_tools.tool_server import Signatures, ToolServer

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
        help="Whether calls are signed by leaders; required with --network or --leaders."
        f" [env: {environment.SIGNATURES}]",
    ),
    click.option(
        "-n",
        "--network",
        "network_name",
        shell_complete=complete_networks,
        help="Accept the leaders, with their keys, that the tools accept on this network.",
    ),
    click.option(
        "--leaders",
        type=FILE,
        envvar=environment.LEADERS_PATH,
        help="Accept these leaders, where the chain is not asked: a line each, its id and ed25519:…"
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
        "--state",
        type=click.Path(dir_okay=False, path_type=Path),
        envvar=environment.STATE_PATH,
        help="SQLite file of the calls and answers that leaders had, which several processes of one"
        f" server share and a restart does not forget. [env: {environment.STATE_PATH}]",
    ),
    click.option(
        "--forgive",
        multiple=True,
        metavar="LEADER",
        help="Answer this leader again, that took answers for nothing: its id, or with --network"
        " its name; may be given several times.",
    ),
    click.option("--meta", is_flag=True, help="Print the definitions, and do not serve."),
    LOG_FORMAT,
    click.option(
        "--log-calls/--no-log-calls",
        default=None,
        help="Log each call; by default on a terminal.",
    ),
)


@contextmanager
def _naming_bind(host: str) -> Iterator[None]:
    """Name the option that takes a free port, where the address cannot be used."""
    try:
        yield
    except UsageError as error:
        if error.code == "address_unusable":
            place = f"[{host}]" if ":" in host else host
            error.hint = f"`--bind {place}:0` takes a free port"
        raise


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
    state: Path | None
    forgive: tuple[str, ...]
    network_name: str | None
    meta: bool
    log_format: str | None
    log_calls: bool | None

    def arguments(self) -> list[str]:
        """The same as words of a command line; a free port is chosen here, once."""
        host, port = host_and_port(self.bind)
        with _naming_bind(host), listening_socket(host, port) as listener:
            place = url_of(listener).partition("://")[2]
        given = {
            "--bind": place,
            "--public-url": self.public_url,
            "--tls-cert": self.tls_cert,
            "--tls-key": self.tls_key,
            "--signatures": self.signatures,
            "--leaders": self.leaders,
            "--signing-key": self.signing_key,
            "--network": self.network_name,
            "--state": self.state,
            "--log-format": self.log_format,
        }
        words = [word for name, value in given.items() if value for word in (name, str(value))]
        words += [word for leader in self.forgive for word in ("--forgive", leader)]
        if self.log_calls is not None:
            words.append("--log-calls" if self.log_calls else "--no-log-calls")
        return [*words, *(["--meta"] if self.meta else [])]

    def run(self, server: "ToolServer", session: "Session") -> None:
        """Serve until Ctrl-C, or print the definitions.

        Raises `address_invalid`, `id_expected`, `leaders_missing`, `leaders_twice`,
        `signatures_off`, as what reads the files of keys, and with a network as
        `ServedTools.following`.
        """
        from nexus_tools.sui.support.logs import log_to_stderr
        from nexus_tools.tool import protocol
        from nexus_tools.tool_server import run

        output = session.output
        host, port = host_and_port(self.bind)
        if self.meta:
            root = self.public_url or f"{'https' if self.tls_cert else 'http'}://{self.bind}"
            definitions = [definition.as_json() for definition in server.definitions(root)]
            output.document(definitions)
            return

        signatures = self._signatures(output)
        alongside = None
        if signatures is not None and self.network_name is not None:
            alongside = self._following(server, signatures, session)
        elif signatures is not None:
            _forgive(signatures, map(_id_of, self.forgive), output)
            server.use_signatures(signatures)

        def ready(url: str) -> None:
            for path, tool in server.tools.items():
                output.done(f"{tool.fqn} at {protocol.tool_url(self.public_url or url, path)}")

        form = self.log_format or ("json" if output.as_json else None)
        # An author's module may have configured structlog, and is heard unless it is overruled.
        details = sys.stderr.isatty() if self.log_calls is None else self.log_calls
        log_to_stderr(form, again=self.log_format is not None, details=details)
        tls = {"tls_certificate": self.tls_cert, "tls_key": self.tls_key}
        with _naming_bind(host):
            run(server, host, port, on_ready=ready, alongside=alongside, **tls)

    def _signatures(self, output: Output) -> "Signatures | None":
        """What the options say of signed calls; without any, it is as the author has it."""
        needed = self.network_name or self.leaders
        given = needed or self.signing_key or self.state or self.forgive
        if self.signatures is None and not given:
            return None
        mode = self.signatures or "required"
        self._check(mode, is_given=bool(given), has_leaders=bool(needed))
        from nexus_tools.tool import KnownKeys, KnownKeysFile, SigningKey
        from nexus_tools.tool_server import MemoryNonces, Signatures, SqliteNonces, TakenAnswers

        leaders = KnownKeysFile(self.leaders) if self.leaders else None
        if leaders is not None and leaders.is_empty:
            output.warn(f"{self.leaders} names no leader: signed calls are refused until it does")
        return Signatures(
            mode,
            leaders or KnownKeys({}),
            SigningKey.load(self.signing_key) if self.signing_key else None,
            SqliteNonces(self.state) if self.state else MemoryNonces(),
            TakenAnswers(self.state),
        )

    def _check(self, mode: str, *, is_given: bool, has_leaders: bool) -> None:
        """Refuse options that would do nothing, or leave nobody who may call."""
        if mode == "off" and is_given:
            raise UsageError(
                "signatures_off",
                "with signatures off nobody looks at who calls",
                hint="leave out --signatures off, or all other options of signed calls",
            )
        if self.network_name and self.leaders:
            raise UsageError(
                "leaders_twice",
                "either the chain says which leaders are accepted, or a file does",
                hint="give --network or --leaders",
            )
        if mode != "off" and not has_leaders:
            raise UsageError(
                "leaders_missing",
                f"with signatures {mode}, no leader is accepted unless something names it",
                hint="give --network NAME, or --leaders FILE where the chain is not asked",
            )

    @asynccontextmanager
    async def _following(
        self, server: "ToolServer", signatures: "Signatures", session: "Session"
    ) -> AsyncIterator[None]:
        """The time in which the server does as its tools have it on chain."""
        from nexus_tools.cli.framework.leader_names import find_leaders
        from nexus_tools.contracts import check_compatibility
        from nexus_tools.registry import LeaderRegistry
        from nexus_tools.registry.tool_access import ServedTools

        session.network_name = self.network_name
        fqns = [str(tool.fqn) for tool in server.tools.values()]
        async with session.client(endures=True) as client:
            with session.output.progress(f"asking {client.network.name}"):
                deployment = await session.deployment(client)
                await check_compatibility(client, deployment, cache_directory())
                leaders = LeaderRegistry(client, deployment)
                forgiven = await find_leaders(leaders, self.forgive)
            _forgive(signatures, forgiven, session.output)
            served = ServedTools(client, deployment, fqns, signatures)
            async with served.following():
                server.use_signatures(served.signatures)
                yield


def _id_of(leader: str) -> "Address":
    """The id of a leader where no chain knows a name. Raises `id_expected`."""
    from nexus_tools.sui.types.address import Address

    if leader.startswith("0x"):
        return Address.parse_whole(leader)
    raise UsageError(
        "id_expected",
        f"{leader[:80]!r} is not the id of a leader, and names are known to the chain alone",
        hint="give the id that the log has under `leader_refused`, or --network NAME",
    )


def _forgive(signatures: "Signatures", leaders: "Iterable[Address]", output: Output) -> None:
    """Answer leaders again, and say how many answers each had taken for nothing."""
    for leader in leaders:
        count = signatures.answers.forgive(str(leader))
        if count:
            output.done(f"forgave {leader} {count} answers")
        else:
            output.note(f"{leader} took no answers for nothing: there is nothing to forgive")


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
        state: Path | None,
        forgive: tuple[str, ...],
        network_name: str | None,
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
            state=state,
            forgive=forgive,
            network_name=network_name,
            meta=meta,
            log_format=log_format,
            log_calls=log_calls,
        )
        return command(*args, serving=serving, **kwargs)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped
