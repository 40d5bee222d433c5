"""The root of the command line: its groups, and the edge at which every error becomes words."""

import errno
import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn, TextIO

import click

from nexus_tools import __version__
from nexus_tools.cli.framework import EXTRA_OF, LazyGroup, plain, shared_options_last, usage_message
from nexus_tools.errors import NexusError, UsageError
from nexus_tools.settings import environment
from nexus_tools.sui.support.logs import refuses_colors

GROUPS = {
    "tool": "Write, check, register, list, invoke and unregister tools.",
    "workflow": "Join tools to workflows: write, check, draw, simulate and publish them.",
    "ask": "See what workflows ask you, and answer.",
    "schedule": "Have workflows executed at planned times, or by events.",
    "bridge": "Serve and register tools of other systems, and of MCP servers.",
    "export": "Give tools to agents: for OpenAI, Anthropic, MCP, OpenAPI, Unstract.",
    "mcp": "Offer the registry to agents as an MCP server.",
    "invocation": "Find invocations that you requested.",
    "leader": "Carry invocations from the chain to tools and close them with the outcomes.",
    "localnet": "A Sui network in one process, for development and tests.",
    "network": "Choose the network to work on.",
    "wallet": "Make and choose keys.",
    "package": "Publish and inspect the Move package.",
    "admin": "Decide as the admin of the package.",
    "status": "Your tools, invocations, leaders and money at a glance.",
    "doctor": "Find out what is missing or broken, and how to mend it.",
    "config": "Show and set what commands assume.",
    "completion": "Complete commands in your shell.",
}
INTERRUPTED = 130
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class _Root(LazyGroup):
    """Takes the shared options anywhere; a reader that goes away, as `head` does, is no failure."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, with the options that commands share in front of the noun, too."""
        return super().parse_args(ctx, shared_options_last(self, ctx, args))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what is left to print when nobody reads goes nowhere.

        click would exit with 1.
        """
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _send_nowhere(sys.stdout, sys.stderr)
            return 0


@click.group(
    cls=_Root,
    home="nexus_tools.cli",
    summaries=GROUPS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="nexus-tools")
def app() -> None:
    """Put tools on Sui.

    Register tools with collateral in a registry on chain, and run the Leader that carries
    invocations to them. `nexus-tools localnet start` gives you a Sui network to try it on.
    """


def run() -> NoReturn:
    """Run the command that the process was called with, and exit as design says: 0 to 8."""
    _open_what_is_closed()
    try:
        code = app(standalone_mode=False, prog_name="nexus-tools", color=_color())
    except click.exceptions.Exit as signal:
        code = signal.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        code = _show_help(error)
    except click.ClickException as error:
        code = _report(UsageError("usage", usage_message(error), hint=_help_hint(error)))
    except NexusError as error:
        code = _report(error)
    except (KeyboardInterrupt, click.Abort):
        click.echo("\nstopped", err=True)
        code = INTERRUPTED
    except ModuleNotFoundError as error:
        code = _report(_missing(error))
    except OSError as error:
        code = _report(_unusable(error))
    except Exception as error:  # noqa: BLE001 - the edge: nobody is shown a traceback
        code = _report(_bug(error))
    sys.exit(code if isinstance(code, int) else 0)


def _open_what_is_closed() -> None:
    """Where a stream was closed before, as by `>&-`, nothing is read or written."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - open to the end
            setattr(sys, name, stream)


def _send_nowhere(*streams: TextIO) -> None:
    """Let what is still to be printed go nowhere: Python would try it again at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream.fileno())


def _report(error: NexusError) -> int:
    """Print an error on stderr, as JSON if the command was to print JSON."""
    if error.details.get("timeout_s") and "digest" not in error.details:  # else it may be executed
        error.hint = "check the node, or wait longer: `nexus-tools config set timeout 60s`"
    if "--json" in sys.argv[1:]:
        click.echo(json.dumps({"error": error.as_json()}, default=str), err=True)
        return error.exit_code
    # Other people may have written the message: no line of it looks like one of ours.
    message = plain(error.message, lines=True).replace("\n", "\n  | ")
    click.secho(f"error: {message}", fg="red", err=True, color=_color())
    failures = error.details.get("failures", ())
    for failure in failures if len(failures) > 1 else ():  # the message has the first
        where = failure.get("pointer") or "/"
        click.echo(plain(f"  {where}: {failure.get('message', '')}"), err=True)
    if error.hint:
        click.echo(f"  {plain(error.hint)}", err=True)
    return error.exit_code


def _color() -> bool | None:
    """No colors if the user wants none; else as click finds out."""
    return False if refuses_colors() else None


def _show_help(error: click.exceptions.NoArgsIsHelpError) -> int:
    """A group alone does nothing: show what there is in it."""
    if "--json" in sys.argv[1:]:
        return _report(UsageError("usage", "a command is missing", hint=_help_hint(error)))
    click.echo(error.format_message(), err=True)
    return error.exit_code


def _help_hint(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return f"see `{context.command_path} --help`" if context else "see `nexus-tools --help`"


def _missing(error: ModuleNotFoundError) -> NexusError:
    """The error for a library that an extra brings, and that is not installed."""
    extra = EXTRA_OF.get((error.name or "").partition(".")[0])
    if extra is None:
        return _bug(error)
    return UsageError(
        "extra_missing",
        f"this needs the extra `{extra}`: {error.name} is not installed",
        hint=f"pip install 'nexus-tools[{extra}]'",
    )


def _unusable(error: OSError) -> NexusError:
    """The error for a file or folder that cannot be read or written."""
    if error.errno in _FULL:
        return _full(error)
    if error.filename is None:
        return _bug(error)
    return UsageError(
        "file_unusable",
        f"{error.filename}: {error.strerror}",
        hint="name another file or folder, or see who may read and write it",
    )


def _full(error: OSError) -> NexusError:
    """The error for a disk without space; it may be stdout that was sent there."""
    try:
        sys.stdout.flush()
    except OSError:
        _send_nowhere(sys.stdout)
    return UsageError(
        "disk_full",
        f"{error.filename or 'what was to be written'}: {error.strerror}",
        hint="make room, or let XDG_DATA_HOME and XDG_CONFIG_HOME name other places",
    )


def _bug(error: Exception) -> NexusError:
    if os.environ.get(environment.DEBUG):
        raise error
    return NexusError(
        "internal",
        f"this should not happen: {type(error).__name__}: {error}",
        hint=f"please report it; {environment.DEBUG}=1 shows where it comes from",
    )
