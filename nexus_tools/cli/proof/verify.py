"""The command `nexus-tools proof verify`."""

from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import (
    Output,
    Session,
    complete_files,
    plain,
    query_command,
    read_bytes,
)
from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.registry import ProofDocument, ProofVerification

_SIGNS = {"passed": "✓", "failed": "✗", "not_applicable": "-"}


@click.command()
@click.argument("file", shell_complete=complete_files)
@query_command
async def command(session: Session, *, file: str) -> None:
    """Verify the proof in FILE, or on stdin for `-`, against your node.

    The command trusts your node and your deployment of the package, and nothing in the document.
    The node must have the transactions and checkpoints of the call. The exit code is 0 if all
    checks pass, and 7 if a check fails or the document is malformed.

    With --json, the fields are `valid`, `invocation`, `checks` and `call`. Each check has `name`,
    `detail` and `state`, which is `passed`, `failed` or `not_applicable`. If a check failed, `call`
    is null.
    """
    from nexus_tools.registry import MAX_PROOF_BYTES, ProofDocument, verify_proof

    try:
        content = read_bytes(file, MAX_PROOF_BYTES + 1)
    except UsageError as error:
        saved = file if file.startswith("0x") else "INVOCATION"
        error.hint = (
            f"Run `nexus-tools proof show {saved} --output proof.json` to save a proof,"
            " and pass that file."
        )
        raise
    document = ProofDocument.parse(content)
    async with session.nexus(signing=False) as nexus:
        with session.output.progress("comparing with the node"):
            verification = await verify_proof(nexus.client, nexus.deployment, document)
    _print(session.output, document, verification)
    if not verification.is_valid:
        names = [check.name for check in verification.failed]
        raise ValidationError(
            "proof_refused",
            f"the proof is not valid: these checks failed: {', '.join(names)}",
            hint="Do not rely on the document. If only checks of the node failed, check the network"
            " with `nexus-tools network show`, or use a node with a longer history.",
            details={"failed": names},
        )
    if not session.output.as_json:
        session.output.done("the proof is valid")


def _print(output: Output, document: "ProofDocument", verification: "ProofVerification") -> None:
    """Print the checks, and the verified call."""
    if output.as_json:
        checks = [
            {"name": check.name, "state": check.state.value, "detail": check.detail}
            for check in verification.checks
        ]
        call = document.as_json()["call"] if verification.is_valid else None
        output.document(
            {
                "valid": verification.is_valid,
                "invocation": str(document.invocation),
                "checks": checks,
                "call": call,
            }
        )
        return
    for check in verification.checks:
        click.echo(f"{_SIGNS[check.state]} {check.name:<20} {plain(check.detail)}")
    if not verification.is_valid:
        return
    call = document.call
    click.echo(
        plain(
            f"{call.requester} paid {units.sui(call.price_mist)} to {call.payout} for the answer"
            f" {call.variant[:80]!r} of {call.fqn} at {units.utc(call.settled_at_ms)}"
        )
    )
    click.echo("\nThe proof does not show:")
    for statement in document.statements.does_not_prove:
        click.echo(f"  * {plain(statement)}")
