"""The registry of a deployment, for a client of pysui."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

from msgspec.structs import replace

from nexus_tools.contracts import Deployment, check_compatibility, explain_abort
from nexus_tools.errors import NotFoundError, RefusedOnChainError, UsageError
from nexus_tools.nexus import Nexus
from nexus_tools.pysui.client import AddingClient, ExecutingClient, chain_of, check_chain
from nexus_tools.registry import Invocations, LeaderRegistry, ToolRegistry
from nexus_tools.settings.directories import cache_directory
from nexus_tools.settings.settings import Settings
from nexus_tools.sui.client import Executed
from nexus_tools.sui.keystore import active_network
from nexus_tools.sui.network import Network


@dataclass(frozen=True, slots=True)
class AddingMethods:
    """The methods of the registry that add commands to a started transaction.

    Each method checks its arguments, and first simulates its own commands. If the simulation
    succeeds, the method adds the commands. The simulation does not include the commands that the
    transaction already has. A method returns the result of its simulation. Therefore the final ID
    of an invocation is known only after the execution.
    """

    tools: ToolRegistry
    leaders: LeaderRegistry
    invocations: Invocations


class PysuiRegistry:
    """The tools, leaders and invocations of one deployment, for a client of pysui.

    A method that writes sends one transaction. pysui selects the gas, and signs and executes the
    transaction. The attribute `nexus` provides the rest of the Python API.
    """

    def __init__(self, client: ExecutingClient, deployment: Deployment) -> None:
        self._client = client
        self.deployment = deployment
        self.nexus = Nexus(client, deployment)
        self.tools = self.nexus.tools
        self.leaders = self.nexus.leaders
        self.invocations = self.nexus.invocations

    @classmethod
    @asynccontextmanager
    async def connect(
        cls,
        client: Any,
        *,
        deployment: Deployment | None = None,
        sender: Any = None,
        sponsor: Any = None,
        **gas: Any,
    ) -> AsyncIterator[Self]:
        """Open the deployment on the network of a pysui client.

        Default: the deployment that this machine knows for the chain of the client. The active
        address signs, unless `sender` is another address of the configuration or a
        `SigningMultiSig`. `sponsor` pays for the transactions. `gas` are arguments of pysui's
        `build`, for example `auto_gas=True`.

        Raises `argument_invalid`, `pysui_config_invalid`, `network_not_grpc`, `network_unknown`,
        `wrong_chain`, `package_not_published` or `package_incompatible`.
        """
        network = active_network(_config_of(client))
        chain_id = await chain_of(client, network.url)
        if deployment is None:
            deployment = _find_deployment(network, chain_id)
        check_chain(chain_id, deployment.chain_id)
        network = replace(network, chain_id=chain_id)
        signers = {"initial_sender": sender, "initial_sponsor": sponsor}
        async with ExecutingClient(network, client, signers, gas) as executing:
            await check_compatibility(executing, deployment, cache_directory())
            yield cls(executing, deployment)

    def adding_to(self, transaction: Any, **gas: Any) -> AddingMethods:
        """Return the methods that add commands to a transaction that pysui has started.

        The sender of the transaction signs, and its sponsor pays. `gas` are arguments of pysui's
        `build` for the simulations. Raises `argument_invalid`.
        """
        _check_transaction(transaction)
        client = AddingClient(self._client, transaction, gas)
        nexus = Nexus(client, self.deployment, dry_run=True)
        return AddingMethods(nexus.tools, nexus.leaders, nexus.invocations)

    async def execute(self, transaction: Any, **gas: Any) -> Executed:
        """Build, simulate, sign and execute a transaction of pysui. Return it if it succeeded.

        If the simulation fails, the transaction is not signed. `gas` are arguments of pysui's
        `build`.

        Raises `argument_invalid`, the errors of `explain_abort` and `SuiClient.execute`, or
        `pysui_failed`.
        """
        _check_transaction(transaction)
        try:
            return await self._client.send(transaction, **gas)
        except RefusedOnChainError as error:
            raise explain_abort(error, self.deployment) from error

    def result_of(self, result: Any) -> Executed:
        """Return the transaction that pysui executed.

        `result` is a `SuiRpcResult` of `ExecuteTransaction`, or an `ExecutedTransaction` of an
        executor. Raises the errors of `execute` if the transaction failed or was not executed.
        """
        if not (hasattr(result, "is_ok") or hasattr(result, "effects")):
            raise _argument_error("a result of `ExecuteTransaction`", result)
        try:
            return self._client.result_of(result)
        except RefusedOnChainError as error:
            raise explain_abort(error, self.deployment) from error


def _find_deployment(network: Network, chain_id: str) -> Deployment:
    """Return the deployment that this machine knows for a chain.

    The network may have another name in pysui, so the chain ID is compared. Raises
    `package_not_published`.
    """
    settings = Settings.load()
    try:
        return settings.find_deployment(network.name, chain_id)
    except NotFoundError:
        known = {Deployment.parse(document) for document in settings.deployments.values()}
        matches = [deployment for deployment in known if deployment.chain_id == chain_id]
        if len(matches) != 1:
            raise
        return matches[0]


def _config_of(client: Any) -> Any:
    if not all(hasattr(client, name) for name in ("config", "execute", "transaction")):
        raise _argument_error("a client of pysui's `client_factory`", client)
    return client.config


def _check_transaction(transaction: Any) -> None:
    if not all(hasattr(transaction, name) for name in ("builder", "signer_block", "build")):
        raise _argument_error("a transaction of a pysui client", transaction)


def _argument_error(expected: str, actual: object) -> UsageError:
    return UsageError("argument_invalid", f"expected {expected}, got {actual!r:.80}")
