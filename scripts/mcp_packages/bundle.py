"""The MCP bundle: a ZIP file with a manifest, whose host installs the server with uv.

Source: MANIFEST.md and mcpb-manifest-v0.4.schema.json in github.com/modelcontextprotocol/mcpb. The
server type `uv` needs version 0.4 of the manifest. A bundle of this type contains a pyproject.toml
with the dependencies instead of the dependencies.
"""

import io
import json
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from mcp_packages.metadata import DESCRIPTION, NAME, VERSION, project

_ENTRY_POINT = "src/server.py"
_FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest date of a ZIP file
_FILE_MODE = 0o100644
_UNIX = 3
_LONG_DESCRIPTION = """\
Lists the tools of a registry on Sui, and calls them for you. By default, a call is free: it goes to
the tool's URL. With paid calls, each call is an invocation on chain, and your wallet pays for it
within the budget that you set.
"""

_OPTIONS: dict[str, dict[str, Any]] = {
    "network": {
        "title": "Network",
        "description": "Network of the registry: localnet, devnet, testnet, mainnet, or the name of"
        " a network in your configuration.",
        "type": "string",
        "default": "localnet",
    },
    "domain": {
        "title": "Domain",
        "description": "Serve only tools in this domain and its subdomains. Empty: all domains.",
        "type": "string",
        "default": "",
    },
    "mode": {
        "title": "Mode",
        "description": "`list` lists every tool. `search` serves three tools that search, describe"
        " and call the others.",
        "type": "string",
        "default": "search",
    },
    "on_chain": {
        "title": "Paid calls",
        "description": "Call tools with paid on-chain invocations.",
        "type": "boolean",
        "default": False,
    },
    "budget": {
        "title": "Budget",
        "description": "Maximum amount that the server spends until you restart it, in SUI. Applies"
        " to paid calls.",
        "type": "string",
        "default": "0.1",
    },
    "wallet": {
        "title": "Wallet",
        "description": "Name of the key that pays. Use a key with little SUI. Empty: the active"
        " key.",
        "type": "string",
        "default": "",
    },
}


def manifest() -> dict[str, Any]:
    """Return the manifest."""
    arguments = [f"--{name.replace('_', '-')}=${{user_config.{name}}}" for name in _OPTIONS]
    about = project()
    return {
        "manifest_version": "0.4",
        "name": NAME,
        "display_name": "Nexus tools on Sui",
        "version": VERSION,
        "description": DESCRIPTION,
        "long_description": _LONG_DESCRIPTION,
        "author": {"name": about["authors"][0]["name"]},
        "license": about["license"],
        "keywords": about["keywords"],
        "server": {
            "type": "uv",
            "entry_point": _ENTRY_POINT,
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", _ENTRY_POINT, *arguments],
            },
        },
        "tools_generated": True,
        "compatibility": {
            "platforms": ["darwin", "linux", "win32"],
            "runtimes": {"python": about["requires-python"]},
        },
        "user_config": {name: option | {"required": False} for name, option in _OPTIONS.items()},
    }


def bundle() -> bytes:
    """Return the bytes of the bundle. They depend only on the version and its metadata.

    The files are not compressed, because compressed bytes differ between versions of zlib.
    """
    files = {
        "manifest.json": f"{json.dumps(manifest(), indent=2)}\n",
        "pyproject.toml": _pyproject(),
        _ENTRY_POINT: Path(__file__).with_name("bundled_server.py").read_text(encoding="utf-8"),
    }
    data = io.BytesIO()
    with ZipFile(data, "w") as archive:
        for name, text in sorted(files.items()):
            info = ZipInfo(name, _FIRST_DATE)
            info.compress_type = ZIP_STORED
            info.create_system = _UNIX
            info.external_attr = _FILE_MODE << 16
            archive.writestr(info, text)
    return data.getvalue()


def _pyproject() -> str:
    return f"""\
[project]
name = "nexus-tools-bundle"
version = "{VERSION}"
requires-python = "{project()["requires-python"]}"
dependencies = ["{NAME}[mcp]=={VERSION}"]
"""
