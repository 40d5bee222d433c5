"""A page of Markdown and its blocks in order.

A block is fenced and has a language. A block may have a title, which is the name of a terminal for
`console`, and the name of a file for other languages. Comments, which readers do not see, contain
the prerequisites of a page:

    <!-- given: localnet, tools -->       sections of given.md, executed first

    <!-- console
    $ mkdir tools                         a block that is executed where it stands
    -->
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(
    r'^(?P<indent> *)(?P<fence>```|<!-- )(?P<language>\w*)(?: title="(?P<title>[^"]*)")?\n'
    r"(?P<text>.*?)^ *(?:```|-->)$",
    re.MULTILINE | re.DOTALL,
)
HEADING = re.compile(r"^#{2,} ", re.MULTILINE)
GIVEN = re.compile(r"^<!-- given: (.*) -->$", re.MULTILINE)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
EXECUTED = ("console", "python")


@dataclass(frozen=True)
class Block:
    """One block. `line` is the line of its fence. `is_hidden` is whether it is in a comment."""

    language: str
    title: str
    text: str
    line: int
    is_hidden: bool
    heading: int = 0
    """The number of headings before the block on its page."""

    @property
    def commands(self) -> list[tuple[str, str]]:
        """The commands of a console block, each with the output that the page shows."""
        return [(command, shown) for command, shown in COMMAND.findall(self.text)]


@dataclass(frozen=True)
class Page:
    """A page by its name, such as `docs/tutorial.md`."""

    name: str
    text: str

    @classmethod
    def read(cls, name: str) -> Self:
        """Read the page of this name from the repository."""
        return cls(name, (ROOT / name).read_text(encoding="utf-8"))

    @property
    def blocks(self) -> list[Block]:
        """The blocks of the page, including the blocks in comments."""
        return list(self._blocks())

    def _blocks(self) -> Iterator[Block]:
        for match in BLOCK.finditer(self.text):
            lines = match["text"].splitlines(keepends=True)
            text = "".join(line.removeprefix(match["indent"]) for line in lines)
            place = self.text.count("\n", 0, match.start()) + 1
            yield Block(
                language=match["language"],
                title=match["title"] or "",
                text=text,
                line=place,
                is_hidden=match["fence"] == "<!-- ",
                heading=len(HEADING.findall(self.text, 0, match.start())),
            )

    @property
    def given(self) -> list[str]:
        """The sections of `given.md` that the page requires."""
        return [name for names in GIVEN.findall(self.text) for name in names.split(", ")]

    def section(self, heading: str) -> "Page":
        """Return the section below a heading of the second level, as a page."""
        return Page(self.name, self.text.split(f"\n## {heading}\n")[1].split("\n## ")[0])

    def before(self, heading: str) -> "Page":
        """Return the text above a heading of the second level, as a page."""
        return Page(self.name, self.text.split(f"\n## {heading}\n")[0])


def pages() -> list[str]:
    """Return the names of all pages that are executed."""
    return [
        *("README.md", "CONTRIBUTING.md"),
        *(
            path.relative_to(ROOT).as_posix()
            for folder in ("docs", "skills")
            for path in sorted((ROOT / folder).rglob("*.md"))
        ),
    ]
