"""The leader's workers for which this process signs. They sign transactions and pay the gas.

A worker pays from its address balance, which also receives its fees. Its transactions do not use
objects that the worker owns. Any number of transactions can therefore be in flight, if the balance
covers the sum of their budgets. If the balance is low, the worker deposits its coins into it.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from msgspec.structs import replace

from nexus_tools.contracts import LeaderState
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.errors import NexusError, NotAllowedError, UnreachableError, WrongStateError
from nexus_tools.leader.chain.chain import Chain, LeaderObject
from nexus_tools.leader.closing.transaction_sender import SignedTransaction
from nexus_tools.leader.closing.worker_funding import (
    DEPOSIT_GAS_MIST,
    funding_amount_mist,
    funding_command,
    minimum_balance_mist,
)
from nexus_tools.leader.closing.worker_signer import SigningFailedError, WorkerSigner
from nexus_tools.sui.client import (
    MAX_PAYMENT_COINS,
    Epoch,
    Executed,
    SimulatedTransaction,
    SuiClient,
    funding_hint,
    read_epoch,
)
from nexus_tools.sui.keystore import SIGNING_TIMEOUT_S, Signer
from nexus_tools.sui.network import Network
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.support.units import sui
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest, transaction_digest
from nexus_tools.sui.types.expiration import ValidDuring
from nexus_tools.sui.types.transaction import GasData, ProgrammableTransaction, TransactionData
from nexus_tools.sui.types.type_tag import SUI

_log = get_logger("nexus_tools.leader")


@dataclass(slots=True, eq=False)
class Worker:
    """A key with its signer, its address balance and its coins.

    `reserved_mist` is the sum of the budgets in flight. `coins_mist` is not part of
    `balance_mist`. `is_listed` is set while the leader's object on chain lists the worker.
    """

    signer: WorkerSigner
    balance_mist: int = 0
    coins_mist: int = 0
    reserved_mist: int = 0
    is_listed: bool = False

    @property
    def address(self) -> Address:
        """The address that signs and pays."""
        return self.signer.address

    @property
    def free_mist(self) -> int:
        """The maximum budget of another transaction, in MIST."""
        return self.balance_mist - self.reserved_mist

    def repaid_mist(self, executed: Executed | SimulatedTransaction, fees_mist: int) -> int:
        """Return the storage cost that executions refunded to the worker, in MIST."""
        change = executed.effects.address_balance_change(self.address, SUI)
        return change + executed.cost.net - fees_mist

    def apply_effects(self, executed: Executed) -> None:
        """Subtract a loss from the balance. Ignore a gain, which is not spendable until settled."""
        self.balance_mist += min(0, executed.effects.address_balance_change(self.address, SUI))


class Workers:
    """The workers, of which one pays for each transaction and signs it.

    Call `refresh` before the first transaction. `enough_mist` returns the balance that a worker
    should have at a gas price, in MIST. A worker with a lower balance deposits its coins. A worker
    also deposits coins if a transaction needs a larger budget.
    """

    def __init__(
        self,
        chain: Chain,
        signers: Sequence[Signer],
        enough_mist: Callable[[int], int],
        *,
        signing_timeout_s: float = SIGNING_TIMEOUT_S,
    ) -> None:
        self._chain = chain
        self._workers = tuple(Worker(WorkerSigner(signer, signing_timeout_s)) for signer in signers)
        self._enough_mist = enough_mist
        self._leader: LeaderObject | None = None
        self._epoch: Epoch | None = None
        self._freed = asyncio.Condition()
        self._refreshing = asyncio.Lock()
        self._removed: set[Address] = set()

    # --- State

    @property
    def leader(self) -> LeaderObject:
        """The leader, as read by the last refresh."""
        assert self._leader is not None
        return self._leader

    @property
    def epoch(self) -> Epoch:
        """The epoch, as read by the last refresh."""
        assert self._epoch is not None
        return self._epoch

    @property
    def addresses(self) -> tuple[Address, ...]:
        """The addresses of all local keys."""
        return tuple(worker.address for worker in self._workers)

    @property
    def listed(self) -> tuple[Worker, ...]:
        """The workers that the leader's on-chain object currently lists."""
        return tuple(worker for worker in self._workers if worker.is_listed)

    @property
    def richest(self) -> Address:
        """The address of the worker with the largest balance."""
        return max(self.listed or self._workers, key=lambda worker: worker.balance_mist).address

    @property
    def richest_mist(self) -> int:
        """The largest balance of a worker in MIST, which limits the budget of a transaction."""
        return max((worker.balance_mist for worker in self.listed), default=0)

    @property
    def has_working_signer(self) -> bool:
        """Whether a worker has a signer that did not fail a short time ago."""
        return any(not worker.signer.is_paused for worker in self.listed)

    @property
    def can_close(self) -> bool:
        """Whether a worker can pay for a closing and sign it."""
        return not self.trouble and any(not worker.signer.is_failing for worker in self.listed)

    @property
    def total_mist(self) -> int:
        """The balances and coins of all workers, in MIST."""
        return sum(worker.balance_mist + worker.coins_mist for worker in self._workers)

    @property
    def trouble(self) -> str:
        """The reason why no worker can close an invocation, or an empty string."""
        if self._leader is None:
            return ""
        if not self.listed:
            return _no_worker_problem(self._chain.leader)
        if not self._leader.leader.collateral.is_sufficient:
            return _suspended_problem(self._leader.leader, self._chain.client.network)
        return self._funds_problem()

    def _funds_problem(self) -> str:
        """Return why no worker can pay for a closing and how to fund one, or an empty string."""
        needed_mist = minimum_balance_mist(self.epoch.gas_price)
        if self.richest_mist >= needed_mist:
            return ""
        lacking_mist = needed_mist - self.richest_mist
        command = funding_command(self._chain.client.network, self.richest, lacking_mist)
        step = f"run `{command}`" if self._chain.client.network.has_profile else command
        return f"{self._insufficient_funds(needed_mist).message}: {step}"

    # --- Reading

    async def refresh(self, budget_mist: int = 0) -> None:
        """Read the leader, the workers' balances and the epoch. Raises `leader_unknown`.

        Workers deposit coins until their balances are sufficient, also for a transaction with this
        budget.
        """
        async with self._refreshing:
            await self._refresh(budget_mist)

    async def _refresh_for(self, budget_mist: int) -> None:
        """Refresh, unless a refresh that ended meanwhile found a sufficient balance."""
        async with self._refreshing:
            if self.richest_mist < budget_mist:
                await self._refresh(budget_mist)

    async def _refresh(self, budget_mist: int) -> None:
        client = self._chain.client
        leader, self._epoch, balances = await asyncio.gather(
            self._chain.read_leader(),
            read_epoch(client.connection),
            asyncio.gather(
                *(client.balance_parts(local_worker.address) for local_worker in self._workers)
            ),
        )
        self._leader, listed = leader, leader.leader.workers.entries
        for worker, balance in zip(self._workers, balances, strict=True):
            worker.balance_mist = balance.in_address
            worker.coins_mist = balance.in_coins
            worker.is_listed = worker.address in listed
        self._log_changes()
        enough_mist = max(budget_mist, self._enough_mist(self.epoch.gas_price))
        deposits = (self._try_deposit(worker, enough_mist) for worker in self.listed)
        results = await asyncio.gather(*deposits, return_exceptions=True)
        for error in filter(None, results):
            raise error

    async def try_refresh(self) -> None:
        """Refresh if no worker could close invocations at the last refresh."""
        if not self.trouble:
            return
        try:
            await self.refresh()
        except UnreachableError:
            pass  # the heartbeat reports an unreachable node
        except NexusError as error:
            _log.warning("workers_read_failed", code=error.code, error=error.message)

    def require_worker_key(self) -> None:
        """Raise `not_a_worker` if none of the keys belongs to a worker of the leader."""
        if not self.listed:
            first = self._workers[0].address
            raise NotAllowedError(
                "not_a_worker",
                _no_worker_problem(self._chain.leader),
                hint=f"Run `nexus-tools leader worker add {first} --wallet OWNER`.",
            )

    def _log_changes(self) -> None:
        """Log each worker once when it is removed, and once when it is added again."""
        unlisted = {worker.address for worker in self._workers if not worker.is_listed}
        for address in unlisted - self._removed:
            _log.warning("worker_removed", worker=str(address), leader=str(self._chain.leader))
        for address in self._removed - unlisted:
            _log.info("worker_added", worker=str(address), leader=str(self._chain.leader))
        if unlisted != self._removed and not self.listed:
            _log.error("no_worker", leader=str(self._chain.leader))
        self._removed = unlisted

    async def _try_deposit(self, worker: Worker, enough_mist: int) -> None:
        """Deposit coins if necessary, unless the worker's signer fails or failed before."""
        if worker.signer.is_paused:
            return
        try:
            await self._deposit(worker, enough_mist)
        except SigningFailedError:
            pass  # the log reports it, and other workers continue
        finally:
            await self._notify()

    async def _deposit(self, worker: Worker, enough_mist: int) -> None:
        """Deposit coins until the balance is `enough_mist` or no coins remain.

        Many small coins need several transactions, because each transaction has a limit of coins.
        """
        network = replace(self._chain.client.network, chain_id=self._chain.deployment.chain_id)
        while worker.balance_mist < enough_mist and worker.coins_mist > DEPOSIT_GAS_MIST:
            async with SuiClient(network, worker.signer) as client:
                coins = sorted(
                    owned_coin.balance for owned_coin in await client.coins(worker.address)
                )
                largest_mist = sum(coins[-MAX_PAYMENT_COINS:])
                lacking_mist = enough_mist - worker.balance_mist
                amount_mist = min(lacking_mist, largest_mist - DEPOSIT_GAS_MIST)
                if amount_mist <= 0:
                    return
                builder = TransactionBuilder()
                coin = builder.split_coins(builder.gas, [amount_mist])[0]
                builder.deposit(coin, worker.address, SUI)
                await client.execute(builder)
            worker.balance_mist += amount_mist
            worker.coins_mist -= amount_mist
            _log.info("deposited", worker=str(worker.address), amount=sui(amount_mist))

    # --- Sending

    @asynccontextmanager
    async def select(self, budget_mist: int) -> AsyncIterator[Worker]:
        """Yield a worker whose balance covers this budget and its transactions in flight.

        If necessary, wait until transactions in flight are finished, or until a signer is free. A
        worker whose signer failed is the last choice. Raises `not_enough_sui` or `not_a_worker`.
        """
        worker = await self._wait_for_worker(budget_mist)
        worker.reserved_mist += budget_mist
        try:
            yield worker
        finally:
            worker.reserved_mist -= budget_mist
            await self._notify()

    async def _notify(self) -> None:
        """Wake the transactions that wait for a worker."""
        async with self._freed:
            self._freed.notify_all()

    async def _wait_for_worker(self, budget_mist: int) -> Worker:
        is_fresh = False
        while True:
            rich = [worker for worker in self.listed if worker.balance_mist >= budget_mist]
            candidates = [worker for worker in rich if not worker.signer.is_paused] or rich
            able = [
                candidate
                for candidate in candidates
                if candidate.free_mist >= budget_mist and candidate.signer.is_free
            ]
            if able:
                return max(able, key=lambda worker: worker.free_mist)
            if candidates:
                async with self._freed:
                    await self._freed.wait()
                is_fresh = False
            elif not is_fresh:
                await self._refresh_for(budget_mist)
                is_fresh = True
            else:
                self.require_worker_key()
                raise self._insufficient_funds(budget_mist)

    def _insufficient_funds(self, budget_mist: int) -> NexusError:
        richest = max(self.listed, key=lambda worker: worker.balance_mist)
        # Faucets and transfers send coins. Their deposit into the address balance costs gas.
        lacking = funding_amount_mist(budget_mist - richest.balance_mist)
        network = self._chain.client.network
        return WrongStateError(
            "not_enough_sui",
            f"worker {richest.address} has {sui(richest.balance_mist)} for gas but needs"
            f" {sui(budget_mist)}",
            hint=funding_hint(network, richest.address, lacking),
        )

    async def sign(
        self, worker: Worker, kind: ProgrammableTransaction, budget_mist: int
    ) -> SignedTransaction:
        """Return the signed transaction, which is valid in this epoch and the next epoch.

        Raises `SigningFailedError`.
        """
        data = self.draft(worker, kind, budget_mist).encode()
        try:
            signature = await worker.signer.sign(data)
        finally:
            await self._notify()
        return SignedTransaction(transaction_digest(data), data, signature)

    def draft(
        self, worker: Worker, kind: ProgrammableTransaction, budget_mist: int
    ) -> TransactionData:
        """Return the complete transaction without a signature."""
        epoch, address = self.epoch.number, worker.address
        chain = Digest.parse(self._chain.deployment.chain_id)
        # The nonce gives each transaction its own digest, so that a transaction can replace an
        # abandoned one with the same content.
        validity = ValidDuring(epoch, epoch + 1, None, None, chain, secrets.randbits(32))
        gas = GasData((), address, self.epoch.gas_price, budget_mist)
        return TransactionData(kind, address, gas, validity)


def _suspended_problem(leader: Leader, network: Network) -> str:
    message = f"the leader is {leader.state.value} and cannot close invocations"
    if leader.state is not LeaderState.SUSPENDED:
        return message
    top_up = f"nexus-tools leader top-up --leader {leader.id}"
    # If a program defines the network, it has no profile, and the CLI cannot resolve its name.
    command = f"{top_up} -n {network.quoted_name}" if network.has_profile else top_up
    missing = sui(leader.collateral.shortfall_mist)
    return f"{message}. Its owner must restore {missing} of collateral with `{command}`"


def _no_worker_problem(leader: Address) -> str:
    return f"no local key is a worker of leader {leader}"
