"""The service `sui.rpc.v2.MovePackageService`: packages, their datatypes and functions."""

from nexus_tools.sui.bytecode import original_id
from nexus_tools.sui.localnet.rpc.backend import Backend, UnaryHandler
from nexus_tools.sui.localnet.rpc.interface import EVERYTHING, invalid, not_found
from nexus_tools.sui.localnet.rpc.rendering import (
    render_datatype,
    render_function,
    render_module,
    render_package,
)
from nexus_tools.sui.localnet.rpc.requests import address, page_size, place_of, required, token_for
from nexus_tools.sui.localnet.vm import LoadedModule
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.object import MovePackage

_VERSION_BYTES = 8


def _get_package(backend: Backend, request: Message, response: Message) -> None:
    package = _find_package(backend, request)
    render_package(response.package, package, EVERYTHING)
    modules = backend.node.machine.types.modules(package.id)
    for message, module in zip(response.package.modules, modules, strict=True):
        render_module(message, module)


def _get_datatype(backend: Backend, request: Message, response: Message) -> None:
    module, name = _find_module(backend, request), required(request, "name")
    datatype = module.datatype(name)
    if datatype is None:
        raise not_found(f"Datatype {module.package}::{module.name}::{name[:200]} not found")
    render_datatype(response.datatype, datatype)


def _get_function(backend: Backend, request: Message, response: Message) -> None:
    module, name = _find_module(backend, request), required(request, "name")
    function = module.function(name)
    if function is None:
        raise not_found(f"Function {module.package}::{module.name}::{name[:200]} not found")
    render_function(response.function, function)


def _list_package_versions(backend: Backend, request: Message, response: Message) -> None:
    package = _find_package(backend, request)
    original = original_id(package)
    question = ("package versions", str(original))
    size, after = page_size(request), int.from_bytes(place_of(request, question) or b"", "big")
    versions = [
        package_version
        for package_version in backend.node.ledger.package_versions(original)
        if package_version.version > after
    ]
    for package_version in versions[:size]:
        response.versions.add(package_id=str(package_version.id), version=package_version.version)
    if len(versions) > size:
        place = versions[size - 1].version.to_bytes(_VERSION_BYTES, "big")
        response.next_page_token = token_for(place, question)


def _find_package(backend: Backend, request: Message) -> MovePackage:
    package_id = address(request, "package_id")
    value = backend.node.ledger.get(package_id)
    if value is None:
        raise not_found(f"Package {package_id} not found")
    if not isinstance(value.data, MovePackage):
        raise invalid(f"object {package_id} is not a package")
    return value.data


def _find_module(backend: Backend, request: Message) -> LoadedModule:
    package = _find_package(backend, request)
    name = required(request, "module_name")
    loaded_package = backend.node.machine.types.package(package.id)
    module = loaded_package.module(name) if loaded_package else None
    if module is None:
        raise not_found(f"Module {package.id}::{name[:200]} not found")
    return module


UNARY: dict[str, UnaryHandler] = {
    "GetPackage": _get_package,
    "GetDatatype": _get_datatype,
    "GetFunction": _get_function,
    "ListPackageVersions": _list_package_versions,
}
