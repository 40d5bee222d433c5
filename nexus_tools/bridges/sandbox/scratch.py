"""The directories of one run: its HOME, its working directory, its place for temporary files.

They are removed whatever was made in them: shut folders, trees deeper than a path can name.
"""

import asyncio
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self


async def outlast(
    work: "asyncio.Future[Any]", when_cancelled: Callable[[], None] | None = None
) -> None:
    """Wait until `work` is done; only then be cancelled, if that was asked for meanwhile."""
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
    """Remove `folder` and all in it, or what stands in its place now.

    Nothing may be at work in there any more. It takes two descriptors and no stack at any depth,
    as it climbs up by `..`. Raises `OSError` for what even its owner cannot remove.
    """
    if not _is_folder(folder):
        folder.unlink(missing_ok=True)
        return
    folder.chmod(0o700)
    here = os.open(folder, _FOLDER)
    names: list[str] = []
    try:
        waiting = [_clear(here)]
        while waiting:
            if waiting[-1]:
                names.append(waiting[-1].pop())
                here = _move(here, names[-1])
                waiting.append(_clear(here))
            else:
                waiting.pop()
                if names:
                    here = _move(here, "..")
                    os.rmdir(names.pop(), dir_fd=here)
    finally:
        os.close(here)
    folder.rmdir()


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except FileNotFoundError:
        return False


def _move(here: int, name: str) -> int:
    there = os.open(name, _FOLDER, dir_fd=here)
    os.close(here)
    return there


def _clear(here: int) -> list[str]:
    """Remove all that is no folder, and open the folders to their owner; their names."""
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


class Scratch:
    """A fresh directory under `root` that only its owner may enter, removed with all in it.

    Used as `with Scratch(root) as scratch:` or `async with`, which removes in a thread. `home`,
    `work`, `temporary` and `shared_memory` are in `folder`, and are there only inside. `root` is
    made if need be.
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
        for each in (self.home, self.work, self.temporary, self.shared_memory):
            each.mkdir(mode=0o700)
        return self

    def __exit__(self, *_: object) -> None:
        remove(self.folder)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        await outlast(asyncio.ensure_future(asyncio.to_thread(remove, self.folder)))
