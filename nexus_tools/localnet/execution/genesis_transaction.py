"""Executing the genesis transaction: its objects come into being as they are given."""

from nexus_tools.localnet.execution.changes import Changes, Write
from nexus_tools.localnet.execution.digests import DigestCache
from nexus_tools.localnet.execution.effects import Outcome, build_effects, written_objects
from nexus_tools.localnet.execution.inputs import TransactionInputs
from nexus_tools.localnet.execution.result import ExecutionResult
from nexus_tools.sui.digest import Digest
from nexus_tools.sui.effects import GasCostSummary
from nexus_tools.sui.execution_status import Success
from nexus_tools.sui.system_transaction import Genesis

_NOTHING = TransactionInputs({}, (), (), ())


def execute_genesis(
    genesis: Genesis, digest: Digest, epoch: int, digests: DigestCache
) -> ExecutionResult:
    """The first objects. They are of version 1, which is the Lamport version of no inputs."""
    changes = Changes()
    for value in genesis.objects:
        changes.written[value.data.id] = Write(value.owner, value.data)
        changes.created_ids.add(value.data.id)
    written = written_objects(changes, {}, digest, _NOTHING.lamport_version)
    outcome = Outcome(digest, epoch, Success(), changes, GasCostSummary(0, 0, 0, 0), (), None)
    effects = build_effects(outcome, _NOTHING, written, digests)
    return ExecutionResult(effects, (), written, {}, (), ())
