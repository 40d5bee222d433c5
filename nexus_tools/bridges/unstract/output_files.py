"""The files that a run leaves in its output folder."""

import base64
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nexus_tools.errors import ValidationError

MAX_FILES = 200
MAX_BYTES = 4 * 2**20
"""Of all files together: they travel in an answer, most of them as base64."""

_MAX_FOLDERS = 1_000


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file by its path relative to the output folder, with `/` between folders."""

    path: str
    content: bytes

    def as_json(self) -> dict[str, str]:
        """`{path, text}` where it is UTF-8 without NUL, else `{path, content_base64}`."""
        try:
            text = self.content.decode("utf-8")
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            return {"path": self.path, "content_base64": base64.b64encode(self.content).decode()}
        return {"path": self.path, "text": text}


def read_output_files(folder: Path) -> list[OutputFile]:
    """Every file in a folder and below, by path; links and what is no plain file are left out.

    Raises `ValidationError` with code `files_too_large` for more than `MAX_FILES` files or
    `MAX_BYTES` bytes, and `file_unreadable` for a file that cannot be read, or has a name that is
    no UTF-8.
    """
    if folder.is_symlink():
        return []
    files: list[OutputFile] = []
    left = MAX_BYTES
    for path in _plain_files(folder):
        if len(files) == MAX_FILES:
            raise _too_large(f"it left more than {MAX_FILES} files")
        content = _content(path, left)
        if len(content) > left:
            raise _too_large(f"its files have more than {MAX_BYTES} bytes together")
        left -= len(content)
        files.append(OutputFile(_relative(path, folder), content))
    return sorted(files, key=lambda file: file.path)


def _plain_files(folder: Path) -> Iterator[Path]:
    pending = [folder]
    for _ in range(_MAX_FOLDERS + 1):
        if not pending:
            return
        current = pending.pop()
        try:
            entries = sorted(os.scandir(current), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                pending.append(Path(entry.path))
            elif entry.is_file(follow_symlinks=False):
                yield Path(entry.path)
    raise _too_large(f"it left more than {_MAX_FOLDERS} folders")


def _content(path: Path, at_most: int) -> bytes:
    """The content, and one byte more than `at_most` if there is more; a link is not followed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        message = f"a file that it left cannot be read: {error.strerror}"
        raise ValidationError("file_unreadable", message) from error
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return b""
        return file.read(at_most + 1)


def _relative(path: Path, folder: Path) -> str:
    name = path.relative_to(folder).as_posix()
    try:
        name.encode("utf-8")
    except UnicodeEncodeError as error:
        message = f"a file that it left has a name that is no UTF-8: {name!r}"
        raise ValidationError("file_unreadable", message) from error
    return name


def _too_large(problem: str) -> ValidationError:
    return ValidationError("files_too_large", problem)
