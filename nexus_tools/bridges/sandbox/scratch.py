"""The directories of one run: its HOME, its working directory, its place for temporary files."""

import asyncio
import tempfile
from pathlib import Path
from typing import Self

from nexus_tools.bridges.sandbox.outlasting import outlast
from nexus_tools.bridges.sandbox.removal import remove


class Scratch:
    """A fresh directory under `root` that only its owner may enter, removed with all in it.

    Used as `with Scratch(root) as scratch:` or `async with`, which removes in a thread. `home`,
    `work` and `temporary` are in `folder`, and are there only inside. `root` is made if need be.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self.folder = Path()
        self.home = self.work = self.temporary = self.folder

    def __enter__(self) -> Self:
        self._root.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix="run-", dir=self._root.resolve()))
        self.home = self.folder / "home"
        self.work = self.folder / "work"
        self.temporary = self.folder / "tmp"
        for each in (self.home, self.work, self.temporary):
            each.mkdir(mode=0o700)
        return self

    def __exit__(self, *_: object) -> None:
        remove(self.folder)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        await outlast(asyncio.ensure_future(asyncio.to_thread(remove, self.folder)))
