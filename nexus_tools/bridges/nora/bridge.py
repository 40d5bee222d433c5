"""The search for NORA tools in folders, and the detection of dangerous tools."""

import re
from pathlib import Path

import anyio.to_thread

from nexus_tools.bridges.base import BridgeHost, Discovery, RejectedTool
from nexus_tools.bridges.naming import Naming
from nexus_tools.bridges.nora.manifest import Manifest, has_manifest
from nexus_tools.bridges.nora.tool import ERROR_PATTERN, SYSTEM, ErrorPattern, NoraTool
from nexus_tools.errors import NexusError, NotAllowedError


class NoraBridge:
    """The bridge to NORA, which runs each tool in a separate process.

    A result that matches `error_pattern` becomes an `err`. The pattern is a regular expression for
    a linear-time engine. If the pattern is None, no text is treated as an error. `allow_dangerous`
    accepts tools that run arbitrary commands.

    Raises:
        UsageError: with code `pattern_invalid` if the pattern is not valid.
    """

    def __init__(
        self, error_pattern: str | None = ERROR_PATTERN, allow_dangerous: bool = False
    ) -> None:
        self._soft_error = None if error_pattern is None else ErrorPattern(error_pattern)
        self._allow_dangerous = allow_dangerous

    @property
    def system(self) -> str:
        """The name of the system."""
        return SYSTEM

    def recognises(self, place: Path) -> bool:
        """Return whether the folder, or one of its subfolders, contains a `tool.json`."""
        return bool(_folders(place))

    async def discover(self, place: Path, host: BridgeHost, naming: Naming) -> Discovery:
        """Return the tool in the folder, or the tools in its subfolders."""
        folders = await anyio.to_thread.run_sync(_folders, place)
        discoveries = [
            await anyio.to_thread.run_sync(self._one, folder, host, naming) for folder in folders
        ]
        return Discovery.merge(discoveries)

    def _one(self, folder: Path, host: BridgeHost, naming: Naming) -> Discovery:
        known_fqn = None
        try:
            manifest = Manifest.read(folder)
            known_fqn = naming.known_fqn(SYSTEM, manifest.name)
            self._check_danger(manifest)
            fqn = naming.fqn(SYSTEM, manifest.name)
            tool = NoraTool(manifest, fqn, host, self._soft_error).called(manifest.name)
            return Discovery(tools=(tool,))
        except NexusError as error:
            return Discovery(rejected=(RejectedTool.of(SYSTEM, folder, error, known_fqn),))

    def _check_danger(self, manifest: Manifest) -> None:
        reason = "" if self._allow_dangerous else dangerous_tool_reason(manifest)
        if reason:
            raise NotAllowedError(
                "tool_dangerous",
                f"the tool may run arbitrary commands: {reason}",
                hint="To serve the tool anyway, pass --allow-dangerous.",
            )


def _folders(place: Path) -> list[Path]:
    """Return the folders of tools: the folder itself, or its direct subfolders."""
    if has_manifest(place):
        return [place]
    try:
        inner = sorted(place.iterdir()) if place.is_dir() else []
    except OSError:
        return []
    return [folder for folder in inner if has_manifest(folder)]


# --- The detection of tools that run arbitrary commands, from the manifest only
#
# A manifest does not declare whether a tool runs commands, so the rule checks names. The rule only
# prevents a `shell` tool from being served by accident. The sandbox limits what a tool can do.


# Words in the names of tools that run arbitrary commands.
DANGEROUS_NAME_WORDS = frozenset(
    (
        *("shell", "bash", "sh", "zsh", "cmd", "powershell", "terminal", "subprocess"),
        *("exec", "execute", "command", "commands", "eval"),
    )
)
# Complete names of parameters of tools that run arbitrary commands.
PARAMETERS = frozenset(("command", "commands", "cmd", "shell", "shell_command", "script"))

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def dangerous_tool_reason(manifest: Manifest) -> str:
    """Return the reason why the tool seems to run arbitrary commands, or an empty string."""
    words = {word.lower() for word in _WORDS.findall(manifest.name)}
    for word in sorted(words & DANGEROUS_NAME_WORDS):
        return f"the name contains the word {word!r}"
    properties = manifest.parameters.get("properties", {})
    for name in sorted(properties):
        if name.lower() in PARAMETERS:
            return f"it has the parameter {name!r}"
    return ""
