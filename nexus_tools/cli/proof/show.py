"""The command `nexus-tools proof show`, and the readable form of a proof."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Output, Session, plain, query_command
from nexus_tools.errors import ValidationError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.registry import ProofDocument

_LABELS = {
    "invocation": "invocation",
    "fqn": "tool",
    "requester": "requester",
    "execution": "execution",
    "requested": "requested",
    "requested_in": "  in",
    "inputs": "inputs",
    "variant": "variant",
    "ports": "ports",
    "settled": "settled",
    "settled_in": "  in",
    "leader": "settled by",
    "payment": "prepaid",
    "price": "price",
    "fee": "fee",
    "refund": "refunded",
}


@click.command()
@click.argument("invocation")
@click.option(
    "--output",
    "output_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the document to this file.",
)
@query_command
async def command(session: Session, *, invocation: str, output_path: Path | None) -> None:
    """Show the proof that INVOCATION was requested, answered and paid.

    With --output or --json, the proof is a JSON document that anyone can verify with `nexus-tools
    proof verify`. The document contains the inputs and the answer. A deleted invocation can be
    proved while the node stores its history. Exit code 4 means that the call was not settled.
    """
    from nexus_tools.registry import make_proof
    from nexus_tools.sui.types.address import Address

    try:
        place = Address.parse_whole(invocation)
    except ValidationError as error:
        if not invocation.startswith("0x"):
            error.message = f"expected the ID of an invocation, got {invocation[:80]!r}"
            error.hint = "Run `nexus-tools invocation list --closed` to see the IDs."
        raise
    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading transactions and checkpoints"):
            proof = await make_proof(nexus.client, nexus.deployment, place)
    if output_path is not None:
        _save(session.output, proof, output_path)
    elif session.output.as_json:
        session.output.document(proof.as_json())
    else:
        _print(session.output, proof)


def _save(output: Output, proof: "ProofDocument", path: Path) -> None:
    path.write_text(proof.text(), encoding="utf-8")
    output.done(f"wrote the proof to {path}")


def _print(output: Output, proof: "ProofDocument") -> None:
    """Print the call of a proof, its payments, and what the proof proves."""
    call = proof.as_json()["call"]
    words: dict[str, Any] = units.in_words(call) | {"invocation": str(proof.invocation)}
    words["requested"] = units.utc(call["requested_at_ms"])
    words["settled"] = units.utc(call["settled_at_ms"])
    words["price"] = f"{words['price']} to {call['payout']}"
    output.record(words, _LABELS)
    click.echo("\nThis document proves:")
    for part, statement in proof.statements.proves.items():
        click.echo(f"  {plain(part):<20} {plain(statement)}")
    click.echo("\nIt does not prove:")
    for statement in proof.statements.does_not_prove:
        click.echo(f"  * {plain(statement)}")
    output.note("pass --output FILE to save the document")
