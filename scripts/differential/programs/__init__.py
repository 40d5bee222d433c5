"""Random Move programs, which are well typed and terminate."""

from differential.programs.comparing import (
    compare_programs,
    compiled,
    has_compiler,
    move_builder,
)
from differential.programs.source import Source, framework_programs, language_programs

__all__ = [
    "Source",
    "compare_programs",
    "compiled",
    "framework_programs",
    "has_compiler",
    "language_programs",
    "move_builder",
]
