"""The check that deployed packages have the types and functions that this release uses."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from nexus_tools import __version__
from nexus_tools.contracts.compiled import (
    PACKAGE_NAMES,
    CompiledPackage,
    load_package,
    load_workflows,
    shipped_digest,
)
from nexus_tools.contracts.deployment import Deployment
from nexus_tools.errors import ValidationError
from nexus_tools.sui.bindings.runtime import Package
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.types.address import ZERO
from nexus_tools.sui.types.object import MovePackage

if TYPE_CHECKING:
    from nexus_tools.sui.bytecode import CompiledModule

_FOLDER = "compatible-packages"


async def check_compatibility(client: SuiClient, deployment: Deployment, cache: Path) -> None:
    """Check that the deployed packages are compatible, once for each package and cache folder.

    A package is compatible if it could be an upgrade of the package that ships with this release.
    A compatible package has all struct layouts and functions of the shipped package, and possibly
    more. Published packages never change, so the folder `cache` stores which packages are
    compatible. Raises `package_incompatible`.
    """
    packages = deployment.by_name()
    unknown = [name for name, package in packages.items() if not _is_known(cache, package, name)]
    values = await client.objects([packages[name].id for name in unknown]) if unknown else ()
    for name, value in zip(unknown, values, strict=True):
        if value is None or not isinstance(value.data, MovePackage):
            continue  # the first call of the missing package raises an error
        _check(value.data, _shipped(deployment, name), name)
        _remember(cache, packages[name], name)


def _shipped(deployment: Deployment, name: str) -> CompiledPackage:
    return load_package() if name == PACKAGE_NAMES[0] else load_workflows(deployment.package)


def _check(deployed: MovePackage, shipped: CompiledPackage, name: str) -> None:
    # Imported late, because most commands find the result in the cache.
    from nexus_tools.sui.bytecode import (  # noqa: PLC0415
        UpgradePolicy,
        incompatibility_reason,
        original_id,
        with_addresses,
    )

    original = {ZERO: original_id(deployed)}
    relocated = [with_addresses(code, original) for code in shipped.modules]
    deployed_codes = [code for _, code in deployed.modules]
    # Do not parse equal modules, because parsing takes 100 times as long as comparing bytes.
    if set(relocated) <= set(deployed_codes):
        return
    ours, theirs = _modules(relocated), _modules(deployed_codes)
    reason = incompatibility_reason(ours, theirs, UpgradePolicy.COMPATIBLE)
    if not reason:
        return
    is_older = not incompatibility_reason(theirs, ours, UpgradePolicy.COMPATIBLE)
    raise ValidationError(
        "package_incompatible",
        f"the package {name} at {deployed.id} is incompatible with nexus-tools {__version__}:"
        f" {reason}",
        hint="Upgrade the package with `nexus-tools package upgrade propose`."
        if is_older
        else "Install the release of nexus-tools that published it, or publish the packages of this"
        " release with `nexus-tools package publish`.",
    )


def _modules(codes: Iterable[bytes]) -> "dict[str, CompiledModule]":
    from nexus_tools.sui.bytecode import deserialize  # noqa: PLC0415 - see `_check`

    return {module.name: module for module in map(deserialize, codes)}


def _place(cache: Path, package: Package) -> Path:
    return cache / _FOLDER / str(package.id)


def _is_known(cache: Path, package: Package, name: str) -> bool:
    with suppress(OSError):
        return _place(cache, package).read_text("utf-8") == shipped_digest(name)
    return False


def _remember(cache: Path, package: Package, name: str) -> None:
    with suppress(OSError):  # if the folder is read-only, each command checks again
        path = _place(cache, package)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(shipped_digest(name), encoding="utf-8")
