"""The manifest of a packaged tool: `pocket.json`, or the two files of the older format."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nexus_tools.bridges.hyperpocket.tool_auth import Declaration, ToolAuth
from nexus_tools.errors import ValidationError
from nexus_tools.sui.support.text_file import without_byte_order_mark

POCKET = "pocket.json"
CONFIG = "config.toml"
SCHEMA = "schema.json"

MAX_MANIFEST_BYTES = 2**20

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Manifest:
    """A packaged tool's manifest. `language`, `base_image`, and `build` are "" if missing."""

    declaration: Declaration
    language: str
    base_image: str
    build: str
    run: str

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """Read the folder's `pocket.json`, or its `config.toml` and `schema.json`.

        Raises:
            ValidationError: with code `manifest_invalid` or `auth_invalid`.
        """
        if (folder / POCKET).is_file():
            return cls.parse(_json(folder / POCKET))
        schema = _json(folder / SCHEMA)
        return cls.parse(legacy_document(folder, _toml(folder / CONFIG), schema))

    @classmethod
    def parse(cls, document: object) -> "Manifest":
        """Parse the content of a `pocket.json`."""
        fields = _object(document, "the document")
        tool = _object(fields.get("tool"), "tool")
        entrypoint = _object(fields.get("entrypoint"), "entrypoint")
        declaration = Declaration(
            name=_text(tool, "name", required=True),
            description=_text(tool, "description"),
            schema=_object(tool.get("inputSchema", {"type": "object"}), "tool.inputSchema"),
            auth=ToolAuth.parse(fields.get("auth")),
            variables=_variables(fields.get("variables")),
        )
        return cls(
            declaration,
            language=_text(fields, "language").lower(),
            base_image=_text(fields, "baseImage"),
            build=_text(entrypoint, "build"),
            run=_text(entrypoint, "run", required=True),
        )


def is_packaged(folder: Path) -> bool:
    """Return whether a folder has the files of a packaged tool."""
    if (folder / POCKET).is_file():
        return True
    return (folder / CONFIG).is_file() and (folder / SCHEMA).is_file()


def _variables(value: Any) -> dict[str, str]:
    variables = _object({} if value is None else value, "variables")
    invalid = [str(name) for name in variables if not _VARIABLE.fullmatch(str(name))]
    if invalid:
        raise _invalid(f"{invalid[0][:80]!r} is not a valid variable name")
    if not all(isinstance(value, str | int | float) for value in variables.values()):
        raise _invalid("a variable must be a string or a number")
    return {name: str(value) for name, value in variables.items()}


def _text(fields: Mapping[str, Any], name: str, *, required: bool = False) -> str:
    value = fields.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or "\0" in value or (required and not value.strip()):
        raise _invalid(f"{name} is missing or not a valid string")
    return value


def _object(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _invalid(f"{name} must be an object")
    return value


def _json(path: Path) -> Any:
    try:
        return json.loads(_content(path))
    except (ValueError, RecursionError) as error:
        raise _invalid(f"{path.name} is not valid JSON: {error}") from error


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_content(path).decode())
    except (ValueError, RecursionError) as error:
        raise _invalid(f"{path.name} is not valid TOML: {error}") from error


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_MANIFEST_BYTES + 1)
    except OSError as error:
        raise _invalid(f"cannot read {path.name}: {error.strerror}") from error
    if len(content) > MAX_MANIFEST_BYTES:
        raise _invalid(f"{path.name} is larger than {MAX_MANIFEST_BYTES} bytes")
    return without_byte_order_mark(content)


def _invalid(problem: str) -> ValidationError:
    return ValidationError("manifest_invalid", f"the packaged tool is not valid: {problem}")


_NODE_MAINS = ("index.js", "main.js", "index.mjs", "dist/index.js")
_PYTHON_MAINS = ("__main__.py", "main.py")


def legacy_document(folder: Path, config: Mapping[str, Any], schema: Any) -> dict[str, Any]:
    """Return the `pocket.json` that is equivalent to a `config.toml` and `schema.json`.

    For Python and JavaScript, `entrypoint` installs the tool and runs its module. For any other
    language the command is unknown, so `entrypoint` has no `run`.
    """
    language = str(config.get("language", "")).lower()
    entrypoints = {"python": _python, "node": _node, "javascript": _node, "typescript": _node}
    find_entrypoint = entrypoints.get(language)
    name = config.get("name")
    return {
        "tool": {"name": name, "description": config.get("description"), "inputSchema": schema},
        "language": language,
        "auth": config.get("auth"),
        "variables": config.get("tool_vars"),
        "entrypoint": find_entrypoint(folder, str(name)) if find_entrypoint else {},
    }


def _python(folder: Path, name: str) -> dict[str, str]:
    if any((folder / file).is_file() for file in ("pyproject.toml", "setup.py")):
        build = "pip install ."
    else:
        build = "pip install -r requirements.txt" if _has(folder, "requirements.txt") else ""
    run = _module(folder, name) or _first(folder, _PYTHON_MAINS, "python")
    return {"build": build, "run": run}


def _module(folder: Path, name: str) -> str:
    """Return the `python -m` command for the package named like the tool, or the only package."""
    packages = sorted(
        entry.name
        for entry in folder.iterdir()
        if (entry / "__main__.py").is_file() and entry.is_dir()
    )
    if name not in packages and len(packages) != 1:
        return ""
    return f"python -m {name if name in packages else packages[0]}"


def _node(folder: Path, _: str) -> dict[str, str]:
    build = "npm install" if _has(folder, "package.json") else ""
    return {"build": build, "run": _node_main(folder) or _first(folder, _NODE_MAINS, "node")}


def _node_main(folder: Path) -> str:
    try:
        main = json.loads((folder / "package.json").read_bytes()).get("main")
    except (OSError, ValueError, AttributeError):
        return ""
    is_file = isinstance(main, str) and not main.startswith("-") and _has(folder, main)
    return f"node '{main}'" if is_file and "'" not in main else ""


def _first(folder: Path, files: tuple[str, ...], program: str) -> str:
    return next((f"{program} {name}" for name in files if _has(folder, name)), "")


def _has(folder: Path, name: str) -> bool:
    return (folder / name).is_file()
