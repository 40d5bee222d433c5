"""A release of the framework, read from the `sui_sandbox` wheel or from a folder.

Like a compiler, all providers of releases write a folder with a `.mv` file for each module. So
`read_release` has to support only one format.
"""

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct

from nexus_tools.sui.bytecode import MalformedModule, deserialize, package_digest
from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.localnet.framework.loader import (
    DEPENDENCIES,
    FRAMEWORK_NAMES,
    FRAMEWORK_VERSION,
    FrameworkPackage,
    load_framework,
)


class Release(Struct, frozen=True, eq=False):
    """The packages 0x1, 0x2 and 0x3 by their addresses. `name` is for display."""

    name: str
    packages: Mapping[bytes, FrameworkPackage]

    @property
    def digests(self) -> Mapping[str, str]:
        """The package digests in hexadecimal, by address (`0x1`, `0x2`, …)."""
        return {
            f"0x{address[-1]:x}": package_digest(package.modules, package.dependencies).hex()
            for address, package in self.packages.items()
        }

    @property
    def digest(self) -> str:
        """One digest for all packages together, in hexadecimal."""
        return hashlib.blake2b("".join(self.digests.values()).encode(), digest_size=32).hexdigest()


@cache
def embedded_release() -> Release:
    """Return the release in the `sui_sandbox` wheel.

    Raises `framework_not_found` and `framework_version_mismatch`.
    """
    return Release(FRAMEWORK_VERSION, load_framework())


def read_release(folder: Path) -> Release:
    """Return the release whose modules are `.mv` files in a folder and its subfolders.

    Raises:
        ValidationError: A package has no modules (`framework_incomplete`), or a file is not a
            module (`framework_invalid`).
    """
    modules_by_address: dict[bytes, dict[str, bytes]] = {address: {} for address in FRAMEWORK_NAMES}
    for path in sorted(folder.rglob("*.mv")):
        data = path.read_bytes()
        address, name = _module_id(path, data)
        if address in modules_by_address:  # other packages, such as the bridge, are not needed
            modules_by_address[address][name] = data
    missing = [
        f"0x{address[-1]:x}" for address, modules in modules_by_address.items() if not modules
    ]
    if missing:
        raise ValidationError(
            "framework_incomplete",
            f"{folder} has no modules of {', '.join(missing)}",
            hint="Specify a folder with the .mv files of 0x1, 0x2 and 0x3.",
        )
    return Release(str(folder), packages_of(modules_by_address))


def packages_of(
    modules: Mapping[bytes, Mapping[str, bytes]],
) -> Mapping[bytes, FrameworkPackage]:
    """Return framework packages built from module bytes.

    `modules` maps each address to a map from module names to module bytes.
    """
    return {
        address: FrameworkPackage(address, _in_order(modules[address].values()), dependencies)
        for address, dependencies in DEPENDENCIES.items()
    }


def write_release(release: Release, folder: Path) -> None:
    """Write the modules of a release into a folder, in the format of `read_release`."""
    for address, package in release.packages.items():
        package_folder = folder / f"0x{address[-1]:x}"
        package_folder.mkdir(parents=True, exist_ok=True)
        for data in package.modules:
            (package_folder / f"{deserialize(data).name}.mv").write_bytes(data)


def _module_id(path: Path, data: bytes) -> tuple[bytes, str]:
    try:
        module = deserialize(data)
    except MalformedModule as error:
        raise ValidationError(
            "framework_invalid", f"{path} is not a Move module: {error}"
        ) from None
    return module.address, module.name


def _in_order(modules: Iterable[bytes]) -> tuple[bytes, ...]:
    """Return modules sorted by name, as in an on-chain package."""
    return tuple(sorted(modules, key=lambda data: deserialize(data).name))
