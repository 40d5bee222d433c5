"""The root of the command line: its command groups, and the boundary that reports every error."""

import errno
import json
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any, NoReturn, TextIO

import click

from nexus_tools import __version__
from nexus_tools.cli.framework import (
    EXTRA_BY_MODULE,
    LazyGroup,
    marked_lines,
    plain,
    shared_options_last,
    usage_message,
)
from nexus_tools.errors import NexusError, UsageError
from nexus_tools.settings import environment
from nexus_tools.sui.support.logs import colors_disabled

_SURPLUS = re.compile(r"unexpected extra arguments? \((.*)\)")
"""The message of click for arguments that a command does not accept."""

GROUPS = {
    "demo": "Show the main features on a temporary network.",
    "tool": "Create, validate, register, list, and invoke tools.",
    "workflow": "Create, validate, simulate, publish, and run workflows of tools.",
    "question": "List and answer the questions that workflows ask you.",
    "schedule": "Run workflows at planned times, or when events occur.",
    "bridge": "Serve and register tools of other frameworks and of MCP servers.",
    "export": "Export tools for OpenAI, Anthropic, MCP, OpenAPI, or Unstract.",
    "mcp": "Serve the registry to agents as an MCP server.",
    "invocation": "List and delete the invocations that you requested.",
    "proof": "Show and verify proofs of paid calls.",
    "index": "Index tools, leaders, invocations and workflows in a local file.",
    "explorer": "Show tools, leaders and invocations in the browser.",
    "leader": "Register and run a Leader, which dispatches invocations to tools.",
    "localnet": "Run a local Sui network for development and tests.",
    "network": "Select the network that commands use.",
    "wallet": "Create and select keys, and transfer SUI.",
    "package": "Publish, upgrade, and inspect Move packages.",
    "admin": "Manage registry settings and slashes as the package's admin.",
    "status": "Show your tools, invocations, leaders, and balance.",
    "doctor": "Diagnose problems with the installation and the network.",
    "config": "Show and change settings.",
    "schema": "Print the JSON Schemas of your files, for editors.",
    "completion": "Set up shell completion.",
}
INTERRUPTED = 130
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class _Root(LazyGroup):
    """The root group, which accepts shared options anywhere and ignores a closed output pipe."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments like click, but also accept shared options before the command group."""
        return super().parse_args(ctx, shared_options_last(self, ctx, args))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and discard the remaining output if the reader has closed the pipe.

        Otherwise click exits with code 1, for example in `nexus-tools tool list | head`.
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
    """Register, run and call tools on Sui.

    A tool is registered on-chain with collateral. The Leader watches the chain, dispatches
    invocations to tools, and closes them with the outcomes. To try it, run `nexus-tools localnet
    start`, which starts a local Sui network.
    """


def run() -> NoReturn:
    """Run the command of the process, and exit with a code from 0 to 8, or 130 when interrupted."""
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
    except Exception as error:  # noqa: BLE001 - users never see a traceback
        code = _report(_bug(error))
    sys.exit(code if isinstance(code, int) else 0)


def _open_what_is_closed() -> None:
    """Replace closed standard streams (shell: `>&-`) with the null device."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - open to the end
            setattr(sys, name, stream)


def _send_nowhere(*streams: TextIO) -> None:
    """Redirect streams to the null device, because Python flushes them once more at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream.fileno())


def _report(error: NexusError) -> int:
    """Print an error on stderr, as JSON if the command has `--json`, and return its exit code."""
    # An error with a digest means that the transaction was sent and may still execute.
    if error.details.get("timeout_s") and "digest" not in error.details:
        error.hint = "Check the node, or run `nexus-tools config set timeout 60s` to wait longer."
    if "--json" in sys.argv[1:]:
        click.echo(json.dumps({"error": error.as_json()}, default=str), err=True)
        return error.exit_code
    click.secho(f"error: {marked_lines(error.message)}", fg="red", err=True, color=_color())
    failures = error.details.get("failures", ())
    for failure in failures if len(failures) > 1 else ():  # the message contains the first failure
        where = failure.get("pointer") or "/"
        click.echo(plain(f"  {where}: {failure.get('message', '')}"), err=True)
    if error.hint:
        click.echo(f"  {plain(error.hint)}", err=True)
    return error.exit_code


def _color() -> bool | None:
    """Return False if the user disabled colors, or None to let click decide."""
    return False if colors_disabled() else None


def _show_help(error: click.exceptions.NoArgsIsHelpError) -> int:
    """Print the help of a group that was called without a command, and return the exit code."""
    if "--json" in sys.argv[1:]:
        return _report(UsageError("usage", "missing command", hint=_help_hint(error)))
    click.echo(error.format_message(), err=True)
    return error.exit_code


def _help_hint(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    surplus = _SURPLUS.search(error.format_message())
    inputs = surplus[1].split() if surplus else []
    options = [name for option in context.command.params for name in option.opts] if context else []
    if inputs and "--input" in options and all("=" in text for text in inputs):
        return f"Pass inputs with {' '.join(f'--input {shlex.quote(text)}' for text in inputs)}."
    return f"Run `{context.command_path if context else 'nexus-tools'} --help`."


def _missing(error: ModuleNotFoundError) -> NexusError:
    """Return the error for a library that is not installed, and name the extra that installs it."""
    extra = EXTRA_BY_MODULE.get((error.name or "").partition(".")[0])
    if extra is None:
        return _bug(error)
    return UsageError(
        "extra_not_installed",
        f"the extra `{extra}` is required: {error.name} is not installed",
        hint=f"Run `pip install 'nexus-tools[{extra}]'`.",
    )


def _unusable(error: OSError) -> NexusError:
    """Return the error for a file or folder that cannot be read or written."""
    if error.errno in _FULL:
        return _full(error)
    if error.filename is None:
        return _bug(error)
    return UsageError(
        "file_inaccessible",
        f"{error.filename}: {error.strerror}",
        hint="Choose another file or folder, or check its permissions.",
    )


def _full(error: OSError) -> NexusError:
    """Return the error for a full disk. The failed write may have been to a redirected stdout."""
    try:
        sys.stdout.flush()
    except OSError:
        _send_nowhere(sys.stdout)
    return UsageError(
        "disk_full",
        f"{error.filename or 'cannot write the output'}: {error.strerror}",
        hint="Free some disk space, or set XDG_DATA_HOME and XDG_CONFIG_HOME to other folders.",
    )


def _bug(error: Exception) -> NexusError:
    if os.environ.get(environment.DEBUG):
        raise error
    return NexusError(
        "internal",
        f"internal error: {type(error).__name__}: {error}",
        hint=f"Please report this error. Set {environment.DEBUG}=1 to get a traceback.",
    )
