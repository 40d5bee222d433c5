"""Local verification of modules, because a network does not explain why it refuses modules."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from nexus_tools.errors import RefusedOnChainError, ValidationError

if TYPE_CHECKING:
    from nexus_tools.sui.client import SuiClient
    from nexus_tools.sui.types.address import Address
    from nexus_tools.sui.types.object import MovePackage

_REFUSED = ("vm_verification_or_deserialization_error", "sui_move_verification_error")


@asynccontextmanager
async def verify_on_refusal(
    client: "SuiClient", modules: Sequence[bytes], dependencies: Sequence["Address"]
) -> AsyncGenerator[None, None]:
    """Run `verify` on the modules if a network refuses them without a known reason."""
    try:
        yield
    except RefusedOnChainError as error:
        if error.code in _REFUSED and not error.details.keys() & {"missing", "differing"}:
            await verify(client, modules, dependencies)
        raise


async def verify(
    client: "SuiClient", modules: Sequence[bytes], dependencies: Sequence["Address"]
) -> None:
    """Verify compiled modules against the network's versions of their dependencies.

    Raises `module_refused` if the modules do not link, or violate a rule of Move or Sui.
    """
    from nexus_tools.sui.types.object import MovePackage

    found = await client.objects(dependencies)
    packages = [item.data for item in found if item and isinstance(item.data, MovePackage)]
    await asyncio.to_thread(_verify, modules, packages)


def _verify(files: Sequence[bytes], packages: Sequence["MovePackage"]) -> None:
    from nexus_tools.sui.bytecode import (
        MalformedModule,
        UnpublishableModule,
        check_publishable,
        deserialize,
        published_module_finder,
        published_modules,
    )
    from nexus_tools.sui.localnet.verifier import VerificationError, verify_package

    modules = [deserialize(data) for data in files]
    find = published_module_finder(published_modules(packages), modules)
    try:
        for module in modules:
            check_publishable(module)
        verify_package(modules, find)
    except (MalformedModule, UnpublishableModule) as error:
        raise _module_refused(module.name, str(error)) from None
    except VerificationError as error:
        raise _module_refused(error.module, str(error)) from None


def _module_refused(name: str, reason: str) -> ValidationError:
    return ValidationError(
        "module_refused",
        f"module {name} is invalid: {reason}",
        hint="Correct its source, or compile it against the packages and IDs on the network.",
    )
