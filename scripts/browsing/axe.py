"""The pinned axe-core, a checker of accessibility rules that runs inside a page.

The npm package `axe-core` (MPL-2.0) is downloaded into `.cache`, and used only if its script has
the pinned digest.
"""

import hashlib
from pathlib import Path

from playwright.async_api import Page

from documents.page import ROOT
from nexus_tools.errors import NotFoundError, ValidationError
from nexus_tools.sui.localnet.compiler import download_npm_files

AXE_VERSION = "4.14.1"

_LEVELS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa")
_SCRIPT = "axe.min.js"
_SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
_FOLDER = ROOT / ".cache" / "axe-core" / AXE_VERSION


def install_axe() -> Path:
    """Download axe-core if it is missing, and return the path of its script.

    Raises:
        NotFoundError: npm is not installed.
        UnreachableError: npm cannot download the package.
        ValidationError: The script does not have the pinned digest.
    """
    path = _FOLDER / _SCRIPT
    if not path.is_file():
        download_npm_files(f"axe-core@{AXE_VERSION}", {_SCRIPT: path})
    axe_source()
    return path


def axe_source() -> str:
    """Return the script of axe-core, which defines `axe` in a page.

    Raises:
        NotFoundError: The script is not installed.
        ValidationError: The script does not have the pinned digest.
    """
    path = _FOLDER / _SCRIPT
    if not path.is_file():
        raise NotFoundError(
            "axe_not_found",
            f"axe-core does not exist at {path}",
            hint="Run `scripts/browser install`.",
        )
    content = path.read_bytes()
    if (digest := hashlib.sha256(content).hexdigest()) != _SHA256:
        raise ValidationError(
            "axe_mismatch",
            f"{path} has the SHA-256 {digest}, expected {_SHA256}",
            hint="Delete the file, and run `scripts/browser install`.",
        )
    return content.decode()


async def violations(page: Page, *rules: str) -> list[str]:
    """Return what breaks WCAG 2.0 to 2.2, levels A and AA, in a page: one line for each element.

    With `rules`, check only these rules of axe-core.
    """
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(axe_source())
    only = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": _LEVELS}
    options = {"runOnly": only, "resultTypes": ["violations"]}
    found = await page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{violation['id']}: {' '.join(map(str, node['target']))}: {_last_line(node)}"
        for violation in found["violations"]
        for node in violation["nodes"]
    ]


def _last_line(node: dict[str, str]) -> str:
    return node["failureSummary"].splitlines()[-1].strip()
