"""Mutations of code: instructions, their operands, locals and jump tables.

Each mutation takes a module and three numbers, which select a position and a replacement.
"""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from fuzzing.rows import with_row
from nexus_tools.sui.bytecode import (
    LITERAL_BYTES,
    OPERAND_KINDS,
    Code,
    CompiledModule,
    Instruction,
    Opcode,
    OperandKind,
    VecOperand,
)

_WITHOUT_OPERAND = tuple(opcode for opcode in Opcode if opcode not in OPERAND_KINDS)
_LOCALS = tuple(opcode for opcode, kind in OPERAND_KINDS.items() if kind is OperandKind.LOCAL)


def _in_code(
    module: CompiledModule, function: int, change: Callable[[Code], Code]
) -> CompiledModule:
    places = [
        i
        for i, function_definition in enumerate(module.function_definitions)
        if function_definition.code
    ]
    if not places:
        return module
    changed = with_row(
        module.function_definitions,
        places[function % len(places)],
        lambda row: replace(row, code=change(row.code)),
    )
    return replace(module, function_definitions=changed)


def _instructions(
    module: CompiledModule,
    function: int,
    change: Callable[[tuple[Instruction, ...]], Sequence[Instruction]],
) -> CompiledModule:
    return _in_code(
        module, function, lambda code: replace(code, instructions=tuple(change(code.instructions)))
    )


def _swap(module: CompiledModule, function: int, one: int, other: int) -> CompiledModule:
    def change(rows: tuple[Instruction, ...]) -> list[Instruction]:
        changed = list(rows)
        i, j = one % len(rows), (one + 1 + other % 4) % len(rows)
        changed[i], changed[j] = changed[j], changed[i]
        return changed

    return _instructions(module, function, change)


def _drop(module: CompiledModule, function: int, place: int, _: int) -> CompiledModule:
    """Replace an instruction by a no-op, so that branches stay valid."""
    return _instructions(
        module, function, lambda rows: with_row(rows, place, lambda _: Instruction(Opcode.NOP))
    )


def _copy(module: CompiledModule, function: int, place: int, source: int) -> CompiledModule:
    """Replace an instruction by another instruction of the function."""
    return _instructions(
        module,
        function,
        lambda rows: with_row(rows, place, lambda _: rows[source % len(rows)]),
    )


def _insert(module: CompiledModule, function: int, place: int, source: int) -> CompiledModule:
    def change(rows: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
        at = place % len(rows)
        return (*rows[:at], rows[source % len(rows)], *rows[at:])

    return _instructions(module, function, change)


def _other_operation(module: CompiledModule, function: int, place: int, to: int) -> CompiledModule:
    def change(row: Instruction) -> Instruction:
        if row.opcode in _LOCALS:
            return Instruction(_LOCALS[to % len(_LOCALS)], row.operand)
        if row.operand is None:
            return Instruction(_WITHOUT_OPERAND[to % len(_WITHOUT_OPERAND)])
        return row

    return _instructions(module, function, lambda rows: with_row(rows, place, change))


def _operand(module: CompiledModule, function: int, place: int, to: int) -> CompiledModule:
    """Replace an operand, most often by another valid operand."""

    def change(row: Instruction, count: int) -> Instruction:
        if isinstance(row.operand, VecOperand):
            other = VecOperand((row.operand.type + to) % len(module.signatures), to % 4)
            return Instruction(row.opcode, other)
        assert row.operand is not None
        kind = OPERAND_KINDS[row.opcode]
        if kind is OperandKind.LITERAL:
            bits = 8 * LITERAL_BYTES[row.opcode]
            return Instruction(row.opcode, (row.operand ^ (1 << to)) % (1 << bits))
        # An operand that is not a table index is a local, a jump table or a position in the code.
        table = module.signatures if kind is OperandKind.ELEMENT else getattr(module, kind, ())
        nearby = max(0, row.operand + to % 9 - 4)
        return Instruction(row.opcode, nearby % (len(table) or count))

    def change_one(rows: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
        with_operand = [i for i, row in enumerate(rows) if row.operand is not None]
        if not with_operand:
            return rows
        at = with_operand[place % len(with_operand)]
        return with_row(rows, at, lambda row: change(row, len(rows)))

    return _instructions(module, function, change_one)


def _locals(module: CompiledModule, function: int, to: int, _: int) -> CompiledModule:
    return _in_code(
        module, function, lambda code: replace(code, locals=to % len(module.signatures))
    )


def _jump_table(module: CompiledModule, function: int, place: int, to: int) -> CompiledModule:
    def change(code: Code) -> Code:
        if not code.jump_tables:
            return code
        tables = with_row(
            code.jump_tables,
            place,
            lambda row: replace(
                row,
                offsets=with_row(row.offsets, to, lambda at: (at + to) % len(code.instructions)),
            ),
        )
        return replace(code, jump_tables=tables)

    return _in_code(module, function, change)


# The mutations of one instruction. These mutations are chosen more often, because most rules of the
# verifier concern instructions.
INSTRUCTION_MUTATIONS = (_swap, _drop, _copy, _insert, _other_operation, _operand)
CODE_MUTATIONS = (*INSTRUCTION_MUTATIONS, *INSTRUCTION_MUTATIONS, _locals, _jump_table)
