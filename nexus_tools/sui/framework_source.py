"""Sui frameworks of other networks, downloaded from a node or read from compiled modules.

A downloaded framework is cached by its digest in the user's cache directory. The node's URL is
stored with the framework, so the node is queried only once.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from nexus_tools.sui.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from nexus_tools.sui.localnet.framework import Release
    from nexus_tools.sui.types.object import MovePackage


async def find_release(source: str, cache: Path) -> "Release":
    """Return the framework from a folder with `.mv` files, or from the node at a URL.

    Raises `framework_source_invalid` for any other source, `framework_incomplete`, and the errors
    of `SuiClient`.
    """
    from nexus_tools.sui.localnet.framework import read_release  # noqa: PLC0415 - 20 ms

    folder = Path(source)
    if _is_folder(folder):
        return read_release(folder)
    if not source.startswith(("http://", "https://")):
        raise UsageError(
            "framework_source_invalid",
            f"{source} is neither a folder nor the URL of a node",
            hint="Use a folder of .mv files, or a URL such as https://fullnode.mainnet.sui.io:443.",
        )
    url = source.rstrip("/")
    return _known_release(url, cache) or await _fetched_release(url, cache)


def _is_folder(path: Path) -> bool:
    return path.is_dir()


def _known_release(url: str, cache: Path) -> "Release | None":
    from nexus_tools.sui.localnet.framework import Release, read_release  # noqa: PLC0415

    try:
        digest = json.loads(_record(url, cache).read_text("utf-8"))["digest"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    folder = _folder(str(digest), cache)
    if not folder.is_dir():
        return None
    release = Release(url, read_release(folder).packages)
    return release if release.digest == digest else None


async def _fetched_release(url: str, cache: Path) -> "Release":
    from nexus_tools.sui.localnet.framework import (  # noqa: PLC0415
        FRAMEWORK_NAMES,
        Release,
        packages_of,
        write_release,
    )

    packages = {address: await _read(url, address) for address in FRAMEWORK_NAMES}
    modules = {address: dict(package.modules) for address, package in packages.items()}
    release = Release(url, packages_of(modules))
    write_release(release, _folder(release.digest, cache))
    _remember(url, release.digest, cache)
    return release


def _remember(url: str, digest: str, cache: Path) -> None:
    record = _record(url, cache)
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps({"url": url, "digest": digest}), "utf-8")


async def _read(url: str, address: bytes) -> "MovePackage":
    from nexus_tools.sui.client import SuiClient  # noqa: PLC0415
    from nexus_tools.sui.network import Network  # noqa: PLC0415
    from nexus_tools.sui.types.address import Address  # noqa: PLC0415
    from nexus_tools.sui.types.object import MovePackage  # noqa: PLC0415

    async with SuiClient(Network(url, url)) as client:
        value = await client.object(Address(address))
    if value is None or not isinstance(value.data, MovePackage):
        raise NotFoundError(
            "package_unknown", f"the package 0x{address[-1]:x} does not exist at {url}"
        )
    return value.data


def _folder(digest: str, cache: Path) -> Path:
    return cache / "frameworks" / digest


def _record(url: str, cache: Path) -> Path:
    return cache / "frameworks" / f"{quote(url, safe='')}.json"
