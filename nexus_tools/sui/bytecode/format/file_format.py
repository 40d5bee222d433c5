"""The constants of the module file format: table numbers, type tags, flags and limits.

Source: `move-binary-format/src/file_format_common.rs`, which uses the same names.
"""

from enum import IntEnum

MAGIC = bytes.fromhex("a11ceb0b")

VERSION_MIN = 5
VERSION_MAX = 7
# Version 6 added u16, u32 and u256. Version 7 added enums, and the flavor in the top byte of the
# version.
VERSION_6 = 6
VERSION_7 = 7
SUI_FLAVOR = 5

TABLE_COUNT_MAX = 255
TABLE_OFFSET_MAX = 0xFFFF_FFFF
TABLE_SIZE_MAX = 0xFFFF_FFFF
TABLE_INDEX_MAX = 65_535

BYTECODE_COUNT_MAX = 65_535
LOCALS_COUNT_MAX = 255
LOCAL_INDEX_MAX = 255

IDENTIFIER_SIZE_MAX = 65_535
CONSTANT_SIZE_MAX = 65_535
METADATA_KEY_SIZE_MAX = 1_023
METADATA_VALUE_SIZE_MAX = 65_535

SIGNATURE_SIZE_MAX = 255
SIGNATURE_TOKEN_DEPTH_MAX = 256
TYPE_PARAMETER_COUNT_MAX = 255
TYPE_PARAMETER_INDEX_MAX = 65_536
ACQUIRES_COUNT_MAX = 255
FIELD_COUNT_MAX = 255

VARIANT_COUNT_MAX = 127
JUMP_TABLE_COUNT_MAX = 127
VARIANT_HANDLE_INDEX_MAX = 1_024


class TableKind(IntEnum):
    """The tables of a module by their number in the file."""

    MODULE_HANDLES = 0x1
    DATATYPE_HANDLES = 0x2
    FUNCTION_HANDLES = 0x3
    FUNCTION_INSTANTIATIONS = 0x4
    SIGNATURES = 0x5
    CONSTANTS = 0x6
    IDENTIFIERS = 0x7
    ADDRESSES = 0x8
    STRUCT_DEFINITIONS = 0xA
    STRUCT_INSTANTIATIONS = 0xB
    FUNCTION_DEFINITIONS = 0xC
    FIELD_HANDLES = 0xD
    FIELD_INSTANTIATIONS = 0xE
    FRIENDS = 0xF
    METADATA = 0x10
    ENUM_DEFINITIONS = 0x11
    ENUM_INSTANTIATIONS = 0x12
    VARIANT_HANDLES = 0x13
    VARIANT_INSTANTIATIONS = 0x14


class SerializedType(IntEnum):
    """The first byte of a serialized type. A primitive type consists of only this byte."""

    BOOL = 0x1
    U8 = 0x2
    U64 = 0x3
    U128 = 0x4
    ADDRESS = 0x5
    REFERENCE = 0x6
    MUTABLE_REFERENCE = 0x7
    DATATYPE = 0x8
    TYPE_PARAMETER = 0x9
    VECTOR = 0xA
    DATATYPE_INSTANTIATION = 0xB
    SIGNER = 0xC
    U16 = 0xD
    U32 = 0xE
    U256 = 0xF


NATIVE_STRUCT, DECLARED = 0x1, 0x2
"""The possible values of the byte before the fields of a struct.

For an enum, the byte is always `DECLARED`.
"""
NATIVE_FUNCTION, ENTRY_FUNCTION = 0x2, 0x4
"""The flags of a function."""
FULL_JUMP_TABLE = 0x1
"""The only kind of jump table, which has one branch for each variant."""
