"""Finds NORA tools: the folder of one, or a folder of such folders."""

from pathlib import Path

import anyio.to_thread

from nexus_tools.bridges.base import Discovery, Host, Refusal
from nexus_tools.bridges.naming import Naming
from nexus_tools.bridges.nora.danger import runs_commands
from nexus_tools.bridges.nora.manifest import Manifest, has_manifest
from nexus_tools.bridges.nora.soft_error import SoftError
from nexus_tools.bridges.nora.tool import SYSTEM, NoraTool
from nexus_tools.errors import NexusError, NotAllowedError


class NoraBridge:
    """NORA's tools, each run in a process of its own.

    `error_pattern` makes a result in which it is found an `err`: a regular expression for an engine
    in linear time, or `UsageError` with code `pattern_invalid`. `allow_dangerous` takes tools that
    run any command.
    """

    def __init__(self, error_pattern: str | None = None, allow_dangerous: bool = False) -> None:
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
        try:
            manifest = Manifest.read(folder)
            self._check_danger(manifest)
            fqn = naming.fqn(SYSTEM, manifest.name)
            return Discovery(tools=(NoraTool(manifest, fqn, host, self._soft_error),))
        except NexusError as error:
            return Discovery(refused=(Refusal.of(SYSTEM, folder, error),))

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
