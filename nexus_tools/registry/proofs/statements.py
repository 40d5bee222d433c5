"""The meaning of a proof of a paid call, and its limits, as sentences."""

from nexus_tools.registry.proofs.document import Call, Statements

_ANSWER = {
    "leader": "The leader settled the call with this answer. The chain did not require a signature"
    " of the tool.",
    "signature": "The tool signed this answer to these inputs, and the chain verified the"
    " signature.",
    "call": "The transaction that settled the call also called the tool's Move function, which"
    " gave this answer.",
    "anyone": "The transaction that settled the call also called the tool's Move function. Anyone"
    " could send that transaction.",
}
_NODE = (
    "The chain executed both transactions, if a node that you trust has the same transactions and"
    " checkpoints. Anyone can create another chain, so the document alone does not prove this."
)
_LIMITS = (
    "The answer is correct or useful.",
    "The requester, the owner of the tool and the leader are different parties.",
    "The HTTP messages between the leader and the tool, which the chain does not store.",
    "The accounts still own the amounts, or have not returned them.",
    "The validators signed the checkpoints. The verification only compares them with a node.",
)
_BY_LEADER = "The answer comes from the tool. The leader could have invented it."
_OF_EXECUTION = (
    "The inputs of the call. It belongs to an execution, and its invocation refers to outcomes of"
    " other calls."
)


def statements_of(call: Call) -> Statements:
    """Return the statements for a call, which may be untrusted."""
    request = "The requester signed the transaction that requested and prepaid the call."
    terms = "The chain stored these inputs and terms with the request."
    if call.execution is not None:
        request = "The sender signed the transaction in which the execution requested the call."
        terms = "The chain stored these terms with the request. The execution prepaid the call."
    signer = "The sender" if call.settlement == "anyone" else "A worker of the leader"
    proves = {
        "request.signatures": request,
        "request.effects": "The chain accepted the request, and recorded the prepaid amount.",
        "request.invocation": terms,
        "closing.signatures": f"{signer} signed the transaction that settled the call.",
        "closing.effects": "The chain paid the price, the fee and the refund in this transaction.",
        "closing.invocation": "The chain stored this answer.",
        "call.variant": _ANSWER.get(call.settlement, ""),
        "checkpoints": _NODE,
    }
    limits = (
        *((_BY_LEADER,) if call.settlement == "leader" else ()),
        *((_OF_EXECUTION,) if call.execution is not None else ()),
        *_LIMITS,
    )
    return Statements(proves, limits)
