import pytest

from nexus_tools.sui.localnet.vm import ErrorKind, PrimitiveError, borrow

NUMBERS = ("vector", "u64")
BYTES = ("vector", "u8")


def failure(error):
    return error.value.kind, error.value.sub_status, error.value.location.instruction


def test_bytes_are_packed_into_bytearray(run):
    code = [("LD_U8", 1), ("LD_U8", 255), ("VEC_PACK", "u8", 2), "RET"]
    (vector,) = run(code, (), (BYTES,))
    assert vector == bytearray(b"\x01\xff")
    assert type(vector) is bytearray


def test_empty_byte_vector_is_bytearray_and_others_are_lists(run):
    code = [("VEC_PACK", "u8", 0), ("VEC_PACK", "u64", 0), "RET"]
    assert list(map(type, run(code, (), (BYTES, NUMBERS)))) == [bytearray, list]


@pytest.mark.parametrize(("type_", "kind"), [("u8", bytearray), ("u16", list)])
def test_generic_function_makes_vectors_of_its_type_argument(assembler, call, type_, kind):
    parameter = ("T", 0)
    code = [("MOVE_LOC", 0), ("VEC_PACK", parameter, 1), "RET"]
    one = assembler.function("one", (parameter,), (("vector", parameter),), code, (0,))
    code = [("LD_" + type_.upper(), 7), ("CALL_GENERIC", assembler.instance(4, one, type_)), "RET"]
    assembler.function("f", (), (("vector", type_),), code)
    (vector,) = call(assembler, "f")
    assert list(vector) == [7]
    assert type(vector) is kind


def test_elements_are_unpacked_in_order(run):
    code = [("MOVE_LOC", 0), ("VEC_UNPACK", "u64", 3), "RET"]
    assert run(code, (NUMBERS,), ("u64", "u64", "u64"), [1, 2, 3]) == [1, 2, 3]


def test_single_unpacked_element_can_be_stored(run):
    code = [("MOVE_LOC", 0), ("VEC_UNPACK", "u64", 1), ("ST_LOC", 1), ("MOVE_LOC", 1), "RET"]
    assert run(code, (NUMBERS,), ("u64",), [8], local_types=("u64",)) == [8]


@pytest.mark.parametrize("vector", [[], [1], [1, 2, 3]])
def test_unpack_of_vector_with_other_length_is_an_error(run, vector):
    code = [("MOVE_LOC", 0), ("VEC_UNPACK", "u64", 2), "RET"]
    with pytest.raises(PrimitiveError) as caught:
        run(code, (NUMBERS,), ("u64", "u64"), vector)
    assert failure(caught) == (ErrorKind.VECTOR_OPERATION_ERROR, 3, 1)


def test_length_is_read_before_later_push(run):
    code = [
        ("COPY_LOC", 0),
        ("VEC_LEN", "u64"),
        ("COPY_LOC", 0),
        ("LD_U64", 5),
        ("VEC_PUSH_BACK", "u64"),
        "RET",
    ]
    assert run(code, (("&mut", NUMBERS),), ("u64",), borrow([1, 2])) == [2]


def test_element_read_before_write_keeps_value(run):
    element = [("COPY_LOC", 0), ("LD_U64", 0), ("VEC_MUT_BORROW", "u64")]
    code = [*element, "READ_REF", ("LD_U64", 9), *element, "WRITE_REF", "RET"]
    assert run(code, (("&mut", NUMBERS),), ("u64",), borrow([4])) == [4]


@pytest.mark.parametrize("name", ["VEC_IMM_BORROW", "VEC_MUT_BORROW"])
@pytest.mark.parametrize("index", [2, 2**64 - 1])
def test_borrow_past_the_end_is_an_error(run, name, index):
    code = [("COPY_LOC", 0), ("COPY_LOC", 1), (name, "u64"), "READ_REF", "RET"]
    with pytest.raises(PrimitiveError) as caught:
        run(code, (("&mut", NUMBERS), "u64"), ("u64",), borrow([1, 2]), index)
    assert failure(caught) == (ErrorKind.VECTOR_OPERATION_ERROR, 1, 2)


def test_pop_returns_last_element(run):
    code = [("COPY_LOC", 0), ("VEC_POP_BACK", "u8"), "RET"]
    data = bytearray(b"ab")
    assert run(code, (("&mut", BYTES),), ("u8",), borrow(data)) == [ord("b")]
    assert data == b"a"


def test_pop_from_empty_vector_is_an_error(run):
    code = [("COPY_LOC", 0), ("VEC_POP_BACK", "u64"), "RET"]
    with pytest.raises(PrimitiveError) as caught:
        run(code, (("&mut", NUMBERS),), ("u64",), borrow([]))
    assert failure(caught) == (ErrorKind.VECTOR_OPERATION_ERROR, 2, 1)


def test_swap_exchanges_two_elements(run):
    code = [("COPY_LOC", 0), ("LD_U64", 0), ("LD_U64", 2), ("VEC_SWAP", "u64"), "RET"]
    vector = [1, 2, 3]
    run(code, (("&mut", NUMBERS),), (), borrow(vector))
    assert vector == [3, 2, 1]


@pytest.mark.parametrize(("first", "second"), [(0, 2), (2, 0)])
def test_swap_past_the_end_is_an_error(run, first, second):
    code = [("COPY_LOC", 0), ("LD_U64", first), ("LD_U64", second), ("VEC_SWAP", "u64"), "RET"]
    with pytest.raises(PrimitiveError) as caught:
        run(code, (("&mut", NUMBERS),), (), borrow([1, 2]))
    assert failure(caught) == (ErrorKind.VECTOR_OPERATION_ERROR, 1, 3)


def test_stack_overflow_is_an_error(run):
    code = [*[("LD_U64", 1)] * 1025, ("VEC_PACK", "u64", 1025), "RET"]
    with pytest.raises(PrimitiveError) as caught:
        run(code, (), (NUMBERS,))
    assert failure(caught) == (ErrorKind.EXECUTION_STACK_OVERFLOW, None, 1024)


def test_full_stack_of_operands_can_be_packed(run):
    code = [*[("LD_U64", 1)] * 1024, ("VEC_PACK", "u64", 1024), "RET"]
    assert run(code, (), (NUMBERS,)) == [[1] * 1024]
