"""`nexus-tools tool proof`: the document with which a domain names the owners of its names."""

from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Session, complete_fqns, reads
from nexus_tools.errors import UnreachableError, ValidationError
from nexus_tools.settings import environment

if TYPE_CHECKING:
    from nexus_tools.contracts.move_bindings.tool import Tool
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry.domain_proof import Proof
    from nexus_tools.sui.types.address import Address

ASK_DOMAIN = click.option(
    "--ask-domain/--offline",
    "ask",
    default=None,
    envvar=environment.ASK_DOMAIN,
    help="Ask the domain whether it lists the owner, or do not: it learns that somebody asks."
    " By default it is asked, but on a network of this machine.",
)


@click.command()
@click.argument("name", metavar="FQN|DOMAIN", shell_complete=complete_fqns)
@click.option("--check", is_flag=True, help="Ask the domain; fail unless it lists the owner.")
@reads
async def command(session: Session, *, name: str, check: bool) -> None:
    """Write the document with which a domain lists you as an owner of its names.

    DOMAIN is as FQNs write it: xyz.example. With --check nothing is written: the domain is asked
    anew whether it lists the owner of the tool FQN; for a DOMAIN, or a tool that is not registered,
    whether it lists you.
    """
    from nexus_tools.tool import ToolFqn, proof_hosts

    fqn = ToolFqn.parse(name if "@" in name else f"{name}.any@1")
    hosts = proof_hosts(fqn.domain)
    async with session.nexus(signing=False) as nexus:
        tool = await nexus.tools.find(fqn) if "@" in name else None
        owner = await nexus.tools.owner(tool) if tool else _wallet(session)
        if check:
            with session.output.progress(f"asking {hosts[0]}"):
                _report(session, await nexus.ask_domain(fqn.domain, owner, fresh=True))
            return
        _write(session, nexus, hosts)
    if tool and owner != _wallet(session):
        session.output.warn(f"{fqn} is owned by {owner}, whom this does not list: it lists you")


async def asked_proof(
    session: Session, nexus: "Nexus", tool: "Tool", ask: bool | None
) -> "Proof | None":
    """What a tool's domain says, as `--ask-domain` has it; None where it is not asked."""
    if not (ask_domains(session) if ask is None else ask):
        return None
    with session.output.progress("asking the domain"):
        return await nexus.proof(tool)


def ask_domains(session: Session) -> bool:
    """Whether domains can know of the network: of one on this machine they know nothing."""
    host = session.network().endpoint().host
    try:
        return not ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"


def proof_document(proof: "Proof | None") -> dict[str, Any] | None:
    """A proof as JSON."""
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
    """A proof in a line."""
    if document is None:
        return None
    return f"{document['state'].replace('_', ' ')}: {document['reason']}"


def _wallet(session: Session) -> "Address":
    return session.settings.locate_account(session.wallet_name).what.address


def _write(session: Session, nexus: "Nexus", hosts: tuple[str, ...]) -> None:
    """Print the document with the wallet in it: who owns the name on chain may be a stranger."""
    from nexus_tools.tool import PROOF_PATH, DomainOwners, RegistryOwners

    place = nexus.deployment.chain_id, str(nexus.deployment.tool_registry)
    owners = RegistryOwners(*place, (str(_wallet(session)),))
    click.echo(DomainOwners((owners,)).text())
    where = ", or for all names below it at ".join(f"https://{host}{PROOF_PATH}" for host in hosts)
    session.output.note(f"publish this at {where}; add it to `registries` of what is there already")


def _report(session: Session, proof: "Proof") -> None:
    """Raises `domain_not_proved`, `domain_unprovable` or `domain_unreachable`."""
    from nexus_tools.registry.domain_proof import ProofState

    if proof.state is ProofState.UNREACHABLE:
        raise UnreachableError("domain_unreachable", proof.reason, hint="try again later")
    if proof.state is ProofState.UNPROVABLE:
        raise ValidationError("domain_unprovable", proof.reason)
    if proof.state is ProofState.NOT_PROVED:
        hint = "`nexus-tools tool proof` without --check writes what to publish"
        details = {"host": proof.host}
        raise ValidationError("domain_not_proved", proof.reason, hint=hint, details=details)
    session.output.done(proof.reason)
    if session.output.as_json:
        session.output.document(proof_document(proof))
