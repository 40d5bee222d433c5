"""The command `Publish`."""

from collections.abc import Sequence
from typing import cast

from nexus_tools.sui.bytecode import INIT, CompiledModule
from nexus_tools.sui.localnet.execution.commands.argument_typing import ArgumentTyper
from nexus_tools.sui.localnet.execution.commands.context import ExecutionContext
from nexus_tools.sui.localnet.execution.commands.move_call import call
from nexus_tools.sui.localnet.execution.commands.typed_command import TypedCommand
from nexus_tools.sui.localnet.execution.packages import (
    Dependencies,
    NewModule,
    dependencies_of,
    new_package,
    read_modules,
    relocate_modules,
    verify_modules,
)
from nexus_tools.sui.localnet.vm import Reference, Value
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.object import MovePackage
from nexus_tools.sui.types.transaction import Publish, Upgrade
from nexus_tools.sui.types.type_tag import StructTag

UPGRADE_CAP = StructTag(SUI_FRAMEWORK, "package", "UpgradeCap")
COMPATIBLE = 0


def load_dependencies(context: ExecutionContext, command: Publish | Upgrade) -> Dependencies:
    """Return the dependencies of the new package by their original IDs.

    Raises:
        CommandFailed: a dependency does not exist, or the command has two versions of it.
    """
    return dependencies_of(command.dependencies, context.store)


def type_publish(
    typer: ArgumentTyper, command: Publish, dependencies: Dependencies
) -> TypedCommand:
    """Return the typed command.

    `Publish` has no arguments, and its result is the package's `UpgradeCap`.
    """
    return TypedCommand(command, dependencies, (), [typer.result(UPGRADE_CAP)])


def publish(context: ExecutionContext, command: TypedCommand) -> list[Value]:
    """Publish a package, initialize its modules, and return its `UpgradeCap`."""
    assert isinstance(command.command, Publish)
    files = command.command.modules
    context.gas.charge_publish(sum(map(len, files)))
    compiled = read_modules(files)
    package_id = context.runtime.transaction.fresh_id()
    modules = relocate_modules(files, compiled, package_id)
    package = new_package(package_id, modules, cast("Dependencies", command.loaded))
    add_package(context, package, modules)
    for module in modules:
        if _has_init(module.compiled):
            _initialize(context, package_id, module.compiled.name)
    # The result is an `UpgradeCap { id: UID, package: ID, version: u64, policy: u8 }`.
    return [[[[bytes(context.runtime.fresh_id())]], [bytes(package_id)], 1, COMPATIBLE]]


def add_package(
    context: ExecutionContext, package: MovePackage, modules: Sequence[NewModule]
) -> None:
    """Verify a new package and add it to the machine.

    Raises:
        CommandFailed: a module is not valid.
    """
    verify_modules(context.machine, package, modules)
    context.new_packages.append(package)
    context.machine.types.publish(package)


def _has_init(module: CompiledModule) -> bool:
    """Return whether a module has an `init`. Only modules with `init` are loaded into the VM."""
    functions = module.function_definitions
    return any(module.function_id(function.handle)[2] == INIT for function in functions)


def _initialize(context: ExecutionContext, package: Address, module: str) -> None:
    """Call the module's `init`. If `init` has two parameters, pass a one-time witness."""
    function = context.machine.types.function(package, module, INIT)
    assert function is not None
    # A one-time witness is a struct whose only field is a boolean, which is true.
    witness: list[Value] = [[True]] if len(function.parameters) == 2 else []
    call(context, function, (), [*witness, Reference(context.cell(context.tx_context), 0)])
