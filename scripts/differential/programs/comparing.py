"""The comparison of compiled programs in both VMs."""

import shutil
from pathlib import Path

from differential.comparison import Coverage, Difference, Differential
from differential.exposed_packages import ExposedPackages
from differential.programs.source import MANIFEST, MODULE, PREFIX
from nexus_tools.sui.bytecode import CompiledModule, deserialize, relocate
from nexus_tools.sui.localnet.compiler import WASM_PATH, MoveBuilder, install_builder
from nexus_tools.sui.types.address import Address

_CODE = Address.of(0xC0DE)
_CACHE = Path(__file__).resolve().parents[3] / ".cache"
_COMPILER = _CACHE / "sui-move-builder"


def has_compiler() -> bool:
    """Return whether the Move compiler is installed or can be downloaded."""
    return (_COMPILER / "dist" / WASM_PATH).is_file() or shutil.which("npm") is not None


def move_builder() -> MoveBuilder:
    """Return the Move compiler, which npm downloads if it is missing."""
    return MoveBuilder(install_builder(_COMPILER), _CACHE / "wasmtime")


def compiled(builder: MoveBuilder, source: str) -> CompiledModule:
    """Compile a module of programs. Raises `NexusError` if the compiler rejects it."""
    built = builder.build({"Move.toml": MANIFEST, f"sources/{MODULE}.move": source})
    return deserialize(relocate(built.modules[0], _CODE))


def compare_programs(
    packages: ExposedPackages, module: CompiledModule, seed: str, rounds: int
) -> tuple[list[Coverage], list[Difference]]:
    """Return the coverage of each program of a module, and the differences.

    Each program is called with at most `rounds` lists of arguments, drawn from the seed.
    """
    packages.publish(_CODE, [module])
    comparing = Differential(packages, seed)
    coverages = comparing.compare_module(_CODE, MODULE, rounds, PREFIX)
    return coverages, comparing.differences
