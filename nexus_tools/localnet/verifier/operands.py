"""What the operand of each instruction refers to."""

from nexus_tools.localnet.bytecode.opcode import Opcode

BRANCHES = frozenset({Opcode.BR_TRUE, Opcode.BR_FALSE, Opcode.BRANCH})
ENDS = frozenset({Opcode.RET, Opcode.ABORT, Opcode.BRANCH, Opcode.VARIANT_SWITCH})
"""What control flow does not fall through."""

_FAMILIES: dict[str, tuple[str, ...]] = {
    "branch": ("BR_TRUE", "BR_FALSE", "BRANCH"),
    "local": ("COPY_LOC", "MOVE_LOC", "ST_LOC", "MUT_BORROW_LOC", "IMM_BORROW_LOC"),
    "literal": ("LD_U8", "LD_U16", "LD_U32", "LD_U64", "LD_U128", "LD_U256"),
    "constants": ("LD_CONST",),
    "field_handles": ("MUT_BORROW_FIELD", "IMM_BORROW_FIELD"),
    "field_instantiations": ("MUT_BORROW_FIELD_GENERIC", "IMM_BORROW_FIELD_GENERIC"),
    "function_handles": ("CALL",),
    "function_instantiations": ("CALL_GENERIC",),
    "struct_definitions": (
        "PACK",
        "UNPACK",
        "EXISTS_DEPRECATED",
        "MUT_BORROW_GLOBAL_DEPRECATED",
        "IMM_BORROW_GLOBAL_DEPRECATED",
        "MOVE_FROM_DEPRECATED",
        "MOVE_TO_DEPRECATED",
    ),
    "struct_instantiations": (
        "PACK_GENERIC",
        "UNPACK_GENERIC",
        "EXISTS_GENERIC_DEPRECATED",
        "MUT_BORROW_GLOBAL_GENERIC_DEPRECATED",
        "IMM_BORROW_GLOBAL_GENERIC_DEPRECATED",
        "MOVE_FROM_GENERIC_DEPRECATED",
        "MOVE_TO_GENERIC_DEPRECATED",
    ),
    "element": (
        "VEC_LEN",
        "VEC_IMM_BORROW",
        "VEC_MUT_BORROW",
        "VEC_PUSH_BACK",
        "VEC_POP_BACK",
        "VEC_SWAP",
    ),
    "elements": ("VEC_PACK", "VEC_UNPACK"),
    "variant_handles": (
        "PACK_VARIANT",
        "UNPACK_VARIANT",
        "UNPACK_VARIANT_IMM_REF",
        "UNPACK_VARIANT_MUT_REF",
    ),
    "variant_instantiations": (
        "PACK_VARIANT_GENERIC",
        "UNPACK_VARIANT_GENERIC",
        "UNPACK_VARIANT_GENERIC_IMM_REF",
        "UNPACK_VARIANT_GENERIC_MUT_REF",
    ),
    "jump_table": ("VARIANT_SWITCH",),
}
FAMILY: dict[Opcode, str] = {
    Opcode[name]: family for family, names in _FAMILIES.items() for name in names
}
"""For each opcode with an operand: the table of the module that it indexes, or what else it is."""
