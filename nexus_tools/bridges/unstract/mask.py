"""Keeps keys and passwords out of what a tool says."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

# Shorter values are words that stand in any text.
_MIN_SECRET = 6
_MASK = "***"


@dataclass(frozen=True, slots=True)
class Mask:
    """Replaces values in texts: a tool may well print the key that it was given."""

    values: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, values: Iterable[str]) -> "Mask":
        """A mask for these values; very short ones stay visible."""
        secrets = {value for value in values if len(value) >= _MIN_SECRET}
        # The longest first: one value may be a part of another one.
        return cls(tuple(sorted(secrets, key=lambda value: (-len(value), value))))

    def text(self, text: str) -> str:
        """The text with `***` in place of each value."""
        for value in self.values:
            text = text.replace(value, _MASK)
        return text

    def json(self, value: Any) -> Any:
        """A JSON value with its texts masked; names of members are left."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.json(member) for member in value]
        if isinstance(value, dict):
            return {name: self.json(member) for name, member in value.items()}
        return value
