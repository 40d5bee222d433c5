"""Environments of a release: the locked tools, and a user's environment with only the wheel."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from releasing.checks import version_of

LOCK = Path(__file__).with_name("requirements.lock")
_UV = str(Path(sys.executable).with_name("uv"))
# Only `dev` is missing, because users do not install it.
EXTRAS = ("localnet", "compiler", "mcp", "index", "intent", "fleet")


def install_tools(folder: Path) -> Path:
    """Install twine and cyclonedx-py from the lock. Return the folder of their programs."""
    _uv("venv", "--python", sys.executable, str(folder))
    _uv("pip", "install", "--python", str(folder), "--require-hashes", "-r", str(LOCK))
    return folder / "bin"


def install_wheel(wheel: Path, constraints: Path, folder: Path) -> Path:
    """Install the wheel with `[localnet]` into a new environment. Return its `nexus-tools`."""
    _uv("venv", "--python", sys.executable, str(folder))
    requirement = f"nexus-tools[localnet] @ {wheel.as_uri()}"
    _uv("pip", "install", "--python", str(folder), "-c", str(constraints), requirement)
    return folder / "bin" / "nexus-tools"


def write_sbom(programs: Path, root: Path, target: Path) -> None:
    """Write the locked dependencies of the package and its extras as a CycloneDX document.

    The document has no time and no serial number, so that two releases of a commit are equal.
    """
    names = _required_names(root)
    lock = (root / "requirements.lock").read_text(encoding="utf-8")
    entries = re.split(r"^(?=\S)", lock, flags=re.MULTILINE)
    listed = "".join(entry for entry in entries if entry.partition("==")[0] in names)
    command = (
        *(str(programs / "cyclonedx-py"), "requirements", "-", "--output-reproducible"),
        *("--pyproject", str(root / "pyproject.toml"), "--of", "JSON"),
    )
    # The tool warns that the list of requirements does not say which package needs which.
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        command, input=listed, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    document = json.loads(done.stdout)
    document["metadata"]["component"]["version"] = version_of(root)
    target.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _required_names(root: Path) -> set[str]:
    """Return the names of the distributions that the package needs with all extras of users."""
    extras = [f"--extra={extra}" for extra in EXTRAS]
    locked = ("--constraints", str(root / "requirements.lock"))
    options = ("--universal", "--no-annotate", "--no-header", *locked, *extras)
    listed = _uv("pip", "compile", *options, str(root / "pyproject.toml"))
    return set(re.findall(r"^([\w.-]+)==", listed, re.MULTILINE))


def run_as_new_user(*command: str, home: Path) -> str:
    """Run a program with another home directory and without our variables. Return its stdout."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("NEXUS_", "XDG_", "PYTHON", "VIRTUAL_ENV"))
    }
    done = subprocess.run(
        command, env=kept | {"HOME": str(home)}, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


def _uv(*arguments: str) -> str:
    command = (_UV, *arguments[:1], "--quiet", *arguments[1:])
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
