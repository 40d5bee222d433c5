"""The size limits of a module, which bound the cost of its verification and execution.

Source: the `VerifierConfig` that `sui-protocol-config` passes to the Move verifier, and
`move-bytecode-verifier/src/limits.rs`.
"""

from collections.abc import Iterator

from nexus_tools.sui.bytecode import (
    CompiledModule,
    DatatypeToken,
    SignatureToken,
    TypeParameterToken,
    VectorToken,
    preorder,
)
from nexus_tools.sui.localnet.verifier.errors import VerificationError
from nexus_tools.sui.localnet.verifier.structure.constants import vector_length

LOOP_DEPTH_MAX = 5
TYPE_PARAMETERS_MAX = 32
PARAMETERS_MAX = 128
BASIC_BLOCKS_MAX = 1_024
STACK_SIZE_MAX = 1_024
TYPE_NODES_MAX = 256
PUSHES_MAX = 10_000
FIELDS_MAX = 32
FUNCTIONS_MAX = 1_000
DATATYPES_MAX = 200
VARIANTS_MAX = 127
IDENTIFIER_LENGTH_MAX = 128
CONSTANT_VECTOR_LENGTH_MAX = 256 * 1_024
BACK_EDGES_MAX = 10_000
FUNCTION_UNITS_MAX = 16_000_000
MODULE_UNITS_MAX = 16_000_000

# In Sui, the weights are `STRUCT_SIZE_WEIGHT` and `PARAM_SIZE_WEIGHT`. A datatype or a type
# parameter counts as four nodes, because it may represent a large type. For example,
# `vector<Coin<T>>` counts as 1 + 4 + 4 = 9 nodes.
_OPEN_TYPE_WEIGHT = 4


def verify_limits(module: CompiledModule) -> None:
    """Raise `VerificationError` for a module that is larger than Sui allows."""
    _verify_constants(module)
    _verify_handles(module)
    for token in _all_tokens(module):
        _verify_type_nodes(module, token)
    for identifier in module.identifiers:
        if len(identifier) > IDENTIFIER_LENGTH_MAX:
            message = f"the name {identifier[:16]}... exceeds {IDENTIFIER_LENGTH_MAX} characters"
            raise _refused(module, "IDENTIFIER_TOO_LONG", message)
    _verify_definitions(module)
    _verify_fields(module)


def _refused(module: CompiledModule, status: str, message: str) -> VerificationError:
    return VerificationError(status, message, module.name)


def _verify_constants(module: CompiledModule) -> None:
    for index, constant in enumerate(module.constants):
        if not isinstance(constant.type, VectorToken):
            continue
        length = vector_length(constant)
        if length is None:
            message = f"the bytes of constant {index} are not a value of its type"
            raise _refused(module, "MALFORMED_CONSTANT_DATA", message)
        if length > CONSTANT_VECTOR_LENGTH_MAX:
            message = (
                f"constant {index} has {length} elements, but at most"
                f" {CONSTANT_VECTOR_LENGTH_MAX} are allowed"
            )
            raise _refused(module, "TOO_MANY_VECTOR_ELEMENTS", message)


def _verify_handles(module: CompiledModule) -> None:
    for index, function in enumerate(module.function_handles):
        if len(function.type_parameters) > TYPE_PARAMETERS_MAX:
            message = f"function handle {index} has {len(function.type_parameters)} type parameters"
            raise _refused(module, "TOO_MANY_TYPE_PARAMETERS", message)
        if len(module.signatures[function.parameters]) > PARAMETERS_MAX:
            message = f"function handle {index} has more than {PARAMETERS_MAX} parameters"
            raise _refused(module, "TOO_MANY_PARAMETERS", message)
    for index, datatype in enumerate(module.datatype_handles):
        if len(datatype.type_parameters) > TYPE_PARAMETERS_MAX:
            message = f"datatype handle {index} has {len(datatype.type_parameters)} type parameters"
            raise _refused(module, "TOO_MANY_TYPE_PARAMETERS", message)


def _all_tokens(module: CompiledModule) -> Iterator[SignatureToken]:
    """Yield the types in signatures, constants and fields."""
    for signature in module.signatures:
        yield from signature
    for constant in module.constants:
        yield constant.type
    for struct in module.struct_definitions:
        for field in struct.fields or ():
            yield field.type
    for enum in module.enum_definitions:
        for variant in enum.variants:
            for field in variant.fields:
                yield field.type


def _verify_type_nodes(module: CompiledModule, token: SignatureToken) -> None:
    if isinstance(token, str):
        return
    size = sum(
        _OPEN_TYPE_WEIGHT if isinstance(node, (DatatypeToken, TypeParameterToken)) else 1
        for node in preorder(token)
    )
    if size > TYPE_NODES_MAX:
        raise _refused(module, "TOO_MANY_TYPE_NODES", f"a type has too many nodes: {size}")


def _verify_definitions(module: CompiledModule) -> None:
    functions = len(module.function_definitions)
    if functions > FUNCTIONS_MAX:
        message = f"the module has {functions} functions, but the limit is {FUNCTIONS_MAX}"
        raise _refused(module, "MAX_FUNCTION_DEFINITIONS_REACHED", message)
    datatypes = len(module.struct_definitions) + len(module.enum_definitions)
    if datatypes > DATATYPES_MAX:
        message = f"the module has {datatypes} structs and enums, but the limit is {DATATYPES_MAX}"
        raise _refused(module, "MAX_STRUCT_DEFINITIONS_REACHED", message)


def _verify_fields(module: CompiledModule) -> None:
    status = "MAX_FIELD_DEFINITIONS_REACHED"
    for struct in module.struct_definitions:
        if len(struct.fields or ()) > FIELDS_MAX:
            raise _refused(module, status, f"a struct has more than {FIELDS_MAX} fields")
    for enum in module.enum_definitions:
        if len(enum.variants) > VARIANTS_MAX:
            message = f"an enum has more than {VARIANTS_MAX} variants"
            raise _refused(module, "MAX_VARIANTS_REACHED", message)
        if sum(len(variant.fields) for variant in enum.variants) > FIELDS_MAX:
            raise _refused(module, status, f"an enum has more than {FIELDS_MAX} fields")
