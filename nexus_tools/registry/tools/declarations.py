"""Declarations of Move functions as tools, made with the `Publisher` of the function's module."""

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

_PLACEHOLDER = "0x0::"
_PUBLISHER = StructTag(SUI_FRAMEWORK, "package", "Publisher", ())
# The fields of a `Publisher` after its ID: the package address without `0x`, and the module name.
_PACKAGE_AND_MODULE = record((string, string))


async def with_declarations(
    client: SuiClient, reader: FunctionReader, registrations: Iterable[Registration]
) -> list[Registration]:
    """Return the registrations, with declarations made by the wallet's `Publisher` objects.

    If the wallet does not own the `Publisher` of a module, the registration is returned unchanged.
    Raises `function_unknown`, or `function_incompatible` for a function that no leader can call.
    """
    results: list[Registration] = []
    publishers: Mapping[tuple[Address, str], Address] | None = None
    for registration in registrations:
        if registration.definition.function is not None and registration.declaration is None:
            await reader.call_of(registration.definition)
            witness = await reader.witness_of(registration.definition)
            if publishers is None:
                publishers = await _publishers(client)
            original = parse_struct_tag(registration.definition.function.witness)
            publisher = publishers.get((original.address, original.module))
            if publisher is not None:
                results.append(replace(registration, declaration=Declaration(publisher, witness)))
                continue
        results.append(registration)
    return results


async def place_function(
    client: SuiClient, package: Address, document: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return a definition document with the address `0x0` replaced by the published package.

    The document may name an object by its type, such as `0x0::badge::Collection`. The type is
    replaced by the ID of the object that the publishing transaction created. Raises
    `function_unknown`.
    """
    function = document.get("function")
    if not isinstance(function, Mapping):
        return document
    here = f"{package}::"
    objects = [
        await _created_object(client, package, str(item))
        if str(item).startswith(_PLACEHOLDER)
        else item
        for item in function.get("objects", ())
    ]
    witness = str(function.get("witness", "")).replace(_PLACEHOLDER, here)
    return {
        **document,
        "url": str(document.get("url", "")).replace(_PLACEHOLDER, here),
        "function": {**function, "witness": witness, "objects": objects},
    }


async def _created_object(client: SuiClient, package: Address, kind: str) -> str:
    """Return the ID of the only object of a type that the publication of a package created."""
    published = await client.object(package)
    executed = published and await client.transaction(published.previous_transaction)
    _, module, name = kind.split("::")
    ids = executed.created_of(module, name) if executed else ()
    if len(ids) != 1:
        raise NotFoundError(
            "function_unknown",
            f"the publication of the package {package} created {len(ids)} objects of type"
            f" {module}::{name}, expected one",
            hint="Pass the object by its ID.",
        )
    return str(ids[0])


async def _publishers(client: SuiClient) -> dict[tuple[Address, str], Address]:
    """Return the wallet's `Publisher` objects by original package and module."""
    publishers = {}
    for value in await client.owned_objects(client.address, _PUBLISHER):
        assert isinstance(value.data, MoveObject)
        package, module = _PACKAGE_AND_MODULE.decode(value.data.contents[ADDRESS_LENGTH:])
        publishers[Address.parse(f"0x{package}"), module] = value.id
    return publishers
