"""Writes PACKAGE.md, the README for package indexes: `python scripts/package_page.py`.

An index shows the page without the repository, so relative links and pictures would be broken.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "PACKAGE.md"

_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)\n*")
_RELATIVE_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)[^)]*\)")
_OF_THE_REPOSITORY = ("The tree", "Development")
_NOTE = (
    "\nThe source distribution has the documents in `docs` and the examples in `examples`."
    " `scripts/docs` builds the site.\n"
)


def description() -> str:
    """Return the README without links into the repository, and without its sections on that."""
    head, *sections = (ROOT / "README.md").read_text(encoding="utf-8").split("\n## ")
    kept = [each for each in sections if not each.startswith(_OF_THE_REPOSITORY)]
    text = _PICTURE.sub("", "\n## ".join((head, *kept)))
    return _RELATIVE_LINK.sub(r"\1", text) + _NOTE


if __name__ == "__main__":
    PAGE.write_text(description(), encoding="utf-8")
