"""The conversion of a system's document and a caller's values to a context."""

from __future__ import annotations

from typing import Any

from nexus_tools.bridges.sos.child.context import SOSContext
from nexus_tools.bridges.sos.child.interpolation import (
    DEFERRED_SECTIONS,
    Interpolation,
    LiteralText,
)
from nexus_tools.bridges.sos.child.result import ResultRepo, RuntimeBreak


def load_system(document: dict[str, Any], given: dict[str, Any]) -> SOSContext:
    """Merge a system's document with a caller's values, and return the interpolated context.

    Raises:
        InterpolationError: if a `${…}` cannot be resolved.
    """
    root = _merged(document, _literal(given))
    interpolation = Interpolation(root, is_settled=False)
    settled = {
        name: section if name in DEFERRED_SECTIONS else interpolation.filled(section)
        for name, section in root.items()
    }
    return SOSContext(**settled)


def run_hook(context: SOSContext, name: str) -> None:
    """Run the actions of a hook, for example `on_context_load`, if the system has it."""
    if context.get(f"hook.{name}", None):
        context.run(f"hook.{name}")


def data_of(result: Any) -> dict[str, Any]:
    """Return the data of an action, or of a list's actions by name, or `{}` for a break."""
    if isinstance(result, ResultRepo):
        return {name: data_of(member) for name, member in result.items()}
    return {} if isinstance(result, RuntimeBreak) else dict(result.data)


def break_reason(result: Any) -> Any:
    """Return the reason for a break out of a list, or None if the list ran to its end."""
    if isinstance(result, RuntimeBreak):
        return str(result) or "the list of actions ended early"
    members = result.values() if isinstance(result, ResultRepo) else ()
    return next((reason for reason in map(break_reason, members) if reason is not None), None)


def _merged(base: Any, over: Any) -> Any:
    """Return two merged trees. Dictionaries are merged, and other values are replaced by `over`."""
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    common = {name: _merged(base[name], over[name]) for name in base if name in over}
    return {**base, **over, **common}


def _literal(value: Any) -> Any:
    """Return a caller's values with all strings marked as excluded from interpolation."""
    if isinstance(value, dict):
        return {name: _literal(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_literal(member) for member in value]
    return LiteralText(value) if isinstance(value, str) else value
