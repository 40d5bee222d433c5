"""The templates and static files."""

from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from http import HTTPStatus
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import Response

from nexus_tools import __version__
from nexus_tools.explorer.context import url_with
from nexus_tools.explorer.formatting import FILTERS
from nexus_tools.explorer.forms.values import choice_text
from nexus_tools.explorer.fragments import FRAGMENTS
from nexus_tools.registry import OUTCOME_MEANINGS
from nexus_tools.workflow import svg_style

_MEDIA_TYPES = {
    "explorer.css": "text/css; charset=utf-8",
    "workflow.css": "text/css; charset=utf-8",
    "explorer.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_MEANINGS = {"missed": "the leader did not close the invocation in its window"}
"""The meanings of results that only leaders have."""
_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
_CHECKED = {"Cache-Control": "no-cache"}


@cache
def environment() -> Environment:
    """Return the Jinja environment. Every value is escaped, and an unknown name is an error."""
    found = Environment(
        loader=PackageLoader("nexus_tools.explorer"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    found.filters |= FILTERS | {"choice_text": choice_text}
    found.globals |= {
        "static": static_url,
        "url_with": url_with,
        "version": __version__,
        "fragments": FRAGMENTS,
        "meanings": OUTCOME_MEANINGS | _MEANINGS,
    }
    return found


def render(template: str, values: Mapping[str, Any]) -> bytes:
    """Return the page of a template."""
    return environment().get_template(template).render(values).encode("utf-8", "replace")


@cache
def _static_file(name: str) -> tuple[bytes, str]:
    """Return the contents of a static file and their digest."""
    if name == "workflow.css":
        contents = svg_style().encode()
    else:
        contents = (files("nexus_tools.explorer") / "static" / name).read_bytes()
    return contents, blake2b(contents, digest_size=8).hexdigest()


def static_url(name: str) -> str:
    """Return the URL of a static file, which changes with its contents."""
    return f"/static/{name}?v={_static_file(name)[1]}"


async def serve_static(request: Request) -> Response:
    """Serve a static file. A URL with its digest may be cached forever."""
    name = request.path_params["name"]
    if name not in _MEDIA_TYPES:
        return Response("not found\n", HTTPStatus.NOT_FOUND, media_type="text/plain")
    contents, digest = _static_file(name)
    headers = _FOREVER if request.query_params.get("v") == digest else _CHECKED
    return Response(contents, headers=headers, media_type=_MEDIA_TYPES[name])
