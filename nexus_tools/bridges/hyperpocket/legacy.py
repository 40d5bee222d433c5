"""The older form of packaged tools, which does not say how it is built and run."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_NODE_MAINS = ("index.js", "main.js", "index.mjs", "dist/index.js")
_PYTHON_MAINS = ("__main__.py", "main.py")


def legacy_document(folder: Path, config: Mapping[str, Any], schema: Any) -> dict[str, Any]:
    """The `pocket.json` that says what `config.toml` and `schema.json` mean.

    A tool in Python is installed, and its module run; one in JavaScript likewise. Of another
    language nothing is known, and `entrypoint` has no `run`.
    """
    language = str(config.get("language", "")).lower()
    entrypoints = {"python": _python, "node": _node, "javascript": _node, "typescript": _node}
    find = entrypoints.get(language)
    name = config.get("name")
    return {
        "tool": {"name": name, "description": config.get("description"), "inputSchema": schema},
        "language": language,
        "auth": config.get("auth"),
        "variables": config.get("tool_vars"),
        "entrypoint": find(folder, str(name)) if find else {},
    }


def _python(folder: Path, name: str) -> dict[str, str]:
    if any((folder / each).is_file() for each in ("pyproject.toml", "setup.py")):
        build = "pip install ."
    else:
        build = "pip install -r requirements.txt" if _has(folder, "requirements.txt") else ""
    run = _module(folder, name) or _first(folder, _PYTHON_MAINS, "python")
    return {"build": build, "run": run}


def _module(folder: Path, name: str) -> str:
    """The package that is run by `python -m`: the one named like the tool, or the only one."""
    packages = sorted(
        each.name for each in folder.iterdir() if (each / "__main__.py").is_file() and each.is_dir()
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
