"""The command `nexus-tools tool proof`, for the document in which a domain lists owners."""

from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Session, complete_fqns, network_command
from nexus_tools.errors import UnreachableError, ValidationError
from nexus_tools.settings import environment

if TYPE_CHECKING:
    from nexus_tools.contracts.move_bindings.tool import Tool
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry.domain_proof import DomainProof
    from nexus_tools.sui.types.address import Address

CHECK_DOMAIN = click.option(
    "--check-domain/--no-check-domain",
    "query_domain",
    default=None,
    envvar=environment.CHECK_DOMAIN,
    help="Query the tool's domain for its list of owners. The domain sees the request. Default:"
    " query, unless the network runs on this machine.",
)


@click.command()
@click.argument("name", metavar="FQN|DOMAIN", shell_complete=complete_fqns)
@click.option("--check", is_flag=True, help="Query the domain, and fail unless it lists the owner.")
@network_command
async def command(session: Session, *, name: str, check: bool) -> None:
    """Print the document with which a domain confirms that you own its names.

    Write DOMAIN in the order of FQNs, for example xyz.example. With --check, the command does not
    print the document. Instead, it queries the domain without the cache, and fails unless the
    domain lists the owner of the tool FQN. For a DOMAIN or an unregistered tool, the domain must
    list you.
    """
    from nexus_tools.tool import ToolFqn, proof_hosts

    fqn = ToolFqn.parse(name if "@" in name else f"{name}.any@1")
    hosts = proof_hosts(fqn.domain)
    async with session.nexus(signing=False) as nexus:
        tool = await nexus.tools.find(fqn) if "@" in name else None
        owner = await nexus.tools.owner(tool) if tool else _wallet(session)
        if check:
            with session.output.progress(f"querying {hosts[0]}"):
                _report(session, await nexus.check_domain(fqn.domain, owner, fresh=True))
            return
        _write(session, nexus, hosts)
    if tool and owner != _wallet(session):
        session.output.warn(f"{fqn} is owned by {owner}, but this document lists you")


async def check_domain(
    session: Session, nexus: "Nexus", tool: "Tool", query_domain: bool | None
) -> "DomainProof | None":
    """Return the proof of a tool's domain, or None if `--check-domain` disables the query."""
    if not (should_check_domains(session) if query_domain is None else query_domain):
        return None
    with session.output.progress("querying the domain"):
        return await nexus.domain_proof(tool)


def should_check_domains(session: Session) -> bool:
    """Return whether domains are queried by default: not for a network on this machine."""
    host = session.network().endpoint().host
    try:
        return not ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"


def proof_document(proof: "DomainProof | None") -> dict[str, Any] | None:
    """Return a proof as JSON."""
    if proof is None:
        return None
    owners = None if proof.owners is None else list(proof.owners)
    return {
        "state": proof.state.value,
        "reason": proof.reason,
        "host": proof.host,
        "owners": owners,
    }


def proof_in_words(document: dict[str, Any] | None) -> str | None:
    """Return a proof as one line."""
    if document is None:
        return None
    return f"{document['state'].replace('_', ' ')}: {document['reason']}"


def _wallet(session: Session) -> "Address":
    return session.own_address()


def _write(session: Session, nexus: "Nexus", hosts: tuple[str, ...]) -> None:
    """Print the document with the wallet's address instead of the on-chain owner's address."""
    from nexus_tools.tool import PROOF_PATH, DomainOwners, RegistryOwners

    place = nexus.deployment.chain_id, str(nexus.deployment.tool_registry)
    owners = RegistryOwners(*place, (str(_wallet(session)),))
    click.echo(DomainOwners((owners,)).text())
    urls = (f"https://{host}{PROOF_PATH}" for host in hosts)
    where = ", or, to cover all names of the parent domain, at ".join(urls)
    session.output.note(
        f"publish this document at {where}. If a document exists there, add this entry to its"
        " `registries`"
    )


def _report(session: Session, proof: "DomainProof") -> None:
    """Report a proof. Raises `domain_not_proved`, `domain_unprovable` or `domain_unreachable`."""
    from nexus_tools.registry.domain_proof import ProofState

    if proof.state is ProofState.UNREACHABLE:
        raise UnreachableError("domain_unreachable", proof.reason, hint="Try again later.")
    if proof.state is ProofState.UNPROVABLE:
        raise ValidationError("domain_unprovable", proof.reason)
    if proof.state is ProofState.NOT_PROVED:
        hint = "Run `nexus-tools tool proof` without --check to print the document to publish."
        details = {"host": proof.host}
        raise ValidationError("domain_not_proved", proof.reason, hint=hint, details=details)
    session.output.done(proof.reason)
    if session.output.as_json:
        session.output.document(proof_document(proof))
