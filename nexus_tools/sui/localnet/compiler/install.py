"""The pinned compiler and its installation.

The npm package `@zktx.io/sui-move-builder` (MIT) contains the Sui Move compiler as WebAssembly.
Only the WASM file of the package is used, and only if the file has the pinned digest.
"""

import hashlib
from pathlib import Path

from nexus_tools.sui.errors import NotFoundError, ValidationError
from nexus_tools.sui.localnet.compiler.npm_package import download_npm_files

NPM_PACKAGE = "@zktx.io/sui-move-builder"
NPM_VERSION = "0.5.1"
COMPILER_VERSION = "1.71.1"
WASM_PATH = "full/sui_move_wasm_bg.wasm"
WASM_SHA256 = "1cbe53f471504b64986fb328e7c487878cf2ccff8dd44c0bf17e9c1ee8654543"

_NPM_FILES = (f"dist/{WASM_PATH}", "LICENSE")


def install_builder(folder: Path) -> Path:
    """Download the compiler into `folder` if it is missing, and return its `dist` folder.

    Raises:
        NotFoundError: npm is not installed.
        UnreachableError: npm cannot download the package.
        ValidationError: The downloaded file does not have the pinned digest.
    """
    dist = folder / "dist"
    if not (dist / WASM_PATH).is_file():
        files = {name: folder / name for name in _NPM_FILES}
        download_npm_files(f"{NPM_PACKAGE}@{NPM_VERSION}", files)
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
