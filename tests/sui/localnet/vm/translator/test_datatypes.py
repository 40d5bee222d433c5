import pytest

from nexus_tools.sui.localnet.vm import ErrorKind, InvalidCode, PrimitiveError, Variant, borrow


def test_fields_are_packed_and_unpacked_in_order(assembler, call):
    struct = assembler.struct("S", ["u8", "u64", "bool"])
    code = [
        ("LD_U8", 1),
        ("LD_U64", 2),
        "LD_TRUE",
        ("PACK", struct.definition),
        ("UNPACK", struct.definition),
        "RET",
    ]
    assembler.function("f", (), ("u8", "u64", "bool"), code)
    assert call(assembler, "f") == [1, 2, True]


def test_struct_is_a_list_of_its_fields(assembler, call):
    inner = assembler.struct("Inner", ["u64"])
    outer = assembler.struct("Outer", [("data", inner.handle), ("vector", "u8")])
    code = [
        ("LD_U64", 5),
        ("PACK", inner.definition),
        ("VEC_PACK", "u8", 0),
        ("PACK", outer.definition),
        "RET",
    ]
    assembler.function("f", (), (("data", outer.handle),), code)
    assert call(assembler, "f") == [[[5], bytearray()]]


def test_generic_struct_fields_have_its_type_arguments(assembler, call):
    box = assembler.struct("Box", [("T", 0), ("vector", ("T", 1))], phantoms=(0, 0))
    instance = assembler.instance(11, box.definition, "u64", "u8")
    field = assembler.instance(14, assembler.field(box, 1), "u64", "u8")
    code = [
        ("LD_U64", 3),
        ("VEC_PACK", "u8", 0),
        ("PACK_GENERIC", instance),
        ("ST_LOC", 0),
        ("MUT_BORROW_LOC", 0),
        ("MUT_BORROW_FIELD_GENERIC", field),
        ("LD_U8", 9),
        ("VEC_PUSH_BACK", "u8"),
        ("MOVE_LOC", 0),
        ("UNPACK_GENERIC", instance),
        "RET",
    ]
    boxed = ("data", box.handle, "u64", "u8")
    assembler.function("f", (), ("u64", ("vector", "u8")), code, local_types=(boxed,))
    assert call(assembler, "f") == [3, bytearray(b"\x09")]


@pytest.fixture
def shape(assembler):
    enum = assembler.enum("Shape", [[], ["u64"], ["u64", "u64"]])
    enum.type = ("data", enum.handle)
    enum.variants = [assembler.variant(enum, tag) for tag in range(3)]
    return enum


def test_variant_has_tag_and_fields(assembler, call, shape):
    code = [("LD_U64", 3), ("LD_U64", 4), ("PACK_VARIANT", shape.variants[2]), "RET"]
    assembler.function("f", (), (shape.type,), code)
    assert call(assembler, "f") == [Variant(2, [3, 4])]


def test_variant_is_unpacked_into_its_fields(assembler, call, shape):
    code = [("MOVE_LOC", 0), ("UNPACK_VARIANT", shape.variants[2]), "RET"]
    assembler.function("f", (shape.type,), ("u64", "u64"), code)
    assert call(assembler, "f", Variant(2, [3, 4])) == [3, 4]


@pytest.mark.parametrize(
    ("name", "is_reference"),
    [
        ("UNPACK_VARIANT", False),
        ("UNPACK_VARIANT_IMM_REF", True),
        ("UNPACK_VARIANT_MUT_REF", True),
    ],
)
def test_unpacking_another_variant_is_an_error(assembler, call, shape, name, is_reference):
    code = [("MOVE_LOC", 0), (name, shape.variants[1]), "POP", "RET"]
    type_ = ("&mut", shape.type) if is_reference else shape.type
    assembler.function("f", (type_,), (), code)
    value = Variant(2, [3, 4])
    with pytest.raises(PrimitiveError) as caught:
        call(assembler, "f", borrow(value) if is_reference else value)
    assert caught.value.kind == ErrorKind.VARIANT_TAG_MISMATCH
    assert caught.value.location.instruction == 1


def test_variant_fields_are_written_through_references(assembler, call, shape):
    code = [
        ("COPY_LOC", 0),
        ("UNPACK_VARIANT_MUT_REF", shape.variants[2]),
        ("ST_LOC", 1),
        "POP",
        ("LD_U64", 9),
        ("MOVE_LOC", 1),
        "WRITE_REF",
        "RET",
    ]
    assembler.function("f", (("&mut", shape.type),), (), code, local_types=(("&mut", "u64"),))
    value = Variant(2, [3, 4])
    call(assembler, "f", borrow(value))
    assert value == Variant(2, [3, 9])


def test_variant_is_replaced_through_a_reference(assembler, call, shape):
    code = [("PACK_VARIANT", shape.variants[0]), ("COPY_LOC", 0), "WRITE_REF", "RET"]
    assembler.function("f", (("&mut", shape.type),), (), code)
    reference = borrow(Variant(2, [3, 4]))
    call(assembler, "f", reference)
    assert reference.read() == Variant(0, [])


def test_generic_enum_variants_have_its_type_arguments(assembler, call):
    enum = assembler.enum("Maybe", [[], [("T", 0)]], phantoms=(0,))
    instance = assembler.instance(18, enum.definition, "u8")
    some = assembler.variant_instance(instance, 1)
    maybe = ("data", enum.handle, "u8")
    code = [
        ("LD_U8", 4),
        ("PACK_VARIANT_GENERIC", some),
        ("ST_LOC", 0),
        ("MUT_BORROW_LOC", 0),
        ("UNPACK_VARIANT_GENERIC_MUT_REF", some),
        ("ST_LOC", 1),
        ("LD_U8", 5),
        ("MOVE_LOC", 1),
        "WRITE_REF",
        ("IMM_BORROW_LOC", 0),
        ("UNPACK_VARIANT_GENERIC_IMM_REF", some),
        "READ_REF",
        ("MOVE_LOC", 0),
        ("UNPACK_VARIANT_GENERIC", some),
        "RET",
    ]
    assembler.function("f", (), ("u8", "u8"), code, local_types=(maybe, ("&mut", "u8")))
    assert call(assembler, "f") == [5, 5]


@pytest.mark.parametrize(("tag", "expected"), [(0, 10), (1, 11), (2, 10)])
def test_switch_follows_the_jump_table(assembler, call, shape, tag, expected):
    code = [("COPY_LOC", 0), ("VARIANT_SWITCH", 0), ("LD_U64", 10), "RET", ("LD_U64", 11), "RET"]
    tables = [(shape, [2, 4, 2])]
    assembler.function("f", (("&", shape.type),), ("u64",), code, jump_tables=tables)
    fields = [[], [1], [1, 2]][tag]
    assert call(assembler, "f", borrow(Variant(tag, fields))) == [expected]


def test_switch_supports_127_variants(assembler, call):
    enum = assembler.enum("Many", [[]] * 127)
    code = [("COPY_LOC", 0), ("VARIANT_SWITCH", 0)]
    for tag in range(127):
        code += [("LD_U64", tag), "RET"]
    tables = [(enum, [2 + 2 * tag for tag in range(127)])]
    type_ = ("&", ("data", enum.handle))
    assembler.function("f", (type_,), ("u64",), code, jump_tables=tables)
    assert [call(assembler, "f", borrow(Variant(tag, [])))[0] for tag in (0, 63, 126)] == [
        0,
        63,
        126,
    ]


def test_switch_on_another_enum_is_rejected(assembler, call, shape):
    other = assembler.enum("Other", [[], []])
    code = [("COPY_LOC", 0), ("VARIANT_SWITCH", 0), "RET"]
    assembler.function("f", (("&", shape.type),), (), code, jump_tables=[(other, [2, 2])])
    with pytest.raises(InvalidCode, match=r"expected a reference to .*::Other"):
        call(assembler, "f", borrow(Variant(0, [])))
