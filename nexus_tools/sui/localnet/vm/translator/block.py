"""The translation of one basic block.

Move's operand stack is empty where a block begins and ends, so that within a block every entry is
known as an expression, and nothing of the stack is left at run time. References are two Python
variables, a container and a key, and are no objects.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.sui.bytecode import Instruction, Opcode
from nexus_tools.sui.localnet.vm.definitions import ReferenceType, Type
from nexus_tools.sui.localnet.vm.errors import InvalidCode
from nexus_tools.sui.localnet.vm.metering import LARGE, OPERAND_STACK_MAX, Work
from nexus_tools.sui.localnet.vm.translator.frame import Frame, packed_size
from nexus_tools.sui.localnet.vm.translator.statement import BlockBody, Exit, Line, Statement

STACK_OVERFLOW = "raise stack_overflow(function, {offset})"

# Expressions inside each other. With two operands each, 8 levels are 256 names in a line; without a
# limit a long block could become one line, and Python reads 200 parentheses inside each other at
# most.
_EXPRESSION_DEPTH_MAX = 8


_NOTHING: frozenset[int] = frozenset()


class Origin(NamedTuple):
    """An instruction that a statement is of; only who reads the source sees it written.

    `meaning` says what a number in the statement is.
    """

    offset: int
    opcode: Opcode
    meaning: str | None

    def __str__(self) -> str:
        said = "" if self.meaning is None else f": {self.meaning}"
        return f"{self.offset} {self.opcode.name}{said}"


class Operand(Struct, frozen=True):
    """An expression that is evaluated later than its instruction.

    `text` is the value or, of a reference, the container with `key`. A reference to a local that no
    reference outlives is the local itself, and has no key. `locals` are the locals that the text
    mentions, and `reads_memory` says whether it looks into a container: before either changes, the
    expression is evaluated (see `BlockTranslator.settle`). Evaluation never fails.
    """

    type: Type
    text: str
    key: str | None = None
    locals: frozenset[int] = _NOTHING
    reads_memory: bool = False
    depth: int = 0

    @property
    def target(self) -> str:
        """What a reference refers to, as an expression that can also be assigned to."""
        return self.text if self.key is None else f"{self.text}[{self.key}]"

    @property
    def is_simple(self) -> bool:
        """Whether the text is a name or a literal."""
        return self.text.isidentifier() or self.text.isdecimal()

    @property
    def parts(self) -> list[str]:
        """The expressions that are handed on: one for a value, two for a reference."""
        if self.key is None:
            assert not isinstance(self.type, ReferenceType)
            return [self.text]
        return [self.text, self.key]

    def typed(self, type_: Type) -> "Operand":
        """The same expression with another type."""
        return replace(self, type=type_)


def compose(type_: Type, text: str, *parts: Operand) -> Operand:
    """An expression of these operands, which is evaluated later."""
    return Operand(
        type_,
        text,
        locals=frozenset[int]().union(*[part.locals for part in parts]),
        reads_memory=any(part.reads_memory for part in parts),
        depth=1 + max(part.depth for part in parts),
    )


class BlockTranslator:
    """The operand stack and the lines so far; instructions are functions on it.

    `offset` is that of the current instruction, for the locations of errors, and `opcode` what it
    is; `following` is the instruction after it.
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.offset = 0
        self.opcode = Opcode.NOP
        self.following: Instruction | None = None
        self.instructions = 0
        self.pushes = 0
        self.bytes = 0
        self.condition: str | None = None
        self.tag: str | None = None
        self.is_closed = False
        self._stack: list[Operand] = []
        self._lines: list[Statement] = []
        self._temporaries = 0
        self._commented: int | None = None

    def finish(self) -> BlockBody:
        """The translated block. Raises `InvalidCode` if operands are left over."""
        if self._stack and not self.is_closed:
            raise self.invalid("operands are left at the end of a block")
        work = Work(self.instructions, self.pushes, self.bytes)
        return BlockBody(work, self._lines, self.condition, self.tag)

    # Errors

    def invalid(self, message: str) -> InvalidCode:
        """The error to raise for the current instruction."""
        function = self.frame.function
        return InvalidCode(f"{message}, in {function.module.name}::{function.name}@{self.offset}")

    def expect(self, operand: Operand, type_: Type) -> Operand:
        """The operand, if it has the type. Raises `InvalidCode`."""
        if operand.type != type_:
            raise self.invalid(f"{type_} is expected, not {operand.type}")
        return operand

    # The operand stack

    def push(self, operand: Operand) -> None:
        """Put an operand on the stack; one that has become too long is evaluated now."""
        if operand.depth > _EXPRESSION_DEPTH_MAX:
            operand = self._evaluate(operand)
        self._stack.append(operand)
        if len(self._stack) > OPERAND_STACK_MAX:
            self.close(STACK_OVERFLOW)

    @property
    def has_operands(self) -> bool:
        """Whether the stack is not empty."""
        return bool(self._stack)

    def pop(self) -> Operand:
        """Take the last operand. Raises `InvalidCode` if there is none."""
        if not self._stack:
            raise self.invalid("an operand is missing")
        return self._stack.pop()

    def pop_many(self, count: int) -> list[Operand]:
        """Take the last operands, in the order in which they were pushed."""
        if count > len(self._stack):
            raise self.invalid("an operand is missing")
        taken = self._stack[len(self._stack) - count :]
        del self._stack[len(self._stack) - count :]
        return taken

    def pop_reference(self, *, mutable: bool = False) -> tuple[Operand, Type]:
        """Take a reference; gives the type of its target too."""
        operand = self.pop()
        if not isinstance(operand.type, ReferenceType) or (mutable and not operand.type.mutable):
            kind = "mutable reference" if mutable else "reference"
            raise self.invalid(f"a {kind} is expected, not {operand.type}")
        return operand, operand.type.target

    # What is charged

    def charge(self, pushes: int, size: int) -> None:
        """Count pushes, and bytes that are known before the code runs."""
        self.pushes += pushes
        self.bytes += size

    def charge_value(self, type_: Type, text: str) -> None:
        """Count the bytes of a value."""
        known = self.frame.fixed_size(type_)
        if known is None:
            size = packed_size(text, type_) or f"{self.frame.sizer(type_)}({text})"
            self.line(f"meter.charge_bytes({size})")
        else:
            self.charge_size(known)

    def charge_size(self, size: int) -> None:
        """Count the bytes of one value, which are known before the code runs."""
        if size < LARGE:
            self.bytes += size
        else:
            self.line(f"meter.charge_bytes({size})")

    # Lines

    def line(self, text: str, *, is_call: bool = False, meaning: str | None = None) -> None:
        """Add a statement; `{offset}` is the current offset, `meaning` that of a number in it."""
        if not self.is_closed:
            call = self.offset if is_call else None
            text = text.replace("{offset}", str(self.offset))
            self._lines.append(Line(text, call, self._note(meaning)))

    def close(self, text: str) -> None:
        """Add a statement that leaves the function: nothing of the block comes after it."""
        if not self.is_closed:
            text = text.replace("{offset}", str(self.offset))
            self._lines.append(Exit(text, self._note(None)))
        self.is_closed = True

    def _note(self, meaning: str | None) -> Origin | str | None:
        """What the comment of a statement says; the first one of an instruction names that."""
        if self._commented == self.offset:
            return meaning
        self._commented = self.offset
        return Origin(self.offset, self.opcode, meaning)

    def check(self, condition: str, error: str, meaning: str | None = None) -> None:
        """Raise an error if a condition holds at run time."""
        self.line(f"if {condition}: raise {error}", meaning=meaning)

    def temporary(self) -> str:
        """A name that is used nowhere else in the block."""
        self._temporaries += 1
        return f"t{self._temporaries}"

    def name(self, text: str) -> str:
        """A name for the value of an expression; a name is its own."""
        if text.isidentifier() or text.isdecimal():
            return text
        name = self.temporary()
        self.line(f"{name} = {text}")
        return name

    def push_result(
        self, type_: Type, text: str, *, is_call: bool = False, meaning: str | None = None
    ) -> str:
        """Evaluate an expression now and push the result; gives the name that it has.

        If the next instruction stores it in a local, it is that local's name.
        """
        # ADD, ST_LOC 1 become `v1 = v0 + 5` at once, without a `t1` between them.
        name, locals_ = self._destination(), frozenset[int]()
        if name is None:
            name = self.temporary()
        else:
            assert self.following is not None
            assert isinstance(self.following.operand, int)
            locals_ = frozenset({self.following.operand})
        self.line(f"{name} = {text}", is_call=is_call, meaning=meaning)
        self.push(Operand(type_, name, locals=locals_))
        return name

    def push_items(self, types: Sequence[Type], text: str) -> None:
        """Push the items of a list or a bytearray, whose length is known."""
        if len(types) == 1:
            self.push_result(types[0], f"{text}[0]")
        elif types:
            names = [self.temporary() for _ in types]
            self.line(f"{', '.join(names)} = {text}")
            for name, type_ in zip(names, types, strict=True):
                self.push(Operand(type_, name))

    def _destination(self) -> str | None:
        if self.following is None or self.following.opcode is not Opcode.ST_LOC:
            return None
        local = self.following.operand
        assert isinstance(local, int)
        if not self.frame.is_plain(local):
            return None
        self.settle_local(local)
        return self.frame.value(local)

    # Evaluation of what is still on the stack

    def settle(self) -> None:
        """Evaluate what looks into containers: the next line changes one.

        Which one is not asked for: translation does not know which references lead to the same.
        """
        self._settle(lambda operand: operand.reads_memory)

    def settle_local(self, local: int) -> None:
        """Evaluate what mentions a local: the next line changes it.

        After COPY_LOC 0, the expression `v0` is on the stack. If LD_U64 5, ST_LOC 0 follow,
        `t1 = v0` is written before `v0 = 5`, and the stack has `t1` from then on.
        """
        self._settle(lambda operand: local in operand.locals)

    def _settle(self, concerns: Callable[[Operand], bool]) -> None:
        for index, operand in enumerate(self._stack):
            if concerns(operand):
                self._stack[index] = self._evaluate(operand)

    def _evaluate(self, operand: Operand) -> Operand:
        """The operand with names that nothing changes for its expressions."""
        assert operand.key is not None or not isinstance(operand.type, ReferenceType)
        text = self.temporary()
        self.line(f"{text} = {operand.text}")
        key = operand.key
        # The key of a field is its number. That of an element may be a variable, which may change,
        # too.
        if key is not None and not key.isdecimal():
            key = self.temporary()
            self.line(f"{key} = {operand.key}")
        return Operand(operand.type, text, key)


# What an instruction does, given its operand.
InstructionTable = Mapping[Opcode, Callable[[BlockTranslator, Any], None]]
