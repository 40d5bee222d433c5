"""The passes over a whole module, for example bounds, duplication, signatures and constants."""

import pytest
from msgspec.structs import replace

from nexus_tools.sui.bytecode import (
    Ability,
    Constant,
    DatatypeHandle,
    DatatypeToken,
    DatatypeTypeParameter,
    EnumDefinition,
    FieldDefinition,
    FieldHandle,
    Instantiation,
    ModuleHandle,
    ReferenceToken,
    StructDefinition,
    TypeParameterToken,
    VariantHandle,
    VecOperand,
    VectorToken,
    Visibility,
)

RESOURCE, PAIR, BOX = (DatatypeToken(handle) for handle in range(3))
IMM = ReferenceToken("u64", mutable=False)


@pytest.fixture
def plain(assemble):
    return assemble(["RET"])


def with_row(module, table, row, index=None):
    """Return the module with a row added to a table or replaced there."""
    rows = list(getattr(module, table))
    if index is None:
        rows.append(row)
    else:
        rows[index] = row
    return replace(module, **{table: tuple(rows)})


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("module_handles", ModuleHandle(0, 99)),
        ("module_handles", ModuleHandle(9, 0)),
        ("friends", ModuleHandle(1, 0)),
        ("datatype_handles", DatatypeHandle(7, 0, Ability.NONE, ())),
        ("field_handles", FieldHandle(0, 1)),
        ("field_handles", FieldHandle(9, 0)),
        ("variant_handles", VariantHandle(0, 2)),
        ("struct_instantiations", Instantiation(0, 99)),
        ("function_instantiations", Instantiation(9, 0)),
        ("variant_instantiations", VariantHandle(0, 0)),
        ("signatures", (DatatypeToken(50),)),
        ("struct_definitions", StructDefinition(-1, ())),
        ("struct_definitions", StructDefinition(0, (FieldDefinition(99, "u8"),))),
        ("struct_definitions", StructDefinition(0, (FieldDefinition(0, TypeParameterToken(0)),))),
    ],
)
def test_index_without_row_is_rejected(plain, status, table, row):
    assert status(with_row(plain, table, row)) == "INDEX_OUT_OF_BOUNDS"


@pytest.mark.parametrize(
    "line",
    ["BRANCH 2", "MOVE_LOC 1", "CALL 3", "LD_CONST 0", "PACK 3", "VEC_LEN 77", "VARIANT_SWITCH 0"],
)
def test_operand_without_target_is_rejected(assemble, status, line):
    assert status(assemble([line, "RET"], ("u64",))) == "INDEX_OUT_OF_BOUNDS"


def test_type_with_too_many_arguments_is_rejected(plain, status):
    module = with_row(plain, "signatures", (DatatypeToken(1, ("u8",)),))
    assert status(module) == "NUMBER_OF_TYPE_ARGUMENTS_MISMATCH"


def test_undeclared_type_parameter_in_function_is_rejected(assemble, status):
    module = assemble(["RET"], (TypeParameterToken(0),))
    assert status(module) == "INDEX_OUT_OF_BOUNDS"


@pytest.mark.parametrize(
    "table", ["identifiers", "addresses", "signatures", "module_handles", "function_instantiations"]
)
def test_duplicate_row_is_rejected(plain, status, table):
    assert status(with_row(plain, table, getattr(plain, table)[0])) == "DUPLICATE_ELEMENT"


def test_duplicate_field_name_is_rejected(plain, status):
    fields = (FieldDefinition(8, "u64"), FieldDefinition(8, "u64"))
    module = with_row(plain, "struct_definitions", StructDefinition(1, fields), 1)
    assert status(module) == "DUPLICATE_ELEMENT"


def test_struct_without_fields_is_rejected(assemble, status):
    module = assemble(["RET"], field_handles=(), field_instantiations=())
    module = with_row(module, "struct_definitions", StructDefinition(1, ()), 1)
    assert status(module) == "ZERO_SIZED_STRUCT"


def test_function_without_definition_is_rejected(plain, status):
    module = replace(plain, function_definitions=plain.function_definitions[:2])
    assert status(module) == "UNIMPLEMENTED_HANDLE"


def test_type_without_definition_is_rejected(plain, status):
    handle = DatatypeHandle(0, 0, Ability.NONE, ())
    assert status(with_row(plain, "datatype_handles", handle)) == "UNIMPLEMENTED_HANDLE"


@pytest.mark.parametrize(
    "token", [VectorToken(IMM), DatatypeToken(2, (IMM,)), ReferenceToken(IMM, mutable=True)]
)
def test_reference_inside_type_is_rejected(plain, status, token):
    assert status(with_row(plain, "signatures", (token,))) == "INVALID_SIGNATURE_TOKEN"


def test_reference_in_field_is_rejected(plain, status):
    struct = StructDefinition(0, (FieldDefinition(8, IMM),))
    module = with_row(plain, "struct_definitions", struct, 0)
    assert status(module) == "INVALID_SIGNATURE_TOKEN"


def test_type_argument_without_ability_is_rejected(assemble, status):
    code = ["MOVE_LOC 0", "CALL_GENERIC 1", "UNPACK 0", "POP", "RET"]
    assert status(assemble(code, (RESOURCE,))) == "CONSTRAINT_NOT_SATISFIED"


def test_call_with_too_many_type_arguments_is_rejected(assemble, status):
    module = assemble(["MOVE_LOC 0", "CALL_GENERIC 2", "RET"], ("u64",), ("u64",))
    assert status(module) == "NUMBER_OF_TYPE_ARGUMENTS_MISMATCH"


def test_phantom_type_parameter_as_field_type_is_rejected(plain, status):
    handle = replace(
        plain.datatype_handles[2], type_parameters=(DatatypeTypeParameter(Ability.NONE, True),)
    )
    module = with_row(plain, "datatype_handles", handle, 2)
    assert status(module) == "INVALID_PHANTOM_TYPE_PARAM_POSITION"


@pytest.mark.parametrize("line", ["CALL 2", "PACK 2", "UNPACK 2", "IMM_BORROW_FIELD 2"])
def test_plain_instruction_on_generic_definition_is_rejected(assemble, status, line):
    assert status(assemble([line, "RET"])) == "GENERIC_MEMBER_OPCODE_MISMATCH"


def test_vector_pack_of_more_than_65535_values_is_rejected(assembler, status):
    pack = replace(
        assembler.instruction("VEC_PACK"),
        operand=VecOperand(assembler.signature("u64"), 0x1_0000),
    )
    assert status(assembler.module([pack, "POP", "RET"])) == "CONSTRAINT_NOT_SATISFIED"


@pytest.mark.parametrize(
    ("constant", "expected"),
    [
        (Constant("u64", bytes(8)), None),
        (Constant(VectorToken(VectorToken("u8")), b"\x02\x01a\x00"), None),
        (Constant("u64", bytes(7)), "MALFORMED_CONSTANT_DATA"),
        (Constant("u64", bytes(9)), "MALFORMED_CONSTANT_DATA"),
        (Constant("bool", b"\x02"), "MALFORMED_CONSTANT_DATA"),
        (Constant(VectorToken("u8"), b"\x03ab"), "MALFORMED_CONSTANT_DATA"),
        (Constant(VectorToken("u8"), b"\x80\x00"), "MALFORMED_CONSTANT_DATA"),
        (Constant("signer", bytes(32)), "INVALID_CONSTANT_TYPE"),
        (Constant(PAIR, bytes(16)), "INVALID_CONSTANT_TYPE"),
    ],
)
def test_constants_are_primitives_or_vectors_of_them(plain, status, constant, expected):
    assert status(replace(plain, constants=(constant,))) == expected


def test_module_as_its_own_friend_is_rejected(plain, status):
    module = replace(plain, friends=(ModuleHandle(0, 0),))
    assert status(module) == "INVALID_FRIEND_DECL_WITH_SELF"


def test_friend_at_other_address_is_rejected(plain, status):
    module = replace(plain, addresses=(*plain.addresses, bytes(32)), friends=(ModuleHandle(1, 1),))
    expected = "INVALID_FRIEND_DECL_WITH_MODULES_OUTSIDE_ACCOUNT_ADDRESS"
    assert status(module) == expected


def test_field_without_abilities_of_struct_is_rejected(plain, status):
    struct = StructDefinition(1, (FieldDefinition(8, RESOURCE), FieldDefinition(9, "u64")))
    module = with_row(plain, "struct_definitions", struct, 1)
    assert status(module) == "FIELD_MISSING_TYPE_ABILITY"


def test_object_field_without_store_is_rejected(plain, status):
    handle = replace(plain.datatype_handles[0], abilities=Ability.KEY)
    module = with_row(plain, "datatype_handles", handle, 0)
    struct = StructDefinition(0, (FieldDefinition(8, "signer"),))
    module = with_row(module, "struct_definitions", struct, 0)
    assert status(module) == "FIELD_MISSING_TYPE_ABILITY"


def test_recursive_struct_is_rejected(plain, status):
    fields = (FieldDefinition(8, VectorToken(PAIR)), FieldDefinition(9, "u64"))
    module = with_row(plain, "struct_definitions", StructDefinition(1, fields), 1)
    assert status(module) == "RECURSIVE_DATATYPE_DEFINITION"


def test_mutually_recursive_struct_and_enum_are_rejected(plain, status):
    shape = plain.enum_definitions[0]
    fields = (FieldDefinition(8, DatatypeToken(3)), FieldDefinition(9, "u64"))
    first, second = shape.variants
    first = replace(first, fields=(FieldDefinition(8, PAIR),))
    module = with_row(plain, "struct_definitions", StructDefinition(1, fields), 1)
    module = replace(module, enum_definitions=(EnumDefinition(3, (first, second)),))
    assert status(module) == "RECURSIVE_DATATYPE_DEFINITION"


def test_recursion_with_growing_types_is_rejected(assembler, status):
    first = TypeParameterToken(0)
    wrapped = assembler.signature(DatatypeToken(2, (first,)))
    module = assembler.module(["RET"])
    same = module.function_definitions[2]
    code = assembler.code(["CALL_GENERIC 3", "POP", "MOVE_LOC 0", "RET"])
    module = with_row(module, "function_instantiations", Instantiation(2, wrapped))
    module = with_row(module, "function_definitions", replace(same, code=code), 2)
    assert status(module) == "LOOP_IN_INSTANTIATION_GRAPH"


class TestDependencies:
    """A module `n` that calls `f` of the plain module and uses its Box."""

    @pytest.fixture
    def user(self, plain):
        module = replace(
            plain,
            module_handles=(ModuleHandle(0, 1), ModuleHandle(0, 0)),
            datatype_handles=(replace(plain.datatype_handles[2], module=1),),
            function_handles=tuple(replace(row, module=1) for row in plain.function_handles),
            function_instantiations=(),
            struct_definitions=(),
            struct_instantiations=(),
            function_definitions=(),
            field_handles=(),
            field_instantiations=(),
            enum_definitions=(),
            variant_handles=(),
        )
        signatures = [
            tuple("u64" if isinstance(token, DatatypeToken) else token for token in signature)
            for signature in plain.signatures
        ]
        return replace(module, signatures=tuple(dict.fromkeys(signatures)))

    @pytest.fixture
    def verdict(self, plain, status):
        return lambda user, owner=plain: status(user, {(owner.address, owner.name): owner})

    def test_declared_definitions_are_usable(self, user, verdict):
        assert verdict(user) is None

    def test_missing_module_is_rejected(self, user, status):
        assert status(user, {(b"", ""): None}) == "MISSING_DEPENDENCY"

    def test_undeclared_ability_is_rejected(self, user, verdict):
        handle = replace(user.datatype_handles[0], abilities=Ability.KEY)
        assert verdict(with_row(user, "datatype_handles", handle, 0)) == "TYPE_MISMATCH"

    def test_undeclared_phantom_is_rejected(self, user, verdict):
        parameter = DatatypeTypeParameter(Ability.NONE, True)
        handle = replace(user.datatype_handles[0], type_parameters=(parameter,))
        assert verdict(with_row(user, "datatype_handles", handle, 0)) == "TYPE_MISMATCH"

    def test_omitted_constraint_is_rejected(self, user, verdict):
        handle = replace(user.function_handles[2], type_parameters=(Ability.NONE,))
        assert verdict(with_row(user, "function_handles", handle, 2)) == "TYPE_MISMATCH"

    def test_other_signature_is_rejected(self, user, verdict):
        handle = replace(user.function_handles[1], returns=0)
        assert verdict(with_row(user, "function_handles", handle, 1)) == "TYPE_MISMATCH"

    def test_unknown_name_is_rejected(self, user, verdict):
        handle = replace(user.function_handles[1], name=9)
        assert verdict(with_row(user, "function_handles", handle, 1)) == "LOOKUP_FAILED"

    @pytest.mark.parametrize(
        ("visibility", "friends", "expected"),
        [
            (Visibility.PRIVATE, (), "LOOKUP_FAILED"),
            (Visibility.FRIEND, (), "LOOKUP_FAILED"),
            (Visibility.FRIEND, (ModuleHandle(0, 1),), None),
        ],
    )
    def test_function_visibility_is_enforced(
        self, plain, user, verdict, visibility, friends, expected
    ):
        function = replace(plain.function_definitions[0], visibility=visibility)
        owner = with_row(plain, "function_definitions", function, 0)
        assert verdict(user, replace(owner, friends=friends)) == expected
