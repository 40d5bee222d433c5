"""Entries of the operand stack while a block is translated: Python expressions with their types."""

from dataclasses import replace

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.vm.types import ReferenceType, Type

_NOTHING: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Operand:
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
