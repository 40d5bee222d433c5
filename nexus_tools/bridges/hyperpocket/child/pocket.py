"""A replacement of `Pocket` that stores its tools and runs nothing."""

from __future__ import annotations

from typing import Any


class Pocket:
    """The `Pocket` that a module creates and from which the bridge reads the tools."""

    def __init__(self, tools: Any = None, **_: Any) -> None:
        self.tool_likes: list[Any] = []
        self.load_tools([] if tools is None else tools)

    def load_tools(self, tools: Any) -> None:
        """Store one `ToolLike` or a list of them."""
        self.tool_likes += tools if isinstance(tools, list) else [tools]

    def __enter__(self) -> Pocket:  # noqa: PYI034 - typing.Self needs Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self.teardown()

    def teardown(self) -> None:
        """Do nothing, because nothing was started."""
