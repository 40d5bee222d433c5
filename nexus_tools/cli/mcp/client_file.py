"""The file of an MCP client: read, checked, and replaced with a backup of its first content."""

import os
import stat
from codecs import BOM_UTF8
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nexus_tools.cli.mcp.clients import CLIENTS, PROJECT, McpClient
from nexus_tools.cli.mcp.jsonc import CommentError, Document, JsoncError
from nexus_tools.errors import UsageError, WrongStateError
from nexus_tools.sui.support.private_file import folder_locked, replace_file

BACKUP_SUFFIX = ".nexus-tools-backup"
_MAX_BYTES = 64 * 1024 * 1024


def path_of(client: McpClient, scope: str) -> Path:
    """Return the path of a client's file.

    Symlinks are followed. Raises `scope_not_supported`, and `file_outside_project` if a project
    redirects its file to another place.
    """
    if scope != PROJECT:
        return _resolved(client.user_file())
    if client.project_file is None:
        raise UsageError(
            "scope_not_supported",
            f"{client.title} does not read servers from a project",
            hint="Omit --scope, or pass --scope user.",
        )
    project = Path.cwd().resolve()
    path = project / client.project_file
    resolved = _resolved(path)
    # A downloaded project could otherwise let this command change any file of the user.
    if not resolved.is_relative_to(project):
        raise UsageError(
            "file_outside_project",
            f"{path} is a symlink to {resolved}, which is outside the project",
            hint="Delete the symlink, or pass --scope user.",
        )
    return resolved


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:  # a loop of symlinks
        raise _unreadable(path, str(error)) from None


@dataclass(frozen=True, slots=True)
class ClientFile:
    """The content of a client's file. `status` is None if the file does not exist."""

    path: Path
    data: bytes
    document: Document
    status: os.stat_result | None

    @classmethod
    def read(cls, path: Path, client: McpClient) -> "ClientFile":
        """Read and parse the file. A missing file has an empty document.

        Raises `client_file_invalid` with the line and the column of the error.
        """
        status, data = _content(path)
        try:
            text = data.removeprefix(BOM_UTF8).decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            column = error.start - data.rfind(b"\n", 0, error.start)
            raise _invalid(path, line, column, "not UTF-8") from None
        try:
            return cls(path, data, Document(text, comments=client.accepts_comments), status)
        except CommentError as error:
            raise _invalid(
                path, error.line, error.column, str(error), _comment_hint(client)
            ) from None
        except JsoncError as error:
            raise _invalid(path, error.line, error.column, str(error)) from None

    def entry(self, client: McpClient, name: str) -> Any:
        """Return the entry of a server, or None. Raises `client_file_invalid`."""
        try:
            return self.document.get(client.key, name)
        except JsoncError as error:
            raise _invalid(self.path, error.line, error.column, str(error)) from None

    @property
    def text(self) -> str:
        """The text of the file, or an empty text if the file does not exist."""
        return self.data.removeprefix(BOM_UTF8).decode()

    def before_install(self, client: McpClient, name: str) -> Document | None:
        """Return the document without an installed server, or None to delete the file.

        The backup shows whether the installation has created the file, or the client's member.
        """
        edited = self.document.without((client.key, name))
        backup = self._first_content(client)
        if edited.get(client.key) or (backup is not None and client.key in backup.value):
            return edited
        edited = edited.without((client.key,))
        is_empty = "".join(edited.text.split()) == "{}"
        return None if is_empty and backup is None else edited

    def _first_content(self, client: McpClient) -> Document | None:
        """Return the document of the backup, or None if the installation created the file."""
        try:
            status, data = _content(self._backup_path)
            text = data.removeprefix(BOM_UTF8).decode()
            return Document(text, comments=client.accepts_comments) if status else None
        except (OSError, ValueError, UsageError):  # the backup does not show what was added
            return self.document

    @property
    def _backup_path(self) -> Path:
        return self.path.with_name(self.path.name + BACKUP_SUFFIX)

    def replace(self, document: Document | None) -> Path | None:
        """Write a document to the file or delete the file, and return the path of a new backup.

        The first change of a file makes a backup. Raises `client_file_changed` if another program
        has changed the file since `read`. Two of our commands never replace it at the same time.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with folder_locked(self.path.parent):
            return self._replace(document)

    def _replace(self, document: Document | None) -> Path | None:
        backup = None
        if self.status is not None and document is not None:
            backup = self._backup()
        if _content(self.path)[1] != self.data:
            raise WrongStateError(
                "client_file_changed",
                f"another program has just changed {self.path}",
                hint="Close the client, and run the command again.",
            )
        if document is None:
            self.path.unlink()
            return None
        mark = BOM_UTF8 if self.data.startswith(BOM_UTF8) else b""
        replace_file(self.path, mark + document.text.encode(), like=self.status)
        return backup

    def _backup(self) -> Path | None:
        """Copy the file, unless a backup already exists. Never follow a symlink."""
        assert self.status is not None
        path = self._backup_path
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            descriptor = os.open(path, flags, stat.S_IMODE(self.status.st_mode) & 0o600)
        except FileExistsError:
            return None
        with os.fdopen(descriptor, "wb") as file:
            file.write(self.data)
        return path


def _content(path: Path) -> tuple[os.stat_result | None, bytes]:
    """Return the status and the bytes of a regular file, or None and no bytes if it is missing."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None, b""
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _unreadable(path, "not a regular file")
        if status.st_size > _MAX_BYTES:
            raise _unreadable(path, f"larger than {_MAX_BYTES} bytes")
        return status, file.read()


def _unreadable(path: Path, reason: str) -> UsageError:
    return UsageError(
        "file_inaccessible",
        f"{path}: {reason}",
        hint="Choose another file or folder, or check its permissions.",
    )


def _comment_hint(client: McpClient) -> str:
    accepting = [other.title for other in CLIENTS.values() if other.accepts_comments]
    return (
        f"Remove comments and trailing commas, because the file of {client.title} is strict JSON."
        f" Only the files of {' and '.join(accepting)} may contain them. The command has not"
        " changed the file."
    )


def _invalid(path: Path, line: int, column: int, reason: str, hint: str = "") -> UsageError:
    return UsageError(
        "client_file_invalid",
        f"{path}, line {line}, column {column}: {reason}",
        hint=hint or "Correct the file. The command has not changed it.",
        details={"file": str(path), "line": line, "column": column},
    )
