"""Finds NORA tools, in a folder of one or of several, and tells the dangerous ones."""

import re
from pathlib import Path

import anyio.to_thread

from nexus_tools.bridges.base import Discovery, Host, Refusal
from nexus_tools.bridges.naming import Naming
from nexus_tools.bridges.nora.manifest import Manifest, has_manifest
from nexus_tools.bridges.nora.tool import ERROR_PATTERN, SYSTEM, NoraTool, SoftError
from nexus_tools.errors import NexusError, NotAllowedError


class NoraBridge:
    """NORA's tools, each run in a process of its own.

    `error_pattern` makes a result in which it is found an `err`: a regular expression for an engine
    in linear time, or `UsageError` with code `pattern_invalid`; None leaves all texts answers.
    `allow_dangerous` takes tools that run any command.
    """

    def __init__(
        self, error_pattern: str | None = ERROR_PATTERN, allow_dangerous: bool = False
    ) -> None:
        self._soft_error = None if error_pattern is None else SoftError(error_pattern)
        self._allow_dangerous = allow_dangerous

    @property
    def system(self) -> str:
        """The system's word."""
        return SYSTEM

    def recognises(self, place: Path) -> bool:
        """Whether a `tool.json` lies in the folder, or in a folder of it."""
        return bool(_folders(place))

    async def discover(self, place: Path, host: Host, naming: Naming) -> Discovery:
        """The tool in the folder, or those in its folders."""
        folders = await anyio.to_thread.run_sync(_folders, place)
        found = [
            await anyio.to_thread.run_sync(self._one, folder, host, naming) for folder in folders
        ]
        return Discovery.joined(found)

    def _one(self, folder: Path, host: Host, naming: Naming) -> Discovery:
        known = None
        try:
            manifest = Manifest.read(folder)
            known = naming.known_fqn(SYSTEM, manifest.name)
            self._check_danger(manifest)
            fqn = naming.fqn(SYSTEM, manifest.name)
            tool = NoraTool(manifest, fqn, host, self._soft_error).called(manifest.name)
            return Discovery(tools=(tool,))
        except NexusError as error:
            return Discovery(refused=(Refusal.of(SYSTEM, folder, error, known),))

    def _check_danger(self, manifest: Manifest) -> None:
        why = "" if self._allow_dangerous else runs_commands(manifest)
        if why:
            raise NotAllowedError(
                "tool_dangerous",
                f"the tool may run any command: {why}",
                hint="if that is what you want to offer, allow it with --allow-dangerous",
            )


def _folders(place: Path) -> list[Path]:
    """The folders of tools: the place itself, or those right in it."""
    if has_manifest(place):
        return [place]
    try:
        inner = sorted(place.iterdir()) if place.is_dir() else []
    except OSError:
        return []
    return [folder for folder in inner if has_manifest(folder)]


# --- Which tools run any command that they are given, told from the manifest alone
#
# A manifest has no word for it, so the rule goes by names, and is no more than that: it keeps a
# `shell` tool from being offered to everybody by accident. The sandbox, not this rule, is the bound
# of what a tool can do.


# A tool is called so: one of these is a word of its name.
TOOL_WORDS = frozenset(
    (
        *("shell", "bash", "sh", "zsh", "cmd", "powershell", "terminal", "subprocess"),
        *("exec", "execute", "command", "commands", "eval"),
    )
)
# A tool takes this: one of these is the whole name of a parameter.
PARAMETERS = frozenset(("command", "commands", "cmd", "shell", "shell_command", "script"))

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def runs_commands(manifest: Manifest) -> str:
    """Why the tool is taken for one that runs arbitrary commands; empty if it is not."""
    words = {word.lower() for word in _WORDS.findall(manifest.name)}
    for word in sorted(words & TOOL_WORDS):
        return f"its name has the word {word!r}"
    properties = manifest.parameters.get("properties", {})
    for name in sorted(properties):
        if name.lower() in PARAMETERS:
            return f"it has the parameter {name!r}"
    return ""
