"""The export of a registered tool as an Unstract tool: a folder with a program that calls it."""

import json
import tempfile
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import Any

from nexus_tools.errors import UsageError
from nexus_tools.export.names import export_names
from nexus_tools.export.safe_text import sanitize_definition
from nexus_tools.sui.support.untrusted_text import markdown_text
from nexus_tools.tool import ToolDefinition, ToolType, check_output_schema, protocol

# The additional time for the network, beyond the tool's own timeout.
_MARGIN_MS = 5_000

_SUFFIX = ".template"
# The templates with placeholders. All other files are copied unchanged.
_FILLED = ("README.md.template", "invocation.py.template")


def write_unstract_tool(
    definition: ToolDefinition,
    folder: Path,
    *,
    timeout_ms: int | None = None,
    overwrite: bool = False,
) -> list[Path]:
    """Write an Unstract tool that calls the tool by HTTP, and return its files.

    `timeout_ms` is the time limit of a call. The default is the tool's own timeout plus 5 s. The
    folder is created atomically. A folder that is not empty is replaced only if `overwrite` is set.

    Raises:
        UsageError: with code `not_callable` for an on-chain tool, `timeout_invalid`, or
            `folder_not_empty`.
        ValidationError: with code `invisible_characters`.
    """
    definition = sanitize_definition(definition)
    if definition.type is not ToolType.OFFCHAIN:
        message = f"{definition.fqn} is an on-chain tool, which a program cannot call by HTTP"
        raise UsageError("not_callable", message)
    timeout_ms = definition.timeout_ms + _MARGIN_MS if timeout_ms is None else timeout_ms
    if timeout_ms <= 0:
        raise UsageError("timeout_invalid", f"the timeout must be positive, got {timeout_ms} ms")
    _check_target(folder, overwrite=overwrite)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unstract-", dir=folder.parent) as directory:
        new_folder = Path(directory, "made")
        paths = _write(definition, new_folder, timeout_ms)
        _move(new_folder, folder, Path(directory, "replaced"))
    return [folder / path for path in paths]


def _move(new_folder: Path, folder: Path, backup: Path) -> None:
    """Replace the old folder with the new folder. If this fails, restore the old folder."""
    if not folder.exists():
        new_folder.rename(folder)
        return
    folder.rename(backup)
    try:
        new_folder.rename(folder)
    except OSError:
        backup.rename(folder)
        raise


def _check_target(folder: Path, *, overwrite: bool) -> None:
    if not folder.exists() and not folder.is_symlink():
        return
    if folder.is_symlink() or not folder.is_dir():
        raise UsageError("folder_not_empty", f"{folder} exists and is not a folder")
    if not overwrite and any(folder.iterdir()):
        message = f"{folder} exists and is not empty"
        raise UsageError("folder_not_empty", message, hint="Choose another folder.")


def _write(definition: ToolDefinition, target: Path, timeout_ms: int) -> list[Path]:
    """Write all files, and return their paths relative to the folder."""
    templates = files("nexus_tools.export") / "unstract_template"
    _copy(templates, target, _values(definition, timeout_ms))
    for name, document in _documents(definition, timeout_ms).items():
        text = json.dumps(document, indent=2, ensure_ascii=False)
        (target / "src" / "config" / name).write_text(text + "\n", encoding="utf-8")
    return sorted(path.relative_to(target) for path in target.rglob("*") if path.is_file())


def _documents(definition: ToolDefinition, timeout_ms: int) -> dict[str, dict[str, Any]]:
    return {
        "properties.json": properties(definition),
        "spec.json": spec(definition),
        "runtime_variables.json": runtime_variables(definition),
        "definition.json": call_settings(definition, timeout_ms),
    }


def _values(definition: ToolDefinition, timeout_ms: int) -> dict[str, str]:
    return {
        "display_name": display_name(definition),
        "description": markdown_text(definition.description) or "A registered tool.",
        "fqn": str(definition.fqn),
        "url": markdown_text(definition.url),
        "function_name": function_name(definition),
        "timeout_s": f"{timeout_ms / 1_000:g}",
        "invoke": protocol.INVOKE,
        "json": protocol.JSON,
        "problem_json": protocol.PROBLEM_JSON,
        "idempotency_key_header": protocol.IDEMPOTENCY_KEY_HEADER,
        "tool_header": protocol.TOOL_HEADER,
        "deadline_header": protocol.DEADLINE_HEADER,
        "max_outcome_bytes_header": protocol.MAX_OUTCOME_BYTES_HEADER,
    }


def _copy(source: Traversable, target: Path, values: dict[str, str]) -> None:
    target.mkdir()
    for entry in source.iterdir():
        if entry.is_dir():
            _copy(entry, target / entry.name, values)
        elif entry.name.endswith(_SUFFIX):
            text = entry.read_text(encoding="utf-8")
            text = Template(text).substitute(values) if entry.name in _FILLED else text
            (target / entry.name.removesuffix(_SUFFIX)).write_text(text, encoding="utf-8")


# --- The documents in the folder `config` of an exported tool

AUTHORIZATION_VARIABLE = "NEXUS_TOOL_AUTHORIZATION"
URL_VARIABLE = "NEXUS_TOOL_URL"

_ADAPTERS = ("languageModels", "embeddingServices", "vectorStores", "textExtractors", "ocrs")
_INPUT = "The file is ignored, because the settings are the tool's input."
_OUTPUT = "The tool's outcome, {variant: {port: value}}, as a JSON file."


def function_name(definition: ToolDefinition) -> str:
    """Return the tool's name as the name of a Python function and of an image."""
    return export_names([definition.fqn], "unstract")[definition.fqn].replace("-", "_")


def display_name(definition: ToolDefinition) -> str:
    """Return the tool's name for users."""
    words = definition.fqn.name.replace("-", " ").replace("_", " ").split()
    return " ".join(word.capitalize() for word in words) or definition.fqn.name


def properties(definition: ToolDefinition) -> dict[str, Any]:
    """Return `properties.json` in both spellings, the SDK's and the specification's."""
    version = f"{definition.fqn.version}.0.0"
    name, title = function_name(definition), display_name(definition)
    description = definition.description or f"Calls the tool {definition.fqn}"
    return {
        "schemaVersion": "0.0.1",
        "displayName": title,
        "functionName": name,
        "toolVersion": version,
        "description": description,
        "input": {"description": _INPUT},
        "output": {"description": _OUTPUT},
        "result": {
            "type": "JSON",
            "description": _OUTPUT,
            "schema": definition.output_schema,
        },
        "adapter": {kind: [{"isEnabled": False}] for kind in _ADAPTERS},
        "ioCompatibility": _io_compatibility(),
        "restrictions": {"maxFileSize": "200MB", "allowedFileTypes": ["*"]},
        "display_name": title,
        "function_name": name,
        "parameters": [],
        "versions": [version],
        "is_cacheable": False,
        "input_type": "file",
        "output_type": "file",
        "requires": {
            "files": {"input": False, "output": True},
            "databases": {"input": False, "output": False},
        },
    }


def spec(definition: ToolDefinition) -> dict[str, Any]:
    """Return `spec.json`: the input schema, with a title and a description for the form."""
    titles = {
        "title": display_name(definition),
        "description": definition.description or f"Input of {definition.fqn}",
    }
    return titles | definition.input_schema


def runtime_variables(definition: ToolDefinition) -> dict[str, Any]:
    """Return `runtime_variables.json`. Both variables are optional."""
    return {
        "title": "Runtime Variables",
        "description": f"Runtime Variables for {display_name(definition)}",
        "type": "object",
        "required": [],
        "properties": {
            URL_VARIABLE: {
                "type": "string",
                "title": "URL of the tool",
                "description": f"The URL of the tool, if it is not {definition.url}",
            },
            AUTHORIZATION_VARIABLE: {
                "type": "string",
                "title": "Authorization",
                "description": "A bearer token for the tool, or a scheme with credentials",
            },
        },
    }


def call_settings(definition: ToolDefinition, timeout_ms: int) -> dict[str, Any]:
    """Return `definition.json`, with which the program calls the tool. Times are in ms."""
    variants = list(check_output_schema(definition.output_schema).variants)
    return {
        "fqn": str(definition.fqn),
        "url": definition.url,
        "function_name": function_name(definition),
        "call_timeout": timeout_ms,
        "input_schema": definition.input_schema,
        "variants": variants,
    }


def _io_compatibility() -> dict[str, Any]:
    supported = {"sourceSupport": True, "destinationSupport": True}
    return {
        "api": {**supported, "additionalArgs": {"sync": True}},
        "file": {**supported, "additionalArgs": {}},
        "db": {"destinationSupport": True, "additionalArgs": {}},
    }
