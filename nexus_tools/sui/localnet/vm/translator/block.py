"""The translation of one basic block.

Move's operand stack is empty at the start and the end of a block. So the translator knows the
expression of every stack entry, and no stack exists at run time. A reference is represented as two
Python variables, a container and a key, instead of an object.
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

# The maximum depth of nested expressions. If each expression has two operands, 8 levels result in
# 256 names in a line. Without a limit, a long block could become one line, but Python parses at
# most 200 nested parentheses.
_EXPRESSION_DEPTH_MAX = 8


_NOTHING: frozenset[int] = frozenset()


class Origin(NamedTuple):
    """The instruction from which a statement was translated. It is shown only in a comment.

    `meaning` explains a number in the statement.
    """

    offset: int
    opcode: Opcode
    meaning: str | None

    def __str__(self) -> str:
        suffix = "" if self.meaning is None else f": {self.meaning}"
        return f"{self.offset} {self.opcode.name}{suffix}"


class Operand(Struct, frozen=True):
    """A stack entry: an expression that translated code evaluates later than its instruction.

    `text` is the value. For a reference, `text` is the container, and `key` is the key in the
    container. For a reference to a plain local, which has no cell, `text` is the local itself, and
    `key` is None. `locals` are the locals in the text, and `reads_memory` means that the text reads
    from a container. The expression is evaluated before one of these locals or any container
    changes (see `BlockTranslator.settle`). Evaluation never fails.
    """

    type: Type
    text: str
    key: str | None = None
    locals: frozenset[int] = _NOTHING
    reads_memory: bool = False
    depth: int = 0

    @property
    def target(self) -> str:
        """The target of a reference, as an expression that Python can read and assign to."""
        return self.text if self.key is None else f"{self.text}[{self.key}]"

    @property
    def is_simple(self) -> bool:
        """Whether the text is a name or a literal."""
        return self.text.isidentifier() or self.text.isdecimal()

    @property
    def parts(self) -> list[str]:
        """The expressions to pass to a call: one for a value, two for a reference."""
        if self.key is None:
            assert not isinstance(self.type, ReferenceType)
            return [self.text]
        return [self.text, self.key]

    def typed(self, type_: Type) -> "Operand":
        """Return this operand with another type."""
        return replace(self, type=type_)


def compose(type_: Type, text: str, *parts: Operand) -> Operand:
    """Return an operand whose expression contains these operands."""
    return Operand(
        type_,
        text,
        locals=frozenset[int]().union(*[part.locals for part in parts]),
        reads_memory=any(part.reads_memory for part in parts),
        depth=1 + max(part.depth for part in parts),
    )


class BlockTranslator:
    """The operand stack and the translated lines of a block.

    The translator of each instruction is a function that receives this object. `offset` and
    `opcode` belong to the current instruction. Errors have the location `offset`. `following` is
    the next instruction.
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
        """Return the translated block.

        Raises:
            InvalidCode: The stack is not empty.
        """
        if self._stack and not self.is_closed:
            raise self.invalid("operands are left at the end of a block")
        work = Work(self.instructions, self.pushes, self.bytes)
        return BlockBody(work, self._lines, self.condition, self.tag)

    # Errors

    def invalid(self, message: str) -> InvalidCode:
        """Return the error to raise for the current instruction."""
        function = self.frame.function
        return InvalidCode(f"{message}, in {function.module.name}::{function.name}@{self.offset}")

    def expect(self, operand: Operand, type_: Type) -> Operand:
        """Return the operand if it has the type. Raises `InvalidCode`."""
        if operand.type != type_:
            raise self.invalid(f"expected {type_}, got {operand.type}")
        return operand

    # The operand stack

    def push(self, operand: Operand) -> None:
        """Push an operand, and evaluate its expression now if it is nested too deeply."""
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
        """Pop the last operand. Raises `InvalidCode` if the stack is empty."""
        if not self._stack:
            raise self.invalid("an operand is missing")
        return self._stack.pop()

    def pop_many(self, count: int) -> list[Operand]:
        """Pop the last operands and return them in the order in which they were pushed."""
        if count > len(self._stack):
            raise self.invalid("an operand is missing")
        operands = self._stack[len(self._stack) - count :]
        del self._stack[len(self._stack) - count :]
        return operands

    def pop_reference(self, *, mutable: bool = False) -> tuple[Operand, Type]:
        """Pop a reference and return it with the type of its target."""
        operand = self.pop()
        if not isinstance(operand.type, ReferenceType) or (mutable and not operand.type.mutable):
            kind = "mutable reference" if mutable else "reference"
            raise self.invalid(f"expected a {kind}, got {operand.type}")
        return operand, operand.type.target

    # Charges

    def charge(self, pushes: int, size: int) -> None:
        """Count pushes, and bytes whose number is known before the code runs."""
        self.pushes += pushes
        self.bytes += size

    def charge_value(self, type_: Type, text: str) -> None:
        """Count the bytes of a value."""
        fixed_size = self.frame.fixed_size(type_)
        if fixed_size is None:
            size = packed_size(text, type_) or f"{self.frame.sizer(type_)}({text})"
            self.line(f"meter.charge_bytes({size})")
        else:
            self.charge_size(fixed_size)

    def charge_size(self, size: int) -> None:
        """Count the bytes of one value whose size is known before the code runs."""
        if size < LARGE:
            self.bytes += size
        else:
            self.line(f"meter.charge_bytes({size})")

    # Lines

    def line(self, text: str, *, is_call: bool = False, meaning: str | None = None) -> None:
        """Add a statement, in which `{offset}` represents the current offset.

        `meaning` explains a number.
        """
        if not self.is_closed:
            call = self.offset if is_call else None
            text = text.replace("{offset}", str(self.offset))
            self._lines.append(Line(text, call, self._note(meaning)))

    def close(self, text: str) -> None:
        """Add a statement that leaves the function, and ignore all later statements."""
        if not self.is_closed:
            text = text.replace("{offset}", str(self.offset))
            self._lines.append(Exit(text, self._note(None)))
        self.is_closed = True

    def _note(self, meaning: str | None) -> Origin | str | None:
        """Return the comment of a statement.

        Only the first statement of an instruction has a comment that names the instruction.
        """
        if self._commented == self.offset:
            return meaning
        self._commented = self.offset
        return Origin(self.offset, self.opcode, meaning)

    def check(self, condition: str, error: str, meaning: str | None = None) -> None:
        """Add a statement that raises an error if a condition holds at run time."""
        self.line(f"if {condition}: raise {error}", meaning=meaning)

    def temporary(self) -> str:
        """Return a new name, unique in the block."""
        self._temporaries += 1
        return f"t{self._temporaries}"

    def name(self, text: str) -> str:
        """Assign an expression to a new name and return the name.

        If the expression is a name or a number, return it unchanged.
        """
        if text.isidentifier() or text.isdecimal():
            return text
        name = self.temporary()
        self.line(f"{name} = {text}")
        return name

    def push_result(
        self, type_: Type, text: str, *, is_call: bool = False, meaning: str | None = None
    ) -> str:
        """Evaluate an expression now, push the result and return its name.

        If the next instruction stores the result in a plain local, use the local's name.
        """
        # For example, ADD, ST_LOC 1 become `v1 = v0 + 5`, without an intermediate `t1`.
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
        """Push the items of a list or a bytearray of known length."""
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

    # Evaluation of the operands on the stack

    def settle(self) -> None:
        """Evaluate all pending expressions that read a container, before a container changes.

        The translator does not know which references have the same container, so it evaluates every
        expression that reads any container.
        """
        self._settle(lambda operand: operand.reads_memory)

    def settle_local(self, local: int) -> None:
        """Evaluate all pending expressions that contain a local, before a line that changes it.

        For example, after COPY_LOC 0, the expression `v0` is on the stack. If LD_U64 5, ST_LOC 0
        follow, the line `t1 = v0` is inserted before `v0 = 5`, and `t1` replaces `v0` on the stack.
        """
        self._settle(lambda operand: local in operand.locals)

    def _settle(self, is_affected: Callable[[Operand], bool]) -> None:
        for index, operand in enumerate(self._stack):
            if is_affected(operand):
                self._stack[index] = self._evaluate(operand)

    def _evaluate(self, operand: Operand) -> Operand:
        """Assign the operand's expressions to new names and return an operand with these names."""
        assert operand.key is not None or not isinstance(operand.type, ReferenceType)
        text = self.temporary()
        self.line(f"{text} = {operand.text}")
        key = operand.key
        # The key of a struct field is a number. The key of a vector element may be a variable,
        # which may also change.
        if key is not None and not key.isdecimal():
            key = self.temporary()
            self.line(f"{key} = {operand.key}")
        return Operand(operand.type, text, key)


# A translator of an instruction, which receives the block and the instruction's operand.
InstructionTable = Mapping[Opcode, Callable[[BlockTranslator, Any], None]]
