"""Every index has a row, and every type parameter is one that is declared around it.

Reading a module file checks the same; here it is checked of modules that did not come from a file.
Source: `move-binary-format/src/check_bounds.rs`.
"""

from collections.abc import Iterable, Sequence

from nexus_tools.localnet.bytecode.limits import LOCALS_COUNT_MAX, TYPE_PARAMETER_INDEX_MAX
from nexus_tools.localnet.bytecode.module import (
    CompiledModule,
    DatatypeToken,
    FieldDefinition,
    SignatureToken,
    TypeParameterToken,
)
from nexus_tools.localnet.verifier.code_bounds import CodeBounds
from nexus_tools.localnet.verifier.errors import VerificationError
from nexus_tools.localnet.verifier.tokens import PRIMITIVES, preorder

# For each table, its columns that are indices, with the table that they index.
_INDICES = {
    "module_handles": {"address": "addresses", "name": "identifiers"},
    "friends": {"address": "addresses", "name": "identifiers"},
    "datatype_handles": {"module": "module_handles", "name": "identifiers"},
    "function_handles": {
        "module": "module_handles",
        "name": "identifiers",
        "parameters": "signatures",
        "returns": "signatures",
    },
    "struct_definitions": {"handle": "datatype_handles"},
    "enum_definitions": {"handle": "datatype_handles"},
    "function_definitions": {"handle": "function_handles"},
    "field_handles": {"struct": "struct_definitions"},
    "variant_handles": {"enum": "enum_definitions"},
    "struct_instantiations": {"target": "struct_definitions", "type_arguments": "signatures"},
    "enum_instantiations": {"target": "enum_definitions", "type_arguments": "signatures"},
    "field_instantiations": {"target": "field_handles", "type_arguments": "signatures"},
    "function_instantiations": {"target": "function_handles", "type_arguments": "signatures"},
    "variant_instantiations": {"enum": "enum_instantiations"},
}


def verify_bounds(module: CompiledModule) -> None:
    """Raise `VerificationError` for an index without a row."""
    _Bounds(module).verify()


class _Bounds:
    def __init__(self, module: CompiledModule) -> None:
        self._module = module
        # Before the bounds are checked, not even the module's name can be looked up.
        self._name = "<unknown>"

    def verify(self) -> None:
        module = self._module
        self._index(module.self_handle, "module_handles")
        for table, columns in _INDICES.items():
            for row in getattr(module, table):
                for column, target in columns.items():
                    self._index(getattr(row, column), target)
        self._name = module.name
        self._verify_members()
        arities = [max(map(self._arity, row), default=0) for row in module.signatures]
        for constant in module.constants:
            self._arity(constant.type)
        self._verify_functions(arities)
        self._verify_datatypes()
        for function in module.function_definitions:
            for acquired in function.acquires:
                self._index(acquired, "struct_definitions")
            if function.code is not None:
                CodeBounds(module, function, arities).verify()

    def _refused(self, status: str, message: str) -> VerificationError:
        return VerificationError(status, message, self._name)

    def _index(self, index: int, table: str) -> None:
        self._within(index, len(getattr(self._module, table)), table)

    def _within(self, index: int, count: int, table: str) -> None:
        if not 0 <= index < count:
            message = f"{table} has no row {index}: there are {count}"
            raise self._refused("INDEX_OUT_OF_BOUNDS", message)

    def _verify_members(self) -> None:
        """Fields and variants are members of what they are said to be in."""
        module = self._module
        for field in module.field_handles:
            fields = module.struct_definitions[field.struct].fields or ()
            self._within(field.field, len(fields), "a struct")
        for variant in module.variant_handles:
            variants = module.enum_definitions[variant.enum].variants
            self._within(variant.tag, len(variants), "an enum")
        for variant in module.variant_instantiations:
            enum = module.enum_instantiations[variant.enum].target
            variants = module.enum_definitions[enum].variants
            self._within(variant.tag, len(variants), "an enum")

    def _arity(self, token: SignatureToken) -> int:
        """How many type parameters must be declared around a type, whose own indices are right."""
        if isinstance(token, str) and token in PRIMITIVES:
            return 0
        arity = 0
        for node in preorder(token):
            if isinstance(node, TypeParameterToken):
                arity = max(arity, node.index + 1)
                self._within(node.index, TYPE_PARAMETER_INDEX_MAX, "the type parameters")
            elif isinstance(node, DatatypeToken):
                self._verify_arguments(node)
            elif isinstance(node, str) and node not in PRIMITIVES:
                raise self._refused("INVALID_SIGNATURE_TOKEN", f"there is no type {node}")
        return arity

    def _declared(self, arity: int, type_parameters: int) -> None:
        if arity > type_parameters:
            message = f"a type parameter {arity - 1} is used where there are {type_parameters}"
            raise self._refused("INDEX_OUT_OF_BOUNDS", message)

    def _verify_arguments(self, token: DatatypeToken) -> None:
        self._index(token.handle, "datatype_handles")
        expected = len(self._module.datatype_handles[token.handle].type_parameters)
        if len(token.type_arguments) != expected:
            message = f"a type has {len(token.type_arguments)} type arguments, not {expected}"
            raise self._refused("NUMBER_OF_TYPE_ARGUMENTS_MISMATCH", message)

    def _verify_functions(self, arities: Sequence[int]) -> None:
        module = self._module
        for row in module.function_handles:
            for signature in (row.parameters, row.returns):
                self._declared(arities[signature], len(row.type_parameters))
        for function in module.function_definitions:
            if function.code is None:
                continue
            handle = module.function_handles[function.handle]
            local_types = function.code.locals
            self._index(local_types, "signatures")
            count = len(module.signatures[handle.parameters]) + len(module.signatures[local_types])
            if count > LOCALS_COUNT_MAX:
                raise self._refused("TOO_MANY_LOCALS", f"a function has {count} locals")
            self._declared(arities[local_types], len(handle.type_parameters))

    def _verify_datatypes(self) -> None:
        for struct in self._module.struct_definitions:
            self._verify_fields(struct.handle, struct.fields or ())
        for enum in self._module.enum_definitions:
            for variant in enum.variants:
                self._index(variant.name, "identifiers")
                self._verify_fields(enum.handle, variant.fields)

    def _verify_fields(self, handle: int, fields: Iterable[FieldDefinition]) -> None:
        declared = len(self._module.datatype_handles[handle].type_parameters)
        for field in fields:
            self._index(field.name, "identifiers")
            self._declared(self._arity(field.type), declared)
