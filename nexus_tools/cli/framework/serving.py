"""Options and main loop of a tool server, shared by `tool serve` and `bridge serve`."""

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
from nexus_tools.http.embedded_server import listening_socket, parse_host_and_port, url_of
from nexus_tools.settings import environment
from nexus_tools.settings.directories import cache_directory
from nexus_tools.sui.support.allowed_sources import is_loopback

if TYPE_CHECKING:
    from nexus_tools.cli.framework.session import Session
    from nexus_tools.sui.types.address import Address
    from nexus_tools.tool_server import SignaturePolicy, ToolServer

_OPTIONS = (
    click.option(
        "--bind",
        default="127.0.0.1:8080",
        metavar="[HOST:]PORT",
        show_default=True,
        envvar=environment.BIND_ADDR,
        help="Host and port to listen on. A port without a host is on the loopback interface. Port"
        " 0 selects a free port."
        f" [env: {environment.BIND_ADDR}]",
    ),
    click.option("--public-url", help="URL at which clients reach the server."),
    click.option(
        "--tls-cert",
        type=FILE,
        envvar=environment.TLS_CERT_PATH,
        help=f"PEM file with the TLS certificate chain. [env: {environment.TLS_CERT_PATH}]",
    ),
    click.option(
        "--tls-key",
        type=FILE,
        envvar=environment.TLS_KEY_PATH,
        help=f"PEM file with the private key of --tls-cert. [env: {environment.TLS_KEY_PATH}]",
    ),
    click.option(
        "--signatures",
        type=click.Choice(["off", "optional", "required"]),
        envvar=environment.SIGNATURES,
        help="Whether leaders must sign calls. Default with --network or --leaders: required."
        f" [env: {environment.SIGNATURES}]",
    ),
    click.option(
        "-n",
        "--network",
        "network_name",
        shell_complete=complete_networks,
        help="Accept calls from the leaders that the tools accept on this network.",
    ),
    click.option(
        "--leaders",
        type=FILE,
        envvar=environment.LEADERS_PATH,
        help="Accept calls from the leaders in this file instead of reading the chain. Each line"
        " has a leader's ID and its key, ed25519:…"
        f" [env: {environment.LEADERS_PATH}]",
    ),
    click.option(
        "--signing-key",
        type=FILE,
        envvar=environment.SIGNING_KEY_PATH,
        help="PEM file with the key that signs responses to signed calls. Create the"
        " file with `nexus-tools tool key new`."
        f" [env: {environment.SIGNING_KEY_PATH}]",
    ),
    click.option(
        "--state",
        type=click.Path(dir_okay=False, path_type=Path),
        envvar=environment.STATE_PATH,
        help="SQLite file that records signed calls and answers across restarts. Several processes"
        f" of a server can share the file. [env: {environment.STATE_PATH}]",
    ),
    click.option(
        "--forgive-leader",
        multiple=True,
        metavar="LEADER",
        help="Reset the count of this leader's unsettled answers, to accept its calls again. Pass"
        " the leader's ID, or with --network its name. May be repeated.",
    ),
    click.option("--meta", is_flag=True, help="Print the definitions and exit."),
    LOG_FORMAT,
    click.option(
        "--log-calls/--no-log-calls",
        default=None,
        help="Log each call. Default: only on a terminal.",
    ),
)


@contextmanager
def _naming_bind(host: str) -> Iterator[None]:
    """Add a hint about `--bind` to the error of an address that cannot be used."""
    try:
        yield
    except UsageError as error:
        if error.code == "address_unavailable":
            error.hint = f"Pass `--bind {_host_and_port(host, 0)}` to use a free port."
        raise


def _host_and_port(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """The options of a tool server: its address, its TLS and signing keys, and its log."""

    bind: str
    public_url: str | None
    tls_cert: Path | None
    tls_key: Path | None
    signatures: str | None
    leaders: Path | None
    signing_key: Path | None
    state: Path | None
    forgive_leader: tuple[str, ...]
    network_name: str | None
    meta: bool
    log_format: str | None
    log_calls: bool | None

    def arguments(self) -> list[str]:
        """Return the options as command line arguments, with a free port instead of port 0."""
        host, port = parse_host_and_port(self.bind)
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
        words += [word for leader in self.forgive_leader for word in ("--forgive-leader", leader)]
        if self.log_calls is not None:
            words.append("--log-calls" if self.log_calls else "--no-log-calls")
        return [*words, *(["--meta"] if self.meta else [])]

    def run(self, server: "ToolServer", session: "Session") -> None:
        """Serve until Ctrl-C, or print the definitions.

        Raises `address_invalid`, `id_expected`, `leaders_missing`, `leaders_conflict`,
        `signatures_off`, the errors of reading key files, and with a network those of
        `ToolAccess.following`.
        """
        from nexus_tools.sui.support.logs import log_to_stderr
        from nexus_tools.tool import protocol
        from nexus_tools.tool_server import run

        output = session.output
        host, port = parse_host_and_port(self.bind)
        if self.meta:
            scheme = "https" if self.tls_cert else "http"
            root = self.public_url or f"{scheme}://{_host_and_port(host, port)}"
            definitions = [definition.as_json() for definition in server.definitions(root)]
            output.document(definitions)
            return

        signatures = self._signatures(output)
        alongside = None
        if signatures is not None and self.network_name is not None:
            alongside = self._following(server, signatures, session)
        elif signatures is not None:
            _forgive(signatures, map(_id_of, self.forgive_leader), output)
            server.use_signatures(signatures)

        def ready(url: str) -> None:
            if self.public_url is None and not is_loopback(host):
                output.warn(
                    f"anyone who can reach {host} can call these tools. Pass --public-url to set"
                    " the URL that they use"
                )
            for path, tool in server.tools.items():
                output.done(f"{tool.fqn} at {protocol.tool_url(self.public_url or url, path)}")

        form = self.log_format or ("json" if output.as_json else None)
        # Keep a structlog configuration of the author's module unless an option overrides it.
        details = sys.stderr.isatty() if self.log_calls is None else self.log_calls
        log_to_stderr(form, again=self.log_format is not None, details=details)
        tls = {"tls_certificate": self.tls_cert, "tls_key": self.tls_key}
        with _naming_bind(host):
            run(server, host, port, on_ready=ready, alongside=alongside, **tls)

    def _signatures(self, output: Output) -> "SignaturePolicy | None":
        """Return the signature policy, or None to keep the author's configuration."""
        needed = self.network_name or self.leaders
        given = needed or self.signing_key or self.state or self.forgive_leader
        if self.signatures is None and not given:
            return None
        mode = self.signatures or "required"
        self._check(mode, is_given=bool(given), has_leaders=bool(needed))
        from nexus_tools.tool import KnownKeys, KnownKeysFile, SigningKey
        from nexus_tools.tool_server import (
            MemoryNonceStore,
            SignaturePolicy,
            SqliteNonceStore,
            UnsettledAnswers,
        )

        leaders = KnownKeysFile(self.leaders) if self.leaders else None
        if leaders is not None and leaders.is_empty:
            output.warn(f"{self.leaders} does not list any leaders: all signed calls are rejected")
        return SignaturePolicy(
            mode,
            leaders or KnownKeys({}),
            SigningKey.load(self.signing_key) if self.signing_key else None,
            SqliteNonceStore(self.state) if self.state else MemoryNonceStore(),
            UnsettledAnswers(self.state),
        )

    def _check(self, mode: str, *, is_given: bool, has_leaders: bool) -> None:
        """Raise an error for options without effect, and for options that reject all leaders."""
        if mode == "off" and is_given:
            raise UsageError(
                "signatures_off",
                "--signatures off conflicts with the options for signed calls",
                hint="Remove --signatures off, or all other options for signed calls.",
            )
        if self.network_name and self.leaders:
            raise UsageError(
                "leaders_conflict",
                "--network and --leaders cannot be combined",
                hint="Pass either --network or --leaders.",
            )
        if mode != "off" and not has_leaders:
            raise UsageError(
                "leaders_missing",
                f"{self._signature_option(mode)} needs a list of accepted leaders",
                hint="Pass --network NAME, or --leaders FILE to work without a network.",
            )

    def _signature_option(self, mode: str) -> str:
        """Return the option of the user that makes the server check signatures."""
        if self.signatures is None:
            if self.signing_key:
                return "--signing-key"
            return "--state" if self.state else "--forgive-leader"
        return f"--signatures {mode}"

    @asynccontextmanager
    async def _following(
        self, server: "ToolServer", signatures: "SignaturePolicy", session: "Session"
    ) -> AsyncIterator[None]:
        """Apply the on-chain settings of the tools to the server while the block runs."""
        from nexus_tools.cli.framework.leader_names import find_leaders
        from nexus_tools.contracts import check_compatibility
        from nexus_tools.registry import LeaderRegistry, ToolRegistry, compare_interfaces
        from nexus_tools.registry.tool_access import ToolAccess

        session.network_name = self.network_name
        fqns = [str(tool.fqn) for tool in server.tools.values()]
        async with session.client(keeps_running=True) as client:
            with session.output.progress(f"connecting to {client.network.name}"):
                deployment = await session.deployment(client)
                await check_compatibility(client, deployment, cache_directory())
                leaders = LeaderRegistry(client, deployment)
                forgiven = await find_leaders(leaders, self.forgive_leader)
            _forgive(signatures, forgiven, session.output)
            definitions = server.definitions(client.network.url)  # the URL is not compared
            same = await compare_interfaces(ToolRegistry(client, deployment), definitions)
            for fqn in (fqn for fqn, is_same in same.items() if not is_same):
                session.output.warn(
                    f"{fqn} has other schemas than its registered version, so Leaders refuse to"
                    " call it. Restore the schemas, or register the next version"
                )
            served = ToolAccess(client, deployment, fqns, signatures)
            async with served.following():
                server.use_signatures(served.signatures)
                yield


def _id_of(leader: str) -> "Address":
    """Return the ID of a leader. A name raises `id_expected`, because it requires a network."""
    from nexus_tools.sui.types.address import Address

    if leader.startswith("0x"):
        return Address.parse_whole(leader)
    raise UsageError(
        "id_expected",
        f"{leader[:80]!r} is not a leader ID, and a name can only be resolved with --network",
        hint="Use the ID in the log event `leader_refused`, or pass --network NAME.",
    )


def _forgive(signatures: "SignaturePolicy", leaders: "Iterable[Address]", output: Output) -> None:
    """Reset the count of unsettled answers of leaders, and report each count."""
    for leader in leaders:
        count = signatures.answers.forgive(str(leader))
        if count:
            output.done(f"the count of unsettled answers of {leader} was reset from {count} to 0")
        else:
            output.note(f"{leader} has no unsettled answers")


def server_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a command that serves tools to receive `ServerOptions` as `serving`."""

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
        forgive_leader: tuple[str, ...],
        network_name: str | None,
        meta: bool,
        log_format: str | None,
        log_calls: bool | None,
        **kwargs: Any,
    ) -> Any:
        serving = ServerOptions(
            bind=bind,
            public_url=public_url,
            tls_cert=tls_cert,
            tls_key=tls_key,
            signatures=signatures,
            leaders=leaders,
            signing_key=signing_key,
            state=state,
            forgive_leader=forgive_leader,
            network_name=network_name,
            meta=meta,
            log_format=log_format,
            log_calls=log_calls,
        )
        return command(*args, serving=serving, **kwargs)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped
