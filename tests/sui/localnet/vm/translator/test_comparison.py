import pytest

from nexus_tools.sui.localnet.vm import InvalidCode, Variant


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("LT", [True, False, False]),
        ("LE", [True, True, False]),
        ("GT", [False, False, True]),
        ("GE", [False, True, True]),
        ("EQ", [False, True, False]),
        ("NEQ", [True, False, True]),
    ],
)
def test_numbers_are_compared(assembler, call, name, expected):
    code = [("COPY_LOC", 0), ("COPY_LOC", 1), name, "RET"]
    assembler.function("f", ("u64", "u64"), ("bool",), code)
    assert [call(assembler, "f", left, 5)[0] for left in (4, 5, 6)] == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("AND", [False, False, False, True]), ("OR", [False, True, True, True])],
)
def test_booleans_are_combined(assembler, call, name, expected):
    code = [("COPY_LOC", 0), ("COPY_LOC", 1), name, "RET"]
    assembler.function("f", ("bool", "bool"), ("bool",), code)
    pairs = [(False, False), (False, True), (True, False), (True, True)]
    assert [call(assembler, "f", *pair)[0] for pair in pairs] == expected


def test_not_negates(run):
    assert run(["LD_TRUE", "NOT", "LD_FALSE", "NOT", "RET"], (), ("bool", "bool")) == [False, True]


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        (("vector", "u8"), (bytearray(b"ab"), bytearray(b"ab"), bytearray(b"b"))),
        (("vector", ("vector", "u64")), ([[1], []], [[1], []], [[1], [0]])),
        ("address", (bytes(32), bytes(32), b"\1" * 32)),
    ],
)
def test_values_are_equal_when_all_parts_are(assembler, call, type_, values):
    value, same, other = values
    code = [("COPY_LOC", 0), ("COPY_LOC", 1), "EQ", "RET"]
    assembler.function("f", (type_, type_), ("bool",), code)
    assert call(assembler, "f", value, same) == [True]
    assert call(assembler, "f", value, other) == [False]


def test_variants_are_equal_when_tag_and_fields_are(assembler, call):
    enum = assembler.enum("E", [["u64"], ["u64"]])
    type_ = ("data", enum.handle)
    code = [("COPY_LOC", 0), ("COPY_LOC", 1), "NEQ", "RET"]
    assembler.function("f", (type_, type_), ("bool",), code)
    assert call(assembler, "f", Variant(0, [7]), Variant(0, [7])) == [False]
    assert call(assembler, "f", Variant(0, [7]), Variant(1, [7])) == [True]
    assert call(assembler, "f", Variant(0, [7]), Variant(0, [8])) == [True]


def test_references_are_compared_by_target(run):
    code = [("IMM_BORROW_LOC", 0), ("IMM_BORROW_LOC", 1), "EQ", "RET"]
    vector = ("vector", "u64")
    assert run(code, (vector, vector), ("bool",), [1, 2], [1, 2]) == [True]


def test_number_and_boolean_are_not_comparable(run):
    with pytest.raises(InvalidCode, match="bool"):
        run([("COPY_LOC", 0), "LD_TRUE", "EQ", "RET"], ("u64",), ("bool",), 1)
