"""Output of an export to stdout, a file, or folders."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nexus_tools.cli.framework import Output
from nexus_tools.errors import UsageError
from nexus_tools.export import (
    Export,
    callable_by_http,
    export_names,
    export_tools,
    sanitize_definitions,
)
from nexus_tools.tool import ToolDefinition


def write(
    output: Output,
    definitions: Sequence[ToolDefinition],
    system: str,
    *,
    path: Path | None,
    strict: bool,
    names: bool,
) -> None:
    """Write the tools for a system, and warn about unexpected conversions.

    Raises `option_not_applicable` for options that do not apply to the system, and
    `file_unwritable`.
    """
    if strict and not system.startswith("openai"):
        raise UsageError(
            "option_not_applicable", f"--strict does not apply to {system}, only to OpenAI"
        )
    if system == "unstract":
        _folders(output, definitions, path, names=names)
        return
    done = export_tools(definitions, system, strict=strict)
    for warning in done.warnings:
        output.warn(warning)
    _document(output, done.names() if names else done.document, path, _told(done))


def _told(done: Export) -> str:
    return f"{len(done.tools)} tools" if len(done.tools) != 1 else "1 tool"


def _document(output: Output, document: Any, path: Path | None, told: str) -> None:
    if path is None:
        output.document(document)
        return
    try:
        path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        message = f"cannot write {path}: {error.strerror}"
        raise UsageError("file_unwritable", message) from error
    output.done(f"exported {told} to {path}")


def _folders(
    output: Output, definitions: Sequence[ToolDefinition], path: Path | None, *, names: bool
) -> None:
    """Write a subfolder of `path` for each tool, named with the tool's Unstract name."""
    displayable_tools, unsafe = sanitize_definitions(definitions)
    found, skipped = callable_by_http(displayable_tools)
    for sentence in (*unsafe, *skipped):
        output.warn(sentence)
    table = export_names((item.fqn for item in found), "unstract")
    if names:
        output.document({table[item.fqn]: {"fqn": str(item.fqn)} for item in found})
        return
    if path is None:
        raise UsageError("out_missing", "the format unstract requires --output FOLDER")
    from nexus_tools.export import write_unstract_tool

    for definition in found:
        write_unstract_tool(definition, path / table[definition.fqn])
        output.done(f"exported {definition.fqn} to {path / table[definition.fqn]}")
    if output.as_json:
        output.document({str(fqn): str(path / name) for fqn, name in table.items()})
