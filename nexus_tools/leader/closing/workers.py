"""The leader's workers whose keys are here: who may close invocations, and from whose money.

A worker pays from its address balance, into which the fees of what it closes come. Nothing that it
owns is named by a transaction, so that any number is on its way side by side, as long as the
balance covers the sum of their budgets. Coins that a worker has go into the balance when that gets
short.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from msgspec.structs import replace

from nexus_tools.contracts import LeaderState
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.errors import NexusError, NotAllowedError, NotNowError, UnreachableError
from nexus_tools.leader.chain.chain import Chain, FoundLeader
from nexus_tools.leader.closing.transaction_sender import SignedTransaction
from nexus_tools.leader.closing.worker_funding import (
    DEPOSIT_GAS_MIST,
    amount_to_send,
    command_to_send,
    least_mist,
)
from nexus_tools.sui.client import (
    MAX_PAYMENT_COINS,
    Epoch,
    Executed,
    Simulated,
    SuiClient,
    how_to_fund,
    read_epoch,
)
from nexus_tools.sui.keystore import Signer
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
    """One key: what its address balance holds, and how much of that may be spent by what is sent.

    `in_coins_mist` is what it has besides. It is `listed` while it is a worker of the leader.
    """

    signer: Signer
    balance_mist: int = 0
    in_coins_mist: int = 0
    reserved_mist: int = 0
    is_listed: bool = False

    @property
    def address(self) -> Address:
        """Who signs."""
        return self.signer.address

    @property
    def free_mist(self) -> int:
        """What another transaction may have as its budget."""
        return self.balance_mist - self.reserved_mist

    def repaid_mist(self, executed: Executed | Simulated, fees_mist: int) -> int:
        """What executions paid back of the storage that a transaction took, besides its fees."""
        change = executed.effects.address_balance_change(self.address, SUI)
        return change + executed.cost.net - fees_mist

    def learn(self, executed: Executed) -> None:
        """Know what a transaction took. What it brought can be spent once it is settled."""
        self.balance_mist += min(0, executed.effects.address_balance_change(self.address, SUI))


class Workers:
    """Chooses who sends, and signs; `refresh` before the first transaction.

    `enough_mist` says for how many MIST of budgets a balance should be good at a gas price: that
    much is taken from coins.
    """

    def __init__(
        self, chain: Chain, signers: Sequence[Signer], enough_mist: Callable[[int], int]
    ) -> None:
        self._chain = chain
        self._workers = tuple(map(Worker, signers))
        self._enough_mist = enough_mist
        self._leader: FoundLeader | None = None
        self._epoch: Epoch | None = None
        self._freed = asyncio.Condition()
        self._refreshing = asyncio.Lock()
        self._told: set[Address] = set()

    # --- What is known

    @property
    def leader(self) -> FoundLeader:
        """The leader as it was at the last refresh."""
        assert self._leader is not None
        return self._leader

    @property
    def epoch(self) -> Epoch:
        """The epoch as it was at the last refresh."""
        assert self._epoch is not None
        return self._epoch

    @property
    def listed(self) -> tuple[Worker, ...]:
        """Those that are workers of the leader now."""
        return tuple(worker for worker in self._workers if worker.is_listed)

    @property
    def richest(self) -> Address:
        """Whose balance is the largest."""
        return max(self.listed or self._workers, key=lambda worker: worker.balance_mist).address

    @property
    def richest_mist(self) -> int:
        """The largest balance: no transaction can have a larger budget."""
        return max((worker.balance_mist for worker in self.listed), default=0)

    @property
    def total_mist(self) -> int:
        """All that they have, in coins too."""
        return sum(worker.balance_mist + worker.in_coins_mist for worker in self._workers)

    @property
    def trouble(self) -> str:
        """What keeps all of them from closing anything; empty if nothing does."""
        if self._leader is None:
            return ""
        if not self.listed:
            return _nobody(self._chain.leader)
        if not self._leader.leader.collateral.is_whole:
            return _powerless(self._leader.leader, self._chain.client.network)
        return self._poverty()

    def _poverty(self) -> str:
        """Why no worker can pay for one closing, and what to do; empty if one can."""
        needed_mist = least_mist(self.epoch.gas_price)
        if self.richest_mist >= needed_mist:
            return ""
        lacking_mist = needed_mist - self.richest_mist
        command = command_to_send(self._chain.client.network, self.richest, lacking_mist)
        step = f"run `{command}`" if self._chain.client.network.has_profile else command
        return f"{self._not_enough(needed_mist).message}: {step}"

    # --- Reading

    async def refresh(self) -> None:
        """Read the leader, its workers' money and the epoch. Raises `unknown_leader`."""
        async with self._refreshing:
            client = self._chain.client
            found, self._epoch, balances = await asyncio.gather(
                self._chain.leader_itself(),
                read_epoch(client.connection),
                asyncio.gather(*(client.balance_parts(each.address) for each in self._workers)),
            )
            self._leader, listed = found, found.leader.workers.entries
            for worker, balance in zip(self._workers, balances, strict=True):
                worker.balance_mist = balance.in_address
                worker.in_coins_mist = balance.in_coins
                worker.is_listed = worker.address in listed
            self._tell()
            for worker in self.listed:
                await self._deposit(worker)

    async def look(self) -> None:
        """Read all of it again if they could not work when it was read last."""
        if not self.trouble:
            return
        try:
            await self.refresh()
        except UnreachableError:
            pass  # of which the heartbeat tells
        except NexusError as error:
            _log.warning("workers_unread", code=error.code, error=error.message)

    def check(self) -> None:
        """Raise `not_a_worker` if none of the keys is a worker's."""
        if not self.listed:
            first = self._workers[0].address
            raise NotAllowedError(
                "not_a_worker",
                _nobody(self._chain.leader),
                hint=f"`nexus-tools leader worker add {first} --wallet OWNER` makes it one",
            )

    def _tell(self) -> None:
        """Once of each worker that may not work any more, or may again."""
        gone = {worker.address for worker in self._workers if not worker.is_listed}
        for address in gone - self._told:
            _log.warning("worker_removed", worker=str(address), leader=str(self._chain.leader))
        for address in self._told - gone:
            _log.info("worker_added", worker=str(address), leader=str(self._chain.leader))
        if gone != self._told and not self.listed:
            _log.error("no_worker", leader=str(self._chain.leader))
        self._told = gone

    async def _deposit(self, worker: Worker) -> None:
        """Put as many coins into the balance as it lacks, if there are any.

        Many small coins take several transactions, each with as many as one can name.
        """
        network = replace(self._chain.client.network, chain_id=self._chain.deployment.chain_id)
        enough_mist = self._enough_mist(self.epoch.gas_price)
        while worker.balance_mist < enough_mist and worker.in_coins_mist > DEPOSIT_GAS_MIST:
            async with SuiClient(network, worker.signer) as client:
                coins = sorted(each.balance for each in await client.coins(worker.address))
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
            worker.in_coins_mist -= amount_mist
            _log.info("deposited", worker=str(worker.address), amount=sui(amount_mist))

    # --- Sending

    @asynccontextmanager
    async def paying(self, budget_mist: int) -> AsyncIterator[Worker]:
        """A worker whose balance covers the budget besides all others that are in flight.

        Waits for those. Raises `not_enough_sui` or `not_a_worker`.
        """
        worker = await self._with_room(budget_mist)
        worker.reserved_mist += budget_mist
        try:
            yield worker
        finally:
            async with self._freed:
                worker.reserved_mist -= budget_mist
                self._freed.notify_all()

    async def _with_room(self, budget_mist: int) -> Worker:
        is_fresh = False
        while True:
            richest = max(self.listed, key=lambda worker: worker.free_mist, default=None)
            if richest is not None and richest.free_mist >= budget_mist:
                return richest
            if any(each.reserved_mist and each.balance_mist >= budget_mist for each in self.listed):
                async with self._freed:
                    await self._freed.wait()
            elif not is_fresh:
                await self.refresh()
                is_fresh = True
            else:
                self.check()
                raise self._not_enough(budget_mist)

    def _not_enough(self, budget_mist: int) -> NexusError:
        richest = max(self.listed, key=lambda worker: worker.balance_mist)
        # Faucets and transfers give coins.
        lacking = amount_to_send(budget_mist - richest.balance_mist)
        network = self._chain.client.network
        return NotNowError(
            "not_enough_sui",
            f"the worker {richest.address} has {sui(richest.balance_mist)} for gas, and needs"
            f" {sui(budget_mist)}",
            hint=how_to_fund(network, richest.address, lacking),
        )

    def sign(
        self, worker: Worker, kind: ProgrammableTransaction, budget_mist: int
    ) -> SignedTransaction:
        """The transaction as it is sent: good in this epoch and the next one."""
        data = self.draft(worker, kind, budget_mist).encode()
        return SignedTransaction(transaction_digest(data), data, worker.signer.sign(data))

    def draft(
        self, worker: Worker, kind: ProgrammableTransaction, budget_mist: int
    ) -> TransactionData:
        """A transaction that lacks nothing but the signature."""
        epoch, address = self.epoch.number, worker.address
        chain = Digest.parse(self._chain.deployment.chain_id)
        # Two that are the same but for the nonce are two: one may be sent in place of another that
        # was given up.
        validity = ValidDuring(epoch, epoch + 1, None, None, chain, secrets.randbits(32))
        gas = GasData((), address, self.epoch.gas_price, budget_mist)
        return TransactionData(kind, address, gas, validity)


def _powerless(leader: Leader, network: Network) -> str:
    said = f"the leader is {leader.state.value}: it can close nothing"
    if leader.state is not LeaderState.SUSPENDED:
        return said
    top_up = f"nexus-tools leader top-up --leader {leader.id}"
    # The name of a network in a program leads to another one, if to any.
    command = f"{top_up} -n {network.quoted_name}" if network.has_profile else top_up
    return f"{said} until its owner brings {sui(leader.collateral.shortfall_mist)} back: {command}"


def _nobody(leader: Address) -> str:
    return f"none of the keys here is a worker of the leader {leader}"
