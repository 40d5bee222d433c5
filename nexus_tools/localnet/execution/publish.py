"""The command `Publish`."""

from nexus_tools.localnet.execution.arguments import Arguments
from nexus_tools.localnet.execution.command import CommandOutcome
from nexus_tools.localnet.execution.context import ExecutionContext, ResultValue
from nexus_tools.localnet.execution.errors import CommandFailed
from nexus_tools.localnet.execution.initializer import run_initializer
from nexus_tools.localnet.execution.package import new_package, read_modules
from nexus_tools.localnet.execution.verifier import verify_modules
from nexus_tools.localnet.vm import LinkError
from nexus_tools.sui.address import SUI_FRAMEWORK
from nexus_tools.sui.execution_status import ErrorKind
from nexus_tools.sui.object import MovePackage
from nexus_tools.sui.transaction import Publish
from nexus_tools.sui.type_tag import StructTag

UPGRADE_CAP = StructTag(SUI_FRAMEWORK, "package", "UpgradeCap")
COMPATIBLE = 0


def publish(context: ExecutionContext, command: Publish) -> CommandOutcome:
    """Publish a package, initialize its modules, and return its `UpgradeCap`."""
    context.gas.charge_publish(sum(map(len, command.modules)))
    package_id = context.runtime.transaction.fresh_id()
    modules = read_modules(command.modules, package_id)
    package = new_package(context, package_id, modules, command.dependencies)
    introduce(context, package)
    verify_modules(context, package, modules)
    for module in modules:
        run_initializer(context, package_id, module.compiled.name)
    cap = [[[bytes(context.runtime.fresh_id())]], [bytes(package_id)], 1, COMPATIBLE]
    return CommandOutcome([ResultValue(UPGRADE_CAP, cap)], Arguments(context))


def introduce(context: ExecutionContext, package: MovePackage) -> None:
    """Make a new package known to the machine, which links it."""
    context.new_packages.append(package)
    try:
        context.machine.publish(package)
    except LinkError as error:
        raise CommandFailed(
            ErrorKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR, message=str(error)
        ) from None
