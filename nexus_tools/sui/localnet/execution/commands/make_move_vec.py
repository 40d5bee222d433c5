"""The command `MakeMoveVec`."""

from itertools import repeat

from nexus_tools.sui.bytecode import Ability
from nexus_tools.sui.localnet.execution.commands.argument_typing import ArgumentTyper
from nexus_tools.sui.localnet.execution.commands.context import ExecutionContext
from nexus_tools.sui.localnet.execution.commands.type_arguments import resolve_type_argument
from nexus_tools.sui.localnet.execution.commands.typed_command import TypedArgument, TypedCommand
from nexus_tools.sui.localnet.vm import Value
from nexus_tools.sui.types.execution_status import ArgumentErrorKind
from nexus_tools.sui.types.transaction import MakeMoveVec
from nexus_tools.sui.types.type_tag import Primitive, TypeTag, VectorTag


def load_element_type(context: ExecutionContext, command: MakeMoveVec) -> TypeTag | None:
    """Return the resolved element type, or None if the command does not specify a type.

    Raises:
        CommandFailed: the type does not exist.
    """
    tag = command.element_type
    return None if tag is None else resolve_type_argument(context, tag, 0)


def type_make_move_vec(
    typer: ArgumentTyper, command: MakeMoveVec, element_type: TypeTag | None
) -> TypedCommand:
    """Require elements of the same type.

    If the command has no element type, the first element must be an object, whose type is used.
    """
    first = [] if element_type is not None else [_first_object(typer, command)]
    tag = first[0].slot.type if element_type is None else element_type
    others = typer.locate(command.elements[len(first) :], len(first))
    arguments = [*first, *typer.all_typed(others, repeat(tag))]
    return TypedCommand(command, element_type, arguments, [typer.result(VectorTag(tag))])


def _first_object(typer: ArgumentTyper, command: MakeMoveVec) -> TypedArgument:
    (first,) = typer.locate(command.elements[:1])
    error_kind = ArgumentErrorKind.INVALID_MAKE_MOVE_VEC_NON_OBJECT_ARGUMENT
    return typer.fixed(first, lambda slot: Ability.KEY in slot.abilities, error_kind)


def make_move_vec(context: ExecutionContext, command: TypedCommand) -> list[Value]:
    """Return a vector of the argument values."""
    elements = context.take_all(command.arguments)
    # The VM represents a `vector<u8>` as a `bytearray`.
    is_bytes = command.results[0].type == VectorTag(Primitive.U8)
    return [bytearray(elements) if is_bytes else elements]
