"""Copies of repository files to which pages link. The website does not contain the repository."""

import os
import re
import shutil
from pathlib import Path

from documents.page import ROOT

PAGES_OF = {
    "README.md": "about.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
"""Files outside of `docs` that are pages of the website."""
FOLDER = "files"

_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)([^)#\s]+)([^)]*)\)")
_IGNORED = shutil.ignore_patterns("__pycache__", ".pytest_cache", "build")


class OutsideFiles:
    """A converter of links and pictures outside of `docs` into links to copies in `pages`."""

    def __init__(self, pages: Path) -> None:
        self._pages = pages

    def rewrite(self, text: str, source: Path, page: str) -> str:
        """Return the text of the repository file `source`, with links that are valid on `page`."""

        def link(match: re.Match[str]) -> str:
            label, place, anchor = match.groups()
            target = Path(os.path.normpath(source.parent / place))
            if not target.exists():
                return match[0]
            on_site = self._place(target.relative_to(ROOT))
            return f"[{label}]({os.path.relpath(on_site, Path(page).parent)}{anchor})"

        return _LINK.sub(link, text)

    def _place(self, target: Path) -> str:
        """Return a file's path on the website. Copy other files than pages, and pack folders."""
        if target.parts[0] == "docs":
            return target.relative_to("docs").as_posix()
        if target.as_posix() in PAGES_OF:
            return PAGES_OF[target.as_posix()]
        place = self._pages / FOLDER / target
        place.parent.mkdir(parents=True, exist_ok=True)
        if not (ROOT / target).is_dir():
            shutil.copy(ROOT / target, place)
            return f"{FOLDER}/{target.as_posix()}"
        return f"{FOLDER}/{self._archive(target)}"

    def _archive(self, target: Path) -> str:
        """Pack a folder into an archive. The archive contains it at the path that pages use."""
        place = self._pages / FOLDER / f"{target}.zip"
        if not place.exists():
            staged = self._pages / FOLDER / "staged"
            shutil.copytree(ROOT / target, staged / target, ignore=_IGNORED)
            shutil.make_archive(str(place.with_suffix("")), "zip", staged)
            shutil.rmtree(staged)
        return f"{target.as_posix()}.zip"
