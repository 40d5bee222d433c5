"""The origins of registered tools and workflows: owners, and confirmations of domains."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from nexus_tools.cli.framework import Session, ToolSelection
from nexus_tools.cli.tool.proof import should_check_domains
from nexus_tools.errors import NexusError
from nexus_tools.export import Exportable
from nexus_tools.mcp_server import Origin, OriginLookup, Trust
from nexus_tools.nexus import Nexus
from nexus_tools.registry.domain_proof import DomainProver, ProofState, open_domain_prover
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolFqn

_TRUST = {ProofState.PROVED: Trust.PROVED, ProofState.NOT_PROVED: Trust.NOT_PROVED}


class _RegistryOrigins:
    """A reader of owners in the registry, which queries domains for confirmation of the owners.

    The reader only queries domains in `asked` and their subdomains. A domain can see the queries,
    so the operator selects the domains.
    """

    def __init__(
        self,
        nexus: Nexus,
        own: Address | None,
        proofs: DomainProver | None,
        asked: Sequence[str],
    ) -> None:
        self._nexus = nexus
        self._own = own
        self._proofs = proofs
        self._asked = asked
        self._known: dict[tuple[str, Address], Trust] = {}

    async def __call__(self, definitions: Sequence[Exportable]) -> Mapping[ToolFqn, Origin]:
        fqns = [definition.fqn for definition in definitions]
        owners = await self._nexus.tools.owners(fqn.unversioned for fqn in fqns)
        found: dict[ToolFqn, Origin] = {}
        for fqn in fqns:
            owner = owners.get(fqn.unversioned)
            if owner is not None:
                found[fqn] = Origin(str(owner), await self._trust(fqn.domain, owner))
        return found

    async def _trust(self, domain: str, owner: Address) -> Trust:
        if owner == self._own:
            return Trust.OWN
        is_asked = any(
            domain == parent or domain.startswith(f"{parent}.") for parent in self._asked
        )
        if self._proofs is None or not is_asked:
            return Trust.NOT_CHECKED
        key = domain, owner
        if key not in self._known:
            deployment = self._nexus.deployment
            place = deployment.chain_id, str(deployment.tool_registry)
            proof = await self._proofs.prove(domain, str(owner), *place)
            if proof.state not in _TRUST:
                return Trust.NOT_CHECKED  # not cached: the domain may be reachable later
            self._known[key] = _TRUST[proof.state]
        return self._known[key]


@asynccontextmanager
async def registry_origins(
    session: Session, nexus: Nexus, selection: ToolSelection, query_domain: bool | None
) -> AsyncIterator[OriginLookup]:
    """Open the reader of origins. `query_domain` is the value of `--check-domain`."""
    try:
        own = session.own_address()
    except NexusError:  # a server that only reads needs no wallet
        own = None
    if not (should_check_domains(session) if query_domain is None else query_domain):
        yield _RegistryOrigins(nexus, own, None, ())
        return
    async with open_domain_prover(session.settings.cache_directory / "domains") as proofs:
        yield _RegistryOrigins(nexus, own, proofs, selection.domains)
