"""Who may declare a Move function to be a tool: the publisher of its module."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from nexus_tools.errors import NotFoundError
from nexus_tools.registry.tools.on_chain_calls import FunctionReader
from nexus_tools.registry.tools.registration import Declaration, Registration
from nexus_tools.sui.bcs import record, string
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.types.address import ADDRESS_LENGTH, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.object import MoveObject
from nexus_tools.sui.types.type_tag import StructTag, parse_struct_tag

_HERE = "0x0::"
_PUBLISHER = StructTag(SUI_FRAMEWORK, "package", "Publisher", ())
# After the id: an address without `0x`, and a name.
_PACKAGE_AND_MODULE = record((string, string))


async def declared(
    client: SuiClient, reader: FunctionReader, registrations: Iterable[Registration]
) -> list[Registration]:
    """The same, on-chain ones with the publisher that the wallet has for them, if it has one.

    Raises `function_unknown` or `function_unfit` for what could never be called.
    """
    found: list[Registration] = []
    publishers: Mapping[tuple[Address, str], Address] | None = None
    for each in registrations:
        if each.definition.function is not None and each.declaration is None:
            await reader.call_of(each.definition)
            witness = await reader.witness_of(each.definition)
            if publishers is None:
                publishers = await _publishers(client)
            original = parse_struct_tag(each.definition.function.witness)
            publisher = publishers.get((original.address, original.module))
            if publisher is not None:
                found.append(replace(each, declaration=Declaration(publisher, witness)))
                continue
        found.append(each)
    return found


async def placed(
    client: SuiClient, package: Address, document: Mapping[str, Any]
) -> Mapping[str, Any]:
    """A definition document for a published package, whose modules it names as those of `0x0`.

    An object that is given by its type, as `0x0::badge::Collection`, is the one of that type that
    the package made when it was published. Raises `function_unknown`.
    """
    function = document.get("function")
    if not isinstance(function, Mapping):
        return document
    here = f"{package}::"
    objects = [
        await _made(client, package, str(each)) if str(each).startswith(_HERE) else each
        for each in function.get("objects", ())
    ]
    witness = str(function.get("witness", "")).replace(_HERE, here)
    return {
        **document,
        "url": str(document.get("url", "")).replace(_HERE, here),
        "function": {**function, "witness": witness, "objects": objects},
    }


async def _made(client: SuiClient, package: Address, kind: str) -> str:
    """The object of a type that a package made when it was published."""
    published = await client.object(package)
    executed = published and await client.transaction(published.previous_transaction)
    _, module, name = kind.split("::")
    found = executed.created_of(module, name) if executed else ()
    if len(found) != 1:
        raise NotFoundError(
            "function_unknown",
            f"the package {package} made {len(found)} objects of {module}::{name} when it was"
            " published",
            hint="name the object by its id",
        )
    return str(found[0])


async def _publishers(client: SuiClient) -> dict[tuple[Address, str], Address]:
    """The publisher objects of the wallet by original package and module."""
    found = {}
    for value in await client.owned_objects(client.address, _PUBLISHER):
        assert isinstance(value.data, MoveObject)
        package, module = _PACKAGE_AND_MODULE.decode(value.data.contents[ADDRESS_LENGTH:])
        found[Address.parse(f"0x{package}"), module] = value.id
    return found
