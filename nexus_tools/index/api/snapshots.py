"""The snapshot of an index as two files, which `nexus-tools index fetch` downloads."""

from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from nexus_tools.errors import NotFoundError
from nexus_tools.index.snapshots import MANIFEST_FILE, SnapshotManifest, read_manifest
from nexus_tools.tool import protocol

_LIVE = {"Cache-Control": "no-cache"}
_GZIP = "application/gzip"


def snapshot_routes(folder: Path | None) -> Sequence[Route]:
    """Return the routes of the manifest and of its file. Only the current snapshot is served."""
    if folder is None:
        return ()

    async def show_manifest(_: Request) -> Response:
        return Response(_manifest(folder).encode(), headers=_LIVE, media_type=protocol.JSON)

    async def download(request: Request) -> Response:
        name = request.path_params["name"]
        if name != _manifest(folder).file:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return FileResponse(folder / name, media_type=_GZIP)

    return (Route(f"/{MANIFEST_FILE}", show_manifest), Route("/{name:str}", download))


def _manifest(folder: Path) -> SnapshotManifest:
    try:
        return read_manifest(folder)
    except NotFoundError as error:
        raise HTTPException(HTTPStatus.NOT_FOUND) from error
