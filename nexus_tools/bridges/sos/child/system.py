"""A system in memory: its document and a caller's values become a context."""

from __future__ import annotations

from typing import Any

from nexus_tools.bridges.sos.child.context import SOSContext
from nexus_tools.bridges.sos.child.interpolation import UNSETTLED, GivenText, Interpolation
from nexus_tools.bridges.sos.child.result import ResultRepo, RuntimeBreak


def load_system(document: dict[str, Any], given: dict[str, Any]) -> SOSContext:
    """The context of a system: its document, a caller's values over it, every `${…}` filled in.

    Raises `InterpolationError` for one that leads nowhere.
    """
    root = _merged(document, _literal(given))
    interpolation = Interpolation(root, is_settled=False)
    settled = {
        name: section if name in UNSETTLED else interpolation.filled(section)
        for name, section in root.items()
    }
    return SOSContext(**settled)


def run_hook(context: SOSContext, name: str) -> None:
    """Run the actions of a hook, such as `on_context_load`, if the system has it."""
    if context.get(f"hook.{name}", None):
        context.run(f"hook.{name}")


def data_of(result: Any) -> dict[str, Any]:
    """What an action gave, or the actions of a list by their names; nothing for a break."""
    if isinstance(result, ResultRepo):
        return {name: data_of(member) for name, member in result.items()}
    return {} if isinstance(result, RuntimeBreak) else dict(result.data)


def broke(result: Any) -> Any:
    """What a list was left with, None if it ran to its end."""
    if isinstance(result, RuntimeBreak):
        return str(result) or "the list of actions was left"
    members = result.values() if isinstance(result, ResultRepo) else ()
    return next((why for why in map(broke, members) if why is not None), None)


def _merged(base: Any, over: Any) -> Any:
    """Two trees as one; what is no dictionary in both is taken from `over`."""
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    both = {name: _merged(base[name], over[name]) for name in base if name in over}
    return {**base, **over, **both}


def _literal(value: Any) -> Any:
    """A caller's values, the texts in them marked as such."""
    if isinstance(value, dict):
        return {name: _literal(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_literal(member) for member in value]
    return GivenText(value) if isinstance(value, str) else value
