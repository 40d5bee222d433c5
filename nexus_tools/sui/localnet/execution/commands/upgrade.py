"""The command `Upgrade`."""

from collections.abc import Sequence
from typing import cast

from nexus_tools.sui.bytecode import (
    CompiledModule,
    UpgradePolicy,
    deserialize,
    has_init,
    incompatibility_reason,
    original_id,
    package_digest,
)
from nexus_tools.sui.localnet.execution.commands.argument_typing import ArgumentTyper
from nexus_tools.sui.localnet.execution.commands.context import ExecutionContext
from nexus_tools.sui.localnet.execution.commands.publish import add_package
from nexus_tools.sui.localnet.execution.commands.typed_command import TypedCommand
from nexus_tools.sui.localnet.execution.errors import CommandFailed
from nexus_tools.sui.localnet.execution.packages import (
    Dependencies,
    NewModule,
    fetch_package,
    read_modules,
    relocate_modules,
    upgraded_package,
)
from nexus_tools.sui.localnet.vm import Value
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.execution_status import ErrorKind, PackageUpgradeError, UpgradeErrorKind
from nexus_tools.sui.types.object import MovePackage
from nexus_tools.sui.types.transaction import Upgrade
from nexus_tools.sui.types.type_tag import StructTag

UPGRADE_TICKET = StructTag(SUI_FRAMEWORK, "package", "UpgradeTicket")
UPGRADE_RECEIPT = StructTag(SUI_FRAMEWORK, "package", "UpgradeReceipt")


def type_upgrade(
    typer: ArgumentTyper, command: Upgrade, dependencies: Dependencies
) -> TypedCommand:
    """Require an upgrade ticket. The result of the command is an `UpgradeReceipt`."""
    (ticket,) = typer.locate((command.ticket,))
    arguments = [typer.typed(ticket, UPGRADE_TICKET)]
    return TypedCommand(command, dependencies, arguments, [typer.result(UPGRADE_RECEIPT)])


def upgrade(context: ExecutionContext, command: TypedCommand) -> list[Value]:
    """Publish the next version of a package, consume the upgrade ticket, and return a receipt."""
    upgrade_command = command.command
    assert isinstance(upgrade_command, Upgrade)
    # The argument is an `UpgradeTicket { cap: ID, package: ID, policy: u8, digest: vector<u8> }`.
    (cap,), (ticket_package,), policy, digest = context.take(command.arguments[0])
    if ticket_package != upgrade_command.package:
        mismatch = (upgrade_command.package, ticket_package)
        raise _upgrade_failed(UpgradeErrorKind.PACKAGE_ID_DOES_NOT_MATCH, mismatch)
    context.gas.charge_publish(sum(map(len, upgrade_command.modules)))
    compiled = read_modules(upgrade_command.modules)
    computed_digest = package_digest(upgrade_command.modules, upgrade_command.dependencies)
    if computed_digest != bytes(digest):
        raise _upgrade_failed(UpgradeErrorKind.DIGEST_DOES_NOT_MATCH, computed_digest)
    package_id = _upgrade(
        context, upgrade_command, compiled, cast("Dependencies", command.loaded), policy
    )
    # The result is an `UpgradeReceipt { cap: ID, package: ID }`.
    return [[[cap], [bytes(package_id)]]]


def _upgrade(
    context: ExecutionContext,
    command: Upgrade,
    compiled: Sequence[CompiledModule],
    dependencies: Dependencies,
    policy: int,
) -> Address:
    previous = fetch_package(context.store, command.package)
    # The code of every version refers to itself by the original ID. The version's own ID is only
    # its storage location.
    modules = relocate_modules(command.modules, compiled, original_id(previous))
    package_id = context.runtime.transaction.fresh_id()
    package = upgraded_package(package_id, previous, modules, dependencies)
    add_package(context, package, modules)
    _check_upgrade(previous, modules, policy)
    return package_id


def _check_upgrade(previous: MovePackage, modules: list[NewModule], policy: int) -> None:
    if policy not in UpgradePolicy._value2member_map_:
        raise _upgrade_failed(UpgradeErrorKind.UNKNOWN_UPGRADE_POLICY, policy)
    current = {name: deserialize(data) for name, data in previous.modules}
    new = {module.compiled.name: module.compiled for module in modules}
    reason = incompatibility_reason(current, new, UpgradePolicy(policy))
    if reason:
        raise _upgrade_failed(UpgradeErrorKind.INCOMPATIBLE_UPGRADE, None, reason)
    for name in new.keys() - current.keys():
        if has_init(new[name]):
            raise CommandFailed(
                ErrorKind.FEATURE_NOT_YET_SUPPORTED,
                message="`init` in new modules on upgrade is not yet supported",
            )


def _upgrade_failed(
    kind: UpgradeErrorKind, data: object = None, message: str = ""
) -> CommandFailed:
    return CommandFailed(ErrorKind.PACKAGE_UPGRADE_ERROR, PackageUpgradeError(kind, data), message)
