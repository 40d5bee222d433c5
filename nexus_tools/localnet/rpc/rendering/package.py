"""Packages as objects hold them (`sui.rpc.v2.Package`)."""

from nexus_tools.localnet.ledger.live_objects import original_id
from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.localnet.rpc.read_mask import Mask
from nexus_tools.sui.object import MovePackage


def render_package(message: Message, package: MovePackage, mask: Mask) -> None:
    """The wanted fields; of modules, name and bytes."""
    message.storage_id = str(package.id)
    message.original_id = str(original_id(package))
    message.version = package.version
    if "modules" in mask:
        for name, contents in package.modules:
            message.modules.add(name=name, contents=contents)
    if "type_origins" in mask:
        _render_type_origins(message, package)
    if "linkage" in mask:
        _render_linkage(message, package)


def _render_type_origins(message: Message, package: MovePackage) -> None:
    for origin in package.type_origins:
        message.type_origins.add(
            module_name=origin.module,
            datatype_name=origin.datatype,
            package_id=str(origin.package),
        )


def _render_linkage(message: Message, package: MovePackage) -> None:
    for link in package.linkage:
        message.linkage.add(
            original_id=str(link.original_id),
            upgraded_id=str(link.upgraded_id),
            upgraded_version=link.upgraded_version,
        )
