"""A pin file with the first seen definitions of MCP tools, which makes changes visible.

Without pins, a server could list a harmless tool until users trust the tool, and then replace it.
"""

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nexus_tools.bridges.mcp.listing import Fingerprint
from nexus_tools.errors import ValidationError
from nexus_tools.tool import parse_json

_FORMAT = 1


class Pins:
    """The pin file at `path`, which does not have to exist.

    The file is JSON. For each server (`<mcp.json>#<name>`) and tool, the file contains the SHA-256
    of the canonical JSON of the tool's entry in `tools/list`, and of each field of the entry.
    Several processes may use the file.

    Raises:
        ValidationError: with code `pins_invalid` if the file is not valid.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def check(self, server: str, tools: Mapping[str, Fingerprint]) -> dict[str, tuple[str, ...]]:
        """Return descriptions of the changes by tool, and pin tools that are new."""
        with self._locked():
            pinned = self._read()
            known_tools = pinned.get(server, {})
            new = {name: tool for name, tool in tools.items() if name not in known_tools}
            if new:
                self._write(pinned | {server: known_tools | new})
        changes_by_tool = {
            name: known_tools[name].changes(tools[name]) for name in tools if name in known_tools
        }
        return {name: changes for name, changes in changes_by_tool.items() if changes}

    def accept(self, server: str, tools: Mapping[str, Fingerprint]) -> None:
        """Pin tools as they are now, replacing their previous pins."""
        with self._locked():
            pinned = self._read()
            self._write(pinned | {server: pinned.get(server, {}) | dict(tools)})

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the `.lock` file.

        The file is never deleted, because other processes may wait for it.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.with_name(f"{self.path.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _read(self) -> dict[str, dict[str, Fingerprint]]:
        if not self.path.exists():
            return {}
        try:
            document = parse_json(self.path.read_bytes())
            if document["format"] != _FORMAT:
                raise self._invalid("the format version is not supported")
            return {
                server: {name: _fingerprint(pin) for name, pin in tools.items()}
                for server, tools in document["servers"].items()
            }
        except (ValidationError, KeyError, TypeError, AttributeError) as error:
            raise self._invalid(str(error)) from error

    def _write(self, pinned: Mapping[str, Mapping[str, Fingerprint]]) -> None:
        servers = {
            server: {
                name: {"sha256": tool.sha256, "fields": dict(tool.fields)}
                for name, tool in tools.items()
            }
            for server, tools in pinned.items()
        }
        text = json.dumps({"format": _FORMAT, "servers": servers}, indent=2, sort_keys=True)
        descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(f"{text}\n")
            Path(name).replace(self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _invalid(self, problem: str) -> ValidationError:
        return ValidationError(
            "pins_invalid",
            f"{self.path} is not a valid pin file: {problem}",
            hint="Move the file away. The current definitions of the tools are then pinned again.",
        )


def _fingerprint(pin: Mapping[str, Any]) -> Fingerprint:
    return Fingerprint(str(pin["sha256"]), {str(k): str(v) for k, v in pin["fields"].items()})
