"""The `with` blocks of a workflow: `for_each` and `loop`."""

from types import TracebackType
from typing import Any

from nexus_tools.errors import NexusError, UsageError
from nexus_tools.spelling import suggestion
from nexus_tools.workflow.authoring.feeding import as_value, check_types
from nexus_tools.workflow.authoring.lines import authors_line
from nexus_tools.workflow.authoring.sketch import (
    Block,
    BlockKind,
    Element,
    First,
    PortValue,
    Sketch,
    State,
    Value,
)
from nexus_tools.workflow.document import MAX_PARALLEL
from nexus_tools.workflow.shape import LIST


class _With:
    """A block that is entered and left once."""

    def __init__(self, sketch: Sketch, kind: BlockKind) -> None:
        self._sketch = sketch
        self._block = Block(kind, authors_line(), sketch.block, sketch.block.parallel)

    def _enter(self) -> None:
        if self._block in self._sketch.blocks:
            raise authors_line().of(
                UsageError(
                    "block_entered_twice",
                    f"{self._block} has been entered already",
                    hint="make a block where it is entered: with flow.for_each(…) as element",
                )
            )
        self._sketch.blocks.append(self._block)

    def _leave(self) -> None:
        self._block.is_open = False


class ForEach(_With):
    """The steps in its `with` block run once for each element of a list, or of several.

    Entering gives the element: one value, or as many as there are lists.
    """

    def __init__(self, sketch: Sketch, lists: tuple[object, ...], parallel: int | None) -> None:
        super().__init__(sketch, BlockKind.FOR_EACH)
