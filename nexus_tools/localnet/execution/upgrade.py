"""The command `Upgrade`."""

from nexus_tools.localnet.bytecode import deserialize, package_digest
from nexus_tools.localnet.execution.arguments import Arguments
from nexus_tools.localnet.execution.command import CommandOutcome
from nexus_tools.localnet.execution.compatibility import (
    UpgradePolicy,
    check_compatible,
)
from nexus_tools.localnet.execution.context import ExecutionContext, ResultValue
from nexus_tools.localnet.execution.errors import CommandFailed
from nexus_tools.localnet.execution.initializer import INIT
from nexus_tools.localnet.execution.package import (
    NewModule,
    fetch_package,
    original_id,
    read_modules,
    upgraded_package,
)
from nexus_tools.localnet.execution.publish import introduce
from nexus_tools.localnet.execution.verifier import verify_modules
from nexus_tools.localnet.vm import Value
from nexus_tools.sui.address import SUI_FRAMEWORK
from nexus_tools.sui.execution_status import ErrorKind, PackageUpgradeError, UpgradeErrorKind
from nexus_tools.sui.object import MovePackage
from nexus_tools.sui.transaction import Upgrade
from nexus_tools.sui.type_tag import StructTag

UPGRADE_TICKET = StructTag(SUI_FRAMEWORK, "package", "UpgradeTicket")
UPGRADE_RECEIPT = StructTag(SUI_FRAMEWORK, "package", "UpgradeReceipt")


def upgrade(context: ExecutionContext, command: Upgrade) -> CommandOutcome:
    """Publish the next version of a package; turn the ticket into a receipt."""
    context.gas.charge_publish(sum(map(len, command.modules)))
    arguments = Arguments(context)
    ticket = arguments.by_value(0, command.ticket, UPGRADE_TICKET)
    (cap,), (ticket_package,), policy, digest = ticket
    _check_ticket(command, ticket_package, bytes(digest))
    previous = fetch_package(context, command.package)
    modules = read_modules(command.modules, original_id(context, command.package))
    package_id = context.runtime.transaction.fresh_id()
    package = upgraded_package(context, package_id, previous, modules, command.dependencies)
    introduce(context, package)
    verify_modules(context, package, modules)
    _check_upgrade(previous, modules, policy)
    receipt: Value = [[cap], [bytes(package_id)]]
    return CommandOutcome([ResultValue(UPGRADE_RECEIPT, receipt)], arguments)


def _check_ticket(command: Upgrade, ticket_package: bytes, digest: bytes) -> None:
    if ticket_package != command.package:
        raise _upgrade_failed(
            UpgradeErrorKind.PACKAGE_ID_DOES_NOT_MATCH, (command.package, ticket_package)
        )
    computed = package_digest(command.modules, command.dependencies)
    if computed != digest:
        raise _upgrade_failed(UpgradeErrorKind.DIGEST_DOES_NOT_MATCH, computed)


def _check_upgrade(previous: MovePackage, modules: list[NewModule], policy: int) -> None:
    if policy not in UpgradePolicy._value2member_map_:
        raise _upgrade_failed(UpgradeErrorKind.UNKNOWN_UPGRADE_POLICY, policy)
    current = {name: deserialize(data) for name, data in previous.modules}
    new = {module.compiled.name: module.compiled for module in modules}
    reason = check_compatible(current, new, UpgradePolicy(policy))
    if reason:
        raise _upgrade_failed(UpgradeErrorKind.INCOMPATIBLE_UPGRADE, None, reason)
    for name in new.keys() - current.keys():
        compiled = new[name]
        if any(
            compiled.function_id(definition.handle)[2] == INIT
            for definition in compiled.function_definitions
        ):
            raise CommandFailed(
                ErrorKind.FEATURE_NOT_YET_SUPPORTED,
                message="`init` in new modules on upgrade is not yet supported",
            )


def _upgrade_failed(
    kind: UpgradeErrorKind, data: object = None, message: str = ""
) -> CommandFailed:
    return CommandFailed(ErrorKind.PACKAGE_UPGRADE_ERROR, PackageUpgradeError(kind, data), message)
