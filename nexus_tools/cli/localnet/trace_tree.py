"""A trace as trees for the terminal."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nexus_tools.cli.framework import plain
from nexus_tools.sui.client import (
    Label,
    TraceView,
    call_label,
    command_label,
    event_label,
)

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

Document = Mapping[str, Any]

_STYLES = {"name": "cyan", "failed": "bold red", "event": "magenta", "error": "red"}
"""The styles of `rich` for the styles of labels. Other styles have the same name."""


def command_tree(command: Document, status: Document, view: TraceView) -> "Tree":
    """Return a tree of a command with its visible calls and events."""
    from rich.tree import Tree

    tree = Tree(_text(command_label(command, status, view)), guide_style="dim")
    _add_steps(tree, command, 1, status, view)
    return tree


def _add_steps(
    tree: "Tree", parent: Document, level: int, status: Document, view: TraceView
) -> None:
    for step in view.steps(parent, level):
        if step["kind"] == "event":
            tree.add(_text(event_label(step, view)))
        else:
            branch = tree.add(_text(call_label(step, level, status, view)))
            _add_steps(branch, step, level + 1, status, view)


def _text(label: Label) -> "Text":
    from rich.text import Text

    return Text.assemble(*((plain(text), _STYLES.get(style, style)) for text, style in label))
