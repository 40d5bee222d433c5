from nexus_tools.sui.bytecode import Opcode


def test_all_uses_of_global_storage_are_named(sketch):
    code = [
        (Opcode.MOVE_TO_DEPRECATED, 0),
        (Opcode.MUT_BORROW_GLOBAL_GENERIC_DEPRECATED, 3),
        Opcode.RET,
    ]
    sketch.function("keep", code)
    assert sketch.reason() == (
        "Access to Move global storage is not allowed. Found in function keep:"
        " [MoveTo(StructDefinitionIndex(0)),"
        " MutBorrowGlobalGeneric(StructDefInstantiationIndex(3))]"
    )
    assert sketch.refused().function == "keep"
