"""Choosing tools by patterns of their names."""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from nexus_tools.tool.fqn import ToolFqn


@dataclass(frozen=True, slots=True)
class FqnPatterns:
    """Which tools are meant: those that `only` names, all if it is empty, without `exclude`.

    A pattern is a glob, as `read_*`, for the FQN, for the FQN without its version, or for the name.
    """

    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether any is given."""
        return bool(self.only or self.exclude)

    def admit(self, fqn: ToolFqn) -> bool:
        """Whether a tool is meant."""
        return (not self.only or _fits(fqn, self.only)) and not _fits(fqn, self.exclude)


def _fits(fqn: ToolFqn, patterns: tuple[str, ...]) -> bool:
    texts = (str(fqn), fqn.unversioned, fqn.name)
    return any(fnmatchcase(text, pattern) for pattern in patterns for text in texts)
