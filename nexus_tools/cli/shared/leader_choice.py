"""The output of the leaders that a command chose, and of the evidence for the choice."""

from typing import TYPE_CHECKING, Any

from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.registry import LeaderChoice


def choice_document(choice: "LeaderChoice") -> dict[str, Any]:
    """Return a choice as JSON. `choice` is null if the user named the leaders."""
    return {
        "leaders": [str(leader) for leader in choice.leaders],
        "choice": {
            "candidates": choice.candidates,
            "closings": choice.closings,
            "unread": choice.unread,
        }
        if choice.candidates
        else None,
    }


def describe_evidence(choice: "LeaderChoice") -> str:
    """Return the evidence for a choice in parentheses, or an empty string without a choice."""
    if choice.candidates <= 1:
        return ""
    closings = units.count(choice.closings, "closing")
    evidence = f"chosen from {choice.candidates} candidates by {closings}"
    unread = f", {units.count(choice.unread, 'record')} not read" if choice.unread else ""
    return f" ({evidence}{unread})"
