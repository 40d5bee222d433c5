"""The page and the document that prove a paid call."""

from http import HTTPStatus

from starlette.responses import Response

from nexus_tools.errors import NexusError, NotFoundError, UnreachableError, WrongStateError
from nexus_tools.explorer.context import Page, PageContext, PageError
from nexus_tools.explorer.trees import json_tree
from nexus_tools.registry import ProofDocument, make_proof
from nexus_tools.sui.types.address import Address

_STATUSES: dict[type[NexusError], HTTPStatus] = {
    NotFoundError: HTTPStatus.NOT_FOUND,
    WrongStateError: HTTPStatus.CONFLICT,
    UnreachableError: HTTPStatus.SERVICE_UNAVAILABLE,
}


async def show_proof(context: PageContext) -> Page | Response:
    """Show the proof of a paid call, as a document if the client prefers JSON."""
    if "application/json" in context.request.headers.get("accept", ""):
        return await show_proof_document(context)
    invocation = Address.parse_whole(context.path["id"])
    proof = await _read_proof(context, invocation)
    call = proof.call
    values = {
        "proof": proof,
        "call": call,
        "inputs": None if call.inputs is None else json_tree("inputs", call.inputs),
        "answer": json_tree(call.variant, call.ports),
        "size": len(proof.text()),
    }
    return Page("proof.html", "Proof of a paid call", values)


async def show_proof_document(context: PageContext) -> Response:
    """Return the document that proves a paid call, for `nexus-tools proof verify`."""
    invocation = Address.parse_whole(context.path["id"])
    proof = await _read_proof(context, invocation)
    headers = {
        "Content-Disposition": f'attachment; filename="proof-{str(invocation)[2:12]}.json"',
        "Cache-Control": "no-cache",
    }
    return Response(proof.text(), headers=headers, media_type="application/json")


async def _read_proof(context: PageContext, invocation: Address) -> ProofDocument:
    """Return a proof, or raise the page that says why there is none."""
    chain = context.chain
    try:
        return await chain.shared(
            ("proof", invocation),
            lambda: make_proof(chain.client, chain.deployment, invocation),
        )
    except (NotFoundError, WrongStateError, UnreachableError) as error:
        status = _STATUSES[type(error)]
        raise PageError(status, error.message, hint=error.hint, code=error.code) from error
