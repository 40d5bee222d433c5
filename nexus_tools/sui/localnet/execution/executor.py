"""Executing transactions: from what the sender signed to what it did."""

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


def machine_over(store: ObjectStore) -> Machine:
    """A machine with all natives that reads packages from a store."""
    return Machine(NATIVES, packages_of(store))


def packages_of(store: ObjectStore) -> Callable[[Address], MovePackage | None]:
    """What finds the packages of a store by their ids, for a machine."""

    def find_package(package: Address) -> MovePackage | None:
        found = store.get(package)
        return found.data if found and isinstance(found.data, MovePackage) else None

    return find_package


class Executor:
    """Executes one transaction after the other; changes nothing but the machine's packages.

    `machine` reads packages where the stores have theirs; `commands` are how commands are executed.
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
        """What the transaction does to the objects of `store`.

        Signatures are the caller's business. A package that a transaction publishes in mode COMMIT
        is known to the machine from then on. Raises `TransactionRefused` if the transaction is not
        executed at all.
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
    """The first objects. They are of version 1, which is the Lamport version of no inputs."""
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
