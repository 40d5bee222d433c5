"""Builds the site strictly into `build/website/site`; with `--serve` it is served, too."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import tomli_w

from documents.page import ROOT
from website import commands, errors, move, settings

DOCS = ROOT / "docs"
BUILD = ROOT / "build/website"
PAGES = BUILD / "pages"
PARTS = ("guides", "concepts", "reference")
GENERATED = {"commands": commands, "settings": settings, "errors": errors, "move": move}
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((\.\./[^)#]*)([^)]*)\)")


def assemble() -> None:
    """Puts all pages into a new folder, with the configuration that names them."""
    shutil.rmtree(BUILD, ignore_errors=True)
    shutil.copytree(DOCS, PAGES)
    for path in PAGES.rglob("*.md"):
        path.write_text(_inside(path), encoding="utf-8")
    _write("index.md", _home())
    for name, generator in GENERATED.items():
        _write(f"reference/{name}.md", generator.page())
    config = tomllib.loads((PAGES / "zensical.toml").read_text(encoding="utf-8"))
    (PAGES / "zensical.toml").unlink()
    _add_pages_of_parts(config["project"]["nav"])
    for page in _pages(config["project"]["nav"]):
        if page.startswith("reference/python/"):
            _write(page, _python(Path(page).stem))
    (BUILD / "zensical.toml").write_text(tomli_w.dumps(config), encoding="utf-8")
    _write("llms.txt", "".join(_llms(config["project"])))


def _write(name: str, text: str) -> None:
    path = PAGES / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _inside(path: Path) -> str:
    """The text of a page, with the links that lead somewhere on the site; README is its home."""

    def link(match: re.Match[str]) -> str:
        text, place, anchor = match.groups()
        target = Path(os.path.normpath(path.parent / place))
        if target == BUILD / "README.md":
            return f"[{text}]({os.path.relpath(PAGES / 'index.md', path.parent)}{anchor})"
        return match[0] if target.is_relative_to(PAGES) else text

    return LINK.sub(link, path.read_text(encoding="utf-8"))


def _home() -> str:
    """The README, with its links as they are inside of `docs`."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").replace("](docs/", "](")
    return text.replace("[CONTRIBUTING.md](CONTRIBUTING.md)", "CONTRIBUTING.md")


def _python(room: str) -> str:
    """The page of a room: its caption, and what it offers."""
    name = room if room == "nexus_tools" else f"nexus_tools.{room}"
    module = import_module(name)
    offered = [each for each in module.__all__ if each != "__version__"]
    return f"# {name}\n\n{module.__doc__}\n\n" + "".join(
        f"::: {name}.{each}\n\n" for each in offered
    )


# --- Navigation


def _pages(nav: list[Any]) -> Iterator[str]:
    """The pages below a part of the navigation, in their order."""
    for entry in nav:
        if isinstance(entry, str):
            yield entry
        else:
            for inner in entry.values():
                yield from _pages(inner)


def _add_pages_of_parts(nav: list[Any]) -> None:
    """Names the pages of a part's folder that the configuration does not."""
    named = set(_pages(nav))
    for part in nav[1:]:
        for title, entries in part.items():
            folder = PAGES / title.lower()
            found = (path.relative_to(PAGES).as_posix() for path in sorted(folder.rglob("*.md")))
            entries.extend(name for name in found if name not in named)


def _llms(project: dict[str, Any]) -> Iterator[str]:
    """The pages for language models, see llmstxt.org: their titles and first sentences."""
    yield f"# {project['site_name']}\n\n> {project['site_description']}\n"
    for part in project["nav"][1:]:
        for title, entries in part.items():
            yield f"\n## {title}\n\n"
            yield from map(_line, _pages(entries))


def _line(name: str) -> str:
    text = re.sub(r"<!--.*?-->", "", (PAGES / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    title, *paragraphs = (each.strip() for each in re.split(r"\n\n+", text))
    no_text = ("#", "!", "|", "```", ":::")
    first = next(each for each in paragraphs if each and not each.startswith(no_text))
    sentence = re.split(r"(?<=\.)\s", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", first) + " ")[0]
    return f"- [{title.removeprefix('# ')}]({name}): {' '.join(sentence.split())}\n"


def main() -> int:
    """Builds, and serves if that is asked for."""
    assemble()
    zensical = (str(Path(sys.executable).parent / "zensical"),)
    config = ("--config-file", str(BUILD / "zensical.toml"))
    if sys.argv[1:] == ["--serve"]:
        return subprocess.run((*zensical, "serve", *config), check=False).returncode
    done = subprocess.run((*zensical, "build", "--strict", *config), check=False)
    if done.returncode == 0:
        for path in PAGES.rglob("*.md"):  # as llms.txt names them
            shutil.copy(path, BUILD / "site" / path.relative_to(PAGES))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
