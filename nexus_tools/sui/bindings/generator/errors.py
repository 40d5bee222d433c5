"""The errors of a module: the reasons why it aborts, from its bytecode and its sources.

If an abort code is a plain number, only the sources contain the error's name and message. The code
of an error marked `#[error]` refers to two constants in the bytecode. The first constant is the
error's name, and the second is its value, which may be the message.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from nexus_tools.sui.bindings.runtime import MoveError
from nexus_tools.sui.bytecode import (
    CompiledModule,
    Opcode,
    VectorToken,
    is_identifier,
    parse_clever_error_of_module,
    split_clever_code,
)
from nexus_tools.sui.move_source import SourceConstant, SourceModule, closing

_ERROR_NAME = re.compile(r"E[A-Z][a-z]\w*|E_\w+|ERR\w*")


def read_errors(module: CompiledModule, source: SourceModule | None) -> Iterator[MoveError]:
    """Yield the errors of the source in order, and then the errors that only the bytecode has."""
    bytecode_errors = dict(_named_in_bytecode(module))
    aborted = _aborted_names(source) if source else set()
    constants = source.constants if source else ()
    for constant in (constant for constant in constants if is_identifier(constant.name)):
        error = bytecode_errors.pop(constant.name, None)
        is_marked = any(attribute.name == "error" for attribute in constant.attributes)
        if error is not None:
            yield _with_words(error, constant)
        elif is_marked or _is_error(constant, aborted):
            yield _error_of(constant, is_marked=is_marked)
    yield from bytecode_errors.values()


def _is_error(constant: SourceConstant, aborted: set[str]) -> bool:
    """Return whether a constant is named like an error code or is used as an abort code."""
    if constant.type != "u64" or _number(constant.value) is None:
        return False
    return bool(_ERROR_NAME.fullmatch(constant.name)) or constant.name in aborted


def _named_in_bytecode(module: CompiledModule) -> Iterator[tuple[str, MoveError]]:
    """Yield the errors whose abort codes refer to constants.

    The abort code is the number that is loaded before an abort. The bytecode contains the name of
    an error as bytes. If these bytes are not a valid identifier, the error is skipped.
    """
    for function in module.function_definitions:
        instructions = function.code.instructions if function.code else ()
        for loaded, then in pairwise(instructions):
            if loaded.opcode is Opcode.LD_U64 and then.opcode is Opcode.ABORT:
                assert isinstance(loaded.operand, int)
                error = _clever_error(loaded.operand, module)
                if error is not None:
                    yield error.name, error


def _clever_error(abort_code: int, module: CompiledModule) -> MoveError | None:
    index, clever = split_clever_code(abort_code), parse_clever_error_of_module(abort_code, module)
    if index is None or clever is None or not is_identifier(clever.constant_name or ""):
        return None
    assert clever.constant_name is not None
    assert index.value is not None
    is_text = module.constants[index.value].type == VectorToken("u8")
    sentence = (clever.rendered or "") if is_text else ""
    return MoveError(clever.constant_name, sentence, clever.code, index.name)


def _with_words(error: MoveError, constant: SourceConstant) -> MoveError:
    return MoveError(error.name, error.sentence or _sentence(constant), error.code, error.constant)


def _error_of(constant: SourceConstant, *, is_marked: bool) -> MoveError:
    """Return the error of a constant that the bytecode does not name."""
    code = None if is_marked else _number(constant.value)
    return MoveError(constant.name, _sentence(constant), code)


def _sentence(constant: SourceConstant) -> str:
    """Return a constant's value if the value is a string, or else the constant's doc comment."""
    text = constant.value[0] if len(constant.value) == 1 else ""
    if text.startswith(('b"', '"')):
        return text[text.index('"') + 1 : -1].replace('\\"', '"').replace("\\\\", "\\")
    return " ".join(constant.doc.split())


def _number(value: Sequence[str]) -> int | None:
    """Return the value of a constant that is a plain number, or None for any other constant."""
    text = value[0].replace("_", "") if len(value) == 1 else ""
    digits = text.removesuffix("u64")
    try:
        return int(digits, 0) if digits.startswith("0x") else int(digits)
    except ValueError:
        return None


def _aborted_names(source: SourceModule) -> set[str]:
    """Return each name that follows `abort`, and the last name in each `assert!`."""
    names: set[str] = set()
    for function in source.functions:
        for index, token in enumerate(function.body):
            if token.text == "abort":
                names.update(token.text for token in function.body[index + 1 : index + 2])
            elif token.text == "assert":
                end = closing(function.body, index + 2)
                last = [token.text for token in function.body[index + 3 : end] if token.text != ","]
                names.update(last[-1:])
    return names
