"""README's sixty seconds and the tutorial, word by word, as somebody has them who has the wheel alone.

Each version of Python gets an empty folder and a virtual environment with nothing in it but pip,
which finds the wheel where it was built, and all else where pip usually does.
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from documents.page import ROOT, Page
from documents.terminal import UnexpectedError
from documents.walk import Walk, environment_of

VERSIONS = ("3.11", "3.12", "3.13")
WHEELS = ROOT / "build/wheels"


def build_wheel() -> None:
    """Builds the wheel, and nothing is left of an older one."""
    shutil.rmtree(WHEELS, ignore_errors=True)
    command = ("uv", "build", "--quiet", "--wheel", "--out-dir", str(WHEELS), str(ROOT))
    subprocess.run(command, check=True)


def follow(version: str, page: Page) -> None:
    """Follows a page with this version of Python, in an empty folder."""
    with TemporaryDirectory() as name:
        folder, environment = Path(name) / "folder", Path(name) / "environment"
        folder.mkdir()
        venv = ("uv", "venv", "--quiet", "--seed", "--python", version, str(environment))
        subprocess.run(venv, check=True)
        variables = environment_of(Path(name) / "home", environment / "bin")
        variables |= {"PIP_FIND_LINKS": str(WHEELS), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        with Walk(folder, variables, installs=True) as walk:
            walk.follow(page)


def main() -> int:
    """Follows both pages with the versions that are named, or with all."""
    build_wheel()
    readme = Page.read("README.md").section("Sixty seconds")
    failed = 0
    for version in sys.argv[1:] or VERSIONS:
        for name, page in (("README", readme), ("tutorial", Page.read("docs/tutorial.md"))):
            began = time.monotonic()
            try:
                follow(version, page)
                said = "goes as it is written"
            except UnexpectedError as error:
                said, failed = f"does not: {error}", failed + 1
            print(f"Python {version}: {name} {said} ({time.monotonic() - began:.0f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
