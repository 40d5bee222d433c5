"""The resolution of a transaction's type arguments to the types that the VM uses.

A transaction may refer to a type by the ID of any package version that has the type. The VM uses
the ID of the version that first defined the type.

For example, version 0xB of a package added a type, and 0xC is a later version. Both 0xB::m::New and
0xC::m::New resolve to 0xB::m::New. 0xA is the version before 0xB, so 0xA::m::New is not a type.
"""

from collections.abc import Sequence

from nexus_tools.sui.bytecode import Ability
from nexus_tools.sui.localnet.execution.commands.context import ExecutionContext
from nexus_tools.sui.localnet.execution.errors import CommandFailed, type_argument_failed
from nexus_tools.sui.types.execution_status import ErrorKind, TypeArgumentErrorKind
from nexus_tools.sui.types.object import MovePackage
from nexus_tools.sui.types.type_tag import StructTag, TypeTag, VectorTag


def resolve_type_arguments(
    context: ExecutionContext, tags: Sequence[TypeTag]
) -> tuple[TypeTag, ...]:
    """Return the resolved types of a command's type arguments.

    Raises:
        CommandFailed: a type does not exist.
    """
    return tuple(resolve_type_argument(context, tag, index) for index, tag in enumerate(tags))


def check_constraints(
    context: ExecutionContext, tags: Sequence[TypeTag], constraints: Sequence[Ability]
) -> None:
    """Check type arguments against the constraints of a function's type parameters.

    As on Sui, a violation is reported as a bytecode error and not as a type argument error.

    Raises:
        CommandFailed: the number of types is wrong, or a type lacks an ability.
    """
    if len(tags) != len(constraints):
        raise CommandFailed(ErrorKind.TYPE_ARITY_MISMATCH)
    for tag, constraint in zip(tags, constraints, strict=True):
        if constraint and constraint & ~context.abilities(tag):
            raise CommandFailed(
                ErrorKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR,
                message=f"{tag} does not have the abilities that the type parameter requires",
            )


def resolve_type_argument(context: ExecutionContext, tag: TypeTag, index: int) -> TypeTag:
    """Return the resolved type of the type argument at `index` of the command.

    Raises:
        CommandFailed: the type does not exist.
    """
    if isinstance(tag, VectorTag):
        return VectorTag(resolve_type_argument(context, tag.element, index))
    if not isinstance(tag, StructTag):
        return tag
    params = tuple(resolve_type_argument(context, param, index) for param in tag.type_params)
    package = context.store.get(tag.address)
    origin = None
    if package is not None and isinstance(package.data, MovePackage):
        origin = next(
            (
                origin.package
                for origin in package.data.type_origins
                if (origin.module, origin.datatype) == (tag.module, tag.name)
            ),
            None,
        )
    if origin is None:
        raise type_argument_failed(index, TypeArgumentErrorKind.TYPE_NOT_FOUND)
    resolved_tag = StructTag(origin, tag.module, tag.name, params)
    _check_parameters(context, resolved_tag, index)
    return resolved_tag


def _check_parameters(context: ExecutionContext, tag: StructTag, index: int) -> None:
    datatype = context.machine.types.datatype(tag)
    if datatype is None:
        raise type_argument_failed(index, TypeArgumentErrorKind.TYPE_NOT_FOUND)
    if len(datatype.type_parameters) != len(tag.type_params):
        raise CommandFailed(ErrorKind.TYPE_ARITY_MISMATCH)
    for parameter, argument in zip(datatype.type_parameters, tag.type_params, strict=True):
        if parameter.constraints & ~context.abilities(argument):
            raise type_argument_failed(index, TypeArgumentErrorKind.CONSTRAINT_NOT_SATISFIED)
