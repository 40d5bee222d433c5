"""The verification of a new package's modules, together with the modules that it links to."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nexus_tools.sui.bytecode import CompiledModule
from nexus_tools.sui.localnet.execution.errors import CommandFailed
from nexus_tools.sui.localnet.execution.packages.new_package import NewModule
from nexus_tools.sui.localnet.vm import Machine
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.execution_status import ErrorKind
from nexus_tools.sui.types.object import MovePackage

if TYPE_CHECKING:
    from nexus_tools.sui.bytecode import Dependencies

# All other verification errors have Move status codes, which effects do not contain.
_KINDS = {
    kind.name: kind
    for kind in (
        ErrorKind.SUI_MOVE_VERIFICATION_ERROR,
        ErrorKind.SUI_MOVE_VERIFICATION_TIMEDOUT,
        ErrorKind.INVARIANT_VIOLATION,
    )
}


def verify_modules(machine: Machine, package: MovePackage, modules: Sequence[NewModule]) -> None:
    """Verify the modules of a new package. The VM need not have loaded the package.

    Raises:
        CommandFailed: a module is not valid.
    """
    from nexus_tools.sui.localnet.verifier import (  # noqa: PLC0415 - 20 ms, only for `Publish`
        VerificationError,
        VerifiedModules,
        verify_package,
    )

    dependencies = _linked_modules(machine, package, modules)
    verified = VerifiedModules((module.compiled, module.data) for module in modules)
    try:
        verify_package([module.compiled for module in modules], dependencies, verified)
    except VerificationError as error:
        kind = _KINDS.get(error.status, ErrorKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR)
        raise CommandFailed(kind, message=str(error)) from None


def _linked_modules(
    machine: Machine, package: MovePackage, modules: Sequence[NewModule]
) -> "Dependencies":
    """Return the function with which the verifier looks up modules of this and linked packages."""
    own = {module.compiled.name: module.compiled for module in modules}
    linkage = {link.original_id: link.upgraded_id for link in package.linkage}

    def find(module_id: tuple[bytes, str]) -> CompiledModule | None:
        address, name = module_id
        if address == modules[0].compiled.address:
            return own.get(name)
        linked_package = machine.types.package(linkage.get(Address(address), package.id))
        module = linked_package.module(name) if linked_package else None
        return module.compiled if module else None

    return find
