"""The executor, which computes the effects and the written objects of a transaction."""

from collections.abc import Callable

from nexus_tools.sui.localnet.execution.commands import COMMANDS, CommandTable
from nexus_tools.sui.localnet.execution.environment import (
    DigestCache,
    Environment,
    Mode,
    ObjectStore,
)
from nexus_tools.sui.localnet.execution.errors import TransactionRefused
from nexus_tools.sui.localnet.execution.inputs import TransactionInputs
from nexus_tools.sui.localnet.execution.outcome import (
    Changes,
    CommandsRun,
    ExecutionResult,
    Write,
    build_effects,
    encoded_objects,
    written_objects,
)
from nexus_tools.sui.localnet.execution.programmable import ProgrammableExecution
from nexus_tools.sui.localnet.execution.system import as_programmable
from nexus_tools.sui.localnet.natives import NATIVES
from nexus_tools.sui.localnet.vm import Machine
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.effects import GasCostSummary
from nexus_tools.sui.types.execution_status import Success
from nexus_tools.sui.types.object import MovePackage
from nexus_tools.sui.types.system_transaction import Genesis
from nexus_tools.sui.types.transaction import ProgrammableTransaction, TransactionData

_NO_INPUTS = TransactionInputs({}, (), (), ())


def machine_for(store: ObjectStore) -> Machine:
    """Return a VM with all native functions that reads its packages from a store."""
    return Machine(NATIVES, packages_of(store))


def packages_of(store: ObjectStore) -> Callable[[Address], MovePackage | None]:
    """Return the function with which a VM looks up packages by ID in a store."""

    def find_package(package: Address) -> MovePackage | None:
        value = store.get(package)
        return value.data if value and isinstance(value.data, MovePackage) else None

    return find_package


class Executor:
    """An executor of single transactions. An execution changes only the set of packages in the VM.

    `machine` must read packages from the store that is passed to `execute`. `commands` maps each
    kind of command to the function that runs it.
    """

    def __init__(self, machine: Machine, commands: CommandTable = COMMANDS) -> None:
        self.machine = machine
        self._commands = commands
        self._digests = DigestCache()

    def execute(
        self,
        transaction: TransactionData,
        digest: Digest,
        store: ObjectStore,
        environment: Environment,
        mode: Mode = Mode.COMMIT,
    ) -> ExecutionResult:
        """Execute a transaction on the objects of `store`, and return the result.

        The caller checks the signatures. In mode COMMIT, the VM keeps the packages that the
        transaction publishes.

        Raises:
            TransactionRefused: the transaction cannot be executed at all.
        """
        if isinstance(transaction.kind, Genesis):
            return _execute_genesis(transaction.kind, digest, environment.epoch, self._digests)
        if not isinstance(transaction.kind, ProgrammableTransaction):
            if mode is not Mode.COMMIT:
                raise TransactionRefused(
                    "unsupported", "Feature is not supported: simulating system transactions"
                )
            transaction, mode = as_programmable(transaction, store), Mode.SYSTEM
        execution = ProgrammableExecution(
            self.machine, self._digests, store, environment, mode, commands=self._commands
        )
        return execution.execute(transaction, digest)


def _execute_genesis(
    genesis: Genesis, digest: Digest, epoch: int, digests: DigestCache
) -> ExecutionResult:
    """Create the genesis objects with version 1, which is the Lamport version without inputs."""
    changes = Changes()
    for value in genesis.objects:
        changes.written[value.data.id] = Write(value.owner, value.data)
        changes.created_ids.add(value.data.id)
    run, costs = CommandsRun(Success(), changes), GasCostSummary(0, 0, 0, 0)
    version = _NO_INPUTS.lamport_version
    written = written_objects(changes, {}, digest, version)
    encoded = encoded_objects(written, digests)
    effects = build_effects(
        run,
        _NO_INPUTS,
        written,
        digests,
        transaction=digest,
        epoch=epoch,
        version=version,
        costs=costs,
    )
    return ExecutionResult(effects, (), written, encoded, {}, (), ())
