"""All modules of a package, by the rules of Move and then by those of Sui."""

from collections.abc import Sequence

from nexus_tools.localnet.bytecode import CompiledModule
from nexus_tools.localnet.verifier.dependencies import Dependencies
from nexus_tools.localnet.verifier.sui import Meter, verify_sui_module
from nexus_tools.localnet.verifier.sui.meter import PackageMeter
from nexus_tools.localnet.verifier.verifier import verify_module


def verify_package(modules: Sequence[CompiledModule], dependencies: Dependencies) -> None:
    """Refuse modules that break a rule. Raises `VerificationError`.

    As on the network, all modules keep the rules of Move before Sui's rules are looked at, and the
    work for both, of all modules together, is limited.
    """
    package = PackageMeter()
    for module in modules:
        package.add(module.name, verify_module(module, dependencies))
    for module in modules:
        meter = Meter(module.name)
        verify_sui_module(module, meter)
        package.add(module.name, meter.ticks)
