"""Build the website strictly into `build/website/site`, and serve it with `--serve`."""

import hashlib
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
from nexus_tools.sui.support.private_file import locked
from website import commands, errors, move, settings
from website.copying import mark_commands
from website.descriptions import describe_pages
from website.images import add_sizes
from website.outside import PAGES_OF, OutsideFiles

DOCS = ROOT / "docs"
BUILD = ROOT / "build/website"
PAGES = BUILD / "pages"
SITE = BUILD / "site"
PARTS = ("guides", "concepts", "reference")
SOURCES = (
    "docs",
    "nexus_tools",
    "move",
    "examples",
    "deploy",
    "scripts/documents",
    "scripts/website",
)
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


# --- Build


def build() -> int:
    """Build the website if a source changed since the last build, and return the exit code.

    Processes that build at the same time wait for each other.
    """
    with locked(BUILD):
        digest, stamp = _digest_of_sources(), BUILD / "sources.sha256"
        if stamp.is_file() and stamp.read_text(encoding="utf-8") == digest:
            return 0
        assemble()
        code = _zensical("build", "--strict")
        if code == 0:
            mark_commands(SITE)
            add_sizes(SITE)
            describe_pages(SITE)
            for path in PAGES.rglob("*.md"):  # the paths in llms.txt
                shutil.copy(path, SITE / path.relative_to(PAGES))
            stamp.write_text(digest, encoding="utf-8")
    return code


def _digest_of_sources() -> str:
    """Return a digest of every file from which the website is made, with its path."""
    digest = hashlib.sha256()
    files = [*ROOT.glob("*.md"), ROOT / "requirements.lock"]
    files += [path for folder in SOURCES for path in (ROOT / folder).rglob("*") if path.is_file()]
    for path in sorted(path for path in files if "__pycache__" not in path.parts):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(ROOT)} {content}\n".encode())
    return digest.hexdigest()


def _zensical(*arguments: str) -> int:
    zensical = str(Path(sys.executable).parent / "zensical")
    command = [zensical, *arguments, "--config-file", str(BUILD / "zensical.toml")]
    return subprocess.run(command, check=False).returncode


def main() -> int:
    """Build the website, or serve it."""
    if sys.argv[1:] == ["--serve"]:
        assemble()
        return _zensical("serve")
    return build()


if __name__ == "__main__":
    sys.exit(main())
