"""The gas units of reading a workflow and the pages of its plan, as `dag::read_units` counts them.

A transaction with a workflow as an argument reads the workflow's head, which contains all data
except the pages. The transaction also reads each page that it uses.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nexus_tools.registry.workflows.limits import PAGE

# Source: `dag.move`.
_HEAD_BYTE_GAS, _PAGE_BYTE_GAS, _COVERED_GAS_UNITS = 15, 3, 30


@dataclass(frozen=True, slots=True)
class PlanSizes:
    """The sizes in bytes of a workflow's head and of each of its pages."""

    head: int
    vertex_pages: tuple[int, ...]
    block_pages: tuple[int, ...]

    def read_units(self, vertices: Iterable[int], blocks: Iterable[int] = ()) -> int:
        """Return the gas units for reading the pages with these vertices and blocks.

        The result excludes the gas units that the fees cover.
        """
        pages = [self.vertex_pages[page] for page in {number // PAGE for number in vertices}]
        pages += [self.block_pages[page] for page in {number // PAGE for number in blocks}]
        return self._units(sum(pages))

    def most_read_units(self) -> int:
        """Return the gas units of reading all pages."""
        return self._units(sum(self.vertex_pages) + sum(self.block_pages))

    def _units(self, page_bytes: int) -> int:
        thousandths = _HEAD_BYTE_GAS * self.head + _PAGE_BYTE_GAS * page_bytes
        return max(thousandths // 1_000 - _COVERED_GAS_UNITS, 0)
