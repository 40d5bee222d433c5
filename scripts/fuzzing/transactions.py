"""Signed transactions: each is rejected or has effects, and the ledger stays consistent.

An input is a byte that selects how the transaction is signed, and the BCS bytes of the transaction.
"""

from hypothesis import strategies as st

from fuzzing.finding import Broken
from fuzzing.money import lost_mist
from fuzzing.mutation import apply, edits, weighted
from fuzzing.network import Network, network
from fuzzing.transaction_data import transactions
from nexus_tools.errors import NotAllowedError, ValidationError
from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.localnet.execution import Mode, TransactionRefused
from nexus_tools.sui.localnet.ledger import ExecutedTransaction
from nexus_tools.sui.types.effects import (
    TRANSACTION_EFFECTS,
    Absent,
    InputState,
    ObjectWrite,
)
from nexus_tools.sui.types.execution_status import ErrorKind, ExecutionFailure
from nexus_tools.sui.types.object import MoveObject
from nexus_tools.sui.types.transaction import (
    TRANSACTION_DATA,
    ProgrammableTransaction,
    TransactionData,
)

_BY_EVERYONE_NEEDED, _BY_NOBODY, _BY_ANOTHER, _BROKEN_SIGNATURE = range(4)


def inputs() -> st.SearchStrategy[bytes]:
    """Return transactions on the objects of the network. In some, bytes are changed."""
    signing = st.sampled_from([*[_BY_EVERYONE_NEEDED] * 40, 1, 2, 3]).map(
        lambda mode: bytes([mode])
    )
    whole = transactions().map(TransactionData.encode)
    changed = st.builds(apply, whole, st.lists(edits(), min_size=1, max_size=2))
    return st.builds(bytes.__add__, signing, weighted((7, whole), (1, changed)))


def check(data: bytes) -> str:
    """Execute the transaction on the network in its initial state."""
    net = network()
    net.restart()
    mode, encoded = (data[0] if data else 0), data[1:]
    latest = net.node.ledger.latest
    try:
        outcome = _simulate(net, encoded)
        executed = net.node.execute(encoded, _signatures(net, mode, encoded))
    except (BcsError, TransactionRefused) as error:
        _check_unchanged(net, latest)
        return type(error).__name__
    except (NotAllowedError, ValidationError) as error:
        _check_unchanged(net, latest)
        if error.code not in ("signature_invalid", "signature_malformed"):
            raise
        return error.code
    _check_effects(net, executed)
    if outcome not in (None, executed.effects.status):
        raise Broken(f"simulated otherwise: {outcome} and {executed.effects.status}")
    return _named(executed)


def _simulate(net: Network, encoded: bytes) -> object:
    """Return the result of a simulation, which changes nothing and checks no signature."""
    data = TRANSACTION_DATA.decode(encoded)
    if not isinstance(data.kind, ProgrammableTransaction):
        return None
    latest = net.node.ledger.latest
    try:
        executed, _ = net.node.simulate(data)
        net.node.simulate(data, Mode.INSPECT)
    except TransactionRefused:
        return None
    finally:
        _check_unchanged(net, latest)
    return executed.effects.status


def _signatures(net: Network, mode: int, encoded: bytes) -> list[bytes]:
    data = TRANSACTION_DATA.decode(encoded)
    if mode == _BY_NOBODY:
        return []
    if mode == _BY_ANOTHER:
        return [net.accounts[1].sign(encoded)]
    signers = dict.fromkeys([data.sender, data.gas.owner])
    known = [net.account(address) for address in signers]
    signatures = [account.sign(encoded) for account in known if account is not None]
    return [signature[:-1] for signature in signatures] if mode == _BROKEN_SIGNATURE else signatures


def _named(executed: ExecutedTransaction) -> str:
    status = executed.effects.status
    if not isinstance(status, ExecutionFailure):
        return "success"
    if status.error.kind is ErrorKind.INVARIANT_VIOLATION:
        raise Broken(f"invariant violation: {status.error}")
    return f"failure {status.error.kind.name}"


def _check_unchanged(net: Network, latest: object) -> None:
    if net.node.ledger.latest is not latest:
        raise Broken("a refused transaction changed the ledger")


def _check_effects(net: Network, executed: ExecutedTransaction) -> None:
    effects = executed.effects
    if TRANSACTION_EFFECTS.decode(executed.effects_bytes) != effects:
        raise Broken("effects do not round-trip")
    outputs = {value.id: value for value in executed.output_objects}
    for object_id, change in effects.changed_objects:
        found = net.node.ledger.get(object_id)
        if isinstance(change.output, ObjectWrite):
            written = outputs.pop(object_id)
            if found != written or written.digest() != change.output.digest:
                raise Broken(f"an object differs from the effects:  {object_id}")
            if isinstance(written.data, MoveObject) and written.version != effects.lamport_version:
                raise Broken(f"the version of an object differs from the effects:  {object_id}")
        elif isinstance(change.output, Absent) and found is not None:
            raise Broken(f"a deleted object still exists:  {object_id}")
        if isinstance(change.input, InputState) and effects.lamport_version <= change.input.version:
            raise Broken(f"the version of an object did not increase:  {object_id}")
    lost = lost_mist(net.node, executed)
    if lost:
        raise Broken(f"{lost} MIST are lost: {effects.status}")
