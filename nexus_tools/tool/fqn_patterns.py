"""The selection of tools by patterns of their names."""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from nexus_tools.tool.fqn import ToolFqn


@dataclass(frozen=True, slots=True)
class FqnPatterns:
    """A filter that selects the tools that match `only` and do not match `exclude`.

    An empty `only` matches all tools. A pattern is a glob, such as `read_*`. A pattern may match
    the FQN, the FQN without its version, or the name.
    """

    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return whether any pattern is set."""
        return bool(self.only or self.exclude)

    def admit(self, fqn: ToolFqn) -> bool:
        """Return whether the filter selects a tool."""
        return (not self.only or _matches(fqn, self.only)) and not _matches(fqn, self.exclude)


def _matches(fqn: ToolFqn, patterns: tuple[str, ...]) -> bool:
    texts = (str(fqn), fqn.unversioned, fqn.name)
    return any(fnmatchcase(text, pattern) for pattern in patterns for text in texts)
