"""The download of files from npm packages with `npm pack`, which executes no scripts of them."""

import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

from nexus_tools.sui.errors import NotFoundError, UnreachableError

_NPM_TIMEOUT_S = 120


def download_npm_files(package: str, files: Mapping[str, Path]) -> None:
    """Download `package`, such as `name@1.0.0`, and write some of its files.

    The keys of `files` are paths in the package. The values are the paths to write. The caller
    verifies the files, because npm only compares the package with the registry's own digest.

    Raises:
        NotFoundError: npm is not installed (`npm_not_found`).
        UnreachableError: npm cannot download the package (`npm_failed`).
    """
    with tempfile.TemporaryDirectory() as scratch, tarfile.open(_pack(package, scratch)) as archive:
        for name, target in files.items():
            content = archive.extractfile(f"package/{name}")
            assert content is not None, f"the npm package {package} does not contain {name}"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.read())


def _pack(package: str, scratch: str) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise NotFoundError(
            "npm_not_found", f"npm is needed to download {package}", hint="Install Node.js."
        )
    command = [npm, "pack", package, "--silent", "--ignore-scripts"]
    try:
        subprocess.run(  # noqa: S603 - the callers' packages are constants
            command, cwd=scratch, check=True, capture_output=True, text=True, timeout=_NPM_TIMEOUT_S
        )
    except subprocess.TimeoutExpired as error:
        raise _unreachable(package, f"npm did not end within {_NPM_TIMEOUT_S} s") from error
    except subprocess.CalledProcessError as error:
        reason = error.stderr.strip() or f"npm exited with {error.returncode}"
        raise _unreachable(package, reason) from error
    return next(Path(scratch).glob("*.tgz"))


def _unreachable(package: str, reason: str) -> UnreachableError:
    return UnreachableError(
        "npm_failed",
        f"npm cannot download {package}: {reason}",
        hint="Check the network and the npm registry.",
    )
