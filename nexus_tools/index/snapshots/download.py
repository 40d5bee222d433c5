"""The download of a snapshot, which continues after an interruption."""

import asyncio
import gzip
import hashlib
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx

from nexus_tools.errors import NotFoundError, UnreachableError, UsageError
from nexus_tools.index.snapshots.creation import CHUNK_BYTES
from nexus_tools.index.snapshots.manifest import (
    MANIFEST_FILE,
    MAX_MANIFEST_BYTES,
    SnapshotManifest,
    parse_manifest,
    snapshot_invalid,
)
from nexus_tools.sui.support.tls import shared_tls

Report = Callable[[int, int], None]
"""A function that receives the numbers of downloaded and of all bytes."""

_TIMEOUT_S = 30.0
# Without compression, the size of a response is the size that is transferred.
_HEADERS = {"Accept-Encoding": "identity"}


def manifest_url(url: str) -> str:
    """Return the URL of the manifest, from this URL or that of its folder. Raises `url_invalid`."""
    try:
        parts = urlsplit(url)
    except ValueError:  # an invalid address
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            "url_invalid",
            f"{url[:200]!r} is not the URL of a snapshot",
            hint="Pass the http or https URL of a folder that contains a file `snapshot.json`.",
        )
    if parts.path.endswith(".json"):
        return url
    return urljoin(parts._replace(path=f"{parts.path.rstrip('/')}/").geturl(), MANIFEST_FILE)


async def download_manifest(url: str) -> tuple[str, SnapshotManifest]:
    """Download a manifest. Return the URL of its file, and the manifest.

    Raises:
        UsageError: `url_invalid`.
        NotFoundError: `snapshot_missing` if the server does not have the manifest.
        UnreachableError: `snapshot_unreachable`.
        ValidationError: `snapshot_invalid`.
    """
    url = manifest_url(url)
    data = bytearray()
    async with _response(url, {}) as response:
        if response.status_code == HTTPStatus.NOT_FOUND:
            raise NotFoundError(
                "snapshot_missing",
                f"the server does not offer a snapshot: {url} does not exist",
                hint="Check the URL. The publisher offers a snapshot with"
                " `nexus-tools index serve --snapshot FOLDER`.",
            )
        _check_status(response)
        async for chunk in response.aiter_raw():
            data += chunk
            if len(data) > MAX_MANIFEST_BYTES:
                raise snapshot_invalid("its manifest is too large")
    manifest = parse_manifest(bytes(data))
    return urljoin(url, manifest.file), manifest


async def download_file(url: str, manifest: SnapshotManifest, path: Path, report: Report) -> None:
    """Download the file of a snapshot to a path, and check its size and digest.

    If the path contains the beginning of the file, the rest is downloaded.

    Raises:
        UnreachableError: `snapshot_unreachable`. The downloaded part remains.
        ValidationError: `snapshot_invalid`. The file is deleted.
    """
    size = _size(path)
    if size < manifest.file_bytes:
        headers = {"Range": f"bytes={size}-"} if size else {}
        async with _response(url, headers) as response:
            _check_status(response)
            is_rest = response.status_code == HTTPStatus.PARTIAL_CONTENT
            with path.open("ab" if is_rest else "wb") as file:
                size = file.tell()
                async for chunk in response.aiter_raw():
                    size += len(chunk)
                    file.write(chunk)
                    if size > manifest.file_bytes:
                        break
                    report(size, manifest.file_bytes)
        if size < manifest.file_bytes:
            raise _unreachable(
                url, f"the response ended after {size} of {manifest.file_bytes} bytes"
            )
    await asyncio.to_thread(_check_digest, path, manifest)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _check_digest(path: Path, manifest: SnapshotManifest) -> None:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if (_size(path), digest) != (manifest.file_bytes, manifest.sha256):
        path.unlink()
        raise snapshot_invalid("its file does not have the size and digest of its manifest")


def decompress(packed: Path, plain: Path, size: int) -> None:
    """Decompress a file. Raises `snapshot_invalid` unless the result has this size."""
    total = 0
    try:
        with gzip.open(packed) as source, plain.open("wb") as target:
            while total <= size and (data := source.read(CHUNK_BYTES)):
                total += len(data)
                target.write(data)
    except (EOFError, OSError, zlib.error) as error:
        raise snapshot_invalid(f"its file cannot be decompressed: {error}") from error
    if total != size:
        raise snapshot_invalid(f"its file does not have {size} bytes after decompression")


@asynccontextmanager
async def _response(url: str, headers: dict[str, str]) -> AsyncIterator[httpx.Response]:
    """Send a GET request. Raises `snapshot_unreachable`, also for errors within the context."""
    try:
        async with (
            httpx.AsyncClient(
                verify=shared_tls(), timeout=_TIMEOUT_S, follow_redirects=True
            ) as http,
            http.stream("GET", url, headers=_HEADERS | headers) as response,
        ):
            yield response
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        raise _unreachable(url, str(error) or type(error).__name__) from error


def _check_status(response: httpx.Response) -> None:
    if response.status_code not in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
        raise _unreachable(str(response.url), f"the status is {response.status_code}")


def _unreachable(url: str, problem: str) -> UnreachableError:
    return UnreachableError(
        "snapshot_unreachable",
        f"cannot download {url}: {problem}",
        hint="Check the URL, then run the command again. A download that has started continues"
        " where it stopped.",
    )
