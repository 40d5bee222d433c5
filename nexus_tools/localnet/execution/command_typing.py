"""What happens to all commands of a transaction before the first is executed.

The functions and types that they name are found, then their arguments are, then the checks of
`checks` are made, each over all commands: of two mistakes the one that an earlier step finds is
reported. Source: `static_programmable_transactions/mod.rs` of `sui-adapter`, which is on since
protocol 104 (`enable_ptb_execution_v2`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nexus_tools.localnet.execution.argument_typing import ArgumentTyper
from nexus_tools.localnet.execution.checks import check_commands
from nexus_tools.localnet.execution.context import ExecutionContext
from nexus_tools.localnet.execution.make_move_vec import load_element_type, type_make_move_vec
from nexus_tools.localnet.execution.merge_coins import type_merge_coins
from nexus_tools.localnet.execution.move_call import load_function, type_move_call
from nexus_tools.localnet.execution.package import load_dependencies
from nexus_tools.localnet.execution.publish import type_publish
from nexus_tools.localnet.execution.split_coins import type_split_coins
from nexus_tools.localnet.execution.transfer_objects import type_transfer_objects
from nexus_tools.localnet.execution.typed_command import Loaded, TypedCommand
from nexus_tools.localnet.execution.upgrade import type_upgrade
from nexus_tools.sui.transaction import (
    Command,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    Publish,
    SplitCoins,
    TransferObjects,
    Upgrade,
)

_LOAD: Mapping[type[Command], Callable[[ExecutionContext, Any], Loaded]] = {
    MoveCall: load_function,
    MakeMoveVec: load_element_type,
    Publish: load_dependencies,
    Upgrade: load_dependencies,
}

_TYPE: Mapping[type[Command], Callable[[ArgumentTyper, Any, Any], TypedCommand]] = {
    MoveCall: type_move_call,
    TransferObjects: type_transfer_objects,
    SplitCoins: type_split_coins,
    MergeCoins: type_merge_coins,
    Publish: type_publish,
    MakeMoveVec: type_make_move_vec,
    Upgrade: type_upgrade,
}


def type_commands(context: ExecutionContext, commands: Sequence[Command]) -> list[TypedCommand]:
    """The commands, ready to be executed. Raises `CommandFailed`."""
    loaded = [_load(context, command) for command in context.in_turn(commands)]
    typer = ArgumentTyper(context)
    typed = []
    for command, names in zip(context.in_turn(commands), loaded, strict=True):
        ready = _TYPE[type(command)](typer, command, names)
        context.results.append(ready.results)
        typed.append(ready)
    check_commands(context, typer, typed)
    return typed


def _load(context: ExecutionContext, command: Command) -> Loaded:
    load = _LOAD.get(type(command))
    return None if load is None else load(context, command)
