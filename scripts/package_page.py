"""Write PACKAGE.md, the README for package indexes: `python scripts/package_page.py`.

A package index shows the page without the repository, where relative links and images would break.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "PACKAGE.md"

_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)\n*")
_RELATIVE_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)[^)]*\)")
_OF_THE_REPOSITORY = ("Development",)
_CHECKOUT = re.compile(r"In a checkout, .*\Z", re.DOTALL)
_NOTE = (
    "\nThe source distribution has the documents in `docs` and the examples in `examples`."
    " `scripts/docs` builds the site.\n"
)


def description() -> str:
    """Return the README without links into the repository and without text about checkouts."""
    head, *sections = (ROOT / "README.md").read_text(encoding="utf-8").split("\n## ")
    kept = [section for section in sections if not section.startswith(_OF_THE_REPOSITORY)]
    head = _CHECKOUT.sub("", head)
    text = _PICTURE.sub("", "\n## ".join((head, *kept)))
    return _RELATIVE_LINK.sub(r"\1", text) + _NOTE


if __name__ == "__main__":
    PAGE.write_text(description(), encoding="utf-8")
