"""Build the website strictly into `build/website/site`, and serve it with `--serve`."""

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
from website.copying import mark_commands
from website.outside import PAGES_OF, OutsideFiles

DOCS = ROOT / "docs"
BUILD = ROOT / "build/website"
PAGES = BUILD / "pages"
PARTS = ("guides", "concepts", "reference")
GENERATED = {"commands": commands, "settings": settings, "errors": errors, "move": move}


def assemble() -> None:
    """Write all pages into a new folder, with the configuration that lists them.

    Raises `ValueError` if a page is not in the navigation.
    """
    shutil.rmtree(BUILD, ignore_errors=True)
    shutil.copytree(DOCS, PAGES)
    outside = OutsideFiles(PAGES)
    sources = {path.relative_to(DOCS).as_posix(): path for path in DOCS.rglob("*.md")}
    sources |= {page: ROOT / name for name, page in PAGES_OF.items()}
    for page, source in sources.items():
        _write(page, outside.rewrite(source.read_text(encoding="utf-8"), source, page))
    for name, generator in GENERATED.items():
        _write(f"reference/{name}.md", generator.page())
    config = tomllib.loads((PAGES / "zensical.toml").read_text(encoding="utf-8"))
    (PAGES / "zensical.toml").unlink()
    named = set(_pages(config["project"]["nav"]))
    for page in named:
        if page.startswith("reference/python/"):
            _write(page, _python(Path(page).stem))
    if lost := {path.relative_to(PAGES).as_posix() for path in PAGES.rglob("*.md")} - named:
        raise ValueError(f"docs/zensical.toml does not name {', '.join(sorted(lost))}")
    (BUILD / "zensical.toml").write_text(tomli_w.dumps(config), encoding="utf-8")
    _write("llms.txt", "".join(_llms(config["project"])))


def _write(name: str, text: str) -> None:
    path = PAGES / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _python(room: str) -> str:
    """Return the page of a package with its title, its docstring and its exports."""
    name = room if room == "nexus_tools" else f"nexus_tools.{room}"
    module = import_module(name)
    offered = [export for export in module.__all__ if export != "__version__"]
    return f"# {name}\n\n{module.__doc__}\n\n" + "".join(
        f"::: {name}.{export}\n\n" for export in offered
    )


# --- Navigation


def _pages(nav: list[Any]) -> Iterator[str]:
    """Yield the pages below a part of the navigation, in order."""
    for entry in nav:
        if isinstance(entry, str):
            yield entry
        else:
            for inner in entry.values():
                yield from _pages(inner)


def _llms(project: dict[str, Any]) -> Iterator[str]:
    """Yield the page list for language models (llmstxt.org): titles and first sentences."""
    yield f"# {project['site_name']}\n\n> {project['site_description']}\n"
    for part in project["nav"]:
        for title, entries in part.items():
            yield f"\n## {title}\n\n"
            yield from map(_line, _pages(entries))


def _line(name: str) -> str:
    text = re.sub(r"<!--.*?-->", "", (PAGES / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    title, *paragraphs = (part.strip() for part in re.split(r"\n\n+", text))
    no_text = ("#", "!", "|", "```", ":::")
    first = next(
        paragraph for paragraph in paragraphs if paragraph and not paragraph.startswith(no_text)
    )
    sentence = re.split(r"(?<=\.)\s", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", first) + " ")[0]
    return f"- [{title.removeprefix('# ')}]({name}): {' '.join(sentence.split())}\n"


def main() -> int:
    """Build the website, and serve it if requested."""
    assemble()
    zensical = (str(Path(sys.executable).parent / "zensical"),)
    config = ("--config-file", str(BUILD / "zensical.toml"))
    if sys.argv[1:] == ["--serve"]:
        return subprocess.run((*zensical, "serve", *config), check=False).returncode
    done = subprocess.run((*zensical, "build", "--strict", *config), check=False)
    if done.returncode == 0:
        mark_commands(BUILD / "site")
        for path in PAGES.rglob("*.md"):  # the paths in llms.txt
            shutil.copy(path, BUILD / "site" / path.relative_to(PAGES))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
