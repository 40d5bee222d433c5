"""`sui.rpc.v2.NameService`: no name is registered on a network without SuiNS."""

from nexus_tools.localnet.rpc.backend import Backend, Unary
from nexus_tools.localnet.rpc.domain_name import parse_domain
from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.localnet.rpc.request_fields import address, parsed, required
from nexus_tools.localnet.rpc.status import not_found


def _lookup_name(_: Backend, request: Message, __: Message) -> None:
    name = parsed("name", required(request, "name"), parse_domain)
    raise not_found(f"name {name!r} is not registered: SuiNS is not on this network")


def _reverse_lookup_name(_: Backend, request: Message, __: Message) -> None:
    found = address(request, "address")
    raise not_found(f"{found} has no name: SuiNS is not on this network")


UNARY: dict[str, Unary] = {
    "LookupName": _lookup_name,
    "ReverseLookupName": _reverse_lookup_name,
}
