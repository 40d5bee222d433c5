"""A parser of Move sources for names, comments and positions, which bytecode does not contain.

Start with `read_modules`. `declarations.py` has the types of the results.
"""

from nexus_tools.sui.move_source.declarations import (
    Attribute,
    SourceConstant,
    SourceEnum,
    SourceField,
    SourceFunction,
    SourceImport,
    SourceModule,
    SourceParameter,
    SourceStruct,
    SourceVariant,
    is_unpublished,
)
from nexus_tools.sui.move_source.reader import read_modules
from nexus_tools.sui.move_source.tokens import Token, closing, line_of, tokens_of

__all__ = [
    "Attribute",
    "SourceConstant",
    "SourceEnum",
    "SourceField",
    "SourceFunction",
    "SourceImport",
    "SourceModule",
    "SourceParameter",
    "SourceStruct",
    "SourceVariant",
    "Token",
    "closing",
    "is_unpublished",
    "line_of",
    "read_modules",
    "tokens_of",
]
