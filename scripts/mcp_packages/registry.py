"""The document `server.json` with which the MCP registry lists the server.

Source: server.schema.json of 2025-12-11 and package-types.mdx in
github.com/modelcontextprotocol/registry.
"""

import hashlib
from typing import Any

from mcp_packages.bundle import bundle
from mcp_packages.metadata import DESCRIPTION, NAME, ROOT, VERSION

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_STDIO = {"type": "stdio"}


class MissingMarkerError(ValueError):
    """The error for a package page that does not name the registry entry."""


def server_json(name: str, bundle_url: str | None = None) -> dict[str, Any]:
    """Return the document for a server name such as `io.github.owner/nexus-tools`.

    The MCP registry accepts a PyPI package only if its page contains the name of the server. Raises
    `MissingMarkerError` if the page does not contain it.
    """
    marker = f"<!-- mcp-name: {name} -->"
    if marker not in (ROOT / "PACKAGE.md").read_text(encoding="utf-8"):
        raise MissingMarkerError(
            f"PACKAGE.md does not contain the line `{marker}`. Add it to README.md after the title,"
            " and run `python scripts/package_page.py`."
        )
    packages = [_pypi(), *([] if bundle_url is None else [_bundle(bundle_url)])]
    return {
        "$schema": SCHEMA,
        "name": name,
        "title": NAME,
        "description": DESCRIPTION,
        "version": VERSION,
        "packages": packages,
    }


def _pypi() -> dict[str, Any]:
    """Return the PyPI package.

    A client runs `uvx RUNTIME_ARGUMENTS nexus-tools==VERSION PACKAGE_ARGUMENTS`. `--with` adds the
    extra, which the identifier cannot contain.
    """
    return {
        "registryType": "pypi",
        "registryBaseUrl": "https://pypi.org",
        "identifier": NAME,
        "version": VERSION,
        "runtimeHint": "uvx",
        "transport": _STDIO,
        "runtimeArguments": [
            {"type": "named", "name": "--with", "value": f"{NAME}[mcp]=={VERSION}"}
        ],
        "packageArguments": [
            {"type": "positional", "value": "mcp"},
            {"type": "positional", "value": "serve"},
            {
                "type": "named",
                "name": "--network",
                "description": "Network of the registry.",
                "default": "localnet",
            },
            {
                "type": "named",
                "name": "--mode",
                "description": "List every tool, or serve three tools that search, describe and"
                " call the others.",
                "choices": ["list", "search"],
                "default": "search",
            },
        ],
    }


def _bundle(url: str) -> dict[str, Any]:
    return {
        "registryType": "mcpb",
        "identifier": url,
        "version": VERSION,
        "fileSha256": hashlib.sha256(bundle()).hexdigest(),
        "transport": _STDIO,
    }
