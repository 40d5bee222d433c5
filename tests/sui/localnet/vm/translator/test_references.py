import pytest

from nexus_tools.sui.localnet.vm import InvalidCode, borrow

POINTS = ("vector", "u64")


@pytest.fixture
def point(assembler):
    """Return a struct with two numbers, as a type and with the handles of its fields."""
    struct = assembler.struct("Point", ["u64", "u64"])
    struct.type = ("data", struct.handle)
    struct.x, struct.y = assembler.field(struct, 0), assembler.field(struct, 1)
    return struct


def test_write_through_field_reference_changes_struct(assembler, call, point):
    code = [
        ("LD_U64", 9),
        ("MUT_BORROW_LOC", 0),
        ("MUT_BORROW_FIELD", point.y),
        "WRITE_REF",
        ("MOVE_LOC", 0),
        "RET",
    ]
    assembler.function("f", (point.type,), (point.type,), code)
    assert call(assembler, "f", [1, 2]) == [[1, 9]]


def test_write_of_whole_struct_replaces_it_in_place(assembler, call, point):
    points = ("vector", point.type)
    code = [
        ("LD_U64", 5),
        ("LD_U64", 6),
        ("PACK", point.definition),
        ("COPY_LOC", 0),
        ("LD_U64", 1),
        ("VEC_MUT_BORROW", point.type),
        "WRITE_REF",
        "RET",
    ]
    assembler.function("f", (("&mut", points),), (), code)
    vector = [[1, 2], [3, 4]]
    call(assembler, "f", borrow(vector))
    assert vector == [[1, 2], [5, 6]]


def test_byte_reference_in_vector_reads_and_writes(run):
    code = [
        ("COPY_LOC", 0),
        ("LD_U64", 1),
        ("VEC_MUT_BORROW", "u8"),
        ("ST_LOC", 1),
        ("COPY_LOC", 1),
        "READ_REF",
        ("LD_U8", 200),
        ("MOVE_LOC", 1),
        "WRITE_REF",
        "RET",
    ]
    data = bytearray(b"abc")
    parameters = (("&mut", ("vector", "u8")),)
    assert run(code, parameters, ("u8",), borrow(data), local_types=(("&mut", "u8"),)) == [ord("b")]
    assert data == b"a\xc8c"


def test_read_through_reference_copies(assembler, call):
    code = [("COPY_LOC", 0), "READ_REF", ("MOVE_LOC", 0), "READ_REF", "RET"]
    assembler.function("f", (("&", POINTS),), (POINTS, POINTS), code)
    original = [1, 2]
    one, other = call(assembler, "f", borrow(original))
    assert one == other == original
    assert one is not original
    assert one is not other


def test_returned_reference_points_to_original(assembler, call, point):
    code = [("MOVE_LOC", 0), ("MUT_BORROW_FIELD", point.x), "RET"]
    assembler.function("x_of", (("&mut", point.type),), (("&mut", "u64"),), code)
    struct = [1, 2]
    (reference,) = call(assembler, "x_of", borrow(struct))
    reference.write(7)
    assert struct == [7, 2]


def test_references_pass_through_calls_among_other_results(assembler, call, point):
    reference, number = ("&mut", "u64"), "u64"
    parts = assembler.handle("parts", (("&mut", point.type),), (number, reference, reference))
    code = [("LD_U64", 4), ("COPY_LOC", 0), ("MUT_BORROW_FIELD", point.x)]
    code += [("MOVE_LOC", 0), ("MUT_BORROW_FIELD", point.y), "RET"]
    assembler.define(parts, code)
    code = [
        ("MUT_BORROW_LOC", 0),
        ("CALL", parts),
        ("ST_LOC", 2),
        ("ST_LOC", 1),
        ("COPY_LOC", 1),
        "READ_REF",
        "ADD",
        ("MOVE_LOC", 2),
        "WRITE_REF",
        ("MOVE_LOC", 0),
        "RET",
    ]
    assembler.function("f", (point.type,), (point.type,), code, local_types=(reference, reference))
    assert call(assembler, "f", [10, 20]) == [[10, 14]]


def test_frozen_reference_sees_later_writes(run):
    reference = ("&mut", "u64")
    code = [("COPY_LOC", 0), "FREEZE_REF", "READ_REF", "RET"]
    assert run(code, (reference,), ("u64",), borrow(3)) == [3]


def test_reference_in_local_can_change_its_target(run):
    code = [
        ("MUT_BORROW_LOC", 0),
        ("ST_LOC", 2),
        ("LD_U64", 10),
        ("MOVE_LOC", 2),
        "WRITE_REF",
        ("MUT_BORROW_LOC", 1),
        ("ST_LOC", 2),
        ("LD_U64", 20),
        ("MOVE_LOC", 2),
        "WRITE_REF",
        ("COPY_LOC", 0),
        ("COPY_LOC", 1),
        "RET",
    ]
    outcome = run(code, ("u64", "u64"), ("u64", "u64"), 1, 2, local_types=(("&mut", "u64"),))
    assert outcome == [10, 20]


def test_local_is_independent_of_value_moved_out_of_it(run):
    """The same local is borrowed, moved into a vector and filled again, twice."""
    numbers = ("vector", "u64")
    again = [
        ("VEC_PACK", "u64", 0),
        ("ST_LOC", 1),
        ("MUT_BORROW_LOC", 1),
        ("ST_LOC", 2),
        ("COPY_LOC", 2),
        ("LD_U64", 1),
        ("VEC_PUSH_BACK", "u64"),
        ("MOVE_LOC", 2),
        "POP",
        ("MUT_BORROW_LOC", 0),
        ("MOVE_LOC", 1),
        ("VEC_PUSH_BACK", numbers),
    ]
    code = [*again, *again, ("MOVE_LOC", 0), "RET"]
    kept = ("vector", numbers)
    assert run(code, (kept,), (kept,), [], local_types=(numbers, ("&mut", numbers))) == [[[1], [1]]]


def test_write_through_immutable_reference_is_rejected(run):
    with pytest.raises(InvalidCode, match="expected a mutable reference"):
        run([("LD_U64", 1), ("COPY_LOC", 0), "WRITE_REF", "RET"], (("&", "u64"),), (), borrow(1))


def test_borrow_of_field_of_other_struct_is_rejected(assembler, call, point):
    other = assembler.struct("Other", ["u64", "u64"])
    code = [("IMM_BORROW_LOC", 0), ("IMM_BORROW_FIELD", point.x), "READ_REF", "RET"]
    assembler.function("f", (("data", other.handle),), ("u64",), code)
    with pytest.raises(InvalidCode, match=r"expected a reference to .*::Point"):
        call(assembler, "f", [1, 2])
