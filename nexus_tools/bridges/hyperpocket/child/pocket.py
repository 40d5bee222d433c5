"""`Pocket` as modules of tools meet it: it keeps what it is given, and runs nothing."""

from __future__ import annotations

from typing import Any


class Pocket:
    """Stands where a module builds its own `Pocket`: the tools in it are found by the bridge."""

    def __init__(self, tools: Any = None, **_: Any) -> None:
        self.tool_likes: list[Any] = []
        self.load_tools([] if tools is None else tools)

    def load_tools(self, tools: Any) -> None:
        """Keep one `ToolLike`, or a list of them."""
        self.tool_likes += tools if isinstance(tools, list) else [tools]

    def __enter__(self) -> Pocket:  # noqa: PYI034 - typing.Self needs Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self.teardown()

    def teardown(self) -> None:
        """Nothing was started."""
