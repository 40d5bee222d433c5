"""A test of "Sixty seconds" in README and of the tutorial, exactly as written, with the wheel.

Each version of Python gets an empty folder and a virtual environment that contains only `pip`.
`pip` finds the wheel in its build folder, and all other packages in its usual index.
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from documents.page import ROOT, Page
from documents.terminal import UnexpectedError
from documents.walk import PageRunner, environment_of

VERSIONS = ("3.11", "3.12", "3.13")
WHEELS = ROOT / "build/wheels"


def build_wheel() -> None:
    """Build the wheel after removing older ones."""
    shutil.rmtree(WHEELS, ignore_errors=True)
    run_uv("build", "--wheel", "--out-dir", str(WHEELS), str(ROOT))


def run_uv(*arguments: str) -> None:
    """Run the project's own uv, which `scripts/install` installs next to Python."""
    uv = str(Path(sys.executable).parent / "uv")
    subprocess.run((uv, arguments[0], "--quiet", *arguments[1:]), check=True)


def follow(environment: Path, page: Page) -> str:
    """Follow a page in an empty folder with a new home directory. Return a line with the result."""
    with TemporaryDirectory() as name:
        folder = Path(name) / "folder"
        folder.mkdir()
        variables = environment_of(Path(name) / "home", environment / "bin")
        variables |= {"PIP_FIND_LINKS": str(WHEELS), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        began = time.monotonic()
        try:
            with PageRunner(folder, variables, installs=True) as walk:
                walk.follow(page)
        except UnexpectedError as error:
            return f"fails: {error}"
        return f"works as written ({time.monotonic() - began:.0f} s)"


def main() -> int:
    """Follow both pages with the named interpreters, or with all versions."""
    build_wheel()
    readme = Page.read("README.md").before("Use cases")
    said = []
    for python in sys.argv[1:] or VERSIONS:
        with TemporaryDirectory() as environment:
            run_uv("venv", "--seed", "--python", python, environment)
            for name, page in (("README", readme), ("tutorial", Page.read("docs/tutorial.md"))):
                said.append(follow(Path(environment), page))
                print(f"{python}: {name} {said[-1]}", flush=True)
    return int(any(line.startswith("fails") for line in said))


if __name__ == "__main__":
    sys.exit(main())
