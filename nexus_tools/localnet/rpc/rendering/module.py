"""What a module offers: functions and datatypes (`sui.rpc.v2.Module`)."""

from nexus_tools.localnet.bytecode.module import Visibility
from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.localnet.rpc.rendering.move_type import (
    ability_numbers,
    render_signature_type,
    render_type,
)
from nexus_tools.localnet.vm import Datatype, Function, LoadedModule, Type

_VISIBILITIES = {Visibility.PRIVATE: 1, Visibility.PUBLIC: 2, Visibility.FRIEND: 3}
_STRUCT, _ENUM = 1, 2


def render_module(message: Message, module: LoadedModule) -> None:
    """The datatypes and functions of a module; private ones, too."""
    for datatype in module.datatypes():
        render_datatype(message.datatypes.add(), datatype)
    for function in module.functions():
        render_function(message.functions.add(), function)


def render_function(message: Message, function: Function) -> None:
    """Name, visibility and signature."""
    message.name = function.name
    message.visibility = _VISIBILITIES[function.visibility]
    message.is_entry = function.is_entry
    for constraints in function.type_parameters:
        message.type_parameters.add(constraints=ability_numbers(constraints))
    for declared in function.parameters:
        render_signature_type(message.parameters.add(), declared)
    for declared in function.returns:
        render_signature_type(message.returns.add(), declared)


def render_datatype(message: Message, datatype: Datatype) -> None:
    """Name, abilities and fields."""
    message.type_name = str(datatype.tag)
    message.defining_id = str(datatype.tag.address)
    message.module = datatype.tag.module
    message.name = datatype.tag.name
    message.abilities.extend(ability_numbers(datatype.abilities))
    for parameter in datatype.type_parameters:
        constraints = ability_numbers(parameter.constraints)
        message.type_parameters.add(constraints=constraints, is_phantom=parameter.is_phantom)
    if datatype.variants is None:
        message.kind = _STRUCT
        _render_fields(message.fields, datatype.fields or ())
        return
    message.kind = _ENUM
    for position, (name, fields) in enumerate(datatype.variants):
        target = message.variants.add(name=name, position=position)
        _render_fields(target.fields, fields)


def _render_fields(messages: Message, fields: tuple[tuple[str, Type], ...]) -> None:
    for position, (name, declared) in enumerate(fields):
        render_type(messages.add(name=name, position=position).type, declared)
