"""The execution of one programmable transaction, from its checks to its effects."""

from collections.abc import Iterator
from dataclasses import replace

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.execution.changes import ChangeCollector, Changes, Write, untouched
from nexus_tools.localnet.execution.coins import coin_balance
from nexus_tools.localnet.execution.command_typing import type_commands
from nexus_tools.localnet.execution.commands import CommandTable, run_commands
from nexus_tools.localnet.execution.context import ExecutionContext
from nexus_tools.localnet.execution.deny_list import check_denied_inputs
from nexus_tools.localnet.execution.digests import DigestCache
from nexus_tools.localnet.execution.effects import Outcome, build_effects, written_objects
from nexus_tools.localnet.execution.environment import Environment, Mode, ObjectStore
from nexus_tools.localnet.execution.funds import check_funds, check_replay_protection
from nexus_tools.localnet.execution.gas import GasStatus, StorageCharge, UnmeteredGas
from nexus_tools.localnet.execution.gas_payment import (
    GasPayment,
    gas_coin,
    mock_payment,
    needs_mock_payment,
    smash,
    with_simulated_gas,
)
from nexus_tools.localnet.execution.inputs import InputLoader, TransactionInputs
from nexus_tools.localnet.execution.limits import MAX_GAS_PRICE_FACTOR_OF_ABORTED
from nexus_tools.localnet.execution.result import CommandResult, ExecutionResult
from nexus_tools.localnet.execution.status import EXECUTION_FAILURES, execution_error
from nexus_tools.localnet.execution.storage import storage_bytes, storage_cost
from nexus_tools.localnet.execution.validity import check_programmable, check_transaction
from nexus_tools.localnet.natives import ObjectRuntime, TransactionContext
from nexus_tools.localnet.vm import Machine
from nexus_tools.sui.address import (
    MOVE_STDLIB,
    SUI_FRAMEWORK,
    SUI_SYSTEM,
    SYSTEM_STATE,
    Address,
)
from nexus_tools.sui.digest import Digest
from nexus_tools.sui.event import Event
from nexus_tools.sui.execution_status import (
    ErrorKind,
    ExecutionError,
    ExecutionStatus,
    Failure,
    Success,
)
from nexus_tools.sui.object import MoveObject, Object
from nexus_tools.sui.transaction import ProgrammableTransaction, TransactionData

SYSTEM_PACKAGES = frozenset({MOVE_STDLIB, SUI_FRAMEWORK, SUI_SYSTEM})


@dataclass(frozen=True, slots=True)
class _Run:
    """What the commands did, before anything is paid; `failure` explains the status.

    `packages` are known to the machine, whether or not they will be on the ledger.
    """

    status: ExecutionStatus
    changes: Changes
    events: tuple[Event, ...]
    results: tuple[CommandResult, ...]
    packages: tuple[Address, ...]
    failure: str
    asked_deny_list: bool

    @property
    def succeeded(self) -> bool:
        return isinstance(self.status, Success)


@dataclass(frozen=True, slots=True)
class _Settlement:
    """What was paid: MIST for computation, the charge for storage, the new rebates by id."""

    computation_cost: int
    storage: StorageCharge
    rebates: dict[Address, int]


class ProgrammableExecution:
    """One transaction on its way. Raises `TransactionRefused` while it is prepared."""

    def __init__(
        self,
        machine: Machine,
        digests: DigestCache,
        store: ObjectStore,
        environment: Environment,
        mode: Mode,
        *,
        commands: CommandTable,
    ) -> None:
        self._machine = machine
        self._digests = digests
        self._store = store
        self._environment = environment
        self._mode = mode
        self._commands = commands

    def execute(self, data: TransactionData, digest: Digest) -> ExecutionResult:
        """Check, execute, charge, and write down what happened."""
        data, inputs = self._prepare(data)
        payment = smash(data.gas, inputs.gas)
        gas = self._gas(data, payment)
        run = self._run(data, digest, inputs, payment, gas)
        run, settlement = self._settle(run, inputs, payment, gas)
        self._forget(run)
        costs = gas.summary(settlement.computation_cost, settlement.storage)
        self._pay(run, inputs.lamport_version, data.gas.owner, gas, costs.net)
        coin = payment.coin.id if payment and payment.coin else None
        outcome = Outcome(
            digest,
            self._environment.epoch,
            run.status,
            run.changes,
            costs,
            run.events,
            coin,
            run.asked_deny_list,
        )
        return self._result(outcome, run, settlement, inputs)

    # --- Before

    def _prepare(self, data: TransactionData) -> tuple[TransactionData, TransactionInputs]:
        """Check the transaction and load its inputs."""
        assert isinstance(data.kind, ProgrammableTransaction)
        loader = InputLoader(data, self._store, self._digests, self._mode)
        if self._mode is Mode.SYSTEM:
            return data, loader.load(())
        mocked = needs_mock_payment(data, self._mode, self._store)
        if mocked:
            data = with_simulated_gas(data, self._environment)
        gas_from_balance = not mocked and not data.gas.payment
        if self._mode is Mode.INSPECT:
            assert isinstance(data.kind, ProgrammableTransaction)
            check_programmable(data.kind)
        else:
            check_transaction(data, self._environment, gas_from_balance=gas_from_balance)
        check_funds(data, self._store, gas_from_balance=gas_from_balance)
        coins = mock_payment(data.gas.owner) if mocked else None
        inputs = loader.load(coins)
        if not mocked and self._mode is not Mode.INSPECT:
            check_replay_protection(data, self._store)
        if self._mode is Mode.COMMIT:  # a simulation does not ask, on real nodes neither
            check_denied_inputs(data.sender, self._used_objects(inputs), self._store)
        return data, inputs

    def _used_objects(self, inputs: TransactionInputs) -> Iterator[Object]:
        """What the transaction takes and receives."""
        yield from (value.object for value in inputs.objects.values())
        for reference in inputs.receiving:
            found = self._store.get(reference.object_id)
            if found is not None:
                yield found

    def _gas(self, data: TransactionData, payment: GasPayment | None) -> GasStatus:
        if self._mode is Mode.SYSTEM:
            return UnmeteredGas(data.gas)
        # Of an address balance as much is reserved as the budget is.
        balance = data.gas.budget if payment is None else payment.balance
        if self._mode is Mode.INSPECT:
            return GasStatus(replace(data.gas, budget=min(data.gas.budget, balance)))
        gas = GasStatus(data.gas)
        gas.check_budget(balance)
        return gas

    # --- The commands

    def _run(
        self,
        data: TransactionData,
        digest: Digest,
        inputs: TransactionInputs,
        payment: GasPayment | None,
        gas: GasStatus,
    ) -> _Run:
        assert isinstance(data.kind, ProgrammableTransaction)
        runtime = self._runtime(data, digest, inputs, gas)
        context = ExecutionContext(
            machine=self._machine,
            store=self._store,
            runtime=runtime,
            gas=gas,
            mode=self._mode,
            inputs=inputs,
        )
        context.open(data.kind.inputs, payment)
        version, reports = inputs.lamport_version, list[CommandResult]()
        try:
            gas.charge_read(_bytes_read(inputs))
            commands = type_commands(context, data.kind.commands)
            run_commands(context, commands, self._commands, reports)
            changes = ChangeCollector(context, inputs, payment, version).collect()
            status: ExecutionStatus = Success()
            events, failure = tuple(context.events), ""
        except EXECUTION_FAILURES as error:
            status = Failure(execution_error(error), context.command_index)
            changes = untouched(inputs, payment, version)
            events, failure = (), str(error)
        packages = tuple(package.id for package in context.new_packages)
        asked = context.asked_deny_list
        return _Run(status, changes, events, tuple(reports), packages, failure, asked)

    def _runtime(
        self, data: TransactionData, digest: Digest, inputs: TransactionInputs, gas: GasStatus
    ) -> ObjectRuntime:
        sponsor = data.gas.owner if data.gas.owner != data.sender else None
        transaction = TransactionContext(
            data.sender,
            digest,
            self._environment.epoch,
            self._environment.epoch_timestamp_ms,
            self._environment.reference_gas_price,
            data.gas.price,
            data.gas.budget,
            sponsor,
        )
        owners = {object_id: value.object.owner for object_id, value in inputs.objects.items()}
        return ObjectRuntime(
            transaction, owners, self._store.get, self._machine.decode, gas.natives
        )

    def _forget(self, run: _Run) -> None:
        """Take packages back that will not be on the ledger."""
        if self._mode is Mode.COMMIT and run.succeeded:
            return
        for package in run.packages:
            self._machine.forget(package)

    # --- The bill

    def _settle(
        self,
        run: _Run,
        inputs: TransactionInputs,
        payment: GasPayment | None,
        gas: GasStatus,
    ) -> tuple[_Run, _Settlement]:
        """Charge what was done; if the budget does not suffice, nothing is done but to charge."""
        computation, enough = gas.computation_cost(self._price_max(run))
        if not enough and run.succeeded:
            run = self._out_of_gas(run, inputs, payment)
        settlement = _settlement(computation, run.changes, gas)
        if gas.can_pay(computation, settlement.storage):
            return run, settlement
        run = self._out_of_gas(run, inputs, payment)
        settlement = _settlement(computation, run.changes, gas)
        if gas.can_pay(computation, settlement.storage):
            return run, settlement
        # Not even the inputs can be stored again: the budget goes whole, rebates stay as they are.
        rebates = {
            object_id: value.storage_rebate for object_id, value in run.changes.modified.items()
        }
        gone = sum(
            rebate for object_id, rebate in rebates.items() if object_id not in run.changes.written
        )
        return run, _Settlement(gas.budget, StorageCharge(0, gone), rebates)

    def _price_max(self, run: _Run) -> int | None:
        """What a gas unit costs at most: Move code that aborts has not to outbid others."""
        if isinstance(run.status, Success) or run.status.error.kind is not ErrorKind.MOVE_ABORT:
            return None
        return self._environment.reference_gas_price * MAX_GAS_PRICE_FACTOR_OF_ABORTED

    def _out_of_gas(self, run: _Run, inputs: TransactionInputs, payment: GasPayment | None) -> _Run:
        status, failure = run.status, run.failure
        if run.succeeded:
            status = Failure(ExecutionError(ErrorKind.INSUFFICIENT_GAS), None)
            failure = "the gas budget does not suffice"
        changes = untouched(inputs, payment, inputs.lamport_version)
        return replace(run, status=status, changes=changes, events=(), failure=failure)

    def _pay(self, run: _Run, version: int, payer: Address, gas: GasStatus, net_cost: int) -> None:
        """Take the costs out of the gas coin, wherever it is now, or out of an address balance."""
        coin_id = run.changes.gas_coin
        if coin_id is None:
            run.changes.move_sui(payer, -net_cost)
            return
        write = run.changes.written[coin_id]
        assert isinstance(write.data, MoveObject)
        # While commands ran, the coin lacked the budget.
        refund = gas.budget if run.succeeded else 0
        balance = coin_balance(write.data) + refund - net_cost
        run.changes.written[coin_id] = Write(write.owner, gas_coin(coin_id, balance, version))

    # --- After

    def _result(
        self,
        outcome: Outcome,
        run: _Run,
        settlement: _Settlement,
        inputs: TransactionInputs,
    ) -> ExecutionResult:
        changes, version = run.changes, inputs.lamport_version
        written = written_objects(changes, settlement.rebates, outcome.transaction, version)
        effects = build_effects(outcome, inputs, written, self._digests)
        read = {object_id: value.object for object_id, value in inputs.objects.items()}
        return ExecutionResult(
            effects=effects,
            events=run.events,
            written=written,
            removed={
                object_id: value
                for object_id, value in changes.modified.items()
                if object_id not in written
            },
            input_objects=tuple((read | changes.modified).values()),
            command_results=run.results,
            failure=run.failure,
        )


def _bytes_read(inputs: TransactionInputs) -> int:
    """The size of all inputs but the packages of the system."""
    values = [value.object for value in inputs.objects.values()]
    values.extend(package for package in inputs.packages if package.id not in SYSTEM_PACKAGES)
    return sum(storage_bytes(value.data) for value in values)


def _settlement(computation: int, changes: Changes, gas: GasStatus) -> _Settlement:
    """What storing the changes costs, and what comes back for what was there before."""
    if isinstance(gas, UnmeteredGas):
        # Nobody is paid what the network's own transactions free. It stays with the system state.
        freed = sum(value.storage_rebate for value in changes.modified.values())
        kept = {SYSTEM_STATE: freed} if freed and SYSTEM_STATE in changes.written else {}
        return _Settlement(0, StorageCharge(0, 0), kept)
    rebates = {object_id: storage_cost(write.data) for object_id, write in changes.written.items()}
    returned = sum(value.storage_rebate for value in changes.modified.values())
    return _Settlement(computation, StorageCharge(sum(rebates.values()), returned), rebates)
