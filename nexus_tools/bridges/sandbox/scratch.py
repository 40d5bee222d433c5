"""The directories of one run: its HOME, its working directory, and its temporary files.

The directories are removed even if a folder has no permissions, or if a path is too long.
"""

import asyncio
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self


async def finish_before_cancelling(
    work: "asyncio.Future[Any]", when_cancelled: Callable[[], None] | None = None
) -> None:
    """Wait until `work` is done.

    If this task is cancelled meanwhile, raise the cancellation at the end.
    """
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError as error:
            if when_cancelled and not cancelled:
                when_cancelled()
            cancelled = error
    if cancelled:
        raise cancelled
    work.result()


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def remove(folder: Path) -> None:
    """Remove the folder `folder` and everything in it. If `folder` is a file, remove the file.

    Processes that use the folder must have ended. The walk returns to parent folders through `..`,
    so the walk needs only two descriptors and no recursion at any depth.

    Raises:
        OSError: if even the owner cannot remove a file.
    """
    if not _is_folder(folder):
        folder.unlink(missing_ok=True)
        return
    folder.chmod(0o700)
    current = os.open(folder, _FOLDER)
    names: list[str] = []
    try:
        pending = [_clear(current)]
        while pending:
            if pending[-1]:
                names.append(pending[-1].pop())
                current = _change_directory(current, names[-1])
                pending.append(_clear(current))
            else:
                pending.pop()
                if names:
                    current = _change_directory(current, "..")
                    os.rmdir(names.pop(), dir_fd=current)
    finally:
        os.close(current)
    folder.rmdir()


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except FileNotFoundError:
        return False


def _change_directory(here: int, name: str) -> int:
    child = os.open(name, _FOLDER, dir_fd=here)
    os.close(here)
    return child


def _clear(here: int) -> list[str]:
    """Remove all files, make folders accessible to their owner, and return the folders' names."""
    folders = []
    for name in os.listdir(here):
        mode = os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
        if not stat.S_ISDIR(mode):
            os.unlink(name, dir_fd=here)
            continue
        if mode & 0o700 != 0o700:
            os.chmod(name, 0o700, dir_fd=here)
        folders.append(name)
    return folders


class ScratchDirectory:
    """A temporary directory under `root` that only its owner may enter.

    Use it as `with ScratchDirectory(root) as scratch:` or with `async with`, which removes the
    directory in a thread.
    `home`, `work`, `temporary`, and `shared_memory` are in `folder` and exist only inside the
    context. `root` is created if it is missing.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self.folder = Path()
        self.home = self.work = self.temporary = self.shared_memory = self.folder

    def __enter__(self) -> Self:
        self._root.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix="run-", dir=self._root.resolve()))
        self.home = self.folder / "home"
        self.work = self.folder / "work"
        self.temporary = self.folder / "tmp"
        self.shared_memory = self.folder / "shm"
        for folder in (self.home, self.work, self.temporary, self.shared_memory):
            folder.mkdir(mode=0o700)
        return self

    def __exit__(self, *_: object) -> None:
        remove(self.folder)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        await finish_before_cancelling(
            asyncio.ensure_future(asyncio.to_thread(remove, self.folder))
        )
