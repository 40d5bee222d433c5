"""MCP clients: the files in which they look for servers, and the form of an entry in each file."""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nexus_tools.cli.mcp.stored_command import StoredCommand

USER, PROJECT = "user", "project"
SCOPES = (USER, PROJECT)


@dataclass(frozen=True, slots=True)
class McpClient:
    """An MCP client.

    `user_file` returns the path of the file for all projects of the user. `project_file` is the
    path of the file for one project, relative to the project's folder. `key` is the member of the
    file that contains the servers. `has_type` is whether an entry names its transport.
    """

    title: str
    key: str
    user_file: Callable[[], Path]
    project_file: str | None = None
    accepts_comments: bool = False
    has_type: bool = False

    def entry(self, command: StoredCommand) -> dict[str, Any]:
        """Return the entry of a server that the client starts with this command."""
        kind = {"type": "stdio"} if self.has_type else {}
        environment = {"env": dict(command.environment)} if command.environment else {}
        return {**kind, "command": command.program, "args": list(command.arguments), **environment}


def _application_data() -> Path:
    """Return the folder in which desktop applications store their data.

    Source: `appData` in the documentation of Electron (`app.getPath`), which Claude Desktop and
    VS Code use.
    """
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return _roaming()
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def _roaming() -> Path:
    return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")


def _claude_file() -> Path:
    """Return the file of Claude Desktop.

    Source: "Connect to local MCP servers", modelcontextprotocol.io/docs/develop, for macOS and
    Windows. On Linux, the folder is Electron's.
    """
    return _application_data() / "Claude" / "claude_desktop_config.json"


def _claude_code_file() -> Path:
    """Return the file of Claude Code for all projects.

    Source: "MCP installation scopes", code.claude.com/docs/en/mcp, and CLAUDE_CONFIG_DIR in
    code.claude.com/docs/en/env-vars.
    """
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home()) / ".claude.json"


def _vscode_file() -> Path:
    """Return the file of VS Code's default profile.

    Source: "MCP configuration reference", code.visualstudio.com/docs/agents/reference, and the
    location of user settings in code.visualstudio.com/docs/configure/settings.
    """
    return _application_data() / "Code" / "User" / "mcp.json"


def _cursor_file() -> Path:
    """Return the file of Cursor for all projects. Source: cursor.com/docs/context/mcp."""
    return Path.home() / ".cursor" / "mcp.json"


def _windsurf_file() -> Path:
    """Return the file of Windsurf. Source: docs.windsurf.com/windsurf/cascade/mcp."""
    return Path.home() / ".codeium" / "windsurf" / "mcp_config.json"


def _zed_file() -> Path:
    """Return the settings file of Zed.

    Source: zed.dev/docs/configuring-zed for the file, and zed.dev/docs/ai/mcp for its member
    `context_servers`. On macOS, Zed also uses `~/.config`.
    """
    if sys.platform == "win32":
        return _roaming() / "Zed" / "settings.json"
    base = os.environ.get("XDG_CONFIG_HOME") if sys.platform != "darwin" else None
    return Path(base or Path.home() / ".config") / "zed" / "settings.json"


CLIENTS: Mapping[str, McpClient] = {
    "claude": McpClient("Claude Desktop", "mcpServers", _claude_file),
    "claude-code": McpClient(
        "Claude Code", "mcpServers", _claude_code_file, ".mcp.json", has_type=True
    ),
    "vscode": McpClient(
        "VS Code",
        "servers",
        _vscode_file,
        ".vscode/mcp.json",
        accepts_comments=True,
        has_type=True,
    ),
    "cursor": McpClient("Cursor", "mcpServers", _cursor_file, ".cursor/mcp.json", has_type=True),
    "windsurf": McpClient("Windsurf", "mcpServers", _windsurf_file),
    "zed": McpClient(
        "Zed", "context_servers", _zed_file, ".zed/settings.json", accepts_comments=True
    ),
}
"""The clients by the names that the command line uses."""
