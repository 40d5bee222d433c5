"""Checks of a task's result. Each check returns a description of the mismatch, or None."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skill_evaluation.stage import Stage

Check = Callable[..., str | None]
_MAX_COST = "0.1"


def _text_file(_: Stage, folder: Path, *, path: str, text: str) -> str | None:
    """Compare the words of a file with a text."""
    written = _read(folder, path)
    if written is None:
        return f"{path} does not exist"
    return None if written.split() == text.split() else f"{path} contains {written[:200]!r}"


def _json_file(_: Stage, folder: Path, *, path: str, pointer: str, value: Any) -> str | None:
    """Compare a value in a JSON file."""
    try:
        found = json.loads(_read(folder, path) or "")
        for key in pointer.removeprefix("/").split("/"):
            found = found[key]
    except (ValueError, KeyError, TypeError):
        return f"{path} does not have a value at {pointer}"
    return None if found == value else f"{path} has {found!r} at {pointer}, not {value!r}"


def _invocations(stage: Stage, _: Path, *, tool: str, outcomes: list[dict[str, Any]]) -> str | None:
    """Compare the outcomes of the wallet's invocations of a tool, the oldest first."""
    rows = stage.query("invocation", "list", "--closed", "--all") or []
    ids = [row["invocation"] for row in reversed(rows) if row["fqn"] == tool]
    closed = [stage.query("tool", "outcome", name) or {} for name in ids]
    found = [{done["variant"]: done["ports"]} if "variant" in done else None for done in closed]
    return None if found == outcomes else f"the outcomes of {tool} on chain are {found}"


def _tool(stage: Stage, _: Path, *, fqn: str, **expected: Any) -> str | None:
    """Compare fields of an active tool in the registry."""
    found = stage.query("tool", "show", fqn)
    if found is None:
        return f"{fqn} is not registered"
    expected |= {"state": "active"}
    differences = {key: found[key] for key, value in expected.items() if found[key] != value}
    return f"{fqn} has {differences}" if differences else None


def _answer(
    stage: Stage, _: Path, *, fqn: str, inputs: Any, variant: str, ports: Any
) -> str | None:
    """Invoke a tool on chain, and compare its outcome."""
    limit = ("--max-cost", _MAX_COST, "--yes")
    done = stage.query("tool", "invoke", fqn, "--input", json.dumps(inputs), *limit)
    if done is None:
        return f"the invocation of {fqn} failed"
    is_right = (done["variant"], done["ports"]) == (variant, ports)
    return None if is_right else f"{fqn} returned {done['variant']} {done['ports']}"


def _workflow(stage: Stage, _: Path, *, fqn: str, tools: list[str]) -> str | None:
    """Compare the tools of a published workflow."""
    found = stage.query("workflow", "show", fqn)
    if found is None:
        return f"{fqn} is not published"
    return None if found["tools"] == tools else f"{fqn} has the tools {found['tools']}"


def _execution(stage: Stage, _: Path, *, workflow: str, outputs: list[Any]) -> str | None:
    """Look for a completed execution of a workflow with these outputs."""
    rows = stage.query("workflow", "executions") or []
    ids = [row["execution"] for row in rows if row["workflow"] == workflow]
    shown = [stage.query("workflow", "show", name) for name in ids]
    found = [
        [*done["outputs"].values()] for done in shown if done and done["status"] == "completed"
    ]
    return None if outputs in found else f"the completed executions of {workflow} returned {found}"


def _read(folder: Path, name: str) -> str | None:
    """Return the text of a file of the agent, or None if it is missing or not a text."""
    try:
        return (folder / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


CHECKS: dict[str, Check] = {
    "text_file": _text_file,
    "json_file": _json_file,
    "invocations": _invocations,
    "tool": _tool,
    "answer": _answer,
    "workflow": _workflow,
    "execution": _execution,
}
"""The checks by their names in the files of evaluations."""
