"""Shell completion of FQNs, networks and keys.

Completion has to be fast, so names are cached in a small file. Cached names of networks and keys
are valid until their source files change. Cached FQNs are valid for a minute. A separate process
reads FQNs from the node. Completion waits for that process only if the cache is empty, and for at
most 0.7 s.

This module is loaded for every command line, also for `--help`, so it has few imports.
"""

import json
import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from nexus_tools.settings.settings import Settings

Names = Sequence[str]

_FRESH_S = 60
_FIRST_TIME_S = 0.7


def complete_fqns(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the FQNs of tools on the network of the command."""
    settings = _settings()
    if settings is None:
        return []
    network = _given(context, "network_name") or settings.network
    kept = _Kept(settings, _fqns_of(network))
    now = int(time.time())
    if network in settings.deployments and not (kept.stamp and now - _FRESH_S < kept.stamp <= now):
        kept.keep(now, kept.names)  # prevents concurrent queries
        _ask(network, wait_s=0 if kept.names else _FIRST_TIME_S)
        kept = _Kept(settings, _fqns_of(network))
    return _starting_with(kept.names, incomplete)


def cache_fqns(settings: "Settings", network: str, names: Names) -> None:
    """Cache the FQNs of a network for a minute."""
    _Kept(settings, _fqns_of(network)).keep(int(time.time()), names)


def complete_networks(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Complete the names of networks."""
    return _starting_with(_of_files("networks", _networks), incomplete)


def complete_keys(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Complete the aliases of keys."""
    return _starting_with(_of_files("keys", _keys), incomplete)


def complete_files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete files, for parameters that also accept other values."""
    return [CompletionItem(incomplete, type="file")]


def complete_folders(
    _: click.Context, __: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Let the shell complete folders, for parameters that also accept other values."""
    return [CompletionItem(incomplete, type="dir")]


def complete_settings(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Complete the value of the setting `network` or `wallet`, which precedes the value."""
    complete = {"network": complete_networks, "wallet": complete_keys}
    found = complete.get(context.params.get("key", ""))
    return [] if found is None else found(context, parameter, incomplete)


def _starting_with(names: Names, incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _given(context: click.Context | None, option: str) -> str | None:
    """Return the value of a shared option of this command or of a parent, or None."""
    while context is not None:
        if context.params.get(option):
            return str(context.params[option])
        context = context.parent
    return None


def _settings() -> "Settings | None":
    """Return the settings, or None if they are invalid: completion does not report errors."""
    from nexus_tools.errors import NexusError
    from nexus_tools.settings.settings import Settings

    try:
        return Settings.load()
    except NexusError:
        return None


# --- Sources of names


def _of_files(kind: str, read: "Callable[[Settings], Names]") -> Names:
    """Return cached names, and first read them again if one of their source files has changed."""
    settings = _settings()
    if settings is None:
        return ()
    kept = _Kept(settings, kind)
    stamp = _stamp(settings)
    if kept.stamp != stamp:
        kept.keep(stamp, read(settings))
    return kept.names


def _stamp(settings: "Settings") -> list[Any]:
    """Return the paths and modification times of the files that hold networks and keys."""
    from nexus_tools.settings.directories import pysui_directory, sui_config_directory

    keystore, sui = settings.keystore, sui_config_directory()
    paths = [settings.config_file, keystore, keystore.with_suffix(".aliases")]
    paths += [sui / "client.yaml", sui / "sui.keystore", sui / "sui.aliases"]
    paths += [pysui_directory() / "PysuiConfig.json"]
    return [[str(path), path.stat().st_mtime_ns if path.exists() else 0] for path in paths]


def _networks(settings: "Settings") -> Names:
    return [network.value.name for network in settings.all_networks(lambda _: None)]


def _keys(settings: "Settings") -> Names:
    from nexus_tools.errors import NexusError

    try:
        return [account.value.alias for account in settings.all_accounts(lambda _: None)]
    except NexusError:  # the nexus-tools keystore is invalid
        return []


def _fqns_of(network: str) -> str:
    return f"fqns {network}"


def _ask(network: str, *, wait_s: float) -> None:
    """Start a process that reads FQNs from the node, and wait at most `wait_s` seconds for it."""
    from subprocess import DEVNULL, Popen, TimeoutExpired

    from nexus_tools.cli.framework.own_process import child_command

    asking = Popen(  # noqa: S603 - our own program
        child_command(network, module="nexus_tools.cli.framework.input.completion_process"),
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
        start_new_session=True,
    )
    try:
        asking.wait(wait_s)
    except TimeoutExpired:
        asking.returncode = 0  # the child process continues after this one exits


class _Kept:
    """The cached names of one kind, with a stamp: a time, or the state of the source files."""

    def __init__(self, settings: "Settings", kind: str) -> None:
        self._path = settings.cache_directory / "names.json"
        self._kind = kind
        entry = self._read().get(kind, {})
        self.stamp = entry.get("stamp")
        self.names: Names = entry.get("names", ())

    def keep(self, stamp: Any, names: Names) -> None:
        """Store names in the cache. If the cache cannot be written, names are read again later."""
        self.stamp, self.names = stamp, names
        document = self._read() | {self._kind: {"stamp": stamp, "names": list(names)}}
        new = self._path.with_suffix(f".{os.getpid()}.tmp")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            new.write_text(json.dumps(document), encoding="utf-8")
            new.replace(self._path)
        except OSError:
            pass

    def _read(self) -> dict[str, Any]:
        try:
            document = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return document if isinstance(document, dict) else {}
