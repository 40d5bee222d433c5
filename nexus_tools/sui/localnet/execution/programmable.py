"""The execution of one programmable transaction, from its checks to its effects."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from nexus_tools.sui.localnet.execution.commands import (
    CommandResult,
    CommandTable,
    ExecutionContext,
    run_commands,
    type_commands,
)
from nexus_tools.sui.localnet.execution.environment import (
    DigestCache,
    Environment,
    Mode,
    ObjectStore,
)
from nexus_tools.sui.localnet.execution.errors import EXECUTION_FAILURES, execution_error
from nexus_tools.sui.localnet.execution.gas import (
    GasPayment,
    GasStatus,
    UnmeteredGas,
    mock_payment,
    needs_mock_payment,
    smash,
    storage_bytes,
    with_simulated_gas,
)
from nexus_tools.sui.localnet.execution.inputs import (
    InputLoader,
    TransactionInputs,
    check_denied_inputs,
    check_funds,
    check_programmable,
    check_replay_protection,
    check_transaction,
)
from nexus_tools.sui.localnet.execution.outcome import (
    ChangeCollector,
    CommandsRun,
    ExecutionResult,
    build_effects,
    charge_gas,
    encoded_objects,
    settle,
    untouched,
    written_objects,
)
from nexus_tools.sui.localnet.natives import ObjectRuntime, TransactionContext
from nexus_tools.sui.localnet.vm import Machine
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK, SUI_SYSTEM, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.effects import GasCostSummary
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.execution_status import ExecutionFailure, ExecutionStatus, Success
from nexus_tools.sui.types.object import Object
from nexus_tools.sui.types.transaction import Command, ProgrammableTransaction, TransactionData

SYSTEM_PACKAGES = frozenset({MOVE_STDLIB, SUI_FRAMEWORK, SUI_SYSTEM})


class ProgrammableExecution:
    """The execution of one transaction."""

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
        """Check, execute and charge a transaction, and return the result.

        Raises:
            TransactionRefused: a check before the execution failed.
        """
        data, inputs = self._prepare(data)
        payment = smash(data.gas, inputs.gas)
        gas, version = self._gas(data, payment), inputs.lamport_version
        assert isinstance(data.kind, ProgrammableTransaction)
        context = self._context(data, digest, inputs, gas)
        context.open(data.kind.inputs, payment)
        run = self._run(context, data.kind.commands, inputs, payment, version)
        price = self._environment.reference_gas_price
        # If the changes are too expensive, `settle` returns a failed run, and the sender pays for
        # that run.
        run, bill = settle(run, gas, price, lambda: untouched(inputs, payment, version))
        self._forget(run)
        costs = bill.costs(gas)
        charge_gas(run, data.gas.owner, gas, costs.net, version)
        coin = payment.coin.id if payment and payment.coin else None
        return self._result(run, bill.rebates, costs, inputs, digest=digest, gas_coin=coin)

    # --- Checks and inputs

    def _prepare(self, data: TransactionData) -> tuple[TransactionData, TransactionInputs]:
        """Check the transaction and load its inputs."""
        assert isinstance(data.kind, ProgrammableTransaction)
        loader = InputLoader(data, self._store, self._digests, self._mode)
        if self._mode is Mode.SYSTEM:
            return data, loader.load(())
        is_mocked = needs_mock_payment(data, self._mode, self._store)
        if is_mocked:
            data = with_simulated_gas(data, self._environment)
        gas_from_balance = not is_mocked and not data.gas.payment
        # The checks have the same order as on a real node, because a node reports only the first
        # error.
        if self._mode is Mode.INSPECT:
            assert isinstance(data.kind, ProgrammableTransaction)
            check_programmable(data.kind)
        else:
            check_transaction(data, self._environment, gas_from_balance=gas_from_balance)
        check_funds(data, self._store, gas_from_balance=gas_from_balance)
        coins = mock_payment(data.gas.owner) if is_mocked else None
        inputs = loader.load(coins)
        if not is_mocked and self._mode is not Mode.INSPECT:
            check_replay_protection(data, self._store)
        if self._mode is Mode.COMMIT:  # real nodes do not check this in simulations
            check_denied_inputs(data.sender, self._used_objects(inputs), self._store)
        return data, inputs

    def _used_objects(self, inputs: TransactionInputs) -> Iterator[Object]:
        """Yield the input objects and the received objects of the transaction."""
        yield from (value.object for value in inputs.objects.values())
        for reference in inputs.receiving:
            received = self._store.get(reference.object_id)
            if received is not None:
                yield received

    def _gas(self, data: TransactionData, payment: GasPayment | None) -> GasStatus:
        rules = self._environment.rules
        if self._mode is Mode.SYSTEM:
            return UnmeteredGas(data.gas, rules)
        # If the address balance pays, exactly the budget is reserved.
        balance = data.gas.budget if payment is None else payment.balance
        if self._mode is Mode.INSPECT:
            return GasStatus(replace(data.gas, budget=min(data.gas.budget, balance)), rules)
        gas = GasStatus(data.gas, rules)
        gas.check_budget(balance)
        return gas

    # --- Commands

    def _run(
        self,
        context: ExecutionContext,
        commands: tuple[Command, ...],
        inputs: TransactionInputs,
        payment: GasPayment | None,
        version: int,
    ) -> CommandsRun:
        events: tuple[Event, ...] = ()
        reports: list[CommandResult] = []
        status: ExecutionStatus = Success()
        failure = ""
        try:
            # The charge for reading the inputs may use up the budget before the first command.
            _charge_reads(context.gas, inputs)
            run_commands(context, type_commands(context, commands), self._commands, reports)
            changes = ChangeCollector(context, inputs, payment, version).collect()
            events = tuple(context.events)
        except EXECUTION_FAILURES as error:
            status = ExecutionFailure(execution_error(error), context.command_index)
            changes = untouched(inputs, payment, version)
            failure = str(error)
        packages = tuple([package.id for package in context.new_packages])
        read_deny_list = context.asked_deny_list
        return CommandsRun(
            status, changes, events, tuple(reports), packages, failure, read_deny_list
        )

    def _context(
        self, data: TransactionData, digest: Digest, inputs: TransactionInputs, gas: GasStatus
    ) -> ExecutionContext:
        return ExecutionContext(
            machine=self._machine,
            store=self._store,
            runtime=self._runtime(data, digest, inputs, gas),
            gas=gas,
            mode=self._mode,
            inputs=inputs,
        )

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
            transaction,
            owners,
            self._store.get,
            self._machine.types.decode,
            gas.natives,
            limits=gas.limits,
        )

    def _forget(self, run: CommandsRun) -> None:
        """Remove new packages from the VM if the ledger will not store them.

        The VM has loaded them because later commands may call a package that `Publish` created.
        """
        if self._mode is Mode.COMMIT and run.succeeded:
            return
        for package in run.packages:
            self._machine.types.forget(package)

    # --- Changes and effects

    def _result(
        self,
        run: CommandsRun,
        rebates: dict[Address, int],
        costs: GasCostSummary,
        inputs: TransactionInputs,
        *,
        digest: Digest,
        gas_coin: Address | None,
    ) -> ExecutionResult:
        modified, version = run.changes.modified, inputs.lamport_version
        written = written_objects(run.changes, rebates, digest, version)
        # This call also caches the digests of the written objects, which the effects need.
        encoded = encoded_objects(written, self._digests)
        effects = build_effects(
            run,
            inputs,
            written,
            self._digests,
            transaction=digest,
            epoch=self._environment.epoch,
            version=version,
            costs=costs,
            gas_coin=gas_coin,
        )
        inputs_before = {object_id: value.object for object_id, value in inputs.objects.items()}
        return ExecutionResult(
            effects=effects,
            events=run.events,
            written=written,
            written_bytes=encoded,
            removed={key: value for key, value in modified.items() if key not in written},
            input_objects=tuple((inputs_before | modified).values()),
            command_results=run.results,
            failure=run.failure,
        )


def _charge_reads(gas: GasStatus, inputs: TransactionInputs) -> None:
    """Charge for reading all inputs except system packages."""
    packages = [package for package in inputs.packages if package.id not in SYSTEM_PACKAGES]
    gas.charge_read(_size(value.object for value in inputs.objects.values()))
    gas.charge_package_read(_size(packages))


def _size(objects: Iterable[Object]) -> int:
    return sum([storage_bytes(value.data) for value in objects])
