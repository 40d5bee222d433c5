"""No function calls itself with ever larger type arguments.

A type parameter of a caller that becomes one of the callee is an edge; it grows where it becomes a
part of a type argument. A cycle with a growing edge would need functions without end.
Source: `move-bytecode-verifier/src/instantiation_loops.rs`.
"""

from collections.abc import Iterator

from nexus_tools.localnet.bytecode.module import CompiledModule, TypeParameterToken
from nexus_tools.localnet.bytecode.opcode import Opcode
from nexus_tools.localnet.verifier.components import components
from nexus_tools.localnet.verifier.errors import VerificationError
from nexus_tools.localnet.verifier.tokens import preorder

# A function handle and the index of one of its type parameters.
_Node = tuple[int, int]


def verify_instantiation_loops(module: CompiledModule) -> None:
    """Raise `VerificationError` for a cycle in which type arguments grow."""
    graph: dict[_Node, set[_Node]] = {}
    growing: list[tuple[_Node, _Node]] = []
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
            message = f"{name} calls itself with ever larger type arguments"
            raise VerificationError("LOOP_IN_INSTANTIATION_GRAPH", message, module.name)


def _edges(module: CompiledModule) -> Iterator[tuple[_Node, _Node, bool]]:
    defined = {row.handle for row in module.function_definitions}
    for function in module.function_definitions:
        called = {
            instruction.operand
            for instruction in (function.code.instructions if function.code else ())
            if instruction.opcode is Opcode.CALL_GENERIC
        }
        for index in called:
            assert isinstance(index, int)
            row = module.function_instantiations[index]
            if row.target not in defined:
                continue
            for place, token in enumerate(module.signatures[row.type_arguments]):
                grows = not isinstance(token, TypeParameterToken)
                for node in preorder(token):
                    if isinstance(node, TypeParameterToken):
                        yield (function.handle, node.index), (row.target, place), grows
