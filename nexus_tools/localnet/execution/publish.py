"""The command `Publish`."""

from collections.abc import Sequence
from typing import cast

from nexus_tools.localnet.execution.argument_typing import ArgumentTyper
from nexus_tools.localnet.execution.context import ExecutionContext
from nexus_tools.localnet.execution.initializer import run_initializer
from nexus_tools.localnet.execution.package import (
    NewModule,
    move_modules,
    new_package,
    read_modules,
)
from nexus_tools.localnet.execution.typed_command import Dependencies, TypedCommand
from nexus_tools.localnet.execution.verification import verify_modules
from nexus_tools.localnet.vm import Value
from nexus_tools.sui.address import SUI_FRAMEWORK
from nexus_tools.sui.object import MovePackage
from nexus_tools.sui.transaction import Publish
from nexus_tools.sui.type_tag import StructTag

UPGRADE_CAP = StructTag(SUI_FRAMEWORK, "package", "UpgradeCap")
COMPATIBLE = 0


def type_publish(
    typer: ArgumentTyper, command: Publish, dependencies: Dependencies
) -> TypedCommand:
    """No arguments; the result is the `UpgradeCap` of the package."""
    return TypedCommand(command, dependencies, (), [typer.result(UPGRADE_CAP)])


def publish(context: ExecutionContext, command: TypedCommand) -> list[Value]:
    """Publish a package, initialize its modules, and return its `UpgradeCap`."""
    assert isinstance(command.command, Publish)
    files = command.command.modules
    context.gas.charge_publish(sum(map(len, files)))
    compiled = read_modules(files)
    package_id = context.runtime.transaction.fresh_id()
    modules = move_modules(files, compiled, package_id)
    package = new_package(package_id, modules, cast("Dependencies", command.loaded))
    introduce(context, package, modules)
    for module in modules:
        run_initializer(context, package_id, module.compiled.name)
    return [[[[bytes(context.runtime.fresh_id())]], [bytes(package_id)], 1, COMPATIBLE]]


def introduce(
    context: ExecutionContext, package: MovePackage, modules: Sequence[NewModule]
) -> None:
    """Verify a new package, and make it known to the machine. Raises `CommandFailed`."""
    verify_modules(context.machine, package, modules)
    context.new_packages.append(package)
    context.machine.publish(package)
