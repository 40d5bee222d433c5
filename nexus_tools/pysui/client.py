"""Clients that use pysui to select gas, and to sign and execute transactions."""

import asyncio
from base64 import b64decode
from typing import Any

from pysui import ExecuteTransaction, GetChainIdentifier, SimulateTransaction

from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.pysui.commands import add_commands, builder_of
from nexus_tools.pysui.results import (
    connection_errors,
    content_of,
    executed_transaction,
    pysui_failure,
    simulated_transaction,
)
from nexus_tools.sui.client import (
    Executed,
    GasSource,
    SimulatedTransaction,
    SuiClient,
    explain_refusals,
    name_uncertain_transaction,
)
from nexus_tools.sui.network import Network
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import transaction_digest


class ExecutingClient(SuiClient):
    """A client that reads the chain directly, and sends transactions through a pysui client.

    `program` is the pysui client. `signers` are the arguments `initial_sender` and
    `initial_sponsor` for its method `transaction`. `gas` are arguments for pysui's `build`, for
    example `auto_gas`. Transactions are executed one after another, because pysui does not reserve
    the coins of a transaction.
    """

    def __init__(
        self, network: Network, program: Any, signers: dict[str, Any], gas: dict[str, Any]
    ) -> None:
        super().__init__(network)
        self.program = program
        self._signers = signers
        self.gas = gas
        self._turn = asyncio.Lock()

    @property
    def address(self) -> Address:
        """The sender of the transactions."""
        sender = self._signers.get("initial_sender") or self.program.config.active_address
        return Address.parse(getattr(sender, "signing_address", sender))

    async def inspect(
        self, builder: TransactionBuilder, sender: Address | None = None
    ) -> SimulatedTransaction:
        """Simulate commands, and return the result. The default sender is `address`."""
        return await super().inspect(builder, sender or self.address)

    async def simulate(
        self, builder: TransactionBuilder, *, gas: GasSource = GasSource.ANY
    ) -> SimulatedTransaction:
        """Simulate a transaction, with the gas that pysui selects."""
        transaction = await self._transaction(builder)
        return await self._simulate(await self._build(transaction, _options(None, gas)))

    async def execute(
        self,
        builder: TransactionBuilder,
        *,
        budget: int | None = None,
        gas: GasSource = GasSource.ANY,
    ) -> Executed:
        """Execute a transaction, as `SuiClient.execute` does."""
        transaction = await self._transaction(builder)
        return await self.send(transaction, is_simulated=budget is None, **_options(budget, gas))

    async def send(
        self, transaction: Any, *, is_simulated: bool = True, **options: Any
    ) -> Executed:
        """Build, simulate, sign and execute a transaction of pysui. Return it if it succeeded.

        If `is_simulated` is False, a transaction that fails is executed and costs gas.
        `options` are arguments of pysui's `build`. Raises the errors of `SuiClient.execute`, or
        `pysui_failed`.
        """
        commands = builder_of(transaction.builder).commands
        async with self._turn, explain_refusals(self.connection, commands):
            text = await self._build(transaction, options)
            if is_simulated:
                (await self._simulate(text)).raise_for_status()
            executed = await self._execute(transaction, text)
        executed.raise_for_status()
        return executed

    async def _transaction(self, builder: TransactionBuilder) -> Any:
        """Return a new transaction of pysui that contains a builder's commands."""
        transaction = await self.program.transaction(**self._signers)
        add_commands(builder, transaction.builder)
        return transaction

    async def _build(self, transaction: Any, options: dict[str, Any]) -> str:
        """Build a transaction, with the gas that pysui selects, and return its bytes in base64."""
        with connection_errors(self.network.url):
            try:
                text: str = await transaction.build(**self.gas | options)
            except (AttributeError, ValueError) as error:  # pysui defines no exceptions
                raise await self._explain(transaction, error) from error
        return text

    async def _explain(self, transaction: Any, error: Exception) -> NexusError:
        """Return the error for a transaction that pysui cannot build.

        An error of pysui has only a text. Our client therefore builds the transaction again,
        because our errors have codes. This is possible only if the sender pays the gas.
        """
        signers = transaction.signer_block
        if signers.sponsor is None:
            builder = builder_of(transaction.builder)
            try:
                await self.build(builder, sender=Address.parse(signers.sender_str))
            except NexusError as explained:
                return explained
        return pysui_failure(error)

    async def _simulate(self, text: str) -> SimulatedTransaction:
        command = SimulateTransaction(tx_bytestr=text, gas_selection=False)
        return simulated_transaction(await self._call(command), self.network.url)

    async def _execute(self, transaction: Any, text: str) -> Executed:
        """Sign and execute a transaction, and return it even if it failed."""
        try:
            signatures = transaction.signer_block.get_signatures(
                config=self.program.config, tx_bytes=text
            )
        except ValueError as error:
            raise pysui_failure(error) from error
        with name_uncertain_transaction(transaction_digest(b64decode(text))):
            command = ExecuteTransaction(tx_bytestr=text, sig_array=signatures)
            return executed_transaction(await self._call(command), self.network.url)

    async def _call(self, command: Any) -> Any:
        with connection_errors(self.network.url):
            return await self.program.execute(command=command)

    def result_of(self, result: Any) -> Executed:
        """Return the transaction that pysui executed. Raises an error for a failed transaction."""
        executed = executed_transaction(result, self.network.url)
        executed.raise_for_status()
        return executed


class AddingClient(ExecutingClient):
    """A client that only adds commands to a started transaction of pysui.

    The registry services call `simulate` in a dry run. This method simulates only the commands of
    the service, with the signers of the transaction. If the simulation succeeds, the method adds
    the commands.
    """

    def __init__(self, client: ExecutingClient, transaction: Any, gas: dict[str, Any]) -> None:
        block = transaction.signer_block
        signers = {"initial_sender": block.sender, "initial_sponsor": block.sponsor}
        super().__init__(client.network, client.program, signers, client.gas | gas)
        self.connection = client.connection
        self._target = transaction

    async def simulate(
        self, builder: TransactionBuilder, *, gas: GasSource = GasSource.ANY
    ) -> SimulatedTransaction:
        """Simulate only these commands, and add them to the transaction if they succeed."""
        simulated = await super().simulate(builder, gas=gas)
        async with explain_refusals(self.connection, builder.commands):
            simulated.raise_for_status()
        add_commands(builder, self._target.builder)
        return simulated


async def chain_of(program: Any, url: str) -> str:
    """Return the ID of the chain to which a pysui client is connected."""
    with connection_errors(url):
        result = await program.execute(command=GetChainIdentifier())
    return str(content_of(result, url))


def check_chain(found: str, expected: str) -> None:
    """Raise `wrong_chain` if the pysui client is connected to another chain than expected."""
    if found != expected:
        raise UnreachableError(
            "wrong_chain",
            f"the pysui client is on chain {found}, but the deployment is on chain {expected}",
            hint="Check the active profile of the pysui configuration.",
            details={"found": found, "expected": expected},
        )


def _options(budget: int | None, gas: GasSource) -> dict[str, Any]:
    """Convert the arguments of `SuiClient.execute` into arguments of pysui's `build`."""
    options: dict[str, Any] = {} if budget is None else {"gas_budget": budget}
    return options | {"use_account_for_gas": True} if gas is GasSource.ADDRESS_BALANCE else options
