"""Measure the installed size of each extra: `python scripts/installed_size.py`.

All extras are installed once, in the locked versions, without and with compiled modules, which pip
writes and uv does not. An extra adds the distributions that the package without extras lacks.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, distributions
from importlib.util import cache_from_source
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LOCK = str(ROOT / "requirements.lock")
UV = str(Path(sys.executable).with_name("uv"))
OURS = "nexus-tools"
_LARGEST = 12


class Size(NamedTuple):
    """The size of files in bytes, and the size of their compiled modules."""

    files: int
    compiled: int

    def __str__(self) -> str:
        return f"{self.files / 1e6:.0f} MB | {(self.files + self.compiled) / 1e6:.0f} MB"


def total(sizes: Iterable[Size]) -> Size:
    """Return the sum of sizes."""
    files, compiled = zip(*sizes, strict=True)
    return Size(sum(files), sum(compiled))


def size_of(distribution: Distribution) -> Size:
    """Return the size of all files that a distribution installed."""
    paths = [Path(str(distribution.locate_file(file))) for file in distribution.files or ()]
    files = [path for path in paths if path.is_file() and path.suffix != ".pyc"]
    compiled = [Path(cache_from_source(str(path))) for path in files if path.suffix == ".py"]
    return Size(
        sum(path.stat().st_size for path in files),
        sum(path.stat().st_size for path in compiled if path.is_file()),
    )


def required(extra: str | None) -> set[str]:
    """Return the names of the distributions that the package needs with an extra."""
    options = [] if extra is None else [f"--extra={extra}"]
    options += ["--constraints", LOCK, "--no-annotate", "--no-header", "--quiet"]
    command = (UV, "pip", "compile", *options, "--python", sys.executable, "pyproject.toml")
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return {OURS, *re.findall(r"^([\w.-]+)==", done.stdout, re.MULTILINE)}


def installed(extras: Iterable[str], folder: Path) -> dict[str, Size]:
    """Install the package with extras into a folder. Return the size of each distribution."""
    requirement = f"{ROOT}[{','.join(extras)}]"
    options = ("--target", str(folder), "--compile-bytecode", "--constraints", LOCK, "--quiet")
    command = (UV, "pip", "install", *options, "--python", sys.executable, requirement)
    subprocess.run(command, check=True)
    found = distributions(path=[str(folder)])
    return {re.sub(r"[-_.]+", "-", each.name).lower(): size_of(each) for each in found}


def main() -> None:
    """Print a table of the extras, and the largest distributions of `[localnet]`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [extra for extra in project["optional-dependencies"] if extra != "dev"]
    with TemporaryDirectory() as name:
        sizes = installed(extras, Path(name))
    base = required(None)
    needs = {extra: base | required(extra) for extra in extras}
    print("| Installation | Distributions | Size | Size with compiled modules |")
    print("|---|---|---|---|")
    rows = {OURS: base, f"{OURS}[localnet]": needs["localnet"], "all extras": set(sizes)}
    rows |= {f"`{extra}` adds": names - base for extra, names in needs.items()}
    for title, names in rows.items():
        print(f"| {title} | {len(names)} | {total(sizes[name] for name in names)} |")
    print(f"\nThe largest distributions of {OURS}[localnet]:")
    largest = sorted(needs["localnet"], key=lambda name: -sum(sizes[name]))
    for name in largest[:_LARGEST]:
        print(
            f"  {name:<24} {sizes[name].files / 1e6:6.1f} MB {sizes[name].compiled / 1e6:6.1f} MB"
        )


if __name__ == "__main__":
    main()
