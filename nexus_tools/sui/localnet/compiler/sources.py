"""The sources of a Move package in a folder, and their digest."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from nexus_tools.sui.errors import NotFoundError
from nexus_tools.sui.support.text_file import read_text

MANIFEST = "Move.toml"


def read_sources(folder: Path) -> Mapping[str, str]:
    """Return the manifest and all Move files of a package, by path relative to `folder`.

    Raises:
        NotFoundError: The folder has no `Move.toml`.
    """
    if not (folder / MANIFEST).is_file():
        raise NotFoundError("move_package_not_found", f"{folder} has no {MANIFEST}")
    paths = [folder / MANIFEST]
    for part in ("sources", "tests"):
        paths += sorted((folder / part).rglob("*.move"))
    return {path.relative_to(folder).as_posix(): read_text(path) for path in paths}


def published_sources(sources: Mapping[str, str]) -> Mapping[str, str]:
    """Return the sources of a package without its tests, which are not part of the bytecode."""
    return {path: text for path, text in sources.items() if not path.startswith("tests/")}


def sources_digest(folder: Path) -> str:
    """Return the BLAKE2b-256 digest, in hexadecimal, of the files that determine the bytecode.

    The digest covers the path and the text of the manifest and of each file in `sources/`, but not
    tests. Differences in line endings do not change the digest.
    """
    digest = hashlib.blake2b(digest_size=32)
    for path, text in sorted(published_sources(read_sources(folder)).items()):
        for part in (path.encode(), text.encode()):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
    return digest.hexdigest()
