"""The commands `nexus-tools mcp install` and `nexus-tools mcp uninstall`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Self

import click

from nexus_tools.cli.framework import Choice, Session, offline_command, plain
from nexus_tools.cli.mcp.client_file import ClientFile, path_of
from nexus_tools.cli.mcp.clients import CLIENTS, PROJECT, SCOPES, USER, McpClient
from nexus_tools.cli.mcp.difference import Version, unified_diff
from nexus_tools.cli.mcp.jsonc import Document
from nexus_tools.cli.mcp.payment import check_payment, is_paid
from nexus_tools.cli.mcp.serve import command as serve
from nexus_tools.cli.mcp.stored_command import is_ours, serve_command, unstored_variables
from nexus_tools.errors import NexusError, NotFoundError, WrongStateError
from nexus_tools.sui.support.allowed_sources import is_loopback

_NAME = "nexus-tools"
_OPTIONS_KEY = "nexus_tools.mcp.options"
# A client starts a server on stdin and stdout, so the options of `--http` do not apply.
_NOT_STORED = {
    *("as_json", "quiet", "http", "allow_unauthenticated", "allow_host", "allow_origin"),
}
_STORED = [param for param in serve.params if param.name not in _NOT_STORED]


def _checked_name(_: click.Context, __: click.Parameter, name: str) -> str:
    """Return the name of a server. Claude Code only accepts these characters in a name."""
    if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) is None:
        raise click.BadParameter("use at most 64 letters, digits, hyphens and underscores")
    return name


_CLIENT = click.argument("client", metavar="CLIENT", type=Choice(list(CLIENTS)))
_SCOPE = click.option(
    "--scope",
    type=Choice(SCOPES),
    default=USER,
    show_default=True,
    help="Change the client's file for all your projects, or for the project in this folder.",
)
_SERVER_NAME = click.option(
    "--name",
    default=_NAME,
    show_default=True,
    callback=_checked_name,
    help="Name of the server in the client's file.",
)
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Show the change without writing it.")
_FORCE = click.option(
    "--force", is_flag=True, help="Change or remove an entry that another program has written."
)


class _InstallCommand(click.Command):
    """A command that also accepts the options of `mcp serve`, and keeps them as they are typed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments like click, and store the options of `mcp serve` in the context."""
        typed, _, _ = self.make_parser(ctx).parse_args(list(args))
        ctx.meta[_OPTIONS_KEY] = [word for param in _STORED for word in _words(param, typed)]
        return super().parse_args(ctx, args)


def _words(param: click.Parameter, typed: dict[str, Any]) -> Iterator[str]:
    """Yield the words of a command line that set an option as it was typed."""
    assert isinstance(param, click.Option)
    if param.name not in typed:
        return
    value = typed[param.name]
    name = max(param.opts, key=len)
    if param.is_flag:
        yield name if value else param.secondary_opts[0]
        return
    for text in value if isinstance(value, list) else [value]:
        yield from [f"{name}={text}"] if text.startswith("-") else [name, text]


@dataclass(frozen=True, slots=True)
class _InstalledServer:
    """The entry of a server in the file of a client. `entry` is None if it does not exist."""

    client_name: str
    scope: str
    name: str
    file: ClientFile
    entry: Any

    @classmethod
    def read(cls, client_name: str, scope: str, name: str, *, force: bool, verb: str) -> Self:
        """Read the entry, which the command will change or remove, according to `verb`.

        Raises `server_name_taken` if another program has written the entry, unless `force` is set,
        and the errors of `path_of` and `ClientFile.read`.
        """
        client = CLIENTS[client_name]
        file = ClientFile.read(path_of(client, scope), client)
        entry = file.entry(client, name)
        if entry is not None and not is_ours(entry) and not force:
            raise WrongStateError(
                "server_name_taken",
                f"another program has written the server {name!r} in {file.path}",
                hint=f"Pass another --name, or --force to {verb} that server.",
            )
        return cls(client_name, scope, name, file, entry)

    @property
    def client(self) -> McpClient:
        """The client."""
        return CLIENTS[self.client_name]

    def replace(self, session: Session, new: Any, *, dry_run: bool) -> None:
        """Write another entry, or no entry if it is None, and report the change."""
        has_changed = self.entry != new
        edited = self._edited(new) if has_changed else self.file.document
        backup = self.file.replace(edited) if has_changed and not dry_run else None
        difference = self._difference(edited) if has_changed else ""
        if session.output.as_json:
            session.output.document(
                {
                    "client": self.client_name,
                    "scope": self.scope,
                    "file": str(self.file.path),
                    "name": self.name,
                    "entry": new,
                    "changed": has_changed and not dry_run,
                    "backup": None if backup is None else str(backup),
                    "diff": difference,
                }
            )
        elif dry_run:
            click.echo(plain(difference, lines=True), nl=False)
        elif has_changed:
            verb = "added {} to" if self.entry is None else "changed {} in"
            verb = "removed {} from" if new is None else verb
            session.output.done(f"{verb.format(self.name)} {self.file.path}")
            if edited is None:
                session.output.note("deleted the file, because it has no other content")
            if backup is not None:
                session.output.note(f"backup of the previous file: {backup}")
            session.output.note(f"restart {self.client.title} to apply the change")
        if not has_changed:
            session.output.note(f"{self.file.path} already contains this entry")

    def _edited(self, new: Any) -> Document | None:
        """Return the document with another entry, or None to delete the file."""
        path = self.client.key, self.name
        if new is not None:
            return self.file.document.with_value(path, new)
        if is_ours(self.entry):
            return self.file.before_install(self.client, self.name)
        return self.file.document.without(path)

    def _difference(self, edited: Document | None) -> str:
        """Return a unified diff of the file.

        The diff hides the values of the other entries, because they often contain passwords.
        """
        path = self.client.key, self.name
        keys = ("type", "command", "args") if is_ours(self.entry) else ("type", "command")
        document = self.file.document
        old = [document.span(*path, key) for key in keys] if isinstance(self.entry, dict) else []
        new = None if edited is None else edited.span(*path)
        return unified_diff(
            self.file.path,
            Version.of(self.file.text, [span for span in old if span]),
            Version.of("" if edited is None else edited.text, [new] if new else []),
        )


@click.command(cls=_InstallCommand, name="install")
@_CLIENT
@_SCOPE
@_SERVER_NAME
@click.option(
    "--env",
    "variables",
    multiple=True,
    metavar="NAME=VALUE",
    help="Environment variable of the server, without secrets. May be repeated.",
)
@_DRY_RUN
@_FORCE
@offline_command
def command(
    session: Session,
    *,
    client: str,
    scope: str,
    name: str,
    variables: tuple[str, ...],
    dry_run: bool,
    force: bool,
    **serve_options: Any,
) -> None:
    """Add the MCP server to the configuration file of CLIENT.

    CLIENT is claude (Claude Desktop), claude-code, vscode, cursor, windsurf or zed. The client then
    starts `nexus-tools mcp serve` with the options that you pass here. The command keeps all other
    text of the file, and makes a backup before the first change. With --json, the fields are
    `client`, `scope`, `file`, `name`, `entry`, `changed`, `backup` and `diff`.
    """
    check_payment(serve_options, yes=serve_options["yes"])
    if find_spec("mcp") is None:
        raise ModuleNotFoundError(name="mcp")
    stored = serve_command(click.get_current_context().meta[_OPTIONS_KEY], variables)
    server = _InstalledServer.read(client, scope, name, force=force, verb="change")
    server.replace(session, server.client.entry(stored), dry_run=dry_run)
    missing = unstored_variables(stored)
    if missing:
        session.output.warn(
            f"the server will not use {', '.join(missing)} of this shell: pass the corresponding"
            " option or --env"
        )
    if not variables:  # another environment may have other settings and keys
        _warn_of_failing_calls(session, serve_options)
    if scope == PROJECT:
        session.output.note("the entry contains a path on this machine, so do not share the file")


def _warn_of_failing_calls(session: Session, options: Mapping[str, Any]) -> None:
    """Warn if the server has no network or no key, or cannot call tools on this machine."""
    try:
        network = session.settings.find_network(options["network_name"])
        if options["wallet_name"] is not None:
            session.settings.locate_account(options["wallet_name"])
    except NexusError as error:
        session.output.warn(plain(f"{error.message}: calls fail until you correct this"))
        session.output.note(plain(error.hint))
        return
    is_direct = not is_paid(options) and not options["allow_loopback"]
    if is_direct and is_loopback(network.endpoint().host):
        session.output.note(
            "the server refuses to call tools on this machine: pass --allow-loopback to allow it"
        )


command.params += _STORED


@click.command()
@_CLIENT
@_SCOPE
@_SERVER_NAME
@_DRY_RUN
@_FORCE
@offline_command
def uninstall(
    session: Session, *, client: str, scope: str, name: str, dry_run: bool, force: bool
) -> None:
    """Remove the MCP server from the configuration file of CLIENT.

    CLIENT is claude (Claude Desktop), claude-code, vscode, cursor, windsurf or zed. With --json,
    the fields are the same as for `install`, and `entry` is null.
    """
    server = _InstalledServer.read(client, scope, name, force=force, verb="remove")
    if server.entry is None:
        raise NotFoundError(
            "server_not_installed",
            f"{server.file.path} does not contain a server named {name!r}",
            hint="Pass the server's --name, or another --scope.",
        )
    server.replace(session, None, dry_run=dry_run)
