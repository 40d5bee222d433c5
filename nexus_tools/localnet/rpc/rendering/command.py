"""Commands of programmable transactions (`sui.rpc.v2.Command`), and their arguments."""

from collections.abc import Callable
from typing import Any

from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.sui.transaction import (
    Argument,
    Command,
    GasCoin,
    InputArgument,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    NestedResult,
    Publish,
    SplitCoins,
    TransferObjects,
    Upgrade,
)

GAS, INPUT, RESULT = range(1, 4)


def render_argument(message: Message, argument: Argument) -> None:
    """All fields."""
    if isinstance(argument, GasCoin):
        message.kind = GAS
    elif isinstance(argument, InputArgument):
        message.kind = INPUT
        message.input = argument.index
    else:
        message.kind = RESULT
        message.result = argument.command
        if isinstance(argument, NestedResult):
            message.subresult = argument.index


def render_command(message: Message, command: Command) -> None:
    """All fields."""
    _RENDERERS[type(command)](message, command)


def _render_arguments(messages: Message, arguments: tuple[Argument, ...]) -> None:
    for argument in arguments:
        render_argument(messages.add(), argument)


def _render_move_call(message: Message, command: MoveCall) -> None:
    call = message.move_call
    call.package = str(command.package)
    call.module = command.module
    call.function = command.function
    call.type_arguments.extend(map(str, command.type_arguments))
    _render_arguments(call.arguments, command.arguments)


def _render_transfer(message: Message, command: TransferObjects) -> None:
    _render_arguments(message.transfer_objects.objects, command.objects)
    render_argument(message.transfer_objects.address, command.address)


def _render_split(message: Message, command: SplitCoins) -> None:
    render_argument(message.split_coins.coin, command.coin)
    _render_arguments(message.split_coins.amounts, command.amounts)


def _render_merge(message: Message, command: MergeCoins) -> None:
    render_argument(message.merge_coins.coin, command.destination)
    _render_arguments(message.merge_coins.coins_to_merge, command.sources)


def _render_publish(message: Message, command: Publish) -> None:
    message.publish.modules.extend(command.modules)
    message.publish.dependencies.extend(map(str, command.dependencies))


def _render_make_vector(message: Message, command: MakeMoveVec) -> None:
    message.make_move_vector.SetInParent()  # without type and elements it is still there
    if command.element_type is not None:
        message.make_move_vector.element_type = str(command.element_type)
    _render_arguments(message.make_move_vector.elements, command.elements)


def _render_upgrade(message: Message, command: Upgrade) -> None:
    message.upgrade.modules.extend(command.modules)
    message.upgrade.dependencies.extend(map(str, command.dependencies))
    message.upgrade.package = str(command.package)
    render_argument(message.upgrade.ticket, command.ticket)


_RENDERERS: dict[type[Command], Callable[[Message, Any], None]] = {
    MoveCall: _render_move_call,
    TransferObjects: _render_transfer,
    SplitCoins: _render_split,
    MergeCoins: _render_merge,
    Publish: _render_publish,
    MakeMoveVec: _render_make_vector,
    Upgrade: _render_upgrade,
}
