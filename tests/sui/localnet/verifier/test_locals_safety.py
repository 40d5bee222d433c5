import pytest

from nexus_tools.sui.bytecode import DatatypeToken

RESOURCE = DatatypeToken(0)


@pytest.mark.parametrize(
    ("opcode", "expected"),
    [
        ("MOVE_LOC", "MOVELOC_UNAVAILABLE_ERROR"),
        ("COPY_LOC", "COPYLOC_UNAVAILABLE_ERROR"),
        ("IMM_BORROW_LOC", "BORROWLOC_UNAVAILABLE_ERROR"),
        ("MUT_BORROW_LOC", "BORROWLOC_UNAVAILABLE_ERROR"),
    ],
)
def test_read_before_assignment_is_rejected(assemble, status, opcode, expected):
    assert status(assemble([f"{opcode} 0", "POP", "RET"], local_types=("u64",))) == expected


def test_read_after_move_is_rejected(assemble, status):
    code = ["MOVE_LOC 0", "POP", "COPY_LOC 0", "POP", "RET"]
    assert status(assemble(code, ("u64",))) == "COPYLOC_UNAVAILABLE_ERROR"


def test_read_of_local_assigned_on_one_path_is_rejected(assemble, status):
    code = ["MOVE_LOC 0", "BR_FALSE 4", "LD_U64 1", "ST_LOC 1", "MOVE_LOC 1", "POP", "RET"]
    module = assemble(code, ("bool",), local_types=("u64",))
    assert status(module) == "MOVELOC_UNAVAILABLE_ERROR"


def test_second_move_in_loop_is_rejected(assemble, status):
    code = ["MOVE_LOC 0", "POP", "LD_TRUE", "BR_TRUE 0", "RET"]
    assert status(assemble(code, ("u64",))) == "MOVELOC_UNAVAILABLE_ERROR"


def test_resource_left_in_local_is_rejected(assemble, status):
    module = assemble(["RET"], (RESOURCE,))
    assert status(module) == "UNSAFE_RET_UNUSED_VALUES_WITHOUT_DROP"


def test_abort_may_leave_resource_in_local(assemble, status):
    assert status(assemble(["LD_U64 1", "ABORT"], (RESOURCE,))) is None


def test_overwritten_resource_is_rejected(assemble, status):
    code = ["MOVE_LOC 1", "ST_LOC 0", "LD_U64 1", "ABORT"]
    assert status(assemble(code, (RESOURCE, RESOURCE))) == "STLOC_UNSAFE_TO_DESTROY_ERROR"
