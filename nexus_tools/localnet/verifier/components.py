"""The strongly connected components of a graph.

Source: Tarjan, "Depth-first search and linear graph algorithms" (1972), without recursion.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

_Node = TypeVar("_Node", bound=Hashable)


def components(graph: Mapping[_Node, Iterable[_Node]]) -> list[list[_Node]]:
    """The nodes in groups that can reach each other; an edge out of the graph counts not."""
    search = _Search(graph)
    for root in graph:
        if root not in search.number:
            search.visit(root)
    return search.found


class _Search(Generic[_Node]):
    def __init__(self, graph: Mapping[_Node, Iterable[_Node]]) -> None:
        self._graph = graph
        self._open: list[_Node] = []
        self._is_open: set[_Node] = set()
        self._lowest: dict[_Node, int] = {}
        self.number: dict[_Node, int] = {}
        self.found: list[list[_Node]] = []

    def visit(self, root: _Node) -> None:
        path: list[tuple[_Node, Iterator[_Node]]] = [self._enter(root)]
        while path:
            node, successors = path[-1]
            successor = next((item for item in successors if item in self._graph), None)
            if successor is None:
                path.pop()
                self._leave(node)
                if path:
                    self._lower(path[-1][0], self._lowest[node])
            elif successor not in self.number:
                path.append(self._enter(successor))
            elif successor in self._is_open:
                self._lower(node, self.number[successor])

    def _enter(self, node: _Node) -> tuple[_Node, Iterator[_Node]]:
        self.number[node] = self._lowest[node] = len(self.number)
        self._open.append(node)
        self._is_open.add(node)
        return node, iter(self._graph[node])

    def _lower(self, node: _Node, number: int) -> None:
        self._lowest[node] = min(self._lowest[node], number)

    def _leave(self, node: _Node) -> None:
        if self._lowest[node] != self.number[node]:
            return
        component: list[_Node] = []
        while not component or component[-1] != node:
            component.append(self._open.pop())
            self._is_open.discard(component[-1])
        self.found.append(component)
