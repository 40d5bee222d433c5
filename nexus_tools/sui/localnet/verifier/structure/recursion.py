"""The check for recursive datatypes, and for calls whose type arguments grow without end.

Source: `move-bytecode-verifier/src/{data_defs,instantiation_loops}.rs`.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from nexus_tools.sui.bytecode import (
    CompiledModule,
    DatatypeToken,
    FieldDefinition,
    Opcode,
    TypeParameterToken,
    preorder,
)
from nexus_tools.sui.localnet.verifier.errors import VerificationError

_Node = TypeVar("_Node", bound=Hashable)


def components(graph: Mapping[_Node, Iterable[_Node]]) -> list[list[_Node]]:
    """Return the strongly connected components, whose nodes can all reach each other.

    Edges to nodes outside the graph are ignored. For `{1: [2], 2: [1, 3], 3: []}`, the result is
    `[3]` and `[2, 1]`. Source: Tarjan, "Depth-first search and linear graph algorithms" (1972). The
    implementation is iterative, because a module may have a chain of a thousand types or functions.
    """
    search = _Search(graph)
    for root in graph:
        if root not in search.number:
            search.visit(root)
    return search.found


class _Search(Generic[_Node]):
    """A depth-first search. `number` has the order in which the search entered the nodes.

    For each node, `_lowest` is the lowest number of an open node that the node is known to reach.
    If a node does not reach a number lower than its own number, it is the first node of its
    component. The other nodes of the component are the open nodes that the search entered later.
    """

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


def verify_recursion(module: CompiledModule) -> None:
    """Raise `VerificationError` for a struct or enum that contains itself."""
    contents = {handle: _named(fields) for handle, fields in _definitions(module)}
    for component in components(contents):
        first = component[0]
        if len(component) > 1 or first in contents[first]:
            message = f"{module.datatype_id(first)[2]} contains itself"
            raise VerificationError("RECURSIVE_DATATYPE_DEFINITION", message, module.name)


def _definitions(module: CompiledModule) -> Iterator[tuple[int, list[FieldDefinition]]]:
    for struct in module.struct_definitions:
        yield struct.handle, list(struct.fields or ())
    for enum in module.enum_definitions:
        yield enum.handle, [field for variant in enum.variants for field in variant.fields]


def _named(fields: Iterable[FieldDefinition]) -> set[int]:
    """Return the handles of all datatypes in the types of fields, including in type arguments."""
    nodes = (node for field in fields for node in preorder(field.type))
    return {node.handle for node in nodes if isinstance(node, DatatypeToken)}


# A function handle and the index of one of its type parameters.
_TypeParameter = tuple[int, int]


def verify_instantiation_loops(module: CompiledModule) -> None:
    """Raise `VerificationError` for a cycle of calls in which type arguments grow.

    If a caller uses its type parameter T in the type argument for the callee's type parameter U,
    the graph has an edge T -> U. The edge is *growing* if the type argument is larger than T
    itself. For example, with `fun f<T>() { g<T>() }` and `fun g<U>() { f<Box<U>>() }`, the edges
    are T -> U and the growing edge U -> T. The two edges are a cycle, because a call of `f<u8>`
    needs `f<Box<u8>>`, which needs `f<Box<Box<u8>>>`, and so on without end. A cycle without a
    growing edge needs only a few instances, so it is allowed.
    """
    graph: dict[_TypeParameter, set[_TypeParameter]] = {}
    growing: list[tuple[_TypeParameter, _TypeParameter]] = []
    for caller, callee, grows in _edges(module):
        graph.setdefault(caller, set()).add(callee)
        graph.setdefault(callee, set())
        if grows:
            growing.append((caller, callee))
    component_of = {
        node: number for number, nodes in enumerate(components(graph)) for node in nodes
    }
    for caller, callee in growing:
        if component_of[caller] == component_of[callee]:
            name = module.function_id(caller[0])[2]
            message = f"{name} calls itself with type arguments that grow without end"
            raise VerificationError("LOOP_IN_INSTANTIATION_GRAPH", message, module.name)


def _edges(module: CompiledModule) -> Iterator[tuple[_TypeParameter, _TypeParameter, bool]]:
    defined = {row.handle for row in module.function_definitions}
    for function in module.function_definitions:
        instantiations = {
            instruction.operand
            for instruction in (function.code.instructions if function.code else ())
            if instruction.opcode is Opcode.CALL_GENERIC
        }
        for index in instantiations:
            assert isinstance(index, int)
            row = module.function_instantiations[index]
            if row.target not in defined:
                continue
            for position, token in enumerate(module.signatures[row.type_arguments]):
                grows = not isinstance(token, TypeParameterToken)
                for node in preorder(token):
                    if isinstance(node, TypeParameterToken):
                        yield (function.handle, node.index), (row.target, position), grows
