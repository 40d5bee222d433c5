"""No datatype contains itself.

Source: `move-bytecode-verifier/src/data_defs.rs`.
"""

from collections.abc import Iterable, Iterator

from nexus_tools.localnet.bytecode.module import CompiledModule, DatatypeToken, FieldDefinition
from nexus_tools.localnet.verifier.components import components
from nexus_tools.localnet.verifier.errors import VerificationError
from nexus_tools.localnet.verifier.tokens import preorder


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
    """The datatypes that the types of the fields name, as type arguments too."""
    nodes = (node for field in fields for node in preorder(field.type))
    return {node.handle for node in nodes if isinstance(node, DatatypeToken)}
