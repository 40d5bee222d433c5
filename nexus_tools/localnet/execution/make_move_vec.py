"""The command `MakeMoveVec`."""

from nexus_tools.localnet.bytecode.module import Ability
from nexus_tools.localnet.execution.arguments import Arguments, by_value_all
from nexus_tools.localnet.execution.command import CommandOutcome
from nexus_tools.localnet.execution.context import ExecutionContext, ResultValue
from nexus_tools.localnet.execution.errors import argument_failed
from nexus_tools.localnet.execution.type_arguments import resolve_type_argument
from nexus_tools.sui.execution_status import ArgumentErrorKind
from nexus_tools.sui.transaction import MakeMoveVec
from nexus_tools.sui.type_tag import Primitive, TypeTag, VectorTag


def make_move_vec(context: ExecutionContext, command: MakeMoveVec) -> CommandOutcome:
    """Make a vector of values, or of objects if the type of its elements is not given."""
    arguments = Arguments(context)
    arguments.locate(command.elements)
    if command.element_type is None:
        tag = _type_of_object(arguments, command)
    else:
        tag = resolve_type_argument(context, command.element_type, 0)
    elements = by_value_all(arguments, command.elements, tag)
    value = bytearray(elements) if tag is Primitive.U8 else elements
    return CommandOutcome([ResultValue(VectorTag(tag), value)], arguments)


def _type_of_object(arguments: Arguments, command: MakeMoveVec) -> TypeTag:
    wrong = ArgumentErrorKind.INVALID_MAKE_MOVE_VEC_NON_OBJECT_ARGUMENT
    slot = arguments.object(0, command.elements[0], wrong)
    if not slot.abilities & Ability.KEY:
        raise argument_failed(0, wrong)
    return slot.type
