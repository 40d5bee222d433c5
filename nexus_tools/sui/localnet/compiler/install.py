"""The pinned compiler and its installation.

The npm package `@zktx.io/sui-move-builder` (MIT) contains the Sui Move compiler as WebAssembly.
Only the WASM file of the package is used, and only if the file has the pinned digest.
"""

import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from nexus_tools.sui.errors import NotFoundError, UnreachableError, ValidationError

NPM_PACKAGE = "@zktx.io/sui-move-builder"
NPM_VERSION = "0.5.1"
COMPILER_VERSION = "1.71.1"
WASM_PATH = "full/sui_move_wasm_bg.wasm"
WASM_SHA256 = "1cbe53f471504b64986fb328e7c487878cf2ccff8dd44c0bf17e9c1ee8654543"

_NPM_TIMEOUT_S = 120


def install_builder(folder: Path) -> Path:
    """Download the compiler into `folder` if it is missing, and return its `dist` folder.

    The function runs `npm pack`, which does not execute the package's scripts.

    Raises:
        NotFoundError: npm is not installed.
        UnreachableError: npm cannot download the package.
        ValidationError: The downloaded file does not have the pinned digest.
    """
    dist = folder / "dist"
    if not (dist / WASM_PATH).is_file():
        with tempfile.TemporaryDirectory() as scratch:
            _extract(_pack(Path(scratch)), folder)
    verified_wasm(dist)
    return dist


def verified_wasm(dist: Path) -> Path:
    """Return the path of the compiler's WASM file.

    Raises:
        NotFoundError: The file does not exist.
        ValidationError: The file does not have the pinned digest.
    """
    path = dist / WASM_PATH
    if not path.is_file():
        raise NotFoundError(
            "compiler_not_found",
            f"the Move compiler does not exist at {path}",
            hint="Run `scripts/move build`, which downloads the compiler with npm.",
        )
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != WASM_SHA256:
        raise ValidationError(
            "compiler_mismatch",
            f"{path} has the SHA-256 {digest}, expected {WASM_SHA256}",
            hint=f"Delete the file, and download {NPM_PACKAGE}@{NPM_VERSION} again.",
        )
    return path


def _pack(scratch: Path) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise NotFoundError(
            "npm_not_found", "npm is needed to download the Move compiler", hint="Install Node.js."
        )
    command = [npm, "pack", f"{NPM_PACKAGE}@{NPM_VERSION}", "--silent", "--ignore-scripts"]
    try:
        subprocess.run(  # noqa: S603 - a fixed command
            command, cwd=scratch, check=True, capture_output=True, text=True, timeout=_NPM_TIMEOUT_S
        )
    except subprocess.TimeoutExpired as error:
        raise _unreachable(f"npm did not end within {_NPM_TIMEOUT_S} s") from error
    except subprocess.CalledProcessError as error:
        raise _unreachable(error.stderr.strip() or f"npm exited with {error.returncode}") from error
    return next(scratch.glob("*.tgz"))


def _unreachable(reason: str) -> UnreachableError:
    return UnreachableError(
        "npm_failed",
        f"npm cannot download {NPM_PACKAGE}@{NPM_VERSION}: {reason}",
        hint="Check the network and the npm registry.",
    )


def _extract(archive: Path, folder: Path) -> None:
    """Extract only the WASM file and the license from the npm archive."""
    with tarfile.open(archive) as package:
        for name in (f"dist/{WASM_PATH}", "LICENSE"):
            content = package.extractfile(f"package/{name}")
            assert content is not None, f"the npm package does not contain {name}"
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.read())
